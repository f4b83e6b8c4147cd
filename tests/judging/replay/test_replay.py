"""A history is explained exactly if some execution of the model gives its answers."""

import attrs
import pytest

from busproof import vocabulary as v
from busproof.judging.replay.choices_made import Choice, next_script
from busproof.judging.replay.explanation import explain, explain_to_go_on, hasty_budget
from busproof.judging.replay.relevance import Relevance
from busproof.judging.replay.search import Ended, Search
from busproof.spec import load

SECOND = v.MICROSECONDS
DONE = v.Done()
STRICT = v.Observability()
REAL = v.Observability(clock=v.Clock.REAL)
CLIENT = v.Observability(partitions=False)
DELETE = v.ReceiveMode.RECEIVE_AND_DELETE


def number(partition: int, count: int) -> int:
    return (partition << v.SEQUENCE_BITS) + count


def view(body: str, sequence_number: int | None = None, **fields: object) -> v.MessageView:
    return v.MessageView(body=body, sequence_number=sequence_number, **fields)  # type: ignore[arg-type]


class Story:
    """Events of a scenario on one queue, one after another at the present moment."""

    def __init__(self, observability: v.Observability = STRICT, **settings: object) -> None:
        self.profile = v.profile_for(load(), partitions=2)
        self.observability = observability
        self.events: list[v.Event] = []
        self.now = 0
        self.that(v.CreateQueue(queue="q", partitioned=True, **settings))  # type: ignore[arg-type]

    def that(
        self,
        command: v.Command,
        outcome: v.Outcome = DONE,
        connection: str = "c1",
        *,
        partition: int | None = None,
        times: tuple[int, int | None] | None = None,
    ) -> "Story":
        """Add an event; `times` are its call and return on a real clock."""
        called, returned = times or (self.now, self.now)
        if isinstance(command, v.AdvanceClock):
            self.now += command.duration
            returned = self.now
        self.events.append(
            v.Event(
                client=connection,
                connection=connection,
                called=called,
                returned=None if isinstance(outcome, v.Indeterminate) else returned,
                command=command,
                outcome=outcome,
                witness=None if partition is None else v.Witness(partition=partition),
            )
        )
        return self

    def sent(self, body: str, **fields: object) -> "Story":
        """Add a send to the queue."""
        message = v.Message(body=body, partition_key="k")
        return self.that(v.Send(queue="q", message=message), **fields)  # type: ignore[arg-type]

    def received(self, shown: v.MessageView | None, connection: str = "c1") -> "Story":
        """Add a receive that locks, and what it was given."""
        outcome = v.Empty() if shown is None else v.Received(message=shown)
        return self.that(v.Receive(queue="q"), outcome, connection)

    def waited(self, seconds: int) -> "Story":
        """Add an advance of the clock."""
        return self.that(v.AdvanceClock(duration=seconds * SECOND))

    @property
    def ended(self) -> Ended:
        return explain(self.events, self.profile, self.observability).ended


def shown(body: str, sequence_number: int | None = None, **fields: object) -> v.MessageView:
    return view(body, sequence_number, partition_key="k", **fields)


# Messages and their numbers


def test_a_message_that_was_sent_is_received() -> None:
    assert Story().sent("m").received(shown("m")).ended is Ended.EXPLAINED


def test_a_message_that_was_never_sent_is_not() -> None:
    assert Story().sent("m").received(shown("n")).ended is Ended.IMPOSSIBLE


def test_one_with_a_changed_property_is_not() -> None:
    assert Story().sent("m").received(shown("m", subject="s")).ended is Ended.IMPOSSIBLE


def test_a_number_names_the_partition_of_the_witness() -> None:
    """LIFE-12."""
    right = Story().sent("m", partition=1).received(shown("m", number(1, 7)))
    wrong = Story().sent("m", partition=1).received(shown("m", number(0, 7)))
    assert (right.ended, wrong.ended) == (Ended.EXPLAINED, Ended.IMPOSSIBLE)


