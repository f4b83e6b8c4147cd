"""Sessions, and what a transaction keeps, settles and refuses."""

import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model import ways


def test_state_of_a_session_outlives_its_holder_and_is_limited(bus: Bus) -> None:
    bus.create("s", requires_session=True)
    mine = {"queue": "s", "session_id": "a"}
    bus.done(v.AcceptSession(**mine))
    bus.done(v.SetSessionState(**mine, state="kept"))
    large = v.SetSessionState(**mine, state="x" * 257 * 1024)
    assert v.Error.MESSAGE_TOO_LARGE is bus.refused(large)
    bus.done(v.SetSessionState(**mine, state="x" * 100 * 1024))
    bus.done(v.SetSessionState(**mine, state="kept"))
    bus.done(v.CloseSession(**mine))
    assert v.SessionsListed(session_ids=("a",)) == bus.done(v.ListSessions(queue="s"))
    bus.done(v.AcceptSession(**mine), "c2")
    assert v.SessionState(state="kept") == bus.done(v.GetSessionState(**mine), "c2")
    assert v.Error.SESSION_CANNOT_BE_LOCKED is bus.refused(v.AcceptSession(**mine))
    assert isinstance(bus.done(v.RenewSessionLock(**mine), "c2"), v.Renewed)


def test_messages_of_a_session_come_back_when_it_is_closed_or_ends(bus: Bus) -> None:
    bus.create("s", requires_session=True, max_delivery_count=2)
    for body in ("m1", "m2"):
        bus.send(body, queue="s", session_id="a")
    bus.done(v.AcceptNextSession(queue="s"))
    bus.receive("s", session_id="a")
    bus.done(v.CloseSession(queue="s", session_id="a"))
    for count in (1, 2):
        bus.done(v.AcceptSession(queue="s", session_id="a"))
        given = bus.receive("s", session_id="a")
        assert ("m1", count) == (given.body, given.delivery_count)
        bus.wait(60)
    bus.done(v.AcceptNextSession(queue="s"))
    bus.done(v.AcceptSession(queue="s", session_id="a"))
    assert "m2" == bus.receive("s", session_id="a").body


def test_next_session_in_an_outage_may_be_found_or_not(bus: Bus) -> None:
    bus.create("s", requires_session=True)
    for number in range(5):
        bus.send("m", queue="s", session_id=f"s{number}")
    bus.down(0, "s")
    found = {
        type(answer.outcome)
        for _, answer in ways(bus.namespace, v.AcceptNextSession(queue="s"), "c1")
    }
    assert {v.SessionAccepted, v.Empty, v.Refused} == found


def test_transaction_holds_locks_if_so_read() -> None:
    bus = Bus(profile(LOCK_IN_TRANSACTION="lasts"))
    bus.create(lock_duration=SECOND)
    bus.send("m")
    given = bus.receive()
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Complete(queue="q", lock_token=given.lock_token or "", transaction="x"))
    bus.wait(2)
    assert [] == bus.bodies()
    bus.done(v.RollBackTransaction(transaction="x"))
    assert ["m"] == bus.bodies()


def test_settlement_with_a_lost_lock_is_refused_by_the_commit_if_so_read() -> None:
    bus = Bus(profile(SETTLEMENT_REFUSAL="at-commit"))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.DeadLetter(queue="q", lock_token="none", transaction="x"))
    bus.done(v.Complete(queue="q", lock_token="1/1", transaction="x"))
    assert v.Error.LOCK_LOST is bus.refused(v.CommitTransaction(transaction="x"))


def test_settlement_on_another_queue_agrees_with_every_send() -> None:
    bus = Bus(profile(TXN_OTHER_OPERATIONS="all"))
    for queue in ("q", "r"):
        bus.create(queue)
    bus.send("old", "r", partition_key="b")
    given = bus.receive("r")
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Send(queue="q", message=v.Message(body="m", partition_key="a"), transaction="x"))
    settled = v.Complete(queue="r", lock_token=given.lock_token or "", transaction="x")
    bus.done(settled)
    bus.done(v.CommitTransaction(transaction="x"))
    assert ["m"] == bus.bodies()
    assert [] == bus.bodies("r")


