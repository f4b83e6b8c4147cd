"""Matching of a received or peeked message to a sent one, and of its number to a partition."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.keys import MESSAGE_ID, rule_of
from busproof.oracle.messages.partitioning import home_of, narrowed
from busproof.oracle.outages import Partitions, partition_set
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue, Subscription, feeding
from busproof.oracle.transition import Observation, Rules

_carried: Final = attrgetter(
    "correlation_id", "to", "reply_to", "subject", "reply_to_session_id", "content_type"
)
"""Properties that a bus returns as they were sent, and does not interpret."""

REASON: Final = "DeadLetterReason"
"""The property in which a dead letter has its reason."""


@attrs.frozen
class Candidate:
    """A stored message that a received or peeked view may show.

    Attributes:
        namespace: the state in which the view may show it.
        queue: its entity, possibly with changes that the namespace lacks.
        stored: the stored message.
        where: the partitions that it may be in if the view shows it.
        view: what the client saw.
        rules: the rules that its partition exercises.
    """

    namespace: Namespace
    queue: Queue
    stored: Stored
    where: Partitions
    view: v.MessageView
    rules: Rules


def recognised(
    namespace: Namespace, queue: Queue, view: v.MessageView, observed: Observation
) -> Iterator[Candidate]:
    """Yield the stored messages that this view may show, oldest first.

    LIFE-01: the properties are as they were sent. LIFE-12: the sequence number never changes and
    identifies the partition that took the message, which may reveal a key's partition (KEY-02).
    """
    for stored in queue.with_body(view.body):
        if (candidate := seen_as(namespace, queue, stored, view, observed)) is not None:
            yield candidate


def seen_as(
    namespace: Namespace, queue: Queue, stored: Stored, view: v.MessageView, observed: Observation
) -> Candidate | None:
    """Return this message as a candidate for the view; `None` if the view cannot show it."""
    if not is_unchanged(namespace, stored, view) or is_wrongly_dead(namespace, queue, view):
        return None
    partition = named_partition(namespace, view, observed)
    # Without partitions the view only has to show the message itself.
    if partition is None or not queue.settings.partitioned:
        return Candidate(namespace, queue, stored, stored.where, view, ())
    where = stored.where & partition_set(partition)
    # Without a key, the partition says nothing about other messages.
    if where and stored.key is None:
        return Candidate(namespace, queue, stored, where, view, ("LIFE-12", "KEY-01"))
    return _at_home(namespace, queue, stored, view, where) if where else None


def is_wrongly_dead(namespace: Namespace, queue: Queue, view: v.MessageView) -> bool:
    """LIFE-01, DLQ-05: return whether a view has the reason of a dead letter, and shows none.

    Dead letters are in dead-letter queues, and where those forward them. A sender may have given a
    message such a property itself.
    """
    name = queue.settings.queue
    if view.dead_letter_reason is None or REASON in view.properties:
        return False
    if v.is_dead_letter_queue(name) or namespace.observability.left_out:
        return False
    return not (queue.fed or any(feeding(namespace, name)))


def is_unchanged(
    namespace: Namespace, stored: Stored, view: v.MessageView, *, reason: bool = True
) -> bool:
    """Return whether a view may show this message: same properties, number, dead-letter reason.

    Args:
        namespace: the state, to know whether client libraries assign MessageIds.
        stored: the stored message.
        view: what the client saw.
        reason: whether the dead-letter reason has to match too.
    """
    sent = stored.message
    # The documents do not name a reason for every move, and not every adapter reports reasons.
    is_shown = view.dead_letter_reason is not None or namespace.observability.dead_letter_reasons
    comparable = reason and stored.reason is not None and is_shown
    if comparable and not _same(stored.reason, view.dead_letter_reason):
        return False
    carried, shown = _carried(sent), _carried(view)
    same = (
        _same(sent.session_id, view.session_id)
        and _same(sent.partition_key, view.partition_key, or_else=sent.session_id)
        and (carried == shown or all(map(_same, carried, shown)))
        and v.same_properties(sent.properties, view.properties)
    )
    number = stored.sequence_number
    same = same and (number is None or view.sequence_number in (None, number))
    # The client library sets an id that an observer cannot know (KEY-13), so any id matches.
    if sent.message_id is None and namespace.observability.assigns_message_ids:
        return same and bool(view.message_id)
    return same and _same(sent.message_id, view.message_id)


def _same(sent: str | None, shown: str | None, or_else: str | None = None) -> bool:
    """Return whether a property agrees.

    An empty one may be missing when it is received, and a key may have the value `or_else`.
    """
    # Some protocols and libraries do not distinguish an empty text from none.
    if (sent or None) == (shown or None):
        return True
    return sent is None and or_else is not None and shown == or_else


def named_partition(namespace: Namespace, view: v.MessageView, observed: Observation) -> int | None:
    """LIFE-12: return the partition that the witness or the sequence number names, if any."""
    # Where an observer does not see partitions, a number tells nothing about them.
    if not (namespace.observability.partitions and namespace.observability.witness):
        return None
    if observed.witness is not None:
        return observed.witness.partition
    number = view.sequence_number
    # Whether a number names its partition is open (SEQUENCE-EXPOSES).
    if number is None or not namespace.profile.numbers_name_partitions:
        return None
    return number >> v.SEQUENCE_BITS


def _at_home(
    namespace: Namespace, queue: Queue, stored: Stored, view: v.MessageView, where: Partitions
) -> Candidate | None:
    """KEY-02: return the candidate if the key's partition agrees with `where`; else `None`."""
    key = stored.key
    if key is None:
        raise AssertionError("only a message with a key has a home")
    home = home_of(namespace, queue, key)
    # Another message of the key was seen elsewhere, and one key has one partition.
    if not where & home:
        return None
    rules: Rules = ("LIFE-12", "KEY-01")
    if stored.where.bit_count() > 1 and home.bit_count() == 1:
        rules = (*rule_of(queue.settings, stored.message, key), "KEY-02", *rules)
    if isinstance(queue.role, Subscription) and home.bit_count() == 1:
        rules = ("TOPIC-07", *rules)
    if "FWD-14" in stored.shows and home.bit_count() == 1:
        rules = ("FWD-11" if key.taken_from == MESSAGE_ID else "FWD-08", *rules)
    homes = narrowed(namespace, queue, key, where)
    if homes is not queue.homes:
        queue = evolve(queue, homes=homes)
    return Candidate(namespace, queue, stored, where, view, rules)


def view_of(stored: Stored, **lock: Any) -> v.MessageView:
    """Return the client's view of the message; `lock` has the fields of its lock, if any."""
    return v.MessageView.of(
        stored.message,
        sequence_number=sequence_number(stored),
        dead_letter_reason=stored.reason,
        **lock,
    )


def sequence_number(stored: Stored) -> int:
    """Return a sequence number for a message whose number was not seen (top bits: partition)."""
    partition = stored.where.bit_length() - 1
    return (partition << v.SEQUENCE_BITS) + stored.number + 1
