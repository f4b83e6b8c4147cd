"""What a bus of the model's own decides by itself."""

from random import Random

import pytest

from busproof.errors import UsageError
from busproof.model.choosing import at_liberty, checked_policy, decided, one_of
from busproof.model.outcomes import Done
from busproof.model.profiles import profile_for
from busproof.model.state import fresh_namespace
from busproof.model.transition import Choice, Transition
from busproof.model.values import Vantage
from busproof.spec import load

PROFILE = profile_for(load())


def test_a_bus_decides_what_is_left_open_and_nothing_else() -> None:
    """What was read one way stays so."""
    assert "at-once" == decided(PROFILE).readings["SCHEDULE-DELAY"]
    read = profile_for(load(), readings={"CACHE-EXPIRY": "handed-out"})
    assert "handed-out" == decided(read).readings["CACHE-EXPIRY"]
    assert "handed-out" == at_liberty(read, Random(1)).readings["CACHE-EXPIRY"]


def test_what_is_free_is_chosen_one_way_and_the_other() -> None:
    """By the seed."""
    found = {at_liberty(PROFILE, Random(seed)).readings["CACHE-EXPIRY"] for seed in range(9)}
    assert {"handed-out", "not-handed-out"} == found


def test_an_unknown_policy_is_named_with_those_that_there_are() -> None:
    """And a known one is taken."""
    assert "hostile" == checked_policy("hostile")
    with pytest.raises(UsageError, match="'kind'; choose one of round-robin, random, hostile"):
        checked_policy("kind")


def test_a_hostile_bus_prefers_the_last_partition() -> None:
    """Another one takes any."""
    namespace = fresh_namespace(PROFILE, Vantage())
    allowed = [
        Transition(outcome=Done(), next=namespace, choice=choice)
        for choice in (Choice(0), Choice(1), None)
    ]
    taken = {
        policy: [one_of(allowed, policy, Random(seed)).choice for seed in range(60)]
        for policy in ("random", "hostile")
    }
    assert set(taken["random"]) == {Choice(0), Choice(1), None} == set(taken["hostile"])
    assert taken["random"].count(Choice(1)) < 30 < taken["hostile"].count(Choice(1))
