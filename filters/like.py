"""LIKE patterns (FILTER-15), matched at a cost that a long text or pattern cannot raise much.

A pattern is cut at its `%`. Each piece is looked for from left to right, behind the one before: the
leftmost place leaves the most for the others. A piece of letters alone is found by `str.find`. A
piece with `_` is found at all places of the text at once: an integer has one bit for each place.
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
"""First character of the last private plane."""
_SINGLE: Final[dict[str, str]] = {}
"""Characters that stand for several, to which a letter folds; Unicode has about a hundred."""


def signs(pattern: str, escape: str) -> Signs | None:
    """Return the letters and wildcards of a pattern; `None` if an escape is undefined."""
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
    """Return a text with as many letters, where letters are equal that differ in case alone."""
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
    """Yield what is before, between and behind the `%` of a pattern."""
    start = 0
    for place, sign in enumerate(wanted):
        if sign is Wildcard.ANY_TEXT:
            yield wanted[start:place]
            start = place + 1
    yield wanted[start:]


def _find(piece: Sequence[str | Wildcard], text: str, start: int, end: int) -> int:
    """Return the first place from `start` and before `end` at which a piece begins, or -1."""
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
    """Return an integer with a bit for each place at which a text has the letter."""
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
