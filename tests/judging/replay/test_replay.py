"""How a replay looks for an execution of the model; whether it finds one, `cases/` has.

Those of `cases/replays.jsonl` and its neighbours are small; these are large, or of parts of it.
"""

from collections.abc import Iterable
from typing import Final

import pytest

from busproof import vocabulary as v
from busproof.judging.judge import Judge
from busproof.judging.replay.choices_made import Choice, Subsets, next_script
from busproof.judging.replay.explanation import explain, explain_to_go_on, hasty_budget
from busproof.judging.replay.relevance import Relevance
from busproof.judging.replay.search import Ended, Search
from busproof.judging.replay.timers import LooseTimers
from busproof.model import RoundRobin, new_namespace, step
from busproof.spec import load

PROFILE: Final = v.profile_for(load())
TWO_PARTITIONS: Final = v.profile_for(load(), partitions=2)
STRICT: Final = v.Observability()
CLIENT: Final = v.Observability(partitions=False)
DONE: Final = v.Done()
EMPTY: Final = v.Empty()
QUEUE: Final = v.CreateQueue(queue="q", partitioned=True)
TAKE: Final = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def event(command: v.Command, outcome: v.Outcome = DONE, connection: str = "c1") -> v.Event:
    returned = None if isinstance(outcome, v.Indeterminate) else 0
    return v.Event(
        client=connection,
        connection=connection,
        returned=returned,
        command=command,
        outcome=outcome,
    )


def send(body: str, key: str | None = None, queue: str = "q") -> v.Send:
    return v.Send(queue=queue, message=v.Message(body=body, partition_key=key))


def given(body: str, number: int | None = None, key: str | None = None) -> v.Received:
    view = v.MessageView(body=body, sequence_number=number, partition_key=key)
    return v.Received(message=view)


SENT_AND_GIVEN: Final = [
    event(QUEUE),
    event(send("m")),
    event(v.Receive(queue="q"), given("m", (1 << v.SEQUENCE_BITS) + 1)),
]


def is_direct(events: list[v.Event], seen: v.Observability) -> bool:
    """Return whether events are explained without going back."""
    found = explain(events, PROFILE, seen)
    return found.is_found and found.steps == len(events)


def test_any_of_very_many_messages_without_a_key_may_be_given() -> None:
    sent = [event(send(f"m{count}")) for count in range(200)]
    assert is_direct([event(QUEUE), *sent, event(v.Receive(queue="q"), given("m150"))], CLIENT)


def test_keys_that_a_client_tries_in_an_outage_show_where_they_are() -> None:
    """Without a search through all partitions of all keys."""
    sends = [send(f"m{count}", key=f"k{count}") for count in range(20)]
    down = v.Refused(error=v.Error.UNAVAILABLE)
    events = [
        event(QUEUE),
        *(event(each) for each in sends),
        event(v.TakePartitionDown(queue="q", partition=7)),
        *(event(each, down if count % 5 == 2 else DONE) for count, each in enumerate(sends)),
    ]
    assert is_direct(events, CLIENT)


@pytest.mark.parametrize("keys", [0, 8])
def test_no_place_of_a_forwarded_message_is_guessed(keys: int) -> None:
    """It is decided when an answer first shows it, also where each is judged as it comes."""

    def key_of(place: int) -> str | None:
        return f"k{place % keys}" if keys else None

    events = [event(QUEUE), event(v.CreateQueue(queue="source", forward_to="q"))]
    events += [event(send(f"m{place}", key_of(place), "source")) for place in range(40)]
    for place in range(40):
        partition = (place % keys if keys else place) * 7 % PROFILE.partitions
        number = (partition << v.SEQUENCE_BITS) + 100 + place
        events.append(event(TAKE, given(f"m{place}", number, key_of(place))))
    search = Search((), PROFILE, STRICT)
    assert [Ended.EXPLAINED] * len(events) == list(judged_one_by_one(search, events))
    assert search.steps == len(events)


def judged_one_by_one(search: Search, events: Iterable[v.Event]) -> Iterable[Ended]:
    for each in events:
        search.add(each)
        yield search.run()


def test_queues_whose_creation_is_not_answered_take_room() -> None:
    """QUOTA-04: without a search through which of them were created."""
    full = v.Refused(error=v.Error.QUOTA_EXCEEDED)
    events = [event(QUEUE)]
    for count in range(100):
        create = v.CreateQueue(queue=f"q{count}", partitioned=True)
        lost = count % 30 == 7
        events.append(event(create, v.Indeterminate() if lost else full if count == 99 else DONE))
    steps = hasty_budget(len(events))
    explanation = explain_to_go_on(events, TWO_PARTITIONS, STRICT, steps)[0]
    assert explanation.ended is Ended.EXPLAINED
    assert explanation.steps <= len(events) + 4


@pytest.mark.parametrize(("tier", "most"), [(v.Tier.STANDARD, 4_500), (v.Tier.PREMIUM, 15_900)])
def test_a_batch_of_very_many_messages_may_be_refused_with_any_error(tier, most) -> None:
    """LIMIT-23."""
    profile = v.profile_for(load(), tier=tier)
    create = event(v.CreateQueue(queue="q", partitioned=False))
    messages = tuple(v.Message(body="") for _ in range(most + 1))
    many, few = (v.SendBatch(queue="q", messages=some) for some in (messages, messages[:10]))
    refused = v.Refused(error=v.Error.OTHER)
    assert explain([create, event(many, refused)], profile, STRICT).is_found
    assert explain([create, event(many)], profile, STRICT).is_found
    assert not explain([create, event(few, refused)], profile, STRICT).is_found


