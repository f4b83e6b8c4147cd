"""Rules that a peek exercises: the message that it begins with, and how many it shows."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.messages import peek_start
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, partition_count
from busproof.oracle.transition import Rules

_MOST_SHOWN: Final = 256 * 1024
"""PART-17: size in bytes beyond which a peek may show fewer messages than requested."""


def of_peek(
    namespace: Namespace, queue: Queue, command: v.Peek, shown: tuple[Stored, ...]
) -> Rules:
    """PART-14 to PART-21: return the rules that a peek with these messages exercises."""
    there = sum(tally.total for tally in queue.tallies.values())
    partitioned = queue.settings.partitioned
    # A peek in a session is about that session only (SESS-23), and in an empty queue it begins
    # nowhere.
    if command.session_id is not None or not there:
        return ()
    if command.from_sequence_number is not None:
        return rules_if((shown, "PART-20"))
    many, several = shown and there > 1, command.count > 1
    return rules_if(
        (partitioned and there < partition_count(namespace, queue.settings), "PART-21"),
        (many and partitioned and not peek_start.is_like_regular(namespace), "PART-16"),
        (many and _is_first(namespace, queue, command, shown[0]), peek_start.rule_of(queue)),
        (many and there > command.count, "PART-19"),
        (many and several and partitioned, "PART-18"),
        (many and several and sum(queue.room.certain.values()) > _MOST_SHOWN, "PART-17"),
    )


def _is_first(namespace: Namespace, queue: Queue, command: v.Peek, first: Stored) -> bool:
    """PART-14, PART-15: return whether this is the oldest of several messages in one partition."""
    tally = queue.tallies.get(first.where)
    # If it is alone in its partition, it comes first on any bus, which shows nothing.
    several = first.where.bit_count() == 1 and tally is not None and tally.total > 1
    judged = peek_start.is_judged(namespace, queue, command)
    return judged and several and peek_start.foremost(queue, first.where) is first
