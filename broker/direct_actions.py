"""What the bus does with records of the model that no command of the vocabulary asks for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from busproof.model import Namespace
from busproof.model.journal import Change
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.vocabulary.messages import Message

__all__ = ["deletable", "delete", "free", "give_back", "locked_by"]

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


def give_back(namespace: Namespace, queued: QueuedMessage) -> None:
    """Give a locked message back as though it had never been delivered."""
    namespace.journal.touch(queued)
    queued.failed -= 1
    namespace.rules.locks.release(namespace, queued, Action.ABANDON)
