"""What Proton's own library tells and its Python does not, or not as it is."""

from typing import Any

import cproton  # type: ignore[import-untyped] # Proton has no types

__all__ = ["content_type_of", "tag_of"]


def tag_of(delivery: Any) -> bytes:
    """A delivery's tag; Proton's Python takes it for a text, which it need not be."""
    raw = cproton.lib.pn_delivery_tag(delivery._impl)
    return bytes(cproton.ffi.buffer(raw.start, raw.size))


def content_type_of(message: Any) -> str | None:
    """A message's content type; Proton's Python says `None` as a text where there is none."""
    found: str | None = cproton.pn_message_get_content_type(message._msg)
    return found
