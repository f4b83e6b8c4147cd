"""Descriptions of entities in Atom and XML, as administration clients write and read them."""

import re
from collections.abc import Iterable, Mapping
from typing import Final
from xml.etree import ElementTree as ET

from busproof.broker.admin.parsing import parsed_xml
from busproof.broker.configuration.durations import microseconds_in

__all__ = [
    "SB",
    "XSD",
    "XSI",
    "Description",
    "Unreadable",
    "as_written",
    "element_of",
    "entry",
    "error",
    "feed",
    "microseconds",
    "read_description",
    "written",
]

ATOM: Final = "http://www.w3.org/2005/Atom"
SB: Final = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
COUNTS: Final = "http://schemas.microsoft.com/netservices/2011/06/servicebus"
XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
XSD: Final = "http://www.w3.org/2001/XMLSchema"
SPAN: Final = "http://schemas.microsoft.com/2003/10/Serialization/"
ILLEGAL: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that XML cannot represent; one of them would make a whole list unreadable."""


class Unreadable(Exception):
    """A description that cannot be parsed, or that requests an unsupported feature."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


class Description:
    """The description of an entity that a client sent: its kind and its properties."""

    def __init__(self, element: ET.Element) -> None:
        self.element = element
        self.kind = element.tag.removeprefix(f"{{{SB}}}")

    def said(self) -> dict[str, str]:
        """Return the properties that have only text."""
        return {
            child.tag.removeprefix(f"{{{SB}}}"): child.text or ""
            for child in self.element
            if not len(child) and child.text
        }

    def child(self, name: str) -> ET.Element | None:
        """Return a property that has child elements, or `None` if there is none."""
        return self.element.find(f"{{{SB}}}{name}")


def read_description(body: bytes) -> Description:
    """Parse the description in an Atom entry.

    Raises:
        Unreadable: the body has no such description.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("The body is not UTF-8, which is the only accepted encoding.") from None
    if "<!" in text.replace("<![CDATA[", "").replace("<!--", ""):
        raise Unreadable("The body declares a document type, which is not accepted.")
    try:
        top = parsed_xml(text)
    except (ET.ParseError, ValueError) as problem:
        raise Unreadable(f"The body is not XML: {problem}.") from None
    content = top.find(f"{{{ATOM}}}content")
    if content is None or not len(content):
        raise Unreadable("The body is not an Atom entry with a description.")
    return Description(content[0])


def microseconds(text: str, name: str) -> int:
    """Parse a duration, such as PT1M, into microseconds.

    Raises:
        Unreadable: the text is not a duration.
    """
    duration = microseconds_in(text)
    if duration is None:
        raise Unreadable(f"{name} is {text!r}; it has to be a duration such as PT1M.")
    return duration


def written(
    kind: str, properties: Mapping[str, str], counts: Mapping[str, int] | None
) -> ET.Element:
    """Return a description with its properties in the given order, and with the message counts.

    The counts come after the property `MessageCount`. Names are written with the service's
    prefixes, because some clients ignore namespaces.
    """
    element = ET.Element(kind, {"xmlns": SB, "xmlns:i": XSI})
    for name, text in properties.items():
        ET.SubElement(element, name).text = text
        if name == "MessageCount" and counts is not None:
            details = ET.SubElement(element, "CountDetails", {"xmlns:d2p1": COUNTS})
            for label, number in counts.items():
                ET.SubElement(details, f"d2p1:{label}").text = str(number)
    return element


def element_of(text: str) -> ET.Element:
    """Parse the text of an element that was written before."""
    return ET.fromstring(text)  # noqa: S314 - written by the broker, without a document type


def as_written(element: ET.Element) -> ET.Element:
    """Return part of a client's description with names that do not need a namespace."""
    names = {name.replace(f"{{{XSI}}}", "i:"): text for name, text in element.attrib.items()}
    copied = ET.Element(element.tag.rpartition("}")[2], names)
    if (kind := names.get("i:type", "")) and element.tag == f"{{{SB}}}Value":
        # The JavaScript client takes everything after the fifth character as the type.
        copied.set("xmlns:d6p1", SPAN if kind.endswith("duration") else XSD)
        copied.set("i:type", f"d6p1:{kind.rpartition(':')[2]}")
    copied.text = element.text
    copied.extend(as_written(child) for child in element)
    return copied


def _entry(title: str, url: str, moment: str, description: ET.Element) -> ET.Element:
    element = ET.Element("entry", {"xmlns": ATOM})
    for name, text in (("id", url), ("title", title), ("published", moment), ("updated", moment)):
        ET.SubElement(element, name).text = text
    ET.SubElement(element, "link", {"rel": "self", "href": url})
    content = ET.SubElement(element, "content", {"type": "application/xml"})
    content.append(description)
    return element


def entry(title: str, url: str, moment: str, description: ET.Element) -> bytes:
    """Return one description as the body of an HTTP answer."""
    return _bytes(_entry(title, url, moment, description))


def feed(
    title: str,
    url: str,
    moment: str,
    entries: Iterable[tuple[str, str, ET.Element]],
    following: str | None,
) -> bytes:
    """Return a page of descriptions as the body of an HTTP answer.

    `entries` are titles, addresses and descriptions. `following` is the address of the next page,
    if any; most clients continue only if there is one.
    """
    element = ET.Element("feed", {"xmlns": ATOM})
    for name, text in (("id", url), ("title", title), ("updated", moment)):
        ET.SubElement(element, name).text = text
    ET.SubElement(element, "link", {"rel": "self", "href": url})
    if following is not None:
        ET.SubElement(element, "link", {"rel": "next", "href": following})
    for entry_title, address, description in entries:
        element.append(_entry(entry_title, address, moment, description))
    return _bytes(element)


def error(status: int, detail: str) -> bytes:
    """Return an error as the body of an HTTP answer."""
    element = ET.Element("Error")
    ET.SubElement(element, "Code").text = str(status)
    ET.SubElement(element, "Detail").text = detail
    return _bytes(element)


def _bytes(element: ET.Element) -> bytes:
    text = ILLEGAL.sub("\ufffd", ET.tostring(element, encoding="unicode"))
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}".encode()
