"""Which event of a history shows a rule, and which does not although the rule is near."""

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.judge import Judge
from busproof.judging.replay.explanation import explain
from busproof.mutants.runs import (
    QUEUE,
    Request,
    complete,
    create,
    down,
    over,
    play,
    receive,
    schedule,
    send,
    up,
    wait,
)
from busproof.spec import load

STRICT = v.Observability()
CLIENT = v.Observability(partitions=False)
PROFILE = v.profile_for(load(), partitions=3)


def played(*run: Request) -> list[v.Event]:
    """The events of a run on the model."""
    bus = ModelAdapter()
    bus.start(PROFILE)
    events = list(play(bus, run))
    bus.stop()
    return events


def shown(*run: Request, observability: v.Observability = STRICT) -> list[frozenset[v.RuleId]]:
    """The rules that each event of a run on the model shows."""
    events = played(*run)
    found = explain(events, PROFILE, observability)
    assert found.is_found
    return [frozenset(rules) for rules in found.decided]


def test_a_late_settlement_shows_how_long_a_lock_lasts_and_an_early_one_does_not() -> None:
    early = shown(create(partitioned=True), send("m"), receive(), wait(5), complete(0))
    late = shown(create(partitioned=True), send("m"), receive(), wait(45), complete(0))
    assert "LIFE-03" in early[-1] & late[-1]
    assert "LOCK-01" not in early[-1]
    assert "LOCK-01" in late[-1]


def test_an_empty_receive_shows_that_what_is_locked_is_not_given() -> None:
    with_lock = shown(create(partitioned=True), send("m"), receive(), over("c2", receive()))
    without = shown(create(partitioned=True), receive())
    assert "LIFE-02" in with_lock[-1]
    assert "LIFE-02" not in without[-1]


def test_a_key_shows_its_partition_once_that_is_known() -> None:
    run = (create(partitioned=True), send("m1", partition_key="a"), send("m2", partition_key="a"))
    _, first, second = shown(*run)
    assert "KEY-02" not in first
    assert {"KEY-02", "KEY-07"} <= second


def test_a_client_that_sees_no_partitions_is_shown_no_rule_about_them() -> None:
    run = (create(partitioned=True), send("m1", partition_key="a"), send("m2", partition_key="a"))
    *_, second, given = shown(*run, receive(), observability=CLIENT)
    assert not {"KEY-01", "KEY-02", "LIFE-12"} & (second | given)
    assert "LIFE-01" in given


def test_a_dropped_copy_shows_it_at_once() -> None:
    run = (
        create(partitioned=True, duplicate_detection=True),
        send("m1", message_id="x"),
        send("m2", message_id="x"),
    )
    _, first, copy = shown(*run)
    assert not {"KEY-11", "DUP-04"} & first
    assert {"KEY-11", "DUP-04"} <= copy


def test_independent_parts_show_together_that_one_does_not_affect_the_other() -> None:
    outage = shown(
        create(partitioned=True),
        create(queue="other", partitioned=True),
        down(0),
        send("m", queue="other"),
        up(0),
        send("n", queue="other"),
    )
    assert ["PART-05" in rules for rules in outage] == [False, False, False, True, False, False]
    copies = shown(
        create(partitioned=True, duplicate_detection=True),
        create(queue="other", partitioned=True, duplicate_detection=True),
        send("m", message_id="x"),
        send("n", message_id="x", queue="other"),
        receive(queue="other"),
    )
    assert "DUP-13" in copies[-1]


def test_a_refusal_shows_the_rule_that_says_it_of_this_request() -> None:
    keys = {"session_id": "a", "partition_key": "b"}
    of_send = shown(create(partitioned=True), send("m", **keys))[-1]
    of_schedule = shown(create(partitioned=True), schedule("m", 5, **keys))[-1]
    assert "KEY-08" in of_send
    assert "SCHED-12" in of_schedule
    assert "KEY-08" not in of_schedule


def test_an_accepted_request_does_not_show_what_only_later_answers_can() -> None:
    created, sent, described = shown(create(partitioned=True), send("m"), v.GetQueue(queue=QUEUE))
    assert not {"MGMT-01"} & created
    assert not {"LIFE-01", "KEY-14"} & sent
    assert "MGMT-01" in described


def test_a_replay_that_goes_on_shows_the_rules_of_new_events() -> None:
    *first, last = played(create(partitioned=True), send("m"), receive())
    judge = Judge(PROFILE, STRICT)
    for event in first:
        judge.saw(event)
    assert "LIFE-01" not in judge.evidence
    judge.saw(last)
    assert "LIFE-01" in judge.decided[-1]


def test_a_scheduled_message_that_is_forwarded_shows_where_it_comes_from() -> None:
    given = shown(
        create(queue="end", partitioned=True),
        create(partitioned=True, forward_to="end"),
        schedule("m", 5, partition_key="a"),
        down(0),
        down(1),
        down(2),
        wait(200),
        up(0),
        up(1),
        up(2),
        receive(queue="end"),
    )[-1]
    assert {"FWD-03", "FWD-04", "FWD-14", "FWD-23", "SCHED-02"} <= given