def test_commit_of_a_dead_transaction_is_refused() -> None:
    bus = Bus(profile(TXN_REFUSAL="at-commit"))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    for key in ("a", "b"):
        message = v.Message(body=key, partition_key=key)
        bus.done(v.Send(queue="q", message=message, transaction="x"))
    assert v.Error.INVALID_OPERATION is bus.refused(v.CommitTransaction(transaction="x"))
    assert [] == bus.bodies()


def test_message_lives_from_its_send_in_a_transaction_if_so_read() -> None:
    bus = Bus(profile(LIFETIME_IN_TRANSACTION="send"))
    bus.create(time_to_live=5 * SECOND)
    bus.done(v.BeginTransaction(transaction="x"))
    message = v.Message(body="m", partition_key="k")
    bus.done(v.Send(queue="q", message=message, transaction="x"))
    bus.wait(6)
    bus.done(v.CommitTransaction(transaction="x"))
    assert [] == bus.bodies()


def test_commit_is_refused_whose_queue_is_gone_down_or_full(bus: Bus) -> None:
    bus.create()
    message = v.Message(body="m", partition_key="k", size=10)
    for name in ("gone", "down", "full"):
        bus.done(v.BeginTransaction(transaction=name))
        partition = bus.ask(v.Send(queue="q", message=message, transaction=name)).partition or 0
    bus.down(partition)
    assert v.Error.UNAVAILABLE is bus.refused(v.CommitTransaction(transaction="down"))
    bus.up(partition)
    bus.send("large", partition_key="k", size=2**30, stands_in=True)
    assert v.Error.QUOTA_EXCEEDED is bus.refused(v.CommitTransaction(transaction="full"))
    bus.done(v.DeleteQueue(queue="q"))
    assert v.Error.NOT_FOUND is bus.refused(v.CommitTransaction(transaction="gone"))


@pytest.mark.parametrize(("reading", "error"), [("one-key", None), ("two-keys", "refused")])
def test_one_value_in_two_properties_is_one_key_or_two(reading: str, error: str | None) -> None:
    bus = Bus(profile(KEY_PROPERTIES=reading))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Send(queue="q", message=v.Message(body="m", session_id="a"), transaction="x"))
    other = v.Send(queue="q", message=v.Message(body="n", partition_key="a"), transaction="x")
    assert (error is not None) is isinstance(bus.ask(other).outcome, v.Refused)


@pytest.mark.parametrize(("reading", "partitions"), [("when-scheduled", 2), ("when-due", 3)])
def test_partition_of_a_scheduled_message_is_chosen_as_read(reading: str, partitions: int) -> None:
    bus = Bus(profile(SCHEDULE_PLACE=reading))
    bus.create()
    bus.down(0)
    places = set()
    for number in range(6):
        message = v.Message(body=f"m{number}", size=1)
        places.add(bus.ask(v.Schedule(queue="q", message=message, delay=SECOND)).partition)
    assert partitions == len(places)
    keyed = [v.Message(body="k", partition_key=f"k{number}") for number in range(9)]
    outcomes = {
        type(bus.ask(v.Schedule(queue="q", message=each, delay=SECOND)).outcome) for each in keyed
    }
    assert (reading == "when-scheduled") is (v.Refused in outcomes)
    bus.wait(1)
    bus.up(0)
    assert {f"m{number}" for number in range(6)} <= set(bus.bodies())


def test_other_operations_need_the_key_of_the_transaction_if_so_read() -> None:
    bus = Bus(profile(TXN_OTHER_OPERATIONS="all"))
    bus.create("q")
    bus.create("r")
    bus.send("m", partition_key="b")
    bus.send("n", partition_key="a")
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Send(queue="q", message=v.Message(body="o", partition_key="a"), transaction="x"))
    outcomes = []
    for _ in range(2):
        given = bus.receive()
        complete = v.Complete(queue="q", lock_token=given.lock_token or "", transaction="x")
        outcomes.append((given.body, type(bus.ask(complete).outcome)))
    assert {("m", v.Refused), ("n", v.Done)} == set(outcomes)
    for queue, key, kind in (("q", "a", v.Scheduled), ("q", "b", v.Refused), ("r", "a", v.Refused)):
        message = v.Message(body="p", partition_key=key)
        later = v.Schedule(queue=queue, message=message, delay=SECOND, transaction="x")
        assert isinstance(bus.ask(later).outcome, kind)


