"""Descriptions of entities as the administration clients write and read them: Atom and XML."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

from busproof.broker.configuration.durations import microseconds_in
from busproof.vocabulary.subscription_rules import (
    CorrelationFilter,
    FalseFilter,
    Filter,
    SqlFilter,
    SubscriptionRule,
    TrueFilter,
)

__all__ = [
    "Description",
    "Unreadable",
    "action_of",
    "entry",
    "error",
    "feed",
    "filter_of",
    "microseconds",
    "read_description",
    "rule_element",
    "written",
]

ATOM: Final = "http://www.w3.org/2005/Atom"
SB: Final = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
COUNTS: Final = "http://schemas.microsoft.com/netservices/2011/06/servicebus"
XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
XSD: Final = "http://www.w3.org/2001/XMLSchema"
ILLEGAL: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that XML cannot have; one of them would make a whole list unreadable."""
TYPE: Final = f"{{{XSI}}}type"
VALUE_TYPES: Final = {"string": str, "int": int, "long": int, "double": float}
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


class Unreadable(Exception):  # noqa: N818 - what a client is answered, not an error of ours
    """A description that is none, or asks for what is not served."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


class Description:
    """What a client writes of an entity: its kind, and what it says of each property."""

    def __init__(self, element: ET.Element) -> None:
        self.element = element
        self.kind = element.tag.removeprefix(f"{{{SB}}}")

    def said(self) -> dict[str, str]:
        """The properties that are plain texts."""
        return {
            each.tag.removeprefix(f"{{{SB}}}"): each.text or ""
            for each in self.element
            if not len(each) and each.text
        }

    def child(self, name: str) -> ET.Element | None:
        """A property that is more than a text."""
        return self.element.find(f"{{{SB}}}{name}")


def read_description(body: bytes) -> Description:
    """What stands in an entry.

    Raises:
        Unreadable: nothing does.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("The body is not UTF-8, which is the only encoding taken.") from None
    if "<!" in text.replace("<![CDATA[", "").replace("<!--", ""):
        raise Unreadable("The body declares a document type, which is not taken.")
    try:
        top = ET.fromstring(text)  # noqa: S314 - without a document type there are no entities
    except (ET.ParseError, ValueError) as problem:
        raise Unreadable(f"The body is not XML: {problem}.") from None
    content = top.find(f"{{{ATOM}}}content")
    if content is None or not len(content):
        raise Unreadable("The body is no Atom entry with a description in it.")
    return Description(content[0])


def microseconds(text: str, name: str) -> int:
    """A duration.

    Raises:
        Unreadable: it is none.
    """
    found = microseconds_in(text)
    if found is None:
        raise Unreadable(f"{name} is {text!r}; it has to be a duration such as PT1M.")
    return found


def filter_of(rule: ET.Element) -> Filter:
    """The filter of a rule.

    Raises:
        Unreadable: it has no filter that is known.
    """
    given = rule.find(f"{{{SB}}}Filter")
    if given is None:
        return TrueFilter()
    kind = given.get(TYPE, "").rpartition(":")[2]
    if kind == "TrueFilter":
        return TrueFilter()
    if kind == "FalseFilter":
        return FalseFilter()
    if kind == "SqlFilter":
        return SqlFilter(expression=given.findtext(f"{{{SB}}}SqlExpression") or "")
    if kind == "CorrelationFilter":
        values = {ours: given.findtext(f"{{{SB}}}{theirs}") for theirs, ours in CORRELATION}
        return CorrelationFilter(**values, properties=_properties(given))
    raise Unreadable(f"There is no filter of type {kind!r}.")


def action_of(rule: ET.Element) -> str | None:
    """The action of a rule, if it has one."""
    return rule.findtext(f"{{{SB}}}Action/{{{SB}}}SqlExpression") or None


def _properties(given: ET.Element) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in given.iter(f"{{{SB}}}KeyValueOfstringanyType"):
        value = pair.find(f"{{{SB}}}Value")
        kind = "" if value is None else value.get(TYPE, "").rpartition(":")[2]
        text = "" if value is None else value.text or ""
        if kind == "boolean":
            found[pair.findtext(f"{{{SB}}}Key") or ""] = text == "true"
        elif kind in VALUE_TYPES:
            found[pair.findtext(f"{{{SB}}}Key") or ""] = VALUE_TYPES[kind](text)
        else:
            raise Unreadable(f"A filter cannot compare with a value of type {kind!r}.")
    return found


