"""Answers where the documents are silent, each of which the model may give."""

from typing import Any

import pytest
from model_driver import DEFAULT_PROFILE, SECOND, Always, Bus, profile

from busproof import vocabulary as v
from busproof.model import HostileChoices, ways

HOSTILE = HostileChoices(Always())


def outcomes(bus: Bus, command: v.Command) -> set[v.Outcome]:
    """Everything that may be answered to a command."""
    return {answer.outcome for _, answer in ways(bus.namespace, command, "c1")}


def bodies_given(bus: Bus) -> set[str]:
    """The bodies of all messages that a receive may give."""
    found = outcomes(bus, v.Receive(queue="q"))
    return {outcome.message.body for outcome in found if isinstance(outcome, v.Received)}


def give_back(bus: Bus) -> None:
    token = bus.receive().lock_token or ""
    bus.done(v.Abandon(queue="q", lock_token=token))


@pytest.mark.parametrize("suffix", ["", v.DEAD_LETTERS])
def test_subscription_may_be_found_under_a_name_in_another_case(bus: Bus, suffix: str) -> None:
    bus.topic()
    command = v.Receive(queue=f"t/subscriptions/A{suffix}")
    assert v.Error.NOT_FOUND is bus.refused(command)
    bus.choices = HOSTILE
    assert bus.done(command) == v.Empty()
    assert v.Error.NOT_FOUND is bus.refused(v.Receive(queue=f"t/subscriptions/b{suffix}"))
    assert v.Error.NOT_FOUND is bus.refused(v.Receive(queue=f"T/subscriptions/a{suffix}"))


def test_rules_may_be_those_of_a_name_in_another_case(bus: Bus) -> None:
    bus.topic()
    command = v.ListRules(topic="t", subscription="A")
    assert v.Error.NOT_FOUND is bus.refused(command)
    bus.choices = HOSTILE
    assert bus.done(command) == bus.done(v.ListRules(topic="t", subscription="a"))


def test_dead_letter_queue_has_no_rules(bus: Bus) -> None:
    bus.topic()
    command = v.ListRules(topic="t", subscription=f"a{v.DEAD_LETTERS}")
    assert v.Error.NOT_FOUND is bus.refused(command)


@pytest.mark.parametrize("is_gone", [True, False])
def test_outage_of_an_entity_that_is_not_there_may_be_refused(bus: Bus, *, is_gone: bool) -> None:
    bus.create()
    if is_gone:
        bus.done(v.DeleteQueue(queue="q"))
    bus.down(1)
    command = v.BringPartitionUp(queue="q", partition=1)
    refused = {v.Refused(error=v.Error.NOT_FOUND)} if is_gone else set()
    assert {v.Done(), *refused} == outcomes(bus, command)


SIZES = {
    "standard": {1, 2, 3, 4, 5},
    "premium": {1, 2, 3, 4, 5, 10, 20, 40, 80},
}


@pytest.mark.parametrize(
    ("asked", "sizes"),
    [
        ({}, {1}),
        ({"edition": "de-2021-04"}, SIZES["standard"]),
        ({"edition": "de-2021-04", "GB_PARTITIONS": "per-gb"}, {1}),
        ({"tier": "basic"}, SIZES["standard"]),
        ({"tier": "basic", "BASIC_SIZES": "like-standard"}, {1}),
        ({"tier": "premium"}, SIZES["premium"]),
        ({"tier": "premium", "edition": "cs-2020-12"}, {1}),
    ],
)
def test_size_of_an_entity_that_is_created_without_one(
    asked: dict[str, str], sizes: set[int]
) -> None:
    """SIZE-03, PREM-09, BASIC-SIZES: 1 GB where the documents say so."""
    bus = Bus(profile(**asked))
    found = set()
    for _ in ways(bus.namespace, v.CreateQueue(queue="q", partitioned=False), "c1"):
        found.add(bus.namespace.entities["q"].settings.max_size)
    assert sizes == found


def test_peek_may_show_scheduled_messages_anywhere(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.send("m1")
    bus.send("m2")
    bus.done(v.Schedule(queue="q", message=v.Message(body="s"), delay=SECOND))
    found = outcomes(bus, v.Peek(queue="q", count=3))
    shown = {
        tuple(view.body for view in outcome.messages)
        for outcome in found
        if isinstance(outcome, v.Peeked)
    }
    assert {("m1", "m2", "s"), ("m1", "s", "m2"), ("s", "m1", "m2")} == shown
    few = bus.done(v.Peek(queue="q", count=1))
    assert isinstance(few, v.Peeked)
    assert ["m1"] == [view.body for view in few.messages]


def test_order_of_a_key_is_open_once_its_first_message_was_given_back(bus: Bus) -> None:
    bus.create()
    for number in range(3):
        bus.send(f"m{number}", partition_key="k")
    assert {"m0"} == bodies_given(bus)
    give_back(bus)
    assert {"m0", "m1", "m2"} == bodies_given(bus)


def test_session_id_and_partition_key_of_one_text_have_no_order(bus: Bus) -> None:
    bus.create()
    bus.send("m0", session_id="k")
    bus.send("m1", partition_key="k")
    bus.send("m2", partition_key="k")
    assert {"m0", "m1"} == bodies_given(bus)


FIRST = profile(REGULAR_ORDER="first-in-first-out")
IN_PREMIUM = profile(tier="premium", REGULAR_ORDER="first-in-first-out")


@pytest.mark.parametrize(
    ("held_to", "given"),
    [(DEFAULT_PROFILE, {"m0", "m1"}), (FIRST, {"m0"}), (IN_PREMIUM, {"m0", "m1"})],
)
def test_regular_queue_has_an_order_where_it_is_read_and_stated(
    held_to: Any, given: set[str]
) -> None:
    bus = Bus(held_to)
    bus.create(partitioned=False)
    bus.send("m0")
    bus.send("m1")
    assert given == bodies_given(bus)
    give_back(bus)
    assert {"m0", "m1"} == bodies_given(bus)
