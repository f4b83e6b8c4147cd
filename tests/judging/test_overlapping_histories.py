"""Clients that work at once: what is valid is judged and never accused, what is not is accused.

A history that was changed in one event is accused of the rule that this breaks.
"""

import os
from collections import Counter
from functools import cache
from random import Random

import attrs
import pytest
from corrupting import CORRUPTIONS, History

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of
from busproof.adapters.faults import fault as fault_named
from busproof.adapters.model import ModelAdapter
from busproof.history.records import Oracle
from busproof.history.render.events import event_words
from busproof.judging.decompose import parts
from busproof.judging.judge import observability_for
from busproof.judging.linearization.message_subhistories import impossible_subhistory
from busproof.judging.linearization.overlap import Judged, judged
from busproof.judging.replay.explanation import explain
from busproof.judging.workload import Habits, work
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEEDS = 1_000 if FULL else 12
SHARDS = 6
LENGTH = 220
TAKE_TWO = {"session given twice", "given before commit"}
"""What one client alone cannot do."""
TRIES = 40 if FULL else 2
SEEDED = MUTANTS if FULL else MUTANTS[5::16]
EDITION = "cs-2020-12"
"""The edition that states the most."""
FEW = 0.1
MOST_UNDECIDED = {"round-robin": FEW, "random": 0.25, "hostile": 0.4}
"""Shares of judgements that may have no verdict; where clients die, lost answers fit many ways."""
IDLE = Habits()
REAL = v.Observability(clock=v.Clock.REAL)
NO_ROOM = v.Refused(error=v.Error.QUOTA_EXCEEDED)
NO_FAULT = "none"
"""The edition that faults are tried in, without one."""


@cache
def profile(partitions: int = 16, fault: str = "") -> v.Profile:
    catalogue = load()
    if not fault or fault == NO_FAULT:
        return v.profile_for(catalogue, partitions=partitions, edition=EDITION if fault else None)
    rule = catalogue.rule(fault_named(fault).rule)
    tier, of_namespace = v.namespace_of(rule.tiers)
    return v.profile_for(
        catalogue,
        partitions=partitions if of_namespace == 1 else None,
        namespace_partitions=of_namespace,
        edition=EDITION if EDITION in rule.editions else rule.editions[-1],
        tier=tier,
        readings=fault_named(fault).readings,
    )


def history(
    seed: int, policy: str, clients: int, connections: int | None, habits: Habits = IDLE
) -> list[v.Event]:
    adapter = ModelAdapter(policy=policy, seed=seed)
    return work(adapter, profile(), Random(seed), LENGTH, clients, connections, habits)


def described(events: list[v.Event], found: Judged) -> str:
    return "\n".join(event_words(events[index]) for index in found.order[-20:])


def choice(seed: int) -> tuple[str, int, int | None]:
    random = Random(seed)
    policy = random.choice(("round-robin", "random", "hostile"))
    return policy, random.choice((1, 2, 4, 16)), random.choice((None, None, 1, 2))


@pytest.mark.usefixtures("impatient")
@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_valid_histories_are_judged_and_never_accused(shard: int) -> None:
    """Of a regular, a random and a hostile model, by either oracle, and by every topic of them."""
    undecided = Counter[str]()
    judgements = Counter[str]()
    for seed in range(shard, SEEDS, SHARDS):
        policy, clients, connections = choice(seed)
        managing = 0.05 if seed % 3 == 2 else 0
        mortal = 0.5 if seed % 2 else 0
        habits = Habits(
            managing=managing,
            mortal=mortal,
            enlisting=0.4 * (seed % 4 == 1),
            batching=0.4 * (seed % 6 == 3),
        )
        events = history(seed, policy, clients, connections, habits)
        slack = ModelAdapter(policy=policy).declaration.slack
        for oracle in Oracle:
            observability = observability_for(attrs.evolve(REAL, slack=slack), oracle)
            found = judged(events, profile(), observability)
            assert found.violation is None, f"seed {seed}, {oracle}\n{described(events, found)}"
            undecided[policy] += bool(found.exhausted)
            judgements[policy] += 1
            for indices in parts(events):
                part = [events[index] for index in indices]
                stuck = range(len(part))
                assert impossible_subhistory(part, profile(), observability, stuck) is None, seed
    for policy, share in MOST_UNDECIDED.items():
        one_history = len(Oracle) if share > FEW else 0
        assert undecided[policy] <= max(one_history, share * judgements[policy]), policy


