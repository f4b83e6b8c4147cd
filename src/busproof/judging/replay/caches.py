"""What front ends have cached: decided when an answer first shows it.

A receive lets a front end cache more messages than it gives (PART-09). No answer shows that at
once, and a choice at every receive would be refuted only much later, if ever. So each receive is
noted, and a message is cached afterwards, as if at an earlier receive, when an answer can be
explained in no other way: an empty answer although there is a message, a message before an earlier
one of its key, or one that should have expired. That is possible as long as nothing has happened to
the message since that receive, because a choice that nobody has seen commutes with everything else.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

import attrs

from busproof import vocabulary as v
from busproof.judging.floor import Floor
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.guide import Guide, NoWay
from busproof.judging.replay.outlook import Outlook
from busproof.judging.replay.timers import LooseTimers
from busproof.model.ambiguities import CacheDelete
from busproof.model.life_cycle import ACTIVE
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage

__all__ = ["Caches", "Fill"]


@attrs.frozen(eq=False)
class Fill:
    """A receive that may have filled the cache of its connection's front end.

    Attributes:
        epoch: when it happened, as the journal counts.
        index: the event.
        connection: the connection.
        mode: whether it locked or removed what it gave.
        moment: when it happened, in microseconds.
        width: how much later it may have happened.
    """

    epoch: int
    index: int
    connection: str
    mode: v.ReceiveMode
    moment: int
    width: int


class Caches:
    """The receives that may have filled caches, and the messages that are cached afterwards.

    Args:
        namespace: the model's namespace.
        guide: the policy that chooses which receive it was.
        bindings: the bus's numbers and tokens.
        outlook: what the events to come show of a message.
        left_out: connections of which receives are missing, so that their front ends may have
            cached any message at any time.

    Attributes:
        reason: the messages that no cache explains, after an answer that none does.
    """

    def __init__(
        self,
        namespace: Namespace,
        guide: Guide,
        bindings: Bindings,
        outlook: Outlook,
        left_out: Collection[str] = (),
    ) -> None:
        self._left_out = sorted(left_out)
        self._namespace = namespace
        self._guide = guide
        self._bindings = bindings
        self._outlook = outlook
        self._fills: dict[tuple[Entity, int], list[Fill]] = {}
        self._deletions: dict[tuple[Entity, int], list[Fill]] = {}
        self.reason: tuple[QueuedMessage, ...] = ()

    def note(self, entity: Entity, partition: int, connection: str, mode: v.ReceiveMode) -> None:
        """Note a receive from a partition."""
        journal = self._namespace.journal
        fills = self._fills.setdefault((entity, partition), [])
        now = self._namespace.now
        width = self._timers.uncertain[1]
        fill = Fill(journal.epoch, self._guide.index, connection, mode, now, width)
        fills.append(fill)
        journal.log.append((_forget_last, None, fills))
        if mode is v.ReceiveMode.RECEIVE_AND_DELETE:
            deletions = self._deletions.setdefault((entity, partition), [])
            deletions.append(fill)
            journal.log.append((_forget_last, None, deletions))

    def forget(self, floor: Floor) -> None:
        """Forget the receives that cannot have cached any message that is there."""
        oldest: dict[tuple[Entity, int], int] = {}
        for queued in floor.messages:
            place = queued.entity, queued.partition
            oldest[place] = min(oldest.get(place, queued.touched), queued.touched)
        for thing, _, values in self._namespace.journal.log:
            # The last of a record's values says since when it was as it was; at first it was not.
            if isinstance(thing, QueuedMessage) and (touched := values[-1]):
                place = thing.entity, thing.partition
                oldest[place] = min(oldest.get(place, touched), touched)
        for table in (self._fills, self._deletions):
            for place, fills in list(table.items()):
                since = oldest.get(place)
                fills[:] = [
                    fill
                    for fill in fills
                    if fill.index >= floor.index or (since is not None and fill.epoch > since)
                ]
                if place[0] not in floor.entities:
                    del table[place]

    @property
    def _timers(self) -> LooseTimers:
        timers = self._namespace.timers
        assert isinstance(timers, LooseTimers)  # noqa: S101 - a replay has no others
        return timers

    # What answers show ------------------------------------------------------------------------

    def explain_empty(self, entity: Entity, connection: str) -> None:
        """Cache every available message, because a receive of this connection found none.

        Raises:
            NoWay: a message cannot be in a cache.
        """
        self.reason = tuple(islice(self.visible(entity, connection), 1))
        if not entity.settings.partitioned:
            return
        if self.reason:
            raise NoWay("LIFE-08")
        for partition in entity.partitions:
            if partition.number in entity.base.down:
                continue
            while (first := partition.line.first(entity.messages)) is not None:
                self._withhold(first, connection)

    def visible(self, entity: Entity, connection: str) -> Iterator[QueuedMessage]:
        """Yield the available messages that no front end hides from this connection."""
        for partition in entity.partitions:
            if partition.number in entity.base.down:
                continue
            for queued in partition.line.available(entity.messages):
                if not entity.settings.partitioned or not any(self._some_ways(queued, connection)):
                    yield queued

    def explain_order(self, entity: Entity, view: v.MessageView, connection: str) -> None:
        """Explain why this connection receives a message before earlier ones of its key.

        Either they are in other caches, or its own front end had cached the message before they
        came back. The latter also explains a lock that ends too early.

        Raises:
            NoWay: nothing of this can be.
        """
        if not entity.settings.partitioned:
            return
        candidates = self._bindings.candidates(entity.path, view)
        given = (one for one in candidates if one.state is ACTIVE or one.cached_by == connection)
        queued = next(given, None)
        if queued is None or queued.state is not ACTIVE or queued.partition in entity.base.down:
            return
        earlier = list(self.earlier(queued)) if self._namespace.rules.messages.orders_keys else []
        locked_early = self._is_early(entity, view)
        if not earlier and not locked_early:
            return
        # A front end takes no message before an earlier one of its key.
        back = min((one.touched for one in earlier), default=0)
        own: list[Fill | None] = [
            fill
            for fill in self._fills_since(queued)
            if fill.connection == connection and (fill.epoch <= back or not earlier)
        ]
        if not locked_early and all(any(self._ways(one, connection)) for one in earlier):
            own.insert(0, None)
        if not own:
            self.reason = self._find_reason(queued, earlier, connection)
        chosen = self._guide.take("LIFE-08", own, self._tag(queued))
        if chosen is not None:
            self._cache(queued, chosen)
            return
        for one in earlier:
            self._withhold(one, connection)

    def earlier(self, queued: QueuedMessage) -> Iterator[QueuedMessage]:
        """Yield the available messages of the same key that must come before a message.

        None must if the first of them was given before (KEY-17).
        """
        entity = queued.entity
        keys = self._namespace.rules.keys
        key = keys.effective_key(entity, queued.message)
        if key is None:
            return
        is_first = True
        for one in entity.partitions[queued.partition].line.available(entity.messages):
            if one.number >= queued.number:
                return
            if keys.effective_key(entity, one.message) != key:
                continue
            if is_first and one.deliveries:
                return
            is_first = False
            if not self._bindings.may_overtake(queued, one):
                yield one

    def _find_reason(
        self, queued: QueuedMessage, earlier: Sequence[QueuedMessage], connection: str
    ) -> tuple[QueuedMessage, ...]:
        """Return why a message cannot come before earlier ones of its key; none if it is not known.

        Of those, one is in no other cache, and the one that came last says that its own front end
        cannot have cached it. None must come first if one that was given before is the first.
        """
        entity = queued.entity
        dead = (self._namespace.entities.get(one) for one in v.dead_letter_queues_of(entity.path))
        may_vanish = any(one.expires_at is not None for one in entity.messages.values())
        hindering = [one for one in earlier if not any(self._ways(one, connection))]
        if not hindering or may_vanish or any(one is not None and one.messages for one in dead):
            return ()
        effective_key = self._namespace.rules.keys.effective_key
        key = effective_key(entity, queued.message)
        given = (
            one
            for one in entity.messages.values()
            if one.deliveries
            and one.partition == queued.partition
            and effective_key(entity, one.message) == key
        )
        last = min(earlier, key=lambda one: one.touched)
        return (queued, hindering[0], last, *given)

    def _is_early(self, entity: Entity, view: v.MessageView) -> bool:
        """Return whether a lock was told to end too early to begin now (CACHE-LOCK)."""
        if view.locked_until is None or view.lock_token is None:
            return False
        tolerance = 2 * self._guide.slack + self._timers.uncertain[1]
        end = self._namespace.now + entity.settings.lock_duration
        return view.locked_until + tolerance < end

    def has_kept(self, queued: QueuedMessage) -> bool:
        """TTL-14: cache a message that should expire now if a later answer shows it."""
        if not queued.entity.settings.partitioned:
            return False
        ways: list[Fill | None] = [*self._ways(queued, "")]
        shows = self._outlook.shows(queued)
        if shows:
            receiver = next(filter(None, shows), None)
            ways = [way for way in ways if way and receiver in (None, way.connection)]
            ways.append(None)
        elif queued.entity.settings.dead_letter_expired:
            # It may be missing among the dead letters.
            ways.insert(0, None)
        else:
            return False
        if len(ways) == 1:
            return False
        chosen = self._guide.take("LIFE-08", ways, self._tag(queued))
        if chosen is not None:
            self._cache(queued, chosen)
        return chosen is not None

    def since(self, queued: QueuedMessage) -> frozenset[tuple[str, int]]:
        """Return the receives that may have cached a message, as a value."""
        return frozenset((fill.connection, fill.moment) for fill in self._ways(queued, ""))

    def may_explain_empty(self, entity: Entity, connection: str) -> bool:
        """Return whether caches may explain that a receive finds nothing.

        The cache of its own connection gives what it holds, unless a lock has ended there, a
        message has expired, or it removed what it took (CACHE-DELETE).
        """
        earliest = self._earliest(entity) + 2 * self._guide.slack
        fills = [
            fill
            for table in (self._fills, self._deletions)
            for (thing, _), those in table.items()
            if thing is entity
            for fill in those
        ]
        return (
            bool(self._left_out)
            or any(queued.expires_at is not None for queued in entity.messages.values())
            or any(
                fill.connection != connection
                or fill.mode is not v.ReceiveMode.PEEK_LOCK
                or fill.moment <= earliest
                for fill in fills
            )
        )

    def may_have_lapsed(self, queued: QueuedMessage) -> bool:
        """CACHE-DELIVERY-COUNT: return whether a lock may have ended in a cache, unseen."""
        for fill in reversed(self._fills.get((queued.entity, queued.partition), ())):
            if fill.epoch <= queued.touched:
                return False
            if fill.moment <= self._earliest(queued.entity) + 2 * self._guide.slack:
                return True
        return False

    # Choices ----------------------------------------------------------------------------------

    def _withhold(self, queued: QueuedMessage, connection: str) -> None:
        """Cache a message for another connection than this one."""
        receiver = self._outlook.receiver(queued)

        def unlikelihood(fill: Fill) -> tuple[bool, bool]:
            has_done = self._outlook.has_done_with(queued.entity.path, fill.connection)
            return fill.connection != receiver, not has_done

        ways = sorted(self._some_ways(queued, connection), key=unlikelihood)
        self._cache(queued, self._guide.take("LIFE-08", ways, self._tag(queued)))

    def _some_ways(self, queued: QueuedMessage, connection: str) -> Iterator[Fill]:
        """Yield the ways that agree with the next receive of a message, or all of them.

        Any other front end than the receiver's would have kept it until its lock ended.
        """
        receiver = self._outlook.receiver(queued)
        for fill in self._ways(queued, connection):
            if (
                not self._guide.is_hasty
                or fill.connection == receiver
                or not self._outlook.is_received_within(queued, fill.moment)
            ):
                yield fill

    @staticmethod
    def _tag(queued: QueuedMessage) -> tuple[str, int]:
        return queued.entity.path, queued.partition

    def _fills_since(self, queued: QueuedMessage) -> Iterator[Fill]:
        """Yield the receives that may have cached a message, the last one first.

        Of those that removed what they gave, any may have it still (CACHE-DELETE).
        """
        entity = queued.entity
        place = entity, queued.partition
        earliest = self._earliest(entity)
        yield from self._missing_fills(queued, earliest)
        for fill in reversed(self._fills.get(place, ())):
            if fill.epoch <= queued.touched:
                return
            if fill.moment + fill.width < earliest:
                break
            yield fill
        if self._namespace.known_reading(CacheDelete) is CacheDelete.KEPT:
            return
        for fill in reversed(self._deletions.get(place, ())):
            if fill.epoch <= queued.touched:
                return
            if fill.moment + fill.width < earliest:
                yield fill

    def _missing_fills(self, queued: QueuedMessage, earliest: int) -> Iterator[Fill]:
        """Yield a receive at any time since a message is there for each connection left out."""
        moment = max(earliest, queued.enqueued_at)
        width = max(self._namespace.now - moment, 0) + self._timers.uncertain[1]
        is_kept = self._namespace.known_reading(CacheDelete) is CacheDelete.KEPT
        modes = (v.ReceiveMode.PEEK_LOCK, *(() if is_kept else (v.ReceiveMode.RECEIVE_AND_DELETE,)))
        for connection in self._left_out:
            for mode in modes:
                since = queued.touched + 1
                yield Fill(since, self._guide.index, connection, mode, moment, width)

    def _earliest(self, entity: Entity) -> int:
        """Return since when the lock of a cached message has not ended yet."""
        return self._namespace.now - entity.settings.lock_duration - self._guide.slack

    def _ways(self, queued: QueuedMessage, other: str) -> Iterator[Fill]:
        """Yield receives that may have cached a message for another connection.

        Of each connection these are the last one and the first one; the last ones come first.
        """
        first: dict[str, Fill] = {}
        last: dict[str, Fill] = {}
        for fill in self._fills_since(queued):
            if fill.connection != other:
                last.setdefault(fill.connection, fill)
                first[fill.connection] = fill
        yield from last.values()
        yield from (fill for name, fill in first.items() if fill is not last[name])

    def _cache(self, queued: QueuedMessage, fill: Fill) -> None:
        """Cache a message as if at an earlier receive."""
        namespace = self._namespace
        timers = self._timers
        now = namespace.now
        uncertain = timers.uncertain
        if fill.moment + fill.width < self._earliest(queued.entity):
            self._guide.fate = "lost"
        namespace.journal.touch(namespace)
        namespace.now, timers.uncertain = fill.moment, (0, fill.width)
        try:
            namespace.rules.partitions.cache(queued, fill.connection, fill.mode)
        finally:
            namespace.now, timers.uncertain = now, uncertain


def _forget_last(fills: list[Fill]) -> None:
    fills.pop()
