"""What is undone leaves nothing behind: neither in the truth, nor in what is answered later."""

import os
from random import Random

import pytest
from model_driver import state_of
from random_commands import Commands, any_profile

from busproof.model import RandomChoices, Scripted, new_namespace, step

STEPS = 1_000_000 if os.environ.get("BUSPROOF_SIZE") == "full" else 10_000
PARTS = 10
LENGTH = 100
COMPARED = 4
"""Of so many steps the states are compared after one, the answers after each."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_detours_that_are_undone_leave_equal_answers_and_equal_state(part: int) -> None:
    """One namespace makes detours before each command, the other never does."""
    for seed in range(STEPS // PARTS // LENGTH):
        random = Random(f"{part}/{seed}")
        held_to = any_profile(random)
        direct, wandering = new_namespace(held_to), new_namespace(held_to)
        commands = Commands(random, wandering)
        plan = [(command, "c1") for command in commands.setup()]
        before = state_of(direct)
        for number in range(LENGTH):
            mark = wandering.journal.mark()
            for _ in range(random.randrange(4)):
                command, connection = commands.any()
                step(wandering, command, connection, RandomChoices(random), keep=True)
            wandering.journal.undo(mark)
            if number % COMPARED == 0:
                assert before == state_of(wandering), (part, seed, number)
            command, connection = plan[number] if number < len(plan) else commands.any()
            script = [random.randrange(2) for _ in range(8)]
            first = step(direct, command, connection, Lenient(script))
            second = step(wandering, command, connection, Lenient(script))
            assert first == second, (part, seed, number, command)
            if (number + 1) % COMPARED == 0:
                before = state_of(direct)
                assert before == state_of(wandering), (part, seed, number, command)


class Lenient(Scripted):
    """A script that may name a place behind the last candidate."""

    def _chosen(self, count: int) -> int:
        return super()._chosen(count) % count
