"""What a search need not ask when a message is shown where it is not; and nobody is wronged."""

import os
from random import Random
from typing import Final

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.judge import Judge
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEEDS = range(2_000) if FULL else (*range(50), 439, 596, 897, 1099, 1436, 1589, 3386)
"""The large ones were accused once: of alike messages with several keys, and of a late one."""
LENGTH = 24
PROFILE = v.profile_for(load())
SECOND = v.MICROSECONDS
BODIES = "xyz"
"""So few that messages look alike."""


def entities(random: Random) -> list[v.Command]:
    """Return a queue that others forward to, some of them through a topic."""
    sizes = {"partitioned": random.random() < 0.5}
    life = random.choice([None, None, 3 * SECOND])
    return [
        v.CreateQueue(queue="end", time_to_live=life, lock_duration=5 * SECOND, **sizes),
        v.CreateQueue(queue="middle", forward_to="end", **sizes),
        v.CreateTopic(topic="news", **sizes),
        v.CreateSubscription(topic="news", subscription="s", forward_to="middle"),
        v.CreateSubscription(topic="news", subscription="t"),
    ]


def sends(random: Random) -> v.Command:
    """Return a request that brings a message somewhere, at once or later."""
    message = v.Message(body=random.choice(BODIES), partition_key=random.choice([None, "a", "b"]))
    door = random.choice(["end", "middle", "news"])
    if random.random() < 0.2:
        return v.Schedule(queue=door, message=message, delay=random.choice([1, 4]) * SECOND)
    return v.Send(queue=door, message=message)


class Player:
    """Some connections that use the entities, with what they remember of the answers.

    Args:
        adapter: whom they use.
        random: what they do next.
        connections: their names.
    """

    def __init__(self, adapter: ModelAdapter, random: Random, connections: tuple[str, ...]) -> None:
        self.events: list[v.Event] = []
        self._adapter = adapter
        self._random = random
        self._connections = connections
        self._tokens: list[tuple[str, str]] = []
        self._number_of: dict[str, int] = {}
        self._numbers: list[tuple[type[v.CancelScheduled | v.ReceiveDeferred], str, int]] = []
        self._now = 0
        adapter.start(PROFILE)
        for command in entities(random):
            self._do(command)

    def _do(self, command: v.Command) -> None:
        connection = self._random.choice(self._connections)
        observed = self._adapter.do(command, connection)
        called = self._now
        if isinstance(command, v.AdvanceClock):
            self._now += command.duration
        outcome = observed.outcome
        returned = None if isinstance(outcome, v.Indeterminate) else self._now
        self.events.append(
            v.Event(
                client=connection,
                connection=connection,
                called=called,
                returned=returned,
                command=command,
                outcome=outcome,
                witness=observed.witness,
            )
        )
        match command, outcome:
            case v.Receive(queue=queue), v.Received(message=v.MessageView(lock_token=str(token))):
                self._tokens.append((queue, token))
                self._number_of[token] = outcome.message.sequence_number or 0
            case v.Schedule(queue=queue), v.Scheduled(sequence_number=int(number)):
                self._numbers.append((v.CancelScheduled, queue, number))
            case v.Defer(queue=queue, lock_token=token), v.Done():
                self._numbers.append((v.ReceiveDeferred, queue, self._number_of[token]))

    def play_plainly(self) -> None:
        """Send, receive and settle."""
        random = self._random
        for _ in range(LENGTH):
            drawn = random.random()
            if drawn < 0.35:
                self._do(sends(random))
            elif drawn < 0.65:
                self._do(v.Receive(queue=random.choice(["end", "end", "news/subscriptions/t"])))
            elif drawn < 0.75:
                self._do(v.Peek(queue="end", count=3))
            elif drawn < 0.85 or not self._tokens:
                self._do(v.AdvanceClock(duration=random.choice([1, 2, 6]) * SECOND))
            else:
                queue, token = self._tokens.pop(random.randrange(len(self._tokens)))
                kind = random.choice([v.Complete, v.Complete, v.Abandon])
                self._do(kind(queue=queue, lock_token=token))

    def play_with_names(self) -> None:
        """Renew locks, defer messages and cancel others, too; and look at a subscription."""
        random = self._random
        for _ in range(LENGTH):
            drawn = random.random()
            path = random.choice(["end", "end", "news/subscriptions/t"])
            if drawn < 0.35:
                self._do(sends(random))
            elif drawn < 0.6:
                self._do(v.Receive(queue=path))
            elif drawn < 0.7:
                self._do(v.Peek(queue=path, count=3))
            elif drawn < 0.78:
                self._do(v.AdvanceClock(duration=random.choice([1, 2, 6]) * SECOND))
            elif drawn < 0.92 and self._tokens:
                queue, token = random.choice(self._tokens)
                kinds = [v.Complete, v.Complete, v.Abandon, v.RenewLock, v.Defer]
                self._do(random.choice(kinds)(queue=queue, lock_token=token))
            elif self._numbers:
                kind, queue, number = random.choice(self._numbers)
                if kind is v.CancelScheduled:
                    self._do(v.CancelScheduled(queue=queue, sequence_number=number))
                else:
                    self._do(v.ReceiveDeferred(queue=queue, sequence_numbers=(number,)))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("policy", ["round-robin", "random", "hostile"])
