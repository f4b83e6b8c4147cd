"""The message that a peek has to begin with, as far as it is known.

A peek into an entity begins with its oldest message, or in a partitioned entity with the oldest one
of some partition. A message counts only if nothing can have removed it, and as older than another
only if it had surely arrived before the other was sent.
"""

from functools import partial

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import settled, smallest
from busproof.oracle.messages.deliveries import may_be_spent
from busproof.oracle.messages.expiry import may_have_died
from busproof.oracle.messages.matching import Candidate
from busproof.oracle.messages.sequence_numbers import is_one
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Stored
from busproof.oracle.schedule import NEVER
from busproof.oracle.state import Namespace, Queue, feeding, is_unsure, partition_count


def settled_fronts(queue: Queue) -> Queue:
    """Return the queue with messages that are gone dropped from the front of each partition.

    Each message is dropped once, so the cost does not depend on how many peeks there are.
    """
    fronts = queue.fronts
    for where, heap in queue.fronts.items():
        rest = settled(heap, partial(_stays, queue, where))
        if rest is None:
            fronts = fronts.delete(where)
        elif rest is not heap:
            fronts = fronts.set(where, rest)
    return queue if fronts is queue.fronts else evolve(queue, fronts=fronts)


def _stays(queue: Queue, where: Partitions, number: int) -> bool:
    """Return whether this message is surely in the entity, within exactly these partitions."""
    stored = queue.messages.get(number)
    return stored is not None and stored.certain and stored.where == where


def begins_wrongly(candidate: Candidate, command: v.Peek) -> v.RuleId | None:
    """PART-14, PART-15: return the rule by which the peek must not begin here, if it breaks one."""
    namespace, queue, shown = candidate.namespace, candidate.queue, candidate.stored
    where = candidate.where
    # It may be the first of any partition that it may be in, so nothing can be said.
    if where.bit_count() > 1:
        return None
    if not is_judged(namespace, queue, command):
        return "LIFE-07" if _skips_a_number(candidate, command) else None
    places = (*queue.fronts,) if is_like_regular(namespace) else (where,)
    firsts = [first for place in places if (first := foremost(queue, place)) is not None]
    first = min(firsts, key=lambda stored: stored.number, default=None)
    if first is None or not _must_be_shown(namespace, queue, first):
        return None
    # If several messages have the same body, any of them may be the one that was seen.
    alone = is_one(queue, first) and is_one(queue, shown)
    return rule_of(queue) if alone and _is_older(namespace, first, shown) else None


def _skips_a_number(candidate: Candidate, command: v.Peek) -> bool:
    """LIFE-07: return whether a peek of a regular entity skips a message with a smaller number.

    This applies where numbers were seen but the order of arrival is unknown.
    """
    namespace, queue, number = candidate.namespace, candidate.queue, candidate.view.sequence_number
    if queue.settings.partitioned or not _is_known(namespace, queue, command):
        return False
    firsts = (foremost(queue, where) for where in queue.fronts)
    there = (first for first in firsts if first is not None)
    known = [first.sequence_number for first in there if _must_be_shown(namespace, queue, first)]
    return number is not None and any(earlier is not None and earlier < number for earlier in known)


def shows_too_little(namespace: Namespace, queue: Queue, command: v.Peek) -> v.RuleId | None:
    """PART-14, LIFE-07, PEEK-EMPTY: return the rule that an empty peek breaks, if any."""
    if not _is_known(namespace, queue, command):
        return None
    judged = is_judged(namespace, queue, command)
    if queue.settings.partitioned and not judged:
        return None
    empty = namespace.reading("PEEK-EMPTY") != "next-partition"
    # An empty partition may have answered, so an empty peek proves nothing about the others.
    if queue.settings.partitioned and empty:
        return None
    firsts = (foremost(queue, where) for where in queue.fronts)
    there = (first for first in firsts if first is not None)
    shown = any(_must_be_shown(namespace, queue, first) for first in there)
    if not shown:
        return None
    return rule_of(queue) if judged else "LIFE-07"


def is_served_in_outage(namespace: Namespace, queue: Queue) -> bool:
    """PART-29: return whether some partition is surely up and has to answer a peek."""
    if namespace.reading("PEEK-IN-OUTAGE") != "served":
        return False
    perhaps_down = (queue.outages.down | queue.outages.doubt).bit_count()
    return 0 < perhaps_down < partition_count(namespace, queue.settings)


