"""Answers as sentences that the domain speaks."""

from typing import get_args

import pytest

from busproof import vocabulary as v
from busproof.history.render.outcomes import outcome_words

VIEW = v.MessageView(
    body="m1",
    session_id="a",
    sequence_number=(3 << 48) + 5,
    delivery_count=2,
    lock_token="t1",
    locked_until=60_000_000,
    dead_letter_reason="bad",
    state=v.MessageState.DEFERRED,
)

VIEW_WORDS = (
    "'m1', SessionId 'a' (partition 3, sequence number 5, delivery count 2, lock t1, "
    "locked until 60 s, deferred, dead-lettered for 'bad')"
)

OUTCOMES = [
    (v.Scheduled(), "Scheduled"),
    (v.Scheduled(sequence_number=7), "Scheduled as 7"),
    (v.Described(description=v.QueueDescription(queue="q")), "Described q"),
    (v.TopicDescribed(description=v.TopicDescription(topic="t")), "Described t"),
    (
        v.TopicDescribed(
            description=v.TopicDescription(topic="t", partitioned=True, subscription_count=2)
        ),
        "Described t: partitioned, 2 subscriptions",
    ),
    (
        v.Described(
            description=v.QueueDescription(
                queue="q",
                partitioned=True,
                requires_session=False,
                duplicate_detection=True,
                duplicate_window=30_000_000,
                max_size=16,
                message_count=1,
                size=2,
                availability=v.Availability.LIMITED,
            )
        ),
        "Described q: partitioned, no sessions required, duplicate detection, "
        "duplicate window 30 s, size 16 GB, 1 message, 2 bytes, limited",
    ),
    (v.Listed(), "Listed nothing"),
    (v.Listed(names=("q", "two words")), "Listed q, 'two words'"),
    (v.Done(), "Done"),
    (v.Received(message=v.MessageView(body="m1")), "Received 'm1'"),
    (v.Received(message=VIEW), f"Received {VIEW_WORDS}"),
    (v.Empty(), "Empty"),
    (v.ReceivedSeveral(), "Received nothing"),
    (v.ReceivedSeveral(messages=(VIEW,)), f"Received {VIEW_WORDS}"),
    (
        v.ReceivedSeveral(messages=(VIEW, v.MessageView(body="m2"))),
        f"Received 2 messages: {VIEW_WORDS}; 'm2'",
    ),
    (v.Peeked(), "Peeked nothing"),
    (v.SessionAccepted(session_id="a"), "Accepted session 'a'"),
    (v.SessionState(), "No state"),
    (v.SessionState(state="s"), "State 's'"),
    (v.SessionsListed(), "Listed nothing"),
    (v.SessionsListed(session_ids=("a", "b")), "Listed 'a', 'b'"),
    (v.Renewed(), "Renewed"),
    (v.RenewedSeveral(), "Renewed"),
    (v.Deleted(count=1), "Deleted 1 message"),
    (v.RenewedSeveral(locked_until=(1_000_000, None)), "Renewed: locked until 1 s, unknown"),
    (v.Renewed(locked_until=1_000_000), "Renewed: locked until 1 s"),
    (v.Peeked(messages=(VIEW,)), f"Peeked {VIEW_WORDS}"),
    (
        v.Peeked(messages=(VIEW, v.MessageView(body="m2"))),
        f"Peeked 2 messages: {VIEW_WORDS}; 'm2'",
    ),
    (v.RulesListed(), "Listed rules: none"),
    (
        v.RulesListed(rules=(v.SubscriptionRule(name="r", filter=v.FalseFilter()),)),
        "Listed rules: r (nothing)",
    ),
    (v.Refused(error=v.Error.INVALID_OPERATION), "Refused: invalid-operation"),
    (v.Refused(error=v.Error.OTHER, detail="not\nnow"), "Refused: other (not now)"),
    (v.Indeterminate(), "Indeterminate: no answer came"),
    (v.Indeterminate(detail="timed out"), "Indeterminate: no answer came (timed out)"),
    (v.Unsupported(), "Unsupported"),
]


@pytest.mark.parametrize(("outcome", "words"), OUTCOMES)
def test_an_outcome_reads_as_a_sentence(outcome: v.Outcome, words: str) -> None:
    assert words == outcome_words(outcome)


def test_every_outcome_is_among_the_sentences() -> None:
    assert set(get_args(v.Outcome)) == {type(outcome) for outcome, _ in OUTCOMES}
