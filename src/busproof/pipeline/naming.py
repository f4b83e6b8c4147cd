"""Mapping of the columns of a user's table to the fields of an event.

Fields are named as in a history file, such as `command.message.body`. A field without a column is
not set.
"""

import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import attrs
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, DataType, StringType, StructType, TimestampType

from busproof.errors import UsageError
from busproof.pipeline.schema import COMMAND, DESCRIPTION, MESSAGE, OUTCOME, VIEW

__all__ = ["AS_PUBLISHED", "Naming", "read_naming"]

_PLACE: Final = ("history_id", "seq")
_EVENT: Final = ("client", "connection", "called", "returned", "witness")
_PARTS: Final = ("command", "outcome")

_Tree = dict[str, Any]
"""Name of a field to its column or to its fields; the key `""` has the column of a whole field."""


def _field_names() -> Iterator[str]:
    """Yield the names of all fields that a mapping may contain."""
    yield from (*_PLACE, *_EVENT, *_PARTS, "witness.partition")
    yield from (f"command.{name}" for name in COMMAND)
    yield from (f"outcome.{name}" for name in OUTCOME)
    for name in ("message", "messages"):
        yield from (f"command.{name}.{field}" for field in MESSAGE)
        yield from (f"outcome.{name}.{field}" for field in VIEW)
    yield from (f"outcome.description.{field}" for field in DESCRIPTION)


@attrs.frozen
class Naming:
    """A mapping of fields to a table's columns.

    Attributes:
        columns: name of a field to its column, if the two differ.
        place: the file with the mapping.
    """

    columns: Mapping[str, str] = attrs.field(factory=dict)
    place: str = ""

    def records(self, table: DataFrame) -> DataFrame:
        """Return the events of a table: history_id, seq, and the text as in a history file.

        Raises:
            UsageError: the mapping names a field or column that does not exist, or the table lacks
                a required column.
        """
        self._check(table)
        tree = self._tree(table)
        if "text" in table.columns and not self.columns:
            text = sf.col("text")
        else:
            lacking = [name for name in (*_PLACE, *_PARTS) if name not in tree]
            if lacking:
                raise UsageError(
                    f"{self.place or 'the table'}: no column is {' or '.join(lacking)}; it has "
                    f"{', '.join(table.columns)}, and --mapping says which is which"
                )
            text = _text(tree, table.schema)
        history_id, seq = (
            sf.col(_quote(self.columns.get(name, name))).cast("long").alias(name) for name in _PLACE
        )
        return table.select(history_id, seq, text.alias("text"))

    def _check(self, table: DataFrame) -> None:
        known = [*_field_names()]
        for name, theirs in self.columns.items():
            if name not in known:
                near = get_close_matches(name, known, n=3) or [*_PLACE, *_EVENT, *_PARTS]
                raise UsageError(
                    f"{self.place}: an event has no field {name!r}; there are {', '.join(near)}"
                )
            if _type_of(table.schema, self._whole(name, theirs, table.schema)) is None:
                raise UsageError(
                    f"{self.place}: {name} is said to be {theirs!r}, which the table has not; it "
                    f"has {', '.join(table.columns)}"
                )

    def _whole(self, name: str, theirs: str, schema: StructType) -> str:
        """Return a column's full path; within an array, mappings state only the rest of it."""
        above, _, _ = name.rpartition(".")
        array = self.columns.get(above)
        is_inner = array is not None and isinstance(_type_of(schema, array), ArrayType)
        return f"{array}.{theirs}" if is_inner else theirs

    def _tree(self, table: DataFrame) -> _Tree:
        tree: _Tree = {
            name: {"": name} for name in (*_PLACE, *_EVENT, *_PARTS) if name in table.columns
        }
        for path, theirs in self.columns.items():
            at = tree
            for name in path.split("."):
                at = at.setdefault(name, {})
            at[""] = theirs
        return tree


AS_PUBLISHED: Final = Naming()
"""The mapping for a table with the column names of the published schema."""


def _text(tree: _Tree, schema: StructType) -> Column:
    """Return a row as a line of a history file; null if it lacks a command or an outcome."""
    fields = [_value(tree[name], schema).alias(name) for name in _EVENT if name in tree]
    event = sf.to_json(sf.struct(sf.lit("event").alias("record"), *fields))
    command, outcome = (_json(tree[name], schema) for name in _PARTS)
    return sf.concat(
        sf.substring(event, sf.lit(1), sf.length(event) - 1),
        sf.concat(sf.lit(',"command":'), command),
        sf.concat(sf.lit(',"outcome":'), outcome, sf.lit("}")),
    )


def _json(tree: _Tree, schema: StructType) -> Column:
    """Return a command or an outcome as JSON: a text column, or the columns of its fields."""
    whole = tree.get("")
    if whole is not None and isinstance(_type_of(schema, whole), StringType):
        return sf.col(_quote(whole))
    return sf.to_json(_value(tree, schema))


def _value(tree: _Tree, schema: StructType) -> Column:
    """Return a column, or a struct of its fields' columns; null if none of them is set."""
    theirs = tree.get("")
    inner = {name: below for name, below in tree.items() if name}
    if theirs is not None:
        kind = _type_of(schema, theirs)
        if isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType) and inner:
            element = kind.elementType
            return sf.transform(
                sf.col(_quote(theirs)), lambda item: _map_element(item, inner, element)
            )
        return _plain(sf.col(_quote(theirs)), kind)
    fields = {name: _value(below, schema) for name, below in inner.items()}
    is_set = sf.coalesce(*(sf.when(field.isNotNull(), True) for field in fields.values()))
    return sf.when(is_set, sf.struct(*(field.alias(name) for name, field in fields.items())))


def _map_element(element: Column, inner: _Tree, kind: StructType) -> Column:
    """Return an element of an array as a struct of the mapped fields."""
    fields = []
    for name, below in inner.items():
        value = element
        for part in below[""].split("."):
            value = value.getField(part)
        fields.append(_plain(value, _type_of(kind, below[""])).alias(name))
    return sf.struct(*fields)


def _plain(value: Column, kind: DataType | None) -> Column:
    """Return a value; a timestamp becomes microseconds."""
    return sf.unix_micros(value) if isinstance(kind, TimestampType) else value


def _type_of(schema: StructType, path: str) -> DataType | None:
    """Return the type at a path, also within array elements; `None` if there is none."""
    kind: DataType = schema
    for part in path.split("."):
        if isinstance(kind, ArrayType):
            kind = kind.elementType
        if not isinstance(kind, StructType) or part not in kind.names:
            return None
        kind = kind[part].dataType
    return kind


def _quote(path: str) -> str:
    return ".".join(f"`{part}`" for part in path.split("."))


def read_naming(path: Path) -> Naming:
    """Return the mapping in the table `columns` of a TOML file.

    Raises:
        UsageError: the file cannot be read, or is not a mapping.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    columns = document.get("columns")
    if document.keys() != {"columns"} or not isinstance(columns, dict):
        raise UsageError(f"{path} must have a table [columns], and nothing else")
    flat = _flat(columns)
    if not all(isinstance(name, str) for name in flat.values()):
        raise UsageError(f"{path}: [columns] must have names of ours, and theirs as texts")
    return Naming(flat, str(path))


def _flat(columns: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested tables as dotted names, since `command.queue` may be written either way."""
    flat: dict[str, Any] = {}
    for name, value in columns.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
