"""What clients ask for that the vocabulary has no command for, done by the model's rules."""

from collections.abc import Callable, Iterable, Iterator

from busproof.model import Namespace
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.state import Entity, QueuedMessage
from busproof.vocabulary.messages import Message

__all__ = ["deletable", "delete", "give_back", "locked_by"]


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
