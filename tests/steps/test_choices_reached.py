"""With every reading open, random and hostile models are never accused, and choose everything.

A policy chooses most where each ambiguity permits either answer. A scenario that insists on one of
two permitted answers, or a judge that forbids the other, shows here: every feature is played on
both policies. So that this says something of every permitted answer, the answers that each policy
gave are counted, choice by choice; those that no scenario leads to are listed, with the reason, in
`choices_not_reached.yaml`, which may only shrink.
"""

import ast
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import attrs
import pytest
import yaml

from busproof.adapters import model as adapter
from busproof.cli.running.child_run import Request
from busproof.history.records import ScenarioVerdict
from busproof.model.ambiguities import Settled
from busproof.model.choices import Choices, HostileChoices, RandomChoices
from busproof.model.state import Entity, Partition, QueuedMessage, Session
from busproof.spec import load
from busproof.steps.cases import Case, cases, definitions
from busproof.steps.playing import Player
from busproof.steps.stage import Stage, verdict_on

pytestmark = pytest.mark.slow

FULL: Final = os.environ.get("BUSPROOF_SIZE") == "full"
MODEL: Final = Path(__file__).parent.parent.parent / "model"
NOT_REACHED: Final = Path(__file__).with_name("choices_not_reached.yaml")
NAMED: Final = {"pick": 1, "partition": 1, "prefers": 1, "answer_of": 2}
"""Methods that ask for a choice, and how many arguments come before its answers."""
RECORDS: Final = (Entity, Partition, QueuedMessage, Session)
EITHER: Final = (
    *(f"{entry.id}=either" for entry in load().ambiguities if "either" in entry.readings),
    "LIBRARIES=bus",
)
"""The readings that leave most open."""
GATE: Final = Request(readings=EITHER)
"""The newest edition, in Standard."""
RUNS: Final = [
    Request(edition=edition, tier=tier, namespace_partitions=partitions, readings=readings)
    for edition, tier, partitions in (
        ("en-2026-02", "standard", None),
        ("fr-2016-09", "standard", None),
        ("de-2021-04", "standard", None),
        ("en-2026-02", "basic", None),
        ("fr-2016-09", "premium", None),
        ("de-2021-04", "premium", None),
        ("en-2026-02", "premium", None),
        ("en-2026-02", "premium", "4"),
    )
    for readings in (EITHER, ())
]
"""Editions of all ages, and each kind of namespace."""
ATTEMPTS: Final = 8
"""How often a scenario is played that ends because an answer was lost, until it comes to its end.

A hostile model is calm from one start to the next in half of all cases.
"""
OFTEN: Final = 100
"""How often a policy may leave out an answer by chance."""
POLICIES: Final = {"random": RandomChoices, "hostile": HostileChoices}

T = TypeVar("T")
Given = tuple[str, str]
"""Name of a choice, and an answer that it permits."""


def answers_in_rules() -> Iterator[Given]:
    """Yield the choices that stand in the model's rules with their answers; some are computed."""
    for path in MODEL.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            match node.args:
                case [ast.Constant(value=str(name)), *rest] if node.func.attr in NAMED:
                    answers = [*rest, *(keyword.value for keyword in node.keywords)]
                    for answer in answers:
                        if isinstance(answer, ast.Constant) and isinstance(answer.value, str):
                            yield name, answer.value


def answer_as_text(candidate: object, place: int) -> str:
    """Return an answer as text; of records and numbers only whether it is the first."""
    if isinstance(candidate, RECORDS) or (isinstance(candidate, int) and place):
        return "another" if place else "first"
    return "first" if isinstance(candidate, int) else str(candidate)


@attrs.define
class Noted:
    """How often a policy could give each answer, and how often it did."""

    offered: Counter[Given] = attrs.field(factory=Counter)
    given: Counter[Given] = attrs.field(factory=Counter)

    def policy(self, kind: type[RandomChoices]) -> type[Choices]:
        """Return a policy that notes its answers, where it has several."""
        noted = self

        class Noting(kind):  # type: ignore[valid-type,misc] - a policy of either kind
            def _among(self, candidates: list[T]) -> T:
                self.among = candidates
                chosen: T = super()._among(candidates)
                return chosen

            def pick(self, name: str, candidates: Iterable[T]) -> T:
                chosen: T = super().pick(name, candidates)
                if len(self.among) > 1:
                    for place, candidate in enumerate(self.among):
                        answer = name, answer_as_text(candidate, place)
                        noted.offered[answer] += 1
                        noted.given[answer] += candidate is chosen
                return chosen

        return Noting


def play(request: Request) -> list[str]:
    """Play all features, and return what failed."""
    stage, player = Stage(request), Player(definitions())
    failed = []
    for case in cases(only="features", source=None, replays=False, rules=frozenset()):
        for _ in range(ATTEMPTS):
            verdict, detail = play_case(case, stage, player)
            if verdict in (ScenarioVerdict.FAILED, ScenarioVerdict.ERRORED):
                failed.append(f"{case.name}: {detail}")
            if verdict is not ScenarioVerdict.INCONCLUSIVE:
                break
    stage.stop()
    return failed


def play_case(case: Case, stage: Stage, player: Player) -> tuple[ScenarioVerdict, str]:
    """Play one scenario, and return how it ended."""
    error = None
    try:
        case.play(stage, player)
    except Exception as raised:  # noqa: BLE001 - each says how the scenario ended
        error = raised
    verdict, detail = verdict_on(error)
    stage.scenario_ended(verdict, detail)
    return verdict, detail


def answers_in_list(part: str) -> set[Given]:
    """Return the answers of a part of the list."""
    entries = yaml.safe_load(NOT_REACHED.read_text(encoding="utf-8"))[part]
    return {
        (name, answer)
        for entry in entries
        for name, answers in entry["choices"].items()
        for answer in answers
    }


@pytest.mark.parametrize("policy", POLICIES)
def test_either_reading_lets_a_policy_choose_and_accuses_nothing(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the gate one play; at full size each edition and tier, with usual readings, too.

    An answer is reached if the policy could choose it, and one that it could choose often was
    given.
    """
    noted = Noted()
    failed = []
    monkeypatch.setattr(adapter, POLICIES[policy].__name__, noted.policy(POLICIES[policy]))
    for request in RUNS if FULL else (GATE,):
        asked = attrs.evolve(request, adapter=f"model?policy={policy}&seed=1")
        failed += [f"{asked.edition} {asked.tier}: {failure}" for failure in play(asked)]
    assert [] == failed
    known = {*answers_in_rules(), *noted.offered}
    known |= {(kind.entry, reading.value) for kind in Settled.__subclasses__() for reading in kind}
    missed = known - noted.offered.keys()
    if FULL:
        assert answers_in_list("anywhere") == missed
    elif policy == "random":
        # The hostile model chooses the regular answer less often, and some only after others.
        assert set() == missed - answers_in_list("anywhere") - answers_in_list("at the gate")
    often = (answer for answer, times in noted.offered.items() if times > OFTEN)
    assert [] == [answer for answer in often if not noted.given[answer]]
