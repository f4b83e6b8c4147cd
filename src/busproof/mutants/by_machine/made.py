"""Generated mutants: the model with one place of one rule changed.

Faults written by hand look like faults. Here each condition, comparison, effect, error and number
of the model's rules is changed in turn, so that mutants that survive show where no test looks. A
changed effect also has variants that are limited to one context, such as an outage.

Mutation tools such as mutmut and cosmic-ray write each mutant to a file and start the tests anew.
Here a mutant is a class of rules in the running process, which answers a scenario within a
millisecond, and can be right outside of its context.
"""

import ast
import hashlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, wraps
from types import ModuleType
from typing import Any, Final

import attrs

from busproof.errors import UsageError
from busproof.model import FAMILIES as OWN
from busproof.model import Families, Family
from busproof.mutants.by_machine.contexts import applies, contexts_for
from busproof.mutants.by_machine.operators import EFFECTS, Change, changes_of
from busproof.mutants.mutant import memory

__all__ = [
    "FAMILIES",
    "GeneratedMutant",
    "families_of",
    "families_reporting",
    "find_mutant",
    "generate_mutants",
]

FAMILIES: Final = tuple(OWN)

Path = tuple[tuple[str, int | None], ...]
"""The way to a node of a syntax tree: names of fields, each with a place if it is a list."""


@attrs.frozen(kw_only=True)
class GeneratedMutant:
    """The model with one place changed.

    Attributes:
        id: family, function, operator and a digest of the changed code, such as
            `keys.place.condition-negated.1d0c5a`, so that changes elsewhere leave it as it is;
            a number follows if the function has the same code before, then `@` and a context.
        family: of the rule.
        function: of the family's module, or a constant of it.
        operator: the kind of change.
        context: limits the change; empty if it always applies.
        line: its line.
        lines: lines of the family's module; one of them runs wherever the change matters.
        before: the code there.
        after: the code in its place.
    """

    id: str
    family: str
    function: str
    operator: str
    context: str = ""
    line: int
    lines: frozenset[int] = attrs.field(repr=False)
    before: str
    after: str
    path: Path = attrs.field(repr=False)
    change: Change = attrs.field(repr=False, eq=False)


@cache
def generate_mutants(family: str) -> tuple[GeneratedMutant, ...]:
    """Return the mutants of a family's rules, in the order of the file.

    Raises:
        UsageError: there is no such family.
    """
    if family not in FAMILIES:
        raise UsageError(f"there is no family {family!r}; choose one of {', '.join(FAMILIES)}")
    tree = _tree(family)
    return tuple(
        mutant
        for path, statement in _statements(tree)
        if (name := _name_of(statement)) is not None
        for mutant in _mutants(family, name, statement, path, tree)
    )


def find_mutant(identity: str) -> GeneratedMutant:
    """Return the mutant of this id.

    Raises:
        UsageError: there is none.
    """
    mutants = generate_mutants(identity.partition(".")[0])
    named = next((mutant for mutant in mutants if mutant.id == identity), None)
    if named is None:
        raise UsageError(f"there is no generated mutant {identity!r}")
    return named


def families_of(mutant: GeneratedMutant) -> Families:
    """Return the family that has the change of a mutant."""
    tree = _tree(mutant.family)
    _put(tree, mutant.path, mutant.change)
    own = OWN[mutant.family]
    module = ModuleType(own.__module__)
    before = sys.modules[own.__module__]
    sys.modules[own.__module__] = module  # attrs looks up a class' module
    try:
        exec(compile(ast.fix_missing_locations(tree), own.__module__, "exec"), module.__dict__)  # noqa: S102 - our model, changed
    finally:
        sys.modules[own.__module__] = before
    changed: type[Family] = getattr(module, own.__name__)
    if mutant.context:
        changed = _in_context(mutant.context, own, changed)
    return {mutant.family: changed}


def families_reporting(mutant: GeneratedMutant, report: Callable[[], None]) -> Families:
    """Return the family, which calls `report` wherever the mutant would be wrong.

    The mutant's function must be a method; otherwise any call of its family counts.
    """
    own = OWN[mutant.family]
    methods = dict(_methods(own))
    concerned = [mutant.function] if mutant.function in methods else list(methods)
    reporting = {name: _reporting(methods[name], report) for name in concerned}
    changed = type(own.__name__, (own,), reporting)
    if mutant.context:
        changed = _in_context(mutant.context, own, changed)
    return {mutant.family: changed}


