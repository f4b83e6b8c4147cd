"""LIKE patterns (FILTER-15), matched at a cost that a long text or pattern cannot raise much.

A pattern is cut into pieces at each `%`. The pieces are looked for from left to right, each after
the one before: the leftmost place leaves the most text for the others. `str.find` finds a piece of
letters only. A piece with `_` is looked for at all places of the text at once, in an integer that
has one bit for each place.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Final

__all__ = ["Wildcard", "folded", "matches", "signs"]


class Wildcard(Enum):
    """Wildcards of a LIKE pattern."""

    ANY_TEXT = "%"
    ANY_LETTER = "_"


Signs = list[str | Wildcard]

_WILDCARDS: Final = {wildcard.value: wildcard for wildcard in Wildcard}
_PRIVATE: Final = 0x100000
"""First character of the last private plane of Unicode."""
_SINGLE: Final[dict[str, str]] = {}
"""Private character for each case folding of several letters; Unicode has about a hundred."""


def signs(pattern: str, escape: str) -> Signs | None:
    """Return the letters and wildcards of a pattern; `None` if it escapes an ordinary letter."""
    parsed: Signs = []
    letters = iter(pattern)
    for letter in letters:
        if escape and letter == escape:
            following = next(letters, "")
            if not following or following not in f"%_{escape}":
                return None
            parsed.append(following)
        else:
            parsed.append(_WILDCARDS.get(letter, letter))
    return parsed


@lru_cache(4)
def folded(text: str) -> str:
    """Return a text of the same length, in which letters that differ only in case are equal."""
    if text.isascii():
        return text.lower()
    return "".join(map(_folded, text))


def _folded(letter: str) -> str:
    fold = letter.casefold()
    if len(fold) > 1 and fold not in _SINGLE:
        _SINGLE[fold] = chr(_PRIVATE + len(_SINGLE))
    return _SINGLE.get(fold, fold)


def matches(wanted: Signs, text: str) -> bool:
    """Return whether a text matches a pattern."""
    first, *others = _pieces(wanted)
    if not others:
        return len(first) == len(text) and _find(first, text, 0, 1) == 0
    *middle, last = others
    if len(text) < len(first) + len(last) or _find(first, text, 0, 1) != 0:
        return False
    place, end = len(first), len(text) - len(last)
    for piece in middle:
        if (place := _find(piece, text, place, end)) < 0:
            return False
        place += len(piece)
    return place <= end and _find(last, text, end, end + 1) == end


def _pieces(wanted: Signs) -> Iterator[Sequence[str | Wildcard]]:
    """Yield the pieces of a pattern before, between and after each `%`."""
    start = 0
    for place, sign in enumerate(wanted):
        if sign is Wildcard.ANY_TEXT:
            yield wanted[start:place]
            start = place + 1
    yield wanted[start:]


def _find(piece: Sequence[str | Wildcard], text: str, start: int, end: int) -> int:
    """Return the first place from `start` on at which a piece fits before `end`, or -1."""
    if not piece:
        return start
    letters = [sign for sign in piece if isinstance(sign, str)]
    if len(letters) == len(piece):
        return text.find("".join(letters), start, max(start, end + len(piece) - 1))
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
