"""Wrong usage of the command line, reported in one sentence."""

from collections.abc import Sequence
from typing import Final

import click

__all__ = ["PROGRAM", "sentence", "show_parameter"]

PROGRAM: Final = "busproof"


def sentence(error: click.UsageError) -> str:
    """Return one sentence: what is wrong, what fits, and where to read more."""
    text = _error_text(error)
    see = " See" if text.endswith("?") else "; see"
    return f"{text}{see} {error.ctx.command_path if error.ctx else PROGRAM} --help"


def _error_text(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchCommand):
        known = error.ctx.command if error.ctx else None
        names = (
            known.list_commands(error.ctx) if isinstance(known, click.Group) and error.ctx else []
        )
        allowed = _suggest(error.possibilities) or f"choose from {', '.join(map(repr, names))}"
        return f"there is no command {error.command_name!r}; {allowed}"
    if isinstance(error, click.NoSuchOption):
        near = _suggest(error.possibilities)
        return f"there is no option {error.option_name}{'; ' if near else ''}{near}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        name = show_parameter(error.param)
        if isinstance(error, click.MissingParameter):
            return f"{name} is missing{_example(error.ctx)}"
        return f"{name}: {_plain(error.message)}"
    return _plain(error.format_message())


def _example(ctx: click.Context | None) -> str:
    """Return the first example of a command's help."""
    examples = getattr(ctx.command, "examples", ()) if ctx else ()
    return f"; for example: {examples[0][0]}" if examples else ""


def _suggest(names: Sequence[str] | None) -> str:
    return f"did you mean {' or '.join(list(names)[:2])}?" if names else ""


def _plain(message: str) -> str:
    """Return a sentence of click's in the style of busproof's messages."""
    text = " ".join(message.split()).removesuffix(".")
    return text[:1].lower() + text[1:]


def show_parameter(parameter: click.Parameter) -> str:
    """Return a parameter as it is written on a command line."""
    if isinstance(parameter, click.Argument):
        return (parameter.metavar or parameter.human_readable_name).strip("[].")
    return parameter.opts[-1] if len(parameter.opts[-1]) > 2 else parameter.opts[0]
