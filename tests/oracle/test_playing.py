"""The oracle plays a bus where the comparison with the specs asks it to."""

from busproof.oracle.choosing import decided
from busproof.oracle.state import fresh_namespace
from busproof.oracle.step import step
from busproof.spec import load
from busproof.vocabulary.commands import (
    AddRule,
    AdvanceClock,
    BeginTransaction,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Receive,
    Schedule,
    Send,
    UpdateQueue,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Done, Outcome, Received, Refused
from busproof.vocabulary.profile import profile_for
from busproof.vocabulary.subscription_rules import TrueFilter
from busproof.vocabulary.values import Error

SECOND = 1_000_000
LARGE = 900_000_000


class Bus:
    """Takes the first answer that is allowed."""

    def __init__(self, **readings: str) -> None:
        named = {name.replace("_", "-"): each for name, each in readings.items()}
        profile = profile_for(load(), readings=named, partitions=2)
        self.namespace = fresh_namespace(decided(profile), Observability(decides=True))

    def do(self, command: Command) -> Outcome:
        taken = step(self.namespace, command)[0]
        self.namespace = taken.next
        return taken.outcome

    def body(self, queue: str) -> str:
        outcome = self.do(Receive(queue=queue))
        assert isinstance(outcome, Received)
        return outcome.message.body


def test_what_is_scheduled_goes_on_when_it_is_due() -> None:
    for reading in ("at-once", "bounded"):
        bus = Bus(SCHEDULE_DELAY=reading)
        bus.do(CreateTopic(topic="t"))
        bus.do(CreateSubscription(topic="t", subscription="s"))
        for key in (None, "k"):
            message = Message(body=f"{key}", partition_key=key)
            bus.do(Schedule(queue="t", message=message, delay=SECOND))
            bus.do(AdvanceClock(duration=2 * SECOND))
            assert str(key) == bus.body("t/subscriptions/s")


def test_what_has_no_session_behind_a_hop_is_a_dead_letter() -> None:
    bus = Bus()
    bus.do(CreateQueue(queue="end", requires_session=True))
    bus.do(CreateQueue(queue="q", forward_to="end"))
    bus.do(Send(queue="q", message=Message(body="m")))
    assert "m" == bus.body("end/$deadletterqueue")


def test_messages_are_settled_in_a_transaction() -> None:
    bus = Bus()
    bus.do(CreateQueue(queue="q"))
    bus.do(Send(queue="q", message=Message(body="m", partition_key="k")))
    outcome = bus.do(Receive(queue="q"))
    assert isinstance(outcome, Received)
    bus.do(BeginTransaction(transaction="t"))
    token = outcome.message.lock_token or ""
    assert Done() == bus.do(Complete(queue="q", lock_token=token, transaction="t"))
    assert Done() == bus.do(CommitTransaction(transaction="t"))


def test_pooled_partitions_are_full_together() -> None:
    bus = Bus(FULL_PARTITION="pooled")
    bus.do(CreateQueue(queue="q"))
    large = Message(body="m", partition_key="k", size=LARGE, stands_in=True)
    told = [bus.do(Send(queue="q", message=large)) for _ in range(3)]
    assert [Done(), Done(), Refused(error=Error.QUOTA_EXCEEDED)] == told


def test_a_topic_behind_a_hop_is_never_full() -> None:
    bus = Bus()
    bus.do(CreateTopic(topic="t"))
    bus.do(CreateQueue(queue="q", forward_to="t"))
    bus.do(CreateSubscription(topic="t", subscription="s"))
    large = Message(body="m", size=1_000_000_000, stands_in=True)
    assert Done() == bus.do(Send(queue="q", message=large))
    assert "m" == bus.body("t/subscriptions/s")


def test_messages_keep_their_time_to_live() -> None:
    bus = Bus()
    bus.do(CreateQueue(queue="q"))
    bus.do(Send(queue="q", message=Message(body="m")))
    bus.do(UpdateQueue(queue="q", time_to_live=SECOND))
    bus.do(AdvanceClock(duration=2 * SECOND))
    assert "m" == bus.body("q")


def test_actions_that_are_not_told_of_may_be_refused() -> None:
    bus = Bus()
    bus.do(CreateTopic(topic="t"))
    bus.do(CreateSubscription(topic="t", subscription="s"))
    of_it = {"topic": "t", "subscription": "s", "filter": TrueFilter()}
    ways = step(bus.namespace, AddRule(rule="r", action="SET a = 1; SET a = 2", **of_it))
    assert {Done, Refused} == {type(way.outcome) for way in ways}
