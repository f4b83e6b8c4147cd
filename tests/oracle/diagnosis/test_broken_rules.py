"""What is to blame for an answer that nothing allows, whatever was asked."""

import pytest
from observing import observing

from busproof.vocabulary.commands import (
    BeginTransaction,
    BringPartitionUp,
    Command,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    DeleteTopic,
    GetTopic,
    ListTopics,
    Peek,
    RemoveRule,
    RestoreQueue,
    RollBackTransaction,
    Send,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Empty, Outcome, Refused
from busproof.vocabulary.values import Error, RuleId

REFUSED, NOTHING = Refused(error=Error.UNAVAILABLE), Empty()
SUBSCRIPTION = CreateSubscription(topic="t", subscription="s")


@pytest.mark.parametrize("outcome", [REFUSED, NOTHING], ids=["refused", "empty"])
@pytest.mark.parametrize(
    ("command", "rule"),
    [
        (BeginTransaction(transaction="y"), "TXN-01"),
        (RollBackTransaction(transaction="x"), "TXN-13"),
        (CommitTransaction(transaction="x"), "TXN-12"),
        (CreateQueue(queue="r"), "MGMT-02"),
        (UpdateQueue(queue="q", lock_duration=30_000_000), "MGMT-12"),
        (DeleteQueue(queue="q"), "MGMT-15"),
        (RestoreQueue(queue="r"), "PREM-03"),
        (CreateTopic(topic="u"), "MGMT-02"),
        (CreateSubscription(topic="t", subscription="r"), "TOPIC-01"),
        (UpdateTopic(topic="t", time_to_live=60_000_000), "MGMT-12"),
        (DeleteTopic(topic="t"), "MGMT-15"),
        (GetTopic(topic="t"), "MGMT-01"),
        (ListTopics(), "MGMT-16"),
        (RemoveRule(topic="t", subscription="s", rule="$Default"), "FEAT-02"),
        (TakePartitionDown(queue="q", partition=1), "PART-02"),
        (BringPartitionUp(queue="q", partition=1), "PART-04"),
        (Peek(queue="q"), "LIFE-07"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Command) else "",
)
def test_a_wrong_answer_is_blamed_on_a_rule_of_what_was_asked(
    command: Command, rule: RuleId, outcome: Outcome
) -> None:
    """Not on what a receive gives, which is nobody's matter here."""
    observer = observing()
    for each in (CreateQueue(queue="q"), CreateTopic(topic="t"), SUBSCRIPTION):
        observer.has(each, Done())
    observer.has(BeginTransaction(transaction="x"), Done())
    found = observer.saw(command, outcome)
    assert not found.possible
    assert found.rules[0] == rule
    assert "LIFE-01" not in found.rules


def test_that_a_topic_takes_what_nobody_wants_is_a_matter_of_sends() -> None:
    """And of nothing that is asked of the topic itself."""
    observer = observing()
    observer.has(CreateTopic(topic="t"), Done())
    send = Send(queue="t", message=Message(body="m"))
    assert "TOPIC-04" in observer.saw(send, REFUSED).rules
    assert "TOPIC-04" not in observer.saw(DeleteTopic(topic="t"), REFUSED).rules
