"""Storage that an entity's messages use: the least and the greatest possible number of bytes.

The documents define neither the overhead of a message nor when the storage of a removed message is
free again. So the least counts the bodies of messages that are surely there, and the greatest
counts every message that ever arrived, with all possible overhead.
"""

from operator import attrgetter
from typing import Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key, Stored

OVERHEAD: Final = 4096
"""Greatest overhead in bytes of a message beyond its body and properties, or of a state."""
WIDEST: Final = 4
"""Maximum number of bytes that one character takes."""
_texts: Final = attrgetter(
    *("message_id", "session_id", "partition_key", "correlation_id", "to", "reply_to"),
    *("subject", "reply_to_session_id", "content_type"),
)
"""The properties of a message that take storage."""


@attrs.frozen(kw_only=True, weakref_slot=False)
class Room:
    """Storage in bytes that an entity's messages use.

    Attributes:
        arrived: for each set of partitions, the most that all messages that ever arrived there use.
        taken: the most that all messages that ever arrived use, in all partitions.
        certain: for each set of partitions, the least that messages surely there use.
        apart: the part of `certain` that locked and deferred messages use.
        keys: key to the least that the messages surely there with this key use.
        mortal: the part of `certain` that may be free because messages may have expired.
        largest: the most that one message uses.
        full: partitions that have refused a message for lack of room, and accepted none since.
        refused: the keys with a message that was refused for lack of storage, and none accepted
            since (`None` for messages without a key), to whether a message was removed since.
    """

    arrived: Map[Partitions, int] = Map()
    taken: int = 0
    certain: Map[Partitions, int] = Map()
    apart: Map[Partitions, int] = Map()
    keys: Map[Key, int] = Map()
    mortal: int = 0
    largest: int = 0
    full: Partitions = 0
    refused: Map[Key | None, bool] = Map()


NO_ROOM_TAKEN: Final = Room()


def least(message: v.Message) -> int:
    """Return the least number of bytes that a message uses: its body, if its size is known."""
    return message.size or 0


def most(message: v.Message) -> int:
    """Return the greatest number of bytes that a message uses."""
    characters = 0
    for text in _texts(message):
        if text is not None:
            characters += len(text)
    for name, value in message.properties.items():
        characters += len(name) + len(str(value))
    body = max(message.size or 0, WIDEST * len(message.body))
    return body + WIDEST * characters + OVERHEAD


def most_of_state(state: str | None) -> int:
    """Return the greatest number of bytes that a session state uses."""
    return 0 if state is None else WIDEST * len(state) + OVERHEAD


def filled(room: Room, where: Partitions, size: int) -> Room:
    """Return the storage after at most `size` more bytes arrived in one of these partitions."""
    return evolve(
        room,
        arrived=room.arrived.set(where, room.arrived.get(where, 0) + size),
        taken=room.taken + size,
        largest=max(room.largest, size),
    )


def moved(room: Room, before: Stored | None, after: Stored | None) -> Room:
    """Return the storage after one message was added, removed or changed.

    Args:
        room: the storage before.
        before: the message before; `None` if it was not there.
        after: the message after; `None` if it was removed.
    """
    if after is None and before is not None and len(room.refused):
        # The removal may have made room for a message that was refused.
        kept = {key: True for key in (before.key, None) if key in room.refused}
        room = evolve(room, refused=room.refused.update(kept))
    # Most changes lock or release a message. They free no bytes, and only `apart` changes.
    if before is not None and after is not None and _takes_the_same(before, after):
        return room if _is_apart(before) is _is_apart(after) else _set_apart(room, after)
    if before is not None and _is_counted(before):
        room = _with(room, before, -least(before.message))
    if after is not None and _is_counted(after):
        room = _with(room, after, least(after.message))
    return room


def _takes_the_same(before: Stored, after: Stored) -> bool:
    """Return whether a message uses the same storage as before, apart from a lock or deferral."""
    counted = _is_counted(before) and _is_counted(after) and before.message is after.message
    return counted and before.where == after.where and before.key == after.key


def _is_apart(stored: Stored) -> bool:
    """Return whether a message is locked or deferred."""
    return stored.lock is not None or bool(stored.deferred)


def _set_apart(room: Room, stored: Stored) -> Room:
    """Return the storage after a message was locked or deferred, or is neither any more."""
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
    by_partition = room.certain.set(where, room.certain.get(where, 0) + size)
    mortal = room.mortal + (0 if stored.message.time_to_live is None else size)
    return evolve(room, certain=by_partition, apart=apart, keys=keys, mortal=mortal)
