"""Decorators of a fault's method: how it and the rule that it replaces work together.

Each decorator combines the method with the model's own rule, `super()`. The method takes only those
of the rule's parameters that it needs, by name, as fixtures of pytest do; or all of them in order,
if the last one is `*rest`. Without a decorator, the method itself is the replacement.
"""

import inspect
from collections.abc import Callable
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model import FAMILIES, Family
from busproof.model.answers import Answer
from busproof.model.values import Refusal

Rule = Callable[..., Any]
How = Callable[[Rule, Rule], Rule]
"""Makes the replacement from the model's own rule and the method, both bound."""
Decorator = Callable[[Rule], Any]
USUAL: Final = "usual"
"""Name of the parameter that gets the usual answer."""
Cause = v.RuleId | v.Error
"""Why something is refused: a rule that says so, or the error that the client sees."""


class _Combined:
    """A method that becomes the replacement of a rule once its class is known."""

    def __init__(self, change: Rule, how: How) -> None:
        self._change = change
        self._how = how

    def __set_name__(self, owner: type[Family], name: str) -> None:
        how = self._how
        usual = getattr(owner.__mro__[1], name)
        change = _by_name(f"{owner.__name__}.{name}", usual, self._change)

        def method(family: Family, *args: Any, **named: Any) -> Any:
            own = getattr(super(owner, family), name)
            return how(own, change.__get__(family))(*args, **named)

        setattr(owner, name, method)


def _by_name(place: str, rule: Rule, change: Rule) -> Any:
    """Return a method with all parameters of a rule, which passes on those that `change` has.

    Raises:
        TypeError: the method has a parameter that the rule lacks.
    """
    signature = inspect.signature(change).parameters
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in signature.values()):
        return change
    names = [name for name in inspect.signature(rule).parameters if name != "self"]
    wanted = [name for name in signature if name != "self"]
    if unknown := sorted({*wanted} - {*names, USUAL}):
        raise TypeError(f"{place} wants {unknown}; the rule has {names}")

    def call(family: Family, *args: Any, **more: Any) -> Any:
        arguments = {**dict(zip(names, args, strict=False)), **more}
        return change(family, **{name: arguments[name] for name in wanted if name in arguments})

    return call


def decorator(how: How) -> Decorator:
    """Return the decorator of a method that is combined with the rule in this way."""
    return lambda change: _Combined(change, how)


@decorator
def asks(usual: Rule, change: Rule) -> Rule:
    """Apply the rule to another command, which the method makes from the real one."""

    def replacement(command: Any, *rest: Any) -> Any:
        return usual(change(command, *rest), *rest)

    return replacement


def with_other(name: str) -> Decorator:
    """Apply the rule with another value of this argument, which the method returns."""

    def how(usual: Rule, change: Rule) -> Rule:
        def replacement(*args: Any, **named: Any) -> Any:
            bound = inspect.signature(usual).bind(*args, **named)
            bound.arguments[name] = change(*args, **named)
            return usual(*bound.args, **bound.kwargs)

        return replacement

    return decorator(how)


@decorator
def alters(usual: Rule, change: Rule) -> Rule:
    """Answer with what the method returns; its parameter `usual` is the rule's own answer."""

    def replacement(*args: Any, **named: Any) -> Any:
        return change(*args, **named, **{USUAL: usual(*args, **named)})

    return replacement


def tells(name: str) -> Decorator:
    """Replace one field of the outcome by what the method returns for its `usual` value."""

    def how(usual: Rule, change: Rule) -> Rule:
        def replacement(*args: Any, **named: Any) -> Any:
            answer = usual(*args, **named)
            if hasattr(answer.outcome, name):
                value = change(*args, **named, **{USUAL: getattr(answer.outcome, name)})
                answer.outcome = attrs.evolve(answer.outcome, **{name: value})
            return answer

        return replacement

    return decorator(how)


def where(holds: Callable[[Any], bool]) -> Any:
    """Keep the fault of the base class for such entities only: the value of a class attribute."""
    return _Where(holds)


