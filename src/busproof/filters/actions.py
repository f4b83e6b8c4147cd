"""Actions of subscription rules (FILTER-21 to FILTER-25, FILTER-29).

The statements of an action run one after the other, each on what the ones before have made. Where
the documents do not say what a property becomes, it is *open* in the result.
"""

import hashlib
import uuid
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import attrs

from busproof.filters.evaluation import valuation_of
from busproof.filters.facts import (
    SETTABLE,
    Arrival,
    Facts,
    Missing,
    Value,
    field_of,
    is_of_the_system,
)
from busproof.filters.nodes import Property, Remove, Statement, Term
from busproof.filters.parser import KEPT, parsed_action
from busproof.filters.readings import EVERY, OURS, Readings
from busproof.filters.terms import Valuation
from busproof.vocabulary.messages import NEW_ID, Message, PropertyValue

__all__ = [
    "RULE_NAME",
    "Changed",
    "changed",
    "fresh_ids",
    "is_plain",
    "made_by",
    "moves_copies",
    "objection",
    "parsed_action",
    "sets_a_key",
]

RULE_NAME: Final = "RuleName"
"""FILTER-23: property of a copy that has the name of the rule that made it."""

_KEYS: Final = frozenset({"messageid", "sessionid", "partitionkey"})
"""System properties that a message's partition or identity depends on."""
_TIMES: Final = frozenset({"timetolive", "scheduledenqueuetimeutc"})
"""System properties that say when a message is there."""


@attrs.frozen
class Changed:
    """A message after an action.

    Attributes:
        message: the message, with the values that the documents define.
        open_properties: lower-case names of application properties whose values are open.
        open_fields: the vocabulary's names of system properties whose values are open.
    """

    message: Message
    open_properties: frozenset[str] = frozenset()
    open_fields: frozenset[str] = frozenset()


def _targets(statements: Iterable[Statement]) -> Iterator[str]:
    """Yield the lower-case names of the system properties that statements change."""
    for statement in statements:
        if statement.property.scope == "sys":
            yield statement.property.name.lower()


def objection(statements: tuple[Statement, ...]) -> str | None:
    """Return why an action may be refused though it is SQL, or `None` if nothing speaks for it.

    An action can set the system properties that senders set; the others are the bus's own.
    """
    for statement in statements:
        name = statement.property.name
        if statement.property.scope == "sys" and name.lower() not in SETTABLE:
            known = is_of_the_system(name)
            why = "is set by the service alone" if known else "is no property of messages"
            return f"an action cannot change sys.{name}, which {why}"
    return None


def is_plain(statements: tuple[Statement, ...]) -> bool:
    """Return whether all properties that statements change are there, and can be changed."""
    return objection(statements) is None


def sets_a_key(statements: tuple[Statement, ...]) -> bool:
    """Return whether a statement changes a property that partition or identity depend on."""
    return not _KEYS.isdisjoint(_targets(statements))


def moves_copies(statements: tuple[Statement, ...]) -> bool:
    """Return whether a statement changes where a copy is, or when it is there."""
    return not (_KEYS | _TIMES).isdisjoint(_targets(statements))


@lru_cache(KEPT)
def _valuation(term: Term, readings: Readings) -> Valuation:
    return valuation_of(term, readings)


def changed(
    statements: tuple[Statement, ...], message: Message, readings: Readings = EVERY
) -> Changed:
    """FILTER-21, FILTER-29: return what a judge knows of the message after these statements."""
    work = _Judged(message)
    for statement in statements:
        value = _value(statement, work.facts(), readings)
        if statement.property.scope == "sys":
            work.set_field(statement.property, value)
        else:
            work.set_property(statement.property.name, value)
    return work.result()


def _value(statement: Statement, facts: Facts, readings: Readings) -> Value | None:
    """Return the value that a statement gives its property; `None` if it removes it."""
    if isinstance(statement, Remove):
        return None
    value = _valuation(statement.term, readings)(facts)
    nothing = value is Missing.UNKNOWN or value is Missing.NULL
    return None if nothing and readings.set_null == "removed" else value