def test_the_budget_is_a_number_of_steps() -> None:
    search = Search(SENT_AND_GIVEN, TWO_PARTITIONS, STRICT)
    assert search.run(2) is Ended.GAVE_UP
    assert search.run() is Ended.EXPLAINED
    assert search.steps == 3


def test_an_execution_lists_every_event_with_what_the_bus_chose() -> None:
    keyed = event(v.Receive(queue="q"), given("m", (1 << v.SEQUENCE_BITS) + 1, "k"))
    events = [event(QUEUE), event(send("m", "k")), keyed]
    explanation = explain(events, TWO_PARTITIONS, STRICT)
    assert [step.index for step in explanation.execution] == [0, 1, 2]
    chosen = {
        choice.name: choice.value for step in explanation.execution for choice in step.choices
    }
    assert chosen["KEY-02"] == 1


def test_what_fits_nowhere_is_named() -> None:
    *first, last = SENT_AND_GIVEN
    events = [*first, event(v.Receive(queue="q"), given("n")), last]
    assert explain(events, TWO_PARTITIONS, STRICT).stuck_at == 2


def test_an_execution_is_continued_event_by_event() -> None:
    """The first answer to c2 says that m2 is in a cache, and so the second one is wrong."""
    receive = v.Receive(queue="q")
    events = [
        event(QUEUE),
        event(send("m1", "k")),
        event(send("m2", "k")),
        event(receive, given("m1", key="k")),
        event(receive, EMPTY, "c2"),
        event(receive, given("m2", key="k"), "c2"),
    ]
    ends = list(judged_one_by_one(Search((), TWO_PARTITIONS, STRICT), events))
    assert ends == [Ended.EXPLAINED] * 5 + [Ended.IMPOSSIBLE]


def test_a_script_takes_the_next_candidate_of_the_last_choice_that_matters() -> None:
    made = [
        Choice("a", place=0, count=3, first=0, tag="x"),
        Choice("b", place=1, count=2, first=0, tag="x"),
        Choice("c", place=0, count=2, first=0, tag="y"),
    ]
    assert next_script(made) == [(0, 0), (1, 0), (1, 0)]
    assert next_script(made, lambda tag: tag == "x") == [(1, 0)]
    assert next_script(made[1:2]) is None


@pytest.mark.parametrize("other", [Relevance(), Relevance(frozenset({("b",)}), None)])
def test_relevance_is_what_either_depends_on(other: Relevance) -> None:
    one = Relevance(frozenset({("a",)}), frozenset({("q", 1)}))
    both = one | other
    assert both.parts == one.parts | other.parts
    assert both.caches == (None if other.caches is None else one.caches)


def steps_behind(count: int) -> int:
    """How many steps it takes to judge so many receives, all before a message that was due."""
    judge = Judge(v.profile_for(load(), partitions=3), v.Observability(slack=v.MICROSECONDS))

    def see(command: v.Command, outcome: v.Outcome) -> None:
        assert judge.saw(v.Event(command=command, outcome=outcome, returned=0)) is None

    see(v.CreateQueue(queue="q", partitioned=True), v.Done())
    due = v.Message(body="due", session_id="a")
    see(v.Schedule(queue="q", message=due, delay=0), v.Scheduled(sequence_number=1))
    for number in range(count):
        sent = v.Message(body=f"m{number}", session_id="a")
        see(v.Send(queue="q", message=sent), v.Done())
    for number in range(count):
        view = v.MessageView(body=f"m{number}", session_id="a", lock_token=f"l{number}")
        see(v.Receive(queue="q"), v.Received(message=view))
    assert not judge.exhausted
    return judge.steps


def test_message_that_others_overtake_is_not_moved_behind_one_at_a_time() -> None:
    """Messages of a key come in order, so one that is due came behind all that are given first."""
    few, more, many = (steps_behind(count) for count in (10, 20, 40))
    assert more <= 3 * few
    assert many <= 3 * more


def test_timers_of_undone_steps_do_not_pile_up() -> None:
    """Those of steps that stay are kept among them."""
    namespace = new_namespace(v.profile_for(load()))
    namespace.timers = timers = LooseTimers()
    choices = RoundRobin()
    step(namespace, v.CreateQueue(queue="q"), "c1", choices)
    mortal = v.Send(queue="q", message=v.Message(body="m", time_to_live=v.MICROSECONDS))
    step(namespace, mortal, "c1", choices, keep=True)
    kept = list(timers.heap)
    assert kept
    for _ in range(1_000):
        mark = namespace.journal.mark()
        step(namespace, mortal, "c1", choices, keep=True)
        namespace.journal.undo(mark)
    assert set(kept) <= set(timers.heap)
    assert len(timers.heap) < 300


def test_subsets_are_made_in_the_order_of_their_items() -> None:
    subsets = Subsets("abc", [0b101, 0, 0b111])
    assert [("a", "c"), (), ("a", "b", "c")] == [subsets[at] for at in range(len(subsets))]
