"""KEY: the partition that takes a message, and the order in which messages are given."""

from itertools import islice
from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage, Delivery, EntityNotes
from busproof.model.choices import CONSIDERED
from busproof.model.life_cycle import ACTIVE
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import EntityKind, Key

__all__ = ["of_delivery", "of_place", "of_refused_send", "of_sent", "rules_of"]

SHORT_TIMEOUT: Final = 15 * v.MICROSECONDS
"""KEY-15, KEY-18: a timeout; only sends with a longer one must avoid a partition that is down."""


def key_at(entity: Entity, message: v.Message) -> Key | None:
    """Return the key of a message at an entity; an empty text counts as none."""
    if not entity.settings.partitioned:
        return None
    if message.session_id:
        return Key("SessionId", message.session_id)
    if message.partition_key:
        return Key("PartitionKey", message.partition_key)
    if entity.base.settings.duplicate_detection and message.message_id:
        return Key("MessageId", message.message_id)
    return None


def rules_of(entity: Entity, message: v.Message, key: Key) -> tuple[v.RuleId, ...]:
    """KEY-04, KEY-05, KEY-07, KEY-10, KEY-24: return the rules that make a property the key."""
    if key.source == "MessageId":
        return ("KEY-10",)
    rules: tuple[v.RuleId, ...] = ("KEY-07",)
    if key.source == "SessionId":
        rules = ("KEY-05", "KEY-04") if entity.settings.requires_session else ("KEY-04",)
    told_apart = entity.settings.duplicate_detection and message.message_id is not None
    return ("KEY-24", *rules) if told_apart else rules


def of_sent(coverage: Coverage, entity: Entity, message: v.Message, timeout: int) -> None:
    """Show the rules on the partition that took a message."""
    if not entity.settings.partitioned:
        return
    key = key_at(entity, message)
    notes = coverage.at(entity)
    where = coverage.partition
    if key is None:
        _of_no_key(coverage, entity, message, timeout)
        return
    known = where is not None and key.value in notes.homes
    both = message.session_id is not None and message.session_id == message.partition_key
    if known:
        coverage.show(*rules_of(entity, message, key), "KEY-02")
    coverage.show_if(
        (known and where in notes.recovered, "KEY-20"),
        (both, "KEY-09"),
        (where is not None, "KEY-01"),
        (where is not None and entity.base.down, "PART-02"),
    )
    _note_home(coverage, notes, key, where)


def _note_home(coverage: Coverage, notes: EntityNotes, key: Key, where: int | None) -> None:
    if where is not None and key.value not in notes.homes:
        coverage.journal.put(notes.homes, key.value, where)


def _of_no_key(coverage: Coverage, entity: Entity, message: v.Message, timeout: int) -> None:
    """KEY-12, KEY-14, KEY-15, KEY-18, KEY-25, DUP-12: show the rules on a message without key."""
    notes, where, down = coverage.at(entity), coverage.partition, entity.base.down
    short = timeout <= SHORT_TIMEOUT
    message_id = message.message_id
    detects = entity.settings.duplicate_detection
    apart = False
    if message_id is not None and where is not None and not detects:
        earlier = notes.of_ids.get(message_id)
        apart = earlier is not None and earlier != where
        coverage.journal.put(notes.of_ids, message_id, where)
    complete = _completes_a_round(coverage, entity, notes, where)
    coverage.show_if(
        (complete, "KEY-14"),
        (complete, "PREM-16" if coverage.namespace.profile.is_partitioned else "SIZE-05"),
        (detects and message_id is None, "DUP-12"),
        (apart, "KEY-12"),
        (down, "KEY-18" if short else "KEY-15"),
        (short and not down, "KEY-25"),
        (where is not None, "KEY-01"),
    )


def _completes_a_round(
    coverage: Coverage, entity: Entity, notes: EntityNotes, where: int | None
) -> bool:
    """KEY-14: return whether each partition has taken a message since the last such moment."""
    coverage.change(notes)
    if not coverage.namespace.states("KEY-14"):
        return False
    if where is None or entity.base.down:
        notes.used = frozenset()
        return False
    notes.used |= {where}
    if len(notes.used) < len(entity.partitions):
        return False
    notes.used = frozenset()
    return True


def of_refused_send(coverage: Coverage, entity: Entity, message: v.Message, timeout: int) -> None:
    """KEY-18, KEY-20, PART-01, PART-03: show the rules on a refusal in an outage."""
    key, notes, down = key_at(entity, message), coverage.at(entity), entity.base.down
    if not down:
        return
    partitioned = entity.settings.partitioned
    coverage.show_if(
        (len(down) == len(entity.partitions), "PART-03" if partitioned else "PART-01"),
    )
    if key is None:
        coverage.show_if((partitioned and timeout <= SHORT_TIMEOUT, "KEY-18"))
        return
    known = notes.homes.get(key.value) if coverage.strict else None
    if known is not None:
        coverage.show(*rules_of(entity, message, key), "KEY-20")
    if coverage.strict and len(down) == 1:
        _note_home(coverage, notes, key, next(iter(down)))


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """KEY-01, KEY-02, KEY-06, KEY-16, KEY-17, KEY-26: show the rules on place and order."""
    entity, queued, settings = one.entity, one.queued, one.entity.settings
    key = None
    if settings.requires_session:
        if is_first(queued, queued.session):
            coverage.show("KEY-06")
    elif not settings.partitioned:
        if coverage.namespace.profile.readings.get("REGULAR-ORDER") != "either":
            coverage.show("KEY-26")
    elif one.dead or (key := key_at(entity, queued.message)) is None:
        if not one.dead and one.of_entity.arrivals > 1:
            coverage.show("KEY-16")
    elif is_first(queued, key):
        coverage.show("KEY-17")
    if one.placed:
        coverage.show("KEY-01")
        of_place(coverage, queued)


def of_place(coverage: Coverage, queued: QueuedMessage) -> None:
    """KEY-02, TOPIC-07: show that a key has one partition, or note which it is."""
    entity = queued.entity
    key = None if entity.owner is not entity else key_at(entity, queued.message)
    if key is None:
        return
    base = coverage.at(entity.base)
    notes = coverage.message(queued)
    if key.value not in base.homes:
        coverage.journal.put(base.homes, key.value, queued.partition)
    elif entity.kind is EntityKind.SUBSCRIPTION:
        coverage.show("TOPIC-07")
    elif not notes.placed and notes.number is None:
        coverage.show(*rules_of(entity, queued.message, key), "KEY-02")


def is_first(queued: QueuedMessage, key: object) -> bool:
    """Return whether no earlier message of the same key or session is available."""
    entity = queued.entity
    for other in islice(queued.line.behind(entity.messages, 0), CONSIDERED):
        if other.number >= queued.number:
            break
        alike = queued.session is not None or key_at(entity, other.message) == key
        if alike and other.state is ACTIVE:
            return False
    return True
