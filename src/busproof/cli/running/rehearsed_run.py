"""A rehearsal before a run, for adapters that answer many commands at once far faster."""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from secrets import randbits
from typing import Final

import attrs

from busproof.adapters.finding import resolve_name
from busproof.cli.running import child_run
from busproof.cli.running.child_run import Counted, Finished, Progress, Request
from busproof.errors import ConformanceError, HistoryError

__all__ = ["record"]

_REHEARSALS: Final = {"spark": "busproof.adapters.spark.rehearsal:Rehearsal"}
"""The stand-in to rehearse with, by kind of adapter."""

_VARIABLE: Final = "BUSPROOF_REHEARSED"
"""Environment variable with the file of commands that the stand-in passes to the adapter."""

_ENDLESS: Final = "soak"
_SEED_BITS: Final = 32


def record(request: Request, folder: Path, progress: Progress) -> Finished:
    """Record a run as `child_run.record` does, after a rehearsal if its adapter has one.

    The rehearsal runs the same scenarios on a stand-in, which answers as the adapter probably will,
    and writes a file of its commands. Its answers are discarded.

    Raises:
        UsageError: as `child_run.record`, which raises its other errors, too.
    """
    stand_in = _REHEARSALS.get(resolve_name(request.adapter).partition("?")[0])
    if stand_in is None or (request.only == "exploration" and request.profile == _ENDLESS):
        return child_run.record(request, folder, progress)
    if request.profile is not None and request.seed is None:
        request = attrs.evolve(request, seed=str(randbits(_SEED_BITS)))
    with tempfile.TemporaryDirectory(prefix="busproof-rehearsal-") as aside:
        also = {_VARIABLE: str(Path(aside, "commands.jsonl"))}
        if _rehearse(attrs.evolve(request, adapter=stand_in), Path(aside), progress, also):
            shutil.rmtree(folder, ignore_errors=True)
            raise HistoryError("interrupted before anything was recorded")
        return child_run.record(request, folder, progress, also)


def _rehearse(request: Request, aside: Path, progress: Progress, also: dict[str, str]) -> bool:
    """Run the rehearsal; return whether the user interrupted it.

    It ignores errors in the request, because the run itself will report them.
    """
    if request.profile == _ENDLESS:
        request = attrs.evolve(request, profile=None, minutes=None, seed=None)

    def report_rehearsal(counted: Counted) -> None:
        progress(attrs.evolve(counted, rehearsing=True))

    with suppress(ConformanceError):
        return child_run.record(request, aside, report_rehearsal, also).interrupted
    return False
