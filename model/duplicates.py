"""Duplicate detection: which sends are copies of an earlier one (KEY-11)."""

from enum import Enum

from immutables import Map

from busproof.model.state import NEVER, Copy, Key, Namespace, Queue
from busproof.model.values import Message, Profile, Window

__all__ = ["Fate", "fate", "noted"]


class Fate(Enum):
    """What becomes of a send under duplicate detection."""

    KEPT = "kept"
    DROPPED = "dropped"
    OPEN = "open"


def fate(namespace: Namespace, queue: Queue, message: Message, key: Key | None) -> Fate:
    """KEY-11: whether a message is a copy of one sent within the duplicate window.

    Open where the window's edge falls into the time of the request, where the earlier send was
    never answered, and where the copies have different keys (DUPLICATES-ACROSS-KEYS).
    """
    if not queue.settings.duplicate_detection or message.message_id is None:
        return Fate.KEPT
    fates = {
        _fate_beside(namespace, queue, copy, key)
        for copy in queue.copies.get(message.message_id, ())
    }
    if Fate.DROPPED in fates:
        return Fate.DROPPED
    return Fate.OPEN if Fate.OPEN in fates else Fate.KEPT


def _fate_beside(namespace: Namespace, queue: Queue, copy: Copy, key: Key | None) -> Fate:
    window, slack = queue.settings.duplicate_window, namespace.vantage.slack
    if namespace.now.earliest - copy.sent.latest > window + slack:
        return Fate.KEPT
    if copy.key != key:
        return _fate_across_keys(namespace.profile)
    surely_within = namespace.now.latest - copy.sent.earliest < window - slack
    return Fate.DROPPED if surely_within and copy.certain else Fate.OPEN


def _fate_across_keys(profile: Profile) -> Fate:
    reading = profile.readings.get("DUPLICATES-ACROSS-KEYS")
    return Fate.KEPT if reading == "per-key" else Fate.OPEN


def noted(
    namespace: Namespace,
    queue: Queue,
    message: Message,
    key: Key | None,
    *,
    certain: bool,
    answered: bool = True,
) -> Map[str, tuple[Copy, ...]]:
    """The copies known of, this send among them; at most two for each key are kept.

    A send that is itself a copy counts as not certain: whether it prolongs the window is open.
    One that was never answered may arrive at any later time.
    """
    if not queue.settings.duplicate_detection or message.message_id is None:
        return queue.copies
    kept = tuple(
        copy
        for copy in queue.copies.get(message.message_id, ())
        if copy.key != key or (copy.certain and not certain)
    )
    arrived = namespace.now if answered else Window(namespace.now.earliest, NEVER)
    sent = Copy(key, arrived, certain)
    return queue.copies.set(message.message_id, (sent, *kept))