class _Judged:
    """A message while its statements run, and the names of values that are not known."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.properties: frozenset[str] = frozenset()
        self.fields: frozenset[str] = frozenset()

    def facts(self) -> Facts:
        """Return what the next statement reads."""
        facts = Facts(self.message, None)
        facts.user = {**facts.user, **dict.fromkeys(self.properties, Missing.OPEN)}
        facts.open = self.fields
        return facts

    def result(self) -> Changed:
        """Return the message after the last statement."""
        return Changed(self.message, self.properties, self.fields)

    def set_property(self, name: str, value: Value | None) -> None:
        """Set or remove a property; it is open if the documents do not say what it becomes.

        They do not say how a name is spelt that is written in another case than before, what is
        done about a value that a property cannot have, nor which values SET converts to the type
        of the property that was there.
        """
        if value is Missing.FRESH:
            value = NEW_ID
        alike = [own for own in self.message.properties if own.lower() == name.lower()]
        before = self.message.properties.get(name)
        respelt = any(own != name for own in alike) and value is not None
        if respelt or isinstance(value, Missing) or not _fits(before, value):
            self.properties |= {name.lower()}
            return
        after = self.message.properties
        for own in alike:
            after = after.delete(own)
        if value is not None:
            after = after.set(name, _widen_value(before, value))
        self.message = attrs.evolve(self.message, properties=after)
        self.properties -= {name.lower()}

    def set_field(self, target: Property, value: Value | None) -> None:
        """Set or remove a system property; it is open for anything but a text."""
        field = field_of(target.name)
        if field is None:
            return
        if value is Missing.FRESH:
            value = NEW_ID
        if value is None or isinstance(value, str):
            self.message = _with(self.message, field, value)
            self.fields -= {field}
        else:
            self.fields |= {field}


def _fits(before: PropertyValue | None, value: Value | None) -> bool:
    """Return whether a value keeps a property's type, or C# widens it to that."""
    widened = type(before) is float and type(value) is int
    texts = isinstance(before, str) and isinstance(value, str)
    return before is None or value is None or type(before) is type(value) or widened or texts


def _widen_value(before: PropertyValue | None, value: Any) -> PropertyValue:
    """Return the value in the type that the property had, if C# converts it by itself."""
    result: PropertyValue = float(value) if type(before) is float else value
    return result


def made_by(
    statements: tuple[Statement, ...],
    message: Message,
    arrival: Arrival | None,
    fresh: Iterator[str],
) -> Message:
    """FILTER-21, FILTER-29: return the message that a bus makes by these statements.

    Where the documents leave a choice, a value that a property cannot have leaves it as it was.

    Args:
        statements: the action.
        message: the message that the rule took.
        arrival: what the bus has given the message.
        fresh: the values of `newid()`.
    """
    readings = OURS if arrival is None else arrival.readings
    for statement in statements:
        value = _value(statement, Facts(message, arrival), readings)
        if value is Missing.FRESH:
            value = next(fresh)
        if isinstance(value, Missing):
            continue
        if statement.property.scope == "sys":
            message = _with_field(message, statement.property.name.lower(), value)
        else:
            message = _with_property(message, statement.property.name, value)
    return message


def _with_property(message: Message, name: str, value: PropertyValue | None) -> Message:
    """Return the message with a property, which keeps the name that it had in another case."""
    alike = [own for own in message.properties if own.lower() == name.lower()]
    properties = message.properties
    for own in alike:
        properties = properties.delete(own)
    if value is not None:
        own = alike[0] if alike else name
        before = message.properties.get(own)
        properties = properties.set(
            own, _widen_value(before, value) if _fits(before, value) else value
        )
    return attrs.evolve(message, properties=properties)


def _with_field(message: Message, name: str, value: PropertyValue | None) -> Message:
    """Return the message with a system property; those that no receiver sees stay as they are."""
    if (field := field_of(name)) is not None:
        return _with(message, field, None if value is None else str(value))
    if name == "timetolive" and isinstance(value, int) and value > 0:
        return attrs.evolve(message, time_to_live=value * 1_000)
    return message


def _with(message: Message, field: str, value: str | None) -> Message:
    changed_field: dict[str, Any] = {field: value}
    return attrs.evolve(message, **changed_field)


def fresh_ids(seed: str) -> Iterator[str]:
    """Yield identifiers that differ from those of other seeds; the same seed gives the same ones.

    A bus in this package draws nothing at random.
    """
    number = 0
    while True:
        number += 1
        digest = hashlib.sha256(f"{number} {seed}".encode()).digest()
        yield str(uuid.UUID(bytes=digest[:16], version=4))
