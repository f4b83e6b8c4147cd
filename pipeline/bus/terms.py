"""How expressions of the bus are put together: what is bound, looked up, made and changed.

Spark's SQL has no way to name a value within an expression, and text that is repeated grows with
each level. A lambda over an array of one element binds it: `let`.
"""

from collections.abc import Mapping
from typing import Final

from busproof.pipeline.bus.tables import STATE, TOLD
from busproof.vocabulary.paths import DEAD_LETTERS
from busproof.vocabulary.values import Error

__all__ = [
    "DEAD",
    "Expression",
    "changed",
    "done",
    "let",
    "made",
    "one",
    "refused",
    "row",
    "sequence_number",
    "state",
    "told",
    "where",
]

Expression = str
"""A piece of Spark's SQL."""

DEAD: Final = f"'{DEAD_LETTERS}'"


def let(name: str, value: Expression, body: Expression) -> Expression:
    """The body, in which the name stands for the value, which is found once."""
    return f"get(transform(array({value}), {name} -> {body}), 0)"


def where(table: Expression, name: str, condition: Expression) -> Expression:
    """The rows of a table for which the condition holds."""
    return f"filter({table}, {name} -> {condition})"


def one(table: Expression, name: str, condition: Expression) -> Expression:
    """The first row for which the condition holds; null if there is none."""
    return f"get({where(table, name, condition)}, 0)"


def row(fields: Mapping[str, str], **given: Expression) -> Expression:
    """A new struct of these fields; what is not given is null."""
    _check(fields, given)
    pairs = (
        f"'{name}', {given.get(name, f'CAST(NULL AS {kind})')}" for name, kind in fields.items()
    )
    return f"named_struct({', '.join(pairs)})"


def made(fields: Mapping[str, str], source: Expression, **given: Expression) -> Expression:
    """A new struct that takes what is not given from the fields of the same name in another."""
    return row(
        fields, **{name: f"{source}.`{name}`" for name in fields if name not in given}, **given
    )


changed = made


def state(source: Expression = "s", **given: Expression) -> Expression:
    """The state with some of its fields changed."""
    return changed(STATE, source, **given)


def told(kind: str, **given: Expression) -> Expression:
    """The outcomes so far and one of this type more."""
    one_more = row(TOLD, type=f"'{kind}'", **given)
    return f"concat(s.told, array({one_more}))"


def done(witness: Expression | None = None, **given: Expression) -> Expression:
    """The state changed so, after a request of which only the chosen partition is to be told."""
    partition = {} if witness is None else {"partition": witness}
    return state(told=told("Done", **partition), **given)


def refused(error: Error | Expression) -> Expression:
    """The state after a refusal: as it was."""
    text = f"'{error.value}'" if isinstance(error, Error) else error
    return state(told=told("Refused", error=text))


def sequence_number(partition: Expression, order: Expression) -> Expression:
    """The partition above 48 bits, the order of arrival below."""
    return f"(shiftleft({partition}, 48) + {order})"


def _check(fields: Mapping[str, str], given: Mapping[str, str]) -> None:
    unknown = given.keys() - fields.keys()
    if unknown:
        raise AssertionError(f"no such fields: {', '.join(sorted(unknown))}")
