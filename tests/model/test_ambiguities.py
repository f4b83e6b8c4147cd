"""The readings of the model are those of the register of ambiguities."""

import attrs
import pytest
from model_driver import Bus, catalogue, profile

from busproof import vocabulary as v
from busproof.model import HostileChoices, ambiguities
from busproof.model.ambiguities import (
    ActionKeys,
    EmptyKey,
    QuotaEntities,
    Reading,
    Settled,
    ShortTimeout,
)

KINDS = [
    kind
    for kind in vars(ambiguities).values()
    if isinstance(kind, type) and issubclass(kind, Reading) and len(kind)
]
REGISTER = {ambiguity.id: set(ambiguity.choices) for ambiguity in catalogue().ambiguities}
UNNAMED = {ActionKeys.ADDED, QuotaEntities.THOUSAND}
"""Readings that a profile cannot name, but a bus may follow if the profile says `either`."""


def test_there_are_readings_of_both_kinds() -> None:
    assert {True, False} == {issubclass(kind, Settled) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.entry)
def test_readings_are_those_of_the_register(kind: type[Reading]) -> None:
    registered = REGISTER[kind.entry]
    left_open = {"either"} if issubclass(kind, Settled) else set()
    assert set(kind) - UNNAMED == registered - left_open


def test_reading_of_the_profile_is_followed() -> None:
    bus = Bus(profile(EMPTY_KEY="unset"), HostileChoices(None))
    assert EmptyKey.UNSET is bus.namespace.reading(EmptyKey)
    assert {} == bus.namespace.readings


def test_settled_reading_is_chosen_once_and_open_one_never() -> None:
    bus = Bus(profile(EMPTY_KEY="either"))
    assert EmptyKey.SET is bus.namespace.reading(EmptyKey)
    assert {"EMPTY-KEY": "set"} == bus.namespace.readings
    assert ShortTimeout.MAY_FAIL is bus.namespace.reading(ShortTimeout)
    assert {"EMPTY-KEY": "set"} == bus.namespace.readings


def test_open_reading_that_the_profile_leaves_out_leaves_the_bus_free() -> None:
    bus = Bus(attrs.evolve(profile(), readings={}))
    assert ShortTimeout.MAY_FAIL is bus.namespace.reading(ShortTimeout)


def test_chosen_reading_may_come_as_text_from_a_store() -> None:
    bus = Bus(profile(EMPTY_KEY="either"))
    bus.namespace.readings["EMPTY-KEY"] = "unset"
    assert EmptyKey.UNSET is bus.namespace.reading(EmptyKey)


def test_name_of_a_class_spells_the_id() -> None:
    assert "SHORT-TIMEOUT" == ShortTimeout.entry
    assert ShortTimeout.named("neither") is None
    assert v.profile_for(catalogue()).readings.get(ShortTimeout.entry) in tuple(ShortTimeout)