@pytest.mark.usefixtures("impatient")
@pytest.mark.slow
def test_histories_of_full_queues_are_never_accused() -> None:
    """Of few partitions, which are soon full, in an edition that says how large they are."""
    refused = 0
    for seed in range(SEEDS // 2):
        policy, clients, connections = choice(seed)
        adapter = ModelAdapter(policy=policy, seed=seed)
        habits = Habits(large=0.5, mortal=0.3 * (seed % 2))
        held_to = profile(3, NO_FAULT)
        events = work(adapter, held_to, Random(seed), LENGTH, clients, connections, habits)
        refused += sum(each.outcome == NO_ROOM for each in events)
        slack = adapter.declaration.slack
        for oracle in Oracle:
            observability = observability_for(attrs.evolve(REAL, slack=slack), oracle)
            found = judged(events, held_to, observability)
            assert found.violation is None, f"seed {seed}, {oracle}\n{described(events, found)}"
            for indices in parts(events):
                part = [events[index] for index in indices]
                stuck = range(len(part))
                assert impossible_subhistory(part, held_to, observability, stuck) is None, seed
    assert refused > SEEDS // 2


@pytest.mark.parametrize("clients", [1, 4, 16])
def test_the_order_that_is_found_keeps_the_times(clients: int) -> None:
    """And in it, every answer is allowed."""
    events = history(7, "round-robin", clients, None)
    found = judged(events, profile(), REAL)
    assert sorted(found.order) == list(range(len(events)))
    place = {index: number for number, index in enumerate(found.order)}
    assert explain([events[index] for index in found.order], profile(), REAL).is_found
    for one, before in enumerate(events):
        for other, after in enumerate(events):
            if before.returned is not None and before.returned < after.called:
                assert place[one] < place[other]


def timed(fault: Mutant) -> list[v.Event]:
    """The shortest run in which a fault shows, on a real clock: a request every microsecond."""
    bus = adapter_of(fault)
    bus.start(profile(PARTITIONS, fault.id))
    later, virtual, events = 1_000, 0, []
    for event in play(bus, fault.run):
        later += 1
        if isinstance(event.command, v.AdvanceClock):
            virtual += event.command.duration
            continue
        now, outcome = virtual + later, told_later(event.outcome, later)
        events.append(
            attrs.evolve(event, client="tester", called=now, returned=now, outcome=outcome)
        )
    return events


def told_later(outcome: v.Outcome, later: int) -> v.Outcome:
    """The answer with its times by a clock that is ahead by so much."""
    match outcome:
        case v.Received(message=view):
            return v.Received(message=seen_later(view, later))
        case v.ReceivedSeveral(messages=views):
            return v.ReceivedSeveral(messages=tuple(seen_later(view, later) for view in views))
        case v.Renewed(locked_until=int(until)):
            return v.Renewed(locked_until=until + later)
        case _:
            return outcome


def seen_later(view: v.MessageView, later: int) -> v.MessageView:
    if view.locked_until is None:
        return view
    return attrs.evolve(view, locked_until=view.locked_until + later)


SIDE_BY_SIDE = ("PART-05", "DUP-13")
NAMED_OTHERWISE = ("closing-reorders",)
"""Among overlapping requests SESS-14 is charged: a message comes in another place of the order."""
OF_THE_NAMESPACE = ("QUOTA", "PREM", *SIDE_BY_SIDE)


@cache
def beside(library: bool) -> tuple[v.Event, ...]:
    """What four other clients do on other queues, of the same library."""
    adapter = ModelAdapter(library=library)
    return tuple(work(adapter, profile(PARTITIONS, NO_FAULT), Random(1), 120, 4))


@pytest.mark.parametrize("fault", SEEDED, ids=[each.id for each in SEEDED])
def test_every_fault_is_seen_among_what_others_do(fault: Mutant) -> None:
    """The one event that breaks the rule is accused of it, whichever rule it is.

    What concerns all entities of a namespace, or a tier in which the others' requests mean
    something else, depends on every other request, so that nothing is done beside it.
    """
    observability = attrs.evolve(adapter_of(fault).declaration.observability, clock=v.Clock.REAL)
    asked = fault.run
    crowded = len(asked) >= 100
    held_to = profile(PARTITIONS, fault.id)
    of_all = fault.rule.startswith(OF_THE_NAMESPACE) or held_to.tier is v.Tier.PREMIUM
    alone = crowded or v.ListQueues() in asked or v.ListTopics() in asked or of_all
    noise = () if alone else beside(observability.assigns_message_ids)
    events = sorted([*timed(fault), *noise], key=lambda event: event.called)
    found = judged(events, held_to, observability)
    assert found.exhausted == ""
    if fault.equivalent:
        assert found.violation is None
    elif not fault.literal:
        assert found.violation is not None
        # Entities are judged one by one, where their requests overlap: so nothing of another one
        # is known by which it would be blamed that entities must not disturb each other.
        if fault.rule not in SIDE_BY_SIDE and fault.id not in NAMED_OTHERWISE:
            assert fault.rule in found.violation.rules
        assert {"tester"} == {events[index].client for index in found.order}


def corrupted(kind: str, clients: int) -> list[tuple[list[v.Event], int]]:
    """Histories with one event changed in this way; several if that is possible."""
    rule_needs_one_connection = kind == "withheld"
    found: list[tuple[list[v.Event], int]] = []
    for seed in range(40):
        events = history(seed, "round-robin", clients, 1 if rule_needs_one_connection else None)
        ways = list(CORRUPTIONS[kind][1](History(events)))
        Random(seed).shuffle(ways)
        found += ways[:2]
        if len(found) >= TRIES:
            break
    return found[:TRIES]


def crowds(number: int, kind: str) -> tuple[int, ...]:
    """Return how many clients there are beside a change of this kind: one number at the gate."""
    several = (4, 16) if kind in TAKE_TWO else (1, 4, 16)
    return several if FULL else (several[number % len(several)],)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "clients"),
    [(kind, clients) for n, kind in enumerate(CORRUPTIONS) for clients in crowds(n, kind)],
)
def test_a_history_that_was_changed_in_one_event_is_accused_of_that_rule(
    kind: str, clients: int
) -> None:
    """The changed event is among those that show it.

    Where a message was withheld, a later answer that withheld it too may show it instead.
    """
    rules, _ = CORRUPTIONS[kind]
    cases = corrupted(kind, clients)
    assert cases
    for events, index in cases:
        found = judged(events, profile(), REAL)
        assert found.violation is not None, found.exhausted or event_words(events[index])
        assert rules & set(found.violation.rules), found.violation.rules
        assert index in found.order or (kind == "withheld" and _comes_back_empty(events, found))


def _comes_back_empty(events: list[v.Event], found: Judged) -> bool:
    return isinstance(events[found.order[-1]].outcome, v.Empty)
