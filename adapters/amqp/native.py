"""Values in Proton's C library that its Python binding hides or changes."""

from typing import Any

import cproton  # type: ignore[import-untyped] # Proton has no types

__all__ = ["content_type_of", "tag_of"]


def tag_of(delivery: Any) -> bytes:
    """Return a delivery's tag as bytes; Proton's binding would require it to be text."""
    raw = cproton.lib.pn_delivery_tag(delivery._impl)
    return bytes(cproton.ffi.buffer(raw.start, raw.size))


def content_type_of(message: Any) -> str | None:
    """Return a message's content type, or `None`, which Proton's binding turns into a string."""
    content_type: str | None = cproton.pn_message_get_content_type(message._msg)
    return content_type
