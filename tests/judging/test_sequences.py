"""Random sequences that are made up before anybody is asked."""

from busproof import vocabulary as v
from busproof.history.replay import resolved
from busproof.judging.liveness import BOUND, TRIES
from busproof.judging.sequences import sequence

SEEDS = range(50)
FORWARDING = 8
CREATIONS = 8


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
                assert isinstance(given, v.Receive)
                assert v.ReceiveMode.PEEK_LOCK is given.mode
                named += 1
    assert named > 0


def test_long_sequence_about_forwarding_ends_with_receives_over_two_minutes() -> None:
    commands = [each.command for each in sequence(FORWARDING, 50, 4)]
    waiting = [each for each in commands[-2 * TRIES :] if isinstance(each, v.AdvanceClock)]
    assert TRIES == len(waiting)
    assert BOUND <= sum(each.duration for each in waiting)
    assert TRIES == sum(isinstance(each, v.Receive) for each in commands[-2 * TRIES :])
    assert CREATIONS + 50 == len(commands)


def test_short_sequence_does_not_wait() -> None:
    commands = [each.command for each in sequence(FORWARDING, 40, 4)]
    assert CREATIONS + 40 == len(commands)
    assert any(isinstance(each, v.Send) and each.queue == "source" for each in commands)


def test_session_is_closed_while_its_message_is_locked_and_accepted_again() -> None:
    """By chance this comes too seldom to show how often a message was delivered (SESS-09)."""
    kinds = (v.Send, v.AcceptSession, v.Receive, v.CloseSession, v.AcceptSession, v.Receive)
    assert _has_episode(kinds, session_ids=1)


def test_message_is_sent_to_a_queue_whose_destination_is_gone() -> None:
    assert _has_episode((v.DeleteQueue, v.Send, v.Receive, v.CreateQueue))


def _has_episode(kinds: tuple[type, ...], session_ids: int = 0) -> bool:
    """Return whether such commands follow one another, over one connection."""
    for seed in SEEDS:
        commands = sequence(seed, 50, 4)
        for start in range(len(commands) - len(kinds) + 1):
            some = commands[start : start + len(kinds)]
            named = {getattr(each.command, "session_id", None) for each in some} - {None}
            if (
                kinds == tuple(type(each.command) for each in some)
                and len({each.connection for each in some}) == 1
                and len(named) == session_ids
            ):
                return True
    return False


def test_large_message_stands_in_for_one_of_its_size() -> None:
    """Otherwise it would be refused for its size, and no partition would ever be full."""
    sent = [
        each.command.message
        for seed in SEEDS
        for each in sequence(seed, 40, 4)
        if isinstance(each.command, v.Send)
    ]
    large = [message for message in sent if message.size]
    assert large
    assert all(message.stands_in for message in large)


def test_fifty_sequences_ask_every_command_that_they_can() -> None:
    kinds = {type(each.command).__name__ for seed in SEEDS for each in sequence(seed, 60, 4)}
    assert 29 == len(kinds)
