"""Dead-letter queues that forward: where their messages go, and how they come to be there.

When a dead letter arrives where it is forwarded to is not said. It is looked for among the dead
letters once it is seen elsewhere, and until then nothing is known of it there. So what a
destination does is judged only where that ignorance matters to nothing but receives and peeks: of
other destinations nothing is told.
"""

import attrs

from busproof.oracle.arrivals import Arrival
from busproof.oracle.arriving import go_on
from busproof.oracle.dead_letters import with_dead_letters
from busproof.oracle.ledger import remove, replace
from busproof.oracle.state import Namespace, Queue, with_queue
from busproof.oracle.stored import Stored
from busproof.oracle.unknowable import given_up

__all__ = ["seen_beyond", "with_forwarding_grave"]


def with_forwarding_grave(namespace: Namespace, name: str) -> Namespace:
    """FWD-35: the namespace once an entity was created, whose dead letters may have to go on."""
    owner = namespace.queues[name]
    destination = owner.settings.forward_dead_letters_to
    if destination is None:
        return namespace
    namespace = with_dead_letters(namespace, owner)
    return namespace if _is_plain(namespace, destination) else given_up(namespace, name)


def _is_plain(namespace: Namespace, name: str) -> bool:
    """Whether what may have arrived unseen changes nothing but what is received and peeked."""
    queue = namespace.queues.get(name)
    if queue is None:
        # Who was refused in an outage may have named what is not there.
        return False
    settings = queue.settings
    special = settings.requires_session or settings.duplicate_detection
    onward = settings.forward_to is not None or settings.forward_dead_letters_to is not None
    return queue.role is None and not (special or onward)


def seen_beyond(
    namespace: Namespace, dead: Queue, letter: Stored, name: str
) -> tuple[Namespace, Stored]:
    """A dead letter at its destination, which may have been there, unseen, at any time before.

    So it has no place among the messages of its key.
    """
    after = _sent_on(namespace, dead, letter)
    queue = after.queues[name]
    late = queue.messages[queue.arrivals - 1]
    newest = attrs.evolve(late, line=None, since=0, available_at=letter.available_at)
    return with_queue(after, replace(queue, late, newest)), newest


def _sent_on(namespace: Namespace, dead: Queue, letter: Stored) -> Namespace:
    going = Arrival(
        message=letter.message,
        key=None,
        where=letter.where,
        certain=False,
        answered=False,
        reason=letter.reason,
    )
    return go_on(with_queue(namespace, remove(dead, letter)), remove(dead, letter), going)
