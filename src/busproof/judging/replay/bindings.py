"""The bus's numbers and lock tokens beside the model's, bound when an answer first shows them.

The model numbers messages without gaps and makes its own tokens; a bus does neither. A number or a
token is bound to a record of the model when it is first shown, and SEQ-01, SEQ-03, LIFE-12 and
LOCK-07 are checked at that moment. All tables are changed through the journal, so that an undo of
the search undoes bindings, too.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.judging.floor import Floor, Numbers
from busproof.model.rules import Namespace
from busproof.model.state import BufferedSend, Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import DIRECT, InTransit, Key

__all__ = ["Bindings"]

UNKNOWN: Final = 1 << 63
"""Added to a number that was never shown, so that no message of the model has it."""

ALL: Final = "all"
"""The line of all messages of a regular entity, whose numbers follow the time of their arrival."""

Entry = tuple[int, int, int]
"""The latest place of a message in an order, its number, and its earliest place."""

Numbered = QueuedMessage | ScheduledMessage
Record = TypeVar("Record", bound=Numbered)


def _are_alike(queued: QueuedMessage, view: v.MessageView) -> bool:
    sent = queued.message
    return (
        sent.partition_key == view.partition_key
        and sent.session_id == view.session_id
        and sent.message_id in (None, view.message_id)
    )


class Bindings:
    """Numbers, tokens and messages of one replayed history.

    Args:
        namespace: the model's namespace.
        strict: whether the observer sees partitions.
        numbers_show_partitions: whether the top bits of a number are its partition.
        hidden_numbers: whether requests may have used numbers that nobody sees.
        only_number: returns the number that the history shows of messages with a body, if it is
            just one.
    """

    def __init__(
        self,
        namespace: Namespace,
        *,
        strict: bool,
        numbers_show_partitions: bool,
        hidden_numbers: bool,
        only_number: Callable[[str, str], int | None],
    ) -> None:
        self._only_number = only_number
        self._namespace = namespace
        self._numbers_show_partitions = numbers_show_partitions
        unique = namespace.profile.readings.get("SEQUENCE-UNIQUE")
        self._numbers_recur = unique == "per-partition" and not numbers_show_partitions
        gaps = namespace.profile.readings.get("SEQUENCE-GAPS")
        self._has_no_gaps = gaps == "gap-free" and strict and not hidden_numbers
        self._number_of: dict[Numbered, int] = {}
        self._record_of: dict[tuple[Entity, int], Numbered] = {}
        self._tokens: dict[tuple[Entity, str], str] = {}
        self._lost_by: dict[tuple[Entity, str], str] = {}
        self._bus_tokens: dict[tuple[Entity, str], str] = {}
        self._made: dict[tuple[Entity, int], Numbered] = {}
        self._kinds: dict[v.Message, int] = {}
        self._by_body: dict[tuple[str, str], list[QueuedMessage]] = {}
        self._transits: dict[QueuedMessage, InTransit] = {}
        self._homes_of_copies: dict[tuple[Entity, str], int] = {}
        self._verdicts: dict[Hashable, bool] = {}
        self._open: dict[int, tuple[v.Message, frozenset[str]]] = {}
        self._disturbed: dict[Entity, bool] = {}
        self._expired: dict[Numbered, bool] = {}
        self._old: dict[Numbered, bool] = {}
        self._sent: dict[Numbered, tuple[int, int]] = {}
        self._arrivals: dict[BufferedSend, int] = {}
        self._passing: dict[str, int] = {}
        self._subscribed: dict[Entity, int] = {}
        self._names: dict[tuple[Entity, str], tuple[tuple[Key | None, str], ...]] = {}
        # By entity and line: a position that only rises, with the bus's number.
        self._lines: dict[tuple[Entity, object], list[Entry]] = {}
        self._orders_of: dict[Numbered, list[tuple[object, int, int]]] = {}
        self._latest: dict[tuple[Entity, int], tuple[int, int]] = {}
        # The numbers of messages that are forgotten.
        self._spent: dict[Entity, Numbers] = {}
        silent = namespace.profile.silent
        self._rises_in_keys = "SEQ-01" not in silent
        self._rises_in_time = "SEQ-05" not in silent

    def expect_gaps(self) -> None:
        """Note that a request may have used numbers that nobody sees."""
        self._has_no_gaps = False

    # Messages ---------------------------------------------------------------------------------

    def add(self, queued: QueuedMessage, key: object, window: tuple[int, int] | None) -> None:
        """Note a message that was enqueued.

        Args:
            queued: the message.
            key: its partition key, or what else it shares with the messages that it is in order
                with; `None` if it has none.
            window: the earliest and the latest moment at which it may have been enqueued; `None` if
                its number says nothing about the order of arrival.
        """
        journal = self._namespace.journal
        journal.touch(queued)  # so that its epoch tells since when it is there
        bodies = self._by_body.setdefault((queued.entity.path, queued.message.body), [])
        bodies.append(queued)
        journal.log.append((self._forget_last, None, bodies))
        journal.put(self._made, (queued.entity, queued.number), queued)
        if window is None:
            return
        orders: list[tuple[object, int, int]] = []
        partitioned = queued.entity.settings.partitioned
        if key is not None and (self._rises_in_keys if partitioned else self._rises_in_time):
            orders.append((key, queued.number, queued.number))
        if not partitioned and self._rises_in_time:
            orders.append((ALL, *window))
        if orders:
            journal.put(self._orders_of, queued, orders)

    def kind(self, message: v.Message) -> int:
        """Return a number that all messages which look alike share."""
        return self._kinds.setdefault(message, len(self._kinds))

    def add_scheduled(self, scheduled: ScheduledMessage) -> None:
        """Note a message that was scheduled."""
        self._namespace.journal.put(self._made, (scheduled.entity, scheduled.number), scheduled)

    def note_transit(self, queued: QueuedMessage, transit: InTransit) -> None:
        """Note what a message that waits to go on brings with it."""
        self._namespace.journal.put(self._transits, queued, transit)

    def transit_of(self, queued: QueuedMessage) -> InTransit:
        """Return what a message that waits to go on brings with it."""
        return self._transits.get(queued, DIRECT)

    def take_transit(self, queued: QueuedMessage) -> InTransit:
        """Return, and forget, what a message that goes on brings with it."""
        transit = self.transit_of(queued)
        if queued in self._transits:
            self._namespace.journal.drop(self._transits, queued)
        return transit

    @staticmethod
    def _forget_last(bodies: list[QueuedMessage]) -> None:
        bodies.pop()

    def replace(self, before: QueuedMessage, after: QueuedMessage) -> None:
        """Note the record that takes the place of a message which no answer has shown."""
        journal = self._namespace.journal
        bodies = self._by_body[before.entity.path, before.message.body]
        bodies[bodies.index(before)] = after
        journal.log.append((_Replacement(bodies), None, (before, after)))
        journal.put(self._made, (after.entity, after.number), after)
        orders = self._orders_of.get(before)
        if orders is not None:
            moved = [(key, after.number, after.number) for key, _, _ in orders]
            journal.put(self._orders_of, after, moved)
        if before in self._sent:
            journal.put(self._sent, after, self._sent[before])

    def note_buffered(self, buffered: BufferedSend) -> None:
        """SEQ-07: note how many messages had arrived when one was sent in a transaction."""
        namespace = self._namespace
        namespace.journal.put(self._arrivals, buffered, namespace.arrivals)

    def note_committed(self, queued: QueuedMessage, buffered: BufferedSend, commit: int) -> None:
        """SEQ-07: note that the commit with this index has enqueued a message."""
        arrivals = self._arrivals.get(buffered)
        if arrivals is not None:
            self._namespace.journal.put(self._sent, queued, (commit, arrivals))

    @property
    def have_transactions(self) -> bool:
        """Whether a message was sent in a transaction."""
        return bool(self._sent)

    def came_after(self, buffered: BufferedSend) -> frozenset[Hashable]:
        """Return what has arrived at its entity since a message was sent in a transaction."""
        messages = buffered.entity.messages.values()
        since = self._arrivals.get(buffered, 0)
        return frozenset(one.number for one in messages if one.arrival > since)

    def overtakes(self, one: QueuedMessage) -> frozenset[Hashable]:
        """Return which messages may come after one although they arrived sooner."""
        if one not in self._sent:
            return frozenset()
        messages = one.entity.messages.values()
        return frozenset(
            other.number
            for other in messages
            if other.arrival < one.arrival and self.may_overtake(one, other)
        )

    def note_passing(self, now: int) -> None:
        """GET-LAG: note that the passing of time has changed what descriptions count."""
        self._namespace.journal.put(self._passing, "", now)

    @property
    def last_passing(self) -> int:
        """When the passing of time has last changed what descriptions count."""
        return self._passing.get("", -1)

    def may_precede(self, one: QueuedMessage, other: QueuedMessage) -> bool:
        """PART-14: return whether a message may come before another one of its partition."""
        if one in self._old or other in self._old:
            return self._may_be_smaller(one, other)
        return one.arrival < other.arrival or self.may_overtake(one, other)

    def note_old(self, queued: QueuedMessage) -> None:
        """Note that a message was there before the history began."""
        self._namespace.journal.put(self._old, queued, True)

    def _may_be_smaller(self, one: QueuedMessage, other: QueuedMessage) -> bool:
        own = self._number_shown(one)
        others = self._number_shown(other)
        return own is None or others is None or own < others

    def may_overtake(self, one: QueuedMessage, other: QueuedMessage) -> bool:
        """KEY-17, SEQ-07: return whether a message may come before one that arrived sooner.

        One of a transaction may have its place by its send or by the commit, as its number shows.
        """
        commit, arrivals = self._sent.get(one, (-1, other.arrival))
        if arrivals >= other.arrival or self._sent.get(other, (-2, 0))[0] == commit:
            return False
        own = self._number_shown(one)
        others = self._number_shown(other)
        return own is None or others is None or own < others

    def _number_shown(self, queued: QueuedMessage) -> int | None:
        """Return the bus's number of a message, if it is known by any event."""
        number = self._number_of.get(queued)
        path = queued.entity.path
        body = queued.message.body
        if number is None and len(self._by_body.get((path, body), ())) == 1:
            return self._only_number(path, body)
        return number

    def made(self, entity: Entity, number: int) -> Numbered | None:
        """Return the message that has, or had, this number of the model."""
        return self._made.get((entity, number))

    def named(self, entity: Entity, number: int) -> Numbered | None:
        """Return the message that a number of the bus was shown for."""
        return self._record_of.get((entity, number))

    def candidates(self, path: str, view: v.MessageView) -> Iterator[QueuedMessage]:
        """Yield the messages of an entity that a view may show, in the order of their arrival.

        Those with its keys and its id come first; only a bus that changes these shows the others.
        """
        entity = self._namespace.entities.get(path)
        if entity is None:
            return
        number = view.sequence_number
        known = self._message_by_number(entity, view)
        if known is not None:
            if isinstance(known, QueuedMessage) and known.is_there:
                yield known
            return
        for alike in (True, False):
            for queued in self._by_body.get((path, view.body), ()):
                is_there = entity.messages.get(queued.number) is queued
                if is_there and _are_alike(queued, view) is alike and self.fits(queued, number):
                    yield queued

    def ever(self, path: str, body: str) -> Iterator[QueuedMessage]:
        """Yield all messages with this body that an entity has, or had."""
        return iter(self._by_body.get((path, body), ()))

    def note_expired(self, queued: QueuedMessage) -> None:
        """Note that a message was dropped because it has expired."""
        self._namespace.journal.put(self._expired, queued, True)

    def find_expired(self, path: str, body: str) -> Iterator[QueuedMessage]:
        """Yield the messages with this body that an entity has dropped when they had expired."""
        return (queued for queued in self.ever(path, body) if queued in self._expired)

    def expired_in(self, entity: Entity) -> frozenset[Hashable]:
        """Return what an entity has dropped when it had expired, as a value."""
        return frozenset(
            (self.kind(one.message), one.partition, self.number_or_limits(one))
            for one in self._expired
            if one.entity is entity
        )

    def has_expired(self, record: Numbered) -> bool:
        """Return whether a message was dropped because it has expired."""
        return record in self._expired

    def home_of_copies(self, subscription: Entity, key: Key) -> int | None:
        """Return the partition of a subscription's copies with this key, if any has come."""
        return self._homes_of_copies.get((subscription, key.value))

    def note_home_of_copies(self, subscription: Entity, key: Key, partition: int) -> None:
        """Note the partition of a subscription's copies with this key."""
        place = (subscription, key.value)
        self._namespace.journal.put(self._homes_of_copies, place, partition)

    def note_name(self, entity: Entity, name: tuple[Key | None, str]) -> None:
        """Note the key and the MessageId by which an entity recognises copies."""
        names = self.names_of_id(entity, name[1])
        if name not in names:
            self._namespace.journal.put(self._names, (entity, name[1]), (*names, name))

    def names_of_id(self, entity: Entity, message_id: str) -> tuple[tuple[Key | None, str], ...]:
        """Return the keys under which a MessageId was used, each with the MessageId."""
        return self._names.get((entity, message_id), ())

    # Filters and actions ----------------------------------------------------------------------

    def verdict(self, alike: Hashable) -> bool | None:
        """Return whether a filter took an earlier message that is alike; `None` if none came."""
        return self._verdicts.get(alike)

    def note_verdict(self, alike: Hashable, taken: bool) -> None:
        """Note whether a filter takes a message."""
        self._namespace.journal.put(self._verdicts, alike, taken)

    def note_open(self, copy: v.Message, names: frozenset[str]) -> None:
        """Note the lower-case names of properties whose values in a copy are open."""
        self._namespace.journal.put(self._open, id(copy), (copy, names))

    def open_names(self, message: v.Message) -> frozenset[str]:
        """Return the names of properties whose values are open in a message; `*` is all."""
        return self._open[id(message)][1] if id(message) in self._open else frozenset()

    # Entities ---------------------------------------------------------------------------------

    def disturb(self, entity: Entity) -> None:
        """Note that a partition of a queue or topic goes down or up."""
        self._namespace.journal.put(self._disturbed, entity, True)

    def was_disturbed(self, entity: Entity) -> bool:
        """Return whether a partition of a queue or topic is down or has been."""
        return bool(entity.down) or entity in self._disturbed

    def subscribe(self, topic: Entity) -> None:
        """Note that a topic gets a subscription."""
        made = self.subscriptions_made(topic)
        self._namespace.journal.put(self._subscribed, topic, made + 1)

    def subscriptions_made(self, topic: Entity) -> int:
        """Return how many subscriptions a topic has ever had."""
        return self._subscribed.get(topic, 0)

    # Numbers ----------------------------------------------------------------------------------

    def fits(self, record: Numbered, number: int | None) -> bool:
        """Return whether a number of the bus may be that of a message, apart from its order."""
        if number is None:
            return True
        known = self._number_of.get(record)
        if known is not None:
            return known == number
        other = self._record_of.get((record.entity, number))
        if other is not None:
            return self._numbers_recur and other.partition != record.partition
        if self.knows_number(record.entity, number) and not self._numbers_recur:
            return False
        return self._partition_fits(record, number)

    def shown(self, entity: Entity, view: v.MessageView) -> Numbered | None:
        """Return the message that a view shows, as far as it is known."""
        return self._message_by_number(entity, view) or next(
            self.candidates(entity.path, view), None
        )

    def _message_by_number(self, entity: Entity, view: v.MessageView) -> Numbered | None:
        """SEQUENCE-UNIQUE: return the message whose number a view shows, if it is known."""
        number = view.sequence_number
        known = None if number is None else self._record_of.get((entity, number))
        is_another = known is not None and known.message.body != view.body
        return None if self._numbers_recur and is_another else known

    def number_of(self, record: Numbered) -> int | None:
        """Return the bus's number of a message, if it is known."""
        return self._number_of.get(record)

    def is_bound(self, record: Numbered) -> bool:
        """Return whether the bus's number of a message is known."""
        return record in self._number_of

    def knows_number(self, entity: Entity, number: int) -> bool:
        """Return whether a number of the bus is that of a known message, or of one that is gone."""
        return (entity, number) in self._record_of or number in self._spent.get(entity, ())

    def _partition_fits(self, record: Numbered, number: int) -> bool:
        return not self._names_partition(record) or number >> v.SEQUENCE_BITS == record.partition

    def _names_partition(self, record: Numbered) -> bool:
        """SEQUENCE-EXPOSES: return whether a message's number names its partition.

        That of a scheduled message need not say where it will be once it is due.
        """
        is_scheduled = isinstance(record, ScheduledMessage)
        partitioned = record.entity.settings.partitioned
        return self._numbers_show_partitions and partitioned and not is_scheduled

    def bind_number(self, record: Numbered, number: int | None) -> bool:
        """SEQ-01, SEQ-03, LIFE-12: bind a number to a message; return whether it may have it."""
        if number is None:
            return True
        known = self._number_of.get(record)
        if known is not None:
            return known == number
        if not self.fits(record, number):
            return False
        entity = record.entity
        journal = self._namespace.journal
        orders = self._orders_of.get(record, ())
        if not all(self._fits_in_line(entity, order, number) for order in orders):
            return False
        for place, first, last in orders:
            line = self._lines.setdefault((entity, place), [])
            insort(line, (last, number, first))
            journal.log.append((_Removal(line), None, (last, number, first)))
        journal.put(self._latest, (entity, record.partition), (record.number, number))
        journal.put(self._number_of, record, number)
        journal.put(self._record_of, (entity, number), record)
        return True

    def _fits_in_line(self, entity: Entity, order: tuple[object, int, int], number: int) -> bool:
        """SEQ-01, SEQ-05, SEQ-06, SEQ-07: return whether a number follows those before it."""
        place, first, last = order
        line = self._lines.get((entity, place))
        if not line:
            return True
        before = bisect_left(line, (first, -1, 0))
        after = self._place_after(line, last)
        if before and line[before - 1][1] >= number:
            return False
        if after < len(line) and line[after][1] <= number:
            return False
        if not self._has_no_gaps or place == ALL:
            return True
        neighbours = line[max(before - 1, 0) : after + 1]
        return all(other - number == own - first for own, other, _ in neighbours)

    @staticmethod
    def _place_after(line: Sequence[Entry], last: int) -> int:
        """Return the place of the first message that was surely enqueued after a moment.

        One that was enqueued at an uncertain moment may be before it, though its last one is after.
        """
        places = range(bisect_left(line, (last + 1, -1, 0)), len(line))
        return next((place for place in places if line[place][2] > last), len(line))

    def by_likelihood(
        self, records: Sequence[Record], number: int | None, *, is_peeked: bool
    ) -> list[Record]:
        """Return messages that may have a number of the bus, the most likely one first.

        Most buses number the messages of a partition without gaps, as the model does. So the
        message is likely as far from its neighbours as its number is from theirs.

        Args:
            records: the messages.
            number: the number.
            is_peeked: whether a later answer shows in which order messages have come.
        """
        if len(records) < 2:
            return list(records)
        if not is_peeked and all(record not in self._orders_of for record in records):
            records = self._distinct(records)
        if number is None:
            return list(records)
        latest = self._latest.get((records[0].entity, records[0].partition))
        own, known = latest or (0, 0)

        def distance(record: Record) -> int:
            return abs((record.number - own) - (number - known))

        return sorted(records, key=distance)

    def _distinct(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return one of each group of messages between which this observer sees no difference."""
        return list({self._looks(record): record for record in reversed(records)}.values())[::-1]

    def _looks(self, record: Numbered) -> object:
        if record in self._orders_of or record in self._number_of:
            return record
        if isinstance(record, ScheduledMessage):
            return self.kind(record.message), record.due
        return (
            self.kind(record.message),
            record.partition,
            record.state,
            record.reason,
            record.expires_at,
            record.enqueued_at,
            record.failed,
            record.token and self.token(record),
            record.locked_until,
            record.cached_by,
        )

    def number_or_limits(self, record: Numbered) -> int | tuple[int, int]:
        """Return the bus's number of a message, or between which numbers it has to be."""
        known = self._number_of.get(record)
        if known is not None:
            return known
        least = -1
        if self._names_partition(record):
            least += record.partition << v.SEQUENCE_BITS
        greatest = UNKNOWN
        for place, first, last in self._orders_of.get(record, ()):
            line = self._lines.get((record.entity, place), ())
            before = bisect_left(line, (first, -1, 0))
            after = self._place_after(line, last)
            if before:
                least = max(least, line[before - 1][1])
            if after < len(line):
                greatest = min(greatest, line[after][1])
        return least, greatest

    def ends_of_lines(self, entity: Entity) -> frozenset[tuple[object, int]]:
        """Return the last number that was bound in each line of an entity."""
        return frozenset(
            (place, line[-1][1])
            for (of, place), line in self._lines.items()
            if of is entity and line
        )

    def model_number(self, path: str, number: int) -> int:
        """Return the model's number for one of the bus's; if it is unknown, one of no message."""
        entity = self._namespace.entities.get(path)
        record = None if entity is None else self._record_of.get((entity, number))
        return UNKNOWN + number if record is None else record.number

    @property
    def size(self) -> int:
        """How many facts about messages are kept."""
        records = len(self._made) + len(self._number_of) + len(self._orders_of)
        places = sum(len(line) for line in self._lines.values())
        return records + places + len(self._tokens) + len(self._by_body)

    # Long histories ---------------------------------------------------------------------------

    def is_spent(self, entity: Entity, number: int) -> bool:
        """Return whether a number of the bus is that of a message which is forgotten."""
        return number in self._spent.get(entity, ())

    def forget(self, floor: Floor) -> None:
        """Forget the messages that are gone, except their numbers."""

        def is_gone(record: Numbered) -> bool:
            # A peek may show a message that has expired.
            return floor.is_gone(record) and record not in self._expired

        def is_of_gone(_: object, record: Numbered) -> bool:
            return is_gone(record)

        def is_gone_itself(record: Numbered, _: object) -> bool:
            return is_gone(record)

        def is_elsewhere(place: tuple[Entity, object], _: object) -> bool:
            return place[0] not in floor.entities

        def is_lost(place: tuple[Entity, str], token: str) -> bool:
            return self._message_of_token(place[0], token) is None

        for (entity, number), record in self._record_of.items():
            if is_gone(record) and entity in floor.entities:
                self._spent.setdefault(entity, Numbers()).add(number)
        self._forget_places(floor, is_gone)
        floor.drop(self._record_of, is_of_gone)
        floor.drop(self._made, is_of_gone)
        floor.drop(self._number_of, is_gone_itself)
        floor.drop(self._orders_of, is_gone_itself)
        floor.drop(self._sent, is_gone_itself)
        floor.drop(self._old, is_gone_itself)
        floor.drop(self._transits, is_gone_itself)
        floor.drop(self._tokens, is_lost)
        floor.drop(self._bus_tokens, lambda place, _: is_lost(place, place[1]))
        for bodies in self._by_body.values():
            bodies[:] = [queued for queued in bodies if not is_gone(queued)]
        floor.drop(self._by_body, lambda _, bodies: not bodies)
        floor.drop(self._names, self._are_forgotten)
        floor.drop(self._arrivals, lambda buffered, _: buffered not in floor.sends)
        alive = {body for _, body in floor.bodies}
        floor.drop(self._open, lambda _, known: known[0].body not in alive)
        floor.drop(self._latest, is_elsewhere)
        floor.drop(self._lost_by, is_elsewhere)
        floor.drop(self._homes_of_copies, is_elsewhere)
        floor.drop(self._spent, lambda entity, _: entity not in floor.entities)
        self._kinds.clear()

    def _message_of_token(self, entity: Entity, token: str) -> Numbered | None:
        """Return the message that a token of the model is, or was, for."""
        number = token.partition("/")[0]
        return self._made.get((entity, int(number))) if number.isdecimal() else None

    def _are_forgotten(
        self, place: tuple[Entity, str], names: tuple[tuple[Key | None, str], ...]
    ) -> bool:
        """Return whether duplicate detection remembers none of these names."""
        return not any(name in place[0].duplicates for name in names)

    def _forget_places(self, floor: Floor, is_gone: Callable[[Numbered], bool]) -> None:
        """Forget all places in orders before the first one that a message may still take.

        The last of them is kept: what comes next has a greater number.
        """
        least: dict[tuple[Entity, object], int] = {}
        for record, orders in self._orders_of.items():
            if record not in self._number_of and not is_gone(record):
                for place, first, _ in orders:
                    line = record.entity, place
                    least[line] = min(least.get(line, first), first)
        # By line: the first of the places that an undo takes away.
        undone: dict[int, Entry] = {}
        for thing, _, entry in self._namespace.journal.log:
            if type(thing) is _Removal:
                undone[id(thing.line)] = min(undone.get(id(thing.line), entry), entry)
        for (entity, place), entries in list(self._lines.items()):
            if entity not in floor.entities:
                del self._lines[entity, place]
                continue
            end = len(entries)
            if (entity, place) in least:
                end = bisect_left(entries, (least[entity, place], -1, 0))
            if id(entries) in undone:
                end = min(end, bisect_left(entries, undone[id(entries)]))
            del entries[: max(end - 1, 0)]

    # Tokens -----------------------------------------------------------------------------------

    def bind_token(self, record: QueuedMessage, token: str | None) -> bool:
        """LOCK-07: bind a token to the current lock of a message; each lock has its own."""
        if token is None or record.token is None:
            return True
        place = (record.entity, token)
        if place in self._tokens and self._is_held(record.entity, self._tokens[place]):
            return False
        journal = self._namespace.journal
        journal.put(self._tokens, place, record.token)
        journal.put(self._bus_tokens, (record.entity, record.token), token)
        return True

    def _is_held(self, entity: Entity, token: str) -> bool:
        """Return whether a token of the model is that of a lock which some message has now."""
        return any(queued.token == token for queued in entity.messages.values())

    def lose(self, entity: Entity, session: str, connection: str) -> None:
        """Note that the lock of a session has ended that a connection had."""
        self._namespace.journal.put(self._lost_by, (entity, session), connection)

    def has_lost(self, entity: Entity, session: str, connection: str) -> bool:
        """Return whether a connection had the session last, until its lock ended."""
        return self._lost_by.get((entity, session)) == connection

    def knows_token(self, entity: Entity, token: str) -> bool:
        """Return whether the bus has shown a token."""
        return (entity, token) in self._tokens

    def bus_token(self, entity: Entity, token: str) -> str | None:
        """Return the bus's token for one of the model's, if it was shown."""
        return self._bus_tokens.get((entity, token))

    def token(self, record: QueuedMessage) -> str | None:
        """Return the bus's token of a message's lock: empty if it has not shown it."""
        if record.token is None:
            return None
        return self._bus_tokens.get((record.entity, record.token), "")

    def model_token(self, path: str, token: str) -> str:
        """Return the model's token for one of the bus's; if it is unknown, one of no lock."""
        entity = self._namespace.entities.get(path)
        known = None if entity is None else self._tokens.get((entity, token))
        return known or f"unknown {token}"

    def translated(self, command: v.Command) -> v.Command:
        """Return a command with the model's numbers and tokens in place of the bus's."""
        changes = _translations(self, command)
        if not changes:
            return command
        translated: v.Command = attrs.evolve(command, **changes)
        return translated


class _Removal:
    """Undo of an insertion into a line; the journal calls it with the entry."""

    __slots__ = ("line",)

    def __init__(self, line: list[Entry]) -> None:
        self.line = line

    def __call__(self, entry: Entry) -> None:
        self.line.remove(entry)


class _Replacement:
    """Undo of a replacement in a list; the journal calls it with the old and the new item."""

    __slots__ = ("items",)

    def __init__(self, items: list[QueuedMessage]) -> None:
        self.items = items

    def __call__(self, entry: tuple[QueuedMessage, QueuedMessage]) -> None:
        before, after = entry
        self.items[self.items.index(after)] = before


def _translations(bindings: Bindings, command: v.Command) -> dict[str, Any]:
    match command:
        case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer() | v.RenewLock():
            return {"lock_token": bindings.model_token(command.queue, command.lock_token)}
        case v.SettleBatch() | v.RenewLocks():
            tokens = command.lock_tokens
            return {"lock_tokens": tuple(bindings.model_token(command.queue, t) for t in tokens)}
        case v.CancelScheduled():
            return {
                "sequence_number": bindings.model_number(command.queue, command.sequence_number)
            }
        case v.ReceiveDeferred():
            numbers = command.sequence_numbers
            return {
                "sequence_numbers": tuple(bindings.model_number(command.queue, n) for n in numbers)
            }
    return {}