@pytest.mark.parametrize("partitions", [True, False])
@pytest.mark.parametrize("play", [Player.play_plainly, Player.play_with_names])
def test_nobody_is_accused_whose_messages_are_on_their_way(policy, partitions, play) -> None:
    """Messages that look alike are forwarded, scheduled, unlocked and expire at any time."""
    for seed in SEEDS:
        adapter = ModelAdapter(policy, seed=seed)
        observability = attrs.evolve(adapter.declaration.observability, partitions=partitions)
        judge = Judge(PROFILE, observability)
        # What one connection does not get, no other front end has.
        player = Player(adapter, Random(seed), ("c1", "c2") if seed % 5 else ("c1",))
        play(player)
        for event in player.events:
            judge.saw(event)
        assert (judge.violation, judge.overdue) == (None, None), f"seed {seed}"


@pytest.mark.parametrize(("many", "partition"), [(4, 0), (8, 0), (16, 0), (4, 1), (8, 1), (16, 1)])
def test_a_message_that_comes_twice_or_elsewhere_is_a_violation_among_many(many, partition) -> None:
    """The choices of when the others were forwarded are 2 to the power of their number."""
    adapter = ModelAdapter()
    adapter.start(PROFILE)
    judge = Judge(PROFILE, v.Observability())
    events: list[v.Event] = []

    def do(command: v.Command) -> v.Outcome:
        observed = adapter.do(command, "c1")
        events.append(v.Event(command=command, outcome=observed.outcome, witness=observed.witness))
        return observed.outcome

    do(v.CreateQueue(queue="end"))
    do(v.CreateQueue(queue="source", forward_to="end"))
    for number in range(many):
        do(v.Send(queue="source", message=v.Message(body=f"m{number}", partition_key="a")))
    shown = do(v.Receive(queue="end"))
    assert shown.message.lock_token is not None
    assert shown.message.sequence_number is not None
    do(v.Complete(queue="end", lock_token=shown.message.lock_token))
    # The same message in the same partition again, or the next one in another partition.
    other = shown.message.sequence_number + 1 + (partition << v.SEQUENCE_BITS)
    wrong = attrs.evolve(
        shown.message, body=f"m{partition}", sequence_number=other, lock_token=f"{other}/1"
    )
    events.append(v.Event(command=v.Receive(queue="end"), outcome=v.Received(message=wrong)))
    for event in events:
        judge.saw(event)
    assert judge.violation.index == len(events) - 1


@pytest.mark.parametrize("many", [5, 40, 160])
def test_a_message_that_one_connection_does_not_get_is_a_violation(many: int) -> None:
    """No front end of another connection can have it, whatever its own has cached."""
    adapter = ModelAdapter()
    adapter.start(PROFILE)
    judge = Judge(PROFILE, adapter.declaration.observability)
    left = many - 1

    def do(command: v.Command) -> v.Outcome:
        observed = adapter.do(command, "c1")
        outcome = v.Empty() if isinstance(command, v.Receive) and not left else observed.outcome
        witness = None if outcome is not observed.outcome else observed.witness
        judge.saw(v.Event(command=command, outcome=outcome, witness=witness))
        return outcome

    do(v.CreateQueue(queue="end"))
    for number in range(many):
        do(v.Send(queue="end", message=v.Message(body=f"m{number}")))
    while left:
        shown = do(v.Receive(queue="end"))
        assert shown.message.lock_token is not None
        do(v.Complete(queue="end", lock_token=shown.message.lock_token))
        left -= 1
    assert judge.violation is None
    do(v.Receive(queue="end"))
    assert judge.violation.rules[0] == "LIFE-09"


