"""What a peek has to begin with, as far as that is known.

A peek into an entity begins with the oldest message that is there, or of a partitioned one with the
oldest of one partition. A message is only relied on where nothing can have taken it away, and is
only older than another where it had surely come before the other was sent.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.heap import settled, smallest
from busproof.oracle.messages.deliveries import may_be_spent
from busproof.oracle.messages.expiry import may_have_died
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Stored
from busproof.oracle.schedule import NEVER
from busproof.oracle.state import Namespace, Queue, feeding, is_unsure, partition_count

__all__ = [
    "begins_wrongly",
    "continues_wrongly",
    "is_like_regular",
    "settled_fronts",
    "shows_too_little",
    "why_begun",
]

_MOST_SHOWN: Final = 256 * 1024
"""PART-17: bytes beyond which a peek may show fewer messages than it was asked for."""


def settled_fronts(queue: Queue) -> Queue:
    """The queue, in which what has gone is no more the first of any partition.

    Each message is dropped once, however many peeks there are.
    """
    fronts = queue.fronts
    for where, heap in queue.fronts.items():
        rest = settled(heap, partial(_stays, queue, where))
        if rest is None:
            fronts = fronts.delete(where)
        elif rest is not heap:
            fronts = fronts.set(where, rest)
    return queue if fronts is queue.fronts else attrs.evolve(queue, fronts=fronts)


def _stays(queue: Queue, where: Partitions, number: int) -> bool:
    """Whether this message is surely in the entity, in this set of partitions."""
    stored = queue.messages.get(number)
    return stored is not None and stored.certain and stored.where == where


def begins_wrongly(
    namespace: Namespace, queue: Queue, command: v.Peek, shown: Stored, where: Partitions
) -> v.RuleId | None:
    """PART-14, PART-15: the rule by which a peek cannot begin with this message."""
    rule = _rule(queue)
    if where.bit_count() > 1 or not _is_judged(namespace, queue, command, rule):
        return None
    first = _oldest(queue) if is_like_regular(namespace) else _foremost(queue, where)
    if first is None or not _must_be_shown(namespace, queue, first):
        return None
    alone = _is_one(queue, first) and _is_one(queue, shown)
    return rule if alone and _is_older(namespace, first, shown) else None


def shows_too_little(namespace: Namespace, queue: Queue, command: v.Peek) -> v.RuleId | None:
    """PART-14, PEEK-EMPTY: the rule by which a peek cannot show nothing."""
    rule = _rule(queue)
    if not _is_judged(namespace, queue, command, rule):
        return None
    empty = namespace.profile.readings.get("PEEK-EMPTY") != "next-partition"
    if queue.settings.partitioned and empty:
        return None
    firsts = (_foremost(queue, where) for where in queue.fronts)
    there = (first for first in firsts if first is not None)
    return rule if any(_must_be_shown(namespace, queue, first) for first in there) else None


def continues_wrongly(namespace: Namespace, command: v.Peek, view: v.MessageView) -> bool:
    """PART-20: whether what a peek shows is before where it was to go on.

    It may go on partition by partition, in whichever order (PEEK-CONTINUES).
    """
    start, number = command.from_sequence_number, view.sequence_number
    if start is None or number is None or number >= start:
        return False
    if namespace.profile.readings.get("PEEK-CONTINUES") == "by-number":
        return True
    same = number >> v.SEQUENCE_BITS == start >> v.SEQUENCE_BITS
    return same and namespace.profile.numbers_name_partitions


def _rule(queue: Queue) -> v.RuleId:
    return "PART-15" if queue.settings.partitioned else "PART-14"


def _is_judged(namespace: Namespace, queue: Queue, command: v.Peek, rule: v.RuleId) -> bool:
    """Whether it is known what has to come first: nobody says it of dead letters.

    Nor of what was forwarded or copied from a topic, for that may have come in any order.
    """
    anywhere = command.session_id is None and command.from_sequence_number is None
    told = not (namespace.vantage.partial or queue.receivers.lost or len(queue.sought))
    fed = queue.fed or any(feeding(namespace, queue.settings.queue))
    copied = fed or queue.role is not None
    plain = not (copied or is_unsure(queue) or v.is_dead_letter_queue(queue.settings.queue))
    in_force = rule not in namespace.profile.silent
    return anywhere and told and plain and in_force and not queue.outages.any


def _foremost(queue: Queue, where: Partitions) -> Stored | None:
    """The first message that surely is in these partitions."""
    number = smallest(queue.fronts.get(where))
    stored = None if number is None else queue.messages.get(number)
    return stored if stored is not None and stored.where == where else None


def is_like_regular(namespace: Namespace) -> bool:
    """PART-16: whether a peek begins with the oldest message of all partitions (LIKE-REGULAR)."""
    return namespace.profile.readings.get("LIKE-REGULAR") == "identical"


def _oldest(queue: Queue) -> Stored | None:
    """The first message that surely is in any partition."""
    firsts = [first for where in queue.fronts if (first := _foremost(queue, where)) is not None]
    return min(firsts, key=lambda first: first.number, default=None)


def _must_be_shown(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """Whether nothing can have taken the message away, or put it into another place."""
    if stored.came is not None or stored.deferred is None or may_have_died(namespace, stored):
        return False
    if stored.lock is None:
        gone = may_be_spent(namespace, queue, stored) or _may_be_deleted(namespace, queue)
        return bool(stored.deferred) or not gone
    return namespace.now.latest < stored.lock.expiry.earliest


def _may_be_deleted(namespace: Namespace, queue: Queue) -> bool:
    """CACHE-DELETE: whether a front end may have deleted what it cached and gave to nobody."""
    kept = namespace.profile.readings.get("CACHE-DELETE") == "kept"
    return bool(queue.receivers.deleters) and not kept


def _is_one(queue: Queue, stored: Stored) -> bool:
    """Whether no other message ever had its body, so that it is this one that was seen."""
    return queue.bodies.get(stored.message.body) == (stored.number,)


def _is_older(namespace: Namespace, first: Stored, shown: Stored) -> bool:
    """Whether a message had come before the other one was sent.

    Nobody says how the messages of one transaction follow each other, nor when one came whose
    send was not answered.
    """
    together = first.batch == shown.batch >= 0
    if together or shown.came is not None or first.number >= min(shown.number, shown.sent):
        return False
    numbered = namespace.vantage.clock is v.Clock.VIRTUAL and first.arrived.latest < NEVER
    return numbered or first.arrived.latest < shown.arrived.earliest


def why_begun(
    namespace: Namespace, queue: Queue, command: v.Peek, shown: tuple[Stored, ...]
) -> Iterator[v.RuleId]:
    """PART-14 to PART-21: what it shows that a peek has shown these messages."""
    there = sum(tally.total for tally in queue.tallies.values())
    if command.session_id is not None or not there:
        return
    if command.from_sequence_number is not None:
        if shown:
            yield "PART-20"
        return
    if queue.settings.partitioned and there < partition_count(namespace, queue.settings):
        yield "PART-21"
    if shown and there > 1:
        yield from _why_first(namespace, queue, command, shown[0])
        yield from _why_so_many(queue, command, there)


def _why_first(
    namespace: Namespace, queue: Queue, command: v.Peek, first: Stored
) -> Iterator[v.RuleId]:
    """PART-14, PART-15, PART-16: what it shows that this message came first."""
    if queue.settings.partitioned and not is_like_regular(namespace):
        yield "PART-16"
    foremost = _foremost(queue, first.where)
    judged = _is_judged(namespace, queue, command, _rule(queue))
    tally = queue.tallies.get(first.where)
    several = first.where.bit_count() == 1 and tally is not None and tally.total > 1
    if judged and several and foremost is first:
        yield _rule(queue)


def _why_so_many(queue: Queue, command: v.Peek, there: int) -> Iterator[v.RuleId]:
    """PART-17, PART-18, PART-19: what it shows how many messages came of those that are there."""
    if there > command.count:
        yield "PART-19"
    if command.count > 1 and queue.settings.partitioned:
        yield "PART-18"
    if command.count > 1 and sum(queue.room.held.values()) > _MOST_SHOWN:
        yield "PART-17"
