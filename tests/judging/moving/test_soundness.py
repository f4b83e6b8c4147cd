"""A namespace that is compared with itself breaks nothing, whatever its bus chooses."""

from random import Random

import pytest
from model_driver import catalogue
from random_commands import Commands, any_profile

from busproof import vocabulary as v
from busproof.history.moves import Move
from busproof.judging.moving.comparison import Comparison, Said
from busproof.model import HostileChoices, RandomChoices, RoundRobin, new_namespace, step

RUNS = 60
LENGTH = 80


def play(profile: v.Profile, target: v.Profile, random: Random, choices: object) -> Move:
    """Play random commands on a bus, and compare its namespace with another one."""
    namespace = new_namespace(profile)
    commands = Commands(random, namespace)
    comparison = Comparison(profile, target)
    plan = [(command, "c1") for command in commands.setup()]
    for number in range(LENGTH):
        command, connection = plan[number] if number < len(plan) else commands.any()
        outcome = step(namespace, command, connection, choices).outcome  # type: ignore[arg-type]
        comparison.saw(command, outcome, connection, Said(client=connection))
    return comparison.move


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["regular", "random", "hostile"])
def test_a_namespace_breaks_nothing_of_itself(policy: str) -> None:
    """Any edition, tier and readings; the bus chooses as it likes."""
    compared = 0
    for seed in range(RUNS):
        random = Random(f"{policy}/{seed}")
        profile = any_profile(random)
        choices = {
            "regular": RoundRobin(),
            "random": RandomChoices(random),
            "hostile": HostileChoices(random),
        }[policy]
        move = play(profile, profile, random, choices)
        assert not move.breaks, (policy, seed, next(iter(move.breaks.values())))
        compared += move.compared
    assert compared > RUNS * LENGTH // 2


@pytest.mark.slow
def test_a_regular_bus_agrees_with_its_own_model() -> None:
    """Few answers of a regular bus are set apart, or the comparison would be worth nothing."""
    apart = compared = 0
    for seed in range(RUNS):
        random = Random(f"regular/{seed}")
        profile = v.profile_for(catalogue())
        move = play(profile, profile, random, RoundRobin())
        compared += move.compared
        apart += sum(move.apart.values())
    assert apart * 10 < compared


@pytest.mark.slow
def test_no_comparison_of_any_two_namespaces_fails() -> None:
    """Whatever the target refuses, the comparison goes on."""
    kinds = 0
    for seed in range(RUNS):
        random = Random(f"two/{seed}")
        move = play(any_profile(random), any_profile(random), random, RandomChoices(random))
        kinds += len(move.breaks)
        assert all(each.seen and each.first.client for each in move.breaks.values())
    assert kinds > RUNS
