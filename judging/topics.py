"""Small topics of a history, each of which must have an order if the whole has one.

Where no order of a whole part is found soon, there may be none: something in it is wrong. What is
wrong can mostly be told from a few events: those of one message, of one key or session, or of one
empty answer and a message that it withheld. Such a topic leaves events out, and is judged by the
same model. If it has no order in which its answers are allowed, neither has the whole. For that,
leaving an event out must never forbid what was allowed with it, and this is why it does not:

* The times stay. Between its call and its return an event may take effect at any moment, and a
  window that fewer events narrow down is only wider.
* Which messages go together: those with one body; those of one transaction, because a send in it
  may be refused for what was sent before; where duplicates are detected, those with one MessageId,
  because a copy is dropped for what was sent before. Nothing else makes a send refused or dropped.
  A dead letter is the message that it was, and what is received by number goes together.
* Outages, and the sessions that a topic's messages are in, are kept whole. Less is known of where
  a key leads; everything that depends on it allows more the less is known.
* Receives of other messages put messages into caches. `Vantage.left_out` names the connections that
  they came over, and the model then takes it that such a cache may hold any message at any time.
* A receive by number that was never answered may have taken what it names; it is kept everywhere.
  Any other receive that was never answered may have taken any one message. One such receive right
  after the queue was created stands for all of them: it allows every empty answer, and every order.
* What a peek showed of other messages is left out: less was shown, still in order.
* Messages without a key take turns (KEY-14) only where all of them are seen, so that a topic does
  not hold the bus to it.

Two topics of a history that both have an order prove nothing of the whole.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import attrs

from busproof.judging.hints import Hints
from busproof.judging.judge import Violation
from busproof.judging.parts import KNOWN, Groups
from busproof.judging.search import Ended, Search
from busproof.model.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    BringPartitionUp,
    CloseSession,
    Complete,
    CreateQueue,
    DeadLetter,
    Defer,
    GetSessionState,
    ListSessions,
    Peek,
    Receive,
    ReceiveDeferred,
    RenewLock,
    RenewSessionLock,
    Send,
    SetSessionState,
    TakePartitionDown,
)
from busproof.model.dead_letters import SUFFIX, owner_of
from busproof.model.outcomes import (
    Done,
    Empty,
    Event,
    Indeterminate,
    Peeked,
    Received,
    ReceivedSeveral,
)
from busproof.model.state import NEVER, Namespace, fresh_namespace
from busproof.model.step import Acceptance, accept
from busproof.model.values import MessageView, Profile, Vantage

__all__ = ["impossible_topic"]

STEPS_AN_EVENT: Final = 50
STEPS_AT_LEAST: Final = 3_000
"""How many steps the search for an order of a topic may take; beyond them it proves nothing."""

BLAMED_AMONG: Final = 30
"""Up to how many events of an impossible topic are tried for the one to blame."""

WITHHELD: Final = 3
"""How many messages an empty answer is compared with, one at a time."""

ALL_SESSIONS: Final = (AcceptNextSession, ListSessions)
"""Commands that look at every session of a queue: where they occur, nothing can be left out."""

ELSEWHERE: Final = "another connection"

Found = tuple[tuple[int, ...], Violation]


def impossible_topic(
    events: Sequence[Event], profile: Profile, vantage: Vantage, stuck: Collection[int]
) -> Found | None:
    """A topic that has no order: its events in the longest one, and why that ends.

    Args:
        events: of a part of a history, on a real clock.
        profile: what the bus is held to.
        vantage: what is seen of it.
        stuck: the events at which no order was found to go on; what they are about comes first.
    """
    if any(not isinstance(event.command, KNOWN) for event in events):
        return None
    if any(isinstance(event.command, ALL_SESSIONS) for event in events):
        return None
    held_to = attrs.evolve(profile, silent=profile.silent | {"KEY-14"})
    cutting = _Cutting(events, vantage.slack)
    for topic in cutting.topics(stuck):
        found = _proof(topic, held_to, vantage)
        if found is not None:
            return found
    return None


@attrs.frozen(kw_only=True)
class _Topic:
    """Some events, possibly shortened; `indices` says which they are, -1 for one of our own."""

    events: list[Event]
    indices: list[int]
    left_out: frozenset[str]


def _proof(topic: _Topic, profile: Profile, vantage: Vantage) -> Found | None:
    start = (fresh_namespace(profile, attrs.evolve(vantage, left_out=topic.left_out)),)
    search = _searched(topic.events, start)
    if search is None:
        return None
    end = search.told()
    order, why = end.order, end.why()
    if len(topic.events) <= BLAMED_AMONG:
        order, why = _most_to_blame(topic.events, start) or (order, why)
    told = tuple(topic.indices[each] for each in order if topic.indices[each] >= 0)
    return told, Violation(index=len(told) - 1, rules=why.rules, allowed=why.allowed)


def _searched(events: Sequence[Event], start: tuple[Namespace, ...]) -> Search | None:
    """The search that proves that these events have no order; `None` where it does not."""
    search = Search(events, start, ordered=False)
    steps = STEPS_AT_LEAST + STEPS_AN_EVENT * len(events)
    return search if search.run(steps, steps) is Ended.IMPOSSIBLE else None


def _most_to_blame(
    events: Sequence[Event], start: tuple[Namespace, ...]
) -> tuple[tuple[int, ...], Acceptance] | None:
    """An event without which the others have an order, put where it is not allowed in it.

    Which event of an impossible topic is wrong cannot be proved; the one without which all is well
    is the best guess, and what is said of it is told best. Its settlement goes with a delivery.
    """
    for suspect in reversed(range(len(events))):
        others = [
            index
            for index, event in enumerate(events)
            if index != suspect and not _settles(event, events[suspect])
        ]
        search = Search([events[index] for index in others], start, ordered=False)
        if search.run(STEPS_AT_LEAST, STEPS_AT_LEAST) is not Ended.FOUND:
            continue
        order = [others[each] for each in search.order]
        found = _placed(events, start, order, suspect)
        if found is not None:
            return found
    return None


def _placed(
    events: Sequence[Event], start: tuple[Namespace, ...], order: Sequence[int], suspect: int
) -> tuple[tuple[int, ...], Acceptance] | None:
    """The suspect as late in the others' order as it most likely was, if it is wrong there."""
    hints = Hints(events)
    possible, before = start, []
    for index in order:
        if events[index].called > _end(events[suspect]) or hints.follows(index, suspect):
            break
        possible = accept(possible, events[index]).possible
        before.append(index)
    why = accept(possible, events[suspect])
    return None if why.possible else ((*before, suspect), why)


