"""A broker that is killed under load, again and again: what it has answered is so."""

import random
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters.amqp.dialect import OVER_AMQP
from busproof.judging.linearization.overlap import judged
from busproof.spec import load

from ..conftest import FULL, launched
from .crashing import Round, Victim, checkpointing, dying, moments

pytestmark = pytest.mark.slow

KILLS = 150 if FULL else 4
CHECKPOINTS = 50 if FULL else 2
MOST_ROUNDS = 4
"""How often all are tried until enough kills fall within one; a busy machine delays the others."""
SLACK = v.MICROSECONDS // 2


def free_ports() -> tuple[int, int]:
    """Two ports that nobody uses, also not while the broker is down.

    The system gives those above 32768 to connections, and would give away what the broker needs
    anew when it comes back.
    """
    free = (each for each in random.sample(range(20_000, 32_000), 200) if is_free(each))
    return next(free), next(free)


def is_free(port: int) -> bool:
    """Whether somebody could listen there."""
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    broker = Victim(tmp_path / "store", free_ports())
    yield broker
    broker.stop()


def test_acknowledged_messages_survive_every_kill(victim: Victim) -> None:
    """Nothing acknowledged is lost, nothing completed comes back, and nothing comes twice."""
    acknowledged = unanswered = committed = 0
    for number, moment in enumerate(moments(5, KILLS)):
        one = Round(number, victim.served, number)
        one.create()
        one.run(victim.kill, moment)
        victim.start()
        one.served = victim.served
        one.look()
        assert [] == list(complaints(one)), f"kill {number}"
        assert_allowed(one)
        acknowledged += sum(isinstance(outcome, v.Done) for _, outcome in one.outcomes.values())
        committed += sum(
            isinstance(one.outcomes[body][1], v.Done) for body, _ in one.outcomes_together
        )
        unanswered += sum(
            isinstance(outcome, v.Indeterminate) for _, outcome in one.outcomes.values()
        )
    assert acknowledged > 10 * KILLS
    assert committed > KILLS
    assert unanswered


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_kill_between_the_halves_of_a_move_loses_and_doubles_nothing(
    victim: Victim, done: int
) -> None:
    one = round_with_death(victim, done, dying(moves=2, done=done))
    assert any(isinstance(each, v.Done) for each in one.buried.values())


def test_a_kill_within_a_checkpoint_loses_and_doubles_nothing(
    victim: Victim, tmp_path: Path
) -> None:
    """A log may be in the database wholly, in part or not at all, and still be there or not."""
    ended = tmp_path / "ended"
    cut = 0
    for number in range(MOST_ROUNDS * CHECKPOINTS):
        ended.unlink(missing_ok=True)
        part = number % CHECKPOINTS / CHECKPOINTS
        round_with_death(victim, number, checkpointing(number=2, part=part, ended=ended))
        cut += not ended.exists()
        if number + 1 >= CHECKPOINTS and cut > CHECKPOINTS // 4:
            return
    pytest.fail(f"{cut} kills came before their checkpoint had ended")


def round_with_death(
    victim: Victim, number: int, launch: "Callable[..., subprocess.Popen[str]]"
) -> Round:
    """Have load on a broker until it kills itself; nothing is lost then, or there twice."""
    one = Round(number, victim.served, number)
    one.create()
    victim.stop()
    victim.start(launch)
    one.served = victim.served

    def died() -> None:
        victim.served.process.wait(PATIENCE)
        assert victim.is_over

    one.run(died, 0)
    victim.start(launched)
    one.served = victim.served
    one.look()
    assert [] == list(complaints(one)), f"kill {number}"
    assert_allowed(one)
    return one


def complaints(one: Round) -> Iterator[str]:
    """What is wrong with what was found, by sets of messages alone."""
    for body, (path, outcome) in one.outcomes.items():
        for place in destinations(one, path):
            ended, buried = one.ended.get((place, body)), one.buried.get((place, body))
            there = one.found[place][body]
            dead = one.found[place + v.DEAD_LETTERS][body]
            dead += one.found[one.graves][body] if place == one.queue else 0
            if isinstance(ended, v.Done) and there + dead:
                yield f"{body} was completed in {place} and is there again"
            if isinstance(buried, v.Done) and (there or dead != 1):
                yield f"{body} was dead-lettered in {place} and is there {there}, dead {dead} times"
            if there + dead > 1:
                yield f"{body} is {there + dead} times in {place}"
            settled = isinstance(ended, v.Done | v.Indeterminate)
            if isinstance(outcome, v.Done) and not settled and not there + dead:
                yield f"{body} was sent to {path} and is not in {place}"
    came = {
        each.outcome.message.body for each in one.events if isinstance(each.outcome, v.Received)
    }
    for bodies in one.together:
        if len(came.intersection(bodies)) == 1:
            yield f"of {bodies}, which were sent in one transaction, one is there"
    for path, found in one.found.items():
        for body in (
            found.keys() - one.outcomes.keys() - {each for both in one.together for each in both}
        ):
            yield f"{body} was never sent and is in {path}"


def destinations(one: Round, path: str) -> tuple[str, ...]:
    """Where what was sent there ends up."""
    if path == one.topic:
        return one.subscription("a"), one.subscription("b")
    return (one.ends,) if path == one.begins else (path,)


def assert_allowed(one: Round) -> None:
    """The judge finds an order of all that was asked in which each answer was allowed."""
    observability = v.observability_from(v.Clock.REAL, SLACK, OVER_AMQP.of_broker)
    profile = v.profile_for(load(), partitions=16)
    found = judged(one.events, profile, observability)
    assert found.violation is None, found.violation
    assert not found.exhausted
