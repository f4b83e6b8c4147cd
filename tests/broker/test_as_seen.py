"""A regular broker answers as the real service was seen to, where the documents leave it open."""

import pytest

from busproof import vocabulary as v
from busproof.broker.bus import Bus
from busproof.broker.configuration.emulator import Configuration
from busproof.broker.server import bus_for
from busproof.spec import load


def served(policy: str = "round-robin", **settings: object) -> Bus:
    return bus_for(Configuration(**settings), policy=policy)


def test_what_is_open_is_read_as_the_service_was_seen_to_read_it() -> None:
    assert served().namespace.readings["FORWARD-FAILED"] == "dead-letter"
    older = served(edition="es-2020-06").namespace.readings
    assert (older["REGULAR-KEYS"], older["PREMIUM-CHECKBOX"]) == ("accepted", "no-effect")


def test_reading_that_the_user_names_is_kept() -> None:
    bus = served(readings={"FORWARD-FAILED": "transfer"})
    assert "FORWARD-FAILED" not in bus.namespace.readings


@pytest.mark.parametrize("policy", ["random", "hostile"])
def test_other_policies_choose_freely(policy: str) -> None:
    """As they are for: a client meets everything that is permitted."""
    assert {} == dict(served(policy).namespace.readings)


def test_namespace_that_a_suite_begins_is_held_to_its_profile_alone() -> None:
    """Otherwise a run over AMQP would see less than the documents permit."""
    assert {} == dict(served().anew(v.profile_for(load())).namespace.readings)


def test_keys_that_differ_are_refused_on_a_regular_queue_since_2020() -> None:
    """REGULAR-KEYS: the service refuses them on any entity."""
    message = v.Message(body="m", session_id="a", partition_key="b")
    for edition, refused in (("en-2026-02", True), ("es-2020-06", False)):
        bus = served(edition=edition)
        bus.ask(v.CreateQueue(queue="q", partitioned=False), "c1")
        assert refused is (bus.ask(v.Send(queue="q", message=message), "c1").refused is not None)


def test_expired_deferred_message_is_dead_lettered_when_it_is_asked_for() -> None:
    """DEFERRED-EXPIRY: not before; where what expires is dropped it is given as before."""
    for dead_lettered in (True, False):
        bus = bus_for(Configuration(), clock="virtual")
        bus.ask(v.CreateQueue(queue="q", dead_letter_expired=dead_lettered), "c1")
        message = v.Message(body="m", time_to_live=10 * v.MICROSECONDS)
        bus.ask(v.Send(queue="q", message=message), "c1")
        view = bus.ask(v.Receive(queue="q"), "c1").outcome.message
        bus.ask(v.Defer(queue="q", lock_token=view.lock_token), "c1")
        bus.advance(60 * v.MICROSECONDS)
        dead = v.Receive(queue="q/$deadletterqueue")
        assert bus.ask(dead, "c1").outcome == v.Empty()
        asked = v.ReceiveDeferred(queue="q", sequence_numbers=(view.sequence_number,))
        assert dead_lettered is (bus.ask(asked, "c1").refused is not None)
        assert dead_lettered is isinstance(bus.ask(dead, "c1").outcome, v.Received)
