"""The model's families with observers, which tell the guide what the model does.

No rule is changed: an observer notes what passes, and calls the rule. Only where the documents
promise no order (a front end's cache, the partitions of a peek) does it take the recorded one.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.coverage.shown import OBSERVERS as OF_COVERAGE
from busproof.judging.homes import key_of_home
from busproof.judging.replay.choices_made import Placing
from busproof.judging.replay.delays import (
    DelayedDeadLetters,
    DelayedForwarding,
    DelayedManagement,
)
from busproof.judging.replay.guide import FIRST, Guide, NoWay
from busproof.judging.replay.open_duplicates import OpenDuplicates
from busproof.judging.replay.open_rules import OpenRules
from busproof.judging.replay.open_transactions import (
    LocksInTransactions,
    OpenTransactions,
    SchedulesInTransactions,
)
from busproof.judging.replay.tolerance import TolerantLimits, TolerantSizes
from busproof.model.answers import Answer
from busproof.model.expiry import Expiry
from busproof.model.family import Family
from busproof.model.keys import Keys
from busproof.model.life_cycle import ACTIVE
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Families
from busproof.model.sessions import Sessions
from busproof.model.state import (
    Entity,
    Partition,
    QueuedMessage,
    ScheduledMessage,
    Session,
)
from busproof.model.topics import Topics
from busproof.model.values import DIRECT, InTransit, Key, Refusal

__all__ = ["watched"]

ROOM: Final = 1 << 20
"""Positions between two messages that are sent to a queue from before."""


def guide_of(family: Family) -> Guide:
    """Return the guide of a replay, which is the policy of the model."""
    guide = family.namespace.choices
    assert isinstance(guide, Guide)  # noqa: S101 - a replay has no other policy
    return guide


def is_behind_cached(family: Family, queued: QueuedMessage, connection: str) -> bool:
    """KEY-17, BATCH-13: return whether a front end caches an earlier message of the same key."""
    entity = queued.entity
    keys = family.rules.keys
    key = keys.effective_key(entity, queued.message)
    if key is None or not family.rules.messages.orders_keys:
        return False
    bindings = guide_of(family).bindings
    return any(
        other.cached_by == connection
        and other.number < queued.number
        and not bindings.may_overtake(queued, other)
        and other.is_there
        and keys.effective_key(entity, other.message) == key
        for other in entity.caches.get(connection, ())
    )


REACCEPTED: Final = ("counted", "kept", "released")
"""What may become of a session's messages when its holder accepts it again."""


class WatchedKeys(Keys):
    """Observer of the partitions of keys."""

    def home(self, entity: Entity, key: Key) -> int:
        """Tell which key needs a partition, and keep it by the property that it is taken from."""
        guide = guide_of(self)
        guide.key = key
        kept = key_of_home(self.namespace, key)
        is_new = kept.value not in entity.base.homes
        partition = super().home(entity, kept)
        guide.places.note_home(entity.base, kept.value, is_new=is_new)
        return partition

    def any_partition(self, entity: Entity, down: frozenset[int]) -> int | None:
        """KEY-14: return a partition that does not leave another one without messages for long."""
        chosen = super().any_partition(entity, down)
        guide = guide_of(self)
        if chosen is not None and not guide.evenness.allows(entity, guide.event, chosen):
            raise NoWay("KEY-14")
        return chosen


