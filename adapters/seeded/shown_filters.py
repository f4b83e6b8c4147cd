"""The shortest runs in which the faults of subscriptions' rules show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import PARTITIONS, Run, receive, send
from busproof.vocabulary.commands import (
    AddRule,
    BeginTransaction,
    CreateSubscription,
    CreateTopic,
    ListRules,
    RemoveRule,
)
from busproof.vocabulary.subscription_rules import (
    DEFAULT_RULE,
    CorrelationFilter,
    FalseFilter,
    Filter,
    SqlFilter,
    TrueFilter,
)

__all__ = ["SHOWN"]

_TOPIC: Final = "q"
_ONE: Final[Mapping[str, Any]] = {"topic": _TOPIC, "subscription": "one"}
_TAKE: Final = receive(delete=True, queue=f"{_TOPIC}/subscriptions/one")
_SUBSCRIBED: Final[Run] = (CreateTopic(topic=_TOPIC), CreateSubscription(**_ONE))
_LIST: Final = ListRules(**_ONE)
_BEGIN: Final = BeginTransaction(transaction="t")


def _add(wanted: Filter, rule: str = "second", within: str | None = None) -> AddRule:
    return AddRule(rule=rule, filter=wanted, transaction=within, **_ONE)


def _remove(rule: str = DEFAULT_RULE, within: str | None = None) -> RemoveRule:
    return RemoveRule(rule=rule, transaction=within, **_ONE)


def _taking(wanted: Filter) -> Run:
    return (*_SUBSCRIBED, _remove(), _add(wanted, "first"))


def _by(expression: str, **properties: Any) -> Run:
    """A subscription by SQL, a message with these properties, and a receive."""
    sent = send("m1", properties=properties)
    return (*_taking(SqlFilter(expression=expression)), sent, _TAKE)


_LABEL: Final = CorrelationFilter(subject="x")
_NONE: Final = FalseFilter()
_COLOR: Final = CorrelationFilter(subject="x", properties={"color": "red"})
_SPREAD: Final = tuple(send(f"m{number}", subject="x") for number in range(PARTITIONS))
_ALL: Final = (_TAKE,) * PARTITIONS

SHOWN: Final[Mapping[str, Run]] = {
    "no-default-rule": (
        CreateTopic(topic=_TOPIC),
        CreateSubscription(topic=_TOPIC, subscription="two"),
        CreateSubscription(**_ONE),
        send("m1"),
        _TAKE,
    ),
    "false-takes-all": (*_taking(_NONE), send("m1"), _TAKE),
    "true-wants-a-label": (*_taking(TrueFilter()), send("m1"), _TAKE),
    "correlation-without-case": (*_taking(_LABEL), send("m1", subject="X"), _TAKE),
    "correlation-ignores-reply-session": (
        *_taking(CorrelationFilter(reply_to_session_id="a")),
        send("m1", reply_to_session_id="b"),
        _TAKE,
    ),
    "any-condition-suffices": (*_taking(_COLOR), send("m1", subject="x"), _TAKE),
    "missing-property-matches": (*_taking(_COLOR), send("m1", subject="x"), _TAKE),
    "copy-for-each-rule": (*_SUBSCRIBED, _add(TrueFilter()), send("m1"), _TAKE, _TAKE),
    "all-rules-must-match": (*_SUBSCRIBED, _add(_NONE), send("m1"), _TAKE),
    "without-rules-everything": (*_SUBSCRIBED, _remove(), send("m1"), _TAKE),
    "without-rules-emptied": (*_SUBSCRIBED, send("m1"), _remove(), _TAKE),
    "rule-lives-on": (*_SUBSCRIBED, _add(_NONE), _remove(), send("m1"), _TAKE),
    "rule-replaced": (*_SUBSCRIBED, _add(_NONE, DEFAULT_RULE)),
    "missing-rule-removed": (*_SUBSCRIBED, _remove("second")),
    "default-rule-not-listed": (*_SUBSCRIBED, _add(_NONE), _LIST),
    "less-or-equal-is-less": _by("size <= 5", size=5),
    "system-scope-ignored": (
        *_taking(SqlFilter(expression="sys.Label = 'x'")),
        send("m1", subject="x"),
        _TAKE,
    ),
    "and-or-in-writing-order": _by("a = 1 OR b = 1 AND c = 1", a=1, b=2, c=2),
    "not-binds-all": _by("NOT a = 1 AND b = 1", a=2, b=2),
    "exists-always": _by("EXISTS (color)", size=5),
    "absent-is-not-null": _by("color IS NULL", size=5),
    "in-looks-at-first": _by("color IN ('red', 'blue')", color="blue"),
    "underscore-stands-for-itself": _by("code LIKE 'a_c'", code="abc"),
    "escape-ignored": _by("code LIKE 'a!_c' ESCAPE '!'", code="abc"),
    "reckoned-from-the-left": _by("size + 2 * 3 = 10", size=4),
    "unknown-is-false": _by("NOT color = 'red'", size=5),
    "unknown-infects-or": _by("color = 'red' OR size = 4", size=4),
    "names-with-case": _by("COLOR = 'red'", color="red"),
    "values-without-case": _by("COLOR = 'red'", color="RED"),
    "broken-sql-added": (*_SUBSCRIBED, _add(SqlFilter(expression="color ="))),
    "broken-sql-empties-rules": (*_SUBSCRIBED, _add(SqlFilter(expression="color =")), _LIST),
    "filter-sees-body": (
        *_taking(_LABEL),
        send("m6", subject="x"),
        send("m7", subject="x"),
        _TAKE,
        _TAKE,
    ),
    "added-rule-misses-partition": (*_taking(_NONE), _add(_LABEL), *_SPREAD, *_ALL),
    "rule-refused-when-partitioned": (*_SUBSCRIBED, _add(_LABEL)),
    "removed-rule-stays-in-partition": (*_SUBSCRIBED, _remove(), *_SPREAD, _TAKE),
    "rule-in-transaction": (*_SUBSCRIBED, _BEGIN, _add(_LABEL, within="t")),
    "rule-refused-yet-changed": (
        *_SUBSCRIBED,
        _BEGIN,
        _remove(within="t"),
        send("m1"),
        _TAKE,
    ),
}
