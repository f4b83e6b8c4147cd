"""Mutants made by machine, each against what the suite asks: which are noticed, and by what.

What the suite asks was recorded on the model before. A mutant is asked the same, but only in those
scenarios and sequences in which the changed line runs; where it answers otherwise, the judge says
whether it may. A scenario may ask for more than the judge knows, so one in which a mutant is not
accused is run as well.
"""

import pickle
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from enum import StrEnum
from functools import cache
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any, Final

import attrs

import busproof.model
from busproof.adapters.base import Observed
from busproof.adapters.model import ModelAdapter
from busproof.auditing import noticed_apart, recorded_apart
from busproof.history.files import load
from busproof.history.records import Scenario
from busproof.judging.judge import Judge
from busproof.mutants.generated import change_named, changes, rules_with
from busproof.runs import Request
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import Profile

__all__ = ["Fate", "Noticed", "fates"]

EDITION: Final = "cs-2020-12"
"""The edition that states the most."""
TIERS: Final = ("standard", "premium", "basic")
MODEL: Final = str(Path(busproof.model.__file__).parent)
RUN_MOST: Final = 5
"""How many scenarios are run of those that a mutant answers otherwise without being accused."""

Line = tuple[str, int]
"""A family of the model's rules, and a line of its file."""


class Noticed(StrEnum):
    """What notices a mutant."""

    FEATURES = "features"
    EXPLORATION = "exploration"
    ALLOWED = "answers otherwise, as it may"
    NOTHING = "nothing"


@attrs.frozen(kw_only=True)
class Fate:
    """What became of a mutant.

    Attributes:
        id: of the change.
        noticed: by what it was noticed.
        by: the scenario or sequence in which it was, or in which it answers otherwise.
        rules: the rules that the judge says are broken there; none if it broke off.
    """

    id: str
    noticed: Noticed
    by: str = ""
    rules: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Recording:
    """A scenario or a sequence as it went on the model.

    Attributes:
        kind: whether it is one of the features or was explored.
        request: the run that it is of.
        profile: what the run was held to.
        scenario: what was asked and answered.
        lines: those of the model's rules that ran.
    """

    kind: Noticed
    request: Request
    profile: Profile
    scenario: Scenario
    lines: frozenset[Line]


def fates(families: Sequence[str], *, sequences: str, seed: int, jobs: int) -> Iterator[Fate]:
    """Yield what becomes of each change of the rules of some families.

    Args:
        families: of the model's rules.
        sequences: the profile of the explorations.
        seed: of the explorations.
        jobs: how many processes at once.

    Raises:
        UsageError: there is no such family.
        ConformanceError: a run could not be recorded.
    """
    found = [change for family in families for change in changes(family)]
    with tempfile.TemporaryDirectory(prefix="busproof-audit-") as scratch:
        folder = Path(scratch)
        requests = list(_requests(sequences, seed))
        with ThreadPoolExecutor(jobs) as pool:
            recorded = list(pool.map(recorded_apart, requests, repeat(folder)))
        kept = folder / "recordings"
        with ProcessPoolExecutor(jobs, get_context("spawn")) as processes:
            traced = processes.map(_traced, requests, recorded)
            kept.write_bytes(pickle.dumps([each for several in traced for each in several]))
            yield from processes.map(
                _fate, [each.id for each in found], repeat(kept), repeat(folder), chunksize=4
            )


def _requests(sequences: str, seed: int) -> Iterator[Request]:
    for tier in TIERS:
        about = Request(edition=EDITION, tier=tier, allure=False)
        yield attrs.evolve(about, only="features")
        yield attrs.evolve(about, only="exploration", profile=sequences, seed=str(seed))


def _traced(request: Request, history: Path) -> list[Recording]:
    """The recordings of a run, each with the lines of the model that it runs."""
    found = load(history)
    kind = Noticed.FEATURES if request.only == "features" else Noticed.EXPLORATION
    profile = found.header.profile
    return [
        Recording(
            kind=kind,
            request=request,
            profile=profile,
            scenario=scenario,
            lines=_lines(profile, scenario),
        )
        for scenario in found.scenarios
        if scenario.events
    ]


def _lines(profile: Profile, scenario: Scenario) -> frozenset[Line]:
    lines: set[Line] = set()

    def note(frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG001
        path = frame.f_code.co_filename
        if not path.startswith(MODEL):
            return None
        lines.add((Path(path).stem, frame.f_lineno))
        return note

    sys.settrace(note)
    try:
        for _ in _answers(ModelAdapter(), profile, scenario):
            pass
    finally:
        sys.settrace(None)
    return frozenset(lines)


def _answers(adapter: ModelAdapter, profile: Profile, scenario: Scenario) -> Iterator[Observed]:
    adapter.start(profile)
    return (adapter.do(event.command, event.connection) for event in scenario.events)


@cache
def _recordings(kept: Path) -> list[Recording]:
    found: list[Recording] = pickle.loads(kept.read_bytes())  # noqa: S301 - written by this audit
    return sorted(found, key=lambda each: len(each.scenario.events))


def _fate(identity: str, kept: Path, scratch: Path) -> Fate:
    change = change_named(identity)
    adapter = ModelAdapter(rules=rules_with(change))
    line = (change.family, change.line)
    there = [each for each in _recordings(kept) if line in each.lines]
    otherwise: list[Recording] = []
    for kind in (Noticed.FEATURES, Noticed.EXPLORATION):
        for recording in (each for each in there if each.kind is kind):
            events = list(_events(adapter, recording))
            if events == list(recording.scenario.events):
                continue
            rules = _broken(adapter, recording, events)
            if rules is not None:
                by = recording.scenario.name
                return Fate(id=identity, noticed=kind, by=by, rules=rules)
            otherwise.append(recording)
        if kind is Noticed.FEATURES:
            for recording in otherwise[:RUN_MOST]:
                if noticed_apart(_of(identity, recording), recording.scenario.name, scratch):
                    return Fate(id=identity, noticed=kind, by=recording.scenario.name)
    if otherwise:
        return Fate(id=identity, noticed=Noticed.ALLOWED, by=otherwise[0].scenario.name)
    return Fate(id=identity, noticed=Noticed.NOTHING)


def _events(adapter: ModelAdapter, recording: Recording) -> Iterator[Event]:
    """What comes of the recorded commands; one fewer at least if the adapter breaks."""
    answers = _answers(adapter, recording.profile, recording.scenario)
    with suppress(Exception):
        for event in recording.scenario.events:
            answer = next(answers)
            yield attrs.evolve(event, outcome=answer.outcome, witness=answer.witness)


def _broken(
    adapter: ModelAdapter, recording: Recording, events: Sequence[Event]
) -> tuple[str, ...] | None:
    """The rules that events break, none of them if the adapter broke; `None` if all is allowed.

    An answer that is none, such as a message that is missing, is what a broken adapter gives.
    """
    judge = Judge(recording.profile, adapter.declaration.vantage)
    for event in events:
        try:
            found = judge.saw(event)
        except Exception:  # noqa: BLE001 - the judge is promised answers of the vocabulary
            return ()
        if found is not None:
            return found.rules
    return () if len(events) < len(recording.scenario.events) else None


def _of(identity: str, recording: Recording) -> Request:
    """A run like the recorded one, of the mutant."""
    return attrs.evolve(recording.request, adapter=f"generated:{identity}")
