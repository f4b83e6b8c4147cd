"""Values of Proton's C library that its Python API hides or changes."""

from typing import Any

import cproton  # type: ignore[import-untyped] # Proton has no types

__all__ = ["content_type_of", "tag_of"]


def tag_of(delivery: Any) -> bytes:
    """Return a delivery's tag as bytes; Proton's Python API expects text, which it need not be."""
    raw = cproton.lib.pn_delivery_tag(delivery._impl)
    return bytes(cproton.ffi.buffer(raw.start, raw.size))


def content_type_of(message: Any) -> str | None:
    """Return a message's content type, or `None`; Proton's Python API returns `None` as a text."""
    content_type: str | None = cproton.pn_message_get_content_type(message._msg)
    return content_type
