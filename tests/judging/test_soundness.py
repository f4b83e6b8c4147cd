"""The judge never accuses a conforming bus, however it behaves within what is allowed."""

import datetime
import functools
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from exploring import accusation, explored

from busproof import vocabulary as v
from busproof.adapters.model import POLICIES, ModelAdapter
from busproof.cli.running.child_run import HISTORY, Request, record
from busproof.exploration.explorer import Exploration, explore
from busproof.exploration.machine import terms_of
from busproof.exploration.sizes import SIZES
from busproof.history import files
from busproof.history.records import Ended, Oracle, Record, ScenarioVerdict
from busproof.judging.judge import observability_for
from busproof.judging.linearization.overlap import Judged, judged
from busproof.spec import load
from busproof.steps.source_sequences import SourceSequences

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEQUENCES = {"hostile": 6000, "random": 2000, "round-robin": 2000}
SHARE = 1 if FULL else 100
SHARDS = 4
NIGHT = datetime.datetime.now(tz=datetime.UTC).toordinal() if FULL else 0
"""Explorations at full size are new ones every night; a failure prints all that was sent."""
WHOLE = 10
"""Whole explorations of each shard, with the sequences of scenarios that are transformed."""
REAL_SEQUENCES = 3200 if FULL else 4
WITHOUT_VERDICT = (
    "the overlapping requests have too many possible orders",
    "too many executions of the model",
)
GIVEN_UP = {"hostile": 0.25, "random": 0.001, "round-robin": 0.001}
"""Greatest share of few sequences without a verdict; of many hostile ones it is about a tenth."""
HURRIED_SEQUENCES = 4000 if FULL else 20
AT_ONCE = 16 if FULL else 1
"""Processes in which time passes: on a real clock most of it is waiting."""


def accusations(adapter: v.Adapter, seed: int, sequences: int, share: float = 0.001) -> list[str]:
    """What the oracles object to in an exploration."""
    profile = v.profile_for(load(), partitions=(16, 3, 4, 2)[seed % 4])
    found = explored(adapter, seed=seed, profile=profile, sequences=sequences, rules=sequences)
    assert sequences == len(found.sequences)
    # The exploration has judged each sequence by the strict oracle.
    assert found.exploration.terms.oracle is Oracle.STRICT
    said = [ended.detail for ended in found.endings]
    said += [accusation(found, each, Oracle.CLIENT) for each in found.sequences]
    return decided(said, share)


def decided(said: Sequence[str], share: float = 0.001) -> list[str]:
    """The accusations, without sequences that have no verdict; at most this share has none."""
    undecided = [each for each in said if each.startswith(WITHOUT_VERDICT)]
    assert len(undecided) <= len(said) * share, undecided
    return [each for each in said if each and each not in undecided]


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_model_is_never_accused_by_either_oracle(
    policy: str, shard: int, request: pytest.FixtureRequest
) -> None:
    """Hostile: last partition first, slack on every timer, cached, empty, lost, late answers."""
    if policy == "hostile":
        request.getfixturevalue("impatient")
    seed = NIGHT * SHARDS + shard
    adapter = ModelAdapter(policy=policy, seed=seed)
    sequences = SEQUENCES[policy] // SHARE // SHARDS
    assert [] == accusations(adapter, seed, sequences, GIVEN_UP[policy])


@pytest.mark.slow
@pytest.mark.full_size(
    "explorations of many seeds; `make run` has one: run by the nightly part exploration"
)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_whole_explorations_of_the_model_pass_every_sequence(shard: int, tmp_path: Path) -> None:
    """None is accused, and the judge gives up on none: each would make a run end with an error."""
    tier = (v.Tier.STANDARD, v.Tier.PREMIUM)[shard % 2]
    record(Request(only="features", tier=tier), tmp_path, lambda _: None)
    sources = SourceSequences()
    for scenario in files.load(tmp_path / HISTORY).scenarios:
        if scenario.ended is not None and scenario.ended.verdict is ScenarioVerdict.PASSED:
            sources.keep(scenario.name, scenario.events, scenario.ended.steps)
    assert len(sources.sequences) > 400
    adapter, wrong = ModelAdapter(), []
    size = SIZES["quick"]
    for number in range(WHOLE):
        seed = (NIGHT * SHARDS + shard) * WHOLE + number
        records: list[Record] = []
        explore(
            adapter,
            terms_of(adapter, v.profile_for(load(), tier=tier)),
            size=size,
            start=seed,
            sources=sources.sequences,
            write=records.append,
        )
        endings = [each for each in records if isinstance(each, Ended)]
        assert len(endings) > size.sequences
        passed = ScenarioVerdict.PASSED
        wrong += [f"seed {seed}: {each.detail}" for each in endings if each.verdict is not passed]
    assert [] == wrong


