"""Comparison of two namespaces by the requests of clients: what breaks when these move.

A mirror of each namespace follows the answers that the clients got. A request is compared only if
the mirror of the source agrees with its answer: otherwise the bus did something that its model does
not, and nothing follows for the target.
"""

from collections.abc import Callable, Iterable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.moves import BREAKS, EASED, MAY_BREAK, Break, Example, Move
from busproof.judging.moving.mirror import Mirror, Objection
from busproof.judging.moving.targets import name_profile
from busproof.model.state import QueuedMessage

__all__ = ["Comparison", "Said"]

UNLIKE: Final = "the model of the namespace here answers otherwise itself"
UNKNOWN: Final = "nobody created the entity; check --began names a file with its settings"
LACKING: Final = "the target has refused its entity or message before"
UNANSWERED: Final = "no answer came"
OUTAGE: Final = "a partition was down"
KEPT: Final = "a message is kept there that is dropped here"
DROPPED: Final = "a message is dropped there that is kept here"
OF_TRANSACTIONS: Final = ("BeginTransaction", "CommitTransaction", "RollBackTransaction")
ARRIVALS: Final = v.Send | v.SendBatch | v.Schedule | v.CommitTransaction


@attrs.frozen(kw_only=True)
class Said:
    """Who sent a request, when and where, in words."""

    client: str
    at: str = ""
    where: str = ""


class Comparison:
    """Two mirrors that follow the same clients.

    Args:
        source: the profile of the namespace that the clients use.
        target: the profile of the namespace that they move to.
        found: called with each new kind of request that is answered otherwise.
        move: what was found before, in other namespaces of the same kinds; `None` if nothing.

    Attributes:
        move: what was found so far.
    """

    def __init__(
        self,
        source: v.Profile,
        target: v.Profile,
        found: Callable[[Break], object] = lambda _: None,
        move: Move | None = None,
    ) -> None:
        self._found = found
        self._source = Mirror(source, learns=True)
        self._target = Mirror(target, learns=False)
        self.target = target
        self.move = move or Move(source=name_profile(source), target=name_profile(target))

    def pass_time(self, until: int) -> None:
        """Let time pass in both namespaces, until a moment in microseconds."""
        self._source.pass_time(until)
        self._target.pass_time(until)

    def release(self, path: str, token: str) -> None:
        """Release a locked message in both namespaces as if it had never been delivered."""
        self._source.release(path, token)
        self._target.release(path, token)

    def delete(self, path: str, bodies: Iterable[str]) -> None:
        """Delete messages in both namespaces."""
        deleted = tuple(bodies)
        self._source.delete(path, deleted)
        self._target.delete(path, deleted)

    def saw(self, command: v.Command, outcome: v.Outcome, connection: str, said: Said) -> None:
        """Compare a request that was answered."""
        if (reason := self._uncomparable(command, outcome)) is not None:
            if reason:
                self.move.set_apart(reason)
            if not isinstance(outcome, v.Refused):
                self._follow(command, v.Done() if reason == UNANSWERED else outcome, connection)
            return
        before, after = self._follow(command, outcome, connection)
        if before is not None and before.certain:
            self.move.set_apart(UNLIKE)
            return
        if self._target.lacks:
            self.move.set_apart(LACKING)
            return
        self.move.compared += 1
        if before is not None and after is not None and not after.certain:
            # Both are free, and nothing changes.
            return
        example = Example(
            where=said.where,
            client=said.client,
            at=said.at,
            command=command,
            here=outcome,
            there=outcome if after is None else after.outcome,
        )
        if after is not None:
            self._add(self._break_of(after, example), command)
            self._target.drop(after.extra)
        elif isinstance(command, ARRIVALS):
            self._compare_arrivals(command, example)

    def _follow(
        self, command: v.Command, outcome: v.Outcome, connection: str
    ) -> tuple[Objection | None, Objection | None]:
        before = self._source.follow(command, outcome, connection)
        if before is not None and not before.certain:
            self._target.adopt(self._source)
        return before, self._target.follow(command, outcome, connection)

    def _uncomparable(self, command: v.Command, outcome: v.Outcome) -> str | None:
        """Return why a request cannot be compared; empty if it is none, `None` if it can be."""
        if isinstance(command, v.AdvanceClock | v.TakePartitionDown | v.BringPartitionUp):
            return ""
        if isinstance(outcome, v.Indeterminate | v.Unsupported):
            return UNANSWERED
        if isinstance(outcome, v.Refused) and outcome.error is v.Error.UNAVAILABLE:
            return OUTAGE
        path = getattr(command, "queue", None) or getattr(command, "topic", None)
        creates = isinstance(command, v.Creation) or isinstance(outcome, v.Refused)
        known = self._source.namespace.entities
        if path is None or creates or path in known or v.owner_of(path) in known:
            return None
        return UNKNOWN

    # Kinds ------------------------------------------------------------------------------------

    def _break_of(self, after: Objection, example: Example) -> Break:
        rules = after.rules
        is_refused_here = isinstance(example.here, v.Refused)
        is_refused_there = isinstance(after.outcome, v.Refused)
        verdict = BREAKS if after.certain else MAY_BREAK
        if is_refused_here:
            # Only the error differs, or the client is better off.
            verdict = MAY_BREAK if is_refused_there else EASED
        name = type(example.command).__name__
        transaction = getattr(example.command, "transaction", None)
        inside = " in a transaction" * (transaction is not None and name not in OF_TRANSACTIONS)
        words = f"{_plain(name)}{inside}: {_words_of(after, example)}"
        before = self._source.rules
        decided = before if verdict == EASED else rules
        return Break(
            kind=" ".join((words, *decided)),
            what=words,
            verdict=verdict,
            rules=rules,
            before=before,
            first=example,
        )

    def _add(self, found: Break, command: v.Command) -> None:
        """Count a request under its kind; report the kind if it is new."""
        is_new = found.kind not in self.move.breaks
        known = self.move.breaks.setdefault(found.kind, found)
        path = getattr(command, "queue", None) or getattr(command, "topic", None)
        known.count(path, found.first.client)
        if is_new:
            self._found(known)

    def _compare_arrivals(self, command: v.Command, example: Example) -> None:
        """Compare which messages were enqueued: one may be a copy here and none there."""
        here, there = _arrivals(self._source.enqueued), _arrivals(self._target.enqueued)
        kept = [queued for body, queued in there.items() if body not in here]
        dropped = [queued for body, queued in here.items() if body not in there]
        if kept:
            self._add(_of_arrivals(example, kept, is_kept=True), command)
            self._target.drop(kept)
        if dropped:
            self._add(_of_arrivals(example, dropped, is_kept=False), command)
            for queued in dropped:
                self._target.lose(queued.message)


