"""Parser of SQL filter conditions, as far as the catalogue states them (FILTER-11 on).

The subset has comparisons, AND, OR, NOT, IS [NOT] NULL, EXISTS, [NOT] IN, [NOT] LIKE with ESCAPE,
arithmetic, parentheses, constants, and properties with the scopes `sys` and `user`. Expressions
that the service may support beyond this subset are distinguished from wrong ones.

Whether a parenthesis opens a condition or a term shows only in the text after it. So the grammar
has one kind of expression, which LALR parses in linear time, and the builder checks which kind is
used where.
"""

import re
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Final

import attrs
from lark import Lark, v_args
from lark.exceptions import GrammarError, LarkError
from lark.visitors import Transformer_NonRecursive

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
    Negative,
    Not,
    Or,
    Property,
    Term,
    depth_of,
    walked,
)

__all__ = [
    "DEEPEST",
    "GRAMMAR",
    "KEPT",
    "LONGEST",
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
    "as_term",
    "depth_of",
    "parsed",
    "walked",
]

GRAMMAR: Final = r"""
?condition: conjunction (_OR conjunction)*
?conjunction: negation (_AND negation)*
?negation: _NOT negation -> not_ | predicate
?predicate: term COMPARISON term            -> compare
    | term _IS _NULL                        -> is_null
    | term _IS _NOT _NULL                   -> is_not_null
    | term _IN "(" term ("," term)* ")"     -> in_
    | term _NOT _IN "(" term ("," term)* ")" -> not_in
    | term _LIKE term [_ESCAPE term]        -> like
    | term _NOT _LIKE term [_ESCAPE term]   -> not_like
    | _EXISTS "(" property ")"              -> exists
    | term
?term: product | term PLUS product -> arithmetic | term MINUS product -> arithmetic
?product: factor | product TIMES factor -> arithmetic
?factor: MINUS factor -> negative | PLUS factor -> positive | atom
?atom: INTEGER -> integer | DECIMAL -> decimal | TEXT -> text
    | _TRUE -> true | _FALSE -> false | _NULL -> null | property | "(" condition ")" -> group
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
"""Pattern of expressions that the service may support, but the subset does not have."""

LONGEST: Final = 1024
"""Maximum length of an expression in characters, as the service documents it."""
DEEPEST: Final = 200
"""Maximum nesting depth, because evaluation uses one frame of Python's stack per level."""
KEPT: Final = 10_000
"""Number of parsed expressions that are cached, as many as five topics can have filters.

The longest take about 30 KB each.
"""


class Outside(Enum):
    """Reason why an expression is outside of the subset."""

    BEYOND = "the service's language may support it"
    EXCESS = "too long or too deeply nested to parse; the service may support it"
    WRONG = "not a valid condition"


@attrs.frozen
class _Group:
    """An expression in parentheses, which may be a condition or a term."""

    inside: Term | Condition


_Part = Term | Condition | _Group


@v_args(inline=True)
class _Builder(Transformer_NonRecursive[Any, Any]):
    """Transformer from the parse tree to nodes, which checks where conditions may occur.

    A condition in the place of a term is a syntax error. `beyond` is set for what the subset lacks
    and the service may have: a term in the place of a condition, or a number of more than 64 bits.
    """

    def __init__(self) -> None:
        super().__init__()
        self.beyond = False

    def as_condition(self, part: _Part) -> Condition:
        """Return a part as a condition; set `beyond` if it is a term."""
        part = _without_parentheses(part)
        if isinstance(part, Term):
            self.beyond = True
        return part  # type: ignore[return-value] # what is beyond the subset is not evaluated

    def condition(self, *parts: _Part) -> Condition:
        return _folded(Or, [self.as_condition(part) for part in parts])

    def conjunction(self, *parts: _Part) -> Condition:
        return _folded(And, [self.as_condition(part) for part in parts])

    def not_(self, condition: _Part) -> Not:
        return Not(self.as_condition(condition))

    def group(self, inside: _Part) -> _Group:
        return _Group(_without_parentheses(inside))

    def compare(self, left: _Part, operator: str, right: _Part) -> Compare:
        return Compare(str(operator), as_term(left), as_term(right))

    def is_null(self, operand: _Part) -> IsNull:
        if not isinstance(operand, Property):
            raise GrammarError("only a property can be NULL")
        return IsNull(operand)

    def is_not_null(self, operand: _Part) -> Not:
        return Not(self.is_null(operand))

    def in_(self, term: _Part, *options: _Part) -> In:
        return In(as_term(term), tuple(as_term(option) for option in options))

    def not_in(self, term: _Part, *options: _Part) -> Not:
        return Not(self.in_(term, *options))

    def like(self, term: _Part, pattern: _Part, escape: _Part | None = None) -> Like:
        sign = None if escape is None else as_term(escape)
        return Like(as_term(term), as_term(pattern), sign)

    def not_like(self, term: _Part, pattern: _Part, escape: _Part | None = None) -> Not:
        return Not(self.like(term, pattern, escape))

    def exists(self, operand: Property) -> Exists:
        return Exists(operand)

    def arithmetic(self, left: _Part, operator: str, right: _Part) -> Arithmetic:
        return Arithmetic(str(operator), as_term(left), as_term(right))

    def negative(self, _: str, term: _Part) -> Negative:
        return Negative(as_term(term))

    def positive(self, _: str, term: _Part) -> Term:
        return Arithmetic("+", Constant(0), as_term(term))

    def integer(self, text: str) -> Constant:
        self.beyond |= int(text) >= 2**63
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
"""Base class for the parsers of languages with the same terms."""


def as_term(part: _Part) -> Term:
    """Return a part as a term.

    Raises:
        GrammarError: the part is a condition.
    """
    part = _without_parentheses(part)
    if not isinstance(part, Term):
        raise GrammarError("a condition stands in the place of a value")
    return part


def _without_parentheses(part: _Part) -> Term | Condition:
    return part.inside if isinstance(part, _Group) else part


def _folded(kind: type[And] | type[Or], parts: list[Condition]) -> Condition:
    folded, *rest = parts
    for part in rest:
        folded = kind(folded, part)
    return folded


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, start="condition", parser="lalr", maybe_placeholders=True)


@lru_cache(KEPT)
def parsed(expression: str) -> Condition | Outside:
    """Return the condition of an expression, or the reason why it is outside of the subset."""
    if len(expression) > LONGEST:
        return Outside.EXCESS
    builder = Builder()
    try:
        condition = builder.as_condition(builder.transform(_parser().parse(expression)))
    except LarkError:
        return Outside.BEYOND if OUTSIDE.search(expression) else Outside.WRONG
    if depth_of(condition) > DEEPEST:
        return Outside.EXCESS
    return Outside.BEYOND if builder.beyond else condition
