"""The class of mutants, and the decorators that make and collect them."""

import inspect
from collections.abc import Callable, Mapping
from itertools import chain
from types import ModuleType
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import attrs

from busproof import vocabulary as v
from busproof.model import FAMILIES, Families
from busproof.model.state import NamespaceState
from busproof.mutants.own_rules import as_method, own_rule
from busproof.mutants.runs import Request, Run
from busproof.mutants.wrappers import USUAL, Wrapper

Function = TypeVar("Function", bound=Callable[..., Any])
Kept = TypeVar("Kept")

Rule = Callable[..., Any]
AS_USUAL: Final[Mapping[str, str]] = {}


@attrs.frozen(kw_only=True)
class Mutant:
    """The model with one function replaced, so that it breaks one rule.

    Attributes:
        id: its name, in lower case with hyphens.
        rule: the id of the rule that it breaks; a scenario of this rule must kill it.
        summary: the fault, in a sentence.
        family: the name of its module.
        families: the families with the fault, in the place of the model's.
        run: the shortest run that shows the fault, in a namespace of `runs.PARTITIONS` partitions.
        readings: the readings that the judge needs to see the fault in `run`, beside the defaults.
        needs: the capabilities that the mutant declares and the model does not.
        deep: whether the fault shows only in longer or rarer runs.
        equivalent: why no test can distinguish it from a conforming bus; empty if one can.
        literal: whether no single answer breaks a rule, so that only a scenario's own assertion
            notices the fault: something without a time limit never happens.
    """

    id: str
    rule: v.RuleId
    summary: str
    family: str
    families: Families
    run: Run
    readings: Mapping[str, str] = AS_USUAL
    needs: frozenset[v.Capability] = frozenset()
    deep: bool = False
    equivalent: str = ""
    literal: bool = False


_COLLECTED: Final[dict[str, list[Mutant]]] = {}
"""The mutants of each module, in their order."""
_RUNS: Final[dict[Rule, Run]] = {}
"""The runs of functions that become mutants next, by function."""


def run(*requests: Request) -> Callable[[Function], Function]:
    """Return a decorator that gives a mutant's function a run too long for `mutant`."""

    def remember(function: Function) -> Function:
        _RUNS[function] = requests
        return function

    return remember


def mutant(
    rule: v.RuleId,
    replaces: str,
    run: Run = (),
    how: Wrapper | None = None,
    *,
    also: Mapping[str, Rule] | None = None,
    **more: Any,
) -> Callable[[Function], Function]:
    """Return a decorator that makes a mutant from a function that breaks a rule.

    The function's name becomes the mutant's id, and its docstring the description of the fault. Its
    parameters are those of the rule that it needs, by name as for fixtures of pytest, or all of
    them in order. It may call the model's own rule as `RULES.family.rule`.

    Args:
        rule: the id of the rule that the mutant breaks.
        replaces: the replaced function of the model, as `family.function`; empty if the fault is
            not in the bus.
        run: the shortest run that shows the fault; empty if the decorator `run` names it.
        how: the wrapper that combines the function and the rule; without one, the function is
            the replacement.
        also: other replaced functions, each with its replacement.
        more: other attributes of the mutant.
    """

    def collect(function: Function) -> Function:
        places = {replaces: _replacement(replaces, function, how)} if replaces else {}
        module = function.__module__
        collected = Mutant(
            id=function.__name__.replace("_", "-"),
            rule=rule,
            summary=function.__doc__ or "",
            family=module.rpartition(".")[2],
            families=replaced({**places, **(also or {})}),
            run=run or _RUNS.pop(function, ()),
            **more,
        )
        _COLLECTED.setdefault(module, []).append(collected)
        return function

    return collect


def beside(place: str, how: Wrapper | None = None) -> Callable[[Rule], Mapping[str, Rule]]:
    """Return a decorator that makes a value for `also` from a function that replaces another rule.

    Args:
        place: the replaced function of the model, as `family.function`.
        how: the wrapper that combines the function and the rule, as for `mutant`.
    """
    return lambda function: {place: _replacement(place, function, how)}


def mutants_of(*modules: ModuleType) -> tuple[Mutant, ...]:
    """Return the mutants of these modules, in the order of definition."""
    return tuple(chain.from_iterable(_COLLECTED[module.__name__] for module in modules))


def _replacement(place: str, function: Rule, how: Wrapper | None) -> Rule:
    """Return the function that replaces one of the model's rules."""
    family, _, name = place.partition(".")
    usual = own_rule(family, name)
    named = _by_name(place, list(inspect.signature(usual).parameters), function)
    return named if how is None else how(usual, named)


def _by_name(place: str, names: list[str], function: Rule) -> Rule:
    """Return a function with all parameters of a rule, which passes on those that `function` has.

    Raises:
        TypeError: the function has a parameter that the rule lacks.
    """
    wanted = inspect.signature(function).parameters
    takes_all = USUAL not in wanted and len(wanted) == len(names)
    if takes_all or any(
        parameter.kind is parameter.VAR_POSITIONAL for parameter in wanted.values()
    ):
        return function
    if unknown := sorted({*wanted} - {*names, USUAL}):
        raise TypeError(f"{function.__name__} wants {unknown}; {place} has {names}")

    def call(*args: Any, **more: Any) -> Any:
        arguments = {**dict(zip(names, args, strict=False)), **more}
        return function(**{name: arguments[name] for name in wanted if name in arguments})

    return call


def replaced(places: Mapping[str, Rule]) -> Families:
    """Return the families of these rules, as subclasses that have these functions instead."""
    methods: dict[str, dict[str, Any]] = {}
    for place, function in places.items():
        family, _, name = place.partition(".")
        methods.setdefault(family, {})[name] = as_method(family, name, function)
    return {
        family: type(FAMILIES[family].__name__, (FAMILIES[family],), members)
        for family, members in methods.items()
    }


_MEMORIES: Final[WeakKeyDictionary[NamespaceState, Any]] = WeakKeyDictionary()


def memory(namespace: NamespaceState, kind: Callable[[], Kept]) -> Kept:
    """Return a mutant's extra state, which is new in each namespace.

    A refusal does not undo it.
    """
    kept: Kept = _MEMORIES.setdefault(namespace, kind())
    return kept
