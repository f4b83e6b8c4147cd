"""Parsing of XML from clients, whose cost is bounded by its size."""

from typing import Final
from xml.etree import ElementTree as ET

__all__ = ["parsed_xml"]

LONGEST_NAMESPACE: Final = 200
"""Maximum length of a namespace, in characters: the parser copies it for each name in it."""
DEEPEST: Final = 32
"""Maximum nesting of elements; a rule's filter needs eight levels."""
MOST_ELEMENTS: Final = 5_000


class _Builder(ET.TreeBuilder):
    """A builder of elements that refuses long namespaces, and too many or too deep elements."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> ET.Element:
        """Begin an element.

        Raises:
            ValueError: there are too many, or it is too deep.
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
        """Check a namespace before anything is in it.

        Raises:
            ValueError: it is too long.
        """
        if len(uri) > LONGEST_NAMESPACE:
            raise ValueError(
                f"a namespace has {len(uri):,} characters and may have at most {LONGEST_NAMESPACE}"
            )


def parsed_xml(text: str) -> ET.Element:
    """Return the element that a text has.

    Raises:
        ValueError: a namespace is too long, or there are too many or too deep elements.
        ET.ParseError: it is not XML.
    """
    parser = ET.XMLParser(target=_Builder())  # noqa: S314 - texts have no document type
    parser.feed(text)
    element: ET.Element = parser.close()
    return element
