"""PART: partitions that fail independently, front ends that query all of them, and peeks.

A partitioned entity is spread over brokers and stores. Each partition fails independently, and its
messages are still there when it is up again. A connection is served by one front end, which queries
all partitions. It may cache more messages than were requested, and give them to later receives of
the same connection. A peek shows one partition after another; the documents do not say which one
answers first.

An *outage* is the time in which a partition is down. Nothing is lost, and time passes as ever:
locks and times to live end also there. A queue or topic shares its outages with everything beneath
it. The documents say what becomes of sends; nearly all else is a choice:

- a send with a key to the partition: refused (KEY-03), which shows where the key lives;
- a send without a key: goes to another partition (KEY-15), and is refused if all are down (PART-03)
  or, with a short timeout, perhaps (SHORT-TIMEOUT);
- a receive: served from the other partitions, empty, or refused (RECEIVE-IN-OUTAGE);
- a settlement, a renewal, a request about a session: done or refused (LIFE-11, SESS-25), because
  the documents do not say that the lock's broker has to be asked;
- a peek: shows the other partitions, or is refused (PEEK-IN-OUTAGE);
- a description: counts the messages there, or not, or is refused (COUNTS-IN-OUTAGE), and tells that
  the entity is limited (MGMT-21);
- a creation, an update, a deletion: reaches all partitions or none (MANAGEMENT-IN-OUTAGE);
- a message that is due, or forwarded: waits in its partition, like those that are there.

Which error a refusal has, no edition says (OUTAGE-ERROR).
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, islice
from operator import attrgetter
from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import (
    CacheDelete,
    CacheExpiry,
    CacheLock,
    Given,
    Libraries,
    LikeRegular,
    OutageError,
    PeekEmpty,
    PeekInOutage,
)
from busproof.model.answers import DONE, Answer, view_of
from busproof.model.choices import CONSIDERED
from busproof.model.family import Family, handles
from busproof.model.indexes import by_number
from busproof.model.life_cycle import Action, State
from busproof.model.state import NO_PARTITIONS, Entity, Partition, QueuedMessage
from busproof.model.values import EntityKind, Refusal

__all__ = ["Partitions"]

FOREVER: Final = 1 << 62
"""CACHE-DELETE: end of the lock of a message that no other front end can get."""


def shown(queued: QueuedMessage) -> v.MessageView:
    """DEFER-09: return a message as a peek shows it: with its state, and without its lock."""
    deferred = queued.state in (State.DEFERRED, State.DEFERRED_LOCKED)
    return view_of(queued, state=v.MessageState.DEFERRED if deferred else v.MessageState.ACTIVE)


class Partitions(Family):
    """The rules of PART."""

    def outage(self, *rules: v.RuleId) -> Refusal:
        """KEY-03: return the refusal of a request that needs a partition that is down.

        No edition names its error.
        """
        if self.namespace.reading(OutageError) is OutageError.ANY:
            error = self.namespace.choices.pick("OUTAGE-ERROR", ("unavailable", "other"))
            return Refusal(v.Error.OTHER if error == "other" else v.Error.UNAVAILABLE, *rules)
        return Refusal(v.Error.UNAVAILABLE, *rules)

    def check_up(self, entity: Entity, partition: int, rule: v.RuleId = "LIFE-11") -> None:
        """LIFE-11, SESS-25: refuse a request while its partition is down, or let it pass.

        No edition says what happens to settlements, renewals and sessions in an outage.
        """
        is_down = partition in entity.base.down
        if is_down and self.namespace.prefers(rule, "refused", to="done"):
            raise self.outage(rule)

    def answer_of(self, kind: type[Given], rule: v.RuleId, *answers: str) -> str:
        """LIFE-11, MGMT-23, SESS-24: return one of the answers in an outage, or refuse."""
        answer: str = self.namespace.reading(kind)
        if answer == next(iter(kind)):
            answer = self.namespace.choices.pick(kind.entry, (*answers, "refused"))
        if answer == "refused":
            raise self.outage(rule)
        return answer

    @handles(v.TakePartitionDown, v.BringPartitionUp)
    def switch(self, command: v.TakePartitionDown | v.BringPartitionUp, connection: str) -> Answer:
        """PART-02, PART-04, PART-05: take a partition of one entity down, or bring it up."""
        entity, name = self.namespace.entities.get(command.queue), command.queue
        down = isinstance(command, v.TakePartitionDown)
        if entity is not None:
            if entity.kind is EntityKind.SUBSCRIPTION:
                raise Refusal(v.Error.INVALID_OPERATION)
            name = entity.base.path
        elif self.namespace.prefers("PART-05", "refused", to="done"):
            # An adapter may be unable to disturb an entity that is gone, or not there yet.
            raise Refusal(v.Error.NOT_FOUND, "PART-05")
        most = self.namespace.profile.partitions if entity is None else len(entity.partitions)
        if command.partition >= most:
            raise Refusal(v.Error.NOT_FOUND)
        journal, single = self.namespace.journal, {command.partition}
        before = self.namespace.down.get(name, NO_PARTITIONS)
        after = before | single if down else before - single
        journal.put(self.namespace.down, name, after)
        if entity is not None:
            journal.touch(entity.base)
            entity.base.down = frozenset(number for number in after if number < most)
        return Answer(DONE, rules=("PART-05", "PART-02" if down else "PART-04"))

    def fill_cache(
        self, entity: Entity, partition: int, connection: str, mode: v.ReceiveMode
    ) -> None:
        """PART-09, PART-10: lock some more messages of a partition for the front end's cache.

        Their locks begin now (CACHE-LOCK). A cached message counts as delivered only when it is
        given to a receiver, or when its lock ends (CACHE-DELIVERY-COUNT). One that is cached for a
        receiver who receives and deletes may be lost to all others (CACHE-DELETE).
        """
        while self.namespace.prefers("LIFE-08", "one-more", to="enough"):
            queued = self.next_to_cache(entity, partition)
            if queued is None:
                return
            for other, cached in list(entity.caches.items()):
                # Connections are opened and closed often, and their front ends' caches go with
                # them.
                if not any(one.cached_by == other and one.is_there for one in cached):
                    del entity.caches[other]
            self.cache(queued, connection, mode)

    def next_to_cache(self, entity: Entity, partition: int) -> QueuedMessage | None:
        """Return the message of a partition that a front end caches next, if there is one."""
        return entity.partitions[partition].line.first(entity.messages)

    def cache(self, queued: QueuedMessage, connection: str, mode: v.ReceiveMode) -> None:
        """PART-09, PART-10, CACHE-LOCK: lock a message for the cache of a front end."""
        self.rules.locks.lock(queued, Action.RECEIVE)
        queued.failed -= 1  # not yet a delivery (CACHE-DELIVERY-COUNT)
        queued.cached_by = connection
        if mode is v.ReceiveMode.RECEIVE_AND_DELETE and self._is_lost_in_cache():
            queued.locked_until = FOREVER
        queued.entity.caches.setdefault(connection, []).append(queued)

    def _is_lost_in_cache(self) -> bool:
        """CACHE-DELETE: return whether only its own front end can still hand out a message."""
        if self.namespace.reading(CacheDelete) is CacheDelete.KEPT:
            return False
        return self.namespace.choices.pick("CACHE-DELETE", ("kept", "lost")) == "lost"

    def take_cached(self, entity: Entity, connection: str) -> QueuedMessage | None:
        """PART-09, TTL-14: return the first message in the cache of this connection's front end.

        CACHE-EXPIRY decides whether an expired one is returned.
        """
        cached = [
            queued
            for queued in dict.fromkeys(entity.caches.get(connection, ()))
            if queued.cached_by == connection and queued.state is State.LOCKED and queued.is_there
        ]
        entity.caches[connection] = cached
        for queued in sorted(cached, key=by_number):
            expired = self.namespace.has_passed(queued.expires_at)
            if not expired or self.namespace.reading(CacheExpiry) is CacheExpiry.HANDED_OUT:
                return queued
        return None

    def hand_out(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """PART-09, PART-10: give a receiver a message that its front end had cached.

        Part of its lock time has passed, unless CACHE-LOCK says that the lock begins now.
        """
        self.namespace.journal.touch(queued)
        queued.cached_by = None
        if mode is v.ReceiveMode.RECEIVE_AND_DELETE:
            self.rules.messages.consume(queued, Action.COMPLETE)
            return view_of(queued)
        queued.failed += 1
        begins_now = self.namespace.reading(CacheLock) is CacheLock.FROM_HANDING_OUT
        if begins_now or queued.locked_until == FOREVER:
            self.rules.locks.prolong(queued)
        return view_of(queued, locked=True)

    @handles(v.Peek)
    def peek(self, command: v.Peek, connection: str) -> Answer:
        """LIFE-07, PART-19, PART-29: show up to the requested number of messages."""
        start = command.from_sequence_number
        entity = self.rules.topics.readable(command.queue)
        self.rules.topics.check_serves(entity, "served", "refused")
        self.check_peek(entity)
        up = [
            partition for partition in entity.partitions if partition.number not in entity.base.down
        ]
        served = bool(up) and self.namespace.reading(PeekInOutage) is PeekInOutage.SERVED
        may_be_refused = entity.base.down and not served
        if may_be_refused and self.namespace.prefers("LIFE-11", "refused", to="shown"):
            raise self.outage("LIFE-11")
        if command.session_id is not None:
            queued = self.in_session(entity, up, command.session_id, start or 0)
        elif start is not None:
            views = tuple(islice(self.onwards(entity, up, start), command.count))
            rules = ("PART-20", *self.rules_of_peek(command, views, entity))
            return Answer(v.Peeked(messages=views), rules=rules)
        else:
            up = self.order(entity, up)
            queued = self.from_the_first(entity, up, command.count)
        peeked = [shown(message) for message in islice(queued, command.count)]
        if command.session_id is None:
            peeked = self.with_scheduled(peeked, self.scheduled(entity, up), command.count)
        rules = self.rules_of_peek(command, peeked, entity)
        return Answer(v.Peeked(messages=tuple(peeked)), rules=rules)

    def with_scheduled(
        self, peeked: list[v.MessageView], waiting: Iterator[v.MessageView], count: int
    ) -> list[v.MessageView]:
        """SCHED-08: add scheduled messages to those that a peek shows, up to the requested number.

        Nothing says where it shows them. A regular bus does so behind all others.
        """
        first = next(waiting, None)
        if first is None:
            return peeked
        entries = chain((first,), waiting)
        if not self.namespace.prefers("SCHED-08", "anywhere", to="behind"):
            return [*peeked, *islice(entries, count - len(peeked))]
        for entry in islice(entries, count):
            place = self.namespace.choices.pick("SCHED-08", range(len(peeked), -1, -1))
            peeked.insert(place, entry)
        return peeked[:count]

    def rules_of_peek(
        self, command: v.Peek, views: Sequence[v.MessageView], entity: Entity
    ) -> tuple[v.RuleId, ...]:
        """DEFER-09, PART-19, PART-29, SCHED-08, SESS-23: return the rules that decided a peek."""
        states = {view.state for view in views}
        rules: tuple[v.RuleId, ...] = ("LIFE-07",)
        if len(views) == command.count:
            rules += ("PART-19",)
        if v.MessageState.DEFERRED in states:
            rules += ("DEFER-09",)
        if v.MessageState.SCHEDULED in states:
            rules += ("SCHED-08",)
        if command.session_id is not None:
            rules += ("SESS-23",)
        if views and entity.base.down:
            rules += ("PART-29",)
        return rules

    def from_the_first(
        self, entity: Entity, up: Sequence[Partition], count: int
    ) -> Iterator[QueuedMessage]:
        """PART-14, PART-15: yield the messages of these partitions, each from its oldest on.

        Where the edition does not say so, a peek that cannot show all may begin with a later one.
        """
        lines = [partition.line.behind(entity.messages, 0) for partition in up]
        rule = "PART-15" if entity.settings.partitioned else "PART-14"
        if lines and not self.namespace.states(rule):
            foremost = tuple(islice(lines[0], CONSIDERED))
            starts = foremost[: max(len(foremost) - count + 1, 1)]
            start = self.namespace.choices.pick(rule, starts).number if starts else 0
            lines[0] = up[0].line.behind(entity.messages, start)
        return chain.from_iterable(lines)

    def check_peek(self, entity: Entity) -> None:
        """FWD-15, PART-22: refuse a peek where the documents do not promise it, or let it pass.

        Nothing is said of an entity that forwards, nor of libraries that the documents do not know.
        """
        forwards = entity.settings.forward_to is not None
        if forwards and self.namespace.prefers("FWD-15", "refused", to="shown"):
            raise Refusal(v.Error.INVALID_OPERATION, "FWD-15")
        unknown = self.namespace.reading(Libraries) is Libraries.BUS
        if unknown and self.namespace.prefers("PART-22", "refused", to="shown"):
            raise Refusal(v.Error.INVALID_OPERATION, "PART-22")

    def onwards(
        self, entity: Entity, up: Iterable[Partition], start: int
    ) -> Iterator[v.MessageView]:
        """PART-20, SCHED-08: yield all messages from a number on, including scheduled ones."""
        for partition in up:
            queued = map(shown, partition.line.behind(entity.messages, start))
            waiting = self.scheduled(entity, (partition,), start)
            yield from merge(queued, waiting, key=attrgetter("sequence_number"))

    def in_session(
        self, entity: Entity, up: Iterable[Partition], session_id: str, start: int
    ) -> Iterator[QueuedMessage]:
        """SESS-23, FEAT-17: yield the messages of one session, locked or not."""
        if entity.settings.requires_session:
            session = entity.sessions.get(session_id)
            if session is None or session.partition in entity.base.down:
                return iter(())
            return session.line.behind(entity.messages, start)
        everything = chain.from_iterable(part.line.behind(entity.messages, start) for part in up)
        return (queued for queued in everything if queued.message.session_id == session_id)

    def order(self, entity: Entity, up: list[Partition]) -> list[Partition]:
        """PART-14 to PART-16, PART-18, PART-21: return the partitions in the order of answering."""
        filled = [partition for partition in up if partition.messages]
        if len(entity.partitions) == 1 or not (filled or entity.scheduled):
            return up
        identical = self.namespace.reading(LikeRegular) is LikeRegular.IDENTICAL
        if filled and identical:
            oldest = min(
                filled, key=lambda part: next(part.line.behind(entity.messages, 0)).arrival
            )
            return [oldest, *(partition for partition in up if partition is not oldest)]
        holding = sum(1 for one in up if one.messages or self.has_scheduled(entity, one))
        if holding < len(entity.partitions) and not identical:
            # If an empty partition answers first, the peek may end with it (PART-21, PEEK-EMPTY).
            empty_first = self.namespace.prefers("PART-21", "empty", to="filled")
            if empty_first and self.ends_with_empty():
                return []
        if not filled:
            return up
        first = self.namespace.choices.pick("PART-16", filled)
        if self.namespace.prefers("PART-18", "one", to="all"):
            return [first]
        order, others = [first], [partition for partition in filled if partition is not first]
        while others:
            order.append(self.namespace.choices.pick("PART-16", others))
            others.remove(order[-1])
        return [*order, *(partition for partition in up if not partition.messages)]

    def has_scheduled(self, entity: Entity, partition: Partition) -> bool:
        """SCHED-08: return whether a partition has a message that is not due yet."""
        return next(partition.schedule.behind(entity.scheduled, 0), None) is not None

    def ends_with_empty(self) -> bool:
        """PEEK-EMPTY: return whether a peek ends if an empty partition answers first."""
        reading = self.namespace.reading(PeekEmpty)
        if reading is PeekEmpty.EITHER:
            answers = ("next-partition", "nothing")
            return self.namespace.choices.pick("PEEK-EMPTY", answers) == "nothing"
        return reading is PeekEmpty.NOTHING

    def scheduled(
        self, entity: Entity, up: Iterable[Partition], start: int = 0
    ) -> Iterator[v.MessageView]:
        """SCHED-08: yield the scheduled messages that are not due yet."""
        waiting = chain.from_iterable(part.schedule.behind(entity.scheduled, start) for part in up)
        state = v.MessageState.SCHEDULED
        for entry in waiting:
            yield v.MessageView.of(entry.message, sequence_number=entry.number, state=state)
