"""Rules of subscriptions: their filters and actions, as data."""

import attrs
from immutables import Map

from busproof.vocabulary.messages import PropertyValue, frozen_properties

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
"""The rule that a new subscription has; it takes everything."""


@attrs.frozen(kw_only=True)
class TrueFilter:
    """Takes every message."""


@attrs.frozen(kw_only=True)
class FalseFilter:
    """Takes no message."""


@attrs.frozen(kw_only=True)
class CorrelationFilter:
    """Takes a message that has each of the values which are given here; `subject` is its label."""

    message_id: str | None = None
    session_id: str | None = None
    correlation_id: str | None = None
    to: str | None = None
    reply_to: str | None = None
    subject: str | None = None
    reply_to_session_id: str | None = None
    content_type: str | None = None
    properties: Map[str, PropertyValue] = attrs.field(factory=Map, converter=frozen_properties)


@attrs.frozen(kw_only=True)
class SqlFilter:
    """Takes a message for which a condition is true, in the service's dialect of SQL."""

    expression: str


Filter = TrueFilter | FalseFilter | CorrelationFilter | SqlFilter


@attrs.frozen(kw_only=True)
class SubscriptionRule:
    """A rule of a subscription: its name, what it takes, and what it changes if that is told."""

    name: str
    filter: Filter
    action: str | None = None
