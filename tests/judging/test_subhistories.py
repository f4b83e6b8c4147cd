"""A history that has an order has no subhistory without one, whatever is left out of it."""

import attrs
import pytest
from recorded import DONE, received

from busproof import vocabulary as v
from busproof.judging.linearization.message_subhistories import impossible_subhistory
from busproof.judging.replay.explanation import explain

PROFILE = v.Profile(edition="de-2021-04", partitions=4)
REAL = v.Observability(clock=v.Clock.REAL)
SECOND = 1_000_000
LATER = 400 * SECOND
"""After every lock of a front end's cache."""
DELETE = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
LOCK = v.Receive(queue="q")


def event(
    client: str, command: object, outcome: v.Outcome, called: int, returned: int | None = None
) -> v.Event:
    return v.Event(
        client=client,
        connection=client,
        called=called,
        returned=called if returned is None else returned,
        command=command,
        outcome=outcome,
    )


def send(body: str, at: int, message_id: str | None = None) -> v.Event:
    message = v.Message(body=body, message_id=message_id)
    return event("sender", v.Send(queue="q", message=message), DONE, at)


def is_allowed(events: list[v.Event], profile: v.Profile = PROFILE) -> bool:
    """Whether the events are allowed in this order."""
    return explain(events, profile, REAL).is_found


def is_accused(events: list[v.Event], profile: v.Profile = PROFILE) -> bool:
    """Whether a subhistory of the last event has no order."""
    return impossible_subhistory(events, profile, REAL, [len(events) - 1]) is not None


@pytest.mark.parametrize(
    ("taking", "readings", "allowed"),
    [
        (LOCK, {}, False),
        (DELETE, {}, True),
        (DELETE, {"CACHE-DELETE": "kept"}, False),
    ],
    ids=["locked", "deleted", "kept"],
)
def test_message_in_a_cache_that_does_not_end_is_not_withheld(taking, readings, allowed) -> None:
    """Another front end may have deleted it long before an empty answer."""
    profile = attrs.evolve(PROFILE, readings=readings)
    complete = event("other", v.Complete(queue="q", lock_token="t1"), DONE, 11)
    events = [
        event("sender", v.CreateQueue(queue="q"), DONE, 0),
        send("m1", 1),
        send("m2", 2),
        event("other", taking, received("m1", lock_token="t1" if taking is LOCK else None), 10),
        *([complete] if taking is LOCK else []),
        event("late", LOCK, v.Empty(), LATER),
    ]
    assert is_allowed(events, profile) is allowed
    assert is_accused(events, profile) is not allowed


def test_cache_may_last_for_a_whole_lock_after_an_outage() -> None:
    """Its clock may have stood still (OUTAGE-CLOCK)."""
    events = [
        event("sender", v.CreateQueue(queue="q"), DONE, 0),
        send("m1", 1),
        send("m2", 2),
        event("other", LOCK, received("m1", lock_token="t1"), 10),
        event("other", v.Complete(queue="q", lock_token="t1"), DONE, 11),
        event("sender", v.TakePartitionDown(queue="q", partition=3), DONE, 20),
        event("sender", v.BringPartitionUp(queue="q", partition=3), DONE, LATER - 10 * SECOND),
        event("late", LOCK, v.Empty(), LATER),
    ]
    assert is_allowed(events)
    assert not is_accused(events)


@pytest.mark.parametrize("rounds", [1, 2])
def test_message_that_caches_may_have_given_up_is_not_withheld(rounds: int) -> None:
    """Each lock that ends in a cache may count as a delivery (CACHE-DELIVERY-COUNT)."""
    events = [
        event("sender", v.CreateQueue(queue="q", max_delivery_count=2), DONE, 0),
        send("kept", 1),
    ]
    for number in range(rounds):
        at, body, token = 100 * number * SECOND + 2, f"m{number}", f"t{number}"
        events += [
            send(body, at),
            event("other", LOCK, received(body, number=number + 2, lock_token=token), at + 1),
            event("other", v.Complete(queue="q", lock_token=token), DONE, at + 2),
        ]
    events.append(event("late", LOCK, v.Empty(), LATER))
    assert is_allowed(events) is (rounds == 2)
    assert is_accused(events) is (rounds == 1)


def test_copy_of_a_queue_whose_creations_contradict_each_other_is_not_withheld() -> None:
    """The creation that was refused says nothing of duplicate detection."""
    made = v.CreateQueue(queue="q", duplicate_detection=True)
    exists = v.Refused(error=v.Error.ALREADY_EXISTS)
    events = [
        event("other", v.CreateQueue(queue="q"), exists, 1, 5),
        event("sender", made, DONE, 0, 10),
        send("m1", 20, "same"),
        send("m2", 21, "same"),
        event("late", DELETE, received("m1", message_id="same"), 30),
        event("late", DELETE, v.Empty(), 31),
    ]
    assert is_allowed([events[1], events[0], *events[2:]])
    assert not is_accused(events)


def test_unanswered_receive_alone_in_its_session_proves_nothing() -> None:
    """There is no event left whose subhistory could be judged."""
    events = [
        event("sender", v.CreateQueue(queue="q", requires_session=True), DONE, 0),
        attrs.evolve(
            event("late", v.Receive(queue="q", session_id="a"), v.Indeterminate(), 1), returned=None
        ),
    ]
    assert is_allowed(events)
    assert not is_accused(events)
