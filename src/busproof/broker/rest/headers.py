"""Which headers are custom properties of a message, and texts as headers have them."""

import re
from typing import Final

__all__ = ["is_custom", "is_value", "text_of"]

NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OF_HTTP: Final = frozenset(
    {
        *("accept", "age", "allow", "authorization", "brokerproperties", "cache-control"),
        *("connection", "cookie", "date", "dnt", "etag", "expect", "expires", "forwarded", "from"),
        *("host", "keep-alive", "last-modified", "link", "location", "max-forwards", "origin"),
        *("pragma", "range", "referer", "retry-after", "server", "servicebusauthorization"),
        *("set-cookie", "strict-transport-security", "trailer", "transfer-encoding"),
        "te",  # codespell:ignore te
        *("upgrade", "upgrade-insecure-requests", "user-agent", "vary", "via", "warning"),
        *("www-authenticate", "x-ms-retrypolicy"),
    }
)
"""Headers that belong to HTTP, or to this interface, and to no message."""
PREFIXES: Final = (
    "accept-",
    "access-control-",
    "content-",
    "if-",
    "proxy-",
    "sec-",
    "x-forwarded-",
)


def is_custom(name: str) -> bool:
    """Return whether a header of this name is a custom property.

    On the way out this leaves out what would be read as part of the answer, such as its length.
    """
    low = name.lower()
    return NAME.fullmatch(name) is not None and low not in OF_HTTP and not low.startswith(PREFIXES)


def is_value(text: str) -> bool:
    """Return whether a text can be the value of a header."""
    return text.isascii() and text.isprintable() and text == text.strip() and text != ""


def text_of(value: str) -> str:
    """Return the value of a header, which HTTP reads as Latin-1, as UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