def shows_what_is_down(namespace: Namespace, queue: Queue, where: Partitions) -> bool:
    """PART-29: return whether a message in the answer surely is in partitions that are down."""
    served = namespace.reading("PEEK-IN-OUTAGE") == "served"
    return served and queue.outages.identified and queue.outages.must_hit(where)


def continues_wrongly(namespace: Namespace, command: v.Peek, view: v.MessageView) -> bool:
    """PART-20: return whether a peek shows a message before its starting number.

    Partitions may follow one another in any order (PEEK-CONTINUES).
    """
    start, number = command.from_sequence_number, view.sequence_number
    if start is None or number is None or number >= start:
        return False
    if namespace.reading("PEEK-CONTINUES") == "by-number":
        return True
    same = number >> v.SEQUENCE_BITS == start >> v.SEQUENCE_BITS
    return same and namespace.profile.numbers_name_partitions


def rule_of(queue: Queue) -> v.RuleId:
    """Return the rule about the message that a peek into this entity begins with."""
    return "PART-15" if queue.settings.partitioned else "PART-14"


def is_judged(namespace: Namespace, queue: Queue, command: v.Peek) -> bool:
    """Return whether the documents determine the first message of this peek.

    They do not for dead letters, forwarded messages and copies of a topic's messages, whose order
    of arrival is open.
    """
    fed = queue.fed or any(feeding(namespace, queue.settings.queue))
    copied = fed or queue.role is not None
    plain = not (copied or v.is_dead_letter_queue(queue.settings.queue))
    in_force = rule_of(queue) not in namespace.profile.silent
    return plain and in_force and _is_known(namespace, queue, command)


def _is_known(namespace: Namespace, queue: Queue, command: v.Peek) -> bool:
    """Return whether a peek has to show every message that is surely in the entity."""
    anywhere = command.session_id is None and command.from_sequence_number is None
    # An unanswered receive may have removed any message, and one by numbers any deferred message.
    complete = not (
        namespace.observability.partial or queue.receivers.lost or len(queue.unanswered_deferred)
    )
    return anywhere and complete and not is_unsure(queue) and not queue.outages.any


def foremost(queue: Queue, where: Partitions) -> Stored | None:
    """Return the oldest message that is surely in these partitions, if there is one."""
    number = smallest(queue.fronts.get(where))
    stored = None if number is None else queue.messages.get(number)
    return stored if stored is not None and stored.where == where else None


def is_like_regular(namespace: Namespace) -> bool:
    """PART-16: return whether peeks begin with the oldest of all messages (LIKE-REGULAR)."""
    return namespace.reading("LIKE-REGULAR") == "identical"


def _must_be_shown(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """Return whether nothing can have removed the message or changed its place."""
    # The place of a scheduled message is open, and so is the effect of an unanswered deferral.
    if stored.came is not None or stored.deferred is None or may_have_died(namespace, stored):
        return False
    if stored.lock is None:
        # A front end may have deleted it from its cache (CACHE-DELETE).
        deleted = queue.receivers.deleters and namespace.reading("CACHE-DELETE") != "kept"
        gone = deleted or may_be_spent(namespace, queue, stored)
        # A deferred message is in no cache, and the delivery limit may not apply to it.
        return bool(stored.deferred) or not gone
    # As long as its lock surely lasts, neither its limit nor another front end can remove it.
    return namespace.now.latest < stored.lock.expiry.earliest


def _is_older(namespace: Namespace, first: Stored, shown: Stored) -> bool:
    """Return whether a message surely arrived before the other one was sent.

    The order of messages in one transaction is open, and so is when an unanswered send takes
    effect.
    """
    together = first.batch == shown.batch >= 0
    if together or shown.came is not None or first.number >= min(shown.number, shown.sent):
        return False
    # On a virtual clock requests follow one another, and only an unanswered send may arrive later.
    # On a real clock, overlapping sends have no order.
    numbered = namespace.observability.clock is v.Clock.VIRTUAL and first.arrived.latest < NEVER
    return numbered or first.arrived.latest < shown.arrived.earliest
