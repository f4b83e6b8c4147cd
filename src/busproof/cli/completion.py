"""`busproof completion`: print the script for shell completion."""

import sys
from typing import Final

import click

from busproof.cli.frame import Command, Options, argument
from busproof.cli.wrong_usage import PROGRAM

__all__ = ["COMMAND", "run"]

SHELLS: Final = ("bash", "zsh", "fish")


def run(args: Options) -> int:
    """Print the completion script for a shell."""
    from click.shell_completion import get_completion_class

    from busproof.cli.main import COMMANDS, COMPLETE  # main imports this module

    shell = get_completion_class(args.shell)
    if shell is None:
        raise AssertionError(f"click completes {args.shell}")
    sys.stdout.write(shell(COMMANDS, {}, PROGRAM, COMPLETE).source() + "\n")
    return 0


COMMAND: Final = Command(
    "completion",
    run,
    description="Print the script that completes commands, options and values such as "
    "rule ids. The shell reads it at start-up.",
    parameters=[
        argument("shell", "SHELL", "bash, zsh or fish", type=click.Choice(SHELLS), required=True)
    ],
    examples=[
        ('eval "$(busproof completion bash)"', "In ~/.bashrc:"),
        ('eval "$(busproof completion zsh)"', "In ~/.zshrc, below compinit:"),
        (
            "busproof completion fish > ~/.config/fish/completions/busproof.fish",
            "Once, for fish:",
        ),
    ],
)
