"""Descriptions of subscription rules in XML: filters, actions, and the values in them."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from xml.etree import ElementTree as ET

from busproof import vocabulary as v
from busproof.broker.admin.atom import SB, XSD, XSI, Unreadable, strip_namespaces
from busproof.filters.parameters import insert_values

__all__ = ["action_of", "filter_of", "rule_element"]

TYPE: Final = f"{{{XSI}}}type"
CORRELATION: Final = (
    ("CorrelationId", "correlation_id"),
    ("MessageId", "message_id"),
    ("To", "to"),
    ("ReplyTo", "reply_to"),
    ("Label", "subject"),
    ("SessionId", "session_id"),
    ("ReplyToSessionId", "reply_to_session_id"),
    ("ContentType", "content_type"),
)


def filter_of(rule: ET.Element) -> v.Filter:
    """Return the filter in a rule's description; a rule without one matches everything.

    Raises:
        Unreadable: the filter's type is unknown.
    """
    element = rule.find(f"{{{SB}}}Filter")
    if element is None:
        return v.TrueFilter()
    kind = element.get(TYPE, "").rpartition(":")[2]
    if kind == "TrueFilter":
        return v.TrueFilter()
    if kind == "FalseFilter":
        return v.FalseFilter()
    if kind == "SqlFilter":
        return v.SqlFilter(expression=_expression(element))
    if kind == "CorrelationFilter":
        values = {ours: element.findtext(f"{{{SB}}}{theirs}") for theirs, ours in CORRELATION}
        return v.CorrelationFilter(
            **values, properties=_values(element.find(f"{{{SB}}}Properties"))
        )
    raise Unreadable(f"There is no filter of type {kind!r}.")


def action_of(rule: ET.Element) -> str | None:
    """Return the action in a rule's description, or `None` if it has none.

    Raises:
        Unreadable: a parameter's value has an unknown type.
    """
    element = rule.find(f"{{{SB}}}Action")
    return None if element is None else _expression(element) or None


def _expression(element: ET.Element) -> str:
    """Return the SQL expression of a filter or an action, with its parameters' values."""
    expression = element.findtext(f"{{{SB}}}SqlExpression") or ""
    return insert_values(expression, _values(element.find(f"{{{SB}}}Parameters")))


def _values(element: ET.Element | None) -> dict[str, Any]:
    """Return the values of parameters in a filter or an action, by name.

    Raises:
        Unreadable: a value has an unknown type, or cannot be parsed.
    """
    values: dict[str, Any] = {}
    pairs = () if element is None else element.iter(f"{{{SB}}}KeyValueOfstringanyType")
    for pair in pairs:
        value = pair.find(f"{{{SB}}}Value")
        kind = "" if value is None else value.get(TYPE, "").rpartition(":")[2]
        text = "" if value is None else value.text or ""
        if kind not in VALUE_TYPES:
            raise Unreadable(
                f"A filter cannot compare with a value of type {kind!r}; it can with "
                f"{', '.join(VALUE_TYPES)}."
            )
        name = pair.findtext(f"{{{SB}}}Key") or ""
        try:
            values[name] = VALUE_TYPES[kind](text)
        except (OverflowError, ValueError):
            raise Unreadable(f"{name!r} is {text[:80]!r}, which is not a {kind}.") from None
        if isinstance(values[name], float) and not math.isfinite(values[name]):
            raise Unreadable(f"{name!r} is {text[:80]!r}; it has to be a finite number.")
        if isinstance(values[name], int) and abs(values[name]) >= 2**63:
            raise Unreadable(f"{name!r} is {text[:80]!r}; it has to be a number of 64 bits.")
    return values


def _truth(text: str) -> bool:
    if text.strip().lower() not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text.strip().lower() in ("true", "1")


def _moment(text: str) -> int:
    """Parse a time into milliseconds since 1970, as in messages; UTC if it has no time zone."""
    moment = datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return (moment - EPOCH) // timedelta(milliseconds=1)


