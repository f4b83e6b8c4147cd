"""Parser of SQL filters and actions: from a text to a syntax tree, or to why there is none.

A text outside of the documented grammar is wrong, and the reason names the token, its position and
what could stand there. A few texts inside of it are *doubtful*: the documents can be read as
permitting them or not, so a bus may refuse them too.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from math import isfinite
from typing import Any, Final, Generic, TypeVar

import attrs
from lark import Lark, Token, Transformer_NonRecursive, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError
from lark.tree import Meta

from busproof.filters.facts import is_of_the_system
from busproof.filters.grammar import COMPARISON, GRAMMAR, RESERVED, VALUE, WORDS
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
    Remove,
    Set,
    Statement,
    Step,
    Term,
    depth_of,
    walked,
)

__all__ = [
    "DEEPEST",
    "KEPT",
    "LONGEST",
    "Outside",
    "is_beyond",
    "is_doubtful",
    "is_doubtful_action",
    "is_regular",
    "parsed",
    "parsed_action",
    "unknown_properties",
    "unknown_properties_of_action",
]

LONGEST: Final = 1024
"""Maximum length of an expression in characters, as the service documents it."""
DEEPEST: Final = 200
"""Maximum nesting depth, because evaluation uses one frame of Python's stack per level.

Only rows of `p(p(…` or `1-(1-(…` come near: rows of operators, signs and parentheses are no levels.
"""
KEPT: Final = 10_000
"""Number of parsed expressions that are cached, as many as five topics can have filters.

