"""The first rule of a violation is the one that a reader of the documents would name."""

import attrs
import pytest
from replayed import DONE, Observer, received, replaying, view

from busproof import vocabulary as v

TAKE = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
LOCK = v.Receive(queue="q")
SUBSCRIPTION = "t/subscriptions/s"
INVALID, MISSING = v.Refused(error=v.Error.INVALID_OPERATION), v.Refused(error=v.Error.NOT_FOUND)
DISABLED = v.Refused(error=v.Error.ENTITY_DISABLED)
MINUTE = 60_000_000


def first(observer: Observer, command: object, outcome: v.Outcome = DONE, **more: object) -> str:
    found = observer.saw(command, outcome, **more)
    assert not found.possible
    return found.rules[0]


def locked(observer: Observer, name: str = "q", **settings: object) -> Observer:
    observer.queue(**settings)
    observer.send(partition=1)
    lock = {"lock_token": "l", "locked_until": MINUTE}
    observer.has(v.Receive(queue=name), received("m1", 1, 1, **lock))
    return observer


def schedule(body: str) -> v.Schedule:
    return v.Schedule(queue="q", message=v.Message(body=body), delay=MINUTE)


def session(observer: Observer) -> Observer:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(v.AcceptSession(queue="q", session_id="a"))
    return observer


def topic(observer: Observer, **settings: object) -> Observer:
    observer.has(v.CreateTopic(topic="t", **settings))
    observer.has(v.Send(queue="t", message=v.Message(body="early")))
    observer.has(v.CreateSubscription(topic="t", subscription="s"))
    return observer


@pytest.mark.parametrize("partition", [1, 2])
def test_a_changed_number_is_named_even_of_a_dead_letter(partition: int) -> None:
    observer = locked(replaying())
    observer.has(v.Abandon(queue="q", lock_token="l"))
    again = received("m1", partition, 2, lock_token="k", locked_until=MINUTE)
    assert first(observer, LOCK, again) == "SEQ-04"
    assert (
        first(observer, v.Peek(queue="q"), v.Peeked(messages=(view("m1", partition, 2),)))
        == "SEQ-04"
    )
    observer.has(LOCK, received("m1", 1, 1, lock_token="k", locked_until=MINUTE))
    observer.has(v.DeadLetter(queue="q", lock_token="k", reason="spoiled"))
    dead = v.Receive(queue="q/$deadletterqueue")
    observer.has(dead, received("m1", 1, 7, lock_token="d", locked_until=MINUTE))
    observer.has(v.Abandon(queue="q/$deadletterqueue", lock_token="d"))
    assert first(observer, dead, received("m1", 1, 8, lock_token="e")) == "SEQ-04"


def test_a_dead_letter_is_not_dead_lettered_again() -> None:
    observer = locked(replaying())
    observer.has(v.DeadLetter(queue="q", lock_token="l", reason="spoiled"))
    dead = "q/$deadletterqueue"
    observer.has(v.Receive(queue=dead), received("m1", 1, 1, lock_token="d", locked_until=MINUTE))
    assert first(observer, v.DeadLetter(queue=dead, lock_token="d", reason="again")) == "DLQ-10"


@pytest.mark.parametrize("session_id", [None, "b"])
def test_receive_without_its_session(session_id: str | None) -> None:
    observer = session(replaying())
    observer.send(partition=2, session_id="b")
    given = received("m2", 2, 1, session_id="b", lock_token="k")
    assert first(observer, v.Receive(queue="q", session_id=session_id), given) == "SESS-02"


def test_receive_from_a_session_that_was_lost() -> None:
    observer = session(replaying())
    observer.has(v.AdvanceClock(duration=MINUTE + 1))
    at = (MINUTE + 1, MINUTE + 1)
    given = received("m1", 1, 1, session_id="a", lock_token="k")
    assert first(observer, v.Receive(queue="q", session_id="a"), given, at=at) == "SESS-12"
    assert first(observer, v.RenewSessionLock(queue="q", session_id="a"), v.Renewed(), at=at) == (
        "SESS-12"
    )
    assert first(observer, v.SetSessionState(queue="q", session_id="a", state="x"), at=at) == (
        "SESS-12"
    )


def test_state_of_a_session_is_diagnosed_by_what_was_set() -> None:
    observer = session(replaying())
    get = v.GetSessionState(queue="q", session_id="a")
    assert first(observer, get, v.SessionState(state="ghost")) == "SESS-16"
    observer.has(v.AcceptSession(queue="q", session_id="b"))
    observer.has(v.SetSessionState(queue="q", session_id="b", state="other"))
    assert first(observer, get, v.SessionState(state="other")) == "SESS-20"
    observer.has(v.SetSessionState(queue="q", session_id="a", state="own"))
    assert first(observer, get, v.SessionState(state="altered")) == "SESS-17"
    assert first(observer, get, v.SessionState(state="own"), connection="c2") == "SESS-21"
    observer.has(v.SetSessionState(queue="q", session_id="a", state=None))
    assert first(observer, get, v.SessionState(state="own")) == "SESS-18"


