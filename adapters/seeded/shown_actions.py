"""The shortest runs in which the faults of actions of rules, and of names, show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import Run, receive, send
from busproof.vocabulary.commands import AddRule, CreateSubscription, CreateTopic
from busproof.vocabulary.subscription_rules import TrueFilter

__all__ = ["SHOWN"]

_ONE: Final[Mapping[str, Any]] = {"topic": "q", "subscription": "one"}
_PAIR: Final[Run] = (CreateTopic(topic="q"), CreateSubscription(**_ONE))


def _rule(action: str | None, name: str = "r") -> AddRule:
    return AddRule(rule=name, filter=TrueFilter(), action=action, **_ONE)


def _all(number: int, subscription: str = "one") -> Run:
    take = receive(delete=True, queue=f"q/subscriptions/{subscription}")
    return (send("m1", properties={"size": 1}), *(take for _ in range(number)))


_ACTING: Final[Run] = (*_PAIR, _rule("SET size = 2"))

SHOWN: Final[Mapping[str, Run]] = {
    "actions-do-nothing": (*_ACTING, *_all(2)),
    "removed-property-stays": (*_PAIR, _rule("REMOVE size"), *_all(2)),
    "first-action-only": (*_ACTING, _rule("SET size = 3", "s"), *_all(3)),
    "no-copy-beside-actions": (*_ACTING, *_all(2)),
    "rule-not-named": (*_ACTING, *_all(2)),
    "actions-change-all": (*_ACTING, *_all(2)),
    "actions-change-what-is-sent": (
        *_ACTING,
        CreateSubscription(topic="q", subscription="two"),
        *_all(1, "two"),
    ),
    "any-action": (*_PAIR, _rule("SET size")),
    "short-rule-names-only": (*_PAIR, _rule(None, "x" * 50)),
    "any-rule-name": (*_PAIR, _rule(None, "x" * 51)),
    "short-subscription-names-only": (
        CreateTopic(topic="q"),
        CreateSubscription(topic="q", subscription="x" * 50),
    ),
    "any-subscription-name": (
        CreateTopic(topic="q"),
        CreateSubscription(topic="q", subscription="x" * 51),
    ),
    "case-of-names-counts": (*_PAIR, CreateSubscription(topic="q", subscription="ONE")),
}
