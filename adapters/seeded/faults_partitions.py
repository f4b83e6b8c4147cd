"""Faults of partitions, their outages and front ends: the PART rules but those of peeks."""

from collections.abc import Callable, Sequence
from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Key, Queue
from busproof.vocabulary.commands import BringPartitionUp, Receive, TakePartitionDown
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, Refused
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty(
    "regular-sends-go-round",
    "PART-01",
    "A queue that is not partitioned takes messages without key while its store is down.",
)
class _RegularSendsGoRound(SeededBus):
    def place_without_key(self, queue: Queue, timeout: int) -> int | Error:
        return super().place_without_key(queue, timeout) if queue.settings.partitioned else 0


@faulty(
    "regular-is-read-in-its-outage",
    "PART-01",
    "What is in a store that is down is received, if it is that of a queue without partitions.",
    deep=True,
)
class _RegularIsReadInItsOutage(SeededBus):
    def is_reachable(self, queue: Queue, held: Held, connection: str) -> bool:
        return not queue.settings.partitioned or super().is_reachable(queue, held, connection)


@faulty(
    "outage-stops-every-key",
    "PART-02",
    "While any partition is down, every message with a key is refused.",
)
class _OutageStopsEveryKey(SeededBus):
    def place_with_key(self, queue: Queue, key: Key) -> int | Error:
        return Error.UNAVAILABLE if queue.down else super().place_with_key(queue, key)