def test_numbers_of_a_partition_rise_and_may_leave_gaps() -> None:
    """SEQ-01, SEQ-03."""
    both = Story().sent("m").sent("n").received(shown("m", number(1, 5)))
    rising = copy_of(both).received(shown("n", number(1, 9)))
    falling = copy_of(both).received(shown("n", number(1, 4)))
    same = copy_of(both).received(shown("n", number(1, 5)))
    assert rising.ended is Ended.EXPLAINED
    assert (falling.ended, same.ended) == (Ended.IMPOSSIBLE, Ended.IMPOSSIBLE)


def copy_of(story: Story) -> Story:
    other = Story(story.observability)
    other.events = list(story.events)
    other.now = story.now
    return other


def test_no_lock_token_is_given_twice() -> None:
    """LOCK-07."""
    story = Story().sent("m").sent("n").received(shown("m", lock_token="t"))
    assert copy_of(story).received(shown("n", lock_token="u")).ended is Ended.EXPLAINED
    assert copy_of(story).received(shown("n", lock_token="t")).ended is Ended.IMPOSSIBLE


def test_a_token_settles_the_message_that_it_was_shown_with() -> None:
    story = Story().sent("m").received(shown("m", lock_token="t"))
    story.that(v.Complete(queue="q", lock_token="t")).waited(61)
    assert copy_of(story).received(None).ended is Ended.EXPLAINED
    assert copy_of(story).received(shown("m")).ended is Ended.IMPOSSIBLE


# Many messages, and keys that nobody sees


def test_any_of_very_many_messages_without_a_key_may_be_given() -> None:
    story = Story(CLIENT)
    for count in range(200):
        story.that(v.Send(queue="q", message=v.Message(body=f"m{count}")))
    story.received(view("m150"))
    explanation = explain(story.events, story.profile, story.observability)
    assert (explanation.ended, explanation.steps) == (Ended.EXPLAINED, len(story.events))


def test_keys_that_a_client_tries_in_an_outage_show_where_they_are() -> None:
    """Without a search through all partitions of all keys."""
    story = Story(CLIENT)
    story.profile = v.profile_for(load(), partitions=16)
    keys = [v.Message(body=f"m{count}", partition_key=f"k{count}") for count in range(20)]
    for message in keys:
        story.that(v.Send(queue="q", message=message))
    story.that(v.TakePartitionDown(queue="q", partition=7))
    for count, message in enumerate(keys):
        outcome = v.Refused(error=v.Error.UNAVAILABLE) if count % 5 == 2 else DONE
        story.that(v.Send(queue="q", message=message), outcome)
    explanation = explain(story.events, story.profile, story.observability)
    assert (explanation.ended, explanation.steps) == (Ended.EXPLAINED, len(story.events))


# Caches of front ends


def test_another_front_end_may_have_cached_what_is_missing() -> None:
    """LIFE-08: m2 is locked in the cache of c1's front end."""
    story = Story().sent("m1").sent("m2").received(shown("m1"), "c1").received(None, "c2")
    assert story.ended is Ended.EXPLAINED


def test_without_another_receiver_nothing_may_be_missing() -> None:
    """LIFE-09, PART-09."""
    story = Story().sent("m1").sent("m2").received(shown("m1"), "c1").received(None, "c1")
    assert story.ended is Ended.IMPOSSIBLE


def test_what_is_deleted_into_a_cache_may_never_be_seen_again() -> None:
    """CACHE-DELETE: without a search through what else may be in a cache."""
    story = Story()
    for count in range(12):
        story.sent(f"m{count}", partition=1)
    first = v.Received(message=shown("m0"))
    story.that(v.Receive(queue="q", mode=DELETE), first, "c2").waited(70)
    for count in range(3, 12):
        story.received(shown(f"m{count}", lock_token=f"t{count}"))
        story.that(v.Complete(queue="q", lock_token=f"t{count}"))
    story.received(None)
    explanation = explain(story.events, story.profile, story.observability)
    assert (explanation.ended, explanation.steps) == (Ended.EXPLAINED, len(story.events))


