"""Damage in a database's write-ahead log, which SQLite does not report.

SQLite reads a log up to the first frame with a wrong checksum, and takes the rest for leftovers of
a crash. If a later frame ends a commit of the same log, commits are lost.
"""

import sys
from array import array
from pathlib import Path
from struct import Struct
from typing import Final

__all__ = ["damage_in", "log_of"]

HEADER: Final = Struct(">8I")
"""Header of a log: magic number, format, page size, checkpoint number, 2 salts, 2 checksums."""
FRAME: Final = Struct(">6I")
"""Header of a frame in a log.

Page number, database size in pages if the frame ends a commit or else 0, two salts and two
checksums.
"""
MAGIC: Final = {0x377F0682: "little", 0x377F0683: "big"}
"""Magic numbers, with the byte order of their checksums."""
SUMMED: Final = 8
"""Number of bytes of a frame's header that its checksums cover."""
WORD: Final = 2**32 - 1

Sums = tuple[int, int]


def log_of(database: Path) -> Path:
    """Return the path of a database's write-ahead log."""
    return database.with_name(f"{database.name}-wal")


def damage_in(log: Path) -> str | None:
    """Return a description of a log's damage; `None` if SQLite reads every commit in it."""
    data = log.read_bytes() if log.exists() else b""
    if len(data) <= HEADER.size:
        return None
    magic, _, page, _, *salts, one, two = HEADER.unpack_from(data)
    order = MAGIC.get(magic)
    if order is None or _summed(data[: HEADER.size - 8], order, (0, 0)) != (one, two):
        return f"{log.name} does not begin like a log, so all commits in it are lost"
    sums, is_whole = (one, two), True
    size = FRAME.size + page
    for place in range(HEADER.size, len(data) - size + 1, size):
        _, ends, *its_salts, one, two = FRAME.unpack_from(data, place)
        if its_salts != salts:
            # The frame is from before the log was last reset, or its header is damaged.
            is_whole = False
        elif is_whole:
            sums = _summed(data[place : place + SUMMED], order, sums)
            sums = _summed(data[place + FRAME.size : place + size], order, sums)
            is_whole = sums == (one, two)
        # Only a lost commit matters: a kill may cut off the last frame, which nobody was answered.
        if not is_whole and its_salts == salts and ends:
            return f"{log.name} is damaged, so that commits in it are lost"
    return None


def _summed(data: bytes, order: str, sums: Sums) -> Sums:
    """Continue SQLite's checksums with these bytes."""
    words = array("I", data)
    if order != sys.byteorder:
        words.byteswap()
    one, two = sums
    pairs = iter(words)
    if len(words) % 8 == 0:
        # Numbers stay small for a few steps, and masking costs as much as a step.
        for a, b, c, d, e, f, g, h in zip(*[pairs] * 8, strict=True):
            one += a + two
            two += b + one
            one += c + two
            two += d + one
            one += e + two
            two += f + one
            one = (one + g + two) & WORD
            two = (two + h + one) & WORD
        return one, two
    for first, second in zip(pairs, pairs, strict=True):
        one = (one + first + two) & WORD
        two = (two + second + one) & WORD
    return one, two
