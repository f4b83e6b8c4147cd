"""Whatever the judge allows after a fully observed run is a way of the model, or is listed."""

import os

import pytest
from beyond import tried

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
RUNS = 400 if FULL else 100
MOST_UNDECIDED = 0.05
"""The share of outcomes that the replay gives up within its few steps, which is not a pass."""
NUMBERS = "numbers may have gaps, or name no partition"
UNSEEN = "an earlier choice that nobody saw may have been another one"
LISTED = {
    ("AcceptNextSession", "Empty, never given"): UNSEEN,
    ("AcceptNextSession", "refused"): UNSEEN,
    ("AdvanceClock", "refused"): "the clock is the suite's own",
    ("Peek", "Peeked: fewer"): UNSEEN,
    ("Peek", "Peeked: sequence_number"): NUMBERS,
    ("Receive", "Empty, never given"): UNSEEN,
    ("Receive", "Received: sequence_number"): NUMBERS,
    ("ReceiveBatch", "Empty, never given"): UNSEEN,
    ("ReceiveBatch", "ReceivedSeveral: sequence_number"): NUMBERS,
    ("RollBackTransaction", "Done, never given"): UNSEEN,
    ("RollBackTransaction", "refused"): UNSEEN,
    ("Schedule", "Scheduled: sequence_number"): NUMBERS,
    ("Send", "Done: another partition"): UNSEEN,
    ("SendBatch", "Done: another partition"): "the witness of a batch is not judged",
}
"""Kinds of outcome that may be allowed although the model never gives them, and why."""


@pytest.mark.slow
def test_judge_allows_nothing_beyond_the_model_but_what_is_listed() -> None:
    """Any edition, tier and readings."""
    outcomes = undecided = 0
    for seed in range(RUNS):
        found = tried(str(seed))
        outcomes += found.outcomes
        undecided += found.undecided
        assert [] == [
            each for each in found.beyond if (each.command, each.outcome) not in LISTED
        ], seed
    assert outcomes > 3 * RUNS
    assert undecided / outcomes < MOST_UNDECIDED