@pytest.mark.parametrize(
    ("reading", "kind"), [("always", v.Done), ("with-duplicate-detection", v.Refused)]
)
def test_message_id_is_a_key_in_transactions_as_read(reading: str, kind: type) -> None:
    bus = Bus(profile(TXN_MESSAGE_ID=reading))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    command = v.Send(queue="q", message=v.Message(body="m", message_id="i"), transaction="x")
    assert isinstance(bus.ask(command).outcome, kind)


def test_settlement_of_a_lock_that_is_not_held_dooms_the_commit_whatever_comes_later() -> None:
    """The token that was made up is that of a lock by the time of the commit."""
    bus = Bus(profile(SETTLEMENT_REFUSAL="at-commit"))
    bus.create()
    bus.send("m", partition_key="k")
    token = bus.receive().lock_token or ""
    bus = Bus(profile(SETTLEMENT_REFUSAL="at-commit"))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Complete(queue="q", lock_token=token, transaction="x"))
    bus.send("m", partition_key="k")
    assert token == bus.receive().lock_token
    assert v.Error.LOCK_LOST is bus.refused(v.CommitTransaction(transaction="x"))


def test_second_entity_in_a_transaction_is_refused_if_so_read() -> None:
    bus = Bus(profile(TXN_ENTITIES="refused"))
    bus.create("q")
    bus.create("r")
    bus.done(v.BeginTransaction(transaction="x"))
    message = v.Message(body="m", partition_key="a")
    bus.done(v.Send(queue="q", message=message, transaction="x"))
    second = v.Send(queue="r", message=message, transaction="x")
    assert v.Error.INVALID_OPERATION is bus.refused(second)


@pytest.mark.parametrize(
    ("readings", "sent", "committed"),
    [
        ({"TXN_REFUSAL": "at-commit"}, v.Done, v.Refused),
        ({"TXN_AFTER_REFUSAL": "dead"}, v.Refused, v.Refused),
        ({"TXN_AFTER_REFUSAL": "continues"}, v.Refused, v.Done),
    ],
)
def test_wrong_message_dooms_its_transaction_as_read(
    readings: dict[str, str], sent: type, committed: type
) -> None:
    bus = Bus(profile(**readings))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    wrong = v.Send(queue="q", message=v.Message(body="m"), transaction="x")
    assert isinstance(bus.ask(wrong).outcome, sent)
    right = v.Send(queue="q", message=v.Message(body="n", partition_key="k"), transaction="x")
    outcome = bus.ask(right).outcome
    assert isinstance(outcome, v.Refused) is (committed is sent is v.Refused)
    assert isinstance(bus.ask(v.CommitTransaction(transaction="x")).outcome, committed)


def test_settled_and_undone_messages_of_a_session_do_not_come_back(bus: Bus) -> None:
    bus.create("s", requires_session=True)
    bus.send("m", queue="s", session_id="a")
    bus.done(v.AcceptSession(queue="s", session_id="a"))
    namespace, session = bus.namespace, bus.namespace.entities["s"].sessions["a"]
    receive = v.Receive(queue="s", session_id="a")
    for _ in ways(namespace, receive, "c1"):
        pass
    assert 1 == len(session.locked)
    bus.done(v.CloseSession(queue="s", session_id="a"))
    assert [1] == [each.failed + 1 for each in namespace.entities["s"].messages.values()]


def test_sessions_of_a_disabled_queue_are_refused(bus: Bus) -> None:
    """MGMT-27: a disabled queue gives no messages, and here no states of sessions either."""
    bus.create(requires_session=True)
    bus.done(v.AcceptSession(queue="q", session_id="s"))
    bus.done(v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    asked = v.GetSessionState(queue="q", session_id="s")
    assert v.Error.ENTITY_DISABLED is bus.refused(asked)


def test_message_scheduled_in_a_transaction_is_planned_by_the_commit(bus: Bus) -> None:
    """SCHED-15."""
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    message = v.Message(body="m", partition_key="k")
    bus.done(v.Schedule(queue="q", message=message, delay=10 * SECOND, transaction="x"))
    bus.done(v.CommitTransaction(transaction="x"))
    assert v.Empty() == bus.done(v.Receive(queue="q"))
    bus.done(v.AdvanceClock(duration=10 * SECOND))
    assert isinstance(bus.done(v.Receive(queue="q")), v.Received)
