"""Operators that change a rule by machine: each makes another node from one of its syntax tree.

The names of the operators are parts of the names of mutants.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

__all__ = ["EFFECTS", "Change", "changes_of"]

Change = Callable[[Any], ast.AST]
"""Makes the new node from the old one, which it leaves as it is."""

EFFECTS: Final = frozenset({"condition-negated", "effect-dropped", "refusal-dropped"})
"""The operators that change what is done, and not only for some value."""

COMPARISONS: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: Final[Mapping[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
}
FUNCTIONS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


def changes_of(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield each change of a node, with the name of its operator."""
    yield from _changes_of_statement(node)
    yield from _changes_of_expression(node)
    body: Any = getattr(node, "body", None)
    for place in range(1, len(body) if isinstance(body, list) else 0):
        if _is_effect(body[place]) and _may_follow(body[place - 1]):
            yield "effect-too-soon", _move_up(place)


def _changes_of_statement(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.If() | ast.While():
            yield "condition-negated", _negate_condition
            if isinstance(node, ast.If) and not node.orelse:
                yield "condition-dropped", lambda old: _change_fields(old, test=ast.Constant(True))
        case ast.Raise():
            yield "refusal-dropped", _drop_statement
        case ast.For():
            yield "loop-dropped", _drop_loop
        case _ if _is_effect(node):
            yield "effect-dropped", _drop_statement


def _changes_of_expression(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.IfExp():
            yield "condition-negated", _negate_condition
        case ast.comprehension():
            yield "loop-dropped", _drop_loop
        case ast.BoolOp():
            for number in range(len(node.values)):
                yield "part-dropped", _drop_part(number)
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and-for-or", lambda old: _change_fields(old, op=other)
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield "comparison-changed", _change_comparison
        case ast.BinOp(op=operation) if type(operation) in ARITHMETIC:
            yield (
                "arithmetic-changed",
                lambda old: _change_fields(old, op=ARITHMETIC[type(old.op)]()),
            )
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            other_function = ast.Name(FUNCTIONS[name], ast.Load())
            yield "function-exchanged", lambda old: _change_fields(old, func=other_function)
        case ast.Attribute(value=ast.Attribute(attr="Error")):
            other_error = "INVALID_OPERATION" if node.attr == "OTHER" else "OTHER"
            yield "error-exchanged", lambda old: _change_fields(old, attr=other_error)
        case ast.Constant(value=bool()):
            yield "truth-negated", lambda old: ast.Constant(not old.value)
        case ast.Constant(value=int()):
            yield "number-raised", lambda old: ast.Constant(old.value + 1)
            yield "number-lowered", lambda old: ast.Constant(old.value - 1)


def _is_effect(node: ast.AST) -> bool:
    """Return whether a statement changes the state, as far as its form shows."""
    match node:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.Assign(targets=[ast.Attribute()]) | ast.AugAssign(target=ast.Attribute()):
            return True
    return False


def _may_follow(node: ast.AST) -> bool:
    """Return whether a statement binds no name that the next one could need."""
    return _is_effect(node) or isinstance(node, ast.If)


def _change_fields(node: Any, **changed: Any) -> ast.AST:
    made: ast.AST = type(node)(**{**dict(ast.iter_fields(node)), **changed})
    return ast.copy_location(made, node)


def _negate_condition(node: Any) -> ast.AST:
    return _change_fields(node, test=ast.UnaryOp(ast.Not(), node.test))


def _drop_part(number: int) -> Change:
    def change(node: Any) -> ast.AST:
        left = [value for place, value in enumerate(node.values) if place != number]
        return _change_fields(node, values=left) if len(left) > 1 else left[0]

    return change


def _change_comparison(node: Any) -> ast.AST:
    return _change_fields(node, ops=[COMPARISONS[type(node.ops[0])]()])


def _drop_statement(node: Any) -> ast.AST:
    return ast.copy_location(ast.Pass(), node)


def _drop_loop(node: Any) -> ast.AST:
    return _change_fields(node, iter=ast.Tuple([], ast.Load()))


def _move_up(place: int) -> Change:
    def change(node: Any) -> ast.AST:
        before = node.body[place - 1]
        after = node.body[place]
        return _change_fields(
            node, body=[*node.body[: place - 1], after, before, *node.body[place + 1 :]]
        )

    return change
