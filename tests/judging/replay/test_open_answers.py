"""Answers that the documents leave open: to requests that a bus may cut, refuse, or have done."""

import attrs
import pytest
from told import DONE, Told

from busproof import vocabulary as v

INVALID = v.Refused(error=v.Error.INVALID_OPERATION)
TAKEN = v.Refused(error=v.Error.ALREADY_EXISTS)
MISSING = v.Refused(error=v.Error.NOT_FOUND)
DISABLED = v.Refused(error=v.Error.ENTITY_DISABLED)
WORKING: dict[type, v.Outcome] = {v.Peek: v.Peeked(), v.DeleteBatch: v.Deleted(count=0)}
DOWN = v.Refused(error=v.Error.UNAVAILABLE)
OTHER = v.Refused(error=v.Error.OTHER)
TWO_KEYS = v.Message(body="m", session_id="a", partition_key="b")
LONG = 600 * v.MICROSECONDS


def queue(**settings: object) -> Told:
    return Told().of(v.CreateQueue(queue="q", **settings))  # type: ignore[arg-type]


def described(told: Told, **fields: object) -> bool:
    """Return whether a queue may be described so."""
    description = v.QueueDescription(queue="q", **fields)  # type: ignore[arg-type]
    return told.may_be(v.GetQueue(queue="q"), v.Described(description=description))


@pytest.mark.parametrize("lock", [LONG, 300 * v.MICROSECONDS])
def test_a_lock_that_is_too_long_is_refused_or_shortened(lock: int) -> None:
    told = queue()
    update = v.UpdateQueue(queue="q", lock_duration=LONG)
    assert told.may_be(update, INVALID)
    assert described(told.of(update), lock_duration=lock) is (lock < LONG)


@pytest.mark.parametrize(
    ("reading", "allowed"), [("either", True), ("refused", False)], ids=["either", "refused"]
)
def test_an_update_may_leave_the_option_as_it_was(reading: str, allowed: bool) -> None:
    told = Told(OPTION_UPDATE=reading).of(v.CreateQueue(queue="q", partitioned=True))
    update = v.UpdateQueue(queue="q", partitioned=False)
    assert told.may_be(update) is allowed
    assert not described(told.of(update), partitioned=False)


def test_a_source_with_sessions_is_refused_or_does_not_forward() -> None:
    told = Told().of(v.CreateQueue(queue="end"))
    creation = v.CreateQueue(queue="q", requires_session=True, forward_to="end")
    assert told.may_be(creation, INVALID)
    told.of(creation).of(v.Send(queue="q", message=v.Message(body="m", session_id="s")))
    shown = v.MessageView(body="m", session_id="s", sequence_number=1)
    assert not told.may_be(v.Receive(queue="end"), v.Received(message=shown))


@pytest.mark.parametrize(
    ("command", "works"),
    [
        (v.Peek(queue="q"), True),
        (v.Receive(queue=f"q{v.DEAD_LETTERS}"), True),
        (v.DeleteBatch(queue="q", count=1), True),
        (v.DeleteBatch(queue=f"q{v.DEAD_LETTERS}", count=1), True),
        (v.Receive(queue="q"), False),
        (v.Send(queue="q", message=v.Message(body="m")), False),
    ],
)
def test_a_disabled_queue_may_refuse_what_nothing_is_said_of(
    command: v.Command, works: bool
) -> None:
    told = queue().of(v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    assert told.may_be(command, DISABLED)
    assert told.may_be(command, OTHER) is works
    working = WORKING.get(type(command), v.Empty())
    assert told.may_be(command, working) is works


def test_commit_of_a_settlement_may_be_refused_after_its_queue_was_disabled() -> None:
    told = queue().of(v.Send(queue="q", message=v.Message(body="m")))
    view = v.MessageView(body="m", lock_token="l", delivery_count=1)
    told.of(v.Receive(queue="q"), v.Received(message=view))
    told.of(v.BeginTransaction(transaction="x"))
    told.of(v.Complete(queue="q", lock_token="l", transaction="x"))
    commit = v.CommitTransaction(transaction="x")
    assert not told.may_be(commit, DISABLED)
    told.of(v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    assert told.may_be(commit, DISABLED)
    assert told.may_be(commit, OTHER)
    assert told.may_be(commit)


@pytest.mark.parametrize("status", [v.EntityStatus.DISABLED, v.EntityStatus.ACTIVE])
def test_what_is_scheduled_may_be_cancelled_whatever_the_status(status: v.EntityStatus) -> None:
    told = queue()
    plan = v.Schedule(queue="q", message=v.Message(body="m"), delay=LONG)
    told.of(plan, v.Scheduled(sequence_number=1)).of(v.UpdateQueue(queue="q", status=status))
    cancel = v.CancelScheduled(queue="q", sequence_number=1)
    assert told.may_be(cancel)
    assert told.may_be(cancel, DISABLED) is (status is v.EntityStatus.DISABLED)


@pytest.mark.parametrize(("token", "allowed"), [("l", True), ("other", False)])
def test_one_lock_named_twice_may_be_refused(token: str, allowed: bool) -> None:
    told = queue().of(v.Send(queue="q", message=v.Message(body="m")))
    view = v.MessageView(body="m", lock_token="l", delivery_count=1)
    told.of(v.Receive(queue="q"), v.Received(message=view))
    settled = v.SettleBatch(
        queue="q", lock_tokens=(token, token), disposition=v.Disposition.COMPLETE
    )
    assert told.may_be(settled) is allowed
    assert told.may_be(settled, INVALID)


def test_message_that_is_not_a_dead_letter_shows_no_reason() -> None:
    told = queue().of(v.Send(queue="q", message=v.Message(body="m")))
    receive = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert told.may_be(receive, v.Received(message=v.MessageView(body="m")))
    dead = v.MessageView(body="m", dead_letter_reason="none")
    assert not told.may_be(receive, v.Received(message=dead))


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("whole", False)])
def test_what_an_outage_refused_may_have_been_done(reading: str, allowed: bool) -> None:
    told = Told(MANAGEMENT_IN_OUTAGE=reading).of(v.CreateQueue(queue="q", partitioned=True))
    told.of(v.TakePartitionDown(queue="q", partition=0))
    told.of(v.UpdateQueue(queue="q", lock_duration=5), DOWN)
    assert described(told, lock_duration=5) is allowed
    assert described(told, lock_duration=60 * v.MICROSECONDS)
    told.of(v.DeleteQueue(queue="q"), DOWN).of(v.BringPartitionUp(queue="q", partition=0))
    assert told.may_be(v.DeleteQueue(queue="q"), MISSING) is allowed


