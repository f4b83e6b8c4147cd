"""Every mutant breaks its rule where the model keeps it, and the judge sees it."""

import os
import re
from collections.abc import Iterator

import pytest

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of, conforming, fault, make
from busproof.adapters.finding import find
from busproof.errors import UsageError
from busproof.judging.diagnosis.diagnosis import diagnose
from busproof.judging.replay.explanation import Ended, explain
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.mutant import AMQP, HTTP
from busproof.mutants.runs import PARTITIONS, Run, play
from busproof.spec import Catalogue, load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
EDITION = "cs-2020-12"
"""The edition that states the most."""

LONGEST = 20_000 if FULL else 200
UNDECIDED = {
    "commit-past-a-hundred-is-lost",
    "dead-letter-past-a-hundred-is-lost",
    "fan-out-ends-late",
    "last-of-large-batch-lost",
    "message-past-a-hundred-is-lost",
}
"""Mutants on whose runs the replay gives up: it neither explains nor refutes; may only shrink."""

FAMILIES: dict[str, list[Mutant]] = {}
for _mutant in MUTANTS:
    if len(_mutant.run) <= LONGEST:
        FAMILIES.setdefault(_mutant.family, []).append(_mutant)

each_family = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


def profile_of(catalogue: Catalogue, mutant: Mutant) -> v.Profile:
    rule = catalogue.rule(mutant.rule)
    tier, partitions = v.namespace_of(rule.tiers)
    return v.profile_for(
        catalogue,
        edition=EDITION if EDITION in rule.editions else rule.editions[-1],
        tier=tier,
        readings=mutant.readings,
        partitions=PARTITIONS if partitions == 1 else None,
        namespace_partitions=partitions,
    )


def broken(bus: v.Adapter, profile: v.Profile, run: Run) -> tuple[v.RuleId, ...] | Ended:
    """The rules that the first event breaks which no execution explains, or how judging ends."""
    events = playing(bus, profile, run)
    seen = bus.declaration.observability
    explanation = explain(events, profile, seen)
    if explanation.ended is not Ended.IMPOSSIBLE or explanation.stuck_at is None:
        return explanation.ended
    return diagnose(events, explanation.stuck_at, profile, seen).rules


def test_every_fault_has_an_id_of_its_own() -> None:
    """Ids are slugs, and no two faults share one."""
    ids = [each.id for each in MUTANTS]
    assert sorted(set(ids)) == sorted(ids)
    assert [] == [each for each in ids if not re.fullmatch(r"[a-z]+(-[a-z]+)*", each)]


def test_every_fault_breaks_a_rule_that_can_be_shown(catalogue: Catalogue) -> None:
    assert [] == [each.id for each in MUTANTS if catalogue.rule(each.rule).shown_by == "never"]


def test_every_rule_that_must_be_shown_has_a_fault(catalogue: Catalogue) -> None:
    """At least one fault that a test can distinguish from a conforming bus."""
    broken = {each.rule for each in MUTANTS if not each.equivalent}
    assert [] == [
        rule.id for rule in catalogue.rules if rule.shown_by == "always" and rule.id not in broken
    ]


@each_family
def test_every_fault_is_seen_and_charged_to_its_rule(family: str, catalogue: Catalogue) -> None:
    """The run that shows it accuses the faulty bus, of that rule, and no other bus."""
    wrong = [
        f"{mutant.id}: {complaint}"
        for mutant in FAMILIES[family]
        for complaint in complaints(mutant, profile_of(catalogue, mutant))
    ]
    assert [] == wrong


def complaints(mutant: Mutant, profile: v.Profile) -> Iterator[str]:
    """Yield what is wrong with a mutant or with what the judge makes of it."""
    run = mutant.run
    if broken(find(conforming(mutant), timeout=1), profile, run) is not Ended.EXPLAINED:
        yield "the same bus without the fault is not explained"
    found = broken(adapter_of(mutant), profile, run)
    invisible = bool(mutant.equivalent) or mutant.literal
    undecided = mutant.id in UNDECIDED
    expected = Ended.EXPLAINED if invisible else Ended.GAVE_UP if undecided else mutant.rule
    if found != expected and expected not in (found if isinstance(found, tuple) else ()):
        yield f"is to be {expected}, and is {found}"
    yield from complaints_when_started_again(mutant, profile)


def complaints_when_started_again(mutant: Mutant, profile: v.Profile) -> Iterator[str]:
    """Yield what of one scenario is left in the next."""
    bus = adapter_of(mutant)
    once = [event.outcome for event in playing(bus, profile, mutant.run)]
    if once != [event.outcome for event in playing(bus, profile, mutant.run)]:
        yield "answers otherwise when it is started again"


def playing(bus: v.Adapter, profile: v.Profile, run: Run) -> list[v.Event]:
    bus.start(profile)
    events = list(play(bus, run))
    bus.stop()
    bus.stop()
    return events


def test_a_fault_is_made_by_its_id() -> None:
    """Each call makes a new adapter."""
    assert make("key-moves") is not make("key-moves")
    for made in (make("key-moves"), find("faulty:key-moves", timeout=1)):
        found = broken(made, profile_of(load(), fault("key-moves")), fault("key-moves").run)
        assert "KEY-02" in found


def test_an_unknown_fault_is_refused_with_the_nearest_ones() -> None:
    """Or with all of them, where none is near."""
    with pytest.raises(UsageError, match="'key-move'; nearest: key-moves"):
        make("key-move")
    with pytest.raises(UsageError, match="busproof rules ID names those of a rule"):
        make("?")


def test_only_faults_that_need_more_than_the_model_declare_it() -> None:
    """KEY-13 needs a client library, and some rules a bus that speaks AMQP or HTTP."""
    wire = {f"FEAT-{number:02}" for number in range(5, 18)} | {"PART-13", "PART-25"}
    assert {"KEY-13"} | wire == {each.rule for each in MUTANTS if each.needs}
    for needing in (each for each in MUTANTS if each.needs):
        counterpart = find(conforming(needing), timeout=1)
        assert needing.needs <= counterpart.declaration.capabilities
        assert needing.needs <= make(needing.id).declaration.capabilities


@pytest.mark.parametrize("fault_id", [each.id for each in MUTANTS if each.needs in (AMQP, HTTP)])
def test_bus_without_a_protocol_breaks_another_rule_by_the_same_fault(fault_id: str) -> None:
    """So nothing goes unnoticed where rules about a protocol do not apply."""
    catalogue = load()
    mutant = fault(fault_id)
    found = broken(adapter_of(mutant), profile_of(catalogue, mutant), mutant.run)
    protocols = {"amqp", "http"}
    assert isinstance(found, tuple)
    assert [] != [rule for rule in found if not protocols & {*catalogue.rule(rule).needs}]