The longest take about 30 KB each.
"""
Tree = TypeVar("Tree")
_SHOWN: Final = 40
"""Number of characters of a token that a reason shows."""


@attrs.frozen
class Outside:
    """Why a text is no filter or no action.

    Attributes:
        name: `WRONG` if the grammar does not derive it, `EXCESS` if it is longer than permitted.
        reason: a sentence for whoever wrote it.
    """

    name: str
    reason: str


@attrs.frozen
class _Read(Generic[Tree]):
    """A syntax tree with what else is known of its text."""

    tree: Tree | Outside
    doubtful: bool = False
    unknown: tuple[str, ...] = ()


@attrs.frozen
class _Part:
    """A condition or a term, where it stands in the text, and whether in parentheses."""

    node: Any
    start: int
    end: int
    grouped: bool = False

    @property
    def is_term(self) -> bool:
        """Whether it is a term; anything else is a condition."""
        return isinstance(self.node, Term)


class _WrongError(Exception):
    """The text is outside of the grammar, though its tokens stand in a permitted order."""


@v_args(inline=True, meta=True)
class _Builder(Transformer_NonRecursive[Any, Any]):
    """Transformer from the parse tree to nodes; checks where conditions and terms may occur."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.written = text
        self.doubtful = False
        self.unknown: list[str] = []

    def _wrong(self, part: _Part, expected: str) -> _WrongError:
        shown = _show_text(self.written[part.start : part.end])
        return _WrongError(f"{shown} at character {part.start + 1} is {expected}")

    def as_condition(self, part: _Part) -> Condition:
        """Return a part as a condition.

        Raises:
            _WrongError: it is a term.
        """
        if part.is_term:
            raise self._wrong(
                part, "a value, where a condition is expected; compare it, as in `color = 'red'`"
            )
        condition: Condition = part.node
        return condition

    def as_term(self, part: _Part) -> Term:
        """Return a part as a term.

        Raises:
            _WrongError: it is a condition.
        """
        if not part.is_term:
            raise self._wrong(part, "a condition, where a value is expected")
        term: Term = part.node
        return term

    def _conditions(self, parts: Iterable[_Part]) -> tuple[Condition, ...]:
        return tuple(self.as_condition(part) for part in parts)

    def _make_part(self, meta: Meta, node: Any) -> _Part:
        return _Part(node, meta.start_pos, meta.end_pos)

    def or_(self, meta: Meta, *parts: _Part) -> _Part:
        return self._make_part(meta, Or(self._conditions(parts)))

    def and_(self, meta: Meta, *parts: _Part) -> _Part:
        return self._make_part(meta, And(self._conditions(parts)))

    def not_(self, meta: Meta, operand: _Part) -> _Part:
        condition = self.as_condition(operand)
        # A second NOT takes back the first, for an unknown condition too; a row of them is no row
        # of levels.
        if isinstance(condition, Not):
            return self._make_part(meta, condition.condition)
        return self._make_part(meta, Not(condition))

    def group(self, meta: Meta, inside: _Part) -> _Part:
        return _Part(inside.node, meta.start_pos, meta.end_pos, grouped=True)

    def compare(self, meta: Meta, left: _Part, sign: Token, right: _Part) -> _Part:
        return self._make_part(meta, Compare(str(sign), self.as_term(left), self.as_term(right)))

    def _is_null(self, operand: _Part) -> IsNull:
        if not isinstance(operand.node, Property) or operand.grouped:
            raise self._wrong(operand, "no property; only a property can be compared by IS NULL")
        return IsNull(operand.node)

    def is_null(self, meta: Meta, operand: _Part, _: Token) -> _Part:
        return self._make_part(meta, self._is_null(operand))

    def is_not_null(self, meta: Meta, operand: _Part, _: Token) -> _Part:
        return self._make_part(meta, Not(self._is_null(operand)))

    def _in(self, term: _Part, options: Iterable[_Part]) -> In:
        return In(self.as_term(term), tuple(self.as_term(option) for option in options))

    def in_(self, meta: Meta, term: _Part, *options: _Part) -> _Part:
        return self._make_part(meta, self._in(term, options))

    def not_in(self, meta: Meta, term: _Part, *options: _Part) -> _Part:
        return self._make_part(meta, Not(self._in(term, options)))

    def _like(self, term: _Part, pattern: _Part, escape: _Part | None) -> Like:
        sign = None if escape is None else self.as_term(escape)
        return Like(self.as_term(term), self.as_term(pattern), sign)

    def like(self, meta: Meta, term: _Part, pattern: _Part, escape: _Part | None) -> _Part:
        return self._make_part(meta, self._like(term, pattern, escape))

    def not_like(self, meta: Meta, term: _Part, pattern: _Part, escape: _Part | None) -> _Part:
        return self._make_part(meta, Not(self._like(term, pattern, escape)))

    def exists(self, meta: Meta, operand: _Part) -> _Part:
        return self._make_part(meta, Exists(operand.node))

    def arithmetic(self, meta: Meta, first: _Part, *rest: Any) -> _Part:
        signs = rest[::2]
        operands = rest[1::2]
        steps = tuple(
            Step(str(sign), self.as_term(operand))
            for sign, operand in zip(signs, operands, strict=True)
        )
        term = self.as_term(first)
        # Parentheses on the left change nothing, and are no level either.
        if isinstance(term, Arithmetic) and _is_sum(term.steps[0]) is _is_sum(steps[0]):
            return self._make_part(meta, Arithmetic(term.first, term.steps + steps))
        return self._make_part(meta, Arithmetic(term, steps))

    def negative(self, meta: Meta, _: Token, operand: _Part) -> _Part:
        term = self.as_term(operand)
        # The lowest number of 64 bits has no positive counterpart, so its sign belongs to it.
        if term == Constant(2**63):
            return self._make_part(meta, Constant(-(2**63)))
        if isinstance(term, Negative):
            return self._make_part(meta, Negative(term.term, term.signs + 1))
        return self._make_part(meta, Negative(term))

    def positive(self, meta: Meta, _: Token, operand: _Part) -> _Part:
        term = self.as_term(operand)
        plus = isinstance(term, Arithmetic) and term.first == Constant(0)
        return self._make_part(meta, term if plus else Arithmetic(Constant(0), (Step("+", term),)))

    def integer(self, meta: Meta, text: Token) -> _Part:
        return self._make_part(meta, Constant(int(text)))

    def decimal(self, meta: Meta, text: Token) -> _Part:
        mantissa = text.upper().partition("E")[0]
        # The documents speak of a string of numbers with a point in it, and show digits on both
        # sides.
        self.doubtful |= mantissa.startswith(".") or mantissa.endswith(".")
        return self._make_part(meta, Constant(float(text)))

    def text(self, meta: Meta, text: Token) -> _Part:
        return self._make_part(meta, Constant(text[1:-1].replace("''", "'")))

    def true(self, meta: Meta, _: Token) -> _Part:
        return self._make_part(meta, Constant(True))

    def false(self, meta: Meta, _: Token) -> _Part:
        return self._make_part(meta, Constant(False))

    def null(self, meta: Meta, _: Token) -> _Part:
        return self._make_part(meta, Constant(None))

    def parameter(self, meta: Meta, text: Token) -> _Part:
        # The grammar has no parameters; an example of the documents has one, with its value.
        self.doubtful = True
        return self._make_part(meta, Parameter(str(text)))

    def newid(self, meta: Meta, _: Token) -> _Part:
        return self._make_part(meta, NewId())

    def named(self, meta: Meta, _: Token, name: _Part) -> _Part:
        return self._make_part(meta, Named(self.as_term(name)))

    def property(self, meta: Meta, scope: Token | None, name: Token) -> _Part:
        part = self._make_part(meta, None)
        if name.type == "DELIMITED":
            written = name[1:-1].replace("]]", "]")
        elif name.type == "QUOTED":
            written = name[1:-1].replace('""', '"')
        elif is_regular(name):
            written = str(name)
        else:
            raise self._wrong(part, "no name; put brackets around it")
        system = (scope or "").lower().startswith("sys")
        if system and not is_of_the_system(written):
            self.unknown.append(written)
        # The label is called Subject in the newer libraries; whether SQL knows it so is not said.
        self.doubtful |= system and written.lower() == "subject"
        return attrs.evolve(part, node=Property("sys" if system else "user", written))

    def set(self, _meta: Meta, target: _Part, _: Token, term: _Part) -> Set:
        return Set(target.node, self.as_term(term))

    def remove(self, _meta: Meta, target: _Part) -> Remove:
        return Remove(target.node)

    def statements(self, _meta: Meta, *statements: Statement) -> tuple[Statement, ...]:
        return statements


