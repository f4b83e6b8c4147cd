"""Breaks: kinds of requests that are answered otherwise where a client moves to."""

from collections.abc import Iterable
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.codec import unstructure
from busproof.history.render.commands import command_words
from busproof.history.render.outcomes import outcome_words

__all__ = ["BREAKS", "EASED", "MAY_BREAK", "Break", "Example", "Move", "view_break", "view_move"]

BREAKS: Final = "breaks"
MAY_BREAK: Final = "may break"
EASED: Final = "eased"
MOST_NAMES: Final = 1_000
"""Number of entities or clients of a kind that are listed; further ones are counted together."""
OTHERS: Final = "others"


@attrs.frozen(kw_only=True)
class Example:
    """A request that is answered otherwise, the first of its kind.

    Attributes:
        where: the scenario of the history, or empty for a broker.
        client: the client that sent it.
        at: when it was sent, on the clock of the history or, for a broker, in UTC.
        command: the request.
        here: the answer that the client got.
        there: the answer of the namespace that the client moves to.
    """

    where: str
    client: str
    at: str
    command: v.Command
    here: v.Outcome
    there: v.Outcome


@attrs.define(kw_only=True)
class Break:
    """A kind of request that is answered otherwise.

    Attributes:
        kind: what tells it from other kinds.
        what: a sentence on what differs.
        verdict: `breaks`; `may break` where the target is free to answer as before, only
            describes something else, or refuses with another error; `eased` where it accepts what
            is refused now.
        rules: the rules of the target that decide, the deciding one first.
        before: the rules of the source that decide; empty if its answer needs none.
        first: the first request of this kind.
        seen: how many requests of this kind there were.
        entities: the entities concerned, in the order of their first request.
        clients: the clients concerned, in the order of their first request.
    """

    kind: str
    what: str
    verdict: str
    rules: tuple[v.RuleId, ...]
    before: tuple[v.RuleId, ...]
    first: Example
    seen: int = 0
    entities: dict[str, int] = attrs.field(factory=dict)
    clients: dict[str, int] = attrs.field(factory=dict)

    def count(self, entity: str | None, client: str) -> None:
        """Count a request of this kind, and the entity and the client that it concerns."""
        self.seen += 1
        if entity is not None:
            _count(self.entities, entity)
        _count(self.clients, client)


def _count(counted: dict[str, int], name: str) -> None:
    known = name if name in counted or len(counted) < MOST_NAMES else OTHERS
    counted[known] = counted.get(known, 0) + 1


@attrs.define(kw_only=True)
class Move:
    """What breaks when clients move from one namespace to another.

    Attributes:
        source: the namespace that the clients use.
        target: the namespace that they move to.
        breaks: the kinds of requests that are answered otherwise, in the order of the first.
        compared: how many requests were compared.
        apart: reason to the number of requests that could not be compared.
    """

    source: str
    target: str
    breaks: dict[str, Break] = attrs.field(factory=dict)
    compared: int = 0
    apart: dict[str, int] = attrs.field(factory=dict)

    def of(self, verdict: str) -> tuple[Break, ...]:
        """Return the kinds with a verdict, those that were seen most first."""
        kinds = (each for each in self.breaks.values() if each.verdict == verdict)
        return tuple(sorted(kinds, key=lambda each: -each.seen))

    @property
    def exit_code(self) -> int:
        """Exit code: 1 if something breaks; 3 if something may, or was not compared; else 0."""
        if self.of(BREAKS):
            return 1
        return 3 if self.of(MAY_BREAK) or self.apart or not self.compared else 0

    def set_apart(self, reason: str) -> None:
        """Count a request that could not be compared."""
        self.apart[reason] = self.apart.get(reason, 0) + 1


def view_break(each: Break) -> dict[str, Any]:
    """Return a kind of request as plain values for JSON."""
    first = each.first
    return {
        "kind": each.kind,
        "what": each.what,
        "verdict": each.verdict,
        "rules": list(each.rules),
        "rules_before": list(each.before),
        "seen": each.seen,
        "entities": dict(each.entities),
        "clients": dict(each.clients),
        "first": {
            "where": first.where,
            "client": first.client,
            "at": first.at,
            "request": command_words(first.command),
            "before": outcome_words(first.here),
            "after": outcome_words(first.there),
            "command": unstructure(first.command, union=v.Command),
        },
    }


def view_move(move: Move) -> dict[str, Any]:
    """Return what breaks as plain values for JSON."""
    return {
        "source": move.source,
        "target": move.target,
        "compared": move.compared,
        "not_compared": dict(move.apart),
        "breaks": _views(move.of(BREAKS)),
        "may_break": _views(move.of(MAY_BREAK)),
        "eased": _views(move.of(EASED)),
    }


def _views(breaks: Iterable[Break]) -> list[dict[str, Any]]:
    return [view_break(each) for each in breaks]
