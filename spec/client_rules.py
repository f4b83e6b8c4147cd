"""The rules for clients, which no bus is held to: `spec/clients/CLIENT.yaml`."""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.errors import UsageError
from busproof.spec import checks, terms
from busproof.spec.loading import load, read_citation
from busproof.spec.reading import Fields, read_file
from busproof.spec.values import Citation

__all__ = ["ClientRule", "client_rule", "load_client_rules", "view_client_rule"]

_OWN: Final = Path(__file__).parent
_FILE: Final = "clients/CLIENT.yaml"
_MODALITIES: Final = ("must", "must-not", "should")
_LONGEST_TITLE: Final = 60


@attrs.frozen(kw_only=True)
class ClientRule:
    """A rule for clients.

    Attributes:
        id: `CLIENT-` and a number.
        title: a title short enough for a table.
        statement: the rule, in our own words.
        modality: `must`, `must-not` or `should`.
        status: `documented`, `observed` or `inferred`.
        citations: the places that state it.
        editions: the editions that state it, oldest first; all of them if only other sources do.
    """

    id: str
    title: str
    statement: str
    modality: str
    status: str
    citations: tuple[Citation, ...]
    editions: tuple[str, ...]


def load_client_rules(folder: Path | None = None) -> tuple[ClientRule, ...]:
    """Load the rules for clients in `folder`; without it busproof's own, which are read only once.

    Raises:
        SpecificationError: an entry is broken; the message names file, entry, field and value.
    """
    return _own() if folder is None else _load(folder)


def client_rule(name: str) -> ClientRule:
    """Return the rule for clients with this id.

    Raises:
        UsageError: there is no such rule.
    """
    known = {rule.id: rule for rule in load_client_rules()}
    if name not in known:
        raise UsageError(f"there is no rule {name!r} for clients; there are {', '.join(known)}")
    return known[name]


def view_client_rule(rule: ClientRule) -> dict[str, Any]:
    """Return a rule for clients as plain values; each citation has an English address."""
    catalogue = load()
    citations = [
        attrs.asdict(citation) | {"english": catalogue.english(citation)}
        for citation in rule.citations
    ]
    return attrs.asdict(rule) | {"citations": citations}


@cache
def _own() -> tuple[ClientRule, ...]:
    return _load(_OWN)


def _load(folder: Path) -> tuple[ClientRule, ...]:
    catalogue = load()
    origins = checks.Origins(editions=catalogue.editions, sources=catalogue.sources)
    top = read_file(folder, _FILE)
    family = top.choice("family", ("CLIENT",))
    top.text("title")
    rules = tuple(_rule(fields, family, origins) for fields in top.entries("rules", "id"))
    top.end()
    checks.check_unique(top, "id", [rule.id for rule in rules])
    return rules


def _rule(fields: Fields, family: str, origins: checks.Origins) -> ClientRule:
    rule_id = checks.rule_id(fields, family)
    citations = tuple(read_citation(entry, origins) for entry in fields.entries("citations"))
    outside = origins.is_outside(citations)
    rule = ClientRule(
        id=rule_id,
        title=fields.text("title"),
        statement=re.sub(r"\s+", " ", fields.text("statement")).strip(),
        modality=fields.choice("modality", _MODALITIES),
        status=fields.choice("status", terms.STATUSES),
        citations=citations,
        editions=origins.edition_ids if outside else origins.stating(citations),
    )
    fields.end()
    if len(rule.title) > _LONGEST_TITLE:
        raise fields.wrong("title", rule.title, f"at most {_LONGEST_TITLE} characters")
    if not citations:
        raise fields.wrong("citations", [], "at least one")
    return rule
