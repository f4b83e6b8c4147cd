"""What the whole history shows of each message, collected before the search begins.

The search makes choices that no answer shows at once: the partition of a message, whether a lost
request took effect. Later events often show them: a sequence number names its partition, a body
that is received was sent. This only orders the candidates, best first, and leaves out those that a
certain observation excludes.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.decompose import Connections, Name
from busproof.judging.floor import Floor, base_path, messages_of
from busproof.judging.liveness import CHANGES_NOTHING
from busproof.judging.replay.window import Window
from busproof.model.values import Key

__all__ = [
    "Evidence",
    "base_path",
    "independent_parts",
    "key_of",
    "key_that_orders",
    "messages_of",
    "numbers_of",
    "tokens_of",
    "views_of",
]


KEEPING_APART: Final = (
    *CHANGES_NOTHING,
    v.Abandon,
    v.AcceptNextSession,
    v.AcceptSession,
    v.AddRule,
    v.CancelScheduled,
    v.CloseSession,
    v.Complete,
    v.CreateQueue,
    v.CreateSubscription,
    v.CreateTopic,
    v.DeadLetter,
    v.Defer,
    v.GetSessionState,
    v.RemoveRule,
    v.RenewLock,
    v.RenewLocks,
    v.RenewSessionLock,
    v.Schedule,
    v.Send,
    v.SendBatch,
    v.SetSessionState,
    v.SettleBatch,
)
"""Requests, besides some receives, by which no message decides what becomes of another one."""
EVERYWHERE: Final[Name] = ("clock",)
"""Name of what an advance of the clock concerns: every part."""


def views_of(outcome: v.Outcome) -> tuple[v.MessageView, ...]:
    """Return the messages that an answer shows."""
    match outcome:
        case v.Received():
            return (outcome.message,)
        case v.ReceivedSeveral() | v.Peeked():
            return outcome.messages
    return ()


@attrs.frozen
class Given:
    """A message as an event gives it to a receiver.

    Attributes:
        index: the event's index.
        number: the sequence number, or 0 if none is shown.
        count: the delivery count, or 0 if none is shown.
        connection: the receiver's connection.
    """

    index: int
    number: int
    count: int
    connection: str


def key_of(message: v.Message) -> str | None:
    """Return the property of a message that may select its partition."""
    values = (message.session_id, message.partition_key, message.message_id)
    return next((value for value in values if value is not None), None)


def key_that_orders(message: v.Message | v.MessageView) -> str | None:
    """Return the SessionId of a message, or else its partition key."""
    return message.session_id or message.partition_key


def tokens_of(command: v.Command) -> tuple[str, ...]:
    """Return the lock tokens that a request names."""
    match command:
        case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer() | v.RenewLock():
            return (command.lock_token,)
        case v.SettleBatch() | v.RenewLocks():
            return command.lock_tokens
    return ()


def numbers_of(command: v.Command) -> tuple[int, ...]:
    """Return the sequence numbers of messages that a request names."""
    match command:
        case v.CancelScheduled():
            return (command.sequence_number,)
        case v.ReceiveDeferred():
            return command.sequence_numbers
    return ()


Look = tuple[str, str | None, str | None]
"""Body, PartitionKey and SessionId of a message."""


class Evidence:
    """Facts about a history, for the guide of the search.

    Args:
        events: the events of the history, in the order of their recording.
        strict: whether the observer sees partitions.
        numbers_show_partitions: whether the top bits of a sequence number are its partition.

    Attributes:
        ever_deleted: the queues and topics that were deleted, perhaps; one that is created again
            with the name may have its keys in other partitions.
        first_mixing: the first event by which a message may decide what becomes of another one.
    """

    def __init__(
        self, events: Sequence[v.Event], *, strict: bool, numbers_show_partitions: bool
    ) -> None:
        self.strict = strict
        self.numbers_show_partitions = numbers_show_partitions
        self.ever_down: dict[str, set[int]] = defaultdict(set)
        self.ever_deleted: set[str] = set()
        self.sizes_are_known = True
        self.has_hidden_numbers = False
        self._of_key: dict[tuple[str, Key], dict[int, None]] = defaultdict(dict)
        self._mentioned: dict[str, set[int]] = defaultdict(set)
        self._down: dict[str, set[int]] = defaultdict(set)
        self._works: dict[tuple[str, str | None], set[int]] = defaultdict(set)
        self._fails: dict[tuple[str, str | None], set[int]] = defaultdict(set)
        self._last_receive: dict[tuple[str, str], int] = {}
        self._last_peek: dict[str, int] = {}
        self._described: dict[str, set[int]] = defaultdict(set)
        self._bytes: Counter[str] = Counter()
        self.dead_counts_begin_anew: bool | None = None
        self.forwards = False
        self.first_mixing: int | None = None
        self._connections = Connections()
        self._names: Window[Name] = Window()
        self._names_waiting: dict[int, Name] = {}
        self._runs: Window[int] = Window()
        self._run: Hashable = None
        self._begin()
        for event in events:
            self._note(event)
        self._connections.finish()

    def _begin(self) -> None:
        """Begin the tables about single messages."""
        self._shown: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
        self._sent: Counter[tuple[str, str]] = Counter()
        self._last_shown: dict[tuple[str, str], int] = {}
        self._last_body: dict[str, int] = {}
        self._empty: dict[str, list[int]] = defaultdict(list)
        self._given: dict[tuple[str, str], list[Given]] = defaultdict(list)
        self._used_ids: dict[str, int] = {}
        self._shows: dict[tuple[str, str], list[tuple[int, str | None]]] = defaultdict(list)
        self._shown_numbers: dict[tuple[str, str], dict[int, None]] = defaultdict(dict)
        self._active: dict[tuple[str, str], int] = {}
        self._active_with_keys: dict[tuple[str, Look], int] = {}
        self._copies: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._last_scheduled: dict[tuple[str, str], int] = {}
        self._cancelled: dict[tuple[str, int], int] = {}
        self._sent_when: dict[tuple[str, str], int] = {}
        self._given_of: dict[tuple[str, str | None], int] = {}

    def add(self, event: v.Event) -> None:
        """Note one more event, which comes after all others."""
        self._note(event)
        self._connections.finish()

    def _note(self, event: v.Event) -> None:
        index = len(self._names)
        command = event.command
        self._note_run(index, event)
        if isinstance(command, v.AdvanceClock):
            self._names.append(EVERYWHERE)
            return
        self._names.append(self._connections.add(command))
        queue = getattr(command, "queue", "")
        hides = isinstance(command, v.Schedule | v.BeginTransaction)
        if hides or isinstance(event.outcome, v.Indeterminate):
            self.has_hidden_numbers = True
        if self.numbers_show_partitions:
            named = (number >> v.SEQUENCE_BITS for number in numbers_of(command))
            self._mentioned[base_path(queue)].update(named)
        self.forwards = self.forwards or bool(v.destinations(command))
        if self.first_mixing is None and not _keeps_messages_apart(event):
            self.first_mixing = index
        self._note_outage(command)
        if not isinstance(event.outcome, v.Refused):
            self._note_deletion(command)
        for message in messages_of(command):
            self.sizes_are_known = self.sizes_are_known and message.size is not None
            self._bytes[base_path(queue)] += message.size or 0
            if down := self._down.get(base_path(queue)):
                was_refused = isinstance(event.outcome, v.Refused)
                place = base_path(queue), key_of(message)
                if was_refused:
                    self._fails[place] = self._fails.get(place, down) & down
                else:
                    self._works[place] |= down
        self._note_messages(index, queue, event)
        partition = self.witnessed(event)
        if partition is not None:
            for message in messages_of(command):
                self._note_key(queue, message, partition)

    def _note_messages(self, index: int, queue: str, event: v.Event) -> None:
        """Note which messages an event sends and shows."""
        for message in messages_of(event.command):
            self._sent[base_path(queue), message.body] += 1
            self._sent_when[base_path(queue), message.body] = event.called
            if message.message_id is not None:
                self._used_ids[message.message_id] = index
        self._note_answer(index, queue, event)

    def forget(
        self,
        floor: Floor,
        events: Iterable[tuple[int, v.Event]],
        is_spent: Callable[[str, int], bool],
        is_settled: Callable[[str, str], bool],
    ) -> None:
        """Forget what events before the floor showed, except of messages that are still there.

        Args:
            floor: what lies behind the floor.
            events: the events that are kept, with their indices.
            is_spent: whether an entity's message with this number is gone.
            is_settled: whether the partition of a queue's or topic's key is known for good.
        """
        shown = self._shown
        numbers = self._shown_numbers
        active = self._active
        active_with_keys = self._active_with_keys
        copies = self._copies
        self._names_waiting = {index: self._name(index) for index in floor.waiting}
        self._names.forget(floor.index)
        self._runs.forget(floor.index)
        self._begin()
        self._sent.update(floor.bodies)
        for (path, body), places in shown.items():
            if (base_path(path), body) in floor.bodies:
                left = {n: place for n, place in places.items() if not is_spent(path, n)}
                self._shown[path, body].update(left)
        for (path, body), known in numbers.items():
            if (base_path(path), body) in floor.bodies:
                self._shown_numbers[path, body].update(
                    {n: None for n in known if not is_spent(path, n)}
                )
        for (path, body), number in active.items():
            if (base_path(path), body) in floor.bodies and not is_spent(path, number):
                self._active[path, body] = number
        for (path, look), number in active_with_keys.items():
            if (base_path(path), look[0]) in floor.bodies and not is_spent(path, number):
                self._active_with_keys[path, look] = number
        self._copies.update({place: copies[place] for place in copies if place in floor.bodies})
        for index, event in events:
            if not isinstance(event.command, v.AdvanceClock):
                self._note_messages(index, getattr(event.command, "queue", ""), event)
        for base, key in [place for place in self._of_key if is_settled(place[0], place[1].value)]:
            del self._of_key[base, key]

    def _note_answer(self, index: int, queue: str, event: v.Event) -> None:
        match event.outcome:
            case v.Empty():
                self._empty[queue].append(index)
            case v.Peeked(messages=(_, _, *_)):
                self._last_peek[queue] = index
            case v.Described() | v.TopicDescribed():
                self._note_size(event.outcome.description)
        if isinstance(event.command, v.CancelScheduled) and isinstance(event.outcome, v.Done):
            self._cancelled[queue, event.command.sequence_number] = index
        receiver = None if isinstance(event.command, v.Peek) else event.connection
        if isinstance(event.command, v.Receive | v.ReceiveBatch):
            self._last_receive[queue, event.connection] = index
        for view in views_of(event.outcome):
            self._shows[queue, view.body].append((index, receiver))
            if view.dead_letter_reason is not None and view.delivery_count is not None:
                is_first = view.delivery_count == 1
                self.dead_counts_begin_anew = self.dead_counts_begin_anew or is_first
            self._last_shown[queue, view.body] = index
            self._last_body[view.body] = index
            if not isinstance(event.outcome, v.Peeked):
                self._note_given(index, queue, view, event.connection)
            is_waiting = view.state is v.MessageState.SCHEDULED
            if is_waiting:
                self._last_scheduled[queue, view.body] = index
            if view.sequence_number is not None and not is_waiting:
                self._active.setdefault((queue, view.body), view.sequence_number)
                self._active_with_keys.setdefault((queue, _look_of(view)), view.sequence_number)
                self._copies[base_path(queue), view.body].add(queue)
            if view.sequence_number is not None:
                self._shown_numbers[queue, view.body].setdefault(view.sequence_number)
            if view.sequence_number is not None and self.numbers_show_partitions:
                self._note_place(queue, view, view.sequence_number)

    def _note_size(self, description: v.QueueDescription | v.TopicDescription) -> None:
        match description:
            case v.QueueDescription(queue=path, max_size=int(size)):
                self._described[path].add(size)
            case v.TopicDescription(topic=path, max_size=int(size)):
                self._described[path].add(size)

    def _note_run(self, index: int, event: v.Event) -> None:
        """Note with which event a series of receives began: of one receiver, at one moment."""
        command = event.command
        run: Hashable = None
        if isinstance(command, v.Receive | v.ReceiveBatch):
            run = command.queue, event.connection, event.called
        goes_on = run is not None and run == self._run
        self._runs.append(self._runs.last if goes_on else index)
        self._run = run

    def sizes_described(self, path: str) -> set[int]:
        """Return the maximum sizes in GB that descriptions of an entity tell."""
        return self._described.get(path, set())

    def bytes_sent(self, base: str) -> int:
        """Return how many bytes were sent to a queue or topic, as far as sizes are known."""
        return self._bytes[base]

    @property
    def all_bytes_sent(self) -> int:
        """How many bytes were sent to any queue or topic, as far as sizes are known."""
        return sum(self._bytes.values())

    def witnessed(self, event: v.Event) -> int | None:
        """Return the partition that an event itself shows; `None` if it shows none."""
        return event.witness.partition if self.strict and event.witness is not None else None

    def suggested(self, event: v.Event) -> int | None:
        """Return the partition that the number of a message which was just scheduled suggests."""
        match event.outcome:
            case v.Scheduled(sequence_number=int(number)) if self.numbers_show_partitions:
                return number >> v.SEQUENCE_BITS
        return None

    def place_of(self, event: v.Event) -> int | None:
        """Return the partition in which an event, or a later one, shows all messages of a send."""
        messages = messages_of(event.command)
        if not (messages and self.strict):
            return None
        if (partition := self.witnessed(event)) is not None:
            return partition
        queue = getattr(event.command, "queue", "")
        places = {
            place
            for message in messages
            for place in self.partitions_of_body(message.body, (queue,))
        }
        once = all(self._sent[base_path(queue), message.body] == 1 for message in messages)
        return places.pop() if once and len(places) == 1 else None

    def _note_outage(self, command: v.Command) -> None:
        if isinstance(command, v.TakePartitionDown):
            self.ever_down[base_path(command.queue)].add(command.partition)
            self._down[base_path(command.queue)].add(command.partition)
        elif isinstance(command, v.BringPartitionUp):
            self._down[base_path(command.queue)].discard(command.partition)

    def _note_deletion(self, command: v.Command) -> None:
        match command:
            case v.DeleteQueue(queue=name) | v.DeleteTopic(topic=name):
                self.ever_deleted.add(name)

    def _note_given(self, index: int, queue: str, view: v.MessageView, connection: str) -> None:
        number = view.sequence_number or 0
        count = view.delivery_count or 0
        self._given[queue, view.body].append(Given(index, number, count, connection))
        place = queue, key_that_orders(view)
        sent = self._sent_when.get((base_path(queue), view.body), -1)
        self._given_of[place] = max(sent, self._given_of.get(place, -1))

    def _note_place(self, queue: str, view: v.MessageView, number: int) -> None:
        self._shown[queue, view.body].setdefault(number, number >> v.SEQUENCE_BITS)
        self._note_key(queue, view, number >> v.SEQUENCE_BITS)

    def _note_key(self, queue: str, message: v.Message | v.MessageView, partition: int) -> None:
        base = base_path(queue)
        self._mentioned[base].add(partition)
        for key in (
            Key("SessionId", message.session_id or ""),
            Key("PartitionKey", message.partition_key or ""),
            Key("MessageId", message.message_id or ""),
        ):
            if key.value:
                self._of_key[base, key].setdefault(partition)
                break

    # Partitions -------------------------------------------------------------------------------

    def partitions_of_body(self, body: str, paths: Sequence[str]) -> list[int]:
        """Return the partitions in which messages with this body were seen, in order of sight.

        Args:
            body: the body.
            paths: the entities that share the partitions; the one that shows most counts.
        """
        seen = [
            list(self._shown[path, body].values()) for path in paths if (path, body) in self._shown
        ]
        return max(seen, key=len, default=[])

    def all_were_shown(self, base: str, body: str, shown: int) -> bool:
        """Return whether as many messages with this body were shown as were sent to the base."""
        return not self.forwards and self._sent[base, body] <= shown

    def partitions_of_key(self, base: str, key: Key) -> list[int]:
        """Return the partitions in which messages with this key were seen."""
        return list(self._of_key.get((base, key), ()))

    def outages_of_key(self, base: str, key: str | None) -> tuple[set[int], set[int]]:
        """Return the partitions that were down when a key worked, and when it was refused."""
        return self._works.get((base, key), set()), self._fails.get((base, key), set())

    def is_mentioned(self, base: str, partition: int) -> bool:
        """Return whether anything in the history distinguishes this partition from others."""
        return partition in self._mentioned.get(base, ()) or partition in self.ever_down.get(
            base, ()
        )

    # Later events -----------------------------------------------------------------------------

    def is_shown_after(self, index: int, path: str, body: str) -> bool:
        """Return whether an entity shows a message with this body after an event."""
        return self._last_shown.get((path, body), -1) > index

    def is_hidden_after(self, index: int, path: str, body: str) -> bool:
        """Return whether an entity has nothing to give after an event, and never this body."""
        is_empty = any(at > index for at in self._empty.get(path, ())[-1:])
        return is_empty and not self.is_shown_after(index, path, body)

    def is_peeked_after(self, index: int, path: str) -> bool:
        """Return whether a peek shows after an event in which order messages have come."""
        return self._last_peek.get(path, -1) > index

    def is_late(self, index: int, path: str, body: str) -> bool:
        """Return whether an entity gives a body later, after it had nothing to give."""
        given = self._given.get((path, body))
        empty = self._empty.get(path, ())
        if not given or not empty:
            return False
        at = bisect_left(empty, index)
        return at < len(empty) and empty[at] < given[0].index

    def is_passed_over(self, path: str, message: v.Message, due: int) -> bool:
        """Return whether a message that was due has not come before a later one of its key.

        Args:
            path: the entity.
            message: a scheduled message, which nobody has seen since it was due.
            due: when it was due.
        """
        key = key_that_orders(message)
        return key is not None and self._given_of.get((path, key), -1) >= due

    def is_numbered(self, path: str, body: str) -> bool:
        """Return whether a queue, or a subscription of a topic, shows the number of a body."""
        return (path, body) in self._copies

    def only_number(self, path: str, body: str) -> int | None:
        """Return the number that is shown of messages with this body, if there is just one."""
        numbers = self._shown_numbers.get((path, body), ())
        return next(iter(numbers)) if len(numbers) == 1 else None

    def first_active(self, path: str, body: str) -> int | None:
        """Return the first number that is shown of a message that is not only scheduled."""
        return self._active.get((path, body))

    def number_on_arrival(self, path: str, message: v.Message) -> int | None:
        """Return the first number of an active message, or of a copy if it came to a topic.

        It is that of a message with the same keys if there is one.
        """
        body = message.body
        look = _look_of(message)
        for at in (path, *sorted(self._copies.get((path, body), ()))):
            number = self._active_with_keys.get((at, look)) or self._active.get((at, body))
            if number:
                return number
        return None

    def numbers_on_arrival(self, path: str, body: str) -> Collection[int]:
        """Return the numbers of messages with this body, or of copies if they came to a topic."""
        places = (path, *sorted(self._copies.get((path, body), ())))
        known = (self._shown_numbers.get((at, body)) for at in places)
        return next(filter(None, known), {}).keys()

    def waits_after(self, index: int, path: str, body: str) -> bool:
        """Return whether a message is shown as scheduled after an event."""
        return self._last_scheduled.get((path, body), -1) > index

    def is_cancelled_after(self, index: int, path: str, number: int | None) -> bool:
        """Return whether the scheduled message with this number is cancelled after an event."""
        return number is not None and self._cancelled.get((path, number), -1) > index

    def came_before(self, path: str, body: str, event: v.Event) -> bool:
        """SEQ-01: return whether a message has a smaller number than one that is sent now."""
        if getattr(event.command, "queue", "") != path:
            return False
        # Copies of a message that a topic takes are numbered by each subscription.
        return any(
            self.is_before(self._active.get((place, body)), self._active.get((place, one.body)))
            for place in self._copies.get((base_path(path), body), ())
            for one in messages_of(event.command)
        )

    def may_have_come_before(self, path: str, body: str, event: v.Event) -> bool:
        """Return whether nothing shows that a message came after one that is sent now.

        The numbers of messages that look alike show nothing of it.
        """
        if getattr(event.command, "queue", "") != path:
            return False
        if any(one.body == body for one in messages_of(event.command)):
            return self.is_numbered(path, body)
        numbers = [
            (self._active[place, body], self._active.get((place, one.body)))
            for place in self._copies.get((base_path(path), body), ())
            for one in messages_of(event.command)
            if (place, body) in self._active
        ]
        return any(other is None or self.is_before(own, other) for own, other in numbers)

    def is_before(self, own: int | None, other: int | None) -> bool:
        """SEQ-01: return whether one number surely was assigned before another one."""
        if own is None or other is None:
            return False
        is_one_line = not self.numbers_show_partitions or not (own ^ other) >> v.SEQUENCE_BITS
        return own < other and is_one_line

    def fate_of_copy(self, index: int, path: str, name: str, event: v.Event) -> bool | None:
        """Return whether a message that is sent now is kept, although its MessageId was used.

        It is `None` if that is never seen, and false if the event sends no such message.
        """
        if getattr(event.command, "queue", "") != path:
            return False
        bodies = [one.body for one in messages_of(event.command) if one.message_id == name]
        if any(self.is_shown_after(index, path, body) for body in bodies):
            return True
        if any(self.is_hidden_after(index, path, body) for body in bodies):
            return False
        return None if bodies else False

    def first_given(self, path: str, body: str) -> Given | None:
        """Return when a message with this body was first given, if it was."""
        given = self._given.get((path, body))
        return given[0] if given else None

    def is_given_at_once(self, index: int, path: str, body: str) -> bool:
        """Return whether the receiver of an event is given a message before anything else happens.

        There may be further receives of the same receiver in between, all at the same moment.
        """
        given = self.next_given(index, path, body)
        return given is not None and self._runs[given.index] <= index

    def next_given(self, index: int, path: str, body: str) -> Given | None:
        """Return when a message with this body is given after an event, if it is."""
        given = self._given.get((path, body), ())
        at = bisect_left(given, index + 1, key=attrgetter("index"))
        return given[at] if at < len(given) else None

    def shows(self, path: str, body: str) -> Sequence[tuple[int, str | None]]:
        """Return the events that show a message with this body, with the connection of receives."""
        return self._shows.get((path, body), ())

    def last_receive(self, path: str, connection: str) -> int:
        """Return the last receive of a connection from an entity; -1 if there is none."""
        return self._last_receive.get((path, connection), -1)

    def last_sight(self, body: str) -> int:
        """Return the last event that shows a message with this body anywhere; -1 if none does."""
        return self._last_body.get(body, -1)

    def may_be_shown_after(self, index: int, body: str) -> bool:
        """Return whether an event after this one shows a body, or no later event is known."""
        return self.last_sight(body) > index or len(self._names) <= index + 1

    def reuses_id(self, index: int, message: v.Message) -> bool:
        """Return whether the MessageId of a message is sent again after an event."""
        return message.message_id is not None and self._used_ids.get(message.message_id, -1) > index

    # Relevance --------------------------------------------------------------------------------

    def part_of_event(self, index: int) -> Name | None:
        """Return the independent part of the history that an event belongs to."""
        return self._connections.part(self._name(index))

    def _name(self, index: int) -> Name:
        """Return one of the names that an event concerns."""
        return self._names[index] if index >= self._names.first else self._names_waiting[index]

    def part_of_path(self, path: str) -> Name | None:
        """Return the independent part that an entity belongs to."""
        return self._connections.part(("entity", path.partition("/")[0]))


def _look_of(message: v.Message | v.MessageView) -> Look:
    return message.body, message.partition_key, message.session_id


def _keeps_messages_apart(event: v.Event) -> bool:
    """Return whether a request lets no message decide what becomes of another one.

    A message may be the copy of another, or be removed in its place where nobody sees which one is.
    What an earlier message leaves no room for is told apart by sizes.
    """
    command = event.command
    if isinstance(event.outcome, v.Indeterminate) or getattr(command, "transaction", None):
        return False
    match command:
        case v.CreateQueue() | v.CreateTopic() if command.duplicate_detection:
            return False
        case v.CreateQueue() | v.CreateSubscription() if command.forward_dead_letters_to:
            return False
        case v.Receive() | v.ReceiveBatch() | v.ReceiveDeferred():
            is_removed = command.mode is v.ReceiveMode.RECEIVE_AND_DELETE
            return not is_removed or isinstance(event.outcome, v.Empty)
    return isinstance(command, KEEPING_APART)


def independent_parts(events: Sequence[v.Event]) -> list[list[int]]:
    """Return the indices of the events of each independent part; an advance is in all of them."""
    connections = Connections()
    names = [
        None if isinstance(event.command, v.AdvanceClock) else connections.add(event.command)
        for event in events
    ]
    connections.finish()
    by_part: dict[Name | None, list[int]] = defaultdict(list)
    for index, name in enumerate(names):
        if name is not None:
            by_part[connections.part(name)].append(index)
    advances = [index for index, name in enumerate(names) if name is None]
    if not by_part:
        return [advances] if advances else []
    return [sorted((*indices, *advances)) for indices in by_part.values()]
