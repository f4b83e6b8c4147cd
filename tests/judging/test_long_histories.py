"""Long histories are judged in memory that does not grow with their length."""

from collections.abc import Iterator, Sequence
from random import Random

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging import judge
from busproof.judging.floor import Numbers
from busproof.judging.linearization import overlap
from busproof.judging.linearization.long_subhistories import impossible_subhistory_at
from busproof.judging.replay import long_histories
from busproof.judging.replay.search import Ended, Search
from busproof.judging.replay.window import Window
from busproof.judging.workload import Habits, without_times, work
from busproof.spec import load

PROFILE = v.profile_for(load(), partitions=2)
REAL = v.Observability(clock=v.Clock.REAL)
KINDS = (
    Habits(),
    Habits(regular=True),
    Habits(mortal=0.5),
    Habits(enlisting=0.4),
    Habits(batching=0.4),
    Habits(managing=0.05),
)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a history be long that has more than a few events."""
    monkeypatch.setattr(overlap, "LONG", 40)
    monkeypatch.setattr(overlap, "LONGEST", 0)
    monkeypatch.setattr(long_histories, "KEEPS", 30)
    monkeypatch.setattr(long_histories, "PIECE", 20)


def passed_on(
    count: int, *, partitioned: bool = True, duplicate_detection: bool = False
) -> Iterator[v.Event]:
    """Yield the events of messages that are sent, received and completed one after another."""
    adapter = ModelAdapter()
    adapter.start(PROFILE)
    now = 0

    def ask(command: v.Command) -> v.Event:
        nonlocal now
        adapter.do(v.AdvanceClock(duration=10), "c1")
        now += 10
        observed = adapter.do(command, "c1")
        return v.Event(
            called=now,
            returned=now + 5,
            command=command,
            outcome=observed.outcome,
            witness=observed.witness,
        )

    create = v.CreateQueue(
        queue="q", partitioned=partitioned, duplicate_detection=duplicate_detection
    )
    yield ask(create)
    for number in range(count):
        message = v.Message(
            body=f"m{number}", message_id=f"i{number}", partition_key=f"k{number % 5}"
        )
        if duplicate_detection:
            message = attrs.evolve(message, partition_key=None)
        yield ask(v.Send(queue="q", message=message))
        received = ask(v.Receive(queue="q"))
        yield received
        yield ask(v.Complete(queue="q", lock_token=received.outcome.message.lock_token or ""))


def after(events: Sequence[v.Event], command: v.Command, outcome: v.Outcome) -> v.Event:
    """Return an event that comes after all others."""
    called = events[-1].called + 10
    return v.Event(called=called, returned=called + 5, command=command, outcome=outcome)


@pytest.mark.parametrize("clients", [1, 4])
@pytest.mark.parametrize("habits", KINDS)
@pytest.mark.parametrize("policy", ["round-robin", "random"])
@pytest.mark.usefixtures("small_pieces")
def test_conforming_history_is_never_accused_however_little_is_kept(clients, habits, policy):
    """What is forgotten may leave a history without a verdict, but accuses nobody."""
    events = work(ModelAdapter(policy, 1), PROFILE, Random(clients), 200, clients, habits=habits)

    result = overlap.judged(events, PROFILE, REAL)

    assert result.violation is None


@pytest.mark.parametrize("detects", [False, True])
@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.usefixtures("small_pieces")
def test_long_history_has_the_same_evidence_as_when_searched_at_once(*, detects, partitioned):
    """Each event shows the same rules, and the order is that of the recording."""
    events = list(passed_on(60, duplicate_detection=detects, partitioned=partitioned))
    at_once = Search(events, PROFILE, REAL)
    assert at_once.run() is Ended.EXPLAINED

    result = overlap.judged(events, PROFILE, REAL)

    assert not result.exhausted
    assert result.violation is None
    assert list(result.order) == list(range(len(events)))
    assert list(result.decided) == list(at_once.trail.decided)
    assert result.evidence == at_once.trail.decided.evidence()


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.usefixtures("small_pieces")
def test_message_delivered_again_long_after_it_was_settled_is_a_violation(*, partitioned) -> None:
    """The first delivery is behind what can be undone."""
    events = list(passed_on(60, partitioned=partitioned))
    first = next(event for event in events if isinstance(event.outcome, v.Received))
    again = attrs.evolve(first.outcome.message, lock_token="another")
    events.append(after(events, v.Receive(queue="q"), v.Received(message=again)))

    result = overlap.judged(events, PROFILE, REAL)

    assert result.violation is not None
    assert result.order[-1] == len(events) - 1


@pytest.mark.usefixtures("small_pieces")
def test_number_of_a_message_that_is_gone_is_given_to_no_other() -> None:
    """SEQ-03: the number is remembered, the message is not."""
    events = list(passed_on(60, partitioned=False))
    first = next(event for event in events if isinstance(event.outcome, v.Received))
    assert isinstance(first.outcome, v.Received)
    message = v.Message(body="new")
    events.append(after(events, v.Send(queue="q", message=message), v.Done()))
    view = attrs.evolve(first.outcome.message, body="new", message_id=None, partition_key=None)
    events.append(after(events, v.Receive(queue="q"), v.Received(message=view)))

    result = overlap.judged(events, PROFILE, REAL)

    assert result.violation is not None or result.exhausted


@pytest.mark.usefixtures("small_pieces")
def test_history_that_cannot_be_gone_on_with_has_no_verdict_and_says_why() -> None:
    """An empty answer beside messages is no subhistory of a message."""
    events = list(passed_on(60, partitioned=False))
    message = v.Message(body="there")
    events.append(after(events, v.Send(queue="q", message=message), v.Done()))
    events.append(after(events, v.Receive(queue="q"), v.Empty()))

    result = overlap.judged(events, PROFILE, REAL)

    assert result.violation is None
    assert "cannot go back so far" in result.exhausted


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("policy", ["round-robin", "random"])
@pytest.mark.parametrize("habits", KINDS)
def test_conforming_history_is_never_accused_event_by_event(habits, policy, monkeypatch) -> None:
    """On a virtual clock an event is judged before the next one is known."""
    monkeypatch.setattr(judge, "KEEPS", 5)
    monkeypatch.setattr(judge, "LONGEST", 0)
    events = work(ModelAdapter(policy, 1), PROFILE, Random(2), 200, 1, habits=habits)

    result = overlap.judged(events, PROFILE, v.Observability())

    assert result.violation is None


def test_message_delivered_again_is_a_violation_event_by_event(monkeypatch) -> None:
    """Its first delivery was so long ago that no other execution is looked for."""
    monkeypatch.setattr(judge, "KEEPS", 20)
    monkeypatch.setattr(judge, "LONGEST", 40)
    monkeypatch.setattr(overlap, "LONGEST_AGAIN", 40)
    events = [
        attrs.evolve(event, called=0, returned=0, outcome=without_times(event.outcome))
        for event in passed_on(60)
    ]
    first = next(event for event in events if isinstance(event.outcome, v.Received))
    again = attrs.evolve(first.outcome.message, lock_token="another")
    events.append(v.Event(command=v.Receive(queue="q"), outcome=v.Received(message=again)))

    result = overlap.judged(events, PROFILE, v.Observability())

    assert result.violation.index == len(events) - 1
    assert len(result.decided) == len(events) - 1


@pytest.mark.parametrize("detects", [False, True])
def test_what_is_kept_of_a_history_does_not_grow_with_it(*, detects: bool) -> None:
    """Steps, changes and facts about messages are forgotten."""

    def kept(count: int) -> tuple[int, ...]:
        search = Search((), PROFILE, REAL, keeps=20)
        for event in passed_on(count, duplicate_detection=detects):
            search.add(event)
            assert search.run() is Ended.EXPLAINED
        return len(search.kept), len(search.namespace.journal.log), search.bindings.size

    steps, changes, facts = kept(400)

    assert steps <= 41
    assert changes <= 2 * kept(40)[1]
    # Duplicate detection remembers each MessageId, as long as its window lasts.
    assert facts <= (2000 if detects else 2 * kept(40)[2])


@given(st.lists(st.integers(min_value=0, max_value=60)))
def test_numbers_are_a_set(numbers: list[int]) -> None:
    """Ranges say no more and no less than the numbers that were added."""
    found = Numbers()
    for number in numbers:
        found.add(number)

    assert {number for number in range(-1, 62) if number in found} == set(numbers)


def test_numbers_beyond_64_bits_are_left_out() -> None:
    """A hostile bus may send any number."""
    found = Numbers()
    found.add(1 << 64)
    found.add(-1)

    assert 1 << 64 not in found
    assert -1 not in found


def test_window_keeps_the_indices_of_its_items() -> None:
    """What is forgotten cannot be asked for."""
    window = Window("abcd")
    window.forget(2)
    window.append("e")

    assert (len(window), window[2], list(window.numbered())) == (
        5,
        "c",
        [(2, "c"), (3, "d"), (4, "e")],
    )
    with pytest.raises(IndexError, match="item 1 is forgotten"):
        window[1]


def test_subhistory_with_a_transaction_proves_nothing() -> None:
    """What a commit does depends on all of its requests."""
    events = list(passed_on(3, partitioned=False))
    sent = v.Send(queue="q", message=v.Message(body="m0"), transaction="t")
    events.append(after(events, v.BeginTransaction(transaction="t"), v.Done()))
    events.append(after(events, sent, v.Done()))

    assert impossible_subhistory_at(events, PROFILE, REAL, events[-1:]) is None
