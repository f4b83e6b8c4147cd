"""Strict cattrs converters: a value of another type than its field's is an error."""

import operator
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache, partial
from math import isfinite
from types import GenericAlias, NoneType, UnionType
from typing import Any, Final, Union, cast, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from immutables import Map

from busproof import vocabulary as v
from busproof.history.class_readers import INTEGERS, Reader, compile_reader
from busproof.history.decode_errors import Mismatch, one_of

__all__ = ["ALWAYS", "INTEGERS", "freeze_map", "strict_converter", "tag_union"]

ALWAYS: Final[Mapping[str, bool]] = {"always": True}
"""Metadata of a field that is written even with its default value."""

_Hook = Callable[[Any, Any], object]


def strict_converter(*, omit_defaults: bool) -> Converter:
    """Return a converter that accepts exactly what it writes.

    Args:
        omit_defaults: whether to leave out fields with their default values when writing.
    """
    converter = Converter(forbid_extra_keys=True, omit_if_default=omit_defaults)
    for kind, hook in ((str, _text), (bool, _truth), (int, _number), (StrEnum, _member)):
        converter.register_structure_hook(kind, hook)
    for values, read in ((v.PropertyValue, _property_value), (v.FilterValue, _filter_value)):
        converter.register_structure_hook_func(partial(operator.eq, values), read)
        converter.register_unstructure_hook_func(partial(operator.eq, values), lambda value: value)
    converter.register_structure_hook_factory(_is_sequence, _sequence_hook)
    converter.register_structure_hook_factory(_is_map, _map_hook)
    converter.register_structure_hook_factory(attrs.has, _class_hook)
    converter.register_structure_hook_factory(_is_optional, _optional_hook)
    converter.register_unstructure_hook(StrEnum, str)
    converter.register_unstructure_hook_factory(attrs.has, _class_writer)
    converter.register_unstructure_hook_func(_is_set, sorted)
    converter.register_unstructure_hook_func(_is_map, lambda value: dict(sorted(value.items())))
    return converter


def freeze_map(entries: Mapping[str, str]) -> Map[str, str]:
    """Return an immutable map with the same entries."""
    return Map(entries)


def tag_union(converter: Converter, union: object, tag: str, names: Mapping[str, type]) -> None:
    """Make a converter write each member of `union` with its name in the field `tag`.

    Reading uses that name. The code for a member is generated at its first use: to generate it for
    all commands and outcomes would take a third of a second at every start.
    """
    by_class = {kind: name for name, kind in names.items()}
    readers: dict[str, Reader] = {}
    bare: dict[str, object] = {}

    def read(value: Any, _: object) -> object:
        try:
            name = value[tag]
            # Most outcomes have no fields, and are immutable.
            if len(value) == 1 and name in bare:
                return bare[name]
            if name not in readers:
                readers[name] = compile_reader(names[name], converter, is_tagged=True)
            found = readers[name](value)
        except Exception:  # noqa: BLE001 - whatever does not fit is explained
            return read_slowly(value)
        if len(value) == 1:
            bare[name] = found
        return found

    def read_slowly(value: object) -> object:
        kind = names[_read_tag(value, tag, names)]
        fields = {key: entry for key, entry in cast(dict[str, Any], value).items() if key != tag}
        return converter.get_structure_hook(kind)(fields, kind)

    def write(value: object) -> dict[str, Any]:
        kind = type(value)
        return {tag: by_class[kind], **converter.get_unstructure_hook(kind)(value)}

    converter.register_structure_hook(union, read)
    converter.register_unstructure_hook(union, write)


def _read_tag(value: object, tag: str, names: Mapping[str, type]) -> str:
    """Return the name in the field `tag`, after checking that it is one of the names."""
    if type(value) is not dict:
        raise Mismatch.of(value, "an object")
    if tag not in value:
        raise Mismatch(f"is missing, and must be {one_of(names, '')}", tag)
    name = value[tag]
    if type(name) is not str or name not in names:
        raise Mismatch.of(name, one_of(names, name), tag)
    return name


