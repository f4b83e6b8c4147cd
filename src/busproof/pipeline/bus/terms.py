"""Construction of SQL expressions for the bus: bind, look up, create and change values.

Spark SQL cannot name a value within an expression, and repeated text multiplies with each level of
nesting. So `let` binds a value to a name by means of a lambda.
"""

from collections.abc import Mapping
from typing import Final

from busproof import vocabulary as v
from busproof.pipeline.bus.tables import STATE, TOLD

__all__ = [
    "DEAD",
    "Expression",
    "add_outcome",
    "change_struct",
    "copy_struct",
    "let",
    "one",
    "refuse",
    "row",
    "sequence_number",
    "state",
    "succeed",
    "where",
]

Expression = str
"""A Spark SQL expression."""

DEAD: Final = f"'{v.DEAD_LETTERS}'"


def let(name: str, value: Expression, body: Expression) -> Expression:
    """Return the body with a name bound to a value, which is computed only once.

    The finishing lambda of an aggregate gets its value without a copy. A lambda of `transform`
    would copy its result, which is often the whole state of the bus.
    """
    return f"aggregate(array(), {value}, (same, none) -> same, {name} -> {body})"


def where(table: Expression, name: str, condition: Expression) -> Expression:
    """Return the rows of a table that satisfy a condition."""
    return f"filter({table}, {name} -> {condition})"


def one(table: Expression, name: str, condition: Expression) -> Expression:
    """Return the first row that satisfies a condition; null if there is none."""
    return f"get({where(table, name, condition)}, 0)"


def row(fields: Mapping[str, str], **values: Expression) -> Expression:
    """Return a new struct with these fields; fields that are not given are null."""
    _check(fields, values)
    pairs = (
        f"'{name}', {values.get(name, f'CAST(NULL AS {kind})')}" for name, kind in fields.items()
    )
    return f"named_struct({', '.join(pairs)})"


def copy_struct(fields: Mapping[str, str], source: Expression, **values: Expression) -> Expression:
    """Return a new struct; fields that are not given are copied from another struct."""
    return row(
        fields, **{name: f"{source}.`{name}`" for name in fields if name not in values}, **values
    )


change_struct = copy_struct


def state(source: Expression = "s", **changes: Expression) -> Expression:
    """Return the state with some fields changed."""
    return change_struct(STATE, source, **changes)


def add_outcome(kind: str, **fields: Expression) -> Expression:
    """Return the outcomes so far, with one of this type added."""
    one_more = row(TOLD, type=f"'{kind}'", **fields)
    return f"concat(s.told, array({one_more}))"


def succeed(witness: Expression | None = None, **changes: Expression) -> Expression:
    """Return the changed state after a successful request; the witness is the chosen partition."""
    partition = {} if witness is None else {"partition": witness}
    return state(told=add_outcome("Done", **partition), **changes)


def refuse(error: v.Error | Expression) -> Expression:
    """Return the state after a refusal, which adds an outcome and changes nothing else."""
    text = f"'{error.value}'" if isinstance(error, v.Error) else error
    return state(told=add_outcome("Refused", error=text))


def sequence_number(partition: Expression, order: Expression) -> Expression:
    """Return a sequence number: the partition in the bits from 48, the order of arrival below."""
    return f"(shiftleft({partition}, 48) + {order})"


def _check(fields: Mapping[str, str], values: Mapping[str, str]) -> None:
    unknown = values.keys() - fields.keys()
    if unknown:
        raise AssertionError(f"no such fields: {', '.join(sorted(unknown))}")
