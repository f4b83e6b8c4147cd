"""What the bus does with records of the model that no command of the vocabulary asks for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs

from busproof.model import Namespace
from busproof.model.journal import Change
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import EntitySettings
from busproof.vocabulary.messages import Message

__all__ = ["change", "check_change", "deletable", "delete", "free", "give_back", "locked_by"]

GONE: Final = Message(body="")


def free(changes: Sequence[Change]) -> None:
    """Let records that have left hold their messages no more.

    An index may have such a record until it is tidied, and a message may be large.
    """
    for table, key, before in changes:
        if isinstance(before, QueuedMessage | ScheduledMessage) and table.get(key) is not before:
            before.message = GONE


def deletable(
    entity: Entity, session_id: str | None, is_old: Callable[[Message], bool]
) -> Iterator[QueuedMessage]:
    """Return the messages that nobody holds and that are old enough, in the order of numbers."""
    for partition in entity.partitions:
        for queued in partition.line.behind(entity.messages, 0):
            wanted = session_id in (None, queued.message.session_id)
            if queued.state is ACTIVE and wanted and is_old(queued.message):
                yield queued


def delete(namespace: Namespace, messages: Iterable[QueuedMessage]) -> None:
    """Let messages be gone as though somebody had received and deleted them."""
    for queued in messages:
        namespace.rules.messages.consume(namespace, queued, Action.RECEIVE_AND_DELETE)


def locked_by(entity: Entity | None, token: str) -> QueuedMessage | None:
    """Return the message whose lock has this token, as long as it lasts."""
    number = token.partition("/")[0]
    if entity is None or not number.isdecimal():
        return None
    queued = entity.messages.get(int(number))
    return queued if queued is not None and queued.token == token else None


def check_change(namespace: Namespace, entity: Entity, after: EntitySettings) -> None:
    """Insist that an entity may have these settings.

    Raises:
        Refusal: it may not, as when it is created.
    """
    rules = namespace.rules
    rules.forwarding.check_settings(namespace, after)
    if after.duplicate_window != entity.settings.duplicate_window:
        rules.duplicates.check_window(namespace, after.duplicate_window)
    if after.max_size != entity.settings.max_size:
        rules.sizes.granted_size(namespace, after.max_size)


def change(namespace: Namespace, entity: Entity, after: EntitySettings) -> None:
    """Change what no update of the vocabulary changes; it concerns what begins from now on."""
    journal, sizes = namespace.journal, namespace.rules.sizes
    if after.max_size != entity.settings.max_size:
        partitioned = after.partitioned
        capacity = sizes.capacity(namespace, partitioned=partitioned, size=after.max_size)
        whole = (entity, *(entity.subscriptions or ()))
        for part in (part for each in whole for part in _parts_of(each)):
            journal.touch(part)
            part.capacity = capacity
            part.settings = attrs.evolve(part.settings, max_size=after.max_size)
    journal.touch(entity)
    entity.settings = after
    dlq = entity.dead_letters
    if dlq is not None:
        journal.touch(dlq)
        dlq.settings = attrs.evolve(dlq.settings, forward_to=after.forward_dead_letters_to)


def _parts_of(entity: Entity) -> list[Entity]:
    """Return an entity and its dead-letter queues."""
    found = (entity, entity.dead_letters, entity.transfers)
    return [each for each in found if each is not None]


def give_back(namespace: Namespace, queued: QueuedMessage) -> None:
    """Give a locked message back as though it had never been delivered."""
    namespace.journal.touch(queued)
    queued.failed -= 1
    namespace.rules.locks.release(namespace, queued, Action.ABANDON)