@pytest.mark.parametrize(
    ("command", "error", "allowed"),
    [
        (v.Send(queue="q", message=v.Message(body="m")), INVALID, False),
        (v.Send(queue="q", message=TWO_KEYS), INVALID, True),
        (v.Send(queue="q", message=TWO_KEYS), OTHER, False),
        (v.Send(queue="p", message=TWO_KEYS), OTHER, True),
        (v.CreateQueue(queue="q"), OTHER, False),
        (v.CreateQueue(queue="q", forward_to="nowhere"), OTHER, True),
        (v.GetQueue(queue="p"), OTHER, False),
        (v.Complete(queue="p", lock_token="l"), OTHER, True),
    ],
)
def test_of_several_reasons_any_may_be_named(
    command: v.Command, error: v.Refused, allowed: bool
) -> None:
    told = queue(partitioned=True)
    told.of(v.UpdateQueue(queue="q", status=v.EntityStatus.SEND_DISABLED))
    assert told.may_be(command, error) is allowed


def test_a_peek_of_a_source_may_be_refused() -> None:
    told = Told().of(v.CreateQueue(queue="end")).of(v.CreateQueue(queue="q", forward_to="end"))
    assert told.may_be(v.Peek(queue="q"), OTHER)
    assert not told.may_be(v.Peek(queue="end"), OTHER)
    assert told.may_be(v.GetQueue(queue=f"q{v.DEAD_LETTERS}"), OTHER)


def test_a_reason_that_no_document_names_may_be_another() -> None:
    told = Told().of(v.CreateQueue(queue="end", requires_session=True))
    told.of(v.CreateQueue(queue="q", forward_to="end"))
    told.of(v.Send(queue="q", message=v.Message(body="m", partition_key="k")), DONE)
    shown = v.MessageView(body="m", partition_key="k", dead_letter_reason="any")
    dead = v.Receive(queue=f"end{v.DEAD_LETTERS}", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert told.may_be(dead, v.Received(message=shown))


@pytest.mark.parametrize(("suffix", "allowed"), [(v.DEAD_LETTERS, True), ("x", False)])
def test_a_list_may_name_dead_letter_queues(suffix: str, allowed: bool) -> None:
    listed = v.Listed(names=("q", f"q{suffix}"))
    assert queue().may_be(v.ListQueues(), listed) is allowed


def test_a_topic_shows_nothing_but_what_is_scheduled() -> None:
    told = Told().of(v.CreateTopic(topic="t"))
    plan = v.Schedule(queue="t", message=v.Message(body="m"), delay=LONG)
    told.of(plan, v.Scheduled(sequence_number=1))
    view = v.MessageView(body="m", state=v.MessageState.SCHEDULED)
    peek = v.Peek(queue="t", count=5)
    assert told.may_be(peek, v.Peeked())
    assert told.may_be(peek, v.Peeked(messages=(view,)))
    assert not told.may_be(peek, v.Peeked(messages=(view, view)))


def test_a_commit_after_a_deletion_may_reach_the_next_queue_of_the_name() -> None:
    told = queue().of(v.BeginTransaction(transaction="t"))
    message = v.Message(body="m", partition_key="k")
    told.of(v.Send(queue="q", message=message, transaction="t")).of(v.DeleteQueue(queue="q"))
    told.of(v.CreateQueue(queue="q"))
    commit = v.CommitTransaction(transaction="t")
    assert told.may_be(commit, MISSING)
    take = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    shown = v.MessageView(body="m", partition_key="k")
    told.of(commit)
    assert told.may_be(take, v.Received(message=shown))
    assert told.may_be(take, v.Empty())


def test_copies_and_dead_letters_may_be_in_other_partitions() -> None:
    told = Told().of(v.CreateTopic(topic="t", partitioned=True))
    told.of(v.CreateSubscription(topic="t", subscription="s"))
    for body in ("m", "n"):
        told.of(v.Send(queue="t", message=v.Message(body=body, partition_key="k")))
    path = v.subscription_path("t", "s")
    take = v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)

    def got(body: str, partition: int, count: int) -> v.Outcome:
        number = (partition << v.SEQUENCE_BITS) + count
        return v.Received(
            message=v.MessageView(body=body, partition_key="k", sequence_number=number)
        )

    told.of(take, got("m", 3, 1))
    assert told.may_be(take, got("n", 3, 2))
    assert not told.may_be(take, got("n", 4, 1))


