"""Wrappers: how the function of a mutant and the rule that it replaces work together.

Each wrapper takes the model's own rule and the mutant's function, and makes the replacement from
both. Without a wrapper, the mutant's function is the replacement.
"""

import inspect
from collections.abc import Callable
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.values import Refusal

Rule = Callable[..., Any]
Wrapper = Callable[[Rule, Rule], Rule]
USUAL: Final = "usual"
"""Name of the argument that holds the usual answer."""
Cause = v.RuleId | v.Error
"""Why something is refused: a rule that says so, or the error that the client sees."""


def asks(usual: Rule, change: Rule) -> Rule:
    """Apply the rule to another command, which the function makes from the real one."""

    def replacement(namespace: Any, command: Any, *rest: Any) -> Any:
        return usual(namespace, change(namespace, command, *rest), *rest)

    return replacement


def with_other(name: str) -> Wrapper:
    """Apply the rule with another value of this argument, which the function returns."""

    def wrap(usual: Rule, change: Rule) -> Rule:
        place = list(inspect.signature(usual).parameters).index(name)

        def replacement(*args: Any, **named: Any) -> Any:
            return usual(*args[:place], change(*args, **named), *args[place + 1 :], **named)

        return replacement

    return wrap


def alters(usual: Rule, change: Rule) -> Rule:
    """Answer with what the function returns; its argument `usual` is the rule's own answer."""

    def replacement(*args: Any, **named: Any) -> Any:
        return change(*args, **named, **{USUAL: usual(*args, **named)})

    return replacement


def tells(name: str) -> Wrapper:
    """Replace one field of the outcome by what the function returns for its `usual` value."""

    def wrap(usual: Rule, change: Rule) -> Rule:
        def replacement(*args: Any, **named: Any) -> Any:
            answer = usual(*args, **named)
            if hasattr(answer.outcome, name):
                value = change(*args, **named, **{USUAL: getattr(answer.outcome, name)})
                answer.outcome = attrs.evolve(answer.outcome, **{name: value})
            return answer

        return replacement

    return wrap


def does(wrong: Rule, where: Callable[[Any], bool] | None = None) -> Wrapper:
    """Call `wrong` instead of the rule, for every entity or for those that `where` selects."""

    def wrap(usual: Rule, _: Rule) -> Rule:
        def replacement(namespace: Any, entity: Any, *rest: Any, **named: Any) -> Any:
            function = wrong if where is None or where(entity) else usual
            return function(namespace, entity, *rest, **named)

        return replacement

    return wrap


def instead(usual: Rule, answer: Rule) -> Rule:
    """Answer by the function, and by the rule if the function returns nothing."""

    def replacement(*args: Any, **named: Any) -> Any:
        wrong = answer(*args, **named)
        return usual(*args, **named) if wrong is None else wrong

    return replacement


def afterwards(usual: Rule, effect: Rule) -> Rule:
    """Apply the rule, and then the function."""

    def replacement(*args: Any, **named: Any) -> Any:
        answer = usual(*args, **named)
        effect(*args, **named)
        return answer

    return replacement


def beforehand(usual: Rule, effect: Rule) -> Rule:
    """Apply the function, and then the rule."""

    def replacement(*args: Any, **named: Any) -> Any:
        effect(*args, **named)
        return usual(*args, **named)

    return replacement


def only_where(usual: Rule, holds: Rule) -> Rule:
    """Apply the rule only where the function returns true, and do nothing elsewhere."""

    def replacement(*args: Any, **named: Any) -> Any:
        return usual(*args, **named) if holds(*args, **named) else None

    return replacement


def refuses(rule: v.RuleId, error: v.Error = v.Error.INVALID_OPERATION) -> Wrapper:
    """Refuse by this rule where the function returns true."""

    def wrap(usual: Rule, refused: Rule) -> Rule:
        def replacement(*args: Any, **named: Any) -> Any:
            if refused(*args, **named):
                raise Refusal(error, rule)
            return usual(*args, **named)

        return replacement

    return wrap


def refuses_as(error: v.Error, cause: Cause | None = None) -> Wrapper:
    """Refuse with another error what the rule refuses for this cause, or for any."""

    def wrap(usual: Rule, _: Rule) -> Rule:
        def replacement(*args: Any) -> Any:
            try:
                return usual(*args)
            except Refusal as refusal:
                if not _is_for(cause, refusal):
                    raise
                raise Refusal(error, *refusal.rules) from None

        return replacement

    return wrap


def instead_of(cause: Cause) -> Wrapper:
    """Answer by the function where the rule refuses for this cause."""

    def wrap(usual: Rule, otherwise: Rule) -> Rule:
        def replacement(*args: Any) -> Any:
            try:
                return usual(*args)
            except Refusal as refusal:
                if not _is_for(cause, refusal):
                    raise
                return otherwise(*args)

        return replacement

    return wrap


def refuses_yet(cause: Cause | None = None, *, in_transactions: bool = True) -> Wrapper:
    """Apply the function when the rule refuses for this cause, or for any; the effect stays."""

    def wrap(usual: Rule, effect: Rule) -> Rule:
        def replacement(namespace: Any, command: Any, *rest: Any) -> Any:
            try:
                return usual(namespace, command, *rest)
            except Refusal as refusal:
                is_buffered = not in_transactions and command.transaction is not None
                if is_buffered or not _is_for(cause, refusal):
                    raise
                effect(namespace, command, *rest)
                return Answer(v.Refused(error=refusal.error), rules=refusal.rules)

        return replacement

    return wrap


def _is_for(cause: Cause | None, refusal: Refusal) -> bool:
    return cause is None or cause is refusal.error or cause in refusal.rules
