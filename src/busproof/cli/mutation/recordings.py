"""Recordings of the suite on the model, with the lines of the model that each executes."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import attrs

import busproof.model
from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.cli.mutation.search import Base
from busproof.cli.running.child_run import Request
from busproof.history.files import load
from busproof.history.records import Scenario
from busproof.history.replay import commands_of

__all__ = ["Line", "Recording", "lines_of", "requests", "trace_run"]

EDITION: Final = "cs-2020-12"
"""The edition that states the most rules."""
TIERS: Final = ("standard", "premium", "basic")
MODEL: Final = str(Path(busproof.model.__file__).parent)

Line = tuple[str, int]
"""A family of the model's rules, and the number of a line in its file."""


@attrs.frozen(kw_only=True)
class Recording:
    """A scenario or explored sequence, recorded on the model.

    Attributes:
        request: the run that recorded it; `only` names the part of the suite.
        profile: the profile of the run.
        scenario: commands and answers.
        lines: executed lines of the model's rules.
    """

    request: Request
    profile: v.Profile
    scenario: Scenario
    lines: frozenset[Line]

    @property
    def part(self) -> str:
        """The part of the suite: `features`, `distilled` or `exploration`."""
        return self.request.only or ""

    def base(self) -> Base:
        """Return the commands of the recording, for the search."""
        witnesses = [event.witness for event in self.scenario.events]
        partitions = {witness.partition for witness in witnesses if witness is not None}
        return Base(
            profile=self.profile,
            commands=commands_of(self.scenario.events),
            partitions=tuple(sorted(partitions)),
        )


def requests(sequences: str, seed: int) -> Iterator[Request]:
    """Yield the runs of the suite in each tier, and explorations with the given profile."""
    for tier in TIERS:
        about = Request(edition=EDITION, tier=tier)
        yield attrs.evolve(about, only="features")
        yield attrs.evolve(about, only="distilled")
        yield attrs.evolve(about, only="exploration", profile=sequences, seed=str(seed))


def trace_run(request: Request, history: Path) -> list[Recording]:
    """Return the recordings of a run, with the lines of the model that each executes."""
    run = load(history)
    return [
        Recording(
            request=request,
            profile=run.header.profile,
            scenario=scenario,
            lines=lines_of(run.header.profile, scenario),
        )
        for scenario in run.scenarios
        if scenario.events
    ]


def lines_of(profile: v.Profile, scenario: Scenario) -> frozenset[Line]:
    """Return the lines of the model that a scenario executes."""
    lines: set[Line] = set()

    def enter_frame(frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG001 - a tracer's
        return note if frame.f_code.co_filename.startswith(MODEL) else None

    def note(frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG001 - a tracer's
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return note

    adapter = ModelAdapter()
    sys.settrace(enter_frame)
    try:
        adapter.start(profile)
        for event in scenario.events:
            adapter.do(event.command, event.connection)
    finally:
        sys.settrace(None)
    return frozenset((Path(path).stem, line) for path, line in lines)
