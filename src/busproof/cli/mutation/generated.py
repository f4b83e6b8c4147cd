"""Generated mutants: run the suite against each, then search for commands that kill the rest.

The suite is first recorded on the model. A mutant replays only the scenarios that execute the
changed line; if an answer differs, the judge decides whether it is allowed. A scenario may check
more than the judge knows, so scenarios whose answers differ but are allowed are run as a whole.
Mutants that no scenario kills replay the distilled sequences. The rest are tried by an exploration
and a search: those that are caught should have been killed, the others are undecided.
"""

import pickle
import signal
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Final

import attrs

from busproof.adapters.model import ModelAdapter
from busproof.cli.mutation.audit import record_apart, run_apart
from busproof.cli.mutation.budget import OutOfTime, within
from busproof.cli.mutation.recordings import Recording, requests, trace_run
from busproof.cli.mutation.search import Difference, ModelBroke, Reached, find_broken, play, search
from busproof.cli.mutation.variants import Material
from busproof.history.render.gherkin import sentence
from busproof.history.replay import commands_of
from busproof.judging.replay_check import answers_alike
from busproof.model.rules import Families
from busproof.mutants.by_machine.contexts import may_arise
from busproof.mutants.by_machine.made import (
    FAMILIES,
    GeneratedMutant,
    families_of,
    families_reporting,
    find_mutant,
    generate_mutants,
)
from busproof.mutants.by_machine.record import Fate, Result, equivalents

__all__ = ["Terms", "choose_mutants", "draw_mutants", "fate", "fates"]

RUN_MOST: Final = 5
"""Maximum number of scenarios with different but allowed answers to run for a mutant."""

BASES: Final = 40
"""Number of recordings that a search starts from."""


@attrs.frozen(kw_only=True)
class Terms:
    """Limits of an audit of generated mutants.

    Attributes:
        sample: number of mutants of each family; `None` for all.
        tries: maximum number of variants that the search may send to a mutant.
        sequences: the profile of the exploration whose sequences the search begins with.
        seed: the seed of the sample, the exploration and the search.
        jobs: number of parallel processes.
    """

    sample: int | None = None
    tries: int = 200
    sequences: str = "quick"
    seed: int = 0
    jobs: int = 2


def choose_mutants(families: Sequence[str], terms: Terms) -> list[GeneratedMutant]:
    """Return the mutants of the given families, or of all families, or a sample of each.

    Mutants are drawn by their ids, so that an additional mutant changes a sample in one place at
    most.

    Raises:
        UsageError: there is no such family.
    """
    mutants: list[GeneratedMutant] = []
    for family in families or FAMILIES:
        of_family = list(generate_mutants(family))
        if terms.sample is not None and terms.sample < len(of_family):
            of_family = draw_mutants(of_family, terms.seed)[: terms.sample]
        mutants += of_family
    return mutants


def draw_mutants(mutants: Sequence[GeneratedMutant], seed: int) -> list[GeneratedMutant]:
    """Return the mutants in a random order that depends only on their ids and the seed."""
    return sorted(mutants, key=lambda mutant: sha256(f"{seed} {mutant.id}".encode()).digest())


def fates(mutants: Sequence[GeneratedMutant], terms: Terms) -> Iterator[Fate]:
    """Audit each mutant, and yield the results in order.

    Raises:
        ConformanceError: a run could not be recorded.
    """
    with tempfile.TemporaryDirectory(prefix="busproof-audit-") as scratch:
        folder = Path(scratch)
        requested = list(requests(terms.sequences, terms.seed))
        with ThreadPoolExecutor(terms.jobs) as pool:
            histories = list(pool.map(record_apart, requested, repeat(folder)))
        kept = folder / "recordings"
        # Ctrl-C reaches every process, but only this one ends the audit.
        with ProcessPoolExecutor(
            terms.jobs, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
        ) as processes:
            recordings = processes.map(trace_run, requested, histories)
            kept.write_bytes(
                pickle.dumps([recording for several in recordings for recording in several])
            )
            ids = [mutant.id for mutant in mutants]
            try:
                yield from processes.map(_fate, ids, repeat(terms), repeat(kept), chunksize=4)
            except BaseException:
                processes.shutdown(wait=False, cancel_futures=True)
                raise


@cache
def _recordings(kept: Path) -> list[Recording]:
    recorded: list[Recording] = pickle.loads(kept.read_bytes())  # noqa: S301 - by this audit
    return recorded


@cache
def _material(kept: Path) -> Material:
    recorded = _recordings(kept)
    return Material.of(
        event.command for recording in recorded for event in recording.scenario.events
    )


def _fate(identity: str, terms: Terms, kept: Path) -> Fate:
    mutant = find_mutant(identity)
    return fate(mutant, _recordings(kept), _material(kept), terms, kept.parent)


