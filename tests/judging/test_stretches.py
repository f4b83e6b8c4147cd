"""One long history, judged in stretches of time: an execution of them is one of the whole."""

import heapq
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

import attrs
import pytest
from corrupting import CORRUPTIONS, History

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.linearization import overlap
from busproof.judging.linearization.overlap import judged
from busproof.judging.stretches import Executions, cuts, judged_in_stretches
from busproof.judging.workload import without_times, work
from busproof.spec import load

PROFILE: Final = v.profile_for(load())
SEEN: Final = v.Observability(clock=v.Clock.REAL)
LEAST: Final = 25
REQUESTS: Final = 260
LASTS: Final = 20_000
CLIENTS: Final = 4
BURST: Final = 6
ELSEWHERE: Final = 1 << v.SEQUENCE_BITS


def bursts(seed: int, policy: str, *, partitioned: bool) -> list[v.Event]:
    """Overlapping requests to one queue, which is empty after every few messages."""
    random = Random(seed)
    adapter = ModelAdapter(policy=policy, seed=seed)
    adapter.start(PROFILE)
    create = v.CreateQueue(queue="keyed", partitioned=partitioned)
    adapter.do(create, "c0")
    events = [v.Event(command=create, outcome=v.Done(), returned=0)]
    tokens: list[list[str]] = [[] for _ in range(CLIENTS)]
    coming = [(random.randrange(2, LASTS), client, 1) for client in range(CLIENTS)]
    heapq.heapify(coming)
    now = 0
    sent = 0
    gone = 0
    while len(events) <= REQUESTS:
        moment, client, called = heapq.heappop(coming)
        adapter.do(v.AdvanceClock(duration=moment - now), "c0")
        now = moment
        command: v.Command
        if tokens[client]:
            settle = v.Abandon if random.random() < 0.2 else v.Complete
            command = settle(queue="keyed", lock_token=tokens[client].pop())
            gone += settle is v.Complete
        elif random.random() < 0.6 and (sent % BURST or gone == sent):
            sent += 1
            key = random.choice((None, "a", "b"))
            command = v.Send(queue="keyed", message=v.Message(body=f"m{sent}", partition_key=key))
        else:
            command = v.Receive(queue="keyed")
        observed = adapter.do(command, f"c{client}")
        outcome = observed.outcome
        if isinstance(outcome, v.Received) and outcome.message.lock_token is not None:
            tokens[client].append(outcome.message.lock_token)
        returned = moment + random.randrange(1, LASTS)
        again = returned + random.randrange(1, 10)
        heapq.heappush(coming, (again + random.randrange(1, LASTS), client, again))
        events.append(
            v.Event(
                client=f"w{client}",
                connection=f"c{client}",
                called=called,
                returned=returned,
                command=command,
                outcome=without_times(outcome),
                witness=observed.witness,
            )
        )
    return sorted(events, key=lambda event: event.called)


def in_stretches(events: Sequence[v.Event]) -> Executions | None:
    return judged_in_stretches(events, PROFILE, SEEN, cores=1, least=LEAST)


def as_executed(events: Sequence[v.Event], order: Sequence[int]) -> list[v.Event]:
    """The events one after another, each at a moment between its call and its return."""
    executed = []
    earliest = 0
    moment = 0
    for index in order:
        event = events[index]
        earliest = max(earliest, event.called)
        assert event.returned is None or earliest <= event.returned
        moment = max(moment + 1, earliest)
        executed.append(attrs.evolve(event, called=moment, returned=moment))
    return executed


@pytest.mark.slow
@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("policy", ["round-robin", "random", "hostile"])
def test_executions_of_stretches_are_one_of_the_whole(policy: str, *, partitioned: bool) -> None:
    """It is judged once more, in the order in which it was put together.

    Where that is too much at once, a stretch may be easier.
    """
    found = 0
    explained = 0
    for seed in range(3):
        events = bursts(seed, policy, partitioned=partitioned)
        together = in_stretches(events)
        if together is None:
            continue
        found += 1
        assert sorted(together.order) == [*range(len(events))]
        assert len(together.decided) == len(events)
        again = judged(as_executed(events, together.order), PROFILE, SEEN)
        assert again.violation is None
        explained += not again.exhausted
    assert explained >= found - 1 > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_nothing_wrong_is_explained_by_its_stretches(kind: str) -> None:
    """Whatever the whole accuses, its stretches do not explain."""
    _, changes = CORRUPTIONS[kind]
    events = bursts(1, "round-robin", partitioned=True)
    for changed, _ in [*changes(History(events))][::7][:4]:
        accused = judged(changed, PROFILE, SEEN).violation is not None
        assert not accused or in_stretches(changed) is None


def one_by_one(
    numbers: Sequence[int], key: str | None, token: Callable[[int], str] = str
) -> list[v.Event]:
    """Each message is sent, received and completed before the next; the number names its place."""
    create = v.CreateQueue(queue="keyed")
    events = [v.Event(command=create, outcome=v.Done(), returned=0)]
    for at, number in enumerate(numbers):
        message = v.Message(body=f"m{at}", partition_key=key)
        view = v.MessageView(
            body=message.body,
            partition_key=key,
            sequence_number=number,
            delivery_count=1,
            lock_token=token(at),
        )
        for command, outcome in (
            (v.Send(queue="keyed", message=message), v.Done()),
            (v.Receive(queue="keyed"), v.Received(message=view)),
            (v.Complete(queue="keyed", lock_token=token(at)), v.Done()),
        ):
            moment = 10 * len(events)
            witness = v.Witness(partition=number >> v.SEQUENCE_BITS)
            event = v.Event(called=moment, returned=moment + 5, command=command, outcome=outcome)
            is_send = isinstance(command, v.Send)
            events.append(attrs.evolve(event, witness=witness) if is_send else event)
    return events


@pytest.mark.parametrize(
    ("numbers", "key", "rule"),
    [
        ([*range(1, 31), *range(1 + ELSEWHERE, 31 + ELSEWHERE)], "a", "KEY-02"),
        ([*range(101, 131), *range(1, 31)], "a", "SEQ-01"),
        (range(1, 500), None, "KEY-14"),
    ],
)
def test_what_lasts_is_compared_between_stretches(numbers, key, rule) -> None:
    """A key that moves, numbers that fall, and partitions that nobody uses."""
    events = one_by_one(numbers, key)
    assert 2 < len(cuts(events, LEAST))
    assert in_stretches(events) is None
    whole = judged(events, PROFILE, SEEN)
    assert rule in whole.violation.rules
    assert in_stretches(one_by_one(range(1, 61), "a")) is not None


def test_a_lock_that_comes_again_keeps_what_is_between_together() -> None:
    events = one_by_one(range(1, 61), "a", lambda at: str(at % 50))
    assert [181] == [len(span.indices) for span in cuts(events, LEAST)]


@pytest.mark.parametrize("clients", [1, 2])
def test_a_history_of_other_requests_is_not_cut(clients: int) -> None:
    """Sessions, copies, transactions and descriptions depend on what was before."""
    adapter = ModelAdapter()
    events = work(adapter, PROFILE, Random(1), 200, clients)
    assert [] == cuts(list(events), LEAST)


def test_on_several_cores_the_verdict_is_the_same(monkeypatch) -> None:
    """And an unlucky cut only costs time."""
    events = bursts(1, "round-robin", partitioned=True)
    monkeypatch.setattr(overlap, "LEAST", LEAST)
    one = judged(events, PROFILE, SEEN)
    two = judged(events, PROFILE, SEEN, cores=2)
    assert one.violation is two.violation is None
    assert one.evidence.keys() == two.evidence.keys()
