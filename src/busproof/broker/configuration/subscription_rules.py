"""Subscription rules in a configuration file."""

from collections.abc import Mapping
from typing import Final

from busproof import vocabulary as v
from busproof.broker.configuration.jsonc import Value
from busproof.errors import UsageError
from busproof.filters.objections import objection_to_action, objection_to_filter

__all__ = ["action_in", "filter_in", "read_rule"]

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

SQL: Final = "SqlExpression"
IGNORED: Final = ("CompatibilityLevel", "RequiresPreprocessing")
"""Fields of filters and actions that affect neither matching nor the action."""
ALWAYS: Final = ("True", "TrueFilter")
FILTERS: Final = {
    "Correlation": "CorrelationFilter",
    "CorrelationFilter": "CorrelationFilter",
    "Sql": "SqlFilter",
    "SqlFilter": "SqlFilter",
}
"""Types of filters as the emulator and Azure Resource Manager spell them, and their fields."""


def read_rule(value: Value) -> tuple[str, dict[str, Value]]:
    """Return the name of a rule, and its properties.

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


def action_in(parts: Mapping[str, Value], rule: str) -> str | None:
    """Return the action of the rule with this name, or `None` if it has none.

    Raises:
        UsageError: the action is not valid.
    """
    if "Action" not in parts or parts["Action"].is_null:
        return None
    action = parts["Action"].fields((SQL, *IGNORED))
    if SQL not in action:
        return None
    expression = action[SQL].text()
    _check(action[SQL], f"the action of rule {rule!r}", objection_to_action(expression))
    return expression


def _check(value: Value, what: str, objection: str | None) -> None:
    if objection is not None:
        raise UsageError(f"{value.place}: the SQL of {what}: {objection}")


def filter_in(parts: Mapping[str, Value], rule: str) -> v.Filter:
    """Return the filter of the rule with this name; without a FilterType, the only filter given.

    Raises:
        UsageError: the filter is not valid.
    """
    if "FilterType" in parts:
        kind = parts["FilterType"].one_of((*FILTERS, *ALWAYS))
        if kind in ALWAYS:
            return v.TrueFilter()
        name = FILTERS[kind]
        if name not in parts:
            raise parts["FilterType"].wrong(f"a {name} beside it")
    elif not (names := [name for name in dict.fromkeys(FILTERS.values()) if name in parts]):
        return v.TrueFilter()
    elif len(names) > 1:
        raise parts[names[1]].wrong("a FilterType beside two filters")
    else:
        name = names[0]
    if name == "SqlFilter":
        fields = parts[name].fields((SQL, *IGNORED))
        if SQL not in fields:
            raise parts[name].wrong(f"a {SQL}")
        chosen = v.SqlFilter(expression=fields[SQL].text())
        _check(fields[SQL], f"the filter of rule {rule!r}", objection_to_filter(chosen))
        return chosen
    fields = parts[name].fields((*CORRELATION, "Properties", *IGNORED))
    values = {CORRELATION[name]: fields[name].text() for name in CORRELATION.keys() & fields.keys()}
    free = fields["Properties"].pairs() if "Properties" in fields else {}
    return v.CorrelationFilter(
        **values,
        properties={name: value.scalar() for name, value in free.items() if not value.is_missing},
    )
