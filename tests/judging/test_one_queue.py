"""Many requests on one queue, some without an answer: a conforming bus is not accused.

Denser than other random histories: few keys and sessions, locks settled in and out of transactions,
few deliveries, and pauses longer than a lock.
"""

import os
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from busproof import vocabulary as v
from busproof.adapters.model import POLICIES, ModelAdapter
from busproof.history.records import Oracle
from busproof.judging.judge import observability_for
from busproof.judging.linearization.message_subhistories import impossible_subhistory
from busproof.judging.replay.explanation import Ended, explain
from busproof.judging.workload import without_times
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEEDS = 8_000 if FULL else 160
SHARDS = 4
PAUSES = tuple(seconds * v.MICROSECONDS for seconds in (0, 0, 1, 20, 40, 70, 200))
CATALOGUE = load()


class Client:
    """A client that knows one queue, and makes requests over several connections."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        readings = {
            each.id: random.choice(list(each.choices))
            for each in CATALOGUE.ambiguities
            if random.random() < 0.25
        }
        edition = random.choice(CATALOGUE.editions).id
        self.profile = v.profile_for(CATALOGUE, partitions=2, readings=readings, edition=edition)
        self.bus = ModelAdapter(policy=random.choice(POLICIES), seed=seed)
        self.bus.start(self.profile)
        self.lost = random.choice((0, 0.05, 0.1))
        self.now = self.sent = self.begun = 0
        self.events: list[v.Event] = []
        self.locks: list[tuple[str, str]] = []
        self.numbers: list[int] = []
        self.transaction: str | None = None
        self.has_sessions = random.random() < 0.4
        self.play()

    def play(self) -> None:
        """Create the queue, and make some requests."""
        choose = self.random.choice
        self.ask(
            v.CreateQueue(
                queue="q",
                partitioned=choose((True, False)),
                duplicate_detection=choose((True, False)),
                requires_session=self.has_sessions,
                max_delivery_count=choose((1, 2, 10)),
                lock_duration=choose((30, 60)) * v.MICROSECONDS,
                time_to_live=choose((None, None, 100 * v.MICROSECONDS)),
            )
        )
        makers: tuple[tuple[int, Callable[[], v.Command | None]], ...] = (
            (30, self.send),
            (30, self.receive),
            (18, self.settle),
            (4, self.peek),
            (4, self.receive_deferred),
            (8, self.use_session),
            (3, self.switch),
            (4, self.begin_or_end),
        )
        weights = [weight for weight, _ in makers]
        for make in self.random.choices([make for _, make in makers], weights, k=35):
            command = make()
            if command is not None:
                self.learn(command, self.ask(command))

    def ask(self, command: v.Command) -> v.Outcome:
        """Ask the bus after a pause; record the answer, or that there was none."""
        connection, pause = self.random.choice(("c1", "c1", "c2")), self.random.choice(PAUSES)
        self.bus.do(v.AdvanceClock(duration=pause), connection)
        self.now += pause
        observed = self.bus.do(command, connection)
        outcome = observed.outcome if self.slack else without_times(observed.outcome)
        lost = isinstance(outcome, v.Indeterminate) or self.random.random() < self.lost
        event = v.Event(
            client=f"request {len(self.events)}",
            connection=connection,
            called=self.now,
            returned=None if lost else self.now,
            command=command,
            outcome=v.Indeterminate() if lost else outcome,
            witness=None if lost else observed.witness,
        )
        self.events.append(event)
        return event.outcome

    @property
    def slack(self) -> int:
        return self.bus.declaration.slack

    def learn(self, command: Any, outcome: v.Outcome) -> None:
        """Keep the lock and the number of a received message."""
        if isinstance(outcome, v.Received):
            if outcome.message.lock_token is not None:
                self.locks.append((command.queue, outcome.message.lock_token))
            if outcome.message.sequence_number is not None:
                self.numbers.append(outcome.message.sequence_number)

    def session(self) -> str | None:
        return self.random.choice("st") if self.has_sessions else None

    def within(self, share: float) -> str | None:
        return self.transaction if self.random.random() < share else None

    def send(self) -> v.Command:
        self.sent += 1
        message = v.Message(
            body=f"m{self.sent}",
            session_id=self.session(),
            partition_key=None if self.has_sessions else self.random.choice((None, "a", "b")),
            message_id=self.random.choice((None, "i", "j")),
            time_to_live=self.random.choice((None, None, 30 * v.MICROSECONDS)),
        )
        return v.Send(queue="q", message=message, transaction=self.within(0.4))

    def receive(self) -> v.Command:
        modes = (*(v.ReceiveMode.PEEK_LOCK,) * 3, v.ReceiveMode.RECEIVE_AND_DELETE)
        dead = not self.has_sessions and self.random.random() < 0.15
        return v.Receive(
            queue=f"q{v.DEAD_LETTERS}" if dead else "q",
            mode=self.random.choice(modes),
            session_id=self.session(),
        )

    def settle(self) -> v.Command | None:
        if not self.locks:
            return None
        lock = self.random.choice(self.locks)
        kind: Any = self.random.choice(
            (v.Complete, v.Complete, v.Abandon, v.Defer, v.DeadLetter, v.RenewLock)
        )
        if kind is v.RenewLock:
            return v.RenewLock(queue=lock[0], lock_token=lock[1])
        self.locks.remove(lock)
        settlement: v.Settlement = kind(
            queue=lock[0], lock_token=lock[1], transaction=self.within(0.4)
        )
        return settlement

    def peek(self) -> v.Command:
        return v.Peek(queue="q", count=self.random.choice((1, 5)), session_id=self.session())

    def receive_deferred(self) -> v.Command | None:
        if not self.numbers:
            return None
        number = self.random.choice(self.numbers)
        return v.ReceiveDeferred(queue="q", sequence_numbers=(number,), session_id=self.session())

    def use_session(self) -> v.Command | None:
        session = self.session()
        kind: Any = self.random.choice(
            (v.AcceptSession, v.AcceptSession, v.RenewSessionLock, v.CloseSession)
        )
        command: v.Command | None = None if session is None else kind(queue="q", session_id=session)
        return command

    def switch(self) -> v.Command:
        kind = self.random.choice((v.TakePartitionDown, v.BringPartitionUp))
        return kind(queue="q", partition=self.random.randrange(2))

    def begin_or_end(self) -> v.Command:
        name, self.transaction = self.transaction, None
        if name is not None:
            kind = self.random.choice((v.CommitTransaction, v.RollBackTransaction))
            return kind(transaction=name)
        self.begun += 1
        self.transaction = f"t{self.begun}"
        return v.BeginTransaction(transaction=self.transaction)


@pytest.mark.usefixtures("impatient")
@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_bus_is_not_accused_of_what_it_does_with_one_queue(shard: int) -> None:
    """Neither by the whole history on a real clock, nor by any part of it."""
    undecided = 0
    for seed in range(shard, SEEDS, SHARDS):
        client = Client(seed)
        real = v.Observability(clock=v.Clock.REAL, slack=client.slack)
        for oracle in Oracle:
            observability = observability_for(real, oracle)
            ended = explain(client.events, client.profile, observability).ended
            assert ended is not Ended.IMPOSSIBLE, (seed, oracle)
            undecided += ended is Ended.GAVE_UP
            everywhere = range(len(client.events))
            arguments = (client.events, client.profile, observability, everywhere)
            assert impossible_subhistory(*arguments) is None, (seed, oracle)
    assert undecided <= 0.05 * 2 * SEEDS / SHARDS
