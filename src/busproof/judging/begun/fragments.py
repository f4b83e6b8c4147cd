"""Fragments: the events of one entity that existed before, and what may have been there before.

What was before a history is unknown. So each entity is judged by itself, as a queue that is created
first, and in which the replay recalls what was there: messages that are given and nobody sent, and
sessions that clients use and never accepted. An answer that would depend on more of the past is
left out or made weaker, which forbids nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.begun.entities import Entities, is_successful, path_of
from busproof.judging.begun.reasons import Reason
from busproof.judging.replay.evidence import base_path, messages_of, tokens_of, views_of
from busproof.judging.replay.recollection import Before

__all__ = ["ENTITY", "Fragment", "fragments"]

ENTITY: Final = "entity"
"""Name of the queue that stands for an entity."""
LONGEST: Final = 300 * v.MICROSECONDS
OFTEN: Final = 1_000_000
ENDING: Final = (v.DeleteQueue, v.DeleteTopic, v.RestoreQueue)
SENDING: Final = (v.Send, v.SendBatch, v.Schedule)
TRANSACTIONS: Final = (v.BeginTransaction, v.CommitTransaction, v.RollBackTransaction)
KEPT: Final = (
    v.CancelScheduled,
    *(v.Complete, v.Abandon, v.DeadLetter, v.Defer, v.RenewLock),
    *(v.AcceptSession, v.CloseSession, v.RenewSessionLock, v.SetSessionState),
)
RECEIVING: Final = (v.Receive, v.ReceiveBatch, v.ReceiveDeferred)
OF_HOLDERS: Final = (
    *RECEIVING,
    *(v.CloseSession, v.RenewSessionLock, v.SetSessionState, v.GetSessionState),
)
LOST: Final = v.Indeterminate()


@attrs.frozen(kw_only=True)
class Fragment:
    """The events of one entity.

    Attributes:
        path: the path of the entity.
        before: requests that make the queue and its outages, before all events.
        past: what may have been there before.
        events: the events, made weaker where they depend on the past.
        indices: the index of each event in the history.
        has_message_ids: whether its messages have their MessageIds.
        unjudged: how many events are left out or weakened, by reason.
    """

    path: str
    before: tuple[v.Event, ...]
    events: tuple[v.Event, ...]
    indices: tuple[int, ...]
    past: Before
    has_message_ids: bool
    unjudged: Counter[Reason] = attrs.field(factory=Counter)


def fragments(
    events: Sequence[v.Event], entities: Entities, *, partitions: int, has_outages: bool
) -> Iterator[list[Fragment]]:
    """Yield the fragment of each entity; more than one if its settings can be different.

    Args:
        events: the events of a part.
        entities: the entities of the history.
        partitions: how many partitions a partitioned entity has.
        has_outages: whether a partition may have been taken down before.
    """
    sorted_events = _Sorted(events)
    for path in sorted_events.of_paths:
        made = _Fragmenting(
            sorted_events, entities, path, partitions=partitions, has_outages=has_outages
        )
        yield [made.fragment(partitioned) for partitioned in entities.partitionings(path)]


Indexed = list[tuple[int, v.Event]]


class _Sorted:
    """The events of a part, by what they concern.

    Attributes:
        of_paths: the events about each entity.
        begun: the transactions that begin in the history.
    """

    def __init__(self, events: Sequence[v.Event]) -> None:
        # What was answered sooner is not in the history.
        self._beginning = min(
            (event.returned for event in events if event.returned is not None), default=0
        )
        self.of_paths: dict[str, Indexed] = defaultdict(list)
        self.begun: set[str] = set()
        self._of_transactions: dict[str, Indexed] = defaultdict(list)
        self._outages: dict[str, Indexed] = defaultdict(list)
        self._advances: Indexed = []
        self._ends: dict[str, tuple[int, int]] = {}
        for index, event in enumerate(events):
            self._add(index, event)

    def _add(self, index: int, event: v.Event) -> None:
        command = event.command
        if isinstance(command, v.AdvanceClock):
            self._advances.append((index, event))
        elif isinstance(command, TRANSACTIONS):
            self._of_transactions[command.transaction].append((index, event))
            if isinstance(command, v.BeginTransaction) and isinstance(event.outcome, v.Done):
                self.begun.add(command.transaction)
        elif isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
            self._outages[base_path(command.queue)].append((index, event))
        elif (path := path_of(command)) is not None:
            self.of_paths[path].append((index, event))
            if isinstance(command, ENDING) and not isinstance(event.outcome, v.Unsupported):
                self._ends.setdefault(path, (index, event.called))

    def was_under_way(self, event: v.Event) -> bool:
        """Return whether a request may have taken effect before the history began."""
        return event.called < self._beginning

    def of_entity(self, path: str) -> Indexed:
        """Return the events about one entity until a request that may end its life."""
        own = self.of_paths[path]
        named = {getattr(event.command, "transaction", None) for _, event in own} & self.begun
        chosen = [*own, *self._advances, *self._outages.get(base_path(path), ())]
        for name in named:
            chosen += self._of_transactions[str(name)]
        chosen.sort(key=itemgetter(0))
        bases = {path, v.owner_of(path), base_path(path)}
        ends = [self._ends[base] for base in bases if base in self._ends]
        if not ends:
            return chosen
        last, moment = min(ends)
        return [
            (index, event)
            for index, event in chosen
            if index < last and (event.returned or 0) <= moment
        ]


class _Fragmenting:
    def __init__(
        self, events: _Sorted, entities: Entities, path: str, *, partitions: int, has_outages: bool
    ) -> None:
        self._path = path
        self._partitions = partitions
        self._has_outages = has_outages
        self._entities = entities
        self._was_under_way = events.was_under_way
        self._is_plain = not v.is_dead_letter_queue(path) and v.SUBSCRIPTIONS not in path
        self._needs_session = entities.requires_session(path)
        known = entities.settings.get(path)
        self._known = known if isinstance(known, v.CreateQueue) else None
        self._all = events.of_entity(path)
        self._after_its_end = len(events.of_paths[path]) - sum(
            path_of(event.command) == path for _, event in self._all
        )
        own = [event for _, event in self._all if path_of(event.command) == path]
        used = {getattr(event.command, "transaction", None) for event in own}
        self._transactions = events.begun & used
        self._sent: dict[str, int] = {}
        self._times: dict[str, int] = defaultdict(int)
        for place, event in enumerate(own):
            if isinstance(event.command, SENDING) and not isinstance(event.outcome, v.Refused):
                for message in messages_of(event.command):
                    self._sent.setdefault(message.body, place)
                    # One under way at the beginning may have been received before.
                    is_open = isinstance(event.outcome, v.Indeterminate)
                    is_open = is_open or events.was_under_way(event)
                    self._times[message.body] += 2 if is_open else 1
        self._own = own
        for body, numbers in self._numbers().items():
            if len(numbers) > 1:
                # Another message with this body was there before.
                self._times[body] = max(2, self._times[body])
        self._set_aside = self._bodies_apart()
        self._tokens = {
            view.lock_token
            for event in own
            for view in views_of(event.outcome)
            if view.lock_token is not None and view.body not in self._set_aside
        }
        self._scheduled = {
            event.outcome.sequence_number
            for event in own
            if isinstance(event.outcome, v.Scheduled)
            and all(message.body not in self._set_aside for message in messages_of(event.command))
        }
        self._is_whole = True
        self._unjudged = Counter[Reason]()
        self._is_certain = self._keeps_messages()

    def _numbers(self) -> dict[str, set[int]]:
        """Return the sequence numbers under which each body is given."""
        numbers: dict[str, set[int]] = defaultdict(set)
        for event in self._own:
            for view in views_of(event.outcome):
                if view.sequence_number is not None:
                    numbers[view.body].add(view.sequence_number)
        return numbers

    def _keeps_messages(self) -> bool:
        """Return whether nothing unknown takes messages away."""
        known = self._known
        if known is None or known.duplicate_detection or v.destinations(known):
            return False
        return not any(
            isinstance(event.command, v.DeleteBatch)
            or (isinstance(event.command, v.UpdateQueue) and event.command.forward_to is not None)
            for event in self._own
        )

    def _bodies_apart(self) -> set[str]:
        """Return the bodies of messages that were settled in a transaction from before."""
        bodies: dict[str, str] = {}
        before: set[str] = set()
        for event in self._own:
            command = event.command
            for view in views_of(event.outcome):
                if view.lock_token is not None:
                    bodies[view.lock_token] = view.body
            transaction = getattr(command, "transaction", None)
            if isinstance(command, v.Settlement) and transaction not in (None, *self._transactions):
                # A lock may last as long as the transaction, and nobody knows how it ends.
                before.update(bodies.get(token, "") for token in tokens_of(command))
        # What is received together is left out together.
        together = [
            {view.body for view in views_of(event.outcome)}
            for event in self._own
            if isinstance(event.command, v.ReceiveDeferred)
        ]
        while more := [one for one in together if one & before and not one <= before]:
            before.update(*more)
        return before

    # The beginning ----------------------------------------------------------------------------

    def fragment(self, partitioned: bool) -> Fragment:
        """Return the fragment of the entity, if it is partitioned or not."""
        self._unjudged = self._counts_of_whole()
        translated = [
            (index, changed)
            for index, event in self._all
            if (changed := self._translate(event)) is not None
        ]
        first = min((event.called for _, event in self._all), default=0)
        before = [
            v.Event(client="before", called=first, returned=first, command=command, outcome=outcome)
            for command, outcome in self._beginning(partitioned)
        ]
        return Fragment(
            path=self._path,
            before=tuple(before),
            events=tuple(event for _, event in translated),
            indices=tuple(index for index, _ in translated),
            past=Before(
                queue=ENTITY,
                bodies=frozenset(self._bodies_from_before()),
                holders=frozenset(self._holders()),
                keeps_messages=self._is_certain,
                keeps_locks=self._is_certain,
                keeps_sessions=self._known is not None and self._is_plain,
                # Where any message may go unseen, none surely comes before another.
                is_whole=self._is_whole and self._is_certain,
            ),
            has_message_ids=self._is_plain,
            unjudged=self._unjudged,
        )

    def _counts_of_whole(self) -> Counter[Reason]:
        """Return the counts of what is true of all events of the entity."""
        counts = Counter({Reason.BEGUN: len(self._own)})
        if self._after_its_end:
            counts[Reason.DELETION] = self._after_its_end
        if self._path not in self._entities.settings and self._is_plain:
            counts[Reason.SETTINGS] = len(self._own)
        return counts

    def _leave_out(self, reason: Reason) -> None:
        """Count an event as not judged."""
        self._unjudged[reason] += 1

    def _beginning(self, partitioned: bool) -> Iterator[tuple[v.Command, v.Outcome]]:
        if self._known is not None and self._is_plain:
            yield (
                attrs.evolve(
                    self._known, queue=ENTITY, forward_to=None, forward_dead_letters_to=None
                ),
                v.Done(),
            )
        else:
            yield (
                v.CreateQueue(
                    queue=ENTITY,
                    partitioned=partitioned,
                    requires_session=self._needs_session,
                    lock_duration=LONGEST,
                    max_delivery_count=OFTEN,
                ),
                v.Done(),
            )
        if partitioned:
            for partition in sorted(self._perhaps_down()):
                yield v.TakePartitionDown(queue=ENTITY, partition=partition), LOST

    def _perhaps_down(self) -> set[int]:
        """Return the partitions that may have been down when the history began.

        Those are the ones that come up and were never taken down, and where partitions are taken
        down at all each in which nothing has been stored before that.
        """
        switched: set[int] = set()
        working: set[int] = set()
        brought_up: set[int] = set()
        for _, event in self._all:
            command = event.command
            if isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
                if command.partition not in switched and isinstance(command, v.BringPartitionUp):
                    brought_up.add(command.partition)
                switched.add(command.partition)
            elif event.witness is not None and event.witness.partition not in switched:
                # What it receives may be from a cache; what it stores is not.
                working.add(event.witness.partition)
        unseen = set(range(self._partitions)) - switched if self._has_outages else set[int]()
        return (brought_up | unseen) - working

    def _bodies_from_before(self) -> Iterator[str]:
        """Yield the bodies of messages that may have been there before."""
        for place, event in enumerate(self._own):
            for view in views_of(event.outcome):
                if self._is_old(view.body, place):
                    yield view.body

    def _is_old(self, body: str, place: int) -> bool:
        return self._times[body] != 1 or self._sent.get(body, place) >= place

    def _holders(self) -> Iterator[tuple[str, str]]:
        """Yield each connection with a session that it uses and did not accept."""
        held: set[tuple[str, str]] = set()
        for event in self._own:
            command = event.command
            session = getattr(command, "session_id", None)
            if isinstance(event.outcome, v.SessionAccepted):
                session = event.outcome.session_id
            if session is None or isinstance(event.outcome, v.Refused):
                continue
            place = (event.connection, session)
            if isinstance(command, OF_HOLDERS) and place not in held:
                yield place
            if isinstance(command, (*OF_HOLDERS, v.AcceptSession, v.AcceptNextSession)):
                held.add(place)

    # The events -------------------------------------------------------------------------------

    def _translate(self, event: v.Event) -> v.Event | None:
        """Return an event as the fragment has it; `None` if it has not."""
        command = event.command
        translated: v.Event | None = None
        if isinstance(event.outcome, v.Unsupported):
            return None
        if isinstance(command, v.AdvanceClock):
            translated = event
        elif isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
            is_here = base_path(command.queue) == base_path(self._path)
            if is_here and not isinstance(event.outcome, v.Refused):
                translated = self._with_moments(event)
        elif isinstance(command, TRANSACTIONS):
            if command.transaction in self._transactions:
                translated = event if is_successful(event.outcome) else _without_answer(event)
        elif path_of(command) == self._path:
            translated = self._own_event(event)
        if translated is None or isinstance(command, (*RECEIVING, v.Peek)):
            return translated
        return _without_answer(translated) if self._was_under_way(event) else translated

    def _own_event(self, event: v.Event) -> v.Event | None:
        """Return a request about the entity as the fragment has it."""
        if isinstance(event.outcome, v.Refused):
            return self._translate_refusal(event)
        transaction = getattr(event.command, "transaction", None)
        if transaction is None or transaction in self._transactions:
            return self._translate_answer(event)
        self._leave_out(Reason.TRANSACTIONS)
        is_kept = isinstance(event.command, (*SENDING, v.Settlement))
        if not is_kept or not self._may_be_kept(event.command):
            return None
        return _without_answer(self._with_moments(event, transaction=None))

    def _translate_refusal(self, event: v.Event) -> v.Event | None:
        self._leave_out(Reason.REFUSALS)
        if isinstance(event.command, v.SettleBatch):
            known = tuple(t for t in event.command.lock_tokens if t in self._tokens)
            return _without_answer(self._with_moments(event, lock_tokens=known)) if known else None
        return (
            _without_answer(self._with_moments(event))
            if isinstance(event.command, v.ReceiveDeferred)
            else None
        )

    def _may_be_kept(self, command: v.Command) -> bool:
        tokens = tokens_of(command)
        return all(token in self._tokens for token in tokens)

    @staticmethod
    def _with_moments(event: v.Event, **changes: Any) -> v.Event:
        command: Any = event.command
        return attrs.evolve(event, command=attrs.evolve(command, queue=ENTITY, **changes))

    def _translate_answer(self, event: v.Event) -> v.Event | None:
        command = event.command
        answered: v.Event | None = None
        match command:
            case v.Receive() | v.ReceiveBatch() | v.ReceiveDeferred() | v.Peek():
                answered = self._with_views(event)
            case v.SettleBatch() | v.RenewLocks():
                answered = self._with_known_locks(event, command)
            case v.AcceptNextSession():
                answered = self._with_session(event)
            case v.GetSessionState():
                answered = self._with_state(event, command)
            case v.UpdateQueue():
                moved = self._with_moments(event, forward_to=None, status=None)
                answered = moved if moved.command != v.UpdateQueue(queue=ENTITY) else None
            case v.CancelScheduled() if command.sequence_number not in self._scheduled:
                self._leave_out(Reason.ASIDE)
            case v.Send() | v.SendBatch() | v.Schedule():
                answered = self._translate_send(event)
            case _ if isinstance(command, KEPT):
                if self._may_be_kept(command):
                    answered = self._without_ends(self._with_moments(event))
                else:
                    self._leave_out(Reason.LOCKS)
            case _:
                self._leave_out(Reason.LOOKS)
        return answered

    def _without_ends(self, event: v.Event) -> v.Event:
        """Return an event without the end of a lock whose duration is unknown."""
        if self._known is not None or not isinstance(event.outcome, v.Renewed):
            return event
        return attrs.evolve(event, outcome=v.Renewed(locked_until=None))

    def _translate_send(self, event: v.Event) -> v.Event | None:
        """Return a send of the messages that are judged; what else takes room is unknown."""
        messages = tuple(
            attrs.evolve(message, size=None)
            for message in messages_of(event.command)
            if message.body not in self._set_aside
        )
        if not messages:
            return None
        if isinstance(event.command, v.SendBatch):
            return self._with_moments(event, messages=messages)
        return self._with_moments(event, message=messages[0])

    def _with_known_locks(
        self, event: v.Event, command: v.SettleBatch | v.RenewLocks
    ) -> v.Event | None:
        """Return a request about those of its locks that the history shows."""
        known = tuple(token for token in command.lock_tokens if token in self._tokens)
        if len(known) < len(command.lock_tokens):
            self._leave_out(Reason.LOCKS)
        if isinstance(event.outcome, v.RenewedSeveral):
            event = attrs.evolve(event, outcome=v.RenewedSeveral())
        return self._with_moments(event, lock_tokens=known) if known else None

    def _with_session(self, event: v.Event) -> v.Event | None:
        """Return an accept of the session that was found; which others there are is unknown."""
        if not isinstance(event.outcome, v.SessionAccepted):
            self._leave_out(Reason.EMPTY)
            return None
        accept = v.AcceptSession(queue=ENTITY, session_id=event.outcome.session_id)
        return attrs.evolve(event, command=accept, outcome=v.Done())

    def _with_state(self, event: v.Event, command: v.GetSessionState) -> v.Event:
        """Return what sets a session's state to what it was, if nobody has set it so far."""
        if not isinstance(event.outcome, v.SessionState):
            return self._with_moments(event)
        for other in self._own:
            if other is event:
                break
            is_set = isinstance(other.command, v.SetSessionState)
            is_of_it = getattr(other.command, "session_id", None) == command.session_id
            is_over = other.returned is None or other.returned <= event.called
            if is_set and is_of_it and is_over and isinstance(other.outcome, v.Done):
                return self._with_moments(event)
        setting = v.SetSessionState(
            queue=ENTITY, session_id=command.session_id, state=event.outcome.state
        )
        return attrs.evolve(event, command=setting, outcome=v.Done())

    def _with_views(self, event: v.Event) -> v.Event | None:
        """Return a receive or a peek with those of its messages that can be judged."""
        outcome = event.outcome
        is_peek = isinstance(event.command, v.Peek)
        if isinstance(outcome, v.Indeterminate):
            return None if is_peek else self._with_moments(event)
        if not views_of(outcome):
            is_judged = self._is_certain and not is_peek
            if not is_judged:
                self._leave_out(Reason.EMPTY)
            return self._with_moments(event) if is_judged else None
        views = [
            self._without_past(view)
            for view in views_of(outcome)
            if view.body not in self._set_aside and not (is_peek and self._is_aside(view))
        ]
        if any(self._times[view.body] != 1 for view in views):
            self._leave_out(Reason.MESSAGES)
        if len(views) < len(views_of(outcome)):
            self._leave_out(Reason.ASIDE)
            self._is_whole = self._is_whole and is_peek
            if isinstance(event.command, v.ReceiveDeferred):
                views = []
        return self._showing(event, views) if views else None

    def _showing(self, event: v.Event, views: list[v.MessageView]) -> v.Event:
        """Return an event whose answer shows these messages."""
        shown: v.Outcome
        if isinstance(event.outcome, v.Received):
            shown = v.Received(message=views[0])
        elif isinstance(event.command, v.Peek):
            shown = v.Peeked(messages=tuple(views))
        else:
            shown = v.ReceivedSeveral(messages=tuple(views))
        return attrs.evolve(self._with_moments(event), outcome=shown)

    def _is_aside(self, view: v.MessageView) -> bool:
        return view.state is v.MessageState.SCHEDULED and self._times[view.body] != 1

    def _without_past(self, view: v.MessageView) -> v.MessageView:
        """Return a view without what depends on the past."""
        changes: dict[str, Any] = {"dead_letter_reason": None, "time_to_live": None, "size": None}
        if not self._is_certain:
            changes |= {"delivery_count": None, "locked_until": None}
        elif self._times[view.body] != 1:
            changes["locked_until"] = None  # it may have been in a cache
        if not self._is_plain:
            changes |= {"partition_key": None, "message_id": None}
            if not self._needs_session:
                changes["session_id"] = None
        return attrs.evolve(view, **changes)


def _without_answer(event: v.Event) -> v.Event:
    return attrs.evolve(event, outcome=LOST, returned=None, witness=None)
