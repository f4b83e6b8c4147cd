"""Random sequences in bulk: the bus on Spark against the model."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from busproof.adapters.spark import READINGS
from busproof.cli.simulate import _tell_decisions
from busproof.cli.spark.simulation import (
    Difference,
    Simulation,
    applicable_rules,
    find_noticed,
    find_seldom,
    save_difference,
    simulate,
)
from busproof.history.replay import read_commands
from busproof.pipeline.bus.folding import fold_requests
from busproof.pipeline.bus.mutants import MUTANTS, Mutant, insert_mutants
from busproof.spec import load
from busproof.vocabulary.profile import Profile, profile_for

SEQUENCES = 2000
LENGTH = 60
SEEDS = range(24)
"""Of sequences with that bus."""


@pytest.fixture(scope="module")
def profile() -> Profile:
    return profile_for(load(), readings=READINGS, partitions=4)


@pytest.mark.full_size("scenarios compare them, too: run by the nightly part spark")
def test_spark_and_the_model_agree(spark: SparkSession, profile: Profile, tmp_path: Path) -> None:
    """SIMULATE: Spark's answers to random sequences are all allowed, and judged to the end."""
    found = simulate(spark, profile, range(SEQUENCES), LENGTH, tmp_path)
    assert () == found.differences
    assert (SEQUENCES, 0) == (found.sequences, found.undecided)
    assert "KEY-02" not in find_seldom(found, ["KEY-02"])
    assert ["NONE-1"] == find_seldom(found, ["NONE-1"])


def test_rules_that_prove_little_are_named(profile, capsys) -> None:
    """Also those that apply and decided nothing; a rule that does not apply is left out."""
    decided = Counter({"KEY-02": 3, "KEY-08": 2})
    found = Simulation(sequences=50, commands=2500, differences=(), decided=decided)
    _tell_decisions(found, profile)
    first, little, nothing = capsys.readouterr().out.splitlines()
    rules = applicable_rules(profile)
    assert f"1 of {len(rules)} rules that apply decided at least 1 command in 1000" == first
    assert "fewer, which proves little (1): KEY-08" == little
    assert nothing.startswith(f"none, which proves nothing ({len(rules) - 2}): ")
    others = {rule.id for rule in load().rules} - {*rules}
    assert others
    assert not others & {*nothing.partition(": ")[2].split(", ")}


@pytest.mark.full_size("as many runs of the fold as tries: run by the nightly part spark")
def test_a_difference_is_made_small_and_saved(spark, profile, tmp_path) -> None:
    """Of a name that is taken twice: the second queue has nothing of what the first one had."""
    found = _first(spark, profile, tmp_path)
    path = save_difference(spark, profile, found, LENGTH, tmp_path)
    kept = read_commands(path)
    assert found.rules[0] == kept.rule
    assert 2 <= len(kept.commands) <= 8 < found.place


def _first(spark: SparkSession, profile: Profile, folder: Path) -> Difference:
    """The first difference of the bus that lets a name be taken twice."""
    return find_noticed(spark, profile, SEEDS, LENGTH, folder, ("created-twice",))["created-twice"]


def test_each_fault_has_its_place_in_the_fold() -> None:
    fold = fold_requests(referring=True)
    assert [] == [each.name for each in MUTANTS if each.old not in fold]
    assert [] == [each.name for each in MUTANTS if f"'{each.name}'" not in insert_mutants(fold)]


def test_each_fault_is_of_a_rule_of_the_catalogue() -> None:
    assert set() == {each.rule for each in MUTANTS} - {rule.id for rule in load().rules}


def test_fault_that_a_few_sequences_show_is_not_tried_with_the_others(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[int, str]] = []

    def simulated(_: object, __: object, runs: list[tuple[int, str]], *___: object) -> Simulation:
        tried.extend(runs)
        shown = [run for run in runs if run in ((3, "soon"), (100, "late"))]
        found = [
            Difference(seed=seed, mutant=name, place=1, rules=("KEY-02",), detail="")
            for seed, name in shown
        ]
        return Simulation(
            sequences=len(runs), commands=1, differences=tuple(found), decided=Counter()
        )

    monkeypatch.setattr("busproof.cli.spark.simulation._run_sequences", simulated)
    names = ("soon", "late", "never")
    found = find_noticed(None, profile, range(200), 5, tmp_path, names)
    assert {"soon": 3, "late": 100} == {name: each.seed for name, each in found.items()}
    assert {"soon": 24, "late": 144, "never": 200} == Counter(name for _, name in tried)
    assert len(set(tried)) == len(tried)


def test_a_fault_without_a_place_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Mutant("lost", "KEY-02", "not in any fold", "true")
    monkeypatch.setattr("busproof.pipeline.bus.mutants.MUTANTS", (lost,))
    with pytest.raises(AssertionError, match="no expression has not in any fold"):
        insert_mutants(fold_requests(["Send"]))