def test_a_cached_message_comes_back_when_its_lock_ends() -> None:
    story = Story().sent("m1").sent("m2").received(shown("m1"), "c1").received(None, "c2")
    story.waited(61)
    assert copy_of(story).received(shown("m1"), "c2").ended is Ended.EXPLAINED
    assert copy_of(story).received(None, "c2").ended is Ended.IMPOSSIBLE


def test_a_front_end_hands_out_a_key_in_its_order() -> None:
    """KEY-17: neither m3 before m2 from the cache, nor past it."""
    story = Story().sent("m1").sent("m2").sent("m3").received(shown("m1"))
    assert copy_of(story).received(shown("m2")).ended is Ended.EXPLAINED
    assert copy_of(story).received(shown("m3")).ended is Ended.IMPOSSIBLE


def test_order_of_a_key_is_open_once_its_first_message_was_given_back() -> None:
    """KEY-17: m3 comes before m2, but not while m1 was never given."""
    story = Story().sent("m1").sent("m2").sent("m3")
    assert copy_of(story).received(shown("m3")).ended is Ended.IMPOSSIBLE
    story.received(shown("m1"), "c2").waited(70)
    assert story.received(shown("m3"), "c1").ended is Ended.EXPLAINED


@pytest.mark.parametrize(
    ("mode", "ended"), [(DELETE, Ended.EXPLAINED), (v.ReceiveMode.PEEK_LOCK, Ended.IMPOSSIBLE)]
)
def test_only_what_is_deleted_into_a_cache_stays_there(mode: v.ReceiveMode, ended: Ended) -> None:
    """CACHE-DELETE: c2 finds nothing, because c1's front end has cached m2."""
    story = Story().sent("m1").sent("m2")
    story.that(v.Receive(queue="q", mode=mode), v.Received(message=shown("m1")))
    story.waited(70).received(None, "c2")
    explanation = explain(story.events, story.profile, story.observability)
    assert explanation.ended is ended
    assert not explanation.is_found or explanation.steps == len(story.events)


# Lost answers


LOST = v.Indeterminate()


def lost_send() -> Story:
    story = Story()
    return story.that(v.Send(queue="q", message=v.Message(body="m", partition_key="k")), LOST)


def test_a_request_without_an_answer_took_effect_or_did_not() -> None:
    assert lost_send().received(shown("m")).ended is Ended.EXPLAINED
    assert lost_send().received(None).ended is Ended.EXPLAINED


def test_it_may_take_effect_later_but_only_once() -> None:
    late = lost_send().received(None).received(shown("m", lock_token="t"))
    assert late.ended is Ended.EXPLAINED
    late.that(v.Complete(queue="q", lock_token="t")).received(shown("m"))
    assert late.ended is Ended.IMPOSSIBLE


def test_the_number_of_a_lost_message_says_before_which_others_it_came() -> None:
    story = lost_send().sent("n").sent("o")
    views = [shown(body, number(0, place)) for place, body in enumerate(("n", "m", "o"), 1)]
    story.that(v.Peek(queue="q", count=3), v.Peeked(messages=tuple(views)))
    explanation = explain(story.events, story.profile, story.observability)
    assert (explanation.ended, explanation.steps) == (Ended.EXPLAINED, len(story.events))


def test_queues_whose_creation_is_not_answered_take_room() -> None:
    """QUOTA-04: without a search through which of them were created."""
    story = Story()
    for count in range(100):
        create = v.CreateQueue(queue=f"q{count}", partitioned=True)
        full = v.Refused(error=v.Error.QUOTA_EXCEEDED)
        story.that(create, LOST if count % 30 == 7 else full if count == 99 else DONE)
    steps = hasty_budget(len(story.events))
    explanation = explain_to_go_on(story.events, story.profile, story.observability, steps)[0]
    assert explanation.ended is Ended.EXPLAINED
    assert explanation.steps <= len(story.events) + 4


# Time


