"""Histories for Spark, many in one file: valid ones, and such with one event changed."""

from collections.abc import Container, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

import attrs
from corrupting import CORRUPTIONS, History

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of
from busproof.adapters.model import HOSTILE_SLACK, ModelAdapter
from busproof.history.files import HistoryWriter
from busproof.history.records import Header, Started
from busproof.judging.workload import Habits, work
from busproof.mutants import MUTANTS
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load

__all__ = [
    "WITHOUT",
    "Case",
    "clean",
    "corrupted",
    "crowded",
    "faults_header",
    "header",
    "lossy",
    "seeded",
    "write",
]

LENGTH = 220
IDLE = Habits()
EDITION = "cs-2020-12"
"""The edition that states the most."""
CAPABILITIES = (
    "deferral",
    "dead-letter",
    "duplicate-detection",
    "lock-renewal",
    "management",
    "peek",
    "peek-lock",
    "sequence-numbers",
    "sessions",
    "transactions",
    "witness",
)


@attrs.frozen
class Case:
    """One history: how it came about, its events, and the rules that it breaks."""

    name: str
    events: tuple[v.Event, ...]
    broken: frozenset[str] = frozenset()
    changed: int | None = None


@cache
def history(
    seed: int,
    policy: str,
    clients: int,
    connections: int | None = None,
    habits: Habits = IDLE,
) -> tuple[v.Event, ...]:
    adapter = ModelAdapter(policy=policy, seed=seed)
    return tuple(work(adapter, profile(), Random(seed), LENGTH, clients, connections, habits))


def clean(policy: str, seeds: Sequence[int]) -> Iterator[Case]:
    """Histories of a conforming bus: of one client or many, some that manage queues.

    In some of them messages have a time to live, or are settled in transactions.
    """
    for seed in seeds:
        clients = (1, 4, 16)[seed % 3]
        habits = Habits(
            managing=0.05 if seed % 4 == 3 else 0.0,
            mortal=0.5 if seed % 5 in (1, 3) else 0.0,
            enlisting=0.4 if seed % 6 in (2, 5) else 0.0,
        )
        connections = (None, 1)[seed % 2]
        yield Case(f"{policy} {seed}", history(seed, policy, clients, connections, habits))


def crowded(seeds: Sequence[int]) -> Iterator[Case]:
    """Histories of a conforming bus, of which some partitions are soon full."""
    for seed in seeds:
        clients = (1, 4, 16)[seed % 3]
        habits = Habits(large=0.5, mortal=0.3 * (seed % 2))
        events = history(seed, "random", clients, (None, 1)[seed % 2], habits)
        yield Case(f"crowded {seed}", events)


def lossy(seeds: Sequence[int]) -> Iterator[Case]:
    """Histories of a conforming bus, in which some answers were lost on their way."""
    for seed in seeds:
        random = Random(seed)
        events = history(seed, "round-robin", (1, 4, 16)[seed % 3])
        yield Case(
            f"lossy {seed}",
            tuple(
                attrs.evolve(event, outcome=v.Indeterminate(), returned=None, witness=None)
                if event.called and random.random() < 0.05
                else event
                for event in events
            ),
        )


def corrupted(kind: str, clients: int, tries: int) -> Iterator[Case]:
    """Histories with one event changed, so that a rule of this kind is broken."""
    rules, changes = CORRUPTIONS[kind]
    found = 0
    for seed in range(40):
        events = history(seed, "round-robin", clients, 1 if kind == "withheld" else None)
        ways = list(changes(History(events)))
        Random(seed).shuffle(ways)
        for changed, index in ways[:2]:
            if found < tries:
                yield Case(
                    f"{kind}, {clients} clients, seed {seed}",
                    tuple(changed),
                    frozenset(rules),
                    index,
                )
            found += 1
        if found >= tries:
            return


WITHOUT = "without "
"""Before the name of a fault: the history of a bus that does not have it."""


def seeded(*, faulty: bool, rules: Container[str]) -> Iterator[Case]:
    """The run in which each seeded fault shows, on the bus that has it or on the one that has not.

    Under a virtual clock, as `faults_header` says; faults that show under a reading of their own
    or that need a client library are left out, and so are those of other rules.
    """
    for fault in MUTANTS:
        if fault.readings or fault.needs or fault.rule not in rules:
            continue
        bus = adapter_of(fault) if faulty else ModelAdapter()
        bus.start(profile())
        events = tuple(play(bus, fault.run))
        broken = frozenset({fault.rule}) if faulty else frozenset[str]()
        yield Case(fault.id if faulty else WITHOUT + fault.id, events, broken)


@cache
def profile() -> v.Profile:
    return v.profile_for(load(), edition=EDITION, partitions=PARTITIONS)


def faults_header() -> Header:
    return Header(
        adapter="faulty",
        profile=profile(),
        capabilities=tuple(sorted(ModelAdapter().declaration.capabilities)),
    )


def header() -> Header:
    """Of clients at work on a real clock, of whom some watch a bus whose timers are a bit off."""
    return Header(
        adapter="model",
        profile=profile(),
        clock=v.Clock.REAL,
        slack=HOSTILE_SLACK,
        capabilities=CAPABILITIES,
        implementation={"name": "model"},
    )


def write(path: Path, cases: Sequence[Case], first: Header) -> None:
    """One file, each case a scenario, so that a history's number identifies its case."""
    with HistoryWriter(path) as writer:
        writer.write(first)
        for case in cases:
            writer.write(Started(scenario=case.name))
            for event in case.events:
                writer.write(event)
