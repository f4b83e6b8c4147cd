"""The frame of every command: options and help."""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import click

from busproof.cli.wrong_usage import show_parameter

__all__ = [
    "FORMAT",
    "PATH",
    "VERBOSE",
    "Command",
    "Commands",
    "Example",
    "Option",
    "Options",
    "argument",
    "flag",
    "has_colours",
    "option",
]

OPTIONS: Final = "Options"
"""Help section of options without a section."""

WIDTH: Final = 100
"""Maximum width of help texts, in columns."""

PATH: Final = click.Path(path_type=Path, readable=False)
"""The type of a file or folder, which may not exist yet."""

_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}

Example = tuple[str, str]
"""A command line and its purpose."""


class Options(SimpleNamespace):
    """Values of a command's options and arguments."""


class Option(click.Option):
    """An option that belongs to a section of the help.

    Args:
        names: the option's spellings and, if it differs, the name of the attribute of `Options`.
        section: the heading of its section in the help.
        settings: further settings for click.
    """

    def __init__(self, names: Sequence[str], *, section: str = OPTIONS, **settings: Any) -> None:
        super().__init__(list(names), **settings)
        self.section = section


def option(*names: str, help: str = "", **settings: Any) -> Option:
    """Make an option that takes a value."""
    return Option(names, help=help, **settings)


def flag(*names: str, help: str, **settings: Any) -> Option:
    """Make an option without a value."""
    return Option(names, help=help, is_flag=True, **settings)


def argument(name: str, metavar: str, help: str, **settings: Any) -> click.Argument:
    """Make an argument, which is optional unless `required` is set."""
    required = settings.pop("required", False)
    written = f"{metavar}..." if settings.get("nargs") == -1 else metavar
    written = written if required else f"[{written}]"
    return click.Argument([name], metavar=written, help=help, required=required, **settings)


FORMAT: Final = option(
    "--format",
    type=click.Choice(("table", "json")),
    default="table",
    help="a table for people (default), or JSON",
)
VERBOSE: Final = flag("-v", "--verbose", help="every rule, every cause")


class _Formatter(click.HelpFormatter):
    """A help formatter with bold headings, if there are colours."""

    def write_heading(self, heading: str) -> None:
        """Write a heading."""
        super().write_heading(click.style(heading, bold=True))


class _Context(click.Context):
    formatter_class = _Formatter


class Command(click.Command):
    """A command with its options, examples and notes.

    Args:
        name: the word on the command line.
        run: function that runs the command and returns the exit code.
        description: purpose of the command, for the help.
        parameters: arguments and options, in the order of the help.
        examples: command lines worth copying.
        notes: text at the end of the help.
        exclusive: groups of parameters that exclude each other, by name.
    """

    context_class = _Context

    def __init__(
        self,
        name: str,
        run: Callable[[Options], int],
        *,
        description: str,
        parameters: Sequence[click.Parameter],
        examples: Sequence[Example],
        notes: str = "",
        exclusive: Sequence[str] = (),
    ) -> None:
        super().__init__(
            name,
            callback=lambda **values: run(Options(**values)),
            params=list(parameters),
            help=description,
            epilog=notes,
            context_settings=_CONTEXT,
        )
        self.examples = tuple(examples)
        self._exclusive = tuple(exclusive)

    def read(self, words: Sequence[str]) -> Options:
        """Parse the words that follow the command's name on a command line.

        Raises:
            click.UsageError: the words do not fit the command.
        """
        return Options(**self.make_context(self.name, list(words)).params)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words, and refuse combinations that exclude each other."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            # The parser of options does not know which command it parses for.
            error.ctx = error.ctx or ctx
            raise
        if not ctx.resilient_parsing:
            self._refuse_options_as_values(ctx)
            self._refuse_both(ctx)
        return rest

    def _refuse_options_as_values(self, ctx: click.Context) -> None:
        """Refuse `--name --yes`, where the value of the first option is missing."""
        names = {
            name for get_param in self.get_params(ctx) for name in get_param.opts if name[0] == "-"
        }
        for param in self.params:
            value = ctx.params.get(param.name or "")
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(param, Option) and str(one) in names:
                    raise click.UsageError(f"{param.opts[-1]} needs a value before {one}", ctx)

    def _refuse_both(self, ctx: click.Context) -> None:
        used = [
            param for param in self.params if param.name in self._exclusive and _is_in(ctx, param)
        ]
        if len(used) > 1:
            first, second = (show_parameter(option) for option in used[:2])
            raise click.UsageError(f"{second} does not go with {first}; leave one of them out", ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {OPTIONS: []}
        for get_param in self.get_params(ctx):
            record = (
                None if isinstance(get_param, click.Argument) else get_param.get_help_record(ctx)
            )
            if record is not None:
                sections.setdefault(getattr(get_param, "section", OPTIONS), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the examples, followed by the notes."""
        _write_end(self, self.examples, formatter)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option that prints the help."""
        return _help_option(super().get_help_option(ctx))


def _write_end(
    command: click.Command, examples: Sequence[Example], formatter: click.HelpFormatter
) -> None:
    with formatter.section("Examples"):
        for line, purpose in examples:
            indent = " " * formatter.current_indent
            formatter.write(f"{indent}# {purpose}\n{indent}{line}\n")
    if command.epilog:
        formatter.write_paragraph()
        formatter.write_text(command.epilog)


def _help_option(option: click.Option | None) -> click.Option | None:
    if option is not None:
        option.help = "print this help"
    return option


def _is_in(ctx: click.Context, parameter: click.Parameter) -> bool:
    return ctx.params.get(parameter.name or "") not in (None, False, ())


class Commands(click.Group):
    """All commands, in groups; a command's module is imported when it runs.

    Args:
        name: the name of the program.
        groups: commands and their purposes, by heading.
        description: the purpose of the program.
        examples: command lines worth copying.
        notes: text at the end of the help.
        parameters: options that come before a command.
    """

    context_class = _Context

    def __init__(
        self,
        name: str,
        groups: Mapping[str, Mapping[str, str]],
        *,
        description: str,
        parameters: Sequence[click.Parameter],
        examples: Sequence[Example],
        notes: str,
    ) -> None:
        super().__init__(
            name,
            help=description,
            epilog=notes,
            params=list(parameters),
            context_settings=_CONTEXT,
        )
        self.examples = tuple(examples)
        self._groups = groups

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands, in the order of the help."""
        return [name for commands in self._groups.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; `None` if it does not exist."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = import_module(f"busproof.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.COMMAND
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not ctx.resilient_parsing and not name.startswith("-"):
            raise click.NoSuchCommand(name, possibilities=known, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the commands group by group, in aligned columns."""
        width = max(len(name) for commands in self._groups.values() for name in commands)
        for heading, commands in self._groups.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", what) for name, what in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the examples, followed by the notes."""
        _write_end(self, self.examples, formatter)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option that prints the help."""
        return _help_option(super().get_help_option(ctx))

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> "list[click.shell_completion.CompletionItem]":
        """Complete the name of a command or an option, without importing any command."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=what)
            for group in self._groups.values()
            for name, what in group.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)


def has_colours() -> bool | None:
    """Return whether output has colours; `None` if that depends on the stream."""
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None
