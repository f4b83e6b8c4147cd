"""Transactions that may be over, and requests in them of which nothing is said."""

from collections.abc import Callable

import pytest
from told import Told

from busproof import vocabulary as v
from busproof.judging.replay.explanation import explain

INVALID = v.Refused(error=v.Error.INVALID_OPERATION)
MISSING = v.Refused(error=v.Error.NOT_FOUND)
DOWN = v.Refused(error=v.Error.UNAVAILABLE)
FULL = v.Refused(error=v.Error.QUOTA_EXCEEDED)
COMMIT = v.CommitTransaction(transaction="t")
ROLL_BACK = v.RollBackTransaction(transaction="t")
TAKE = v.Receive(queue="q")
Settle = Callable[..., v.Settlement | v.RenewLock]


def begun(*, partitioned: bool = True, **readings: str) -> Told:
    told = Told(**readings).of(v.CreateQueue(queue="q", partitioned=partitioned))
    return told.of(v.BeginTransaction(transaction="t"))


def send(body: str, key: str | None = "k", queue: str = "q", size: int | None = None) -> v.Send:
    message = v.Message(body=body, partition_key=key, size=size)
    return v.Send(queue=queue, message=message, transaction="t")


def schedule(body: str, key: str | None = "k", queue: str = "q") -> v.Schedule:
    message = v.Message(body=body, partition_key=key)
    return v.Schedule(queue=queue, message=message, delay=9, transaction="t")


def received(told: Told, key: str | None = "k", **fields: object) -> Told:
    """Add a message, and the receive that gives it under the lock l."""
    message = v.Message(body="m", partition_key=key)
    view = v.MessageView(body="m", partition_key=key, lock_token="l", **fields)  # type: ignore[arg-type]
    return told.of(v.Send(queue="q", message=message)).of(TAKE, v.Received(message=view))


def settle(kind: Settle, *, inside: bool = True) -> v.Settlement | v.RenewLock:
    inner = {"transaction": "t"} if inside else {}
    return kind(queue="q", lock_token="l", **inner)


@pytest.mark.parametrize(("seconds", "allowed"), [(119, False), (121, True)])
@pytest.mark.parametrize("command", [COMMIT, ROLL_BACK, send("m"), schedule("m")])
def test_a_transaction_may_be_over_after_two_minutes(
    command: v.Command, seconds: int, allowed: bool
) -> None:
    told = begun().waited(seconds)
    if isinstance(command, v.CommitTransaction):
        told = begun().of(send("m")).waited(seconds)
        assert told.may_be(command)
    assert told.may_be(command, MISSING) is allowed


@pytest.mark.parametrize(("keeps_limits", "allowed"), [(False, True), (True, False)])
def test_a_transaction_of_many_messages_may_be_over(keeps_limits: bool, allowed: bool) -> None:
    told = begun()
    for number in range(100):
        told.of(send(f"m{number}"))
    told.of(ROLL_BACK, MISSING)
    seen = v.Observability(limits=keeps_limits)
    assert explain(told.events, told.profile, seen).is_found is allowed


def test_a_lock_lasts_no_longer_than_its_transaction() -> None:
    told = received(begun(LOCK_IN_TRANSACTION="lasts")).of(settle(v.Complete))
    again = v.Received(message=v.MessageView(body="m", partition_key="k"))
    assert not told.waited(61).may_be(TAKE, again)
    assert told.waited(60).may_be(TAKE, again)


def test_a_lost_commit_may_leave_everything_as_it_was() -> None:
    told = received(begun()).of(settle(v.Complete)).lost(COMMIT)
    assert told.may_be(settle(v.Complete, inside=False))
    assert told.may_be(COMMIT, MISSING)


@pytest.mark.parametrize(("reading", "allowed"), [("dead", True), ("continues", False)])
def test_a_transaction_may_be_over_after_a_refusal(reading: str, allowed: bool) -> None:
    told = begun(TXN_AFTER_REFUSAL=reading).of(send("m", key=None), INVALID)
    assert told.may_be(ROLL_BACK, MISSING) is allowed
    different = v.Message(body="n", session_id="a", partition_key="b")
    scheduled = v.Schedule(queue="q", message=different, delay=9, transaction="t")
    told = begun(TXN_AFTER_REFUSAL=reading).of(scheduled, INVALID)
    assert told.may_be(COMMIT, INVALID) is allowed


