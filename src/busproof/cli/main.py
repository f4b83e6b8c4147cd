"""The command line: parse, run a command, and print one sentence on failure."""

import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

import click

from busproof import __version__
from busproof.cli.console import give_up_output, say, say_next
from busproof.cli.frame import Commands, has_colours
from busproof.cli.github import annotate
from busproof.cli.wrong_usage import PROGRAM, sentence
from busproof.errors import ConformanceError, SpecificationError, UsageError

__all__ = ["COMMANDS", "main"]

USAGE: Final = 2
INCOMPLETE: Final = 3

COMPLETE: Final = "_BUSPROOF_COMPLETE"
"""Environment variable that a shell sets to get completions."""

GROUPS: Final = {
    "Read and run": {
        "rules": "list the rules, or explain one",
        "run": "run the suite against an implementation",
        "check": "judge a recorded history",
        "report": "compare any number of runs on one page",
        "adapters": "list available adapters",
        "client": "judge a client: a program that uses Service Bus",
        "check-adapter": "check an adapter against the protocol",
        "clean": "remove entities that runs left in a namespace",
    },
    "Prove the suite": {
        "audit": "mutation-test the suite",
        "modelcheck": "check the TLA+ specs and compare the model with them",
        "simulate": "run random commands on Spark's bus, and judge its answers",
    },
    "The broker": {
        "serve": "serve the model to real Service Bus clients",
        "record": "record the traffic of real clients, to be judged",
        "convert": "read a log of another program as a history",
    },
    "This machine": {
        "doctor": "check the environment",
        "completion": "print completion for bash, zsh or fish",
    },
}
"""Commands and their purposes, by section of the help."""


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"{PROGRAM} {__version__}")
        ctx.exit()


COMMANDS: Final = Commands(
    PROGRAM,
    GROUPS,
    description="Test whether a message bus behaves as Microsoft documents Azure Service "
    "Bus, for partitioned queues and topics.",
    examples=[
        ("busproof rules KEY-08", "Read a rule, its sources and its tests:"),
        (
            "busproof run --rule KEY",
            "Test the reference model against the rules on keys (seconds):",
        ),
        ("busproof adapters", "List available adapters:"),
    ],
    notes="Exit codes: 0 every applicable rule was shown, 1 a violation, 2 usage, "
    "3 incomplete, interrupted, inconclusive or errored, 4 a stale list of known failures.",
    parameters=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="print the version",
        )
    ],
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, without a traceback for what users can cause.

    Raises:
        SystemExit: the words are invalid, or request the help or the version.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if wanted := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(COMMANDS, {}, PROGRAM, COMPLETE, wanted)
    if not words:
        say(f"name a COMMAND; {PROGRAM} --help lists them")
        say_next(f"{PROGRAM} run --rule KEY tests the reference model, in seconds")
        return USAGE
    try:
        return _run(words)
    except ConformanceError as error:
        _fail(str(error))
        return USAGE if isinstance(error, UsageError | SpecificationError) else INCOMPLETE
    except KeyboardInterrupt:
        say("interrupted; nothing more was done")
    except OSError as error:
        give_up_output(error)
    return INCOMPLETE


def program() -> int:
    """Run a command as a whole process; once its exit code is known, Ctrl-C changes nothing.

    Raises:
        SystemExit: as `main`.
    """
    try:
        return main()
    except KeyboardInterrupt:
        # The second or third, while the first was being reported.
        return INCOMPLETE
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(words: list[str]) -> int:
    """Parse the words, import the command, and run it."""
    try:
        with COMMANDS.make_context(PROGRAM, words, color=has_colours()) as context:
            code = int(COMMANDS.invoke(context))
        sys.stdout.flush()
    except click.exceptions.Exit as ended:
        raise SystemExit(ended.exit_code) from None
    except click.UsageError as error:
        _fail(sentence(error))
        raise SystemExit(USAGE) from None
    except SystemExit:
        # The reader of the output is gone; rich would exit with the code of a violation.
        return INCOMPLETE
    return code


def _fail(text: str) -> None:
    say(text)
    annotate("error", PROGRAM, text)
