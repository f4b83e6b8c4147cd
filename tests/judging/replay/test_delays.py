"""What a bus does by itself may take its time: forwarding, and moving dead letters."""

from pathlib import Path

import pytest
from told import Told

from busproof import vocabulary as v
from busproof.cli.main import main
from busproof.history.files import HistoryWriter
from busproof.history.records import Header
from busproof.judging.liveness import FEW
from busproof.spec import load

DELETE = v.ReceiveMode.RECEIVE_AND_DELETE
TAKE = v.Receive(queue="end", mode=DELETE)


def got(body: str, number: int = 1, **fields: object) -> v.Outcome:
    shown = v.MessageView(body=body, sequence_number=number, **fields)  # type: ignore[arg-type]
    return v.Received(message=shown)


def forwarding(**readings: str) -> Told:
    """A message was sent to a queue that forwards to another one."""
    told = Told(**readings).of(v.CreateQueue(queue="end"))  # type: ignore[arg-type]
    told.of(v.CreateQueue(queue="q", forward_to="end"))
    return told.of(v.Send(queue="q", message=v.Message(body="m")))


def waited_for(told: Told, command: v.Receive, seconds: int = 180) -> Told:
    """A receiver has asked three times so far, and asks for the fourth time after so long."""
    for _ in range(FEW - 1):
        told = told.of(command, v.Empty()).waited(seconds // (FEW - 1))
    return told


@pytest.mark.parametrize(
    ("reading", "seconds", "allowed"),
    [("bounded", 177, True), ("bounded", 180, False), ("unbounded", 180, True)],
)
def test_a_forwarded_message_may_come_late(reading: str, seconds: int, allowed: bool) -> None:
    told = waited_for(forwarding(FORWARD_DELAY=reading), TAKE, seconds)
    assert told.may_be(TAKE, v.Empty()) is allowed
    assert told.may_be(TAKE, got("m"))


def test_a_message_that_nobody_waits_for_may_come_at_any_time() -> None:
    told = forwarding().waited(600)
    assert told.may_be(TAKE, v.Empty())
    assert told.may_be(TAKE, got("m"))


def test_it_comes_once() -> None:
    told = forwarding().of(TAKE, v.Empty()).of(TAKE, got("m"))
    assert not told.may_be(TAKE, got("m", 2))


def test_its_lifetime_begins_with_its_arrival() -> None:
    told = Told().of(v.CreateQueue(queue="end", time_to_live=30 * v.MICROSECONDS))
    told.of(v.CreateQueue(queue="q", forward_to="end"))
    told.of(v.Send(queue="q", message=v.Message(body="m"))).waited(50)
    assert told.may_be(TAKE, got("m"))
    told.of(v.Peek(queue="end"), v.Peeked(messages=(v.MessageView(body="m", sequence_number=1),)))
    assert not told.waited(31).may_be(TAKE, got("m"))


def test_a_message_may_have_taken_two_hops_in_between() -> None:
    told = Told().of(v.CreateQueue(queue="end")).of(v.CreateQueue(queue="hop", forward_to="end"))
    told.of(v.CreateQueue(queue="q", forward_to="hop"))
    told.of(v.Send(queue="q", message=v.Message(body="m")))
    assert told.may_be(TAKE, got("m"))
    assert not waited_for(told, TAKE).may_be(TAKE, v.Empty())


def test_a_message_on_its_way_may_be_peeked_and_counted_and_is_not_given() -> None:
    told = forwarding()
    peeked = v.Peeked(messages=(v.MessageView(body="m", sequence_number=1),))
    assert told.may_be(v.Peek(queue="q"), peeked)
    assert told.may_be(v.Peek(queue="q"), v.Peeked())
    counted = v.Described(description=v.QueueDescription(queue="q", message_count=1))
    assert told.may_be(v.GetQueue(queue="q"), counted)
    assert not told.may_be(v.Receive(queue="q", mode=DELETE), got("m"))


def test_when_forwarding_ends_a_message_is_in_one_of_the_two() -> None:
    told = forwarding().of(v.UpdateQueue(queue="q", forward_to=""))
    take = v.Receive(queue="q", mode=DELETE)
    assert told.may_be(take, got("m"))
    assert told.may_be(TAKE, got("m"))
    assert not told.of(take, got("m")).may_be(TAKE, got("m"))


def test_when_forwarding_begins_a_message_may_go_or_stay() -> None:
    told = Told().of(v.CreateQueue(queue="end")).of(v.CreateQueue(queue="q"))
    told.of(v.Send(queue="q", message=v.Message(body="m")))
    told.of(v.UpdateQueue(queue="q", forward_to="end")).waited(600)
    take = v.Receive(queue="q", mode=DELETE)
    assert told.may_be(take, got("m"))
    assert not told.may_be(take, got("m").__class__(message=v.MessageView(body="n")))
    assert not told.of(TAKE, got("m")).may_be(take, got("m"))


@pytest.mark.parametrize(
    ("reading", "seconds", "allowed"),
    [("bounded", 177, True), ("bounded", 180, False), ("at-once", 0, False)],
)
def test_what_expires_may_be_a_dead_letter_later(reading: str, seconds: int, allowed: bool) -> None:
    told = Told(DEAD_LETTER_DELAY=reading)
    lives = 10 * v.MICROSECONDS
    told.of(v.CreateQueue(queue="q", time_to_live=lives, dead_letter_expired=True))
    told.of(v.Send(queue="q", message=v.Message(body="m"))).waited(11)
    dead = v.Receive(queue=f"q{v.DEAD_LETTERS}", mode=DELETE)
    told = waited_for(told, dead, seconds) if seconds else told
    assert told.may_be(dead, v.Empty()) is allowed
    assert told.may_be(dead, got("m", dead_letter_reason="TTLExpiredException"))
    assert not told.may_be(v.Receive(queue="q", mode=DELETE), got("m"))


def test_dead_letter_may_go_on_once_its_destination_is_enabled_again_or_stay() -> None:
    """At any time after that, once (FWD-37)."""
    told = Told().of(v.CreateQueue(queue="end"))
    told.of(v.CreateQueue(queue="q", forward_dead_letters_to="end"))
    told.of(v.UpdateQueue(queue="end", status=v.EntityStatus.DISABLED))
    told.of(v.Send(queue="q", message=v.Message(body="m")))
    told.of(v.Receive(queue="q"), got("m", lock_token="l"))
    told.of(v.DeadLetter(queue="q", lock_token="l", reason="why"))
    told.of(v.UpdateQueue(queue="end", status=v.EntityStatus.ACTIVE))
    assert told.may_be(TAKE, v.Empty())
    assert told.may_be(TAKE, got("m", dead_letter_reason="why"))
    told.of(TAKE, v.Empty()).waited(600)
    assert told.may_be(TAKE, v.Empty())
    told.of(TAKE, got("m", dead_letter_reason="why"))
    assert not told.may_be(TAKE, got("m", 2, dead_letter_reason="why"))


def test_explanation_has_words_for_what_a_bus_does_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as a dead letter that goes on once its destination is enabled again (FWD-37)."""
    asked: list[tuple[v.Command, v.Outcome]] = [
        (v.CreateQueue(queue="r", partitioned=False), v.Done()),
        (
            v.CreateQueue(queue="q", partitioned=False, forward_dead_letters_to="r"),
            v.Done(),
        ),
        (v.UpdateQueue(queue="r", status=v.EntityStatus.DISABLED), v.Done()),
        (v.Send(queue="q", message=v.Message(body="a")), v.Done()),
        (v.Receive(queue="q"), v.Received(message=v.MessageView(body="a", lock_token="l"))),
        (v.DeadLetter(queue="q", lock_token="l", reason="why"), v.Done()),
        (v.UpdateQueue(queue="r", status=v.EntityStatus.ACTIVE), v.Done()),
        (
            v.Receive(queue="r"),
            v.Received(message=v.MessageView(body="a", lock_token="m", dead_letter_reason="why")),
        ),
    ]
    path = tmp_path / "history.jsonl"
    with HistoryWriter(path) as writer:
        writer.write(Header(profile=v.profile_for(load()), capabilities=("peek-lock",)))
        for number, (command, outcome) in enumerate(asked):
            writer.write(
                v.Event(
                    client="c",
                    connection="c1",
                    called=number,
                    returned=number,
                    command=command,
                    outcome=outcome,
                )
            )
    main(["check", str(path), "--explain"])
    out = capsys.readouterr().out
    assert "before it: 'a' is forwarded" in out
    assert "before it: dead letter 'a' is tried again" in out


def test_a_message_on_its_way_to_the_dead_letter_queue_is_not_had_by_its_number() -> None:
    """DEFER-03, DEAD-LETTER-DELAY."""
    told = Told().of(v.CreateQueue(queue="end", max_delivery_count=1))
    told.of(v.Send(queue="end", message=v.Message(body="m")))
    told.of(v.Receive(queue="end"), got("m", lock_token="t"))
    told.of(v.Abandon(queue="end", lock_token="t"))
    by_number = v.ReceiveDeferred(queue="end", sequence_numbers=(1,))
    assert told.may_be(by_number, v.Refused(error=v.Error.MESSAGE_NOT_FOUND))
    shown = v.MessageView(body="m", sequence_number=1)
    assert not told.may_be(by_number, v.ReceivedSeveral(messages=(shown,)))


def test_a_number_of_a_partition_that_does_not_exist_is_a_violation() -> None:
    """The replay looked for the dead letter there, and ended with a traceback."""
    told = Told().of(v.CreateQueue(queue="q")).of(v.Send(queue="q", message=v.Message(body="m")))
    told = told.of(v.Receive(queue="q"), v.Received(message=LOCKED))
    told = told.of(v.DeadLetter(queue="q", lock_token="t"))
    take = v.Receive(queue=f"q{v.DEAD_LETTERS}", mode=DELETE)
    assert not told.may_be(take, got("m", (200 << v.SEQUENCE_BITS) + 1))
    assert told.may_be(take, got("m"))


LOCKED = v.MessageView(body="m", sequence_number=1, lock_token="t")
