"""Rules that an accepted send exercises."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.coverage.topics import is_gone
from busproof.oracle.messages import keys
from busproof.oracle.messages.duplicates import ASKED_BEYOND, properties_of
from busproof.oracle.messages.partitioning import REROUTING_TIMEOUT
from busproof.oracle.messages.partitions import is_another_dark
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Copy, Key
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.transition import Rules

DEFAULT_WINDOW: Final = 600 * v.MICROSECONDS
"""DUP-02: duplicate window in microseconds of an entity that is created without one."""


def of_key(
    namespace: Namespace,
    queue: Queue,
    message: v.Message,
    key: Key,
    home: Partitions,
    where: Partitions,
) -> Rules:
    """Return the rules on the partition of a message with a key, if that partition is known."""
    one = home.bit_count() == 1
    # A key shows something only if its partition was known before, so that another one would be
    # noticed.
    known = keys.home_name(namespace.profile, key) in queue.homes and one
    equal = message.session_id is not None and message.session_id == message.partition_key
    return (
        *rules_if((known and home & queue.recovered, "KEY-20")),
        *(keys.rule_of(queue.settings, message, key) if known else ()),
        *rules_if(
            (equal, "KEY-09"),
            (known, "KEY-02"),
            (where.bit_count() == 1, "KEY-01"),
            (one and queue.outages.down & ~home, "PART-02"),
            (is_another_dark(namespace, queue), "PART-05"),
        ),
    )


def of_no_key(
    namespace: Namespace,
    queue: Queue,
    command: v.Send,
    message: v.Message,
    where: Partitions,
    *,
    complete: bool,
) -> Rules:
    """Return the rules on the partition of a message without a key.

    Args:
        namespace: the state before.
        queue: the entity.
        command: the send.
        message: its message.
        where: the partitions that may have taken it.
        complete: whether this message completes a round in which all partitions were used.
    """
    outages, partitioned = queue.outages, queue.settings.partitioned
    short, message_id = command.timeout <= REROUTING_TIMEOUT, message.message_id
    earlier = queue.message_id_partitions.get(message_id or "", where)
    apart = message_id is not None and not earlier & where
    calm = not (outages.down or outages.doubt)
    return rules_if(
        (complete, "KEY-14"),
        (complete, "PREM-16" if namespace.profile.is_partitioned else "SIZE-05"),
        (partitioned and queue.settings.duplicate_detection and message_id is None, "DUP-12"),
        (partitioned and apart, "KEY-12"),
        (partitioned and outages.down, "KEY-18" if short else "KEY-15"),
        (partitioned and short and calm, "KEY-25"),
        (partitioned and where.bit_count() == 1, "KEY-01"),
        (is_another_dark(namespace, queue), "PART-05"),
    )


def of_copy(
    namespace: Namespace, queue: Queue, message: v.Message, key: Key | None, home: Partitions
) -> Rules:
    """KEY-11, DUP-02 to DUP-05, DUP-07, DUP-09: return the rules that a dropped copy exercises."""
    rules = ["KEY-11", "DUP-04"]
    # A window beyond the limits was requested, and the entity got the nearest that they permit.
    rules += rules_if((ASKED_BEYOND in queue.managed.tried, "DUP-03"))
    window = queue.settings.duplicate_window
    for copy in _copies(queue, message):
        if not copy.certain or copy.key != key:
            continue
        other = not queue.settings.partitioned and copy.properties != properties_of(message)
        # A bus with too short a window drops an early copy as well, so only a late one is evidence.
        long = 2 * (namespace.now.earliest - copy.sent.latest) >= DEFAULT_WINDOW
        rules += rules_if(
            (other, "DUP-05"),
            (is_gone(queue, copy.body), "DUP-07"),
            (not home & ~(queue.recovered & ~copy.recovered), "DUP-09"),
            (window == DEFAULT_WINDOW and long, "DUP-02"),
        )
    return tuple(rules)


def _copies(queue: Queue, message: v.Message) -> tuple[Copy, ...]:
    return queue.copies.get(message.message_id or "", ())


def of_no_copy(namespace: Namespace, queue: Queue, message: v.Message, key: Key | None) -> Rules:
    """DUP-01 to DUP-03, DUP-08, DUP-10, DUP-13: return the rules that a kept message exercises.

    A send with its MessageId came before: too long ago, refused, or to another entity.
    """
    message_id, tried = message.message_id, queue.managed.tried
    if not queue.settings.duplicate_detection or message_id is None:
        return ()
    copies = _copies(queue, message)
    # A bus that compares with forgotten or refused sends, or with those to other entities, would
    # have dropped this message.
    again = any(copy.certain and copy.key == key for copy in copies)
    elsewhere = namespace.registry.identified.get(message_id)
    default = queue.settings.duplicate_window == DEFAULT_WINDOW
    return rules_if(
        (elsewhere not in (None, queue.settings.queue), "DUP-13"),
        (again, "DUP-01"),
        (again and ASKED_BEYOND in tried, "DUP-03"),
        (again and default, "DUP-02"),
        (not copies and message_id in queue.declined, queue.declined.get(message_id, "")),
    )


def of_other_key(namespace: Namespace, queue: Queue, message: v.Message, key: Key | None) -> Rules:
    """DUP-06: return the rule exercised by keeping a message whose copy had another key.

    Whether keys matter is open (DUPLICATES-ACROSS-KEYS).
    """
    settings, now = queue.settings, namespace.now.latest
    if not (settings.partitioned and settings.duplicate_detection):
        return ()
    others = (copy for copy in _copies(queue, message) if copy.certain and copy.key != key)
    recent = any(now - copy.sent.earliest < settings.duplicate_window for copy in others)
    return rules_if((recent, "DUP-06"))
