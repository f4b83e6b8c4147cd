"""Subscription rules: their filters and actions, as plain values."""

import attrs
from immutables import Map

from busproof.vocabulary.messages import FilterValue, frozen_properties

__all__ = [
    "DEFAULT_RULE",
    "CorrelationFilter",
    "FalseFilter",
    "Filter",
    "SqlFilter",
    "SubscriptionRule",
    "TrueFilter",
]

DEFAULT_RULE = "$Default"
"""The default rule of a new subscription; it matches every message."""


@attrs.frozen(kw_only=True)
class TrueFilter:
    """A filter that matches every message."""


@attrs.frozen(kw_only=True)
class FalseFilter:
    """A filter that matches no message."""


@attrs.frozen(kw_only=True)
class CorrelationFilter:
    """A filter that matches messages with all of the given values; `subject` is the label."""

    message_id: str | None = None
    session_id: str | None = None
    correlation_id: str | None = None
    to: str | None = None
    reply_to: str | None = None
    subject: str | None = None
    reply_to_session_id: str | None = None
    content_type: str | None = None
    properties: Map[str, FilterValue] = attrs.field(factory=Map, converter=frozen_properties)


@attrs.frozen(kw_only=True)
class SqlFilter:
    """A filter by a condition in the service's dialect of SQL."""

    expression: str


Filter = TrueFilter | FalseFilter | CorrelationFilter | SqlFilter


@attrs.frozen(kw_only=True)
class SubscriptionRule:
    """A subscription rule: its name, its filter, and its action if it has one."""

    name: str
    filter: Filter
    action: str | None = None