@faulty(
    "outage-stops-the-next-partition",
    "PART-02",
    "A partition that is down takes the one after it along, once four of them were down before.",
    deep=True,
)
class _OutageStopsTheNextPartition(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.outages = 0

    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        self.outages += isinstance(command, TakePartitionDown)
        return super().switch(queue, command)

    def place_with_key(self, queue: Queue, key: Key) -> int | Error:
        before = (self.partition_of(queue, key) - 1) % queue.partitions
        if self.outages > 4 and before in queue.down:
            return Error.UNAVAILABLE
        return super().place_with_key(queue, key)


def _all_down(queue: Queue) -> bool:
    return queue.settings.partitioned is True and len(queue.down) == queue.partitions


@faulty(
    "taken-with-all-down",
    "PART-03",
    "With every partition down, a message without key is accepted into the first one.",
)
class _TakenWithAllDown(SeededBus):
    def place_without_key(self, queue: Queue, timeout: int) -> int | Error:
        return 0 if _all_down(queue) else super().place_without_key(queue, timeout)


@faulty(
    "refused-with-all-down-and-kept",
    "PART-03",
    "What is refused while every partition is down is received once one is up again.",
    deep=True,
)
class _RefusedWithAllDownAndKept(SeededBus):
    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        if _all_down(queue):
            self.append(queue, message, 0)
        return super().place(queue, message, timeout)


@faulty("outage-empties-its-partition", "PART-04", "A partition comes back without messages.")
class _OutageEmptiesItsPartition(SeededBus):
    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        if isinstance(command, BringPartitionUp) and command.partition in queue.down:
            lost = [held for held in queue.messages if held.partition == command.partition]
            queue.messages = [held for held in queue.messages if held not in lost]
        return super().switch(queue, command)


@faulty(
    "locked-is-lost-in-an-outage",
    "PART-04",
    "A message that is locked when its partition goes down is gone once its lock ends.",
    deep=True,
)
class _LockedIsLostInAnOutage(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.lost: list[Held] = []

    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        if isinstance(command, TakePartitionDown):
            there = (each for each in queue.messages if each.partition == command.partition)
            self.lost += [held for held in there if held.lock is not None]
        return super().switch(queue, command)

    def give_back(self, queue: Queue, held: Held) -> None:
        super().give_back(queue, held)
        if held in self.lost and held in queue.messages:
            queue.messages.remove(held)


@faulty(
    "outage-doubles-messages",
    "PART-04",
    "What a partition held before its second outage is received twice afterwards.",
    deep=True,
)
class _OutageDoublesMessages(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.outages: dict[tuple[str, int], int] = {}

    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        which = (queue.name, command.partition)
        if isinstance(command, BringPartitionUp) and command.partition in queue.down:
            self.outages[which] = self.outages.get(which, 0) + 1
            there = [each for each in queue.messages if each.partition == command.partition]
            for held in there if self.outages[which] == 2 else ():
                self.append(queue, held.message, held.partition)
        return super().switch(queue, command)


@faulty("outage-hits-every-entity", "PART-05", "An outage is one of every queue and topic.")
class _OutageHitsEveryEntity(SeededBus):
    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        for other in self.queues.values():
            if other is not queue and command.partition < other.partitions:
                super().switch(other, command)
        return super().switch(queue, command)


@faulty(
    "outage-hits-the-latest-entity",
    "PART-05",
    "While all partitions of one queue are down, nothing is received from the one created last.",
    deep=True,
)
class _OutageHitsTheLatestEntity(SeededBus):
    def is_reachable(self, queue: Queue, held: Held, connection: str) -> bool:
        latest = list(self.queues.values())[-1]
        hit = queue is latest and any(_all_down(each) for each in self.queues.values())
        return not hit and super().is_reachable(queue, held, connection)


class _Caching(SeededBus):
    """Keeps, for each connection, which messages its front end was given by the partitions."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.cached: dict[tuple[str, str], set[int]] = {}

    def receive(self, queue: Queue, command: Receive, connection: str) -> Outcome:
        plain = queue.settings.partitioned and not queue.settings.requires_session
        if plain and (queue.name, connection) not in self.cached:
            there = self.offered(queue, None, connection)
            heads = {held.partition: held.number for held in reversed(there)}
            self.cached[queue.name, connection] = set(heads.values())
        return super().receive(queue, command, connection)

    def is_in_cache(self, queue: Queue, held: Held, connection: str) -> bool:
        """Whether the first receive over this connection has put it into the cache."""
        return held.number in self.cached.get((queue.name, connection), ())


@faulty(
    "cached-is-never-given",
    "PART-09",
    "Of what the partitions answer to a first receive, only one message is ever handed out.",
)
class _CachedIsNeverGiven(_Caching):
    def offered(self, queue: Queue, session_id: str | None, connection: str) -> Sequence[Held]:
        there = super().offered(queue, session_id, connection)
        kept = [held for held in there if self.is_in_cache(queue, held, connection)]
        first_receive = not queue.given
        return there if first_receive else [held for held in there if held not in kept]


@faulty(
    "cache-is-given-twice",
    "PART-09",
    "What has been in a front end's cache is handed out once more after it was completed.",
    deep=True,
)
class _CacheIsGivenTwice(_Caching):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.again: set[tuple[str, int]] = set()

    def complete(self, queue: Queue, held: Held) -> None:
        caches = (sorted(each) for (name, _), each in self.cached.items() if name == queue.name)
        second = any(held.number in numbers[1:] for numbers in caches)
        second = second and (queue.name, held.number) not in self.again
        if second:
            self.again.add((queue.name, held.number))
            self.give_back(queue, held)
        else:
            super().complete(queue, held)


@faulty(
    "two-front-ends-lock-one-message",
    "PART-10",
    "A message that one connection has locked is given to every other.",
)
class _TwoFrontEndsLockOneMessage(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.holders: dict[tuple[str, int], str] = {}

    def receive(self, queue: Queue, command: Receive, connection: str) -> Outcome:
        if not queue.settings.partitioned or queue.settings.requires_session:
            return super().receive(queue, command, connection)
        for held in queue.messages:
            holder = self.holders.get((queue.name, held.number), connection)
            if held.lock is not None and holder != connection:
                held.lock = None
        before = {held.number: held.lock for held in queue.messages}
        outcome = super().receive(queue, command, connection)
        for held in queue.messages:
            if held.lock is not before.get(held.number):
                self.holders[queue.name, held.number] = connection
        return outcome


@faulty(
    "settles-by-place",
    "PART-12",
    "A settlement finds its message by its place within the partition: the first one that fits.",
)
class _SettlesByPlace(SeededBus):
    def locked(self, queue: Queue, token: str) -> Held | None:
        found = super().locked(queue, token)
        if found is None or not queue.settings.partitioned:
            return found
        held = [each for each in queue.messages if each.lock is not None]
        return held[0]


@faulty(
    "settles-in-the-first-partition",
    "PART-12",
    "From its hundredth settlement on, a queue knows the locks of its first partition only.",
    deep=True,
)
class _SettlesInTheFirstPartition(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.settled: dict[str, int] = {}

    def settle(self, queue: Queue, token: str, action: Callable[[Queue, Held], None]) -> Outcome:
        number = self.settled[queue.name] = self.settled.get(queue.name, 0) + 1
        held = self.locked(queue, token)
        if number >= 100 and held is not None and held.partition:
            return Refused(error=Error.LOCK_LOST)
        return super().settle(queue, token, action)


FAULTS: Final = faulty.all()
