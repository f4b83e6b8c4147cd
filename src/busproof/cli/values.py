"""Values that a shell completes: ids of rules, editions and faults, names of adapters."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

__all__ = ["adapters", "editions", "families", "faults", "one_of", "rules"]


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
    """Complete the name of an adapter, as far as it is fixed."""
    from busproof.adapters.finding import available  # noqa: PLC0415

    known = [(_fixed(each.name), each.summary) for each in available()]
    return _items([each for each in known if not {"?", "."} & set(each[0])], typed)


def _fixed(name: str) -> str:
    """A name as far as it is the same for everybody: of `exec:COMMAND` it is `exec:`."""
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
