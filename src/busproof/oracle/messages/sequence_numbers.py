"""Sequence numbers: each partition assigns them in rising order.

They become known one by one, when a message is received or peeked. Each is compared with the one
learned last in its line only, so the cost is constant.
"""

from collections.abc import Iterator
from typing import Any, Final

from busproof import vocabulary as v
from busproof.oracle.messages.matching import Candidate
from busproof.oracle.queued_messages import Key, Numbered, Stored
from busproof.oracle.state import Namespace, Queue

_ALL: Final = Key("", "")
"""The line that all messages of a regular entity are in."""


def misnumbered(candidate: Candidate) -> v.RuleId | None:
    """SEQ-01, SEQ-03, SEQ-05 to SEQ-07: return the rule that the number in a view breaks, if any.

    Of two messages in one line, the one that surely arrived first has the smaller number.
    """
    namespace, queue, stored = candidate.namespace, candidate.queue, candidate.stored
    number = candidate.view.sequence_number
    # If several messages have the same body, any of them may have the number.
    if number is None or number == stored.sequence_number or not is_one(queue, stored):
        return None
    is_taken = queue.numbers.get(number, stored.number) != stored.number
    scheduled = number in queue.calendar.numbers and number != stored.scheduled_number
    if (is_taken or scheduled) and are_unique(namespace, queue):
        return "SEQ-03"
    line = _line(queue, stored)
    latest = None if line is None else queue.latest_numbers.get(line)
    if latest is None:
        return _out_of_time(namespace, queue, stored, number)
    fallen = _out_of_order(namespace, queue, stored, latest, number)
    fallen = fallen or _beyond_a_gap(namespace, queue, stored, latest, number)
    return fallen or _out_of_time(namespace, queue, stored, number)


def are_unique(namespace: Namespace, queue: Queue) -> bool:
    """SEQ-03: return whether no two messages of an entity share a number (SEQUENCE-UNIQUE)."""
    per_partition = namespace.reading("SEQUENCE-UNIQUE") == "per-partition"
    return not (per_partition and queue.settings.partitioned)


def _out_of_order(
    namespace: Namespace, queue: Queue, stored: Stored, latest: Numbered, number: int
) -> v.RuleId | None:
    """Return the rule that the number breaks, if any, compared with the number learned last."""
    rule = number_rule(queue)
    if is_of_one_commit(stored, latest) and "SEQ-07" not in namespace.profile.silent:
        fallen = (latest.arrived < stored.number) is (latest.number > number)
        return "SEQ-07" if fallen else None
    if rule in namespace.profile.silent:
        return None
    # A message in a transaction may get its number at the send or at the commit.
    if latest.arrived < min(stored.number, stored.sent):
        return rule if latest.number > number else None
    if stored.number < min(latest.arrived, latest.sent):
        return rule if latest.number < number else None
    return None


def _out_of_time(
    namespace: Namespace, queue: Queue, stored: Stored, number: int
) -> v.RuleId | None:
    """SEQ-05: return the rule that the number breaks, if any, on a regular entity.

    Messages of different keys count if one surely arrived at an earlier time than the other: the
    documents do not say in which order messages of one batch or of concurrent sends are numbered.
    """
    latest = queue.latest_numbers.get(_ALL)
    if latest is None or latest.batch >= 0 or stored.batch >= 0:
        return None
    if queue.settings.partitioned is not False or "SEQ-05" in namespace.profile.silent:
        return None
    if _ALL not in rows(queue, stored):
        return None
    later = latest.when.latest < stored.arrived.earliest
    earlier = stored.arrived.latest < latest.when.earliest
    fallen = (later and number < latest.number) or (earlier and number > latest.number)
    return "SEQ-05" if fallen else None


def _beyond_a_gap(
    namespace: Namespace, queue: Queue, stored: Stored, latest: Numbered, number: int
) -> v.RuleId | None:
    """SEQ-06: return the rule that a gap between the numbers of two neighbours breaks, if any.

    Only the reading SEQUENCE-GAPS=gap-free forbids gaps, and only if no other message can have used
    the missing numbers.
    """
    if namespace.reading("SEQUENCE-GAPS") != "gap-free":
        return None
    # Messages that arrived between two others may be in any partition, so only neighbours count.
    steps = stored.number - latest.arrived
    gap = abs(steps) == 1 and number - latest.number != steps
    return "SEQ-06" if gap and _is_undisturbed(namespace, queue) else None


def _is_undisturbed(namespace: Namespace, queue: Queue) -> bool:
    """Return whether only answered sends can have used sequence numbers."""
    settings, observability = queue.settings, namespace.observability
    whole = not (observability.left_out or observability.partial)
    lost = settings.queue in namespace.registry.pending_effects or queue.fed
    # A scheduled message, or one that was rolled back, may have used a number.
    others = queue.calendar.scheduled or len(namespace.transactions)
    plain = bool(settings.partitioned) and not settings.duplicate_detection and queue.role is None
    return whole and plain and not lost and not others


def is_of_one_commit(stored: Stored, latest: Numbered) -> bool:
    """SEQ-07: return whether both messages arrived with the same transaction."""
    # Messages outside of transactions have -1 here, and are not of one commit.
    return stored.batch == latest.batch >= 0


def seen_number(view: v.MessageView, stored: Stored) -> int | None:
    """Return the sequence number that a view shows, or else the one that is known."""
    return stored.sequence_number if view.sequence_number is None else view.sequence_number


def numbered(queue: Queue, stored: Stored, number: int | None) -> dict[str, Any]:
    """Return the changes of the queue's fields after a message was seen with this number."""
    if number is None:
        return {}
    numbers = queue.numbers.set(number, stored.number)
    changes: dict[str, Any] = {"numbers": numbers, "latest_number": number}
    if is_one(queue, stored):
        learned = Numbered(stored.number, stored.sent, number, stored.batch, stored.arrived)
        learned_in = dict.fromkeys(rows(queue, stored), learned)
        changes["latest_numbers"] = queue.latest_numbers.update(learned_in)
    return changes


def is_one(queue: Queue, stored: Stored) -> bool:
    """Return whether the body identifies this message, because no other message has it."""
    return queue.bodies.get(stored.message.body) == (stored.number,)


def _line(queue: Queue, stored: Stored) -> Key | None:
    """Return the line in which the message's number has to rise, if there is one.

    Scheduled messages and dead letters have none. Nor has an entity whose messages are all one
    line: SEQ-05 covers their numbers.
    """
    dead = queue.in_order or v.is_dead_letter_queue(queue.settings.queue)
    return None if dead or stored.came is not None else stored.line


def rows(queue: Queue, stored: Stored) -> Iterator[Key]:
    """Yield the message's line, and the one of all messages of a regular entity.

    The latter forbids only numbers against the time: concurrent sends may arrive in either order.
    """
    line = _line(queue, stored)
    if line is not None:
        yield line
    dead = v.is_dead_letter_queue(queue.settings.queue)
    if not queue.settings.partitioned and stored.certain and stored.came is None and not dead:
        yield _ALL


def number_rule(queue: Queue) -> v.RuleId:
    """Return the rule that the numbers of a line have to rise."""
    return "SEQ-01" if queue.settings.partitioned else "SEQ-05"
