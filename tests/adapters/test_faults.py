"""Every seeded fault breaks its rule where the correct bus keeps it, and the judge sees it."""

import re
from functools import cache

import pytest

from busproof.adapters.faults import FAULTS, AssigningBus, Fault, SeededBus, fault, make
from busproof.adapters.finding import find
from busproof.adapters.seeded.runs import PARTITIONS, Run, play
from busproof.adapters.seeded.shown import READINGS, SHOWN
from busproof.errors import UsageError
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import Acceptance, accept
from busproof.spec import Catalogue, load
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import Profile, profile_for

EDITION = "cs-2020-12"
"""The edition that states the most."""

each_fault = pytest.mark.parametrize("seeded", FAULTS, ids=[each.id for each in FAULTS])


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


@pytest.fixture
def profile(catalogue: Catalogue, seeded: Fault) -> Profile:
    readings, tiers = READINGS.get(seeded.id, {}), catalogue.rule(seeded.rule).tiers
    return profile_for(
        catalogue,
        edition=EDITION,
        tier="standard" if "standard" in tiers else tiers[0],
        readings=readings,
        partitions=PARTITIONS,
    )


@pytest.fixture
def found(profile: Profile, seeded: Fault) -> Acceptance | None:
    """What the judge makes of the faulty bus; some runs are long, and each is played once."""
    return _found(seeded, profile)


@cache
def _found(seeded: Fault, profile: Profile) -> Acceptance | None:
    return violation(seeded.bus(), profile, SHOWN[seeded.id])


def violation(bus: SeededBus, profile: Profile, run: Run) -> Acceptance | None:
    """What the judge makes of the first event that it does not accept, if there is one."""
    bus.start(profile)
    possible: tuple[Namespace, ...] = (fresh_namespace(profile, bus.declaration.vantage),)
    for event in play(bus, run):
        judged = accept(possible, event)
        if not judged.possible:
            return judged
        possible = judged.possible
    return None


def test_every_fault_has_an_id_of_its_own() -> None:
    """Ids are slugs, and no two faults share one."""
    ids = [each.id for each in FAULTS]
    assert sorted(set(ids)) == sorted(ids)
    assert [] == [each for each in ids if not re.fullmatch(r"[a-z]+(-[a-z]+)*", each)]


def test_every_fault_has_a_run_in_which_it_shows() -> None:
    """The runs are in the order of the faults."""
    assert [each.id for each in FAULTS] == list(SHOWN)


@each_fault
def test_a_fault_breaks_a_rule_of_the_catalogue(seeded: Fault, catalogue: Catalogue) -> None:
    """A rule that can be shown, and that says so."""
    assert catalogue.rule(seeded.rule).shown_by != "never"


def test_every_rule_that_must_be_shown_has_a_fault(catalogue: Catalogue) -> None:
    """At least one fault that a test can tell from a conforming bus."""
    broken = {each.rule for each in FAULTS if not each.equivalent}
    assert [] == [
        rule.id for rule in catalogue.rules if rule.shown_by == "always" and rule.id not in broken
    ]


@each_fault
def test_the_same_bus_without_the_fault_conforms(seeded: Fault, profile: Profile) -> None:
    """The run that shows the fault accuses nobody else."""
    assert violation(seeded.counterpart(), profile, SHOWN[seeded.id]) is None


@each_fault
def test_the_judge_sees_a_fault_that_can_be_seen(seeded: Fault, found: Acceptance | None) -> None:
    """Exactly those faults without an argument that they are none, or that a scenario is needed."""
    assert (found is None) is (bool(seeded.equivalent) or seeded.literal)


@each_fault
def test_the_judge_blames_the_rule_that_is_broken(seeded: Fault, found: Acceptance | None) -> None:
    """Among others, unless it cannot know."""
    if found is None:
        assert seeded.equivalent or seeded.literal
    else:
        assert seeded.rule in found.rules


@each_fault
def test_a_faulty_bus_can_be_started_again(seeded: Fault, profile: Profile) -> None:
    """Nothing of one scenario is left in the next."""
    bus = seeded.bus()
    once = [event.outcome for event in playing(bus, profile, SHOWN[seeded.id])]
    new = seeded.bus()
    for each in (bus, new):
        each.start(profile)
    assert vars(new) == vars(bus)
    assert once == [event.outcome for event in playing(bus, profile, SHOWN[seeded.id])]


def playing(bus: SeededBus, profile: Profile, run: Run) -> list[Event]:
    bus.start(profile)
    events = list(play(bus, run))
    bus.stop()
    bus.stop()
    return events


def test_a_fault_is_made_by_its_id() -> None:
    """Each call makes a new adapter."""
    assert isinstance(make("key-moves"), fault("key-moves").bus)
    assert make("key-moves") is not make("key-moves")
    assert isinstance(find("faulty:key-moves", timeout=1), fault("key-moves").bus)


def test_an_unknown_fault_is_refused_with_the_nearest_ones() -> None:
    """Or with all of them, where none is near."""
    with pytest.raises(UsageError, match="'key-move'; nearest: key-moves"):
        make("key-move")
    with pytest.raises(UsageError, match="busproof rules ID names those of a rule"):
        make("?")


def test_only_a_fault_of_the_client_library_declares_one() -> None:
    """KEY-13 is not applicable to any other of these buses."""
    assert {"id-not-assigned"} == {each.id for each in FAULTS if each.needs}
    assert {Capability.CLIENT_LIBRARY} == fault("id-not-assigned").needs
    assert AssigningBus is fault("id-not-assigned").counterpart