def _text(value: object, _: object) -> str:
    if type(value) is not str:
        raise Mismatch.of(value, "a string")
    return value


def _truth(value: object, _: object) -> bool:
    if type(value) is not bool:
        raise Mismatch.of(value, "true or false")
    return value


def _number(value: object, _: object) -> int:
    if type(value) is not int:
        raise Mismatch.of(value, "a whole number")
    if not INTEGERS[0] <= value <= INTEGERS[1]:
        raise Mismatch.of(value, "a whole number of at most 64 bits")
    return value


def _property_value(value: object, kind: object) -> v.PropertyValue:
    return None if value is None else _filter_value(value, kind)


def _filter_value(value: object, _: object) -> v.FilterValue:
    if type(value) is int:
        return _number(value, int)
    if type(value) is float and isfinite(value):
        return value
    if type(value) is str or type(value) is bool:
        return value
    raise Mismatch.of(value, "a string, a number, true or false")


@cache
def _members(kind: type[StrEnum]) -> dict[str, StrEnum]:
    return {member.value: member for member in kind}


def _member(value: object, kind: type[StrEnum]) -> StrEnum:
    members = _members(kind)
    if type(value) is not str or value not in members:
        raise Mismatch.of(value, one_of(members, value))
    return members[value]


def _is_set(kind: object) -> bool:
    return get_origin(kind) is frozenset


def _is_sequence(kind: object) -> bool:
    return get_origin(kind) in (tuple, frozenset)


def _sequence_hook(kind: object, converter: Converter) -> _Hook:
    plain = GenericAlias(list, get_args(kind)[:1])
    build: Callable[[Any], object] = get_origin(kind) or tuple
    items = converter.get_structure_hook(plain)
    kind_of_item = get_args(kind)[0]
    item = converter.get_structure_hook(kind_of_item)

    def read(value: object, _: object) -> object:
        if type(value) is not list:
            raise Mismatch.of(value, "a list")
        try:
            return build([item(entry, kind_of_item) for entry in value])
        except Exception:  # noqa: BLE001 - whatever does not fit is explained
            return build(items(value, plain))

    return read


def _is_map(kind: object) -> bool:
    return get_origin(kind) is Map


def _map_hook(kind: object, converter: Converter) -> _Hook:
    plain = GenericAlias(dict, get_args(kind))
    entries = converter.get_structure_hook(plain)

    def read(value: object, _: object) -> object:
        if type(value) is not dict:
            raise Mismatch.of(value, "an object")
        return Map(entries(value, plain))

    return read


def _is_optional(kind: object) -> bool:
    return get_origin(kind) in (UnionType, Union) and get_args(kind)[1:] == (NoneType,)


def _optional_hook(kind: object, converter: Converter) -> _Hook:
    (other,) = get_args(kind)[:1]
    hook = converter.get_structure_hook(other)

    def read(value: object, _: object) -> object:
        return None if value is None else hook(value, other)

    return read


def _class_hook(kind: type, converter: Converter) -> _Hook:
    compiled: Reader | None = None

    def read(value: Any, _: object) -> object:
        nonlocal compiled
        if compiled is None:
            compiled = compile_reader(kind, converter)
        try:
            return compiled(value)
        except Exception:  # noqa: BLE001 - whatever does not fit is explained
            return read_slowly(value)

    def read_slowly(value: object) -> object:
        if type(value) is not dict:
            raise Mismatch.of(value, "an object")
        fields: _Hook = make_dict_structure_fn(kind, converter)
        return fields(value, kind)

    return read


def _class_writer(kind: type, converter: Converter) -> Callable[[Any], dict[str, Any]]:
    always: dict[str, Any] = {
        field.name: override(omit_if_default=False)
        for field in attrs.fields(kind)
        if field.metadata.get("always")
    }
    return make_dict_unstructure_fn(
        kind, converter, _cattrs_omit_if_default=converter.omit_if_default, **always
    )
