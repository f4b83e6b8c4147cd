"""Selection of partitions: by a message's key, or evenly among those that are up if it has none."""

from collections.abc import Iterator
from typing import Any, Final

from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.keys import effective_key, home_name, interpretations
from busproof.oracle.outages import Partitions, partition_set
from busproof.oracle.queued_messages import Key, Spread
from busproof.oracle.sizes.entity_size import may_be_full_somewhere
from busproof.oracle.state import Namespace, Queue, everywhere, partition_count
from busproof.oracle.transition import Observation

REROUTING_TIMEOUT: Final = 15 * v.MICROSECONDS
"""KEY-18: a sender's timeout must exceed this for its message to be re-routed."""
SPREAD_ROUNDS: Final = 25
"""Number of messages per partition within which every partition must be used (ROUND-ROBIN).

A fair random choice among 16 partitions leaves one out in 400 messages once in 10 billion runs.
"""


def home_of(namespace: Namespace, queue: Queue, key: Key) -> Partitions:
    """KEY-02: return the partitions that the key may select; once one was seen, only that one."""
    known = queue.homes.get(home_name(namespace.profile, key))
    return everywhere(namespace, queue.settings) if known is None else known


def homes_of(namespace: Namespace, queue: Queue, key: Key | None) -> Partitions:
    """Return the partitions that may take a message with this key, or without one (`None`)."""
    return everywhere(namespace, queue.settings) if key is None else home_of(namespace, queue, key)


def narrowed(
    namespace: Namespace, queue: Queue, key: Key, where: Partitions
) -> Map[Key, Partitions]:
    """Return the partitions of all keys, after those of this key were narrowed to `where`."""
    name = home_name(namespace.profile, key)
    # Callers see by its identity that the table has not changed.
    if queue.homes.get(name) == where:
        return queue.homes
    return queue.homes.set(name, where)


def choices(
    namespace: Namespace, queue: Queue, spared: Partitions, observed: Observation
) -> Iterator[Partitions]:
    """Yield each choice of a partition, as a set, that agrees with the observation.

    A witness names the choice. If only an outcome was observed, the choice stays open as one set of
    partitions; without any observation, each partition is a choice.
    """
    if not spared:
        return
    # A client without partitions cannot see the choice, so it stays open.
    if not namespace.observability.partitions or not queue.settings.partitioned:
        yield spared
    elif observed.witness is not None and namespace.observability.witness:
        if taken := spared & partition_set(observed.witness.partition):
            yield taken
    elif observed.outcome is not None:
        yield spared
    else:
        yield from (bit for n in range(spared.bit_length()) if (bit := spared & (1 << n)))


def must_fail(namespace: Namespace, queue: Queue) -> bool:
    """Return whether a send with a short timeout has to fail in an outage (SHORT-TIMEOUT).

    Only strict round-robin makes it known that the next partition in turn is down.
    """
    readings, spread = namespace.profile.readings, queue.spread
    strict = readings.get("SHORT-TIMEOUT"), readings.get("ROUND-ROBIN")
    if strict != ("must-fail", "strict") or not _is_turn_known(spread):
        return False
    turn = 1 << (spread.last + 1) % partition_count(namespace, queue.settings)
    return queue.outages.identified and queue.outages.must_hit(turn)


def spread_allows(namespace: Namespace, queue: Queue, where: Partitions) -> bool:
    """KEY-14: return whether this choice is fair enough: all partitions are still used in time.

    Call it only for a choice that `is_watched`.
    """
    spread, partitions = queue.spread, partition_count(namespace, queue.settings)
    if namespace.reading("ROUND-ROBIN") == "strict" and _is_turn_known(spread):
        return where == 1 << (spread.last + 1) % partitions
    # Each partition that was not used yet needs one of the messages that are left in these rounds.
    left = partitions - (spread.used | where).bit_count()
    return left <= SPREAD_ROUNDS * partitions - spread.sent - 1


def spread_after(
    namespace: Namespace, queue: Queue, message: v.Message, where: Partitions, *, watched: bool
) -> dict[str, Any]:
    """Return the changes of the distribution after a message without a key.

    It counts only if the choice `is_watched`; the partitions of its MessageId change in any case.
    """
    # A choice that nobody saw makes the next turn unknown.
    changes: dict[str, Any] = {"spread": queue.spread.restarted()}
    message_id = message.message_id
    if message_id is not None and not queue.settings.duplicate_detection:
        earlier = queue.message_id_partitions.get(message_id, where)
        changes["message_id_partitions"] = queue.message_id_partitions.set(
            message_id, earlier & where
        )
    if watched:
        used = queue.spread.used | where
        complete = used == everywhere(namespace, queue.settings)
        last = where.bit_length() - 1
        sent = 0 if complete else queue.spread.sent + 1
        changes["spread"] = evolve(queue.spread, sent=sent, used=0 if complete else used, last=last)
    return changes


def spread_beside(namespace: Namespace, queue: Queue, message: v.Message) -> Spread:
    """KEY-14: return the distribution if this message may arrive at any time, unseen.

    Unless it surely has a key, it takes a turn then, so the next turn is unknown from now on.
    """
    # An empty property may count as not set (EMPTY-KEY), and then the message has no key.
    for profile, counted in interpretations(namespace.profile, message):
        read = evolve(namespace, profile=profile)
        if queue.settings.partitioned and effective_key(read, queue.settings, counted) is None:
            return Spread(turns_unknown=True)
    return queue.spread


def _is_turn_known(spread: Spread) -> bool:
    return spread.last >= 0 and not spread.turns_unknown


def is_watched(namespace: Namespace, queue: Queue, where: Partitions) -> bool:
    """KEY-14: return whether the distribution of messages without a key is judged.

    It is not if the number of partitions is open (GB-PARTITIONS).
    """
    several = partition_count(namespace, queue.settings) > namespace.profile.partitions
    is_count_open = several and namespace.reading("GB-PARTITIONS") == "either"
    return (
        namespace.observability.partitions
        and bool(queue.settings.partitioned)
        and where.bit_count() == 1
        # In an outage messages avoid the partitions that are down (KEY-15), and they avoid full
        # ones.
        and not queue.outages.any
        and not is_count_open
        and not may_be_full_somewhere(namespace, queue)
        and "KEY-14" not in namespace.profile.silent
    )
