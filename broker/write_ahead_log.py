"""The logs of a store's databases, whose damage SQLite does not report.

SQLite reads a log up to the first frame whose checksum is wrong, and takes the rest for what a
crash has left. A frame there that ends a commit of the same log shows that commits are lost.
"""

import sys
from array import array
from pathlib import Path
from struct import Struct
from typing import Final

__all__ = ["damage_in", "log_of"]

HEADER: Final = Struct(">8I")
"""Magic, format, bytes of a page, number of the log, two salts, two sums."""
FRAME: Final = Struct(">6I")
"""Number of the page, pages after the commit that the frame ends or 0, two salts, two sums."""
MAGIC: Final = {0x377F0682: "little", 0x377F0683: "big"}
"""How a log begins, by the order of bytes in the words that are summed up."""
SUMMED: Final = 8
"""How many bytes of a frame's header are summed up."""
WORD: Final = 2**32 - 1

Sums = tuple[int, int]


def log_of(database: Path) -> Path:
    """Return where the log of a database is."""
    return database.with_name(f"{database.name}-wal")


def damage_in(log: Path) -> str | None:
    """Return what is wrong with a log; `None` if SQLite reads every commit in it."""
    data = log.read_bytes() if log.exists() else b""
    if len(data) <= HEADER.size:
        return None
    magic, _, page, _, *salts, one, two = HEADER.unpack_from(data)
    order = MAGIC.get(magic)
    if order is None or _summed(data[: HEADER.size - 8], order, (0, 0)) != (one, two):
        return f"{log.name} does not begin as a log does, so that all commits in it are lost"
    sums, is_whole = (one, two), True
    size = FRAME.size + page
    for place in range(HEADER.size, len(data) - size + 1, size):
        _, ends, *its_salts, one, two = FRAME.unpack_from(data, place)
        if its_salts != salts:
            # It is from before the log was last begun anew, or its header is damaged.
            is_whole = False
        elif is_whole:
            sums = _summed(data[place : place + SUMMED], order, sums)
            sums = _summed(data[place + FRAME.size : place + size], order, sums)
            is_whole = sums == (one, two)
        if not is_whole and its_salts == salts and ends:
            return f"{log.name} is damaged, so that commits in it are lost"
    return None


def _summed(data: bytes, order: str, sums: Sums) -> Sums:
    """Return the sums that SQLite makes of bytes, going on from those of the bytes before."""
    words = array("I", data)
    if order != sys.byteorder:
        words.byteswap()
    one, two = sums
    pairs = iter(words)
    for first, second in zip(pairs, pairs, strict=True):
        one = (one + first + two) & WORD
        two = (two + second + one) & WORD
    return one, two
