"""Columns of a table that somebody else has named: which of theirs is which of ours.

Ours are the fields of an event as a history file has them, such as `command.message.body`. What the
table does not have is not set, as in a history file.
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
"""Name of a field to the column that it is, or to its own fields; `""` has the column of both."""


def _known() -> Iterator[str]:
    """All names that may be given."""
    yield from (*_PLACE, *_EVENT, *_PARTS, "witness.partition")
    yield from (f"command.{name}" for name in COMMAND)
    yield from (f"outcome.{name}" for name in OUTCOME)
    for name in ("message", "messages"):
        yield from (f"command.{name}.{field}" for field in MESSAGE)
        yield from (f"outcome.{name}.{field}" for field in VIEW)
    yield from (f"outcome.description.{field}" for field in DESCRIPTION)


@attrs.frozen
class Naming:
    """How a table's columns are called.

    Attributes:
        columns: the name of a field to its name in the table, where they differ.
        place: the file that says so.
    """

    columns: Mapping[str, str] = attrs.field(factory=dict)
    place: str = ""

    def records(self, table: DataFrame) -> DataFrame:
        """The table's events: history_id, seq, and the text that a history file would have.

        Raises:
            UsageError: something is said to be called what the table has not, or the table lacks
                what no event can be without.
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
            sf.col(_quoted(self.columns.get(name, name))).cast("long").alias(name)
            for name in _PLACE
        )
        return table.select(history_id, seq, text.alias("text"))

    def _check(self, table: DataFrame) -> None:
        known = [*_known()]
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
        """The path of a column; that of a field of an array's elements begins at the array."""
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
"""A table whose columns are called as in the published schema."""


def _text(tree: _Tree, schema: StructType) -> Column:
    """The line of a history file that a row is; null where it has no command or no outcome."""
    fields = [_value(tree[name], schema).alias(name) for name in _EVENT if name in tree]
    event = sf.to_json(sf.struct(sf.lit("event").alias("record"), *fields))
    command, outcome = (_json(tree[name], schema) for name in _PARTS)
    return sf.concat(
        sf.substring(event, sf.lit(1), sf.length(event) - 1),
        sf.concat(sf.lit(',"command":'), command),
        sf.concat(sf.lit(',"outcome":'), outcome, sf.lit("}")),
    )


def _json(tree: _Tree, schema: StructType) -> Column:
    """A command or an outcome as JSON: the text that the table has, or what its columns make."""
    whole = tree.get("")
    if whole is not None and isinstance(_type_of(schema, whole), StringType):
        return sf.col(_quoted(whole))
    return sf.to_json(_value(tree, schema))


def _value(tree: _Tree, schema: StructType) -> Column:
    """A column, or a struct of the columns of its fields; null where none of them is set."""
    theirs = tree.get("")
    inner = {name: below for name, below in tree.items() if name}
    if theirs is not None:
        kind = _type_of(schema, theirs)
        if isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType) and inner:
            element = kind.elementType
            return sf.transform(sf.col(_quoted(theirs)), lambda each: _of(each, inner, element))
        return _plain(sf.col(_quoted(theirs)), kind)
    fields = {name: _value(below, schema) for name, below in inner.items()}
    is_set = sf.coalesce(*(sf.when(field.isNotNull(), True) for field in fields.values()))
    return sf.when(is_set, sf.struct(*(field.alias(name) for name, field in fields.items())))


def _of(each: Column, inner: _Tree, kind: StructType) -> Column:
    """An element of an array, with the fields that were named."""
    fields = []
    for name, below in inner.items():
        value = each
        for part in below[""].split("."):
            value = value.getField(part)
        fields.append(_plain(value, _type_of(kind, below[""])).alias(name))
    return sf.struct(*fields)


def _plain(value: Column, kind: DataType | None) -> Column:
    """The same, a moment in microseconds."""
    return sf.unix_micros(value) if isinstance(kind, TimestampType) else value


def _type_of(schema: StructType, path: str) -> DataType | None:
    """What is at this path, `None` if nothing is; through arrays, what their elements have."""
    found: DataType = schema
    for part in path.split("."):
        if isinstance(found, ArrayType):
            found = found.elementType
        if not isinstance(found, StructType) or part not in found.names:
            return None
        found = found[part].dataType
    return found


def _quoted(path: str) -> str:
    return ".".join(f"`{part}`" for part in path.split("."))


def read_naming(path: Path) -> Naming:
    """The names that a file gives in its table `columns`, in TOML.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from None
    columns = said.get("columns")
    if said.keys() != {"columns"} or not isinstance(columns, dict):
        raise UsageError(f"{path} must have a table [columns], and nothing else")
    flat = _flat(columns)
    if not all(isinstance(each, str) for each in flat.values()):
        raise UsageError(f"{path}: [columns] must have names of ours, and theirs as texts")
    return Naming(flat, str(path))


def _flat(columns: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """`command.queue = "x"` and `"command.queue" = "x"` are meant alike."""
    found: dict[str, Any] = {}
    for name, value in columns.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found
