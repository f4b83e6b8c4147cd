"""Drawn conditions and actions: written and read, and the opinion of another database."""

import sqlite3
from collections import Counter
from typing import Any

from hypothesis import given, settings

from busproof.exploration.strategies.filters import MARKS, mark_message
from busproof.exploration.strategies.sql import ACTION_TREES, CONDITION_TREES
from busproof.filters.actions import changed, fresh_ids, is_plain, made_by
from busproof.filters.matching import takes
from busproof.filters.nodes import (
    Arithmetic,
    Compare,
    Condition,
    Constant,
    In,
    Like,
    Named,
    Negative,
    NewId,
    Property,
    Term,
    walked,
)
from busproof.filters.objections import objection_to_action, objection_to_filter
from busproof.filters.parser import Outside, parsed, parsed_action
from busproof.filters.printing import written, written_action
from busproof.filters.readings import OURS
from busproof.vocabulary.messages import Message
from busproof.vocabulary.subscription_rules import SqlFilter


@given(CONDITION_TREES)
def test_condition_that_is_written_is_read_as_it_was(tree: Condition) -> None:
    text = written(tree)
    found = parsed(text)
    assert not isinstance(found, Outside), found.reason
    assert written(found) == text
    assert parsed(written(found)) == found
    assert objection_to_filter(SqlFilter(expression=text)) is None


@given(ACTION_TREES)
def test_action_that_is_written_is_read_as_it_was(statements: Any) -> None:
    text = written_action(statements)
    found = parsed_action(text)
    assert not isinstance(found, Outside), found.reason
    assert written_action(found) == text
    assert parsed_action(written_action(found)) == found
    assert (objection_to_action(text) is None) is is_plain(found)


@given(CONDITION_TREES, MARKS)
def test_bus_takes_only_what_a_judge_permits(tree: Condition, number: int) -> None:
    """With the readings of the reference model, which are among those that are permitted."""
    wanted = SqlFilter(expression=written(tree))
    message = mark_message(Message(body="m"), number)
    permitted = takes(wanted, message)
    assert permitted in (None, takes(wanted, message, readings=OURS) is True)


@given(ACTION_TREES, MARKS)
def test_bus_makes_only_what_a_judge_permits(statements: Any, number: int) -> None:
    """Apart from what is open of it."""
    message = mark_message(Message(body="m"), number)
    known = changed(statements, message)
    made = made_by(statements, message, None, fresh_ids("x"))
    for name in {*known.message.properties, *made.properties}:
        if name.lower() not in known.open_properties:
            assert known.message.properties.get(name) == made.properties.get(name), name
    for field in ("subject", "to", "reply_to", "correlation_id"):
        if field not in known.open_fields:
            assert getattr(known.message, field) == getattr(made, field)


def test_drawn_conditions_are_true_and_false_about_as_often() -> None:
    answers: Counter[bool | None] = Counter()

    @settings(max_examples=300, database=None, derandomize=True)
    @given(CONDITION_TREES, MARKS)
    def draw(tree: Condition, number: int) -> None:
        message = mark_message(Message(body="m"), number)
        answers[takes(SqlFilter(expression=written(tree)), message)] += 1

    draw()
    assert min(answers[True], answers[False]) > 40, answers


# -- The second opinion ----------------------------------------------------------------------------
def opinion(condition: Condition, properties: dict[str, Any]) -> bool:
    """Return whether SQLite takes a row with these values; it knows no EXISTS of a column."""
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA case_sensitive_like = ON")
    columns = ("a", "b", "size", "color", "shop.type")
    names = ", ".join(f"[{name}]" for name in columns)
    base.execute(f"CREATE TABLE message ({names})")
    row = [properties.get(name) for name in columns]
    base.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
    text = written(condition)
    query = f"SELECT 1 FROM message WHERE {text}"  # noqa: S608 - the text is ours
    return bool(base.execute(query).fetchall())


def is_comparable(condition: Condition) -> bool:  # noqa: PLR0911 - a return for each difference
    """Return whether SQLite means the same by a condition: with operands of one type each."""
    for part in walked(condition):
        match part:
            # Two minus signs begin a comment.
            case Negative(signs=2):
                return False
            case NewId() | Named() | Property(scope="sys") | Constant(value=None | bool()):
                return False
            case Constant(value=int() | float() as value) if abs(value) > 2**53:
                return False
            case Compare(operator=sign, left=left, right=right):
                kinds = {kind(left), kind(right)}
                if len(kinds) > 1 or (kinds == {str} and sign not in ("=", "<>", "!=")):
                    return False
            case In(term=term, options=options):
                if len({kind(term), *map(kind, options)}) > 1:
                    return False
            case Like(term=term, pattern=pattern, escape=escape):
                signs = escape is None or (escape, pattern) != (Constant("!"), Constant("!a"))
                if {kind(term), kind(pattern)} != {str} or not signs or escape == Constant("!!"):
                    return False
            # SQLite makes whole numbers of the operands of %.
            case Arithmetic(steps=steps) if any(step.operator == "%" for step in steps):
                return False
            case _ if type(part).__name__ == "Exists":
                return False
    return True


def kind(term: Term) -> type:
    if isinstance(term, Constant):
        return str if isinstance(term.value, str) else float
    text = isinstance(term, Property) and term.name.lower() in ("color", "shop.type")
    return str if text and not isinstance(term, Negative) else float


def test_sqlite_has_the_same_opinion_where_the_languages_agree() -> None:
    compared: Counter[bool] = Counter()

    @settings(max_examples=400, database=None)
    @given(CONDITION_TREES, MARKS)
    def compare(tree: Condition, number: int) -> None:
        if is_comparable(tree):
            message = mark_message(Message(body="m"), number)
            ours = takes(SqlFilter(expression=written(tree)), message, readings=OURS) is True
            assert ours is opinion(tree, dict(message.properties)), written(tree)
            compared[ours] += 1

    compare()
    assert min(compared[True], compared[False]) > 5, compared
