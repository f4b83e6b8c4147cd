"""JSON Schemas of history files and of the process protocol, generated from the classes.

`python -m busproof.history.schemas` writes the files again.
"""

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, Final, cast, get_args, get_origin, get_type_hints

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.history.codec import PROTOCOL, TaggedUnion, union_of
from busproof.history.converters import INTEGERS
from busproof.history.protocol import ANSWERS, REQUESTS
from busproof.history.records import Record

__all__ = ["FOLDER", "history_schema", "protocol_schema", "render", "schemas", "write"]

FOLDER: Final = Path(__file__).parent / "schemas"
"""Folder of the schema files."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS: Final = {
    ">=": ("minimum", 0),
    ">": ("minimum", 1),
    "<=": ("maximum", 0),
    "<": ("maximum", -1),
}
"""Keyword of the schema for each comparison of attrs, and the shift to a whole-number bound."""

Schema = dict[str, Any]


class _Definitions:
    """Collector of the schemas of classes, each once under the class's name."""

    def __init__(self) -> None:
        self.named: Schema = {}

    def refer(self, kind: object) -> Schema:
        """Return the schema for a field's type; for one of our classes, a reference."""
        union = union_of(kind)
        if union is not None:
            return self._union(union)
        if isinstance(kind, type) and attrs.has(kind):
            return self._class(kind)
        if kind in (v.FilterValue, v.PropertyValue):
            null = ["null"] if kind == v.PropertyValue else []
            return {"type": ["string", "number", "boolean", *null]}
        arguments = get_args(kind)
        if NoneType in arguments:
            rest = [self.refer(argument) for argument in arguments if argument is not NoneType]
            return {"anyOf": [*rest, {"type": "null"}]}
        return self._collection(kind, arguments) if arguments else self._scalar(kind)

    def _collection(self, kind: object, arguments: tuple[object, ...]) -> Schema:
        if get_origin(kind) is Map:
            return {"type": "object", "additionalProperties": self.refer(arguments[1])}
        if get_origin(kind) in (tuple, frozenset):
            return {"type": "array", "items": self.refer(arguments[0])}
        raise AssertionError(f"the vocabulary has no field of type {kind!r}")

    def _scalar(self, kind: object) -> Schema:
        if kind is int:
            return {"type": "integer", "minimum": INTEGERS[0], "maximum": INTEGERS[1]}
        if kind in (str, bool):
            return {"type": "string" if kind is str else "boolean"}
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            values = [member.value for member in kind]
            return {"enum": values, "description": _first_line(kind)}
        raise AssertionError(f"the vocabulary has no field of type {kind!r}")

    def _union(self, union: TaggedUnion) -> Schema:
        if union.name not in self.named:
            self.named[union.name] = schema = {}
            members = union.members.items()
            schema["oneOf"] = [self._class(kind, {union.tag: name}) for name, kind in members]
        return {"$ref": f"#/$defs/{union.name}"}

    def _class(self, kind: type, tag: dict[str, str] | None = None) -> Schema:
        if kind.__name__ not in self.named:
            self.named[kind.__name__] = {}  # a class may refer to itself
            self.named[kind.__name__] = self._object(kind, tag or {})
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def _object(self, kind: type, tag: dict[str, str]) -> Schema:
        types = get_type_hints(kind)
        properties: Schema = {name: {"const": value} for name, value in tag.items()}
        required = list(tag)
        for field in attrs.fields(kind):
            properties[field.name] = self._field(field, types[field.name])
            if field.default is attrs.NOTHING or field.metadata.get("always"):
                required.append(field.name)
        return {
            "description": _first_line(kind),
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def _field(self, field: "attrs.Attribute[Any]", kind: object) -> Schema:
        return {**self.refer(kind), **_bounds(field.validator), **_default(field)}


def history_schema() -> Schema:
    """Return the schema of a line in a history file."""
    definitions = _Definitions()
    record = definitions.refer(Record)
    definitions.named["Header"]["properties"]["protocol"] = {"const": PROTOCOL}
    return {
        "$schema": _DIALECT,
        "title": f"One line of a busproof history, protocol {PROTOCOL}",
        **record,
        "$defs": definitions.named,
    }


def protocol_schema() -> Schema:
    """Return the schema of a line of the process protocol, in either direction."""
    definitions = _Definitions()
    definitions.named |= {"Request": {}, "Answer": {}}
    definitions.named["Request"] = _any(definitions, list(REQUESTS.values()))
    definitions.named["Answer"] = _any(definitions, list(ANSWERS.values()))
    for name in ("Hello", "Declared"):
        definitions.named[name]["properties"]["protocol"] = {"const": PROTOCOL}
    return {
        "$schema": _DIALECT,
        "title": f"One line of the busproof process protocol, version {PROTOCOL}",
        "anyOf": [{"$ref": "#/$defs/Request"}, {"$ref": "#/$defs/Answer"}],
        "$defs": definitions.named,
    }


def schemas() -> dict[str, Schema]:
    """Return the name of each schema file with its schema."""
    return {
        "history.schema.json": history_schema(),
        "protocol.schema.json": protocol_schema(),
    }


def render(schema: Schema) -> str:
    """Return the text of a schema file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write(folder: Path = FOLDER) -> None:
    """Write the schema files; create the folder if it is missing."""
    folder.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        (folder / name).write_text(render(schema), encoding="utf-8")


def _any(definitions: _Definitions, kinds: list[type]) -> Schema:
    return {"anyOf": [definitions.refer(kind) for kind in kinds]}


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]


def _bounds(validator: object) -> Schema:
    validator = getattr(validator, "validator", validator)  # a number, or nothing
    word, shift = _BOUNDS.get(getattr(validator, "compare_op", ""), ("", 0))
    return {word: getattr(validator, "bound", 0) + shift} if word else {}


def _default(field: "attrs.Attribute[Any]") -> Schema:
    if field.default is attrs.NOTHING or field.metadata.get("always"):
        return {}
    factory = getattr(field.default, "factory", None)
    default = factory() if factory else field.default
    return {"default": json.loads(json.dumps(default, default=_plain))}


def _plain(collection: object) -> object:
    return (
        dict(collection) if isinstance(collection, Map) else list(cast(Iterable[str], collection))
    )


if __name__ == "__main__":
    write()