def test_whether_a_lock_has_ended_is_decided_when_an_answer_shows_it() -> None:
    story = Story(attrs.evolve(STRICT, slack=2 * SECOND)).sent("m")
    story.received(shown("m", lock_token="t")).waited(61).sent("n").sent("o")
    story.that(v.Complete(queue="q", lock_token="t"))
    explanation = explain(story.events, story.profile, story.observability)
    assert (explanation.ended, explanation.steps) == (Ended.EXPLAINED, len(story.events))


def test_a_lock_ends_within_the_slack() -> None:
    slack = attrs.evolve(STRICT, slack=2 * SECOND)
    for observability, early in ((slack, Ended.EXPLAINED), (STRICT, Ended.IMPOSSIBLE)):
        story = Story(observability).sent("m").received(shown("m")).waited(59)
        assert story.received(shown("m"), "c2").ended is early


def test_a_lock_that_has_not_ended_keeps_others_away() -> None:
    story = Story(attrs.evolve(STRICT, slack=2 * SECOND)).sent("m").received(shown("m"))
    assert story.waited(57).received(shown("m"), "c2").ended is Ended.IMPOSSIBLE


def test_a_scheduled_message_is_never_early_and_may_be_late() -> None:
    """SCHED-01, SCHEDULE-DELAY."""
    message = v.Message(body="m", partition_key="k")
    for seconds, given, ended in (
        (29, True, Ended.IMPOSSIBLE),
        (31, True, Ended.EXPLAINED),
        (31, False, Ended.EXPLAINED),
        (600, False, Ended.EXPLAINED),
    ):
        story = Story()
        story.that(v.Schedule(queue="q", message=message, delay=30 * SECOND), v.Scheduled())
        story.waited(seconds)
        assert story.received(shown("m") if given else None).ended is ended, seconds


def test_late_messages_come_in_any_order_which_the_answers_show() -> None:
    """SCHEDULE-DELAY: without a search through their orders, and through which of them came."""
    story = Story()
    for count in range(20):
        message = v.Message(body=f"m{count}", partition_key="k")
        story.that(v.Schedule(queue="q", message=message, delay=5 * SECOND), v.Scheduled())
    story.waited(6)
    shuffled = [count * 7 % 20 for count in range(20)]
    for place, count in enumerate(shuffled):
        if place == 15:
            story.received(None).waited(2)
        story.received(shown(f"m{count}", number(1, 100 + place)))
    explanation = explain(story.events, story.profile, story.observability)
    assert (explanation.ended, explanation.steps) == (Ended.EXPLAINED, len(story.events))


# Overlapping requests


def overlapping(second_called: int) -> Story:
    """Two sends of one key, received in the other order of their calls."""
    story = Story(REAL)
    for body, called in (("m1", 100), ("m2", second_called)):
        message = v.Message(body=body, partition_key="k")
        times = (called, called + 100)
        story.that(v.Send(queue="q", message=message), connection=body, times=times)
    for body, called in (("m2", 1000), ("m1", 1200)):
        command, outcome = v.Receive(queue="q", mode=DELETE), v.Received(message=shown(body))
        story.that(command, outcome, times=(called, called + 10))
    return story


def test_overlapping_sends_may_take_effect_in_any_order() -> None:
    assert overlapping(150).ended is Ended.EXPLAINED


def test_a_send_that_returned_came_before_one_that_was_called_later() -> None:
    assert overlapping(300).ended is Ended.IMPOSSIBLE


# Observers


def test_a_client_does_not_see_partitions() -> None:
    """Numbers of two keys have no order for it, and tell nothing about partitions."""
    for observability, ended in ((CLIENT, Ended.EXPLAINED), (STRICT, Ended.IMPOSSIBLE)):
        story = Story(observability).sent("m").sent("n")
        assert story.received(shown("m", number(0, 1))).ended is Ended.EXPLAINED
        assert story.received(shown("n", number(1, 2))).ended is ended


# The search itself


def test_the_budget_is_a_number_of_steps() -> None:
    story = Story().sent("m").received(shown("m"))
    search = Search(story.events, story.profile, story.observability)
    assert search.run(2) is Ended.GAVE_UP
    assert search.run() is Ended.EXPLAINED
    assert search.steps == 3


