"""`busproof rules`: list the catalogue, or print one rule with its evidence."""

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from busproof import spec
from busproof.cli import values
from busproof.cli.frame import FORMAT, PATH, Command, Options, argument, flag, option
from busproof.errors import UsageError

__all__ = ["COMMAND", "run"]

_WRONG_DOCUMENTS: Final = 2
_CLIENT: Final = "CLIENT"
"""Family of the rules for clients, which no bus is held to."""


def run(args: Options) -> int:
    """Print the selected rules; return 2 if the documents in a folder differ, else 0.

    Raises:
        UsageError: a rule, edition, family or folder does not exist.
        SpecificationError: the catalogue or a feature file is broken.
    """
    catalogue = spec.load()
    args = _capitalize(catalogue, args)
    _refuse_idle_filters(args)
    if args.documents is not None:
        return _print_findings(spec.verify_documents(catalogue, args.documents), args.format)
    if args.diff is not None:
        _print_diff(catalogue, args.diff, args.format)
    elif args.changes:
        _print_changes(catalogue, args.format)
    elif args.rule is not None and args.rule.upper().startswith(_CLIENT):
        _print_client_rules(args.rule.upper(), args.format)
    elif args.rule is not None:
        _print_rule(catalogue, catalogue.rule(args.rule), args.format)
    else:
        _print_list(catalogue, args)
    return 0


def _capitalize(catalogue: spec.Catalogue, args: Options) -> Options:
    """Return the options with ids in capitals, and a named family as a filter."""
    families = {group.id for group in catalogue.families}
    known = families | {entry.id for entry in catalogue.rules}
    rule, family = (_capitalize_id(text, known) for text in (args.rule, args.family))
    named = {**vars(args), "rule": rule, "family": family}
    if rule in families and family is None:
        named |= {"rule": None, "family": rule}
    return Options(**named)


def _capitalize_id(name: str | None, known: Collection[str]) -> str | None:
    return name.upper() if name is not None and name.upper() in known else name


def _refuse_idle_filters(args: Options) -> None:
    views = (args.rule, args.diff, args.documents, args.changes or None)
    listing = all(view is None for view in views)
    filtered = args.edition is not None or args.family is not None
    if filtered and not listing:
        raise UsageError(
            "--edition and --family choose from the list of rules or ambiguities; "
            "leave them out beside an ID, --diff, --changes or --documents."
        )


def _print_client_rules(name: str, form: str) -> None:
    """Print a rule for clients, or all of them for the name of their family.

    Raises:
        UsageError: there is no such rule.
    """
    from busproof.spec.client_rules import client_rule, load_client_rules, view_client_rule

    rules = load_client_rules() if name == _CLIENT else (client_rule(name),)
    views = [view_client_rule(rule) for rule in rules]
    if form == "json":
        _print_json({"rules": views})
        return
    if name == _CLIENT:
        lines = [f"{rule.id}  {rule.title} ({rule.modality})" for rule in rules]
    else:
        (rule,) = rules
        (view,) = views
        lines = [f"{rule.id}: {rule.title}", "", rule.statement, ""]
        lines.append(f"{rule.modality}, {rule.status}; `busproof client` judges it. Stated in:")
        lines += [
            f"  {' '.join(filter(None, (place['source'], place['anchor'])))}: {place['english']}"
            for place in view["citations"]
        ]
    sys.stdout.write("\n".join(lines) + "\n")


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def _print_findings(findings: Sequence[str], form: str) -> int:
    if form == "json":
        _print_json({"findings": list(findings)})
    else:
        verdict = "All documents exist and have the sections that the catalogue lists."
        sys.stdout.write("\n".join(findings or [verdict]) + "\n")
    return _WRONG_DOCUMENTS if findings else 0


def _print_list(catalogue: spec.Catalogue, args: Options) -> None:
    rules = tuple(_choose_rules(catalogue, args.edition, args.family))
    # Every ambiguity concerns some rule, so selecting all rules selects all ambiguities.
    ambiguities = catalogue.concerning({rule.id for rule in rules})
    if args.format == "json":
        _print_json(_view(catalogue, () if args.ambiguities else rules, ambiguities))
        return
    from busproof.spec import tables  # rich is slow to import

    if args.ambiguities:
        tables.print_ambiguities(ambiguities)
    else:
        tables.print_rules(catalogue, rules)


