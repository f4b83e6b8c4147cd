"""The vocabulary is one module for its users, and its own modules import in one direction."""

import ast
from pathlib import Path
from types import UnionType
from typing import Any, get_args

import attrs
import pytest
from immutables import Map

from busproof import vocabulary as v

FOLDER = Path(v.__file__).parent
MODULES = {path.stem: path for path in FOLDER.glob("*.py") if path.stem != "__init__"}


def syntax(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def defined_names() -> list[str]:
    """What the modules define and export; `commands` also exports what its parts define."""
    found = []
    for name in MODULES:
        for node in syntax(name).body:
            match node:
                case ast.ClassDef(name=one) | ast.FunctionDef(name=one):
                    found.append(one)
                case (
                    ast.Assign(targets=[ast.Name(id=one)]) | ast.AnnAssign(target=ast.Name(id=one))
                ):
                    found.append(one)
                case _:
                    pass
    return [each for each in found if not each.startswith("_")]


def members(union: Any) -> set[type]:
    if isinstance(union, UnionType):
        return {kind for each in get_args(union) for kind in members(each)}
    return {union}


@pytest.mark.parametrize("union", [v.Command, v.Outcome, v.Filter])
def test_every_member_of_a_closed_union_is_exported(union: UnionType) -> None:
    assert [] == [kind for kind in members(union) if getattr(v, kind.__name__, None) is not kind]


def test_every_public_definition_is_exported() -> None:
    assert [] == [name for name in defined_names() if not hasattr(v, name)]


def test_message_of_values_is_the_message_with_these_fields() -> None:
    """With as many values as there are fields; another number is our mistake."""
    names = [field.name for field in attrs.fields(v.Message)]
    properties = v.frozen_properties({"a": 1})
    values = [*(f"a {name}" for name in names[:-4]), properties, 3, True, 5]
    assert v.Message(**dict(zip(names, values, strict=True))) == v.Message.of(*values)
    with pytest.raises(ValueError, match="zip"):
        v.Message.of(*values[:-1])


def test_messages_come_back_as_they_were_sent() -> None:
    sent = v.Message(body="m", subject="s", properties={"n": 1})
    seen = v.MessageView.of(sent, delivery_count=1)
    assert ("m", "s", {"n": 1}, 1) == (
        seen.body,
        seen.subject,
        dict(seen.properties),
        seen.delivery_count,
    )


def test_id_of_the_bus_equals_every_id_and_nothing_else() -> None:
    """An observer does not know it; for a property of a copy, any will do."""
    made = "0f8fad5b-d9cb-469f-a165-70867728950e"
    assert v.NEW_ID == made
    assert (v.NEW_ID != made) is False
    assert v.NEW_ID != "x"
    assert v.NEW_ID != 36
    assert v.same_properties(Map(a=v.NEW_ID), Map(a=made))
    assert not v.same_properties(Map(a=v.NEW_ID), Map(a="x"))
    assert not v.same_properties(Map(a=v.NEW_ID), Map())
    assert 1 == len({v.NEW_ID, v.NEW_ID})


def test_property_that_is_null_may_be_left_out_but_has_no_other_value() -> None:
    """Nobody says whether it is there."""
    sent = Map(a=None, b=1)
    assert v.same_properties(sent, sent)
    assert v.same_properties(sent, Map(b=1))
    assert not v.same_properties(sent, Map(a="", b=1))
    assert not v.same_properties(Map(b=1), sent)
