"""How much room the messages of an entity take, at the least and at the most that it can be.

Beyond a message's body nobody says what it takes, nor when the room of one that is gone is free
again. So the least counts the bodies of what is surely there, and the most whatever ever arrived,
with all that it may take besides.
"""

from typing import Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key, Stored

__all__ = ["NO_ROOM_TAKEN", "Room", "filled", "least", "most", "most_of_state", "moved"]

OVERHEAD: Final = 4096
"""Bytes that a message may take beyond its body and its properties, or a state beyond its text."""
WIDEST: Final = 4
"""Bytes that a character may take."""


@attrs.frozen(kw_only=True, weakref_slot=False)
class Room:
    """What the messages of an entity take of its size, in bytes.

    Attributes:
        arrived: for each set of partitions, the most that ever arrived there takes.
        taken: the same, of all of them.
        held: for each set of partitions, the least that those messages take which are surely there.
        apart: of these, what is locked or deferred.
        keys: key to the least that its messages take which are surely there.
        mortal: of what is held, what has a time to live of its own and may be gone after it.
        largest: the most that one message takes.
        full: partitions that have refused a message for want of room, and taken none since.
        refused: keys of which a message was refused for want of room, and none taken since, to
            whether one was removed since; `None` stands for no key.
    """

    arrived: Map[Partitions, int] = Map()
    taken: int = 0
    held: Map[Partitions, int] = Map()
    apart: Map[Partitions, int] = Map()
    keys: Map[Key, int] = Map()
    mortal: int = 0
    largest: int = 0
    full: Partitions = 0
    refused: Map[Key | None, bool] = Map()


NO_ROOM_TAKEN: Final = Room()


def least(message: v.Message) -> int:
    """The fewest bytes that a message takes: its body, if it tells how large that is."""
    return message.size or 0


def most(message: v.Message) -> int:
    """The most bytes that a message takes."""
    texts = (
        message.message_id,
        message.session_id,
        message.partition_key,
        message.correlation_id,
        message.to,
        message.reply_to,
        message.subject,
        message.reply_to_session_id,
        message.content_type,
    )
    properties = sum(len(text) for text in texts if text is not None)
    own = sum(len(name) + len(str(value)) for name, value in message.properties.items())
    body = max(message.size or 0, WIDEST * len(message.body))
    return body + WIDEST * (properties + own) + OVERHEAD


def most_of_state(state: str | None) -> int:
    """The most bytes that what is stored with a session takes."""
    return 0 if state is None else WIDEST * len(state) + OVERHEAD


def filled(room: Room, where: Partitions, size: int) -> Room:
    """The room once something of at most so many bytes has arrived in one of these partitions."""
    return evolve(
        room,
        arrived=room.arrived.set(where, room.arrived.get(where, 0) + size),
        taken=room.taken + size,
        largest=max(room.largest, size),
    )


def moved(room: Room, before: Stored | None, after: Stored | None) -> Room:
    """The room once a message has come, gone, or is elsewhere or otherwise there than before.

    Args:
        room: as it was.
        before: the message as it was; `None` if it was not there.
        after: the message as it is; `None` if it is gone.
    """
    if after is None and before is not None and len(room.refused):
        room = evolve(room, refused=_emptied(room, before))
    if before is not None and after is not None and _takes_the_same(before, after):
        return room if _is_apart(before) is _is_apart(after) else _set_apart(room, after)
    if before is not None and _is_counted(before):
        room = _with(room, before, -least(before.message))
    if after is not None and _is_counted(after):
        room = _with(room, after, least(after.message))
    return room


def _takes_the_same(before: Stored, after: Stored) -> bool:
    """Whether a message is counted as before, but for being set apart."""
    counted = _is_counted(before) and _is_counted(after) and before.message is after.message
    return counted and before.where == after.where and before.key == after.key


def _is_apart(stored: Stored) -> bool:
    """Whether a message is locked, or deferred."""
    return stored.lock is not None or bool(stored.deferred)


def _set_apart(room: Room, stored: Stored) -> Room:
    """The room once a message has been set apart that was not, or is no longer."""
    size = least(stored.message) if _is_apart(stored) else -least(stored.message)
    where = stored.where
    return evolve(room, apart=room.apart.set(where, room.apart.get(where, 0) + size))


def _is_counted(stored: Stored) -> bool:
    return stored.certain and least(stored.message) > 0


def _with(room: Room, stored: Stored, size: int) -> Room:
    where, key, apart, keys = stored.where, stored.key, room.apart, room.keys
    if _is_apart(stored):
        apart = apart.set(where, apart.get(where, 0) + size)
    if key is not None:
        keys = keys.set(key, keys.get(key, 0) + size)
    held = room.held.set(where, room.held.get(where, 0) + size)
    mortal = room.mortal + (0 if stored.message.time_to_live is None else size)
    return evolve(room, held=held, apart=apart, keys=keys, mortal=mortal)


def _emptied(room: Room, gone: Stored) -> Map[Key | None, bool]:
    """What was refused for want of room, and may have some now that a message is gone."""
    refused = room.refused
    for key in {gone.key, None}:
        if key in refused:
            refused = refused.set(key, True)
    return refused