def _arrivals(enqueued: Iterable[QueuedMessage]) -> dict[str, QueuedMessage]:
    """Return one arrival of each message: where it arrives may be free, if it is forwarded."""
    return {queued.message.body: queued for queued in enqueued}


def _of_arrivals(example: Example, messages: list[QueuedMessage], *, is_kept: bool) -> Break:
    """Return the kind of a send whose messages are kept in one of the namespaces alone."""
    words = KEPT if is_kept else DROPPED
    copies = messages[0].message.message_id is not None
    rules = (("DUP-06",), ("DUP-05",)) if copies else ((), ())
    there, here = rules if is_kept else rules[::-1]
    what = f"{_plain(type(example.command).__name__)}: {words}{', as a copy' * copies}"
    return Break(
        kind=what,
        what=what,
        # With another key the target may deliver a copy, and need not.
        verdict=MAY_BREAK if copies and is_kept else BREAKS,
        rules=there,
        before=here,
        first=example,
    )


def _words_of(after: Objection, example: Example) -> str:
    """Return in words how the two answers differ."""
    if after.field:
        return f"another {after.field.replace('_', ' ')} is described"
    there = after.outcome
    here = example.here
    if isinstance(there, v.Refused):
        instead = f" in place of {here.error.value}" if isinstance(here, v.Refused) else ""
        return f"refused as {there.error.value}{instead}"
    if isinstance(here, v.Refused):
        return f"accepted, where it is refused as {here.error.value} now"
    if after.extra:
        return "a message is there that is not delivered now"
    if isinstance(there, v.Empty):
        return "a message is not there that is delivered now"
    return "answered otherwise"


def _plain(name: str) -> str:
    """Return the name of a request in words, such as `send batch`."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return words.strip()