def _choose_rules(
    catalogue: spec.Catalogue, edition: str | None, family: str | None
) -> Iterator[spec.Rule]:
    if edition is not None:
        catalogue.edition(edition)
    if family is not None:
        catalogue.family(family)
    for rule in catalogue.rules:
        if edition in (None, *rule.editions) and family in (None, rule.family):
            yield rule


def _print_diff(catalogue: spec.Catalogue, names: Sequence[str], form: str) -> None:
    """Print how two editions differ, or two namespaces; an edition beside a namespace is Standard.

    Raises:
        UsageError: one of them does not exist.
    """
    a, b = names
    named = [spec.name_namespace(catalogue, text) for text in names]
    if any(each.tier is not None for each in named):
        _print_namespace_diff(spec.compare_namespaces(catalogue, a, b), form)
        return
    diff = catalogue.diff(a, b)
    if form == "json":
        _print_json(spec.view_diff(diff))
        return
    from busproof.spec import tables  # rich is slow to import

    tables.print_diff(catalogue, diff)


def _print_namespace_diff(diff: spec.NamespaceDiff, form: str) -> None:
    if form == "json":
        _print_json(spec.view_namespace_diff(diff))
        return
    from busproof.spec import tables  # rich is slow to import

    tables.print_namespace_diff(diff)


def _print_changes(catalogue: spec.Catalogue, form: str) -> None:
    if form == "json":
        _print_json({"releases": [spec.view_release(release) for release in catalogue.releases]})
        return
    from busproof.spec import tables  # rich is slow to import

    tables.print_changes(catalogue)


def _print_rule(catalogue: spec.Catalogue, rule: spec.Rule, form: str) -> None:
    view = _view(catalogue, [rule], catalogue.concerning({rule.id}))
    if form == "json":
        _print_json(view)
        return
    from busproof.spec import tables  # rich is slow to import

    shown = view["rules"][0]
    tables.print_rule(catalogue, rule, shown)


def _view(
    catalogue: spec.Catalogue, rules: Iterable[spec.Rule], ambiguities: Iterable[spec.Ambiguity]
) -> dict[str, list[dict[str, Any]]]:
    return {
        "rules": _add_evidence(catalogue, tuple(rules)),
        "ambiguities": [spec.view_ambiguity(ambiguity) for ambiguity in ambiguities],
    }


def _add_evidence(catalogue: spec.Catalogue, rules: Sequence[spec.Rule]) -> list[dict[str, Any]]:
    if not rules:
        return []
    from busproof.cli.evidence import evidence  # brings the model along

    shown = evidence(rules)
    return [spec.view_rule(catalogue, rule) | shown[rule.id] for rule in rules]


COMMAND: Final = Command(
    "rules",
    run,
    description="List the rules, those of a family, or one rule with its citations and its tests.",
    parameters=[
        argument(
            "rule",
            "ID",
            "one rule, such as KEY-03, or a family, such as KEY",
            shell_complete=values.rules,
        ),
        option(
            "--diff",
            nargs=2,
            metavar="A B",
            help="differences between two editions, or two namespaces: basic, standard, premium, "
            "premium:2 or premium:4 (partitioned), or EDITION/premium and so on",
        ),
        flag(
            "--ambiguities",
            "--readings",
            "ambiguities",
            help="what the documents leave open, and the possible readings",
        ),
        flag("--changes", help="versions of the catalogue and their changes"),
        option(
            "--documents",
            type=PATH,
            metavar="DIR",
            help="verify hashes and sections against the original documents",
        ),
        option(
            "--edition",
            metavar="ID",
            help="only rules of this edition",
            shell_complete=values.editions,
        ),
        option(
            "--family",
            metavar="KEY",
            help="only rules of this family",
            shell_complete=values.families,
        ),
        FORMAT,
    ],
    exclusive=("rule", "diff", "ambiguities", "changes", "documents"),
    examples=[
        ("busproof rules KEY", "The rules on keys:"),
        ("busproof rules key-08", "One rule, its sources and its tests:"),
        ("busproof rules --diff de-2021-04 en-2026-02", "What changed between two editions:"),
        (
            "busproof rules --diff standard premium:4",
            "What differs in a partitioned Premium namespace:",
        ),
        ("busproof rules --ambiguities --family TXN", "What the documents leave open:"),
    ],
)