def test_a_lost_update_may_have_been_shortened() -> None:
    told = queue().lost(v.UpdateQueue(queue="q", lock_duration=LONG))
    assert described(told, lock_duration=300 * v.MICROSECONDS)
    assert not described(told, lock_duration=LONG)


def test_a_lost_message_expires_by_its_arrival() -> None:
    told = Told().of(v.CreateQueue(queue="q", dead_letter_expired=True))
    told.lost(v.Send(queue="q", message=v.Message(body="m")))
    told.of(v.UpdateQueue(queue="q", time_to_live=10 * v.MICROSECONDS))
    dead = v.Receive(queue=f"q{v.DEAD_LETTERS}")
    shown = v.MessageView(body="m", dead_letter_reason="TTLExpiredException")
    assert not told.may_be(dead, v.Received(message=shown))
    assert told.waited(11).may_be(dead, v.Received(message=shown))


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_send_to_no_queue_may_end_its_transaction(outcome: v.Outcome) -> None:
    told = Told().of(v.BeginTransaction(transaction="t"))
    told.of(v.Send(queue="q", message=v.Message(body="m"), transaction="t"), MISSING)
    assert told.may_be(v.CommitTransaction(transaction="t"), outcome)


@pytest.mark.parametrize(("connection", "allowed"), [("c2", True), ("c1", False)])
def test_a_front_end_keeps_what_any_partition_gave_it(connection: str, allowed: bool) -> None:
    told = Told(GET_LAG="at-once").of(v.CreateQueue(queue="q", partitioned=True))
    for body in ("m", "n"):
        told.of(v.Send(queue="q", message=v.Message(body=body)))
    shown = v.MessageView(body="m", sequence_number=1, lock_token="l")
    told.of(v.Receive(queue="q"), v.Received(message=shown))
    empty = attrs.evolve(told.of(v.Receive(queue="q"), v.Empty()).events[-1], connection=connection)
    told.events[-1] = empty
    assert told.is_explained is allowed


@pytest.mark.parametrize(
    ("tier", "most"), [(v.Tier.STANDARD, 4_500), (v.Tier.PREMIUM, 15_900)], ids=str
)
def test_a_batch_of_very_many_messages_may_be_refused_with_any_error(
    tier: v.Tier, most: int
) -> None:
    """LIMIT-23."""
    told = Told(tier=tier).of(v.CreateQueue(queue="q", partitioned=False))
    messages = tuple(v.Message(body="") for _ in range(most + 1))
    refused = v.Refused(error=v.Error.OTHER)
    assert told.may_be(v.SendBatch(queue="q", messages=messages), refused)
    assert told.may_be(v.SendBatch(queue="q", messages=messages))
    assert not told.may_be(v.SendBatch(queue="q", messages=messages[:10]), refused)


@pytest.mark.parametrize("queue", ["q", f"q{v.DEAD_LETTERS}"])
def test_a_dead_letter_may_be_deferred_or_not(queue: str) -> None:
    told = Told().of(v.CreateQueue(queue="q")).of(v.Send(queue="q", message=v.Message(body="m")))
    shown = v.MessageView(body="m", sequence_number=1, lock_token="l")
    told.of(v.Receive(queue="q"), v.Received(message=shown))
    if queue != "q":
        told.of(v.DeadLetter(queue="q", lock_token="l", reason="why"))
        letter = attrs.evolve(shown, lock_token="k", dead_letter_reason="why")
        told.of(v.Receive(queue=queue), v.Received(message=letter))
    defer = v.Defer(queue=queue, lock_token="l" if queue == "q" else "k")
    assert told.may_be(defer)
    refused = v.Refused(error=v.Error.INVALID_OPERATION)
    assert told.may_be(defer, refused) is (queue != "q")
