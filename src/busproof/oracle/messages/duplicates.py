"""Duplicate detection: which sends are copies of an earlier one (KEY-11)."""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.changes import with_registry
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.stopped_clocks import is_over
from busproof.oracle.queued_messages import Copy, Key
from busproof.oracle.sizes.message_limits import must_refuse_beyond
from busproof.oracle.state import NEVER, Namespace, Queue
from busproof.oracle.window import Window

SHORTEST_WINDOW: Final = 20 * v.MICROSECONDS
LONGEST_WINDOW: Final = 7 * 86_400 * v.MICROSECONDS
"""DUP-03: the shortest and the longest duplicate detection window, in microseconds."""
ASKED_BEYOND: Final = "duplicate_window"
"""Mark of an entity that was to have a window outside these limits."""


def lawful_windows(
    namespace: Namespace, *, detects: bool, wanted: int
) -> tuple[tuple[int, tuple[v.RuleId, ...]], ...]:
    """DUP-03: return the windows that an entity may get, each with its rules.

    A bus whose limits are not judged may use the requested window.
    """
    lawful = min(max(wanted, SHORTEST_WINDOW), LONGEST_WINDOW)
    if not detects or wanted == lawful:
        return ((wanted, ()),)
    as_asked = () if must_refuse_beyond(namespace) else ((wanted, ()),)
    return ((lawful, ("DUP-03",)), *as_asked)


class Fate(Enum):
    """Decision of duplicate detection about a send: kept, dropped, or open if not known."""

    KEPT = "kept"
    DROPPED = "dropped"
    OPEN = "open"


def fate(namespace: Namespace, queue: Queue, message: v.Message, key: Key | None) -> Fate:
    """KEY-11: return whether a message is dropped as a copy of one sent within the window.

    The answer is open if the window may end during the request, if the earlier send was never
    answered, or if the two have different keys (DUPLICATES-ACROSS-KEYS).
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
    window, slack = queue.settings.duplicate_window, namespace.observability.slack
    # The window of an unanswered send has no latest end, so it never surely ends.
    if is_over(namespace, queue, copy.sent.latest + window + slack, window):
        return Fate.KEPT
    # Whether copies with different keys are compared is open (DUPLICATES-ACROSS-KEYS).
    if copy.key != key:
        return Fate.KEPT if namespace.reading("DUPLICATES-ACROSS-KEYS") == "per-key" else Fate.OPEN
    surely_within = namespace.now.latest - copy.sent.earliest < window - slack
    return Fate.DROPPED if surely_within and copy.certain else Fate.OPEN


def noted(
    namespace: Namespace,
    queue: Queue,
    message: v.Message,
    key: Key | None,
    *,
    becomes: Fate,
    certain: bool = True,
    answered: bool = True,
) -> Map[str, tuple[Copy, ...]]:
    """Return the sends that duplicate detection remembers, with this one added.

    The documents leave open whether a dropped copy extends the window (DUPLICATE-PROLONGS). An
    unanswered send may arrive at any later time.
    """
    if not queue.settings.duplicate_detection or message.message_id is None:
        return queue.copies
    reading = namespace.reading("DUPLICATE-PROLONGS")
    # Under this reading the first of several copies starts the window, and later ones change
    # nothing.
    if becomes is Fate.DROPPED and reading == "first":
        return queue.copies
    sure = becomes is Fate.KEPT or (becomes is Fate.DROPPED and reading == "last")
    sent = Copy(
        key=key,
        sent=namespace.now if answered else Window(namespace.now.earliest, NEVER),
        certain=certain and sure,
        body=message.body,
        properties=properties_of(message),
        # A partition that comes up again must still remember the send (DUP-09).
        recovered=queue.recovered,
    )
    before = queue.copies.get(message.message_id, ())
    alike = [copy for copy in before if copy.key == key]
    others = (copy for copy in before if copy.key != key)
    return queue.copies.set(message.message_id, (*_told_last(sent, alike), *others))


def _told_last(sent: Copy, before: list[Copy]) -> Iterator[Copy]:
    """Yield one key's last certain send, and one entry for all uncertain sends after it."""
    doubtful = [copy for copy in before if not copy.certain]
    if sent.certain:
        yield sent
        # An uncertain send before the last certain one makes no difference any more.
        doubtful = [copy for copy in doubtful if copy.sent.latest > sent.sent.latest]
    else:
        yield from (copy for copy in before if copy.certain)
        doubtful.append(sent)
    # One entry stands for all uncertain sends, because one for each would grow without bound.
    if doubtful:
        earliest = min(copy.sent.earliest for copy in doubtful)
        latest = max(copy.sent.latest for copy in doubtful)
        yield evolve(doubtful[-1], sent=Window(earliest, latest))


def from_its_send(namespace: Namespace, sent: Window) -> Namespace:
    """Return the namespace with a clock that runs from a message's send to now.

    The documents do not say whether a message in a transaction is compared when it is sent, or when
    the transaction is committed (DUPLICATE-IN-TRANSACTION).
    """
    return evolve(namespace, now=Window(sent.earliest, namespace.now.latest))


def properties_of(message: v.Message) -> tuple[str | None, str | None]:
    """Return the properties in which a copy may differ: SessionId and PartitionKey."""
    return message.session_id, message.partition_key


def identified(namespace: Namespace, queue: Queue, message: v.Message) -> Namespace:
    """Record that this MessageId went to this entity, if it detects duplicates."""
    if not queue.settings.duplicate_detection or message.message_id is None:
        return namespace
    names = namespace.registry.identified.set(message.message_id, queue.settings.queue)
    return with_registry(namespace, identified=names)


def declined(queue: Queue, message: v.Message, rule: v.RuleId) -> Queue:
    """DUP-08, DUP-10: return the queue with a refused message, which it does not remember."""
    if not queue.settings.duplicate_detection or message.message_id is None:
        return queue
    return evolve(queue, declined=queue.declined.set(message.message_id, rule))