def _is_doubtful(part: Any) -> bool:  # noqa: PLR0911 - one match
    """Return whether a bus may see from the text alone that a part can have no value.

    Numbers have the range of their types, and operators the operands that C# gives them; the
    documents do not say whether anybody looks at that before a message comes.
    """
    match part:
        case Constant():
            return is_beyond(part)
        case Negative(term=term):
            return _is_no_number(term)
        case Arithmetic(first=first, steps=steps):
            zero = any(step.operator in "/%" and step.term in _ZEROS for step in steps)
            return zero or any(map(_is_no_number, (first, *(step.term for step in steps))))
        case Named(name=name):
            return _is_no_text(name)
        case Like(term=term, pattern=pattern, escape=escape):
            sign = escape.value if isinstance(escape, Constant) else "!"
            single = isinstance(sign, str) and len(sign) == 1
            return not single or _is_no_text(term) or _is_no_text(pattern)
        case Compare(operator=sign, left=left, right=right):
            orders = sign not in ("=", "<>", "!=")
            return orders and (_is_no_number(left) or _is_no_number(right))
        case _:
            return False


_ZEROS: Final = (Constant(0), Constant(0.0))


def _is_no_number(term: Term) -> bool:
    """Return whether a term is a constant of another type, or an id."""
    other = isinstance(term, Constant) and (
        isinstance(term.value, bool) or not isinstance(term.value, int | float)
    )
    return other or isinstance(term, NewId)


def _is_no_text(term: Term) -> bool:
    """Return whether a term surely has no text: another constant, an id, or a number."""
    other = isinstance(term, Constant) and not isinstance(term.value, str)
    return other or isinstance(term, NewId | Negative | Arithmetic)


def is_beyond(constant: Constant) -> bool:
    """Return whether a constant is a number that its type cannot hold."""
    value = constant.value
    whole = isinstance(value, int) and not -(2**63) <= value < 2**63
    return whole or (isinstance(value, float) and not isfinite(value))


def is_regular(name: str) -> bool:
    """Return whether a name needs no brackets: a letter, then letters, digits and underscores."""
    return (
        name[:1].isalpha()
        and all(sign == "_" or sign.isalpha() or sign.isdecimal() for sign in name)
        and name.upper() not in RESERVED
    )


def _is_sum(step: Step) -> bool:
    return step.operator in "+-"


@cache
def _parser() -> Lark:
    return Lark(
        GRAMMAR,
        start=["condition", "statements"],
        parser="lalr",
        maybe_placeholders=True,
        propagate_positions=True,
    )