class _Where:
    """A method that is the fault's for some entities, and the model's own for others."""

    def __init__(self, holds: Callable[[Any], bool]) -> None:
        self._holds = holds

    def __set_name__(self, owner: type[Family], name: str) -> None:
        own = next(kind for kind in FAMILIES.values() if issubclass(owner, kind))
        usual = getattr(own, name)
        holds = self._holds

        def method(family: Family, entity: Any, *rest: Any, **named: Any) -> Any:
            if holds(entity):
                return getattr(super(owner, family), name)(entity, *rest, **named)
            return usual(family, entity, *rest, **named)

        setattr(owner, name, method)


@decorator
def instead(usual: Rule, answer: Rule) -> Rule:
    """Answer by the method, and by the rule if the method returns nothing."""

    def replacement(*args: Any, **named: Any) -> Any:
        wrong = answer(*args, **named)
        return usual(*args, **named) if wrong is None else wrong

    return replacement


@decorator
def afterwards(usual: Rule, effect: Rule) -> Rule:
    """Apply the rule, and then the method."""

    def replacement(*args: Any, **named: Any) -> Any:
        answer = usual(*args, **named)
        effect(*args, **named)
        return answer

    return replacement


@decorator
def beforehand(usual: Rule, effect: Rule) -> Rule:
    """Apply the method, and then the rule."""

    def replacement(*args: Any, **named: Any) -> Any:
        effect(*args, **named)
        return usual(*args, **named)

    return replacement


@decorator
def only_where(usual: Rule, holds: Rule) -> Rule:
    """Apply the rule only where the method returns true, and do nothing elsewhere."""

    def replacement(*args: Any, **named: Any) -> Any:
        return usual(*args, **named) if holds(*args, **named) else None

    return replacement


def refuses(rule: v.RuleId, error: v.Error = v.Error.INVALID_OPERATION) -> Decorator:
    """Refuse by this rule where the method returns true."""

    def how(usual: Rule, refused: Rule) -> Rule:
        def replacement(*args: Any, **named: Any) -> Any:
            if refused(*args, **named):
                raise Refusal(error, rule)
            return usual(*args, **named)

        return replacement

    return decorator(how)


def refuses_as(error: v.Error, cause: Cause | None = None) -> Decorator:
    """Refuse with another error what the rule refuses for this cause, or for any."""

    def how(usual: Rule, _: Rule) -> Rule:
        def replacement(*args: Any, **named: Any) -> Any:
            try:
                return usual(*args, **named)
            except Refusal as refusal:
                if not _is_for(cause, refusal):
                    raise
                raise Refusal(error, *refusal.rules) from None

        return replacement

    return decorator(how)


def instead_of(cause: Cause) -> Decorator:
    """Answer by the method where the rule refuses for this cause."""

    def how(usual: Rule, otherwise: Rule) -> Rule:
        def replacement(*args: Any, **named: Any) -> Any:
            try:
                return usual(*args, **named)
            except Refusal as refusal:
                if not _is_for(cause, refusal):
                    raise
                return otherwise(*args, **named)

        return replacement

    return decorator(how)


def refuses_yet(cause: Cause | None = None, *, in_transactions: bool = True) -> Decorator:
    """Apply the method when the rule refuses for this cause, or for any; the effect stays."""

    def how(usual: Rule, effect: Rule) -> Rule:
        def replacement(command: Any, *rest: Any) -> Any:
            try:
                return usual(command, *rest)
            except Refusal as refusal:
                is_buffered = not in_transactions and command.transaction is not None
                if is_buffered or not _is_for(cause, refusal):
                    raise
                effect(command, *rest)
                return Answer(v.Refused(error=refusal.error), rules=refusal.rules)

        return replacement

    return decorator(how)


def _is_for(cause: Cause | None, refusal: Refusal) -> bool:
    return cause is None or cause is refusal.error or cause in refusal.rules