def test_what_a_number_of_a_deferred_message_gives() -> None:
    observer = locked(replaying())
    observer.has(v.Defer(queue="q", lock_token="l"))
    observer.send(partition=1)
    number = view("m1", 1, 1).sequence_number
    assert number is not None
    receive = v.ReceiveDeferred(queue="q", sequence_numbers=(number,))
    other = v.ReceivedSeveral(messages=(view("m2", 1, 1, lock_token="k"),))
    altered = v.ReceivedSeveral(messages=(view("m1", 1, 1, subject="x", lock_token="k"),))
    assert first(observer, receive, other) == "DEFER-02"
    assert first(observer, receive, altered) == "LIFE-01"


def test_message_of_an_unknown_entity() -> None:
    assert first(replaying(), v.Send(queue="q", message=v.Message(body="m"))) == "MGMT-10"
    assert first(replaying(), LOCK, v.Empty()) == "MGMT-10"


def test_message_from_before_its_subscription() -> None:
    given = received("early", 1, 1)
    assert first(topic(replaying()), v.Receive(queue=SUBSCRIPTION), given) == "TOPIC-03"


def test_message_that_its_subscription_withholds() -> None:
    observer = topic(replaying())
    observer.has(v.Send(queue="t", message=v.Message(body="late")), partition=1)
    assert first(observer, v.Receive(queue=SUBSCRIPTION), v.Empty()) == "TOPIC-01"


def test_message_that_its_source_forwards_and_gives() -> None:
    observer = replaying()
    observer.has(v.CreateQueue(queue="end"))
    observer.queue(forward_to="end")
    observer.send(partition=1)
    assert first(observer, TAKE, received("m1", 1, 1)) == "FWD-15"


@pytest.mark.parametrize(
    ("partitioned", "added", "removed"),
    [(True, "FEAT-01", "FEAT-02"), (False, "FILTER-07", "FILTER-07")],
)
def test_a_change_of_rules_that_is_refused(*, partitioned: bool, added: str, removed: str) -> None:
    observer = topic(replaying(), partitioned=partitioned)
    of = {"topic": "t", "subscription": "s"}
    assert (
        first(observer, v.AddRule(rule="r", filter=v.CorrelationFilter(subject="x"), **of), INVALID)
        == added
    )
    sql = v.AddRule(rule="r", filter=v.SqlFilter(expression="[a b] = 1"), **of)
    assert first(observer, sql, INVALID) == "FILTER-32"
    assert first(observer, v.RemoveRule(rule="$Default", **of), INVALID) == removed


def test_a_send_that_is_refused() -> None:
    observer = topic(replaying())
    observer.queue()
    agreeing = v.Message(body="m", session_id="a", partition_key="a")
    assert first(observer, v.Send(queue="q", message=agreeing), INVALID) == "KEY-09"
    assert first(observer, v.Send(queue="t", message=v.Message(body="m")), INVALID) == "TOPIC-04"
    assert first(observer, v.Send(queue="q", message=v.Message(body="m")), DISABLED) == "MGMT-28"


@pytest.mark.parametrize("end", [v.CommitTransaction, v.RollBackTransaction])
def test_a_transaction_that_is_over_takes_nothing_more(end: type) -> None:
    observer = replaying()
    observer.queue()
    observer.has(v.BeginTransaction(transaction="t"))
    observer.has(end(transaction="t"))
    send = v.Send(queue="q", message=v.Message(body="m", partition_key="a"), transaction="t")
    assert first(observer, send) == "TXN-12"
    observer.has(send, MISSING)


def test_how_a_withheld_message_came() -> None:
    observer = replaying()
    observer.queue(partitioned=False)
    observer.has(v.SendBatch(queue="q", messages=(v.Message(body="m"),)))
    assert first(observer, TAKE, v.Empty()) == "BATCH-01"
    observer = replaying()
    observer.queue(duplicate_detection=True)
    observer.send(partition=1, message_id="x")
    assert first(observer, TAKE, v.Empty()) == "DUP-04"
    observer = replaying()
    observer.queue()
    observer.has(v.BeginTransaction(transaction="t"))
    observer.send(partition=1, partition_key="a", transaction="t")
    observer.has(v.CommitTransaction(transaction="t"))
    assert first(observer, TAKE, v.Empty()) == "TXN-12"


