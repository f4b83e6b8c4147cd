"""Messages that a receive may give as far as is known, with their locks, to list as allowed."""

from typing import Any, Final

from busproof.oracle.messages.keys import SESSION_ID
from busproof.oracle.messages.matching import sequence_number
from busproof.oracle.messages.message_store import first_in_line
from busproof.oracle.messages.sessions import session_at
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key, Stored
from busproof.oracle.state import Namespace, Queue

KEYS_OFFERED: Final = 64
"""Maximum number of keys whose first messages are all listed as allowed.

With more keys only the oldest message of each partition is listed; readers look at a few.
"""


def heads(queue: Queue, session_id: str | None) -> list[Stored]:
    """Return messages that may be given, oldest first: the first of each partition and key.

    In a session that is its first message. Otherwise this visits all messages of the queue.
    """
    if session_id is not None:
        first = first_in_line(queue, Key(SESSION_ID, session_id))
        return [] if first is None else [first]
    of_keys = len(queue.lines) <= KEYS_OFFERED
    oldest: dict[Partitions | Key, Stored] = {}
    for _, stored in sorted(queue.messages.items()):
        if stored.available:
            oldest.setdefault(stored.where, stored)
            if of_keys and stored.line is not None:
                oldest.setdefault(stored.line, stored)
    once = {stored.number: stored for stored in oldest.values()}
    return [once[number] for number in sorted(once)]


def told_of_lock(
    namespace: Namespace, queue: Queue, session_id: str | None, stored: Stored
) -> dict[str, Any]:
    """Return the fields of a view that describe the lock on a message delivered now."""
    until = namespace.now.earliest + queue.settings.lock_duration
    if session_id is not None:
        until = session_at(queue, session_id).expiry.earliest
    return {
        "delivery_count": stored.counted + 1,
        "lock_token": f"{sequence_number(stored)}/{stored.deliveries + 1}",
        "locked_until": until,
    }
