"""Values for shell completion: ids of rules, editions and faults, and names of adapters."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

__all__ = ["adapters", "editions", "families", "faults", "namespaces", "one_of", "rules", "runs"]

RUNS: Final = Path("reports") / "runs"


def rules(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the id of a rule or of a family of rules."""
    from busproof.spec import load

    catalogue = load()
    families = [(family.id, family.title) for family in catalogue.families]
    return _items([*families, *((rule.id, rule.title) for rule in catalogue.rules)], typed)


def editions(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the id of an edition of the documents."""
    from busproof.spec import load

    return _items([(edition.id, edition.note or "") for edition in load().editions], typed)


def namespaces(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the name of a kind of namespace, or the id of an edition."""
    from busproof.spec import load

    kinds = ("basic", "standard", "premium", "premium:2", "premium:4")
    editions = ((edition.id, edition.note or "") for edition in load().editions)
    return _items([*((kind, "") for kind in kinds), *editions], typed)


def faults(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the id of a seeded fault."""
    from busproof.mutants import MUTANTS

    return _items([(mutant.id, mutant.summary) for mutant in MUTANTS], typed)


def adapters(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the fixed part of an adapter's name."""
    from busproof.adapters.finding import available

    known = [(_fixed_part(adapter.name), adapter.summary) for adapter in available()]
    return _items([item for item in known if not {"?", "."} & set(item[0])], typed)


def runs(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the name of a run in the current folder, or else a path to one."""
    from click.shell_completion import CompletionItem

    folders = (path for path in RUNS.glob("*") if (path / "conformance.json").is_file())
    completions = _items([(folder.name, "") for folder in sorted(folders)], typed)
    return completions or [CompletionItem(typed, type="file")]


def _fixed_part(name: str) -> str:
    """Return the fixed part of an adapter's name, such as `exec:` in `exec:COMMAND`."""
    return name.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-…")


def one_of(*names: str) -> "Complete":
    """Complete one of a few names."""

    def complete(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
        return _items([(name, "") for name in names], typed)

    return complete


def families(_: "click.Context", __: "click.Parameter", typed: str) -> "list[CompletionItem]":
    """Complete the id of a family of rules."""
    from busproof.spec import load

    return _items([(family.id, family.title) for family in load().families], typed)


def _items(known: Iterable[tuple[str, str]], typed: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=" ".join(what.split()))
        for name, what in known
        if name.lower().startswith(typed.lower())
    ]
