"""The class of mutants, and the decorator that collects them."""

import inspect
from collections.abc import Callable, Mapping
from itertools import chain
from types import ModuleType
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import attrs

from busproof import vocabulary as v
from busproof.model.rules import RULES, Rules
from busproof.model.state import Namespace
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
        id: a slug.
        rule: id of the rule that is broken; a test of that very rule must kill the mutant.
        summary: the fault, in a sentence.
        family: name of its module.
        rules: the model's rules with the fault.
        run: the shortest run that shows the fault, in a namespace of `runs.PARTITIONS` partitions.
        readings: other than the default ones, if `run` needs them to show it to the judge.
        needs: the capabilities that it declares beyond those of the model.
        deep: whether it shows only in a longer or a rarer run of commands.
        equivalent: why no test can distinguish it from a conforming bus; empty if one can.
        literal: whether no single answer breaks a rule, and only a scenario's own words detect it:
            an event without a time limit never comes.
    """

    id: str
    rule: v.RuleId
    summary: str
    family: str
    rules: Rules
    run: Run
    readings: Mapping[str, str] = AS_USUAL
    needs: frozenset[v.Capability] = frozenset()
    deep: bool = False
    equivalent: str = ""
    literal: bool = False


_COLLECTED: Final[dict[str, list[Mutant]]] = {}
"""The mutants of each module, in their order."""
_RUNS: Final[dict[Rule, Run]] = {}
"""The runs of functions that are about to become mutants."""


def run(*requests: Request) -> Callable[[Function], Function]:
    """Return the decorator of a mutant's function that has its run, where that is long."""

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
    """Return the decorator of a function that breaks a rule.

    Its name becomes the mutant's id, its docstring describes the fault. It names those arguments of
    the rule that it needs, as a test of pytest names its fixtures; or it takes all of them, at
    their places. It may call the model's own rule as `RULES.family.rule`.

    Args:
        rule: id of the rule that is broken.
        replaces: the replaced function of the model, as `family.function`; none if the fault is not
            in the bus.
        run: the shortest run that shows it; none if the decorator `run` has it.
        how: combines the function and the rule that it replaces; without, the function itself is
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
            rules=replaced({**places, **(also or {})}),
            run=run or _RUNS.pop(function, ()),
            **more,
        )
        _COLLECTED.setdefault(module, []).append(collected)
        return function

    return collect


def beside(place: str, how: Wrapper | None = None) -> Callable[[Rule], Mapping[str, Rule]]:
    """Return the decorator of a function that replaces another rule: it makes it a value of `also`.

    Args:
        place: the replaced function of the model, as `family.function`.
        how: combines the function and the rule, as for `mutant`.
    """
    return lambda function: {place: _replacement(place, function, how)}


def mutants_of(*modules: ModuleType) -> tuple[Mutant, ...]:
    """Return the mutants of these modules, in their order."""
    return tuple(chain.from_iterable(_COLLECTED[module.__name__] for module in modules))


def _replacement(place: str, function: Rule, how: Wrapper | None) -> Rule:
    """Return what stands at a place of the model's rules instead of its own rule."""
    family, _, name = place.partition(".")
    usual = getattr(getattr(RULES, family), name)
    named = _by_name(place, list(inspect.signature(usual).parameters), function)
    return named if how is None else how(usual, named)


def _by_name(place: str, names: list[str], function: Rule) -> Rule:
    """Return a function of all arguments of a rule that gives a function those that it names.

    Raises:
        TypeError: the rule has no such argument.
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
        given = {**dict(zip(names, args, strict=False)), **more}
        return function(**{name: given[name] for name in wanted if name in given})

    return call


def replaced(places: Mapping[str, Callable[..., Any]]) -> Rules:
    """Return the model's rules with some functions replaced."""
    rules = RULES
    for place, function in places.items():
        family, _, name = place.partition(".")
        changed = attrs.evolve(getattr(rules, family), **{name: function})
        rules = attrs.evolve(rules, **{family: changed})
    return rules


_MEMORIES: Final[WeakKeyDictionary[Namespace, Any]] = WeakKeyDictionary()


def memory(namespace: Namespace, kind: Callable[[], Kept]) -> Kept:
    """Return a mutant's extra state, which is new in each namespace.

    A refusal does not undo it.
    """
    kept: Kept = _MEMORIES.setdefault(namespace, kind())
    return kept
