"""Columns of a table that somebody else has named: which of theirs is which of ours.

A field that a table has not is not the same as one that is never set, and a rule that looks at it
may not be judged; so what is never set has to be said.
"""

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Final

import attrs
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, DataType, LongType, StructType, TimestampType

from busproof.errors import UsageError
from busproof.pipeline.keeping import kept
from busproof.pipeline.schema import EVENTS, ddl

__all__ = ["AS_PUBLISHED", "Naming", "read_naming"]

_PARTS: Final = ("columns", "never")


@attrs.frozen
class Naming:
    """How a table's columns are called.

    Attributes:
        columns: name in the published schema to name in the table, where they differ; a field of a
            struct as `sent.body`.
        never: names in the published schema that the table lacks because they are never set.
        place: the file that says so.
    """

    columns: Mapping[str, str] = attrs.field(factory=dict)
    never: frozenset[str] = frozenset()
    place: str = ""

    def published(self, table: DataFrame) -> tuple[DataFrame, dict[str, tuple[str, ...]]]:
        """The table in the published schema, and of each column what of it the table lacks.

        Raises:
            UsageError: something is said to be called what the table has not.
        """
        schema = table.sparkSession.createDataFrame([], ddl(EVENTS)).schema
        self._check(table, schema)
        missing: dict[str, tuple[str, ...]] = {}
        columns = []
        for field in schema:
            column, lacking = self._column(field.name, field.dataType, table)
            columns.append(column.alias(field.name))
            if lacking:
                missing[field.name] = lacking
        if self.columns:
            # What is named anew cannot be joined with itself, as the rules do, unless it is made.
            return kept(table.select(*columns)), missing
        for name in missing.keys() | self.never:
            if name in EVENTS and name not in table.columns:
                table = table.withColumn(name, sf.lit(None).cast(EVENTS[name]))
        return table.select(*EVENTS).to(schema), missing

    def _check(self, table: DataFrame, schema: StructType) -> None:
        known = _names(schema)
        for name in (*self.columns, *self.never):
            if name not in known:
                near = get_close_matches(name, known, n=3) or sorted(EVENTS)
                raise UsageError(
                    f"{self.place}: the published schema has no column {name!r}; there are "
                    f"{', '.join(near)}"
                )
        for name, theirs in self.columns.items():
            # Fields of what an array has are looked for in the array.
            if _type_of(table.schema, self._whole(name, schema, theirs)) is None:
                raise UsageError(
                    f"{self.place}: {name} is said to be {theirs!r}, which the table has not; it "
                    f"has {', '.join(table.columns)}"
                )

    def _whole(self, name: str, schema: StructType, theirs: str) -> str:
        top, dot, _ = name.partition(".")
        in_array = dot and isinstance(schema[top].dataType, ArrayType)
        return f"{self.columns.get(top, top)}.{theirs}" if in_array else theirs

    def _column(
        self, name: str, kind: DataType, table: DataFrame
    ) -> tuple[Column, tuple[str, ...]]:
        """A column, and what of it is not there."""
        if isinstance(kind, StructType):
            return self._struct(name, kind, table)
        theirs = self.columns.get(name, name)
        there = _type_of(table.schema, theirs)
        if there is None:
            return sf.lit(None).cast(kind), () if name in self.never else (name,)
        if isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType):
            return self._array(name, kind, theirs, there)
        return _as(sf.col(_quoted(theirs)), there, kind), ()

    def _struct(
        self, name: str, kind: StructType, table: DataFrame
    ) -> tuple[Column, tuple[str, ...]]:
        theirs = self.columns.get(name, name)
        whole = _type_of(table.schema, theirs)
        given = [field.name for field in kind if f"{name}.{field.name}" in self.columns]
        if whole is None and not given:
            return sf.lit(None).cast(kind), () if name in self.never else (name,)
        fields, lacking = [], []
        for field in kind:
            full = f"{name}.{field.name}"
            path = self.columns.get(full, f"{theirs}.{field.name}")
            there = _type_of(table.schema, path)
            if there is None and full not in self.never:
                lacking.append(full)
            value = sf.lit(None) if there is None else sf.col(_quoted(path))
            fields.append(_as(value, there, field.dataType).alias(field.name))
        sources = [self.columns[f"{name}.{each}"] for each in given]
        sources += [theirs] if whole is not None else []
        is_set = reduce(or_, (sf.col(_quoted(each)).isNotNull() for each in sources))
        return sf.when(is_set, sf.struct(*fields)), tuple(lacking)

    def _array(
        self, name: str, kind: ArrayType, theirs: str, there: DataType
    ) -> tuple[Column, tuple[str, ...]]:
        inner = kind.elementType
        element = there.elementType if isinstance(there, ArrayType) else None
        if not isinstance(element, StructType) or not isinstance(inner, StructType):
            raise UsageError(
                f"{self.place or 'the table'}: {theirs} has to be an array of structs, as {name} is"
            )
        called = {
            field.name: self.columns.get(f"{name}.{field.name}", field.name) for field in inner
        }
        lacking = tuple(
            f"{name}.{ours}"
            for ours, other in called.items()
            if _type_of(element, other) is None and f"{name}.{ours}" not in self.never
        )

        def one(each: Column) -> Column:
            return sf.struct(
                *(
                    _field(each, called[field.name], element, field.dataType).alias(field.name)
                    for field in inner
                )
            )

        return sf.transform(sf.col(_quoted(theirs)), one), lacking


AS_PUBLISHED: Final = Naming()
"""A table whose columns are called as in the published schema."""


def _as(value: Column, there: DataType | None, kind: DataType) -> Column:
    """The same as another type; a moment is in microseconds here, and in seconds to a cast."""
    is_moment = isinstance(there, TimestampType) and isinstance(kind, LongType)
    return sf.unix_micros(value) if is_moment else value.cast(kind)


def _field(value: Column, path: str, there: StructType, kind: DataType) -> Column:
    """A field of a struct by its path; null where there is none."""
    found = _type_of(there, path)
    if found is None:
        return sf.lit(None).cast(kind)
    for part in path.split("."):
        value = value.getField(part)
    return _as(value, found, kind)


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


def _names(schema: StructType) -> frozenset[str]:
    """Every column, and every field of a struct."""
    names = set[str]()
    for field in schema:
        kind = field.dataType
        inner = kind.elementType if isinstance(kind, ArrayType) else kind
        names |= {field.name}
        if isinstance(inner, StructType):
            names |= {f"{field.name}.{each}" for each in inner.names}
    return frozenset(names)


def _quoted(path: str) -> str:
    return ".".join(f"`{part}`" for part in path.split("."))


def read_naming(path: Path) -> Naming:
    """The names that a file gives: a table `columns`, and a list `never`, in TOML.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from None
    columns, never = said.get("columns", {}), said.get("never", [])
    if said.keys() - set(_PARTS) or not _is_naming(columns, never):
        raise UsageError(
            f"{path} must have a table [columns], of our names and theirs as texts, or a list "
            "never of our names, and nothing else"
        )
    return Naming(_flat(columns), frozenset(never), str(path))


def _is_naming(columns: Any, never: Any) -> bool:
    if not isinstance(columns, dict) or not isinstance(never, list):
        return False
    return all(isinstance(each, str) for each in (*_flat(columns).values(), *never))


def _flat(columns: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """`sent.body = "x"` and `"sent.body" = "x"` are meant alike."""
    found: dict[str, Any] = {}
    for name, value in columns.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found
