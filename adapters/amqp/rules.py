"""Subscription rules in the format of the management node."""

from typing import Any, Final

from busproof import vocabulary as v
from busproof.errors import AdapterError

__all__ = ["rule_of", "write_rule"]

TEXTS: Final = (
    ("correlation-id", "correlation_id"),
    ("message-id", "message_id"),
    ("to", "to"),
    ("reply-to", "reply_to"),
    ("label", "subject"),
    ("session-id", "session_id"),
    ("reply-to-session-id", "reply_to_session_id"),
    ("content-type", "content_type"),
)
"""Fields of a correlation filter, in the order of a listed rule."""

SQL_ACTION: Final = 0x13700000006
SQL, TRUE, FALSE, CORRELATION = range(0x1370000006, 0x137000000A)


def write_rule(chosen: v.Filter, action: str | None = None) -> dict[str, Any]:
    """Return a filter and an action in the format of a request that adds a rule."""
    acts = {} if action is None else {"sql-rule-action": {"expression": action}}
    return {**_write_filter(chosen), **acts}


def _write_filter(chosen: v.Filter) -> dict[str, Any]:
    match chosen:
        case v.SqlFilter(expression=expression):
            return {"sql-filter": {"expression": expression}}
        case v.TrueFilter():
            return {"true-filter": {}}
        case v.FalseFilter():
            return {"false-filter": {}}
    fields: dict[str, Any] = {
        theirs: value for theirs, ours in TEXTS if (value := getattr(chosen, ours)) is not None
    }
    return {"correlation-filter": {**fields, "properties": dict(chosen.properties)}}


def rule_of(encoded: Any) -> v.SubscriptionRule:
    """Return a rule from a list of rules.

    Raises:
        AdapterError: the filter of the rule is of an unknown kind.
    """
    described, action, name = (*encoded.value, None, None)[:3]
    acts = action is not None and int(action.descriptor) == SQL_ACTION
    return v.SubscriptionRule(
        name=str(name),
        filter=_filter(described),
        action=str(next(iter(action.value))) if acts else None,
    )


def _filter(encoded: Any) -> v.Filter:
    kind, fields = int(encoded.descriptor), list(encoded.value)
    if kind == TRUE:
        return v.TrueFilter()
    if kind == FALSE:
        return v.FalseFilter()
    if kind == SQL:
        return v.SqlFilter(expression=str(fields[0]))
    if kind != CORRELATION:
        raise AdapterError(f"a rule is listed with a filter of kind {kind:#x}, which is not known")
    padded = fields + [None] * (len(TEXTS) + 1 - len(fields))
    texts = {
        ours: None if value is None else str(value)
        for (_, ours), value in zip(TEXTS, padded, strict=False)
    }
    free = {str(name): plain(value) for name, value in (padded[len(TEXTS)] or {}).items()}
    return v.CorrelationFilter(**texts, properties=free)


def plain(value: Any) -> v.FilterValue:
    """Return a value as one of Python's own types, where Proton has one for each AMQP type."""
    if isinstance(value, bool):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str(value)
