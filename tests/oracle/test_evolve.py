"""A value with some fields changed is what attrs makes of it, however it keeps its fields."""

from typing import Any

import attrs
import pytest

from busproof.oracle.evolve import evolve


@attrs.frozen
class Slotted:
    one: int = 1
    two: str = "two"
    three: tuple[int, ...] = (3,)


@attrs.frozen(kw_only=True, weakref_slot=False)
class Bare:
    one: int = 1
    two: str = "two"


@attrs.frozen(kw_only=True, slots=False)
class Loose:
    one: int = 1
    two: str = "two"


@attrs.frozen
class Checked:
    one: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    two: str = "two"


@attrs.frozen
class Single:
    one: int = 1


@pytest.mark.parametrize("kind", [Slotted, Bare, Loose, Checked, Single])
def test_a_copy_has_what_is_changed_and_keeps_the_rest(kind: Any) -> None:
    """What it was copied from stays as it is."""
    before = kind()
    after = evolve(before, one=5)
    assert after == attrs.evolve(before, one=5)
    assert before == kind()
    assert hash(after) == hash(attrs.evolve(before, one=5))
    assert evolve(before) == before


@pytest.mark.parametrize("kind", [Slotted, Bare, Loose, Checked, Single])
def test_a_field_that_there_is_not_cannot_be_changed(kind: Any) -> None:
    """As a call with a name that nobody takes."""
    with pytest.raises(TypeError):
        evolve(kind(), four=4)


@pytest.mark.parametrize("kind", [Slotted, Bare, Loose])
def test_a_copy_cannot_be_changed_either(kind: Any) -> None:
    """It is as frozen as what it was copied from."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        evolve(kind(), one=2).one = 3


def test_changed_fields_are_validated_again() -> None:
    """No copy can be made that could not be made anew; what stays was checked before."""
    assert evolve(Checked(), two="changed") == Checked(two="changed")
    with pytest.raises(ValueError, match="one"):
        evolve(Checked(), one=0)
