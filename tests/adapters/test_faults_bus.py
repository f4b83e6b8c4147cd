"""The bus that the faults are seeded into conforms, whatever it is asked."""

from collections.abc import Iterator
from random import Random

import attrs
import pytest

from busproof.adapters.base import Adapter
from busproof.adapters.faults import AssigningBus, SeededBus
from busproof.model.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    Peek,
    Receive,
    RollBackTransaction,
    Send,
    TakePartitionDown,
)
from busproof.model.outcomes import Event, Received
from busproof.model.profiles import profile_for
from busproof.model.state import Namespace, fresh_namespace
from busproof.model.step import accept
from busproof.model.values import MICROSECONDS, Message, Profile, ReceiveMode
from busproof.spec import load

SEQUENCES = 25
CHUNKS = 10
LENGTH = 80
QUEUES = (
    CreateQueue(queue="plain"),
    CreateQueue(queue="sessions", requires_session=True),
    CreateQueue(queue="unique", duplicate_detection=True),
    CreateQueue(queue="unique-sessions", duplicate_detection=True, requires_session=True),
    CreateQueue(queue="regular", partitioned=False),
    CreateQueue(
        queue="regular-sessions",
        partitioned=False,
        requires_session=True,
        duplicate_detection=True,
    ),
)
KEYS = (None, "a", "b", "c")
SECONDS = (1, 5, 10, 15, 30, 61, 130)


class Player:
    """Asks at random, of universes so small that keys, ids, sessions and tokens collide."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.keys = (*KEYS, "") if self.random.random() < 0.2 else KEYS
        self.tokens = ["never/given"]
        self.begun = ["never begun"]
        self.bodies = 0

    def commands(self, partitions: int) -> Iterator[Command]:
        choose, settings = self.random.choice, self.random.sample(QUEUES, 2)
        yield from (self.varied(each) for each in settings)
        for _ in range(LENGTH):
            queue = choose(settings)
            others = choose((self.disturbed, self.looked, self.in_transaction))
            kinds = (self.sent, self.sent, self.received, self.received, self.settled, others)
            yield choose(kinds)(queue, partitions)

    def varied(self, settings: CreateQueue) -> CreateQueue:
        return attrs.evolve(
            settings,
            lock_duration=self.random.choice((10, 60)) * MICROSECONDS,
            duplicate_window=self.random.choice((20, 600)) * MICROSECONDS,
            max_delivery_count=self.random.choice((1, 3, 10)),
        )

    def sent(self, queue: CreateQueue, _partitions: int) -> Command:
        choose, some = self.random.choice, self.random.random
        self.bodies += 1
        session = choose(self.keys if not queue.requires_session or some() < 0.1 else ("a", "b"))
        message = Message(
            body=f"m{self.bodies}",
            message_id=choose(("1", "2", *self.keys)),
            session_id=session,
            partition_key=choose((session, None, choose(self.keys))),
        )
        timeout = choose((10, 15, 60)) * MICROSECONDS
        transaction = choose(self.begun[-2:]) if some() < 0.3 else None
        return Send(queue=queue.queue, message=message, timeout=timeout, transaction=transaction)

    def received(self, queue: CreateQueue, _partitions: int) -> Command:
        session = self.random.choice(("a", "b")) if queue.requires_session else None
        if session is not None and self.random.random() < 0.5:
            kind = self.random.choice((AcceptSession, AcceptSession, CloseSession))
            return kind(queue=queue.queue, session_id=session)
        mode = self.random.choice(list(ReceiveMode))
        return Receive(queue=queue.queue, mode=mode, session_id=session)

    def settled(self, queue: CreateQueue, _partitions: int) -> Command:
        kind = self.random.choice((Complete, Abandon))
        return kind(queue=queue.queue, lock_token=self.random.choice(self.tokens[-2:]))

    def disturbed(self, queue: CreateQueue, partitions: int) -> Command:
        if self.random.random() < 0.4:
            return AdvanceClock(duration=self.random.choice(SECONDS) * MICROSECONDS)
        kind = self.random.choice((TakePartitionDown, BringPartitionUp, BringPartitionUp))
        return kind(queue=queue.queue, partition=self.random.randrange(partitions))

    def looked(self, queue: CreateQueue, _partitions: int) -> Command:
        return Peek(queue=queue.queue, count=self.random.randint(1, 5))

    def in_transaction(self, _queue: CreateQueue, _partitions: int) -> Command:
        if self.random.random() < 0.5:
            self.begun.append(f"t{len(self.begun) % 7}")
            return BeginTransaction(transaction=self.begun[-1])
        kind = self.random.choice((CommitTransaction, RollBackTransaction))
        return kind(transaction=self.random.choice(self.begun[-2:]))


def complaints(adapter: Adapter, profile: Profile, seed: int, *, partitions: bool) -> list[str]:
    """The events up to the first that is judged a violation; none if there is no such event."""
    player, said = Player(seed), []
    vantage = attrs.evolve(adapter.declaration.vantage, partitions=partitions)
    possible: tuple[Namespace, ...] = (fresh_namespace(profile, vantage),)
    adapter.start(profile)
    for command in player.commands(profile.partitions):
        connection = player.random.choice(("c1", "c1", "c2"))
        observed = adapter.do(command, connection)
        if isinstance(observed.outcome, Received) and observed.outcome.message.lock_token:
            player.tokens.append(observed.outcome.message.lock_token)
        event = Event(
            connection=connection,
            command=command,
            outcome=observed.outcome,
            witness=observed.witness,
        )
        said.append(f"{connection} {command} {observed}")
        judged = accept(possible, event)
        if not judged.possible:
            return [*said, f"breaks {judged.rules}, allowed was {judged.allowed}"]
        possible = judged.possible
    adapter.stop()
    return []


@pytest.mark.parametrize("partitions", [True, False], ids=["strict", "blind"])
@pytest.mark.parametrize("bus", [SeededBus, AssigningBus])
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_bus_without_a_fault_is_never_accused(
    bus: type[SeededBus], chunk: int, partitions: bool
) -> None:
    """Random requests with outages, transactions, sessions, copies, two receivers, expiry."""
    for seed in range(chunk * SEQUENCES, (chunk + 1) * SEQUENCES):
        profile = profile_for(load(), partitions=2 + seed % 3)
        assert [] == complaints(bus(), profile, seed, partitions=partitions), f"seed {seed}"
