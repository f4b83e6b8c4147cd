"""The readings of the model are those of the register of ambiguities."""

from random import Random

import attrs
import pytest
from model_driver import Bus, catalogue, profile

from busproof import vocabulary as v
from busproof.model import HostileChoices, RandomChoices, ambiguities, ways
from busproof.model.ambiguities import (
    ActionKeys,
    DeferredExpiry,
    EmptyKey,
    ForwardLifetime,
    QuotaEntities,
    QuotaExisting,
    Reading,
    ScheduledCopies,
    Settled,
    ShortTimeout,
)

KINDS = [
    kind
    for kind in vars(ambiguities).values()
    if isinstance(kind, type) and issubclass(kind, Reading) and len(kind)
]
REGISTER = {ambiguity.id: set(ambiguity.choices) for ambiguity in catalogue().ambiguities}
UNNAMED = {
    ActionKeys: {ActionKeys.ADDED},
    DeferredExpiry: {DeferredExpiry.DEAD_LETTERED},
    ForwardLifetime: {ForwardLifetime.KEPT},
    QuotaEntities: {QuotaEntities.THOUSAND},
    QuotaExisting: {QuotaExisting.COUNTED},
    ScheduledCopies: set(ScheduledCopies),
}
"""Readings that a profile cannot name, but a bus may follow if the profile says `either`."""


def test_there_are_readings_of_both_kinds() -> None:
    assert {True, False} == {issubclass(kind, Settled) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.entry)
def test_readings_are_those_of_the_register(kind: type[Reading]) -> None:
    registered = REGISTER[kind.entry]
    left_open = {"either"} if issubclass(kind, Settled) else set()
    assert set(kind) - UNNAMED.get(kind, set()) == registered - left_open


def test_reading_of_the_profile_is_followed() -> None:
    bus = Bus(profile(EMPTY_KEY="unset"), HostileChoices(None))
    assert EmptyKey.UNSET is bus.namespace.reading(EmptyKey)
    assert {} == bus.namespace.readings


def test_settled_reading_is_chosen_once_and_open_one_never() -> None:
    bus = Bus(profile(EMPTY_KEY="either"))
    assert EmptyKey.SET is bus.namespace.reading(EmptyKey)
    assert {"EMPTY-KEY": "set"} == bus.namespace.readings
    assert ShortTimeout.MAY_FAIL is bus.namespace.reading(ShortTimeout)
    assert {"EMPTY-KEY": "set"} == bus.namespace.readings


def test_open_reading_that_the_profile_leaves_out_leaves_the_bus_free() -> None:
    bus = Bus(attrs.evolve(profile(), readings={}))
    assert ShortTimeout.MAY_FAIL is bus.namespace.reading(ShortTimeout)


def test_chosen_reading_may_come_as_text_from_a_store() -> None:
    bus = Bus(profile(EMPTY_KEY="either"))
    bus.namespace.readings["EMPTY-KEY"] = "unset"
    assert EmptyKey.UNSET is bus.namespace.reading(EmptyKey)


def test_name_of_a_class_spells_the_id() -> None:
    assert "SHORT-TIMEOUT" == ShortTimeout.entry
    assert ShortTimeout.named("neither") is None
    assert v.profile_for(catalogue()).readings.get(ShortTimeout.entry) in tuple(ShortTimeout)


def answers(bus: Bus, command: v.Command) -> set[str]:
    """Return the kinds of answers that the model can give to a command."""
    return {type(answer.outcome).__name__ for _, answer in ways(bus.namespace, command, "c1")}


def test_what_premium_has_from_before_may_count() -> None:
    """QUOTA-EXISTING: beside 999 queues, one more from before may be the thousandth."""
    bus = Bus(profile(tier="premium", QUOTA_PREMIUM="per-unit"))
    bus.done(v.RestoreQueue(queue="old"))
    for number in range(999):
        bus.create(f"q{number}", partitioned=False)
    wanted = v.CreateQueue(queue="r", partitioned=False)
    assert {"Done", "Refused"} == answers(bus, wanted)


def test_dead_letter_of_a_transfer_may_be_dropped_but_not_one_of_the_queue() -> None:
    bus = Bus(profile(FORWARD_FAILED="transfer"))
    bus.create("d")
    bus.create("q", forward_to="d")
    bus.done(v.DeleteQueue(queue="d"))
    bus.send("m", queue="q")
    path = f"q{v.TRANSFERS}"
    token = bus.receive(queue=path).lock_token or ""
    letter = v.DeadLetter(queue=path, lock_token=token)
    assert {"Done", "Refused"} == answers(bus, letter)
    for _, answer in ways(bus.namespace, letter, "c1"):
        is_there = bool(bus.namespace.entities[path].messages)
        assert is_there is isinstance(answer.outcome, v.Refused)


def test_deferred_and_scheduled_messages_may_be_deleted_with_others() -> None:
    """BATCH-15: only of locked messages it is said that they stay (BATCH-16)."""
    bus = Bus()
    bus.create("q", partitioned=False)
    for body in ("available", "deferred", "locked"):
        bus.send(body)
    bus.receive()
    bus.done(v.Defer(queue="q", lock_token=bus.receive().lock_token or ""))
    bus.receive()
    bus.done(v.Abandon(queue="q", lock_token="1/1"))
    bus.done(v.Schedule(queue="q", message=v.Message(body="scheduled"), delay=1))
    queue = bus.namespace.entities["q"]
    left = {
        frozenset(one.message.body for one in (*queue.messages.values(), *queue.scheduled.values()))
        for _, answer in ways(bus.namespace, v.DeleteBatch(queue="q", count=3), "c1")
        if answer.outcome == v.Deleted(count=3)
    }
    assert {frozenset({"locked"})} == left
    bus.done(v.DeleteBatch(queue="q", count=3))
    kept = {one.message.body for one in queue.messages.values()}
    assert ({"deferred", "locked"}, 1) == (kept, len(queue.scheduled))


def test_random_policies_leave_gaps_in_sequence_numbers_unless_the_profile_forbids_it() -> None:
    for reading, gaps in (("either", True), ("gap-free", False)):
        bus = Bus(profile(partitions=1, SEQUENCE_GAPS=reading), RandomChoices(Random(1)))
        bus.create("q", partitioned=False)
        for number in range(60):
            bus.send(f"m{number}")
        numbers = sorted(bus.namespace.entities["q"].messages)
        assert gaps is (numbers[-1] > 60)
