"""Frames of a client, changed at random."""

import random
from typing import Final

TELLING: Final = bytes.fromhex(
    "00 40 41 43 45 53 56 70 7f 80 98 a0 a1 a3 b0 b1 c0 c1 d0 d1 e0 f0 ff"
)
"""Bytes by which AMQP tells types apart, and the ends of ranges."""


def changed(frames: list[bytes], chance: random.Random) -> list[bytes]:
    """The frames with something wrong about one of them, or about a few."""
    found = list(frames)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        place = chance.randrange(len(found))
        how = chance.choice((flipped, flipped, _told, _told, cut, spliced, _nested, _sized))
        if chance.random() < 0.25:
            _moved(found, place, chance)
            continue
        frame = how(bytearray(found[place]), chance)
        if len(frame) >= 8 and frame[:4] != b"AMQP" and how is not _sized and chance.random() < 0.9:
            frame[:4] = len(frame).to_bytes(4, "big")
        found[place] = bytes(frame)
    return found


def flipped(frame: bytearray, chance: random.Random) -> bytearray:
    """With some bits the other way round."""
    for _ in range(chance.choice((1, 1, 2, 8))):
        frame[chance.randrange(len(frame))] ^= 1 << chance.randrange(8)
    return frame


def _told(frame: bytearray, chance: random.Random) -> bytearray:
    for _ in range(chance.choice((1, 1, 2, 8))):
        frame[chance.randrange(len(frame))] = chance.choice(TELLING)
    return frame


def cut(frame: bytearray, chance: random.Random) -> bytearray:
    """Without its end."""
    return frame[: chance.randrange(1, len(frame) + 1)]


def spliced(frame: bytearray, chance: random.Random) -> bytearray:
    """With bytes in it that are none of it."""
    place = chance.randrange(len(frame) + 1)
    frame[place:place] = chance.randbytes(chance.choice((1, 3, 40)))
    return frame


def _nested(frame: bytearray, chance: random.Random) -> bytearray:
    """Something in it is described, or has lists in it, ever so often."""
    deep = chance.choice((40, 3_000))
    place = chance.randrange(len(frame) + 1)
    if chance.random() < 0.5:
        inner = b"\x00\x40" * deep + b"\x40"
    else:
        inner = b"\x45"
        for _ in range(deep):
            inner = b"\xd0" + (len(inner) + 4).to_bytes(4, "big") + b"\0\0\0\1" + inner
    frame[place:place] = inner
    return frame


def _sized(frame: bytearray, chance: random.Random) -> bytearray:
    size = chance.choice((0, 7, 8, 9, len(frame) - 1, len(frame) + 1, 262_145, 2**31, 2**32 - 1))
    frame[:4] = max(0, size).to_bytes(4, "big")
    return frame


def _moved(frames: list[bytes], place: int, chance: random.Random) -> None:
    """A frame is left out, said more than once, or comes elsewhere."""
    how = chance.randrange(3)
    if how == 0 and len(frames) > 1:
        del frames[place]
    elif how == 1:
        frames[place:place] = [frames[place]] * chance.choice((1, 3, 60))
    else:
        frames.insert(chance.randrange(len(frames)), frames.pop(place))
