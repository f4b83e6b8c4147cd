"""The subhistory of the messages of one event, picked out of a long history.

All events are read a few times, and only those of the messages are kept. `message_subhistories`
explains why the others may be left out.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.linearization.message_subhistories import Found, is_separable, prove
from busproof.judging.linearization.subhistory import Subhistory, given
from busproof.judging.replay.evidence import numbers_of, tokens_of

__all__ = ["OnRealClock", "impossible_subhistory_at"]

MOST: Final = 2_000
"""Maximum number of events of a subhistory that is searched."""
PASSES: Final = 4
"""How often the events are read to find all messages with the same MessageIds."""
OF_SESSIONS: Final = (
    *(v.AcceptSession, v.CloseSession, v.RenewSessionLock, v.SetSessionState, v.GetSessionState),
)


class OnRealClock(Collection[v.Event]):
    """The events of a virtual clock as a recorder on a real clock would see them.

    Each is called and answered at its moment, so that those of one moment may have any order.

    Args:
        events: the events of a history.
        count: how many of them there are.
    """

    def __init__(self, events: Sequence[v.Event], count: int) -> None:
        self._events = events
        self._count = count

    def __len__(self) -> int:
        """Return how many events there are, with the advances of the clock."""
        return self._count

    def __contains__(self, event: object) -> bool:
        """Return whether an event is one of them."""
        return any(event == one for one in self)

    def __iter__(self) -> Iterator[v.Event]:
        """Yield the events without the advances of the clock, which are in their times."""
        now = 0
        for event in islice(self._events, self._count):
            if isinstance(event.command, v.AdvanceClock):
                now += event.command.duration
            else:
                yield attrs.evolve(event, called=now, returned=now)


@attrs.define
class Concern:
    """What a subhistory is about, in one queue and its dead letters."""

    queue: str
    bodies: set[str] = attrs.field(factory=set)
    ids: set[str] = attrs.field(factory=set)
    tokens: set[str] = attrs.field(factory=set)
    numbers: set[int] = attrs.field(factory=set)
    sessions: set[str] = attrs.field(factory=set)

    @property
    def size(self) -> int:
        """How much it is."""
        names = (*self.bodies, *self.ids, *self.tokens, *self.sessions)
        return len(self.numbers) + len(names)

    def includes(self, event: v.Event) -> bool:
        """Return whether an event belongs to the subhistory; note what else this brings."""
        command = event.command
        if v.owner_of(getattr(command, "queue", "")) != self.queue:
            return False
        if isinstance(command, v.Send):
            is_ours = command.message.body in self.bodies or command.message.message_id in self.ids
            if is_ours:
                self._note_sent(command.message)
            return is_ours
        if isinstance(event.outcome, v.Peeked):
            return any(view.body in self.bodies for view in event.outcome.messages)
        is_ours = (
            any(view.body in self.bodies for view in given(event))
            or not self.numbers.isdisjoint(numbers_of(command))
            or not self.tokens.isdisjoint(tokens_of(command))
        )
        if is_ours:
            self._note_given(given(event))
        return is_ours or self._is_always_kept(event)

    def _is_always_kept(self, event: v.Event) -> bool:
        """Return whether an event affects the messages without naming them."""
        command = event.command
        if isinstance(command, v.Receive | v.ReceiveDeferred):
            return isinstance(event.outcome, v.Indeterminate)
        if isinstance(command, OF_SESSIONS):
            return command.session_id in self.sessions
        return isinstance(command, v.CreateQueue | v.TakePartitionDown | v.BringPartitionUp)

    def _note_sent(self, message: v.Message) -> None:
        self.bodies.add(message.body)
        if message.message_id is not None:
            self.ids.add(message.message_id)
        if message.session_id is not None:
            self.sessions.add(message.session_id)

    def _note_given(self, views: Iterable[v.MessageView]) -> None:
        for view in views:
            self.bodies.add(view.body)
            if view.lock_token is not None:
                self.tokens.add(view.lock_token)
            if view.sequence_number is not None:
                self.numbers.add(view.sequence_number)
            if view.session_id is not None:
                self.sessions.add(view.session_id)


def impossible_subhistory_at(
    events: Collection[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    stuck: Iterable[v.Event],
) -> Found | None:
    """Return a subhistory of an event's messages that has no order; `None` if there is no proof.

    Args:
        events: the events of one part, on a real clock.
        profile: the terms that the bus is judged by.
        observability: what an observer sees of the bus.
        stuck: the events where the search was stuck.
    """
    if not is_separable(events):
        return None
    held_to = attrs.evolve(profile, silent=profile.silent | {"KEY-14"})
    for event in stuck:
        queue = v.owner_of(getattr(event.command, "queue", ""))
        concern = Concern(queue)
        concern.bodies.update(bodies_of(event))
        concern.tokens.update(tokens_of(event.command))
        subhistory = _subhistory(events, concern)
        proof = None if subhistory is None else prove(subhistory, held_to, observability)
        if proof is not None:
            return proof
    return None


def bodies_of(event: v.Event) -> Iterator[str]:
    """Yield the bodies of the messages that an event sends or gives."""
    if isinstance(event.command, v.Send):
        yield event.command.message.body
    yield from (view.body for view in given(event))


def _subhistory(events: Collection[v.Event], concern: Concern) -> Subhistory | None:
    """Return the events that concern some messages; `None` if they are too many."""
    for _ in range(PASSES):
        before = concern.size
        chosen: list[tuple[int, v.Event]] = []
        left_out: set[str] = set()
        for index, event in enumerate(events):
            if concern.includes(event):
                chosen.append((index, shortened(event, concern.bodies)))
                if len(chosen) > MOST or getattr(event.command, "transaction", None) is not None:
                    return None
            elif isinstance(event.command, v.Receive):
                left_out.add(event.connection)
        if concern.size == before:
            break
    else:
        return None
    return Subhistory(
        events=[event for _, event in chosen],
        indices=[index for index, _ in chosen],
        left_out=frozenset(left_out),
    )


def shortened(event: v.Event, bodies: Collection[str]) -> v.Event:
    """Return a peek that shows only some messages; other events are as they are."""
    if not isinstance(event.outcome, v.Peeked):
        return event
    views = tuple(view for view in event.outcome.messages if view.body in bodies)
    return attrs.evolve(event, outcome=v.Peeked(messages=views))