@pytest.mark.parametrize(("command", "allowed"), [(send("m"), False), (schedule("m"), True)])
def test_a_transaction_may_go_on_after_a_schedule_was_refused(
    command: v.Command, allowed: bool
) -> None:
    told = begun(TXN_AFTER_REFUSAL="dead")
    for partition in range(told.profile.partitions):
        told.of(v.TakePartitionDown(queue="q", partition=partition))
    told.of(command, DOWN)
    for partition in range(told.profile.partitions):
        told.of(v.BringPartitionUp(queue="q", partition=partition))
    assert told.may_be(send("n")) is allowed
    assert told.may_be(send("n"), INVALID)


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("at-send", False)])
@pytest.mark.parametrize("command", [send("m"), schedule("m")])
def test_an_outage_may_refuse_the_commit(command: v.Command, reading: str, allowed: bool) -> None:
    told = begun(TXN_REFUSAL=reading)
    for partition in range(told.profile.partitions):
        told.of(v.TakePartitionDown(queue="q", partition=partition))
    is_scheduled = isinstance(command, v.Schedule)
    told.of(command, v.Scheduled() if is_scheduled else v.Done()).of(COMMIT, DOWN)
    assert told.is_explained is allowed


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("sends-only", False)])
def test_a_send_may_need_the_key_of_what_was_settled(reading: str, allowed: bool) -> None:
    told = received(begun(TXN_OTHER_OPERATIONS=reading)).of(settle(v.Complete))
    assert told.may_be(send("n", key="other"), INVALID) is allowed
    assert not told.may_be(send("n"), INVALID)


def test_a_second_entity_may_be_refused_beside_what_is_scheduled_or_a_rule() -> None:
    told = begun(partitioned=False, TXN_ENTITIES="accepted")
    told.of(v.CreateQueue(queue="p", partitioned=False)).of(schedule("m", queue="p"), v.Scheduled())
    assert told.may_be(send("n"), INVALID)
    told = begun(partitioned=False, REGULAR_RULES="supported")
    told.of(v.CreateTopic(topic="x", partitioned=False))
    told.of(v.CreateSubscription(topic="x", subscription="s")).of(send("m"))
    change = v.RemoveRule(topic="x", subscription="s", rule="$Default", transaction="t")
    assert told.may_be(change, INVALID)
    assert told.may_be(change)


@pytest.mark.parametrize("outcome", [v.Scheduled(), INVALID])
def test_a_schedule_may_name_another_entity_where_a_send_may(outcome: v.Outcome) -> None:
    told = begun(TXN_OTHER_OPERATIONS="all").of(v.CreateQueue(queue="p", partitioned=True))
    told.of(send("m", queue="p"))
    assert told.may_be(schedule("n"), outcome)


@pytest.mark.parametrize(
    ("kind", "inside", "refused"),
    [(v.Complete, False, True), (v.Abandon, True, True), (v.RenewLock, False, True)],
)
def test_what_waits_for_a_commit_may_be_settled_again_or_not(
    kind: Settle, inside: bool, refused: bool
) -> None:
    told = received(begun()).of(settle(v.Complete))
    assert told.may_be(settle(kind, inside=inside), INVALID) is refused
    if kind is not v.RenewLock:
        told.of(settle(kind, inside=inside))
        assert told.may_be(COMMIT)


@pytest.mark.parametrize(("reading", "allowed"), [("dead", True), ("continues", False)])
def test_a_lock_that_may_be_lost_may_doom_its_transaction(reading: str, allowed: bool) -> None:
    told = received(begun(partitioned=False, TXN_AFTER_REFUSAL=reading)).waited(59)
    told.of(settle(v.Complete)).of(ROLL_BACK, MISSING)
    seen = v.Observability(slack=2 * v.MICROSECONDS)
    assert explain(told.events, told.profile, seen).is_found is allowed


@pytest.mark.parametrize(("assigns", "allowed"), [(True, True), (False, False)])
def test_an_assigned_id_may_be_the_key_of_a_transaction(assigns: bool, allowed: bool) -> None:
    told = begun().of(send("m", key=None))
    seen = v.Observability(assigns_message_ids=assigns)
    assert explain(told.events, told.profile, seen).is_found is allowed
    told.of(send("n", key=None))
    assert not explain(told.events, told.profile, seen).is_found


def test_the_name_of_a_transaction_that_is_over_may_be_used_again() -> None:
    begin = v.BeginTransaction(transaction="t")
    told = begun()
    assert not told.may_be(begin)
    told.of(COMMIT)
    assert told.may_be(begin)
    assert told.may_be(begin, v.Refused(error=v.Error.ALREADY_EXISTS))


def test_what_waits_for_a_commit_may_take_room() -> None:
    large = 100_000_000
    told = begun(partitioned=False)
    for number in range(9):
        told.of(send(f"m{number}", size=large))
    message = v.Message(body="n", partition_key="k", size=large)
    assert told.may_be(v.Send(queue="q", message=message), FULL)
    assert told.may_be(v.Send(queue="q", message=message))


def test_each_copy_of_a_topic_may_take_room() -> None:
    told = Told().of(v.CreateTopic(topic="q")).of(v.BeginTransaction(transaction="t"))
    for name in ("a", "b"):
        told.of(v.CreateSubscription(topic="q", subscription=name))
    for number in range(4):
        told.of(send(f"m{number}", size=100_000_000))
    assert told.may_be(COMMIT, FULL)
    assert told.may_be(COMMIT)
