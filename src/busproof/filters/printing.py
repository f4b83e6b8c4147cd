"""SQL text of a syntax tree; parsing it gives the same tree again."""

from typing import assert_never

from busproof.filters.nodes import (
    And,
    Arithmetic,
    Compare,
    Condition,
    Constant,
    Exists,
    In,
    IsNull,
    Like,
    Named,
    Negative,
    NewId,
    Not,
    Or,
    Parameter,
    Property,
    Set,
    Statement,
    Term,
)
from busproof.filters.parser import is_regular

__all__ = ["literal", "written", "written_action"]


def written_action(statements: tuple[Statement, ...]) -> str:
    """Return the text of an action."""
    return "; ".join(
        f"SET {_term(each.property)} = {_term(each.term)}"
        if isinstance(each, Set)
        else f"REMOVE {_term(each.property)}"
        for each in statements
    )


def written(condition: Condition) -> str:  # noqa: PLR0911 - one closed match
    """Return the text of a condition."""
    match condition:
        case And(parts=parts):
            return " AND ".join(_inside(part) for part in parts)
        case Or(parts=parts):
            return " OR ".join(_inside(part) for part in parts)
        case Not(condition=IsNull(property=named)):
            return f"{_term(named)} IS NOT NULL"
        case Not(condition=In(term=term, options=options)):
            return f"{_term(term)} NOT IN ({', '.join(map(_term, options))})"
        case Not(condition=Like() as like):
            return _like(like, "NOT LIKE")
        case Not(condition=negated):
            return f"NOT {_inside(negated)}"
        case Compare(operator=sign, left=left, right=right):
            return f"{_term(left)} {sign} {_term(right)}"
        case IsNull(property=named):
            return f"{_term(named)} IS NULL"
        case Exists(property=named):
            return f"EXISTS ({_term(named)})"
        case In(term=term, options=options):
            return f"{_term(term)} IN ({', '.join(map(_term, options))})"
        case Like():
            return _like(condition, "LIKE")
        case _:
            assert_never(condition)


def _inside(condition: Condition) -> str:
    text = written(condition)
    return f"({text})" if isinstance(condition, And | Or) else text


def _like(like: Like, word: str) -> str:
    ending = "" if like.escape is None else f" ESCAPE {_term(like.escape)}"
    return f"{_term(like.term)} {word} {_term(like.pattern)}{ending}"


def _term(term: Term) -> str:  # noqa: PLR0911 - one closed match
    match term:
        case Constant(value=value):
            return literal(value)
        case Property(scope=scope, name=name):
            return f"{'sys.' if scope == 'sys' else ''}{_name(name)}"
        case Named(name=inner):
            return f"property({_term(inner)})"
        case NewId():
            return "newid()"
        case Parameter(name=name):
            return name
        case Negative(term=inner, signs=signs):
            return "-" * signs + _operand(inner)
        case Arithmetic(first=first, steps=steps):
            return _operand(first) + "".join(
                f" {step.operator} {_operand(step.term)}" for step in steps
            )
        case _:
            assert_never(term)


def _operand(term: Term) -> str:
    text = _term(term)
    return f"({text})" if isinstance(term, Arithmetic) else text


def literal(value: str | float | bool | None) -> str:
    """Return the text of a constant, or of a negative number."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    # Too large a number for a double is read as infinity, which has no other form.
    return str(value).replace("inf", "1e999")


def _name(name: str) -> str:
    inside = name.replace("]", "]]")
    return name if is_regular(name) else f"[{inside}]"
