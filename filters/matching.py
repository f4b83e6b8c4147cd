"""Matching of messages by filters (FILTER-01 to FILTER-20)."""

from typing import assert_never

import attrs

from busproof.filters.evaluation import truth
from busproof.filters.parser import Outside, parsed
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


def takes(wanted: Filter, message: Message) -> bool | None:
    """Return whether a filter takes a message; `None` where the documents do not say."""
    match wanted:
        case TrueFilter():
            return True
        case FalseFilter():
            return False
        case CorrelationFilter():
            return _correlates(wanted, message)
        case SqlFilter(expression=expression):
            condition = parsed(expression)
            if isinstance(condition, Outside):
                return None
            values = truth(condition, message)
            return True if values == {True} else None if True in values else False
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
