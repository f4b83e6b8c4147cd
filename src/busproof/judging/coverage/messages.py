"""LIFE, SEQ: messages come, are given, stay away, and have numbers."""

from busproof import vocabulary as v
from busproof.filters.actions import RULE_NAME
from busproof.judging.coverage.notes import Coverage, Delivery, coverage_of
from busproof.model.life_cycle import LOCKED_STATES
from busproof.model.messages import Messages
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import EntityKind, InTransit

__all__ = [
    "SeenMessages",
    "is_cached_elsewhere",
    "is_dead_letter",
    "key_of",
    "note_receive",
    "of_delivery",
]


class SeenMessages(Messages):
    """Observer of messages that come and go."""

    def enqueue(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> QueuedMessage:
        """Note a message that came."""
        queued = super().enqueue(entity, message, partition, transit)
        coverage_of(self).came(queued)
        return queued

    def arrive(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """TOPIC-01, TOPIC-25, FWD-05: let a message show what was in its way, when it is given."""
        coverage = coverage_of(self)
        rules, coverage.kept = coverage.kept, ()
        if entity.kind is EntityKind.SUBSCRIPTION:
            name = message.properties.get(RULE_NAME)
            rules = ("TOPIC-01", *rules, *coverage.copied.get(name, ()))
            if entity.status is v.EntityStatus.RECEIVE_DISABLED:
                rules = ("TOPIC-25", *rules)
        if (
            not transit.hops
            and entity.settings.forward_to is None
            and (coverage.at(entity).redirected)
        ):
            rules = ("FWD-05", *rules)
        if coverage.batch is not None and not transit.hops:
            key = message.session_id or message.partition_key
            rules = (*(("BATCH-03",) if key in coverage.batch else ()), "BATCH-01", *rules)
            if key is not None and entity.kind is not EntityKind.TOPIC:
                coverage.batch.add(key)
        if not rules:
            super().arrive(entity, message, partition, transit)
            return
        with coverage.on_the_way(*rules):
            super().arrive(entity, message, partition, transit)

    def remove(self, queued: QueuedMessage) -> None:
        """SIZE-12: note that a message left an entity."""
        super().remove(queued)
        coverage = coverage_of(self)
        notes = coverage.at(queued.entity.owner)
        if notes.full:
            coverage.change(notes)
            notes.removed = True

    def give(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """Note a message that is given."""
        coverage_of(self).given.append(queued)
        return super().give(queued, mode)


def note_receive(coverage: Coverage, entity: Entity) -> None:
    """LIFE-08: note who receives; each connection's front end has a cache of its own."""
    notes = coverage.at(entity)
    command = coverage.event.command
    coverage.change(notes)
    connection = coverage.event.connection
    if getattr(command, "mode", None) is v.ReceiveMode.RECEIVE_AND_DELETE:
        notes.deleters |= {connection}
    if notes.receiver not in (None, connection):
        until = notes.received_at + entity.settings.lock_duration + coverage.slack
        notes.others_until = max(notes.others_until, until)
        notes.switched = notes.receives
    notes.receiver, notes.received_at = connection, coverage.now


def is_cached_elsewhere(coverage: Coverage, entity: Entity) -> bool:
    """Return whether a front end of another connection may still have messages in its cache."""
    notes = coverage.at(entity)
    if not entity.settings.partitioned or entity.settings.requires_session:
        return False
    others = notes.deleters - {notes.receiver}
    return bool(others) or notes.others_until >= coverage.now


def delivery_of(coverage: Coverage, queued: QueuedMessage, view: v.MessageView) -> Delivery:
    """Return what the rules on a delivery depend on."""
    entity = queued.entity
    return Delivery(
        queued,
        view,
        coverage.message(queued),
        entity,
        coverage.at(entity),
        again=queued.deliveries - (queued.token is not None) > 0,
        dead=is_dead_letter(queued),
        dark=bool(entity.base.down),
        cached=is_cached_elsewhere(coverage, entity),
        placed=entity.settings.partitioned and is_placed(coverage, view),
    )


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """LIFE-01, LIFE-08, LIFE-09, LIFE-11 to LIFE-13, KEY-13: show the rules on any delivery."""
    notes = one.notes
    of_entity = one.of_entity
    if notes.released is not None:
        coverage.show(notes.released)
    if not one.dead:
        coverage.show(*notes.shows, "LIFE-01")
    if of_entity.others_until >= 0 and notes.since < of_entity.switched:
        coverage.show("LIFE-08" if one.cached else "LIFE-13")
    if one.dark:
        coverage.show("LIFE-11")
    elif not one.cached:
        coverage.show("LIFE-09")
    if one.placed:
        coverage.show("LIFE-12")
    if one.queued.message.message_id is None and one.view.message_id is not None:
        coverage.show("KEY-13")
    of_number(coverage, one.queued, one.view)


def is_placed(coverage: Coverage, view: v.MessageView) -> bool:
    """Return whether an observer sees in which partition a message is."""
    return coverage.strict and (
        coverage.event.witness is not None or view.sequence_number is not None
    )


def of_empty(coverage: Coverage, entity: Entity) -> None:
    """LIFE-02, LIFE-03, LIFE-11: show the rules on what an empty receive did not give."""
    of_entity = coverage.at(entity)
    messages = entity.messages
    if any(one.state in LOCKED_STATES and one.cached_by is None for one in messages.values()):
        coverage.show("LIFE-02")
    if len(messages) < of_entity.arrivals:
        coverage.show("LIFE-03")
    if entity.base.down:
        coverage.show("LIFE-11")
    if of_entity.absent and not is_cached_elsewhere(coverage, entity):
        coverage.show(*of_entity.absent)


def of_number(coverage: Coverage, queued: QueuedMessage, view: v.MessageView) -> None:
    """SEQ-01 to SEQ-07: show the rules on the number in a view."""
    number, entity, notes = view.sequence_number, queued.entity, coverage.message(queued)
    if number is None:
        return
    of_entity = coverage.at(entity)
    partitioned = entity.settings.partitioned
    last, seen, line = of_entity.number, notes.number, line_of(queued, notes.scheduled)
    bits = v.SEQUENCE_BITS
    if partitioned and last is not None and last >> bits != number >> bits:
        coverage.show("SEQ-02")
    if seen is not None:
        coverage.show("SEQ-04")
    elif last is not None:
        coverage.show("SEQ-03")
    if seen == number == last:
        return
    coverage.change(notes)
    coverage.change(of_entity)
    notes.number = of_entity.number = number
    if seen is not None:
        return
    if line is None:
        return
    rival = of_entity.numbers.get(line)
    coverage.journal.put(of_entity.numbers, line, queued)
    if rival is None:
        return
    before = coverage.message(rival)
    least = before.number or 0
    together = before.commit is not None and before.commit is notes.commit
    coverage.show_if(
        (before.place < notes.place, "SEQ-01" if partitioned else "SEQ-05"),
        (partitioned and least < number - 1, "SEQ-06"),
        (together, "SEQ-07"),
    )


def is_dead_letter(queued: QueuedMessage) -> bool:
    """Return whether a message is in a dead-letter queue."""
    return queued.entity.dead_letters is None


def line_of(queued: QueuedMessage, scheduled: object) -> object:
    """Return what rising numbers are promised for: all of a regular entity, or a key's messages."""
    if is_dead_letter(queued) or scheduled is not None:
        return None
    return key_of(queued) if queued.entity.settings.partitioned else queued.partition


def key_of(queued: QueuedMessage) -> str | None:
    """Return the value of a message's key, as far as it surely has one."""
    message = queued.message
    own = message.message_id if queued.entity.base.settings.duplicate_detection else None
    return message.session_id or message.partition_key or own or None