class WatchedMessages(Messages):
    """Observer of messages that are sent, enqueued and given."""

    def send(self, command: v.Send, connection: str) -> Answer:
        """TXN-AFTER-REFUSAL: let a send that names no queue end its transaction, or not."""
        running = self.namespace.transactions.get(command.transaction or "")
        if running is None or running.ended or command.queue in self.namespace.entities:
            return super().send(command, connection)
        was_doomed = running.doomed
        send = super().send
        answer = self.rules.transactions.within(running, lambda _: send(command, connection))
        # Whatever the reading is: in the model such a send is not one of its transaction.
        is_new = running.doomed and not was_doomed
        if is_new and guide_of(self).take("TXN-AFTER-REFUSAL", (False, True)):
            self.namespace.journal.touch(running)
            running.doomed = False
        return answer

    def key_of(self, entity: Entity, message: v.Message) -> Key | None:
        """Tell which message is being placed."""
        guide_of(self).message = message
        return super().key_of(entity, message)

    def enqueue(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> QueuedMessage:
        """Tell that a message was enqueued."""
        queued = super().enqueue(entity, message, partition, transit)
        guide = guide_of(self)
        own = self.rules.keys.effective_key(entity, message)
        key: object = own
        if not entity.settings.partitioned:
            key = message.session_id or message.partition_key
        if guide.commit is not None:
            # In a transaction a message may get its number at its send or at the commit, so only
            # the messages of one commit are in order (SEQ-07).
            if guide.delivered is not None:
                guide.bindings.note_committed(queued, guide.delivered, guide.index)
            key = None if key is None else (key, guide.commit)
            guide.bindings.add(queued, key, guide.arrival if key is not None else None)
        else:
            guide.bindings.add(queued, key, guide.arrival if transit == DIRECT else None)
        if entity.settings.partitioned:
            kept = None if own is None else key_of_home(self.namespace, own).value
            guide.places.note_arrival(queued, kept, transit)
        return queued

    def next_number(self, entity: Entity, counters: Partition) -> int:
        """Leave room for messages from before, which are recalled when they are shown."""
        guide = guide_of(self)
        if guide.memory is not None and not guide.is_recalling:
            counters.arrivals = max(counters.arrivals, FIRST) + ROOM
        return super().next_number(entity, counters)

    def give(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """Tell that a message is given to the receiver."""
        guide_of(self).shown += 1
        return super().give(queued, mode)

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        """KEY-17: let caches have what explains the order of the answer."""
        guide = guide_of(self)
        if session is None and guide.shown < len(guide.views) and not guide.is_part:
            guide.caches.explain_order(entity, guide.views[guide.shown], connection)
        return super().give_next(entity, session, mode, connection)

    def next_available(self, entity: Entity) -> QueuedMessage | None:
        """LIFE-08: let caches have what the answer shows that this receive did not find."""
        guide = guide_of(self)
        if guide.finds_nothing:
            guide.caches.explain_empty(entity, guide.connection)
        return super().next_available(entity)

    def next_in_line(self, entity: Entity, only: Partition) -> QueuedMessage | None:
        """KEY-26: where receives are missing, give any message."""
        guide = guide_of(self)
        if not (guide.is_part and guide.views) or only.line.first(entity.messages) is None:
            return super().next_in_line(entity, only)
        return guide.pick("REGULAR-ORDER", only.line.available(entity.messages))

    def offered(self, entity: Entity, partition: Partition) -> Iterator[QueuedMessage]:
        """KEY-17: offer no message before an earlier one of its key in the front end's cache."""
        if guide_of(self).is_part:
            return partition.line.available(entity.messages)
        offered = super().offered(entity, partition)
        if guide_of(self).bindings.have_transactions:
            offered = chain(offered, self._overtaking(entity, partition))
        if not entity.caches:
            return offered
        connection = guide_of(self).connection
        return (queued for queued in offered if not is_behind_cached(self, queued, connection))

    def _overtaking(self, entity: Entity, partition: Partition) -> Iterator[QueuedMessage]:
        """SEQ-07: yield messages that come before what arrived before their commit."""
        caches = guide_of(self).caches
        for queued in partition.line.available(entity.messages):
            if next(caches.earlier(queued), None) is None:
                yield queued


class WatchedForwarding(DelayedForwarding):
    """Observer of messages that are forwarded."""

    def key_of(self, source: Entity, destination: Entity, message: v.Message) -> Key | None:
        """Tell which message is being placed."""
        guide_of(self).message = message
        return super().key_of(source, destination, message)


class WatchedScheduling(SchedulesInTransactions):
    """Observer of messages that are scheduled."""

    def numbered(
        self,
        entity: Entity,
        message: v.Message,
        key: Key | None,
        partition: int,
        due: int,
    ) -> ScheduledMessage:
        """Tell that a message was scheduled."""
        scheduled = super().numbered(entity, message, key, partition, due)
        guide_of(self).bindings.add_scheduled(scheduled)
        return scheduled


class WatchedPartitions(Partitions):
    """Observer of outages, caches and peeks."""

    def outage(self, *rules: v.RuleId) -> Refusal:
        """Tell that no document names the error."""
        guide_of(self).any_error = True
        return super().outage(*rules)

    def switch(self, command: v.TakePartitionDown | v.BringPartitionUp, connection: str) -> Answer:
        """Tell that a partition goes down or up, and that clocks may stand still meanwhile."""
        answer = super().switch(command, connection)
        guide_of(self).clocks.switched(command.queue)
        entity = self.namespace.entities.get(command.queue)
        if entity is not None:
            guide_of(self).bindings.disturb(entity.base)
        return answer

    def next_to_cache(self, entity: Entity, partition: int) -> QueuedMessage | None:
        """Choose one of several messages where nobody sees which partition they are in."""
        guide = guide_of(self)
        options = guide.cacheable(entity, partition)
        if len(options) < 2:
            return next(iter(options), None)
        return guide.take("LIFE-08", options, guide.caching)

    def fill_cache(
        self, entity: Entity, partition: int, connection: str, mode: v.ReceiveMode
    ) -> None:
        """PART-09: tell what a front end may cache of any partition that it asked."""
        guide = guide_of(self)
        for asked in () if guide.is_part else entity.partitions:
            number = asked.number
            is_own = number == partition
            if not is_own and (not asked.messages or number in entity.base.down):
                continue
            guide.caches.note(entity, number, connection, mode)
            if not (guide.is_hasty or guide.caches_late) and (
                is_own or asked.line.first(entity.messages)
            ):
                guide.caching = (entity.path, number)
                super().fill_cache(entity, number, connection, mode)
        guide.caching = None

    def hand_out(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """Tell that a cached message is given to the receiver."""
        guide_of(self).shown += 1
        return super().hand_out(queued, mode)

    def take_cached(self, entity: Entity, connection: str) -> QueuedMessage | None:
        """LIFE-08: return the cached message that the answer shows, in the order of its key.

        Across keys a cache has no documented order.
        """
        first = super().take_cached(entity, connection)
        guide = guide_of(self)
        if first is None or guide.shown >= len(guide.views):
            return first
        candidates = guide.bindings.candidates(entity.path, guide.views[guide.shown])
        cached = [queued for queued in candidates if queued.cached_by == connection]
        in_order = [queued for queued in cached if not is_behind_cached(self, queued, connection)]
        return guide.take("PART-09", in_order, entity.path) if cached else None

    def order(self, entity: Entity, up: list[Partition]) -> list[Partition]:
        """PART-16, PART-21: return any order of the partitions, or none if a peek may be empty.

        The messages that a peek shows are compared one by one, in whatever order they come.
        """
        readings = self.namespace.profile.readings
        filled = [partition for partition in up if partition.messages]
        if len(entity.partitions) == 1 or not filled or readings.get("LIKE-REGULAR") == "identical":
            return super().order(entity, up)
        may_end = (
            len(filled) < len(entity.partitions) and readings.get("PEEK-EMPTY") != "next-partition"
        )
        return [] if may_end and not guide_of(self).views else up

    def with_scheduled(
        self, peeked: list[v.MessageView], waiting: Iterator[v.MessageView], count: int
    ) -> list[v.MessageView]:
        """SCHED-08: show scheduled messages behind all others; they are compared one by one."""
        return [*peeked, *islice(waiting, count - len(peeked))]


class WatchedDuplicates(OpenDuplicates):
    """Observer of copies."""

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        """DUP-01: let a message be a copy of one from before."""
        memory = guide_of(self).memory
        name = (key, message.message_id or "")
        is_known = not message.message_id or name in entity.duplicates
        if memory is None or is_known or not entity.settings.duplicate_detection:
            return super().is_duplicate(entity, message, key)
        return memory.is_dropped(message, name) or super().is_duplicate(entity, message, key)


class WatchedSessions(Sessions):
    """Observer of sessions whose locks end."""

    def hold(self, session: Session, connection: str) -> None:
        """SESS-11: let a holder that accepts its session again keep its messages, or lose them.

        Nothing is said of that: whether the deliveries before it end, nor whether they then count.
        """
        if session.holder is None or not self._has_locked(session):
            super().hold(session, connection)
            return
        fate = guide_of(self).take("SESS-11", REACCEPTED, session.entity.path)
        if fate == "released":
            self.give_back(session, counts=False)
        if fate == "counted":
            super().hold(session, connection)
        else:
            self.prolong(session)

    @staticmethod
    def _has_locked(session: Session) -> bool:
        return any(one.token is not None and one.is_there for one in session.locked.values())

    def end(self, session: Session) -> None:
        """Tell which connection has lost a session."""
        holder = session.holder
        super().end(session)
        if holder is not None and session.holder is None:
            guide_of(self).bindings.lose(session.entity, session.name, holder)


class WatchedTopics(Topics):
    """Observer of subscriptions."""

    def create_subscription(self, command: v.CreateSubscription, connection: str) -> Answer:
        """Tell that a topic gets a subscription."""
        answer = super().create_subscription(command, connection)
        guide_of(self).bindings.subscribe(self.namespace.entities[command.topic])
        return answer

    def _place_of_copy(
        self, subscription: Entity, message: v.Message, copy: v.Message, partition: int
    ) -> int:
        """TOPIC-07, SUBSCRIPTION-PARTITIONS: let a copy be in another partition than its topic's.

        Within a subscription each key is in one partition.
        """
        usual = super()._place_of_copy(subscription, message, copy, partition)
        guide = guide_of(self)
        readings = self.namespace.profile.readings
        if readings.get("SUBSCRIPTION-PARTITIONS") == "same" or len(subscription.partitions) == 1:
            return usual
        key = self.rules.keys.effective_key(subscription, copy)
        known = None if key is None else guide.bindings.home_of_copies(subscription, key)
        if known is not None:
            return known
        count = len(subscription.partitions)
        shown = guide.places_of_copy(subscription.path, copy.body, count)
        # Of copies that look alike, the first is the one that is seen first.
        earlier = sum(1 for _ in guide.bindings.ever(subscription.path, copy.body))
        places = list(dict.fromkeys((*shown[earlier:], usual, *shown)))
        tag = Placing(subscription.base.path, copy.body if key is None else None)
        place = guide.take("SUBSCRIPTION-PARTITIONS", places, tag)
        if key is not None:
            guide.bindings.note_home_of_copies(subscription, key, place)
        return place


class WatchedExpiry(Expiry):
    """Observer of messages that expire."""

    def expires_at(self, entity: Entity, message: v.Message, transit: InTransit) -> int | None:
        """TTL-03: of a message from before, nobody knows when it expires."""
        if guide_of(self).is_recalling:
            return None
        return super().expires_at(entity, message, transit)

    def expire(self, queued: QueuedMessage) -> None:
        """TTL-08: tell that a message is dropped, which peeks may show until it is cleaned up."""
        if not queued.entity.settings.dead_letter_expired:
            guide_of(self).bindings.note_expired(queued)
        super().expire(queued)

    def end(self, queued: QueuedMessage) -> None:
        """TTL-14: keep a message that a front end must have cached before it expired."""
        if not (
            queued.state is ACTIVE and queued.is_there and guide_of(self).caches.has_kept(queued)
        ):
            super().end(queued)


OF_GUIDE: Final[dict[str, type[Family]]] = {
    "dead_letters": DelayedDeadLetters,
    "management": DelayedManagement,
    "duplicates": WatchedDuplicates,
    "keys": WatchedKeys,
    "locks": LocksInTransactions,
    "messages": WatchedMessages,
    "forwarding": WatchedForwarding,
    "scheduling": WatchedScheduling,
    "partitions": WatchedPartitions,
    "expiry": WatchedExpiry,
    "subscription_rules": OpenRules,
    "topics": WatchedTopics,
    "sessions": WatchedSessions,
    "transactions": OpenTransactions,
    "limits": TolerantLimits,
    "sizes": TolerantSizes,
}


MADE: Final[dict[tuple[type[Family] | None, ...], type[Family]]] = {}
"""The classes that were made so far, because each replay asks for the same ones."""


def _above(*kinds: type[Family] | None) -> type[Family]:
    """Return a class with the methods of all these, the first before the others."""
    known = MADE.get(kinds)
    if known is None:
        bases = tuple(kind for kind in kinds if kind is not None)
        known = bases[0] if len(bases) == 1 else type(bases[0].__name__, bases, {})
        MADE[kinds] = known
    return known


OBSERVERS: Final[dict[str, type[Family]]] = {
    name: _above(OF_GUIDE.get(name), OF_COVERAGE.get(name)) for name in {**OF_GUIDE, **OF_COVERAGE}
}


def watched(replaced: Families) -> dict[str, Any]:
    """Return the families to replace, with observers above the model's rules or a mutant's.

    Args:
        replaced: families of a mutant by their names; empty for the model.
    """
    watching: dict[str, Any] = dict(replaced)
    for name, observer in OBSERVERS.items():
        watching[name] = _above(observer, replaced.get(name))
    return watching
