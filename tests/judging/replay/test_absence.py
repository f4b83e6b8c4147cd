"""What a search need not ask when a message is shown where it is not; and nobody is wronged."""

import os
from random import Random

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


def play(adapter: ModelAdapter, random: Random, connections: tuple[str, ...]) -> list[v.Event]:
    """Let some connections use the entities; return the events."""
    adapter.start(PROFILE)
    events: list[v.Event] = []
    tokens: list[tuple[str, str]] = []
    now = 0

    def do(command: v.Command) -> None:
        nonlocal now
        connection = random.choice(connections)
        observed = adapter.do(command, connection)
        called = now
        if isinstance(command, v.AdvanceClock):
            now += command.duration
        events.append(
            v.Event(
                client=connection,
                connection=connection,
                called=called,
                returned=None if isinstance(observed.outcome, v.Indeterminate) else now,
                command=command,
                outcome=observed.outcome,
                witness=observed.witness,
            )
        )
        if isinstance(observed.outcome, v.Received):
            token = observed.outcome.message.lock_token
            if token is not None and isinstance(command, v.Receive):
                tokens.append((command.queue, token))

    for command in entities(random):
        do(command)
    for _ in range(LENGTH):
        drawn = random.random()
        if drawn < 0.35:
            do(sends(random))
        elif drawn < 0.65:
            do(v.Receive(queue=random.choice(["end", "end", "news/subscriptions/t"])))
        elif drawn < 0.75:
            do(v.Peek(queue="end", count=3))
        elif drawn < 0.85 or not tokens:
            do(v.AdvanceClock(duration=random.choice([1, 2, 6]) * SECOND))
        else:
            queue, token = tokens.pop(random.randrange(len(tokens)))
            do(random.choice([v.Complete, v.Complete, v.Abandon])(queue=queue, lock_token=token))
    return events


@pytest.mark.parametrize("policy", ["round-robin", "random", "hostile"])
@pytest.mark.parametrize("partitions", [True, False])
def test_nobody_is_accused_whose_messages_are_on_their_way(policy: str, partitions: bool) -> None:
    """Messages that look alike are forwarded, scheduled, unlocked and expire at any time."""
    for seed in SEEDS:
        adapter = ModelAdapter(policy, seed=seed)
        observability = attrs.evolve(adapter.declaration.observability, partitions=partitions)
        judge = Judge(PROFILE, observability)
        # What one connection does not get, no other front end has.
        connections = ("c1", "c2") if seed % 5 else ("c1",)
        for event in play(adapter, Random(seed), connections):
            judge.saw(event)
        assert (judge.violation, judge.overdue) == (None, None), f"seed {seed}"


@pytest.mark.parametrize(("many", "partition"), [(4, 0), (8, 0), (16, 0), (4, 1)])
def test_a_message_that_comes_twice_or_elsewhere_is_a_violation_among_many(
    many: int, partition: int
) -> None:
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
    assert isinstance(shown, v.Received)
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
    assert judge.violation is not None
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
        assert isinstance(shown, v.Received)
        assert shown.message.lock_token is not None
        do(v.Complete(queue="end", lock_token=shown.message.lock_token))
        left -= 1
    assert judge.violation is None
    do(v.Receive(queue="end"))
    assert judge.violation is not None
    assert judge.violation.rules[0] == "LIFE-09"
