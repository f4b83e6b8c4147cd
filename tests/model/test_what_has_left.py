"""Nothing in memory grows with what has left: messages, locks, deleted entities, connections."""

import gc
from collections.abc import Callable
from random import Random

import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model.choices import RandomChoices
from busproof.model.indexes import TIDY_FROM
from busproof.model.journal import Record

ROUNDS = 20
"""How often something comes and goes before the records are counted, and again."""
AT_ONCE = 2 * TIDY_FROM
"""Messages that come and go in a round: more than an index keeps of those that have left."""


def records() -> int:
    """The number of the model's records in memory."""
    gc.collect()
    return sum(isinstance(thing, Record) for thing in gc.get_objects())


def expire(bus: Bus) -> None:
    """Messages that nobody receives live for a second."""
    for number in range(AT_ONCE):
        bus.send(f"m{number}", time_to_live=SECOND)
    bus.wait(2)


def expire_in_session(bus: Bus) -> None:
    """So do those of a session, which has a state and stays."""
    for number in range(AT_ONCE):
        bus.send(f"m{number}", queue="s", session_id="kept", time_to_live=SECOND)
    bus.wait(2)


def delete_at_once(bus: Bus) -> None:
    """Messages are deleted by requests that no receiver makes."""
    for number in range(AT_ONCE):
        bus.send(f"m{number}", queue="r")
    while bus.namespace.entities["r"].messages:
        bus.done(v.DeleteBatch(queue="r", count=AT_ONCE))


def create_and_delete(bus: Bus) -> None:
    """A queue that remembers MessageIds for days is created, emptied and deleted."""
    bus.create("new", duplicate_detection=True, duplicate_window=DAYS)
    for number in range(AT_ONCE):
        bus.send("m", queue="new", message_id=f"i{number}")
    bus.bodies("new")
    bus.done(v.DeleteQueue(queue="new"))


def lock_and_complete(bus: Bus) -> None:
    """Messages are received and completed; their locks would have lasted for minutes."""
    for number in range(AT_ONCE):
        bus.send(f"m{number}")
        bus.done(v.Complete(queue="q", lock_token=bus.receive().lock_token or ""))


def cancel(bus: Bus) -> None:
    """Messages that were scheduled for a time far away are cancelled."""
    for number in range(AT_ONCE):
        later = v.Schedule(queue="q", message=v.Message(body=f"m{number}"), delay=DAYS)
        outcome = bus.ask(later).outcome
        bus.done(v.CancelScheduled(queue="q", sequence_number=outcome.sequence_number or 0))


DAYS = 5 * 86_400 * SECOND


@pytest.mark.parametrize(
    "come_and_go",
    [expire, expire_in_session, delete_at_once, create_and_delete, lock_and_complete, cancel],
)
def test_no_record_stays_of_what_has_left(come_and_go: Callable[[Bus], None]) -> None:
    """Beyond what an index may keep before it is tidied."""
    bus = Bus(profile(partitions=2))
    bus.create("q", lock_duration=300 * SECOND)
    bus.create("r", partitioned=False)
    bus.create("s", requires_session=True)
    bus.done(v.AcceptSession(queue="s", session_id="kept"))
    bus.done(v.SetSessionState(queue="s", session_id="kept", state="kept"))
    for _ in range(ROUNDS):
        come_and_go(bus)
    before = records()
    for _ in range(ROUNDS):
        come_and_go(bus)
    assert records() <= before + 2 * AT_ONCE


def test_message_that_is_released_again_and_again_has_one_entry() -> None:
    bus = Bus(profile(partitions=1))
    bus.create("q", max_delivery_count=2_000)
    bus.send("m")
    for _ in range(1_000):
        bus.done(v.Abandon(queue="q", lock_token=bus.receive().lock_token or ""))
    assert len(bus.namespace.entities["q"].partitions[0].line.returned) == 1


def test_caches_of_connections_that_are_gone_do_not_stay() -> None:
    """Each receives once, and its front end caches some messages until their locks end."""
    bus = Bus(profile(partitions=1), choices=RandomChoices(Random(1)))
    bus.create("q", max_delivery_count=1)
    entity = bus.namespace.entities["q"]
    most = 0
    for number in range(200):
        for each in range(5):
            bus.send(f"m{number}-{each}")
        bus.ask(v.Receive(queue="q"), f"connection-{number}")
        bus.wait(120)
        most = max(most, len(entity.caches))
    assert most < 20
