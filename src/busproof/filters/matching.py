"""Matching of messages by filters (FILTER-01 to FILTER-20)."""

from typing import assert_never

import attrs

from busproof.filters.evaluation import TRUE, verdict_of
from busproof.filters.facts import Arrival, facts_of
from busproof.filters.readings import EVERY, Readings
from busproof.vocabulary.messages import Message, PropertyValue
from busproof.vocabulary.subscription_rules import (
    CorrelationFilter,
    FalseFilter,
    Filter,
    SqlFilter,
    TrueFilter,
)

__all__ = ["takes"]

_CONDITIONS: tuple[str, ...] = tuple(
    field.name for field in attrs.fields(CorrelationFilter) if field.name != "properties"
)


def takes(
    wanted: Filter,
    message: Message,
    *,
    readings: Readings = EVERY,
    arrival: Arrival | None = None,
) -> bool | None:
    """Return whether a filter takes a message; `None` where the documents do not say.

    Args:
        wanted: the filter.
        message: the message.
        readings: how open questions about SQL are read.
        arrival: what the bus has given the message, for a bus; a judge does not know it.
    """
    match wanted:
        case TrueFilter():
            return True
        case FalseFilter():
            return False
        case CorrelationFilter():
            return _correlates(wanted, message)
        case SqlFilter(expression=expression):
            verdict = verdict_of(expression, readings)
            if verdict is None:
                return None
            truth = verdict(facts_of(message, arrival))
            if truth == TRUE:
                return True
            return None if truth & TRUE else False
        case _:
            assert_never(wanted)


def _correlates(wanted: CorrelationFilter, message: Message) -> bool | None:
    """FILTER-03, FILTER-04: return whether every property in the filter has the given value."""
    system = {name: getattr(wanted, name) for name in _CONDITIONS}
    results: list[bool | None] = [
        getattr(message, name) == value for name, value in system.items() if value is not None
    ]
    results += [_equal(message.properties.get(n), value) for n, value in wanted.properties.items()]
    if False in results:
        return False
    return None if None in results or not results else True


def _equal(own: PropertyValue | None, value: PropertyValue) -> bool | None:
    """Return whether two values are equal; `None` for values of different types."""
    if own is None:
        return False
    if type(own) is type(value):
        return own == value
    return None