def _read(text: str, start: str) -> _Read[Any]:  # noqa: PLR0911 - a return for each reason
    """Return the tree of a text, or the reason why it has none."""
    what = "a filter" if start == "condition" else "an action"
    if len(text) > LONGEST:
        reason = f"it has {len(text):,} characters; {what} may have at most {LONGEST:,}"
        return _Read(Outside("EXCESS", reason))
    if not text.strip():
        return _Read(Outside("WRONG", f"it is empty, which is not {what}"))
    builder = _Builder(text)
    try:
        tree = builder.transform(_parser().parse(text, start=start))
        if start == "condition":
            tree = builder.as_condition(tree)
    except UnexpectedInput as error:
        return _Read(Outside("WRONG", _reason(text, start, error)))
    except VisitError as error:
        return _Read(Outside("WRONG", str(error.orig_exc)))
    except _WrongError as error:
        return _Read(Outside("WRONG", str(error)))
    trees = tree if isinstance(tree, tuple) else (tree,)
    if any(depth_of(each) > DEEPEST for each in trees):
        reason = f"it has more than {DEEPEST} levels of parts within parts"
        return _Read(Outside("EXCESS", reason))
    doubtful = any(_is_doubtful(part) for each in trees for part in walked(each))
    return _Read(tree, builder.doubtful or doubtful, tuple(builder.unknown))


def _reason(text: str, start: str, error: UnexpectedInput) -> str:
    """Return what stands where in a text, and what could stand there."""
    place = error.pos_in_stream or 0
    if isinstance(error, UnexpectedToken):
        at_end = error.token.type == "$END"
        place = len(text) if at_end else place
        found = "it ends" if at_end else f"{_show_text(str(error.token))} stands"
        expected = error.accepts
    else:
        begun = _BEGUN.get(text[place])
        if begun is not None:
            return f"{begun[0]} that begins at character {place + 1} has no {begun[1]} at its end"
        found = f"{_show_text(text[place])} stands"
        parser = _parser().parse_interactive(text[:place], start=start)
        parser.exhaust_lexer()
        expected = parser.accepts()  # type: ignore[no-untyped-call]  # lark's annotation is missing
    return f"{found} at character {place + 1}; expected {_list_words(expected)}"


_BEGUN: Final = {
    "'": ("the text", "'"),
    '"': ("the name", '"'),
    "[": ("the name", "]"),
}
"""First characters of tokens that end with another character, which has to be missing if no token
begins there."""


def _list_words(names: Iterable[str]) -> str:
    """Return what a refusal calls these terminals, a value before all else that begins with one."""
    words = {WORDS[name] for name in names if name in WORDS}
    if VALUE in words:
        return VALUE
    if COMPARISON in words:
        words -= {WORDS["EQUALS"]}
    *some, last = sorted(words)
    return f"{', '.join(some)} or {last}" if some else last


def _show_text(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")


@lru_cache(KEPT)
def _condition(expression: str) -> _Read[Condition]:
    return _read(expression, "condition")


@lru_cache(KEPT)
def _statements(expression: str) -> _Read[tuple[Statement, ...]]:
    return _read(expression, "statements")


def parsed(expression: str) -> Condition | Outside:
    """Return the condition of a filter, or the reason why there is none."""
    return _condition(expression).tree


def parsed_action(expression: str) -> tuple[Statement, ...] | Outside:
    """Return the statements of an action, or the reason why there are none.

    The documents put a comma between statements, and call a semicolon behind each optional; one of
    them, both or none separate two statements.
    """
    return _statements(expression).tree


def unknown_properties(expression: str) -> tuple[str, ...]:
    """Return the names behind `sys.` in a filter that the documents do not know."""
    return _condition(expression).unknown


def unknown_properties_of_action(expression: str) -> tuple[str, ...]:
    """Return the names behind `sys.` in an action that the documents do not know."""
    return _statements(expression).unknown


def is_doubtful(expression: str) -> bool:
    """Return whether the documents can also be read as not permitting the filter."""
    return _condition(expression).doubtful


def is_doubtful_action(expression: str) -> bool:
    """Return whether the documents can also be read as not permitting the action."""
    return _statements(expression).doubtful
