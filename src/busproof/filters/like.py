"""LIKE patterns (FILTER-15), matched at a cost that a long text or pattern cannot raise much.

A pattern is cut into pieces at each `%`. The pieces are looked for from left to right, each after
the one before: the leftmost place leaves the most text for the others. `str.find` finds a piece of
letters only. A piece with `_` is looked for at all places of the text at once, in an integer that
has one bit for each place.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache
from typing import Final

import attrs

__all__ = ["Pattern", "fold_text", "pattern_of"]


class Wildcard(Enum):
    """Wildcards of a LIKE pattern."""

    ANY_TEXT = "%"
    ANY_LETTER = "_"


Sign = str | Wildcard
Piece = str | tuple[Sign, ...]
"""What stands between two `%`: letters only, or letters and `_`."""

_WILDCARDS: Final = {wildcard.value: wildcard for wildcard in Wildcard}
_PRIVATE: Final = 0x100000
"""First character of the last private plane of Unicode."""
_SINGLE: Final[dict[str, str]] = {}
"""Private character for each case folding of several letters; Unicode has about a hundred."""
_KEPT: Final = 10_000
"""Number of patterns that are cached."""


@attrs.frozen
class Pattern:
    """A pattern, ready to be looked for.

    Attributes:
        fits: whether a text matches.
        fits_folded: whether a text matches in which letters that differ only in case are equal.
    """

    fits: Callable[[str], bool]
    fits_folded: Callable[[str], bool]


@lru_cache(_KEPT)
def pattern_of(pattern: str, escape: str) -> Pattern | None:
    """Return a pattern; `None` if it escapes an ordinary letter, or by several characters."""
    signs = None if len(escape) > 1 else list(_signs(pattern, escape))
    if signs is None or "" in signs:
        return None
    without_case = [sign if isinstance(sign, Wildcard) else fold_text(sign) for sign in signs]
    return Pattern(_matcher(tuple(_pieces(signs))), _matcher(tuple(_pieces(without_case))))


def _matcher(pieces: tuple[Piece, ...]) -> Callable[[str], bool]:
    """Return the function that matches a text; for most patterns, it is one of Python's own."""
    match pieces:
        case (str() as text,):
            return text.__eq__
        case ("", str() as text, ""):
            return lambda value: text in value
        case (str() as text, ""):
            return lambda value: value.startswith(text)
        case _:
            return lambda value: _matches(pieces, value)


def _signs(pattern: str, escape: str) -> Iterator[Sign]:
    """Yield the letters and wildcards of a pattern, and an empty text for a wrong escape."""
    letters = iter(pattern)
    for letter in letters:
        if escape and letter == escape:
            following = next(letters, "")
            yield following if following in ("%", "_", escape) else ""
        else:
            yield _WILDCARDS.get(letter, letter)


@lru_cache(4)
def fold_text(text: str) -> str:
    """Return a text of the same length, in which letters that differ only in case are equal."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_letter, text))


def _fold_letter(letter: str) -> str:
    fold = letter.casefold()
    if len(fold) > 1 and fold not in _SINGLE:
        _SINGLE[fold] = chr(_PRIVATE + len(_SINGLE))
    return _SINGLE.get(fold, fold)


def _pieces(signs: list[Sign]) -> Iterator[Piece]:
    """Yield the pieces of a pattern before, between and after each `%`."""
    piece: list[Sign] = []
    for sign in (*signs, Wildcard.ANY_TEXT):
        if sign is not Wildcard.ANY_TEXT:
            piece.append(sign)
            continue
        letters = [each for each in piece if isinstance(each, str)]
        yield "".join(letters) if len(letters) == len(piece) else tuple(piece)
        piece = []


def _matches(pieces: tuple[Piece, ...], text: str) -> bool:
    first, *others = pieces
    if not others:
        return len(first) == len(text) and _find(first, text, 0, 1) == 0
    *middle, last = others
    if len(text) < len(first) + len(last) or _find(first, text, 0, 1) != 0:
        return False
    place = len(first)
    end = len(text) - len(last)
    for piece in middle:
        if (place := _find(piece, text, place, end)) < 0:
            return False
        place += len(piece)
    return place <= end and _find(last, text, end, end + 1) == end


def _find(piece: Piece, text: str, start: int, end: int) -> int:
    """Return the first place from `start` on at which a piece fits before `end`, or -1."""
    if not piece:
        return start
    if isinstance(piece, str):
        return text.find(piece, start, max(start, end + len(piece) - 1))
    places = (1 << max(0, min(end, len(text) - len(piece) + 1))) - 1 >> start << start
    for offset, sign in enumerate(piece):
        if isinstance(sign, str) and places:
            places &= _places(sign, text) >> offset
    return (places & -places).bit_length() - 1


@lru_cache(64)
def _places(letter: str, text: str) -> int:
    """Return an integer with one bit set for each place where the text has this letter."""
    bits = bytearray(b"0" * len(text))
    if text.isascii() and letter.isascii():
        table = bytearray(b"0" * 256)
        table[ord(letter)] = ord("1")
        bits = bytearray(text.encode("ascii").translate(bytes(table)))
    else:
        place = text.find(letter)
        while place >= 0:
            bits[place] = ord("1")
            place = text.find(letter, place + 1)
    bits.reverse()
    return int(bits, 2) if bits else 0
