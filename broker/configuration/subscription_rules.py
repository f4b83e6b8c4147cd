"""Subscription rules in a configuration."""

from collections.abc import Mapping
from typing import Final

from busproof.broker.configuration.jsonc import Value
from busproof.vocabulary.subscription_rules import CorrelationFilter, Filter, SqlFilter, TrueFilter

__all__ = ["action_in", "filter_in", "named_rule"]

CORRELATION: Final = {
    "ContentType": "content_type",
    "CorrelationId": "correlation_id",
    "Label": "subject",
    "MessageId": "message_id",
    "ReplyTo": "reply_to",
    "ReplyToSessionId": "reply_to_session_id",
    "SessionId": "session_id",
    "To": "to",
}


def named_rule(value: Value) -> tuple[str, dict[str, Value]]:
    """Return the name of a rule, and its parts.

    Raises:
        UsageError: the value is not a rule.
    """
    fields = value.fields(("Name", "Properties"))
    if "Name" not in fields:
        raise value.wrong("a Name")
    known = ("FilterType", "CorrelationFilter", "SqlFilter", "Action")
    return fields["Name"].text(), (
        fields["Properties"].fields(known) if "Properties" in fields else {}
    )


def action_in(parts: Mapping[str, Value]) -> str | None:
    """Return the action of a rule, if it has one.

    Raises:
        UsageError: it is not valid.
    """
    if "Action" not in parts or parts["Action"].is_null:
        return None
    given = parts["Action"].fields(("SqlExpression",))
    return given["SqlExpression"].text() if "SqlExpression" in given else None


def filter_in(parts: Mapping[str, Value]) -> Filter:
    """Return the filter of a rule.

    Raises:
        UsageError: it is not valid.
    """
    if "FilterType" not in parts:
        return TrueFilter()
    if parts["FilterType"].one_of(("Correlation", "Sql")) == "Sql":
        if "SqlFilter" not in parts:
            raise parts["FilterType"].wrong("a SqlFilter beside it")
        given = parts["SqlFilter"].fields(("SqlExpression",))
        if "SqlExpression" not in given:
            raise parts["SqlFilter"].wrong("a SqlExpression")
        return SqlFilter(expression=given["SqlExpression"].text())
    if "CorrelationFilter" not in parts:
        raise parts["FilterType"].wrong("a CorrelationFilter beside it")
    given = parts["CorrelationFilter"].fields((*CORRELATION, "Properties"))
    values = {CORRELATION[name]: given[name].text() for name in CORRELATION.keys() & given.keys()}
    free = given["Properties"].pairs() if "Properties" in given else {}
    return CorrelationFilter(
        **values, properties={name: each.scalar() for name, each in free.items()}
    )