def test_an_execution_lists_every_event_with_what_the_bus_chose() -> None:
    story = Story().sent("m").received(shown("m", number(1, 1)))
    explanation = explain(story.events, story.profile, story.observability)
    assert [step.index for step in explanation.execution] == [0, 1, 2]
    chosen = {
        choice.name: choice.value for step in explanation.execution for choice in step.choices
    }
    assert chosen["KEY-02"] == 1


def test_what_fits_nowhere_is_named() -> None:
    story = Story().sent("m").received(shown("n")).received(shown("m"))
    assert explain(story.events, story.profile, story.observability).stuck_at == 2


def test_readings_are_one_choice_for_all_queues() -> None:
    """EMPTY-KEY: what one queue shows of it is so for the other one, which is a part of its own."""
    story = Story()
    story.that(v.CreateQueue(queue="r", partitioned=True))
    both = v.Message(body="m", session_id="", partition_key="k")
    story.that(v.Send(queue="q", message=both), v.Refused(error=v.Error.INVALID_OPERATION))
    refused, taken = copy_of(story), copy_of(story)
    refused.that(v.Send(queue="r", message=both), v.Refused(error=v.Error.INVALID_OPERATION))
    taken.that(v.Send(queue="r", message=both))
    assert (refused.ended, taken.ended) == (Ended.EXPLAINED, Ended.IMPOSSIBLE)


def test_an_execution_is_continued_event_by_event() -> None:
    story = Story().sent("m1").sent("m2").received(shown("m1"), "c1")
    search = Search((), story.profile, story.observability)
    ends = []
    for shown_next in (None, shown("m2")):
        story.received(shown_next, "c2")
    for event in story.events:
        search.add(event)
        ends.append(search.run())
    # The first answer says that m2 is in a cache, and so the second one is wrong.
    assert ends == [Ended.EXPLAINED] * (len(ends) - 1) + [Ended.IMPOSSIBLE]


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


# Names


def topic_with_message() -> Story:
    """A topic whose subscription "one" has a message."""
    story = Story()
    story.that(v.CreateTopic(topic="t"), v.Done())
    story.that(v.CreateSubscription(topic="t", subscription="one"), v.Done())
    return story.that(v.Send(queue="t", message=v.Message(body="m1")), v.Done())


def receive(name: str) -> v.Receive:
    return v.Receive(queue=f"t/subscriptions/{name}", mode=DELETE)


@pytest.mark.parametrize("name", ["ONE", "One"])
def test_subscription_may_be_found_under_a_name_in_another_case(name: str) -> None:
    """TOPIC-21: one of several requests under one name need not be answered as the others."""
    given = v.Received(message=view("m1"))
    refused = v.Refused(error=v.Error.NOT_FOUND)
    for outcome in (refused, given):
        found = topic_with_message().that(receive(name), outcome)
        assert found.ended is Ended.EXPLAINED
    twice = topic_with_message().that(receive(name), given).that(receive("one"), given)
    assert twice.ended is Ended.IMPOSSIBLE


def test_rules_and_descriptions_may_be_those_of_a_name_in_another_case() -> None:
    story = topic_with_message()
    listed = v.RulesListed(rules=(v.SubscriptionRule(name="$Default", filter=v.TrueFilter()),))
    story.that(v.ListRules(topic="t", subscription="ONE"), listed)
    described = v.QueueDescription(queue="t/subscriptions/ONE", message_count=1)
    story.that(v.GetQueue(queue="t/subscriptions/ONE"), v.Described(description=described))
    assert story.ended is Ended.EXPLAINED


def test_other_names_lead_to_no_subscription() -> None:
    given = v.Received(message=view("m1"))
    for path in ("t/subscriptions/two", "T/subscriptions/one", "t/other/one"):
        story = topic_with_message()
        story.that(v.Receive(queue=path, mode=DELETE), given)
        assert story.ended is Ended.IMPOSSIBLE