def written(kind: str, said: Mapping[str, str], counts: Mapping[str, int] | None) -> ET.Element:
    """A description, in the order in which it is given; `counts` go where clients look for them.

    Some clients know no namespaces: names are written as the service writes them.
    """
    element = ET.Element(kind, {"xmlns": SB, "xmlns:i": XSI})
    for name, text in said.items():
        ET.SubElement(element, name).text = text
        if name == "MessageCount" and counts is not None:
            details = ET.SubElement(element, "CountDetails", {"xmlns:d2p1": COUNTS})
            for each, number in counts.items():
                ET.SubElement(details, f"d2p1:{each}").text = str(number)
    return element


def rule_element(rule: SubscriptionRule, created: str) -> ET.Element:
    """A rule's description."""
    element = ET.Element("RuleDescription", {"xmlns": SB, "xmlns:i": XSI})
    element.append(_filter_element(rule.filter))
    acts = rule.action is not None
    kind = "SqlRuleAction" if acts else "EmptyRuleAction"
    action = ET.SubElement(element, "Action", {"i:type": kind})
    if acts:
        ET.SubElement(action, "SqlExpression").text = rule.action
        ET.SubElement(action, "CompatibilityLevel").text = "20"
    ET.SubElement(element, "CreatedAt").text = created
    ET.SubElement(element, "Name").text = rule.name
    return element


def _filter_element(given: Filter) -> ET.Element:
    element = ET.Element("Filter", {"i:type": type(given).__name__})
    if isinstance(given, CorrelationFilter):
        for theirs, ours in CORRELATION:
            if (value := getattr(given, ours)) is not None:
                ET.SubElement(element, theirs).text = value
        held = ET.SubElement(element, "Properties")
        for name, value in given.properties.items():
            pair = ET.SubElement(held, "KeyValueOfstringanyType")
            ET.SubElement(pair, "Key").text = name
            _value_element(pair, value)
        return element
    expression = {True: "1=1", False: "1=0"}[not isinstance(given, FalseFilter)]
    text = given.expression if isinstance(given, SqlFilter) else expression
    ET.SubElement(element, "SqlExpression").text = text
    ET.SubElement(element, "CompatibilityLevel").text = "20"
    return element


def _value_element(pair: ET.Element, value: Any) -> None:
    kinds = {bool: "boolean", int: "int", float: "double", str: "string"}
    kind = "long" if isinstance(value, int) and abs(value) >= 2**31 else kinds[type(value)]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    # Clients of JavaScript take what stands behind the fifth character for the type.
    element = ET.SubElement(pair, "Value", {"i:type": f"d6p1:{kind}"})
    element.set("xmlns:d6p1", XSD)
    element.text = text


def _entry(title: str, url: str, moment: str, description: ET.Element) -> ET.Element:
    element = ET.Element("entry", {"xmlns": ATOM})
    for name, text in (("id", url), ("title", title), ("published", moment), ("updated", moment)):
        ET.SubElement(element, name).text = text
    ET.SubElement(element, "link", {"rel": "self", "href": url})
    content = ET.SubElement(element, "content", {"type": "application/xml"})
    content.append(description)
    return element


def entry(title: str, url: str, moment: str, description: ET.Element) -> bytes:
    """One description as an answer."""
    return _bytes(_entry(title, url, moment, description))


def feed(title: str, url: str, moment: str, found: Iterable[tuple[str, str, ET.Element]]) -> bytes:
    """Several descriptions as an answer, each with its title and address."""
    element = ET.Element("feed", {"xmlns": ATOM})
    for name, text in (("id", url), ("title", title), ("updated", moment)):
        ET.SubElement(element, name).text = text
    for each, address, description in found:
        element.append(_entry(each, address, moment, description))
    return _bytes(element)


def error(status: int, detail: str) -> bytes:
    """An error as an answer."""
    element = ET.Element("Error")
    ET.SubElement(element, "Code").text = str(status)
    ET.SubElement(element, "Detail").text = detail
    return _bytes(element)


def _bytes(element: ET.Element) -> bytes:
    text = ILLEGAL.sub("\ufffd", ET.tostring(element, encoding="unicode"))
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}".encode()