def fate(
    mutant: GeneratedMutant,
    recorded: Sequence[Recording],
    material: Material,
    terms: Terms,
    scratch: Path,
) -> Fate:
    """Audit one mutant; return the result.

    Args:
        mutant: the mutant.
        recorded: the recordings of the suite, including explorations.
        material: commands and values of these recordings, for the search.
        terms: the limits of the audit.
        scratch: a folder for runs.
    """
    places = {(mutant.family, line) for line in mutant.lines}
    there = [recording for recording in recorded if not places.isdisjoint(recording.lines)]
    there.sort(key=lambda recording: len(recording.scenario.events))
    if not there:
        return Fate(id=mutant.id, result=Result.NOT_RUN)
    parts = {
        part: [recording for recording in there if recording.part == part]
        for part in ("features", "distilled", "exploration")
    }
    families = families_of(mutant)
    otherwise: list[Recording] = []
    others: list[Recording] = []
    return (
        _try_recordings(mutant, families, parts["features"], otherwise)
        or _try_apart(mutant, otherwise, scratch)
        or _try_recordings(mutant, families, parts["distilled"], others)
        or _try_recordings(mutant, families, parts["exploration"], others)
        or _search_variants(
            mutant, families, there, material, terms, answered=bool(otherwise or others)
        )
    )


def _try_recordings(
    mutant: GeneratedMutant,
    families: Families,
    part: Sequence[Recording],
    otherwise: list[Recording],
) -> Fate | None:
    """Return the result if one of the recordings accuses a mutant; otherwise `None`.

    Args:
        mutant: the mutant.
        families: families of rules with the fault.
        part: recordings of one part of the suite.
        otherwise: list that gets the recordings whose answers differ but are allowed.
    """
    for recording in part:
        if not _may_matter(mutant, recording) or _alike(families, recording):
            continue
        broke = _find_broken(families, recording)
        if broke is None:
            otherwise.append(recording)
            continue
        return Fate(
            id=mutant.id,
            result=Result.FOUND if recording.part == "exploration" else Result.KILLED,
            part=recording.part,
            by=recording.scenario.name,
            rules=broke,
        )
    return None


def _try_apart(
    mutant: GeneratedMutant, otherwise: Sequence[Recording], scratch: Path
) -> Fate | None:
    """Run a few scenarios with their own checks; return the result if one fails, else `None`."""
    if otherwise:
        request = attrs.evolve(otherwise[0].request, adapter=f"generated:{mutant.id}")
        same = [recording for recording in otherwise if recording.request == otherwise[0].request]
        names = frozenset(recording.scenario.name for recording in same[:RUN_MOST])
        try:
            failed = run_apart(request, names, scratch)
        except OutOfTime:
            failed = (same[0].scenario.name,)
        if failed:
            return Fate(id=mutant.id, result=Result.KILLED, part="features", by=failed[0])
    return None


def _search_variants(
    mutant: GeneratedMutant,
    families: Families,
    there: Sequence[Recording],
    material: Material,
    terms: Terms,
    *,
    answered: bool,
) -> Fate:
    """Search variants of the recordings for one that kills a mutant; return the result.

    Args:
        mutant: the mutant.
        families: families of rules with the fault.
        there: recordings that execute the mutated lines.
        material: commands and values for the variants.
        terms: the limits of the audit.
        answered: whether the mutant gave different but allowed answers in a recording.
    """
    random = Random(f"{terms.seed} {mutant.id}")  # noqa: S311 - repeatable choices, not secrets
    bases = [recording.base() for recording in random.sample(there, min(BASES, len(there)))]
    outcome = search(families, bases, material, tries=terms.tries, random=random)
    if isinstance(outcome, Difference):
        commands = tuple(sentence(recorded) for recorded in commands_of(outcome.events))
        return Fate(
            id=mutant.id, result=Result.FOUND, part="search", rules=outcome.rules, commands=commands
        )
    reason = equivalents().get(mutant.id)
    if reason is not None:
        return Fate(id=mutant.id, result=Result.EQUIVALENT, why=reason)
    why = Reached.ANSWERS if answered else outcome
    if why is Reached.NOTHING and mutant.context and not _arises(mutant, there):
        why = Reached.CONTEXT
    return Fate(id=mutant.id, result=Result.UNDECIDED, why=why.value)


def _arises(mutant: GeneratedMutant, there: Sequence[Recording]) -> bool:
    """Return whether one of the recordings runs the mutated lines in the mutant's context."""
    calls: list[None] = []
    families = families_reporting(mutant, lambda: calls.append(None))
    for recording in there:
        if _may_matter(mutant, recording):
            answers_alike(ModelAdapter(families=families), recording.profile, recording.scenario)
        if calls:
            return True
    return False


def _may_matter(mutant: GeneratedMutant, recording: Recording) -> bool:
    """Return whether a recording may reach the context of a mutant."""
    return may_arise(mutant.context, (event.command for event in recording.scenario.events))


def _alike(families: Families, recording: Recording) -> bool:
    with within():  # a mutant that runs out of time counts as not answering
        return answers_alike(ModelAdapter(families=families), recording.profile, recording.scenario)


def _find_broken(families: Families, recording: Recording) -> tuple[str, ...] | None:
    commands = commands_of(recording.scenario.events)
    try:
        return find_broken(recording.profile, play(families, recording.profile, commands))
    except ModelBroke:
        return None
