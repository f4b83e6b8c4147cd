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
    yield from _of_statement(node)
    yield from _of_expression(node)
    body: Any = getattr(node, "body", None)
    for place in range(1, len(body) if isinstance(body, list) else 0):
        if _is_effect(body[place]) and _may_follow(body[place - 1]):
            yield "effect-too-soon", _moved_up(place)


def _of_statement(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.If() | ast.While():
            yield "condition-negated", _negated
            if isinstance(node, ast.If) and not node.orelse:
                yield "condition-dropped", lambda old: _with(old, test=ast.Constant(True))
        case ast.Raise():
            yield "refusal-dropped", _nothing
        case ast.For():
            yield "loop-dropped", _empty
        case _ if _is_effect(node):
            yield "effect-dropped", _nothing


def _of_expression(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.IfExp():
            yield "condition-negated", _negated
        case ast.comprehension():
            yield "loop-dropped", _empty
        case ast.BoolOp():
            for number in range(len(node.values)):
                yield "part-dropped", _without(number)
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and-for-or", lambda old: _with(old, op=other)
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield "comparison-changed", _compared
        case ast.BinOp(op=operation) if type(operation) in ARITHMETIC:
            yield "arithmetic-changed", lambda old: _with(old, op=ARITHMETIC[type(old.op)]())
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            other_function = ast.Name(FUNCTIONS[name], ast.Load())
            yield "function-exchanged", lambda old: _with(old, func=other_function)
        case ast.Attribute(value=ast.Attribute(attr="Error")):
            other_error = "INVALID_OPERATION" if node.attr == "OTHER" else "OTHER"
            yield "error-exchanged", lambda old: _with(old, attr=other_error)
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


def _with(node: Any, **changed: Any) -> ast.AST:
    made: ast.AST = type(node)(**{**dict(ast.iter_fields(node)), **changed})
    return ast.copy_location(made, node)


def _negated(node: Any) -> ast.AST:
    return _with(node, test=ast.UnaryOp(ast.Not(), node.test))


def _without(number: int) -> Change:
    def change(node: Any) -> ast.AST:
        left = [value for place, value in enumerate(node.values) if place != number]
        return _with(node, values=left) if len(left) > 1 else left[0]

    return change


def _compared(node: Any) -> ast.AST:
    return _with(node, ops=[COMPARISONS[type(node.ops[0])]()])


def _nothing(node: Any) -> ast.AST:
    return ast.copy_location(ast.Pass(), node)


def _empty(node: Any) -> ast.AST:
    return _with(node, iter=ast.Tuple([], ast.Load()))


def _moved_up(place: int) -> Change:
    def change(node: Any) -> ast.AST:
        before, after = node.body[place - 1], node.body[place]
        return _with(node, body=[*node.body[: place - 1], after, before, *node.body[place + 1 :]])

    return change
