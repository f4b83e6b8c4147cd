"""Parsing of XML from clients at a cost that is bounded by its size."""

from typing import Final
from xml.etree import ElementTree as ET

__all__ = ["parse_xml"]

LONGEST_NAMESPACE: Final = 200
"""Maximum length of a namespace, in characters; the parser copies it for each name within."""
DEEPEST: Final = 32
"""Maximum nesting of elements; a rule's filter needs eight levels."""
MOST_ELEMENTS: Final = 5_000


class _Builder(ET.TreeBuilder):
    """An element builder that refuses long namespaces, deep nesting and too many elements."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> ET.Element:
        """Begin an element.

        Raises:
            ValueError: there are too many elements, or this one is nested too deeply.
        """
        self._depth += 1
        self._count += 1
        if self._depth > DEEPEST or self._count > MOST_ELEMENTS:
            raise ValueError(
                f"it has more than {MOST_ELEMENTS:,} elements, or more than {DEEPEST} levels"
            )
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ET.Element:
        """End an element."""
        self._depth -= 1
        return super().end(tag)

    def start_ns(self, prefix: str, uri: str) -> None:  # noqa: ARG002 - as the parser calls it
        """Check the length of an XML namespace before any name uses it.

        Raises:
            ValueError: the namespace is too long.
        """
        if len(uri) > LONGEST_NAMESPACE:
            raise ValueError(
                f"a namespace has {len(uri):,} characters and may have at most {LONGEST_NAMESPACE}"
            )


def parse_xml(text: str) -> ET.Element:
    """Parse a text into an XML element.

    Raises:
        ValueError: a namespace is too long, or there are too many elements or levels.
        ET.ParseError: the text is not XML.
    """
    parser = ET.XMLParser(target=_Builder())  # noqa: S314 - texts have no document type
    parser.feed(text)
    element: ET.Element = parser.close()
    return element
