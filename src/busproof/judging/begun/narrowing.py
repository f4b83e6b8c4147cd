"""Parts of a fragment: the events of one message, or of all messages of one key or session.

Where requests overlap, an order of all events is hard to find, and that there is none even harder
to prove. The events of one message are few. If they have no order in which their answers are
allowed, neither have all events; `linearization.message_subhistories` says why.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.begun.fragments import RECEIVING, Fragment
from busproof.judging.decompose import Groups
from busproof.judging.replay.evidence import messages_of, tokens_of, views_of

__all__ = ["parts_of"]

Node = tuple[str, str]
ALWAYS: Final = (v.TakePartitionDown, v.BringPartitionUp, v.AdvanceClock, v.UpdateQueue)


def parts_of(fragment: Fragment, *, is_recorded: bool) -> Iterator[Fragment]:
    """Yield the fragment of each message, then those of each key and session.

    Args:
        fragment: the fragment of an entity.
        is_recorded: whether its events took effect in the order of their recording.
    """
    narrowing = _Narrowing(fragment, is_recorded=is_recorded)
    for in_lines in (False, True):
        yield from narrowing.parts(in_lines=in_lines)


def _is_lost(event: v.Event, kind: Any) -> bool:
    return isinstance(event.command, kind) and isinstance(event.outcome, v.Indeterminate)


class _Narrowing:
    def __init__(self, fragment: Fragment, *, is_recorded: bool) -> None:
        self._fragment = fragment
        self._is_recorded = is_recorded
        created = fragment.before[0].command
        assert isinstance(created, v.CreateQueue)  # noqa: S101 - a fragment begins so
        self._detects = created.duplicate_detection
        self._of_token: dict[str, str] = {}
        self._of_number: dict[int | None, str] = {}
        self._bodies: list[tuple[str, ...]] = []
        for event in fragment.events:
            for view in views_of(event.outcome):
                if view.lock_token is not None:
                    self._of_token[view.lock_token] = view.body
            if isinstance(event.outcome, v.Scheduled):
                for message in messages_of(event.command):
                    self._of_number[event.outcome.sequence_number] = message.body
        self._bodies = [self._bodies_of(event) for event in fragment.events]
        self._receives = [
            index
            for index, e in enumerate(fragment.events)
            if isinstance(e.command, v.Receive | v.ReceiveBatch)
        ]
        self._always = [
            index
            for index, e in enumerate(fragment.events)
            if isinstance(e.command, ALWAYS) or _is_lost(e, RECEIVING)
        ]

    def _bodies_of(self, event: v.Event) -> tuple[str, ...]:
        bodies = dict.fromkeys(message.body for message in messages_of(event.command))
        bodies |= dict.fromkeys(view.body for view in views_of(event.outcome))
        bodies |= dict.fromkeys(self._of_token[token] for token in tokens_of(event.command))
        if isinstance(event.command, v.CancelScheduled):
            bodies[self._of_number[event.command.sequence_number]] = None
        return tuple(bodies)

    def parts(self, *, in_lines: bool) -> Iterator[Fragment]:
        """Yield a fragment for each message, or for each key and session."""
        groups = Groups()
        sessions: dict[str, set[Node]] = defaultdict(set)
        for index in range(len(self._bodies)):
            self._join(index, groups, sessions, in_lines=in_lines)
        chosen = self._choose_events(groups, sessions, in_lines=in_lines)
        members: dict[Any, set[str]] = defaultdict(set)
        for kind, name in groups:
            if kind == "body":
                members[groups.root((kind, name))].add(name)
        for root, indices in chosen.items():
            if not in_lines:
                indices |= set(self._empty_receives(sorted(indices)))
            if len(indices) > 1:
                yield self._narrow(members[root], sorted({*indices, *self._always}))

    def _empty_receives(self, own: Sequence[int]) -> Iterator[int]:
        """Yield the receives of nothing that no front end's cache explains.

        Only another connection that has received since may have the message of these events.
        """
        events = self._fragment.events
        sessions = {
            getattr(events[at].command, "session_id", None)
            or next((one.session_id for one in messages_of(events[at].command)), None)
            for at in own
        }
        for at in self._receives:
            event = events[at]
            if not isinstance(event.outcome, v.Empty):
                continue
            name = getattr(event.command, "session_id", None)
            if name is not None:
                if name in sessions:
                    yield at
                continue
            before = [one for one in own if self._is_before(one, at)]
            after = [one for one in own if self._is_before(at, one)]
            if len(before) + len(after) < len(own) or not before:
                continue
            last = max(before, key=self._end)
            # What was cached before may have been delivered too often (CACHE-DELIVERY-COUNT).
            was_given = any(views_of(events[one].outcome) for one in before)
            if not any(
                events[one].connection != event.connection
                and (was_given or not self._is_before(one, last))
                and not self._is_before(at, one)
                for one in self._receives
            ):
                yield at

    def _end(self, at: int) -> tuple[int, int]:
        return self._fragment.events[at].returned or 0, at

    def _is_before(self, one: int, other: int) -> bool:
        """Return whether an event took effect before another one for sure."""
        if self._is_recorded:
            return one < other
        ended = self._fragment.events[one].returned
        return ended is not None and ended < self._fragment.events[other].called

    def _join(
        self, index: int, groups: Groups, sessions: dict[str, set[Node]], *, in_lines: bool
    ) -> None:
        """Join the messages of an event that belong together."""
        event = self._fragment.events[index]
        bodies: list[Node] = [("body", body) for body in self._bodies[index]]
        transaction = getattr(event.command, "transaction", None)
        for node in bodies:
            groups.root(node)
            if isinstance(event.command, v.ReceiveDeferred):
                groups.join(bodies[0], node)
            if transaction is not None:
                groups.join(("transaction", transaction), node)
        shown: list[v.Message | v.MessageView] = [*messages_of(event.command)]
        for message in [*shown, *views_of(event.outcome)]:
            for name in self._names(message, in_lines=in_lines):
                groups.join(name, ("body", message.body))
            if message.session_id is not None:
                sessions[message.session_id].add(("body", message.body))

    def _choose_events(
        self, groups: Groups, sessions: dict[str, set[Node]], *, in_lines: bool
    ) -> dict[Any, set[int]]:
        """Return the events of each group: of its messages, sessions and transactions."""
        chosen: dict[Any, set[int]] = defaultdict(set)
        for index, bodies in enumerate(self._bodies):
            for body in bodies:
                chosen[groups.root(("body", body))].add(index)
            transaction = getattr(self._fragment.events[index].command, "transaction", None)
            if transaction is not None:
                chosen[groups.root(("transaction", transaction))].add(index)
        for name, indices in self._of_sessions().items():
            nodes = sessions.get(name) or ({("session", name)} if in_lines else set[Node]())
            for root in {groups.root(node) for node in nodes}:
                chosen[root].update(indices)
        return chosen

    def _of_sessions(self) -> dict[str, list[int]]:
        of: dict[str, list[int]] = defaultdict(list)
        for index, event in enumerate(self._fragment.events):
            name = getattr(event.command, "session_id", None)
            if name is not None and not isinstance(event.command, (*RECEIVING, v.Peek)):
                of[name].append(index)
        return of

    def _names(self, message: v.Message | v.MessageView, *, in_lines: bool) -> Iterator[Node]:
        number = getattr(message, "sequence_number", None)
        if number is not None:
            yield "number", str(number)
        if self._detects and message.message_id is not None:
            yield "id", message.message_id
        if in_lines:
            key = message.session_id or message.partition_key
            if key is not None:
                yield "key", key

    def _narrow(self, bodies: set[str], chosen: list[int]) -> Fragment:
        fragment = self._fragment
        events = [self._shorten(fragment.events[index], bodies) for index in chosen]
        return attrs.evolve(
            fragment,
            events=tuple(events),
            indices=tuple(fragment.indices[index] for index in chosen),
            unjudged=Counter(),
            past=attrs.evolve(fragment.past, keeps_locks=False, is_whole=False),
        )

    def _shorten(self, event: v.Event, bodies: set[str]) -> v.Event:
        """Return an event about these messages alone."""
        command = event.command
        outcome = event.outcome
        if isinstance(command, v.SendBatch):
            messages = tuple(one for one in command.messages if one.body in bodies)
            event = attrs.evolve(event, command=attrs.evolve(command, messages=messages))
        elif isinstance(command, v.SettleBatch | v.RenewLocks):
            tokens = tuple(t for t in command.lock_tokens if self._of_token[t] in bodies)
            event = attrs.evolve(event, command=attrs.evolve(command, lock_tokens=tokens))
        if isinstance(outcome, v.Peeked | v.ReceivedSeveral):
            views = tuple(_clean(view) for view in outcome.messages if view.body in bodies)
            event = attrs.evolve(event, outcome=attrs.evolve(outcome, messages=views))
        elif isinstance(outcome, v.Received):
            event = attrs.evolve(event, outcome=v.Received(message=_clean(outcome.message)))
        elif isinstance(outcome, v.Renewed):
            event = attrs.evolve(event, outcome=v.Renewed(locked_until=None))
        return event


def _clean(view: v.MessageView) -> v.MessageView:
    """Return a view without what a front end changes that may have cached the message."""
    return attrs.evolve(view, delivery_count=None, locked_until=None)
