"""Which event of a history shows a rule, and which does not although the rule is near."""

import pytest

from busproof import vocabulary as v
from busproof.adapters.faults import conforming
from busproof.adapters.finding import find
from busproof.adapters.model import ModelAdapter
from busproof.judging.judge import Judge
from busproof.judging.replay.explanation import explain
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import (
    PARTITIONS,
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
EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 25
NOT_SHOWN = {
    *("DEFER-06", "DLQ-04", "FWD-11", "FWD-22", "FWD-26", "LIFE-13", "LIMIT-15", "LIMIT-16"),
    *("PREM-11", "SCHED-11"),
    *(f"QUOTA-{number:02}" for number in (1, 2, 3, 5, 6, 7, 8, 9, 12, 13, 14, 15)),
}
"""Rules that only scenarios or longer runs show; the list may only shrink."""


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


def shown_beside(mutant: Mutant) -> set[v.RuleId]:
    """The rules that a mutant's shortest run shows on the bus without the fault."""
    rule = load().rule(mutant.rule)
    tier, partitions = v.namespace_of(rule.tiers)
    profile = v.profile_for(
        load(),
        edition=EDITION if EDITION in rule.editions else rule.editions[-1],
        tier=tier,
        readings=mutant.readings,
        partitions=PARTITIONS if partitions == 1 else None,
        namespace_partitions=partitions,
    )
    bus = find(conforming(mutant), timeout=1)
    bus.start(profile)
    events = list(play(bus, mutant.run))
    bus.stop()
    return set(explain(events, profile, bus.declaration.observability).evidence)


@pytest.mark.slow
def test_short_runs_of_mutants_show_nearly_every_rule_without_the_fault() -> None:
    """Over all of these runs together."""
    short = [mutant for mutant in MUTANTS if len(mutant.run) <= LONGEST]
    shown = set().union(*map(shown_beside, short))
    always = {rule.id for rule in load().rules if rule.shown_by == "always"}
    assert NOT_SHOWN == always - shown
