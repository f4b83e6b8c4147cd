"""Readers of attrs classes, compiled to straight code: they accept only what fits at once.

A reader raises for anything that does not fit, without saying what is wrong; cattrs, which takes
twice as long, says it then. So a value is accepted or refused by the same rules in either way, and
only the text of a refusal is made slowly.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

import attrs
from cattrs import Converter

__all__ = ["INTEGERS", "Reader", "compile_reader"]

INTEGERS: Final = (-(2**63), 2**63 - 1)
"""The least and the greatest integer that is read: those of 64 bits."""

Reader = Callable[[dict[str, Any]], Any]


def compile_reader(kind: type, converter: Converter, *, is_tagged: bool = False) -> Reader:
    """Return a function that makes an instance of an attrs class from the fields of an object.

    Args:
        kind: the class.
        converter: the converter of fields that are neither texts, numbers, truths nor names.
        is_tagged: whether the object has a tag besides its fields.
    """
    names: dict[str, Any] = {"Kind": kind, "LEAST": INTEGERS[0], "MOST": INTEGERS[1]}
    body = "\n    ".join(_lines(kind, converter, names, 1 if is_tagged else 0))
    exec(f"def read(o):\n    {body}", names)  # noqa: S102 - made of the names of attributes
    reader: Reader = names["read"]
    return reader


def _lines(kind: type, converter: Converter, names: dict[str, Any], known: int) -> Iterator[str]:
    """Yield the lines of a reader, and add the objects that they name to `names`."""
    fields = [field for field in attrs.fields(kind) if field.init]
    yield f"n = {known + sum(field.default is attrs.NOTHING for field in fields)}"
    for number, field in enumerate(fields):
        checks = [
            *_checks(f"x{number}", field.type, converter, names),
            *_own_checks(number, field, names),
        ]
        if field.default is attrs.NOTHING:
            yield f"x{number} = o[{field.name!r}]"
            yield from checks
            continue
        yield f"if {field.name!r} in o:"
        yield f"    x{number} = o[{field.name!r}]; n += 1"
        yield from (f"    {check}" for check in checks)
        yield f"else: x{number} = {_default(number, field, names)}"
    # Every field that was read is one of the object's, so no other is left.
    yield "if len(o) != n: raise ValueError"
    yield from _construction(kind, fields, names)


def _checks(name: str, kind: object, converter: Converter, names: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that check a value, or replace it by what it stands for."""
    if get_origin(kind) in (UnionType, Union) and get_args(kind)[1:] == (NoneType,):
        yield f"if {name} is not None:"
        inner = _checks(name, get_args(kind)[0], converter, names)
        yield from (f"    {line}" for line in inner)
    elif kind is int:
        yield f"if type({name}) is not int or not LEAST <= {name} <= MOST: raise ValueError"
    elif kind in (str, bool):
        yield f"if type({name}) is not {kind.__name__}: raise ValueError"
    elif isinstance(kind, type) and issubclass(kind, StrEnum):
        names[f"members_{name}"] = {member.value: member for member in kind}
        yield f"{name} = members_{name}[{name}]"
    else:
        names[f"hook_{name}"] = converter.get_structure_hook(kind)
        names[f"type_{name}"] = kind
        yield f"{name} = hook_{name}({name}, type_{name})"


def _own_checks(number: int, field: "attrs.Attribute[Any]", names: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the field's converter and validator."""
    if field.converter is not None:
        names[f"convert_{number}"] = field.converter
        yield f"x{number} = convert_{number}(x{number})"
    if field.validator is not None:
        names[f"validate_{number}"] = field.validator
        names[f"field_{number}"] = field
        yield f"validate_{number}(None, field_{number}, x{number})"


def _default(number: int, field: "attrs.Attribute[Any]", names: dict[str, Any]) -> str:
    """Return the expression of a field's default; all instances share one that cannot change."""
    default: Any = field.default
    convert: Any = field.converter
    made = default.factory() if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]  # a class at run time
    if isinstance(made, Hashable):
        names[f"default_{number}"] = made if convert is None else convert(made)
        return f"default_{number}"
    names[f"make_{number}"] = default.factory
    return f"make_{number}()" if convert is None else f"convert_{number}(make_{number}())"


def _construction(
    kind: type, fields: Sequence["attrs.Attribute[Any]"], names: dict[str, Any]
) -> Iterator[str]:
    """Yield the lines that make the instance: by its slots, unless the class has more to do."""
    slots = all(hasattr(getattr(kind, field.name, None), "__set__") for field in fields)
    if not slots or len(fields) < len(attrs.fields(kind)) or hasattr(kind, "__attrs_post_init__"):
        passed = ", ".join(f"{field.alias}=x{number}" for number, field in enumerate(fields))
        yield f"return Kind({passed})"
        return
    names["new"] = object.__new__
    yield "made = new(Kind)"
    for number, field in enumerate(fields):
        names[f"set_{number}"] = getattr(kind, field.name).__set__
        yield f"set_{number}(made, x{number})"
    yield "return made"