class Judged:
    """Forty messages of which no answer shows where they are, and a judge of what follows.

    Args:
        queue: where they are received.
    """

    def __init__(self, queue: str) -> None:
        self.queue = queue
        self._adapter = ModelAdapter()
        self._adapter.start(PROFILE)
        self.judge = Judge(PROFILE, self._adapter.declaration.observability)
        lock = 5 * SECOND
        self.ask(v.CreateQueue(queue="end", lock_duration=lock))
        self.ask(v.CreateTopic(topic="news"))
        self.ask(v.CreateSubscription(topic="news", subscription="s", lock_duration=lock))
        self.door = queue.partition("/")[0]
        for number in range(40):
            self.ask(v.Send(queue=self.door, message=v.Message(body=f"m{number}")))

    def ask(
        self, command: v.Command, wrong: v.Outcome | None = None, connection: str = "c1"
    ) -> v.Outcome:
        """Send a request, and judge its answer or a wrong one in its place."""
        outcome = self._adapter.do(command, connection).outcome if wrong is None else wrong
        assert self.judge.violation is None
        self.judge.saw(v.Event(command=command, outcome=outcome, connection=connection))
        return outcome

    def receive(self) -> tuple[str, int]:
        """Receive a message; return its lock token and its number."""
        received = self.ask(v.Receive(queue=self.queue))
        message = received.message
        assert message.lock_token is not None
        assert message.sequence_number is not None
        return message.lock_token, message.sequence_number


@pytest.fixture(params=["end", "news/subscriptions/s"])
def many(request: pytest.FixtureRequest) -> Judged:
    """Return many messages in a queue or a subscription, each in one of two partitions."""
    return Judged(request.param)


LOST: Final = v.Refused(error=v.Error.LOCK_LOST)
NOT_FOUND: Final = v.Refused(error=v.Error.MESSAGE_NOT_FOUND)


def test_a_lock_that_is_lost_too_early_is_a_violation_among_many(many: Judged) -> None:
    token, _ = many.receive()
    many.ask(v.RenewLock(queue=many.queue, lock_token=token), LOST)
    assert many.judge.violation is not None


def test_a_deferred_message_that_is_not_found_is_a_violation_among_many(many: Judged) -> None:
    token, number = many.receive()
    many.ask(v.Defer(queue=many.queue, lock_token=token))
    many.ask(v.ReceiveDeferred(queue=many.queue, sequence_numbers=(number,)), NOT_FOUND)
    assert many.judge.violation is not None


def test_a_scheduled_message_that_is_not_found_is_a_violation_among_many(many: Judged) -> None:
    later = v.Message(body="later")
    scheduled = many.ask(v.Schedule(queue=many.door, message=later, delay=60 * SECOND))
    number = scheduled.sequence_number
    many.ask(v.CancelScheduled(queue=many.door, sequence_number=number), NOT_FOUND)
    assert many.judge.violation is not None


def test_what_no_cache_can_hold_any_more_is_missed_among_many(many: Judged) -> None:
    many.receive()
    many.ask(v.AdvanceClock(duration=11 * SECOND))
    many.ask(v.Receive(queue=many.queue), v.Empty(), "c2")
    assert many.judge.violation is not None


def test_a_message_that_is_peeked_twice_is_a_violation_among_many(many: Judged) -> None:
    token, number = many.receive()
    many.ask(v.Abandon(queue=many.queue, lock_token=token))
    peeked = v.MessageView(body="m0", sequence_number=number)
    again = attrs.evolve(peeked, sequence_number=number + (1 << v.SEQUENCE_BITS))
    many.ask(v.Peek(queue=many.queue, count=2), v.Peeked(messages=(peeked, again)))
    assert many.judge.violation is not None
