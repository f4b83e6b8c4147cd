"""Lines of JSON: one object per line, converted strictly and with a maximum length."""

import json
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from busproof.errors import HistoryError

__all__ = ["LIMIT", "decode_line", "encode_line", "excerpt"]

LIMIT: Final = 16 * 1024 * 1024
"""Maximum length of a line in bytes, without its line break."""

_EXCERPT: Final = 80


def excerpt(value: object) -> str:
    """Return `value` as JSON, or bytes as text, cut to a length that fits a sentence."""
    if isinstance(value, bytes):
        text = repr(value[: 2 * _EXCERPT].decode("utf-8", "replace").rstrip("\r\n"))
    else:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"


def encode_line(value: object) -> bytes:
    """Return plain JSON values as one line of ASCII, with its line break."""
    return _ENCODER.encode(value).encode("ascii") + b"\n"


def decode_line(line: bytes) -> dict[str, Any]:
    """Return the JSON object on one line, which may end with a line break.

    Raises:
        HistoryError: the line is not UTF-8, not JSON or not an object, or has a field twice; the
            message is a clause that a caller puts after the place of the line.
    """
    try:
        text = line.decode("utf-8")
        value, end = _DECODER.raw_decode(text)
        is_whole = text[end:] in ("", "\n")
    except (ValueError, RecursionError):
        is_whole = False
    if not is_whole:
        value = _json(_text(line))
    if not isinstance(value, dict):
        raise HistoryError(f"the line must be a JSON object, and is {excerpt(value)}")
    if b"\\u" in line:
        _check_unicode(value)
    return value


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HistoryError(
            f"the line must be UTF-8, and byte {error.start + 1} of it is not: {excerpt(line)}"
        ) from None


def _json(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise HistoryError("the line must be JSON, and is nested too deeply to be read") from None
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos + 1}"
    except ValueError as error:
        where = str(error)
    raise HistoryError(
        f"the line must be JSON, and is not ({where}): {excerpt(text.encode())}"
    ) from None


def _check_unicode(value: dict[str, Any]) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise HistoryError(
            "the line must be Unicode text, and has half a surrogate pair (\\ud800 to \\udfff)"
        ) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _fields(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the field {excerpt(twice)} twice")
    return fields


_ENCODER: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False)
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_fields)
