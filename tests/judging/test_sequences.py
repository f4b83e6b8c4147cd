"""Random sequences that are made up before anybody is asked."""

from busproof.history.replay import resolved
from busproof.judging.sequences import sequence
from busproof.vocabulary.commands import Receive
from busproof.vocabulary.values import ReceiveMode

SEEDS = range(50)


def test_the_same_seed_gives_the_same_sequence() -> None:
    assert sequence(3, 30, 4) == sequence(3, 30, 4)
    assert sequence(3, 30, 4) != sequence(4, 30, 4)


def test_a_lock_is_named_by_a_receive_that_asks_for_one() -> None:
    """All settlements of fifty sequences are of receives before them, or of no lock at all."""
    named = 0
    for seed in SEEDS:
        commands = sequence(seed, 40, 4)
        for asked in commands:
            receives = {each.number: "lock" for each in commands[: asked.number - 1]}
            command = resolved(asked.command, receives)
            if command != asked.command:
                number = int(str(getattr(asked.command, "lock_token", "")).removeprefix("@"))
                given = commands[number - 1].command
                assert isinstance(given, Receive)
                assert ReceiveMode.PEEK_LOCK is given.mode
                named += 1
    assert named > 0


def test_fifty_sequences_ask_every_command_that_they_can() -> None:
    kinds = {type(each.command).__name__ for seed in SEEDS for each in sequence(seed, 60, 4)}
    assert 29 == len(kinds)
