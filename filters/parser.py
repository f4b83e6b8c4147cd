"""The conditions of SQL filters, as far as the catalogue states their language (FILTER-11 on).

The subset: comparisons, AND, OR, NOT, IS [NOT] NULL, EXISTS, [NOT] IN, [NOT] LIKE with ESCAPE,
arithmetic, parentheses, constants, and properties with the scopes `sys` and `user`. What lies
outside of it, yet inside the service's language, is told from what is no condition at all.
"""

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Any, Final, Literal

import attrs
from lark import Lark, Transformer, v_args
from lark.exceptions import LarkError, VisitError

__all__ = [
    "GRAMMAR",
    "OUTSIDE",
    "And",
    "Arithmetic",
    "Builder",
    "Compare",
    "Condition",
    "Constant",
    "Exists",
    "In",
    "IsNull",
    "Like",
    "Negative",
    "Not",
    "Or",
    "Outside",
    "Property",
    "Term",
    "parsed",
    "walked",
]

GRAMMAR: Final = r"""
?condition: conjunction (_OR conjunction)*
?conjunction: negation (_AND negation)*
?negation: _NOT negation -> not_ | predicate
?predicate: term COMPARISON term            -> compare
    | property _IS _NULL                    -> is_null
    | property _IS _NOT _NULL               -> is_not_null
    | term _IN "(" term ("," term)* ")"     -> in_
    | term _NOT _IN "(" term ("," term)* ")" -> not_in
    | term _LIKE term [_ESCAPE term]        -> like
    | term _NOT _LIKE term [_ESCAPE term]   -> not_like
    | _EXISTS "(" property ")"              -> exists
    | "(" condition ")"
    | term                                  -> bare
?term: product | term PLUS product -> arithmetic | term MINUS product -> arithmetic
?product: factor | product TIMES factor -> arithmetic
?factor: MINUS factor -> negative | PLUS factor -> positive | atom
?atom: INTEGER -> integer | DECIMAL -> decimal | TEXT -> text
    | _TRUE -> true | _FALSE -> false | _NULL -> null | property | "(" term ")"
property: [SCOPE] NAME
SCOPE.3: /(sys|user)\s*\./i
NAME: /(?!(AND|OR|NOT|IS|NULL|IN|LIKE|ESCAPE|EXISTS|TRUE|FALSE)\b)[^\W\d_]\w*/i
TEXT: /'(?:[^']|'')*'/
DECIMAL.2: /\d+\.\d+/
INTEGER: /\d+/
COMPARISON: "<>" | "!=" | "<=" | ">=" | "<" | ">" | "="
PLUS: "+"
MINUS: "-"
TIMES: "*" | "/" | "%"
_AND: /AND\b/i
_OR: /OR\b/i
_NOT: /NOT\b/i
_IS: /IS\b/i
_IN: /IN\b/i
_LIKE: /LIKE\b/i
_ESCAPE: /ESCAPE\b/i
_EXISTS: /EXISTS\b/i
_TRUE: /TRUE\b/i
_FALSE: /FALSE\b/i
_NULL: /NULL\b/i
%ignore /\s+/
"""

OUTSIDE: Final = re.compile(r"""[@\[\]"]|\b(?:newid|property|p)\s*\(|\d[eE]""")
"""What the service's language has and the subset has not."""


class Outside(Enum):
    """Why an expression is no condition of the subset."""

    BEYOND = "the service's language may have it"
    WRONG = "no condition at all"


@attrs.frozen
class Constant:
    """A value as it is written; `None` is NULL."""

    value: str | int | float | bool | None


@attrs.frozen
class Property:
    """A property of a message; names are told apart without their case."""

    scope: Literal["sys", "user"]
    name: str


@attrs.frozen
class Negative:
    """The negative of a number."""

    term: "Term"


@attrs.frozen
class Arithmetic:
    """Two numbers reckoned together."""

    operator: str
    left: "Term"
    right: "Term"


Term = Constant | Property | Negative | Arithmetic


@attrs.frozen
class Compare:
    """Whether two values stand in this relation."""

    operator: str
    left: Term
    right: Term


@attrs.frozen
class IsNull:
    """Whether a property is not there, or null."""

    property: Property


