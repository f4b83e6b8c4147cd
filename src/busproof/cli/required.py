"""Levels and capabilities that a run must claim and show, as named by `--require`."""

from typing import TYPE_CHECKING, Final

from busproof.cli.frame import Options, option
from busproof.errors import UsageError

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    from busproof.history.conformance import Conformance

__all__ = ["REQUIRE", "check", "require"]


def _complete(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    from busproof.spec import load_levels

    levels = load_levels().all
    titles = {level.id: level.summary for level in levels}
    titles |= {name: level.title for level in levels for name in level.capabilities}
    return [
        CompletionItem(name, help=title) for name, title in titles.items() if name.startswith(typed)
    ]


REQUIRE: Final = option(
    "--require",
    multiple=True,
    metavar="LEVEL|CAPABILITY",
    help="exit with code 3 unless this level or capability was claimed and shown (repeatable)",
    shell_complete=_complete,
)


def check(args: Options) -> None:
    """Check the required names before anything runs.

    Raises:
        UsageError: there is no such level or capability, or the run is limited to some rules.
    """
    if not args.require:
        return
    limited = [f"--{name}" for name in ("rule", "replay") if getattr(args, name, None)]
    if limited:
        raise UsageError(f"--require applies to a whole run; leave {limited[0]} out")
    from busproof.reports.levels import check_required
    from busproof.spec import load

    check_required(args.require, load())


def require(conformance: "Conformance", args: Options) -> "Conformance":
    """Return the verdicts, as incomplete if something required was not claimed and shown."""
    import attrs  # the help starts faster without it

    if not args.require:
        return conformance
    from busproof.history.conformance import ExitCode
    from busproof.reports.levels import not_met
    from busproof.spec import load

    missing = not_met(conformance, load(), args.require)
    code = conformance.exit_code
    if missing and code is ExitCode.OK:
        code = ExitCode.INCOMPLETE
    return attrs.evolve(conformance, problems=(*conformance.problems, *missing), exit_code=code)