def _settles(event: Event, delivery: Event) -> bool:
    token = getattr(event.command, "lock_token", None)
    return token is not None and any(view.lock_token == token for view in _given(delivery))


def _given(event: Event) -> tuple[MessageView, ...]:
    """What a receive of whichever kind was given."""
    if isinstance(event.outcome, ReceivedSeveral):
        return event.outcome.messages
    return (event.outcome.message,) if isinstance(event.outcome, Received) else ()


def _end(event: Event) -> int:
    return NEVER if event.returned is None else event.returned


class _Cutting:
    """The events of a part, and how they are cut into topics."""

    def __init__(self, events: Sequence[Event], slack: int) -> None:
        self._events = events
        self._slack = slack
        self._settings: dict[str, CreateQueue] = {}
        self._created: dict[str, list[int]] = defaultdict(list)
        self._whole_kept: dict[str, list[int]] = defaultdict(list)
        self._numbered: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._sessions: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._receives: dict[str, list[int]] = defaultdict(list)
        for index, event in enumerate(events):
            self._add(index, event)

    def _add(self, index: int, event: Event) -> None:
        match event.command:
            case CreateQueue(queue=queue):
                self._created[queue].append(index)
                self._settings.setdefault(queue, event.command)
            case TakePartitionDown(queue=queue) | BringPartitionUp(queue=queue):
                self._whole_kept[owner_of(queue)].append(index)
            case ReceiveDeferred(queue=queue) if isinstance(event.outcome, Indeterminate):
                self._whole_kept[owner_of(queue)].append(index)
            case (
                AcceptSession(queue=queue, session_id=session)
                | CloseSession(queue=queue, session_id=session)
                | RenewSessionLock(queue=queue, session_id=session)
                | SetSessionState(queue=queue, session_id=session)
                | GetSessionState(queue=queue, session_id=session)
            ):
                self._sessions[queue, session].append(index)
            case Receive(queue=queue):
                self._receives[queue].append(index)

        views = event.outcome.messages if isinstance(event.outcome, Peeked) else _given(event)
        for view in views:
            if view.sequence_number is not None:
                queue = getattr(event.command, "queue", "")
                self._numbered[queue, view.sequence_number].add(view.body)

    def topics(self, stuck: Collection[int]) -> Iterator[_Topic]:
        """Every topic, those of the events at which the search was stuck first."""
        for index in stuck:
            if isinstance(self._events[index].outcome, Empty):
                yield from self._withheld(index)
        for lines in (False, True):
            grouped = self._grouped(lines=lines)
            first = set(stuck)
            chosen = [indices for indices in grouped if first.intersection(indices)]
            rest = [indices for indices in grouped if first.isdisjoint(indices)]
            for indices in (*chosen, *rest):
                yield self._topic(indices)

    def _grouped(self, *, lines: bool) -> list[list[int]]:
        """The events by message, or by key and session; those about neither are in no group."""
        groups = Groups()
        named = [list(self._names(event, lines=lines)) for event in self._events]
        for first, *others in filter(None, named):
            for other in others:
                groups.join(first, other)
        found: dict[object, list[int]] = defaultdict(list)
        for index, names in enumerate(named):
            for root in dict.fromkeys(groups.root(name) for name in names if name[0] != "shown"):
                found[root].append(index)
            for name in names:
                if name[0] == "shown":
                    found[groups.root(("body", *name[1:]))].append(index)
        return [sorted(set(indices)) for indices in found.values()]

    def _names(self, event: Event, *, lines: bool) -> Iterator[tuple[str, ...]]:
        """What an event is about; what a peek shows does not join messages."""
        command = event.command
        queue = getattr(command, "queue", "")
        transaction = getattr(command, "transaction", None)
        if transaction is not None:
            yield ("transaction", transaction)
        match command:
            case Send():
                yield from self._names_of_send(command, lines=lines)
            case Receive(session_id=session) | ReceiveDeferred(session_id=session):
                yield from self._names_of_receive(event, queue)
                if lines and session is not None:
                    yield ("key", queue, session)
            case (
                Complete(lock_token=token)
                | Abandon(lock_token=token)
                | DeadLetter(lock_token=token)
                | Defer(lock_token=token)
                | RenewLock(lock_token=token)
            ):
                yield ("token", queue, token)
            case (
                AcceptSession(session_id=session)
                | CloseSession(session_id=session)
                | RenewSessionLock(session_id=session)
                | SetSessionState(session_id=session)
                | GetSessionState(session_id=session)
            ) if lines:
                yield ("key", queue, session)
            case Peek() if isinstance(event.outcome, Peeked):
                owner = owner_of(queue)
                yield from (("shown", owner, view.body) for view in event.outcome.messages)

    def _names_of_send(self, command: Send, *, lines: bool) -> Iterator[tuple[str, ...]]:
        message, queue = command.message, command.queue
        yield ("body", queue, message.body)
        settings = self._settings.get(queue)
        detecting = settings is None or settings.duplicate_detection
        if detecting and message.message_id is not None:
            yield ("id", queue, message.message_id)
        if lines:
            keys = (message.session_id, message.partition_key)
            yield from (("key", queue, key) for key in keys if key is not None)
            if detecting and message.message_id is not None:
                yield ("key", queue, message.message_id)

    def _names_of_receive(self, event: Event, queue: str) -> Iterator[tuple[str, ...]]:
        yield from (("body", *body) for body in self._bodies(event))
        for view in _given(event):
            if view.lock_token is not None:
                yield ("token", queue, view.lock_token)

    def _topic(self, indices: list[int]) -> _Topic:
        """The events with all that they depend on, shortened to what they are about."""
        events = self._events
        chosen = {
            index
            for index in indices
            if not (
                isinstance(events[index].command, Receive)
                and isinstance(events[index].outcome, Indeterminate)
            )
        }
        queues = {
            owner_of(queue)
            for index in chosen
            if (queue := getattr(events[index].command, "queue", ""))
        }
        bodies = {body for index in chosen for body in self._bodies(events[index])}
        for queue in queues:
            chosen.update(self._created[queue], self._whole_kept[queue])
        for index in tuple(chosen):
            for session in self._sessions_of(events[index]):
                chosen.update(self._sessions[session])
        return self._whole(sorted(chosen), queues, bodies)

    def _bodies(self, event: Event) -> Iterator[tuple[str, str]]:
        command = event.command
        if isinstance(command, Send):
            yield command.queue, command.message.body
        elif isinstance(command, Receive | ReceiveDeferred):
            owner = owner_of(command.queue)
            yield from ((owner, view.body) for view in _given(event))
            for number in getattr(command, "sequence_numbers", ()):
                bodies = self._numbered.get((command.queue, number), ())
                yield from ((owner, body) for body in sorted(bodies))

    def _sessions_of(self, event: Event) -> Iterator[tuple[str, str]]:
        command = event.command
        named = command.message if isinstance(command, Send) else command
        session = getattr(named, "session_id", None)
        if session is not None:
            yield getattr(command, "queue", ""), session

    def _whole(self, chosen: list[int], queues: set[str], bodies: set[tuple[str, str]]) -> _Topic:
        latest = max(self._end(index) for index in chosen)
        kept = set(chosen)
        left_out: set[str] = set()
        found = [(index, self._shortened(self._events[index], bodies)) for index in chosen]
        for queue in sorted(name + suffix for name in queues for suffix in ("", SUFFIX)):
            others = [index for index in self._receives[queue] if index not in kept]
            early = [index for index in others if self._events[index].called <= latest]
            lost = [i for i in early if isinstance(self._events[i].outcome, Indeterminate)]
            left_out.update(self._events[index].connection for index in early)
            if lost:
                left_out.add(ELSEWHERE)
                found.append((-1, self._lost(queue)))
        return _Topic(
            events=[event for _, event in found],
            indices=[index for index, _ in found],
            left_out=frozenset(left_out),
        )

    def _end(self, index: int) -> int:
        return _end(self._events[index])

    def _lost(self, queue: str) -> Event:
        """A receive that was never answered, at once after the queue was created."""
        created = [self._events[index] for index in self._created[owner_of(queue)]]
        moment = min((each.returned or each.called for each in created), default=0)
        return Event(
            client=ELSEWHERE,
            connection=ELSEWHERE,
            called=moment,
            returned=moment,
            command=Receive(queue=queue),
            outcome=Indeterminate(),
        )

    def _shortened(self, event: Event, bodies: set[tuple[str, str]]) -> Event:
        if not isinstance(event.outcome, Peeked):
            return event
        queue = owner_of(getattr(event.command, "queue", ""))
        views = tuple(view for view in event.outcome.messages if (queue, view.body) in bodies)
        return attrs.evolve(event, outcome=Peeked(messages=views))

    def _withheld(self, empty: int) -> Iterator[_Topic]:
        """An empty answer and a message that was surely there; one is enough."""
        events = self._events
        event = events[empty]
        command = event.command
        if not isinstance(command, Receive) or command.session_id is not None:
            return
        settings = self._settings.get(command.queue)
        if settings is None or settings.duplicate_detection or settings.requires_session:
            return
        taken = {
            body
            for index in self._receives[command.queue]
            if events[index].called <= self._end(empty)
            for body in self._bodies(events[index])
        }
        sends = [
            index
            for index, each in enumerate(events)
            if isinstance(each.command, Send)
            and each.command.queue == command.queue
            and each.command.transaction is None
            and isinstance(each.outcome, Done)
            and self._end(index) < event.called
            and (command.queue, each.command.message.body) not in taken
        ]
        life = settings.lock_duration + self._slack
        for send in sends[:WITHHELD]:
            yield self._alone(empty, command.queue, send, life)

    def _alone(self, empty: int, queue: str, send: int, life: int) -> _Topic:
        """The empty answer, one send, and of other receives those whose caches may live."""
        events = self._events
        chosen = sorted({empty, send, *self._created[queue], *self._whole_kept[queue]})
        found = [(index, events[index]) for index in chosen]
        others = [
            index
            for index in self._receives[queue]
            if index != empty and events[index].called <= self._end(empty)
        ]
        lost = [index for index in others if isinstance(events[index].outcome, Indeterminate)]
        alive = [index for index in others if self._end(index) + life >= events[empty].called]
        left_out = {events[index].connection for index in alive}
        if lost:
            left_out.add(ELSEWHERE)
            found.append((-1, self._lost(queue)))
        return _Topic(
            events=[event for _, event in found],
            indices=[index for index, _ in found],
            left_out=frozenset(left_out),
        )
