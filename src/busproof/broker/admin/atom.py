"""Descriptions of entities in Atom and XML, as administration clients write and read them."""

import re
from collections.abc import Iterable, Mapping
from typing import Final
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

import attrs

from busproof.broker.admin.parsing import parse_xml
from busproof.broker.configuration.durations import microseconds_in

__all__ = [
    "SB",
    "XSD",
    "XSI",
    "Description",
    "Entry",
    "Unreadable",
    "counts_element",
    "element_of",
    "error",
    "feed",
    "microseconds",
    "public_feed",
    "read_description",
    "strip_namespaces",
    "write_description",
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
        top = parse_xml(text)
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


def write_description(kind: str, properties: Mapping[str, str | ET.Element]) -> ET.Element:
    """Return a description with its properties in the given order.

    Names are written with the service's prefixes, because some clients ignore namespaces.
    """
    element = ET.Element(kind, {"xmlns": SB, "xmlns:i": XSI})
    for name, value in properties.items():
        if isinstance(value, ET.Element):
            element.append(value)
        else:
            ET.SubElement(element, name).text = value
    return element


def counts_element(counts: Mapping[str, int]) -> ET.Element:
    """Return the numbers of messages by their state as XML."""
    details = ET.Element("CountDetails", {"xmlns:d2p1": COUNTS})
    for label, number in counts.items():
        ET.SubElement(details, f"d2p1:{label}").text = str(number)
    return details


def element_of(text: str) -> ET.Element:
    """Parse the text of an element that was written before."""
    return ET.fromstring(text)  # noqa: S314 - written by the broker, without a document type


def strip_namespaces(element: ET.Element) -> ET.Element:
    """Return part of a client's description with names that do not need a namespace."""
    names = {name.replace(f"{{{XSI}}}", "i:"): text for name, text in element.attrib.items()}
    copied = ET.Element(element.tag.rpartition("}")[2], names)
    if (kind := names.get("i:type", "")) and element.tag == f"{{{SB}}}Value":
        # The JavaScript client takes everything after the fifth character as the type.
        copied.set("xmlns:d6p1", SPAN if kind.endswith("duration") else XSD)
        copied.set("i:type", f"d6p1:{kind.rpartition(':')[2]}")
    copied.text = element.text
    copied.extend(strip_namespaces(child) for child in element)
    return copied


@attrs.frozen(kw_only=True)
class Entry:
    """One description with what Atom puts around it; its elements are in the recorded order.

    Attributes:
        title: the name of what is described.
        url: its address.
        link: its address relative to that of the list, or `url`.
        updated: when it was last changed.
        description: the description.
        published: when it was created; the answer to the update of a queue or topic has no such
            time.
        author: the name of the namespace; only queues, topics and the namespace have one.
    """

    title: str
    url: str
    link: str
    updated: str
    description: ET.Element
    published: str | None = None
    author: str | None = None

    def element(self) -> ET.Element:
        """Return the entry as XML."""
        element = ET.Element("entry", {"xmlns": ATOM})
        ET.SubElement(element, "id").text = self.url
        _title(element, self.title)
        if self.published is not None:
            ET.SubElement(element, "published").text = self.published
        ET.SubElement(element, "updated").text = self.updated
        if self.author is not None:
            ET.SubElement(ET.SubElement(element, "author"), "name").text = self.author
        ET.SubElement(element, "link", {"rel": "self", "href": self.link})
        content = ET.SubElement(element, "content", {"type": "application/xml"})
        content.append(self.description)
        return element

    def body(self) -> bytes:
        """Return the entry as the body of an HTTP answer."""
        return _bytes(self.element())


def feed(
    title: str, url: str, moment: str, entries: Iterable[Entry], following: str | None
) -> bytes:
    """Return a page of descriptions as the body of an HTTP answer.

    `following` is the address of the next page, if any; most clients continue only if there is one.
    """
    element = ET.Element("feed", {"xmlns": ATOM})
    _title(element, title)
    ET.SubElement(element, "id").text = url
    ET.SubElement(element, "updated").text = moment
    ET.SubElement(element, "link", {"rel": "self", "href": url})
    if following is not None:
        ET.SubElement(element, "link", {"rel": "next", "href": following})
    element.extend(entry.element() for entry in entries)
    return _bytes(element)


def public_feed(moment: str) -> bytes:
    """Return the empty list that the service gives for an address where there is nothing."""
    element = ET.Element("feed", {"xmlns": ATOM})
    _title(element, "Publicly Listed Services")
    subtitle = ET.SubElement(element, "subtitle", {"type": "text"})
    subtitle.text = "The list of publicly listed services; there are none."
    ET.SubElement(element, "id").text = f"uuid:{uuid5(NAMESPACE_URL, moment)};id=1"
    ET.SubElement(element, "updated").text = moment
    ET.SubElement(element, "generator").text = "Service Bus 1.1"
    return _bytes(element)


def _title(element: ET.Element, title: str) -> None:
    ET.SubElement(element, "title", {"type": "text"}).text = title


def error(status: int, detail: str) -> bytes:
    """Return an error as the body of an HTTP answer."""
    element = ET.Element("Error")
    ET.SubElement(element, "Code").text = str(status)
    ET.SubElement(element, "Detail").text = detail
    return _bytes(element)


def _bytes(element: ET.Element) -> bytes:
    text = ILLEGAL.sub("\ufffd", ET.tostring(element, encoding="unicode"))
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}".encode()
