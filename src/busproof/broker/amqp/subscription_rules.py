"""Subscription rules as AMQP values: reading and writing."""

from collections.abc import Mapping
from typing import Any, Final

import attrs
from proton import Described, ulong

from busproof import vocabulary as v
from busproof.broker.amqp.refusals import Refusal, too_many_of
from busproof.broker.core import Hub
from busproof.broker.payloads import Counted
from busproof.filters.objections import objection_to_action, objection_to_filter
from busproof.filters.parameters import insert_values

__all__ = [
    "action_of",
    "check_expressions",
    "check_room",
    "count_rule",
    "describe_rule",
    "filter_of",
]

FIELDS: Final = (
    ("correlation-id", "correlation_id"),
    ("message-id", "message_id"),
    ("to", "to"),
    ("reply-to", "reply_to"),
    ("label", "subject"),
    ("session-id", "session_id"),
    ("reply-to-session-id", "reply_to_session_id"),
    ("content-type", "content_type"),
)
"""Fields of a correlation filter, in the order in which they are written."""

OF_RULE: Final = 2_048
"""Memory of a rule besides its texts, in bytes."""

# The codes of filters have one zero fewer than those of rules and actions, in the documents and in
# the clients. JavaScript compares the numbers, so symbols would not work.
SQL, TRUE, FALSE, CORRELATION = 0x1370000006, 0x1370000007, 0x1370000008, 0x1370000009
NO_ACTION, SQL_ACTION, RULE = 0x13700000005, 0x13700000006, 0x13700000004


def filter_of(description: Mapping[str, Any]) -> v.Filter:
    """Return the filter of a rule description.

    Raises:
        Refusal: the description has no known filter.
    """
    if isinstance(sql := description.get("sql-filter"), dict):
        return v.SqlFilter(expression=_expression(sql))
    if isinstance(conditions := description.get("correlation-filter"), dict):
        values = {ours: _text(conditions.get(theirs)) for theirs, ours in FIELDS}
        free = conditions.get("properties") or {}
        properties = {str(key): _plain(value) for key, value in free.items()}
        return v.CorrelationFilter(**values, properties=properties)
    if "true-filter" in description:
        return v.TrueFilter()
    if "false-filter" in description:
        return v.FalseFilter()
    raise Refusal("com.microsoft:argument-error", f"There is no filter in {sorted(description)}.")


def action_of(description: Mapping[str, Any]) -> str | None:
    """Return the action of a rule description, or `None` if it has none."""
    action = description.get("sql-rule-action")
    return _expression(action) or None if isinstance(action, dict) else None


def _expression(sql: Mapping[str, Any]) -> str:
    """Return the SQL of a filter or an action, with the values of its parameters, if it has any."""
    values = sql.get("parameters")
    known = {str(name): _plain(value) for name, value in dict(values or {}).items()}
    return insert_values(str(sql.get("expression") or ""), known)


def check_expressions(chosen: v.Filter, action: str | None) -> None:
    """Check that a rule's expressions are SQL as the documents have it, and short enough.

    Raises:
        Refusal: an expression is not; the reason names what stands where.
    """
    objections = {
        "filter": objection_to_filter(chosen),
        "action": None if action is None else objection_to_action(action),
    }
    for what, reason in objections.items():
        if reason is not None:
            raise Refusal(
                "com.microsoft:argument-error", f"The SQL expression of the {what}: {reason}."
            )


def check_room(hub: Hub, topic: str) -> None:
    """Check that a topic may have another rule, since each message is matched with all of them.

    Rules that open transactions will add are counted, too.

    Raises:
        Refusal: the topic has as many rules as it may have.
    """
    namespace, most = hub.bus.namespace, hub.limits.rules
    entity = namespace.entities.get(topic)
    lists = (
        subscription.rules for subscription in (entity.subscriptions if entity else None) or ()
    )
    # Each subscription begins with a default rule; these do not count against the topic.
    count = sum(rule.name != v.DEFAULT_RULE for rules in lists for rule in rules)
    # Count the rules of open transactions, too, or their commits could exceed the limit.
    if (
        count
        + sum(len(transaction.rule_changes) for transaction in namespace.transactions.values())
        >= most
    ):
        raise too_many_of("rules", topic, most)


def count_rule(hub: Hub, rule: v.SubscriptionRule, described: int = 0) -> v.SubscriptionRule:
    """Return a rule whose texts are counted for as long as it is there.

    Args:
        hub: the broker's core.
        rule: the rule.
        described: bytes of the client's description that are kept with it.

    Raises:
        Refusal: with it, all rules and all that receivers add would be too large together.
    """
    size = OF_RULE + described + len(rule.action or "") + _size_of(rule.filter)
    hub.check_added(size)
    return attrs.evolve(rule, name=Counted(rule.name, hub.contents.ledger, size))


def _size_of(chosen: v.Filter) -> int:
    if isinstance(chosen, v.CorrelationFilter):
        fields = [getattr(chosen, ours) or "" for _, ours in FIELDS]
        texts = [*fields, *chosen.properties, *map(str, chosen.properties.values())]
        return sum(map(len, texts))
    return len(chosen.expression) if isinstance(chosen, v.SqlFilter) else 0


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _plain(value: Any) -> v.PropertyValue:
    """Return a number or string as Python's own type, where Proton has one per AMQP type."""
    # Check bool first, because Python's True is also an int.
    if isinstance(value, bool):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    raise Refusal(
        "com.microsoft:argument-error", f"A filter cannot compare with {type(value).__name__}."
    )


def describe_rule(rule: v.SubscriptionRule) -> Described:
    """Return a rule as an AMQP described value."""
    action = Described(ulong(NO_ACTION), [])
    if rule.action is not None:
        action = Described(ulong(SQL_ACTION), [rule.action])
    # Proton writes exact types only, and a name may be a counted one.
    return Described(ulong(RULE), [_filter(rule.filter), action, str(rule.name)])


def _filter(chosen: v.Filter) -> Described:
    if isinstance(chosen, v.SqlFilter):
        return Described(ulong(SQL), [chosen.expression])
    if isinstance(chosen, v.CorrelationFilter):
        values: list[Any] = [getattr(chosen, ours) for _, ours in FIELDS]
        values.append(dict(chosen.properties))
        return Described(ulong(CORRELATION), values)
    return Described(ulong(TRUE if isinstance(chosen, v.TrueFilter) else FALSE), [])
