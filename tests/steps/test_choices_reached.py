"""Over the features, random and hostile models reach every choice that the model has.

Otherwise their runs would say nothing of it: a scenario that insists on the regular answer, or a
judge that forbids the others, would be noticed by nobody.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import attrs
import pytest

from busproof.adapters import model as adapter
from busproof.cli.running.child_run import Request
from busproof.model.ambiguities import Settled
from busproof.model.choices import Choices, HostileChoices, RandomChoices
from busproof.spec import load
from busproof.steps.cases import cases, definitions
from busproof.steps.playing import Player
from busproof.steps.stage import Stage, verdict_on

MODEL: Final = Path(__file__).parent.parent.parent / "model"
ASKING: Final = {"pick", "prefers", "partition"}
"""Methods that ask for a choice by its name, their first argument."""
EITHER: Final = (
    *(f"{entry.id}=either" for entry in load().ambiguities if "either" in entry.readings),
    "LIBRARIES=bus",
)
"""The readings that leave most open."""
RUNS: Final = [
    Request(edition=edition, tier=tier, namespace_partitions=partitions, readings=readings)
    for edition, tier, partitions in (
        ("en-2026-02", "standard", None),
        ("fr-2016-09", "standard", None),
        ("de-2021-04", "standard", None),
        ("en-2026-02", "basic", None),
        ("fr-2016-09", "premium", None),
        ("en-2026-02", "premium", None),
        ("en-2026-02", "premium", "4"),
    )
    for readings in ((), EITHER)
]
"""Editions of all ages, and each kind of namespace."""
POLICIES: Final = {"random": RandomChoices, "hostile": HostileChoices}

T = TypeVar("T")


def names_in_rules() -> Iterator[str]:
    """Yield the names of choices that stand in the model's rules; a few are made of variables."""
    for path in MODEL.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr=asking), args=[ast.Constant(value=str(name)), *_]
                ) if asking in ASKING and name.isupper():
                    yield name


def noting(kind: type[RandomChoices], reached: set[str]) -> type[Choices]:
    """Return a policy that notes the choices that it makes among several candidates."""

    class Noting(kind):  # type: ignore[valid-type,misc] - a policy of either kind
        def _among(self, candidates: list[T]) -> T:
            self.several = len(candidates) > 1
            chosen: T = super()._among(candidates)
            return chosen

        def pick(self, name: str, candidates: Iterable[T]) -> T:
            self.several = False
            chosen: T = super().pick(name, candidates)
            if self.several:
                reached.add(name)
            return chosen

    return Noting


def play(request: Request) -> None:
    """Play all features; `test_features_are_sound` says that none fails."""
    stage, player = Stage(request), Player(definitions())
    for case in cases(only="features", source=None, replays=False, rules=frozenset()):
        error = None
        try:
            case.play(stage, player)
        except Exception as raised:  # noqa: BLE001 - each says how the scenario ended
            error = raised
        stage.scenario_ended(*verdict_on(error))
    stage.stop()


@pytest.mark.full_size("plays all features 28 times: PART=tests")
def test_both_policies_reach_every_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {*names_in_rules(), *(kind.entry for kind in Settled.__subclasses__())}
    reached: dict[str, set[str]] = {policy: set() for policy in POLICIES}
    for policy, kind in POLICIES.items():
        monkeypatch.setattr(adapter, kind.__name__, noting(kind, reached[policy]))
        for request in RUNS:
            play(attrs.evolve(request, adapter=f"model?policy={policy}&seed=1"))
    known |= reached["random"] | reached["hostile"]
    missed = {policy: known - found for policy, found in reached.items()}
    assert {"random": set(), "hostile": set()} == missed
