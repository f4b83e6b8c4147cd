"""Division of a part of a history into subhistories, by key, session or message.

`message_subhistories` explains why a subhistory may leave out events.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.decompose import Groups
from busproof.judging.linearization.subhistory import Subhistory, end_of, given

__all__ = ["Subhistories"]

WITHHELD: Final = 3
"""Number of messages that an empty answer is compared with, one after another."""


class Subhistories:
    """Subhistories of the events of one part.

    Args:
        events: the events of the part.
        profile: the terms that the bus is judged by.
        slack: how many microseconds later than announced a lock may end.
    """

    def __init__(self, events: Sequence[v.Event], profile: v.Profile, slack: int) -> None:
        self._events = events
        self._readings = profile.readings
        self._slack = slack
        # Which creation of a queue took effect is not known: one may have been refused, or not
        # answered. So only settings that all creations agree on are certain.
        self._settings: dict[str, list[v.CreateQueue]] = defaultdict(list)
        self._created: dict[str, list[int]] = defaultdict(list)
        self._outages: dict[str, list[int]] = defaultdict(list)
        self._lost: dict[str, list[int]] = defaultdict(list)
        self._numbered: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._sessions: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._receives: dict[str, list[int]] = defaultdict(list)
        for index, event in enumerate(events):
            self._add(index, event)

    def _add(self, index: int, event: v.Event) -> None:
        match event.command:
            case v.CreateQueue(queue=queue):
                self._created[queue].append(index)
                self._settings[queue].append(event.command)
            case v.TakePartitionDown(queue=queue) | v.BringPartitionUp(queue=queue):
                self._outages[v.owner_of(queue)].append(index)
            case (
                v.AcceptSession(queue=queue, session_id=session)
                | v.CloseSession(queue=queue, session_id=session)
                | v.RenewSessionLock(queue=queue, session_id=session)
                | v.SetSessionState(queue=queue, session_id=session)
                | v.GetSessionState(queue=queue, session_id=session)
            ):
                self._sessions[queue, session].append(index)
            case v.Receive(queue=queue):
                self._receives[queue].append(index)

        command = event.command
        if isinstance(command, v.Receive | v.ReceiveDeferred) and isinstance(
            event.outcome, v.Indeterminate
        ):
            # It may have taken any message, so no subhistory leaves it out.
            self._lost[v.owner_of(command.queue)].append(index)
        views = event.outcome.messages if isinstance(event.outcome, v.Peeked) else given(event)
        for view in views:
            if view.sequence_number is not None:
                queue = getattr(event.command, "queue", "")
                self._numbered[queue, view.sequence_number].add(view.body)

    def subhistories(self, stuck: Collection[int]) -> Iterator[Subhistory]:
        """Yield all subhistories, first those of the events where the search was stuck."""
        # A proof is most likely to be found there, and small subhistories are cheap to judge.
        for index in stuck:
            if isinstance(self._events[index].outcome, v.Empty):
                yield from self._withheld(index)
        # Single messages come before all messages of a key: their proofs are shorter and faster.
        for lines in (False, True):
            grouped = self._group(lines=lines)
            first = set(stuck)
            chosen = [indices for indices in grouped if first.intersection(indices)]
            rest = [indices for indices in grouped if first.isdisjoint(indices)]
            for indices in (*chosen, *rest):
                yield self._subhistory(indices)
        for indices in self._sends_of_keys():
            subhistory = self._subhistory(indices)
            events = [_without_size(event) for event in subhistory.events]
            yield attrs.evolve(subhistory, events=events)

    def _sends_of_keys(self) -> list[list[int]]:
        """Return the sends of each key, whose partitions must be the same in any order.

        Sends that may have been dropped as copies are left out.
        """
        by_name: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for index, event in enumerate(self._events):
            command = event.command
            if isinstance(command, v.Send) and command.transaction is None:
                names = list(self._names_of_send(command, lines=True))
                # A dropped copy is also answered with success, and its partition proves nothing.
                if all(name[0] != "id" for name in names):
                    for name in names[1:]:
                        by_name[name].append(index)
        return [indices for indices in by_name.values() if len(indices) > 1]

    def _group(self, *, lines: bool) -> list[list[int]]:
        """Return the events of each message, or of each key and session (`lines`)."""
        groups = Groups()
        named = [list(self._names(event, lines=lines)) for event in self._events]
        for first, *others in filter(None, named):
            for other in others:
                groups.join(first, other)
        by_root: dict[object, list[int]] = defaultdict(list)
        for index, names in enumerate(named):
            # A peek shows many messages: it is in the group of each, and does not join the groups.
            for root in dict.fromkeys(groups.root(name) for name in names if name[0] != "shown"):
                by_root[root].append(index)
            for name in names:
                if name[0] == "shown":
                    by_root[groups.root(("body", *name[1:]))].append(index)
        return [sorted(set(indices)) for indices in by_root.values()]

    def _names(self, event: v.Event, *, lines: bool) -> Iterator[tuple[str, ...]]:
        """Yield the names that an event concerns; a peek does not join the messages it shows."""
        command = event.command
        queue = getattr(command, "queue", "")
        transaction = getattr(command, "transaction", None)
        if transaction is not None:
            yield ("transaction", transaction)
        match command:
            case v.Send():
                yield from self._names_of_send(command, lines=lines)
            # It may have taken any message, and is in every subhistory.
            case v.Receive() if isinstance(event.outcome, v.Indeterminate):
                return
            case v.Receive(session_id=session) | v.ReceiveDeferred(session_id=session):
                yield from self._names_of_receive(event, queue)
                if lines and session is not None:
                    yield ("key", queue, session)
            case (
                v.Complete(lock_token=token)
                | v.Abandon(lock_token=token)
                | v.DeadLetter(lock_token=token)
                | v.Defer(lock_token=token)
                | v.RenewLock(lock_token=token)
            ):
                yield ("token", queue, token)
            case (
                v.AcceptSession(session_id=session)
                | v.CloseSession(session_id=session)
                | v.RenewSessionLock(session_id=session)
                | v.SetSessionState(session_id=session)
                | v.GetSessionState(session_id=session)
            ) if lines:
                yield ("key", queue, session)
            case v.Peek() if isinstance(event.outcome, v.Peeked):
                owner = v.owner_of(queue)
                yield from (("shown", owner, view.body) for view in event.outcome.messages)

    def _names_of_send(self, command: v.Send, *, lines: bool) -> Iterator[tuple[str, ...]]:
        message, queue = command.message, command.queue
        yield ("body", queue, message.body)
        settings = self._settings[queue]
        # A queue created before the history began may detect duplicates.
        detecting = not settings or any(made.duplicate_detection for made in settings)
        if detecting and message.message_id is not None:
            yield ("id", queue, message.message_id)
        if lines:
            keys = (message.session_id, message.partition_key)
            yield from (("key", queue, key) for key in keys if key is not None)
            if detecting and message.message_id is not None:
                yield ("key", queue, message.message_id)

    def _names_of_receive(self, event: v.Event, queue: str) -> Iterator[tuple[str, ...]]:
        yield from (("body", *body) for body in self._bodies(event))
        for view in given(event):
            if view.lock_token is not None:
                yield ("token", queue, view.lock_token)

    def _subhistory(self, indices: list[int]) -> Subhistory:
        """Return the events with all others that affect them, shortened to their messages."""
        events, chosen = self._events, set(indices)
        queues = {
            v.owner_of(queue)
            for index in chosen
            if (queue := getattr(events[index].command, "queue", ""))
        }
        bodies = {body for index in chosen for body in self._bodies(events[index])}
        for queue in queues:
            chosen.update(self._created[queue], self._outages[queue], self._lost[queue])
        # Which connection held a session decides about receives from it, whatever they returned.
        for index in tuple(chosen):
            for session in self._sessions_of(events[index]):
                chosen.update(self._sessions[session])
        return self._whole(sorted(chosen), queues, bodies)

    def _bodies(self, event: v.Event) -> Iterator[tuple[str, str]]:
        command = event.command
        if isinstance(command, v.Send):
            yield command.queue, command.message.body
        elif isinstance(command, v.Receive | v.ReceiveDeferred):
            owner = v.owner_of(command.queue)
            yield from ((owner, view.body) for view in given(event))
            for number in getattr(command, "sequence_numbers", ()):
                bodies = self._numbered.get((command.queue, number), ())
                yield from ((owner, body) for body in sorted(bodies))

    def _sessions_of(self, event: v.Event) -> Iterator[tuple[str, str]]:
        command = event.command
        named = command.message if isinstance(command, v.Send) else command
        session = getattr(named, "session_id", None)
        if session is not None:
            yield getattr(command, "queue", ""), session

    def _whole(
        self, chosen: list[int], queues: set[str], bodies: set[tuple[str, str]]
    ) -> Subhistory:
        # A receive that was called after all these events cannot have cached a message before them.
        latest = max(self._end(index) for index in chosen)
        kept = set(chosen)
        left_out = {
            self._events[index].connection
            for queue in queues
            for suffix in ("", v.DEAD_LETTERS)
            for index in self._receives[queue + suffix]
            if index not in kept and self._events[index].called <= latest
        }
        return Subhistory(
            events=[self._shorten(self._events[index], bodies) for index in chosen],
            indices=chosen,
            left_out=frozenset(left_out),
        )

    def _end(self, index: int) -> int:
        return end_of(self._events[index])

    def _shorten(self, event: v.Event, bodies: set[tuple[str, str]]) -> v.Event:
        if not isinstance(event.outcome, v.Peeked):
            return event
        queue = v.owner_of(getattr(event.command, "queue", ""))
        views = tuple(view for view in event.outcome.messages if (queue, view.body) in bodies)
        return attrs.evolve(event, outcome=v.Peeked(messages=views))

    def _withheld(self, empty: int) -> Iterator[Subhistory]:
        """Yield an empty answer with one message that was surely there, for a few messages."""
        events = self._events
        event = events[empty]
        command = event.command
        # In a session the answer may be empty because of the lock, which more events decide.
        if not isinstance(command, v.Receive) or command.session_id is not None:
            return
        settings = self._settings[command.queue]
        # If sends may be dropped as copies, or belong to sessions, no message was surely there.
        open_ = any(made.duplicate_detection or made.requires_session for made in settings)
        if open_ or not settings:
            return
        taken = {
            body
            for index in self._receives[command.queue]
            if events[index].called <= self._end(empty)
            for body in self._bodies(events[index])
        }
        sends = [
            index
            for index, candidate in enumerate(events)
            if isinstance(candidate.command, v.Send)
            and candidate.command.queue == command.queue
            and candidate.command.transaction is None
            and isinstance(candidate.outcome, v.Done)
            # Only a send that was answered before the receive was called had surely taken effect.
            and self._end(index) < event.called
            and (command.queue, candidate.command.message.body) not in taken
        ]
        for send in sends[:WITHHELD]:
            yield self._alone(empty, command.queue, send)

    def _alone(self, empty: int, queue: str, send: int) -> Subhistory:
        """Return the empty answer, one send, and the connections whose caches may still exist."""
        events = self._events
        always = *self._created[queue], *self._outages[queue], *self._lost[queue]
        chosen = sorted({empty, send, *always})
        others = [
            index
            for index in self._receives[queue]
            if index != empty and events[index].called <= self._end(empty)
        ]
        spent = self._may_be_spent(queue, send, empty, len(others))
        left_out = {
            events[index].connection
            for index in others
            if spent or self._may_be_cached(index, queue, empty)
        }
        return Subhistory(
            events=[events[index] for index in chosen],
            indices=chosen,
            left_out=frozenset(left_out),
        )

    def _may_be_spent(self, queue: str, send: int, empty: int, receives: int) -> bool:
        """Return whether locks in caches may have used up the limit (CACHE-DELIVERY-COUNT)."""
        settings, events = self._settings[queue], self._events
        life = min(made.lock_duration for made in settings) - self._slack
        # Locks in a cache follow one another, so no more can have ended than fit into the time.
        fit = (self._end(empty) - events[send].called) // life if life > 0 else receives
        limit = min(made.max_delivery_count for made in settings)
        stays = self._readings.get("CACHE-DELIVERY-COUNT") == "stays"
        return not stays and min(receives, fit) >= limit

    def _may_be_cached(self, receive: int, queue: str, empty: int) -> bool:
        """Return whether messages that this receive cached may still be in that cache."""
        event, readings = self._events[receive], self._readings
        # A front end may delete messages from its cache (CACHE-DELETE) or lose them with it
        # (MESSAGES-EXPIRE), and locks may stand still in an outage (OUTAGE-CLOCK): then no cache
        # surely ends.
        deletes = getattr(event.command, "mode", None) is v.ReceiveMode.RECEIVE_AND_DELETE
        deleted = deletes and readings.get("CACHE-DELETE") != "kept"
        lost = readings.get("MESSAGES-EXPIRE") == "message"
        if deleted or lost or self._outages[v.owner_of(queue)]:
            return True
        # A cached message is locked; when the lock has ended, the cache has surely given it back.
        life = max(made.lock_duration for made in self._settings[queue]) + self._slack
        return self._end(receive) + life >= self._events[empty].called


def _without_size(event: v.Event) -> v.Event:
    """Return a send of a small message, for whose room no receive is needed."""
    command = event.command
    if not isinstance(command, v.Send) or not isinstance(event.outcome, v.Done):
        return event
    small = attrs.evolve(command.message, size=None)
    return attrs.evolve(event, command=attrs.evolve(command, message=small))