@pytest.mark.slow
def test_the_model_behind_a_client_library_is_never_accused() -> None:
    assert [] == accusations(ModelAdapter(library=True), 0, (2000 if FULL else 20))


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_the_model_on_a_real_clock_is_never_accused_by_either_oracle(policy: str) -> None:
    """Locks of 20 ms really expire, somewhere between the call and the return of a request."""
    one_by_one = functools.partial(real_accusations, policy, REAL_SEQUENCES // AT_ONCE, 1e6)
    with ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("spawn")) as processes:
        said = [each for found in processes.map(one_by_one, range(AT_ONCE)) for each in found]
    assert said == [], "\n\n".join(said)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_model_in_a_hurry_whose_timers_may_have_run_out_is_never_accused() -> None:
    """Nobody waits, and at every moment the slack leaves open whether a lock has ended."""
    said = real_accusations("hostile", HURRIED_SEQUENCES, 0.0, 0, share=0.2)
    assert said == [], "\n\n".join(said)


class OfShortWaits(Exploration):
    """Exploration that waits for locks of 20 ms, but not for messages that live for seconds."""

    def waits(self, duration: int) -> None:
        if duration <= v.MICROSECONDS:
            super().waits(duration)


def real_accusations(
    policy: str, sequences: int, waiting: float, seed: int, share: float = 0.001
) -> list[str]:
    """What the oracles object to in an exploration on a real clock."""
    adapter = ModelAdapter(policy=policy, clock=v.Clock.REAL, seed=seed)
    profile = v.profile_for(load(), partitions=4)
    found = explored(
        adapter,
        seed=seed,
        profile=profile,
        kind=OfShortWaits,
        sequences=sequences,
        lock=20_000,
        waiting=waiting,
    )
    assert sequences == len(found.sequences)
    observability = adapter.declaration.observability
    return decided(
        [
            objection(events, judged(events, profile, observability_for(observability, oracle)))
            for events in found.sequences
            for oracle in Oracle
        ],
        share,
    )


def objection(events: Sequence[v.Event], found: Judged) -> str:
    """What was objected to, with all that shows it: nothing of it can be repeated."""
    if found.violation is None:
        return found.exhausted or ""
    shown = [(index, events[index]) for index in found.order]
    lines = [f"{at}: {e.called}-{e.returned} {e.command} -> {e.outcome}" for at, e in shown]
    return "\n".join([f"{found.violation.rules}", *lines])


def held_to() -> Iterator[v.Profile]:
    """Every edition, every tier, and every reading that is not the default."""
    catalogue = load()
    for edition in catalogue.editions:
        yield v.profile_for(catalogue, edition=edition.id, partitions=3)
    for tier in v.Tier:
        yield v.profile_for(catalogue, tier=tier, partitions=3)
    for ambiguity in catalogue.ambiguities:
        for reading in ambiguity.choices:
            if reading != ambiguity.default:
                readings = {ambiguity.id: reading}
                yield v.profile_for(catalogue, readings=readings, partitions=3)


@pytest.mark.slow
def test_the_model_is_never_accused_whatever_it_is_held_to() -> None:
    """The model plays by the same profile."""
    for profile in held_to():
        adapter = ModelAdapter(policy="random")
        found = explored(adapter, profile=profile, sequences=40 if FULL else 1, rules=99)
        said = [accusation(found, each, oracle) for each in found.sequences for oracle in Oracle]
        assert {""} == set(said), profile
