"""Values that a shell completes: ids of rules, editions and faults, names of adapters."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

__all__ = ["adapters", "editions", "families", "faults", "one_of", "rules", "runs"]

RUNS: Final = Path("reports") / "runs"


def rules(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the id of a rule or of a family of rules."""
    from busproof.spec import load  # noqa: PLC0415

    catalogue = load()
    families = [(each.id, each.title) for each in catalogue.families]
    return _items([*families, *((each.id, each.title) for each in catalogue.rules)], typed)


def editions(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the id of an edition of the documents."""
    from busproof.spec import load  # noqa: PLC0415

    return _items([(each.id, each.note or "") for each in load().editions], typed)


def faults(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the id of a seeded fault."""
    from busproof.mutants import MUTANTS  # noqa: PLC0415

    return _items([(each.id, each.summary) for each in MUTANTS], typed)


def adapters(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the fixed part of an adapter's name."""
    from busproof.adapters.finding import available  # noqa: PLC0415

    known = [(_fixed(each.name), each.summary) for each in available()]
    return _items([each for each in known if not {"?", "."} & set(each[0])], typed)


def runs(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the name of a run below the current folder, or else the place of one."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415

    folders = (each for each in RUNS.glob("*") if (each / "conformance.json").is_file())
    found = _items([(each.name, "") for each in sorted(folders)], typed)
    return found or [CompletionItem(typed, type="file")]


def _fixed(name: str) -> str:
    """Return the fixed part of a name; `exec:` of `exec:COMMAND`."""
    return name.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-…")


def one_of(*names: str) -> "Complete":
    """Complete one of a few names."""

    def complete(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
        return _items([(name, "") for name in names], typed)

    return complete


def families(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the id of a family of rules."""
    from busproof.spec import load  # noqa: PLC0415

    return _items([(each.id, each.title) for each in load().families], typed)


def _items(known: Iterable[tuple[str, str]], typed: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem  # noqa: PLC0415

    return [
        CompletionItem(name, help=" ".join(what.split()))
        for name, what in known
        if name.lower().startswith(typed.lower())
    ]
