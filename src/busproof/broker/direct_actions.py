"""Changes to the model's records that no command of the vocabulary makes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs

from busproof.model import Choices, Namespace, forget
from busproof.model.journal import Change
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import EntitySettings
from busproof.vocabulary.messages import Message

__all__ = [
    "PASSED_AT_ONCE",
    "act",
    "change",
    "check_change",
    "deletable",
    "delete",
    "find_locked",
    "free",
    "give_back",
    "rest",
    "session_names",
]

GONE: Final = Message(body="")
PASSED_AT_ONCE: Final = 5_000
"""Number of messages or sessions to pass over before other clients may have a turn."""
HELD: Final = frozenset({QueuedMessage, ScheduledMessage})


def act(
    namespace: Namespace, choices: Choices, do: Callable[[Namespace], None]
) -> Sequence[Change]:
    """Change records in a step that is not kept for undoing; return the changes.

    Client libraries need some operations that the vocabulary lacks, such as releasing a message.
    """
    forget(namespace)
    namespace.choices = choices
    do(namespace)
    return namespace.journal.hand_over()


def rest(namespace: Namespace, until: int) -> None:
    """Advance the clock while nothing is due; nothing before this can be undone."""
    forget(namespace)
    namespace.now = until


def free(changes: Sequence[Change]) -> None:
    """Remove the message from each record that was removed, because messages may be large.

    An index may still refer to such a record until the index is tidied.
    """
    for table, key, before in changes:
        if type(before) in HELD and table.get(key) is not before:
            before.message = GONE


def deletable(
    entity: Entity, session_id: str | None, is_old: Callable[[Message], bool]
) -> Iterator[QueuedMessage | None]:
    """Yield the unlocked messages that are old enough, by sequence number.

    `None` is yielded now and then, because passing over many others takes long.
    """
    passed = 0
    for partition in entity.partitions:
        for queued in partition.line.behind(entity.messages, 0):
            wanted = session_id in (None, queued.message.session_id)
            if queued.state is ACTIVE and wanted and is_old(queued.message):
                yield queued
            elif (passed := passed + 1) % PASSED_AT_ONCE == 0:
                yield None


def session_names(entity: Entity) -> Iterator[str | None]:
    """Yield the names of the sessions that have messages or a state (SESS-22), in any order.

    `None` is yielded now and then, because passing over many others takes long.
    """
    # Copy the table, because sessions come and go while other clients have turns.
    for passed, session in enumerate(list(entity.sessions.values()), 1):
        if session.messages or session.state is not None:
            yield session.name
        if passed % PASSED_AT_ONCE == 0:
            yield None


def delete(namespace: Namespace, messages: Iterable[QueuedMessage]) -> None:
    """Delete messages as if they had been received and deleted."""
    for queued in messages:
        namespace.rules.messages.consume(queued, Action.RECEIVE_AND_DELETE)


def find_locked(entity: Entity | None, token: str) -> QueuedMessage | None:
    """Return the message with this lock token while it is locked, or `None`."""
    number = token.partition("/")[0]
    if entity is None or not number.isdecimal():
        return None
    queued = entity.messages.get(int(number))
    # The number finds the message; the token also says in which delivery it was locked.
    return queued if queued is not None and queued.token == token else None


def check_change(namespace: Namespace, entity: Entity, after: EntitySettings) -> None:
    """Check that an entity may have these settings.

    Raises:
        Refusal: the rules for creating an entity forbid the settings.
    """
    rules = namespace.rules
    rules.forwarding.check_settings(after)
    if after.duplicate_window != entity.settings.duplicate_window:
        rules.duplicates.check_window(after.duplicate_window)


def change(namespace: Namespace, entity: Entity, after: EntitySettings) -> None:
    """Apply settings that no update command has; they affect only later operations."""
    journal = namespace.journal
    journal.touch(entity)
    entity.settings = after
    dlq = entity.dead_letters
    if dlq is not None:
        journal.touch(dlq)
        # A dead-letter queue forwards by its own settings.
        dlq.settings = attrs.evolve(dlq.settings, forward_to=after.forward_dead_letters_to)


def give_back(namespace: Namespace, queued: QueuedMessage) -> None:
    """Release a locked message as if it had never been delivered."""
    namespace.journal.touch(queued)
    # Releasing a lock counts a failed delivery, but this message was never delivered.
    queued.failed -= 1
    namespace.rules.locks.release(queued, Action.ABANDON)