WITH_EXPRESSION: Final = frozenset({"SqlFilter", "TrueFilter", "FalseFilter", "SqlRuleAction"})
CONSTANT: Final = frozenset({"TrueFilter", "FalseFilter"})
EXPRESSION: Final = ("SqlExpression", "CompatibilityLevel", "Parameters", "RequiresPreprocessing")
"""The parts of a filter or an action with an expression, in the order that was recorded."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
VALUE_TYPES: Final[dict[str, Callable[[str], Any]]] = {
    "string": str,
    "int": int,
    "long": int,
    "double": float,
    "boolean": _truth,
    "dateTime": _moment,
    "duration": str,
}
"""Types of the values that a filter can compare, with their parsers."""


def rule_element(
    rule: v.SubscriptionRule, created: str, source: ET.Element | None = None
) -> ET.Element:
    """Return the description of a subscription rule as XML.

    `source` is the description that the client sent, if it is known. Its filter and action are
    returned as they are: they may have parameters, which the model has replaced by their values.
    """
    element = ET.Element("RuleDescription", {"xmlns": SB, "xmlns:i": XSI})
    chosen = None if source is None else source.find(f"{{{SB}}}Filter")
    wanted = None if source is None else source.find(f"{{{SB}}}Action")
    element.append(_filter_element(rule.filter) if chosen is None else _complete(chosen))
    element.append(_action_element(rule.action) if wanted is None else _complete(wanted))
    ET.SubElement(element, "CreatedAt").text = created
    ET.SubElement(element, "Name").text = rule.name
    return element


def _complete(source: ET.Element) -> ET.Element:
    """Return a client's filter or action as the service writes it: complete and in its order."""
    element = strip_namespaces(source)
    kind = element.get("i:type", "").rpartition(":")[2]
    if kind not in WITH_EXPRESSION:
        return element
    parts = {child.tag: child for child in element}
    level = ET.Element("CompatibilityLevel")
    level.text = "20"
    parts.setdefault("CompatibilityLevel", level)
    names = [name for name in EXPRESSION if name in parts]
    if kind in CONSTANT:
        names = [name for name in names if name != "Parameters"]
    element[:] = [parts[name] for name in names]
    return element


def _action_element(expression: str | None) -> ET.Element:
    element = ET.Element(
        "Action", {"i:type": "EmptyRuleAction" if expression is None else "SqlRuleAction"}
    )
    if expression is not None:
        ET.SubElement(element, "SqlExpression").text = expression
        ET.SubElement(element, "CompatibilityLevel").text = "20"
    return element


def _filter_element(chosen: v.Filter) -> ET.Element:
    element = ET.Element("Filter", {"i:type": type(chosen).__name__})
    if isinstance(chosen, v.CorrelationFilter):
        for theirs, ours in CORRELATION:
            if (value := getattr(chosen, ours)) is not None:
                ET.SubElement(element, theirs).text = value
        properties = ET.SubElement(element, "Properties")
        for name, value in chosen.properties.items():
            pair = ET.SubElement(properties, "KeyValueOfstringanyType")
            ET.SubElement(pair, "Key").text = name
            _value_element(pair, value)
        return element
    expression = {True: "1=1", False: "1=0"}[not isinstance(chosen, v.FalseFilter)]
    text = chosen.expression if isinstance(chosen, v.SqlFilter) else expression
    ET.SubElement(element, "SqlExpression").text = text
    ET.SubElement(element, "CompatibilityLevel").text = "20"
    return element


def _value_element(pair: ET.Element, value: Any) -> None:
    kinds = {bool: "boolean", int: "int", float: "double", str: "string"}
    kind = "long" if isinstance(value, int) and abs(value) >= 2**31 else kinds[type(value)]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    # The JavaScript client takes everything after the fifth character as the type.
    element = ET.SubElement(pair, "Value", {"i:type": f"d6p1:{kind}"})
    element.set("xmlns:d6p1", XSD)
    element.text = text