@attrs.frozen
class Exists:
    """Whether a property is there."""

    property: Property


@attrs.frozen
class In:
    """Whether a value equals one of several."""

    term: Term
    options: tuple[Term, ...]


@attrs.frozen
class Like:
    """Whether a text fits a pattern."""

    term: Term
    pattern: Term
    escape: Term | None


@attrs.frozen
class Not:
    """Whether a condition is false."""

    condition: "Condition"


@attrs.frozen
class And:
    """Whether both conditions are true."""

    left: "Condition"
    right: "Condition"


@attrs.frozen
class Or:
    """Whether one of two conditions is true."""

    left: "Condition"
    right: "Condition"


Condition = Compare | IsNull | Exists | In | Like | Not | And | Or


class _BeyondError(Exception):
    """What the subset has not: a value where a condition has to stand, a number beyond 64 bits."""


def walked(part: Any) -> Iterator[Any]:
    """A condition or a term and all that it is made of."""
    yield part
    for field in attrs.fields(type(part)):
        value = getattr(part, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if attrs.has(type(each)):
                yield from walked(each)


@v_args(inline=True)
class _Builder(Transformer[Any, Any]):
    """Makes values of what the grammar finds."""

    def condition(self, *parts: Condition) -> Condition:
        return _folded(Or, parts)

    def conjunction(self, *parts: Condition) -> Condition:
        return _folded(And, parts)

    def not_(self, condition: Condition) -> Not:
        return Not(condition)

    def compare(self, left: Term, operator: str, right: Term) -> Compare:
        return Compare(str(operator), left, right)

    def is_null(self, found: Property) -> IsNull:
        return IsNull(found)

    def is_not_null(self, found: Property) -> Not:
        return Not(IsNull(found))

    def bare(self, term: Term) -> Condition:
        raise _BeyondError(term)

    def in_(self, term: Term, *options: Term) -> In:
        return In(term, options)

    def not_in(self, term: Term, *options: Term) -> Not:
        return Not(In(term, options))

    def like(self, term: Term, pattern: Term, escape: Term | None = None) -> Like:
        return Like(term, pattern, escape)

    def not_like(self, term: Term, pattern: Term, escape: Term | None = None) -> Not:
        return Not(Like(term, pattern, escape))

    def exists(self, found: Property) -> Exists:
        return Exists(found)

    def arithmetic(self, left: Term, operator: str, right: Term) -> Arithmetic:
        return Arithmetic(str(operator), left, right)

    def negative(self, _: str, term: Term) -> Negative:
        return Negative(term)

    def positive(self, _: str, term: Term) -> Term:
        return Arithmetic("+", Constant(0), term)

    def integer(self, text: str) -> Constant:
        if int(text) >= 2**63:
            raise _BeyondError(text)
        return Constant(int(text))

    def decimal(self, text: str) -> Constant:
        return Constant(float(text))

    def text(self, text: str) -> Constant:
        return Constant(text[1:-1].replace("''", "'"))

    def true(self) -> Constant:
        return Constant(True)

    def false(self) -> Constant:
        return Constant(False)

    def null(self) -> Constant:
        return Constant(None)

    def property(self, scope: str | None, name: str) -> Property:
        return Property("sys" if (scope or "").lower().startswith("sys") else "user", str(name))


Builder = _Builder
"""For languages that are made of the same terms."""


def _folded(kind: type[And] | type[Or], parts: tuple[Condition, ...]) -> Condition:
    folded, *rest = parts
    for part in rest:
        folded = kind(folded, part)
    return folded


@cache
def _parser() -> Lark:
    # Earley, for whether a parenthesis opens a condition or a value shows only behind it.
    return Lark(
        GRAMMAR, start="condition", parser="earley", lexer="dynamic", maybe_placeholders=True
    )


@cache
def parsed(expression: str) -> Condition | Outside:
    """The condition that an expression states, or why it states none of the subset."""
    try:
        return Builder().transform(_parser().parse(expression))  # type: ignore[no-any-return]
    except VisitError:
        return Outside.BEYOND
    except LarkError:
        return Outside.BEYOND if OUTSIDE.search(expression) else Outside.WRONG