def _methods(family: type[Family]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the rules of a family, except static ones, which have no context."""
    for name, member in vars(family).items():
        if inspect.isfunction(member):
            yield name, member


def _reporting(method: Callable[..., Any], report: Callable[[], None]) -> Callable[..., Any]:
    @wraps(method)
    def method_reporting(*args: Any, **named: Any) -> Any:
        report()
        return method(*args, **named)

    return method_reporting


def _in_context(context: str, own: type[Family], changed: type[Family]) -> type[Family]:
    """Return a family whose methods are the changed ones inside the context only."""
    methods = {
        name: _either(context, method, getattr(changed, name)) for name, method in _methods(own)
    }
    return type(own.__name__, (own,), methods)


def _either(
    context: str, own: Callable[..., Any], changed: Callable[..., Any]
) -> Callable[..., Any]:
    @wraps(own)
    def method(self: Family, *args: Any, **named: Any) -> Any:
        namespace: Any = self.namespace
        calls = memory(namespace, Counter[str])
        calls[own.__name__] += 1
        holds = applies(context, namespace, args, calls[own.__name__])
        return (changed if holds else own)(self, *args, **named)

    return method


def _mutants(
    family: str, name: str, root: ast.stmt, path: Path, tree: ast.Module
) -> Iterator[GeneratedMutant]:
    alike: Counter[str] = Counter()
    for way, node, statement in _nodes(root, path, root):
        for operator, change in changes_of(node):
            before, after = _show_change(node, ast.fix_missing_locations(change(node)))
            code = _digest(_head(statement), before, after)
            identity = f"{family}.{name}.{operator}.{code}"
            alike[identity] += 1
            if alike[identity] > 1:
                identity += f".{alike[identity]}"
            mutant = GeneratedMutant(
                id=identity,
                family=family,
                function=name,
                operator=operator,
                line=getattr(node, "lineno", root.lineno),
                lines=_uses(name, tree) if name.isupper() else _lines(node, root),
                before=before,
                after=after,
                path=way,
                change=change,
            )
            yield mutant
            for context in contexts_for(_parameters(root)) if operator in EFFECTS else ():
                yield attrs.evolve(mutant, id=f"{mutant.id}@{context}", context=context)


def _statements(tree: ast.Module) -> Iterator[tuple[Path, ast.stmt]]:
    """Yield the statements of a module, with those of a class in its place, and their paths."""
    for number, statement in enumerate(tree.body):
        path: Path = (("body", number),)
        if isinstance(statement, ast.ClassDef):
            for place, member in enumerate(statement.body):
                yield (*path, ("body", place)), member
        else:
            yield path, statement


def _name_of(statement: ast.stmt) -> str | None:
    """Return the name of the function, or the constant with a number, that a statement defines."""
    match statement:
        case ast.FunctionDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)) if name.isupper():
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) if name.isupper():
            return name
    return None


def _parameters(root: ast.stmt) -> list[str]:
    if not isinstance(root, ast.FunctionDef):
        return []
    return [parameter.arg for parameter in root.args.args]


def _nodes(
    root: ast.AST, path: Path, statement: ast.stmt
) -> Iterator[tuple[Path, ast.AST, ast.stmt]]:
    """Yield the nodes of a function or statement that run, without annotations and defaults.

    Each node comes with its path and its statement.
    """
    yield path, root, statement
    for name, value in ast.iter_fields(root):
        declares = name in ("annotation", "returns", "decorator_list")
        if declares or (name == "args" and isinstance(root, ast.FunctionDef)):
            continue
        children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for number, child in children:
            if isinstance(child, ast.AST):
                within = child if isinstance(child, ast.stmt) else statement
                yield from _nodes(child, (*path, (name, number)), within)


def _lines(node: ast.AST, root: ast.stmt) -> frozenset[int]:
    """Return the lines of a node; of a statement with a body, only its first line."""
    first = getattr(node, "lineno", root.lineno)
    last = first if hasattr(node, "body") else getattr(node, "end_lineno", first)
    return frozenset(range(first, last + 1))


def _uses(name: str, tree: ast.Module) -> frozenset[int]:
    """Return the lines that use a constant."""
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
    return frozenset(node.lineno for node in names if isinstance(node.ctx, ast.Load))


def _show_change(node: ast.AST, new: ast.AST) -> tuple[str, str]:
    """Return the code before and after a change; if the order was changed, the moved statements."""
    before = _head(node)
    after = _head(new)
    if before == after:
        pairs = zip(node.body, new.body, strict=True)  # type: ignore[attr-defined]  # only blocks are reordered
        moved = [pair for pair in pairs if pair[0] is not pair[1]]
        before, after = ("; ".join(map(_head, half)) for half in zip(*moved, strict=True))
    return before, after


def _head(node: ast.AST) -> str:
    """Return the code of a node; of a statement with a body, only its first line."""
    return ast.unparse(node).partition("\n")[0]


def _digest(*code: str) -> str:
    return hashlib.sha256("\0".join(code).encode()).hexdigest()[:6]


def _put(root: ast.AST, path: Path, change: Change) -> None:
    node: Any = root
    for name, number in path[:-1]:
        node = getattr(node, name) if number is None else getattr(node, name)[number]
    name, number = path[-1]
    if number is None:
        setattr(node, name, change(getattr(node, name)))
    else:
        getattr(node, name)[number] = change(getattr(node, name)[number])


def _tree(family: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[OWN[family].__module__]))