def test_no_two_scheduled_messages_have_one_number() -> None:
    observer = replaying()
    observer.queue()
    observer.has(schedule("s1"), v.Scheduled(sequence_number=7))
    assert first(observer, schedule("s2"), v.Scheduled(sequence_number=7)) == "SEQ-03"
    observer.has(schedule("s2"), v.Scheduled(sequence_number=8))
    observer.send(partition=0)
    assert first(observer, TAKE, received("m1", 0, 8)) == "SEQ-03"
    observer.has(TAKE, received("m1", 0, 9))
    assert first(observer, schedule("s3"), v.Scheduled(sequence_number=9)) == "SEQ-03"


def test_copy_without_what_an_action_sets() -> None:
    observer = topic(replaying())
    rule = {"topic": "t", "subscription": "s", "filter": v.TrueFilter()}
    observer.has(v.AddRule(rule="r", action="SET a = 1", **rule))
    observer.has(v.RemoveRule(topic="t", subscription="s", rule="$Default"))
    observer.has(v.Send(queue="t", message=v.Message(body="m")), partition=1)
    assert first(observer, v.Receive(queue=SUBSCRIPTION), received("m", 1, 1)) == "FILTER-21"


@pytest.mark.parametrize(
    ("command", "given"),
    [
        (LOCK, received("m1", 1, lock_token="l", locked_until=MINUTE)),
        (
            v.ReceiveBatch(queue="q", count=2),
            v.ReceivedSeveral(messages=(view("m1", 1, lock_token="l", locked_until=MINUTE),)),
        ),
    ],
    ids=["one", "several"],
)
def test_message_of_a_disabled_queue_is_charged_to_its_status(
    command: object, given: v.Outcome
) -> None:
    """The message itself is right, so that nothing else is wrong with it."""
    observer = replaying()
    observer.queue()
    observer.send(partition=1)
    observer.has(v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    assert first(observer, command, given) == "MGMT-27"


def detecting(observer: Observer, second: str) -> Observer:
    """Two messages with one MessageId, of which the first has been received."""
    observer.queue(duplicate_detection=True)
    for body in ("m", second):
        observer.has(v.Send(queue="q", message=v.Message(body=body, message_id="x")))
    observer.has(TAKE, received("m", 1, 1, message_id="x"))
    return observer


@pytest.mark.parametrize("second", ["m", "n"], ids=["same body", "another body"])
def test_an_ordinary_duplicate_is_a_copy_that_was_kept(second: str) -> None:
    """Under a number of its own, whether or not it looks like the first one."""
    copy = received(second, 1, 2, message_id="x")
    assert first(detecting(replaying(), second), TAKE, copy) == "KEY-11"


def test_messages_without_an_id_are_no_copies_and_have_no_id_for_a_key() -> None:
    """So that what is withheld is charged to neither rule on MessageIds."""
    observer = replaying()
    observer.queue()
    for body in ("m", "m"):
        observer.has(v.Send(queue="q", message=v.Message(body=body)))
    found = observer.saw(TAKE, v.Empty())
    assert not {"KEY-11", "KEY-12"} & set(found.rules)
    assert found.rules[0] == "LIFE-09"


KEYED = {"session_id": "s", "partition_key": "s", "message_id": "x"}


@pytest.mark.parametrize(
    ("shown", "rule"),
    [
        ({"session_id": None, "partition_key": None}, "LIFE-01"),
        ({"subject": "other"}, "LIFE-01"),
        ({"message_id": None}, "LIFE-01"),
        ({"delivery_count": 5}, "DLQ-01"),
        ({"locked_until": 90_000_000}, "LOCK-02"),
        ({"sequence_number": (2 << 48) + 1}, "LIFE-12"),
        ({"body": "never sent"}, "LIFE-01"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_wrong_field_is_charged_to_the_rule_on_this_field(
    shown: dict[str, object], rule: str
) -> None:
    """And to none on expiry, forwarding, schedules or copies, with which it has nothing to do."""
    observer = replaying()
    observer.queue()
    observer.has(v.Send(queue="q", message=v.Message(body="m", **KEYED)), partition=1)
    own = {**KEYED, "lock_token": "l", "locked_until": MINUTE, "delivery_count": 1}
    found = observer.saw(LOCK, v.Received(message=view("m", 1, 1, **own)))
    assert found.possible
    observer.events.pop()
    found = observer.saw(LOCK, v.Received(message=attrs.evolve(view("m", 1, 1, **own), **shown)))
    assert not found.possible
    assert found.rules[0] == rule
    assert not {"TTL-07", "FWD-07", "SCHED-01", "KEY-11"} & set(found.rules)


def test_the_answers_that_would_have_been_allowed_are_listed() -> None:
    """All that the model may give, in the state before the event."""
    observer = replaying()
    observer.queue(partitioned=False)
    observer.send()
    found = observer.saw(TAKE, v.Empty())
    assert [outcome.message.body for outcome in found.allowed] == ["m1"]
