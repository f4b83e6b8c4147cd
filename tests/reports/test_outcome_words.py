"""Answers as sentences that the domain speaks."""

from typing import get_args

import pytest

from busproof.history.render.outcomes import outcome_words
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import MessageState, MessageView
from busproof.vocabulary.outcomes import (
    Deleted,
    Described,
    Done,
    Empty,
    Indeterminate,
    Listed,
    Outcome,
    Peeked,
    QueueDescription,
    Received,
    ReceivedSeveral,
    Refused,
    Renewed,
    RenewedSeveral,
    RulesListed,
    Scheduled,
    SessionAccepted,
    SessionsListed,
    SessionState,
    TopicDescribed,
    TopicDescription,
    Unsupported,
)
from busproof.vocabulary.subscription_rules import (
    FalseFilter,
    SubscriptionRule,
)
from busproof.vocabulary.values import Error

VIEW = MessageView(
    body="m1",
    session_id="a",
    sequence_number=(3 << 48) + 5,
    delivery_count=2,
    lock_token="t1",
    locked_until=60_000_000,
    dead_letter_reason="bad",
    state=MessageState.DEFERRED,
)

VIEW_WORDS = (
    "'m1', SessionId 'a' (partition 3, sequence number 5, delivery count 2, lock t1, "
    "locked until 60 s, deferred, dead-lettered for 'bad')"
)

OUTCOMES = [
    (Scheduled(), "Scheduled"),
    (Scheduled(sequence_number=7), "Scheduled as 7"),
    (Described(description=QueueDescription(queue="q")), "Described q"),
    (TopicDescribed(description=TopicDescription(topic="t")), "Described t"),
    (
        TopicDescribed(
            description=TopicDescription(topic="t", partitioned=True, subscription_count=2)
        ),
        "Described t: partitioned, 2 subscriptions",
    ),
    (
        Described(
            description=QueueDescription(
                queue="q",
                partitioned=True,
                requires_session=False,
                duplicate_detection=True,
                duplicate_window=30_000_000,
                max_size=16,
                message_count=1,
                size=2,
                availability=Availability.LIMITED,
            )
        ),
        "Described q: partitioned, no sessions required, duplicate detection, "
        "duplicate window 30 s, size 16 GB, 1 message, 2 bytes, limited",
    ),
    (Listed(), "Listed nothing"),
    (Listed(names=("q", "two words")), "Listed q, 'two words'"),
    (Done(), "Done"),
    (Received(message=MessageView(body="m1")), "Received 'm1'"),
    (Received(message=VIEW), f"Received {VIEW_WORDS}"),
    (Empty(), "Empty"),
    (ReceivedSeveral(), "Received nothing"),
    (ReceivedSeveral(messages=(VIEW,)), f"Received {VIEW_WORDS}"),
    (
        ReceivedSeveral(messages=(VIEW, MessageView(body="m2"))),
        f"Received 2 messages: {VIEW_WORDS}; 'm2'",
    ),
    (Peeked(), "Peeked nothing"),
    (SessionAccepted(session_id="a"), "Accepted session 'a'"),
    (SessionState(), "No state"),
    (SessionState(state="s"), "State 's'"),
    (SessionsListed(), "Listed nothing"),
    (SessionsListed(session_ids=("a", "b")), "Listed 'a', 'b'"),
    (Renewed(), "Renewed"),
    (RenewedSeveral(), "Renewed"),
    (Deleted(count=1), "Deleted 1 message"),
    (RenewedSeveral(locked_until=(1_000_000, None)), "Renewed: locked until 1 s, unknown"),
    (Renewed(locked_until=1_000_000), "Renewed: locked until 1 s"),
    (Peeked(messages=(VIEW,)), f"Peeked {VIEW_WORDS}"),
    (
        Peeked(messages=(VIEW, MessageView(body="m2"))),
        f"Peeked 2 messages: {VIEW_WORDS}; 'm2'",
    ),
    (RulesListed(), "Listed rules: none"),
    (
        RulesListed(rules=(SubscriptionRule(name="r", filter=FalseFilter()),)),
        "Listed rules: r (nothing)",
    ),
    (Refused(error=Error.INVALID_OPERATION), "Refused: invalid-operation"),
    (Refused(error=Error.OTHER, detail="not\nnow"), "Refused: other (not now)"),
    (Indeterminate(), "Indeterminate: no answer came"),
    (Indeterminate(detail="timed out"), "Indeterminate: no answer came (timed out)"),
    (Unsupported(), "Unsupported"),
]


@pytest.mark.parametrize(("outcome", "words"), OUTCOMES)
def test_an_outcome_reads_as_a_sentence(outcome: Outcome, words: str) -> None:
    assert words == outcome_words(outcome)


def test_every_outcome_is_among_the_sentences() -> None:
    assert set(get_args(Outcome)) == {type(outcome) for outcome, _ in OUTCOMES}
