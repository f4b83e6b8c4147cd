"""DEFERRED-EXPIRY in the model: what an expired deferred message becomes when it is asked for."""

import pytest
from model_driver import Bus

from busproof import vocabulary as v
from busproof.model import RoundRobin, new_namespace, step, ways
from busproof.spec import load

SECOND = v.MICROSECONDS


def answered(reading: str, *, dead_letter_expired: bool) -> tuple[v.Outcome, v.Outcome]:
    """The answers to a receive by its number, and to one of the dead letters afterwards."""
    profile = v.profile_for(load())
    namespace = new_namespace(profile)
    namespace.readings["DEFERRED-EXPIRY"] = reading

    def ask(command: v.Command) -> v.Outcome:
        return step(namespace, command, "c1", RoundRobin()).outcome

    ask(v.CreateQueue(queue="q", dead_letter_expired=dead_letter_expired))
    ask(v.Send(queue="q", message=v.Message(body="m", time_to_live=10 * SECOND)))
    received = ask(v.Receive(queue="q"))
    ask(v.Defer(queue="q", lock_token=received.message.lock_token or ""))
    ask(v.AdvanceClock(duration=60 * SECOND))
    number = received.message.sequence_number or 0
    asked = ask(v.ReceiveDeferred(queue="q", sequence_numbers=(number,)))
    return asked, ask(v.Receive(queue=f"q{v.DEAD_LETTERS}"))


def test_it_is_dead_lettered_when_it_is_asked_for_if_so_read() -> None:
    """TTL-10: only then, and with the reason of expiry."""
    asked, letter = answered("dead-lettered", dead_letter_expired=True)
    assert asked == v.Refused(error=v.Error.MESSAGE_NOT_FOUND)
    assert letter.message.dead_letter_reason == "TTLExpiredException"


def test_otherwise_it_is_given_as_before() -> None:
    """TTL-11: as it is where what expires is dropped."""
    for reading, dead_letter_expired in (("either", True), ("dead-lettered", False)):
        asked, letter = answered(reading, dead_letter_expired=dead_letter_expired)
        assert isinstance(asked, v.ReceivedSeveral)
        assert letter == v.Empty()


@pytest.mark.parametrize("dead_letter_expired", [True, False])
def test_it_is_given_or_refused_or_dead_lettered_where_that_is_open(*, dead_letter_expired) -> None:
    """TTL-10, TTL-11: what is dropped when it expires is no dead letter."""
    bus = Bus()
    bus.create(dead_letter_expired=dead_letter_expired)
    bus.send("m", time_to_live=10 * SECOND)
    received = bus.receive()
    bus.done(v.Defer(queue="q", lock_token=received.lock_token or ""))
    bus.wait(60)
    asked = v.ReceiveDeferred(queue="q", sequence_numbers=(received.sequence_number or 0,))
    letters = bus.namespace.entities[f"q{v.DEAD_LETTERS}"].messages
    fates = {(type(answer.outcome), len(letters)) for _, answer in ways(bus.namespace, asked, "c")}
    dead = {(v.Refused, 1)} if dead_letter_expired else set()
    assert fates == {(v.ReceivedSeveral, 0), (v.Refused, 0), *dead}
