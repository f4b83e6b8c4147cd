"""The class of mutants, and the decorators that make and collect them."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import ModuleType
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import attrs

from busproof import vocabulary as v
from busproof.model import FAMILIES, Families, Family
from busproof.model.state import NamespaceState
from busproof.mutants.runs import Request, Run

Fault = TypeVar("Fault", bound=type)
Kept = TypeVar("Kept")

AS_USUAL: Final[Mapping[str, str]] = {}
AMQP: Final = frozenset({v.Capability.AMQP})
"""What a fault of FEAT-05 to FEAT-17 needs: these rules are about buses that speak AMQP."""
HTTP: Final = frozenset({v.Capability.HTTP})
"""What a fault of PART-25 needs: this rule is about buses that are reached over HTTP."""


@attrs.frozen(kw_only=True)
class Mutant:
    """The model with one rule replaced, so that it breaks this rule.

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
        by_step: why only a step of a scenario notices it, and the judge does not; empty if it does.
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
    by_step: str = ""
    literal: bool = False


_COLLECTED: Final[dict[str, list[Mutant]]] = {}
"""The mutants of each module, in their order."""
_RUNS: Final[dict[type, Run]] = {}
"""The runs of classes that become mutants next."""


def run(*requests: Request) -> Callable[[Fault], Fault]:
    """Return a decorator that gives a mutant a run too long for `mutant`."""

    def remember(fault: Fault) -> Fault:
        _RUNS[fault] = requests
        return fault

    return remember


def mutant(
    rule: v.RuleId, run: Run = (), *, also: Sequence[type[Family]] = (), **more: Any
) -> Callable[[Fault], Fault]:
    """Return a decorator that makes a mutant from a class that breaks a rule.

    The class is a subclass of a family, which overrides one rule, and may call the model's own as
    `super()`. Its name becomes the mutant's id, and its docstring the description of the fault. A
    class that belongs to no family only names the fault: what is wrong is in `also`.

    Args:
        rule: the id of the rule that the mutant breaks.
        run: the shortest run that shows the fault; empty if the decorator `run` names it.
        also: other classes that the fault needs, such as one that remembers something.
        more: other attributes of the mutant.
    """

    def collect(fault: Fault) -> Fault:
        own: list[type[Family]] = [fault] if issubclass(fault, Family) else []
        collected = Mutant(
            id=re.sub("(?<!^)(?=[A-Z])", "-", fault.__name__).lower(),
            rule=rule,
            summary=fault.__doc__ or "",
            family=fault.__module__.rpartition(".")[2],
            families=replacing(*own, *also),
            run=run or _RUNS.pop(fault, ()),
            **more,
        )
        _COLLECTED.setdefault(fault.__module__, []).append(collected)
        return fault

    return collect


def own_name(kind: type[Family]) -> str:
    """Return the name of the family that a class belongs to."""
    return next(name for name, own in FAMILIES.items() if issubclass(kind, own))


def replacing(*classes: type[Family]) -> Families:
    """Return the families that these classes replace, each by one that has all of their methods."""
    families: dict[str, type[Family]] = {}
    for kind in classes:
        name = own_name(kind)
        known = families.get(name)
        families[name] = kind if known is None else type(known.__name__, (known, kind), {})
    return families


def mutants_of(*modules: ModuleType) -> tuple[Mutant, ...]:
    """Return the mutants of these modules, in the order of definition."""
    return tuple(chain.from_iterable(_COLLECTED[module.__name__] for module in modules))


_MEMORIES: Final[WeakKeyDictionary[NamespaceState, Any]] = WeakKeyDictionary()


def memory(namespace: NamespaceState, kind: Callable[[], Kept]) -> Kept:
    """Return a mutant's extra state, which is new in each namespace.

    A refusal does not undo it.
    """
    kept: Kept = _MEMORIES.setdefault(namespace, kind())
    return kept
