"""Updates that start or stop the forwarding of a queue's messages (FWD-05).

Later messages go where the update says. The documents do not say what happens to the messages that
a queue has when forwarding starts, or to those in transit when it stops: they may be in either
place. If more than that is open, the queue is no longer judged.
"""

from collections.abc import Iterator

import attrs

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.forwarding.forwarding_setup import not_forwarding, refused_destination
from busproof.oracle.messages.enqueueing import go_on
from busproof.oracle.messages.message_store import replace, store
from busproof.oracle.state import (
    Namespace,
    Queue,
    Subscription,
    everywhere,
    feeding,
    is_unsure,
    with_queue,
)
from busproof.oracle.transactions.limits import is_in_transaction
from busproof.oracle.transition import Transition
from busproof.oracle.unjudged import stop_judging


def redirection_refused(
    namespace: Namespace, queue: Queue, command: v.UpdateQueue
) -> Iterator[Transition]:
    """FWD-25, FWD-29: return the refusals of an update that starts forwarding."""
    if command.forward_to:
        updated = attrs.evolve(queue.settings, forward_to=command.forward_to)
        yield from refused_destination(namespace, updated)


def with_redirection(namespace: Namespace, command: v.UpdateQueue, *, surely: bool) -> Namespace:
    """FWD-05: return the namespace after an update that starts or stops forwarding.

    Args:
        namespace: after all other changes of the update.
        command: the update.
        surely: whether the update is in force now, and no unanswered one may still change it.
    """
    queue = namespace.queues[command.queue]
    wanted, before = command.forward_to or None, queue.settings.forward_to
    if command.forward_to is None or wanted == before:
        return namespace
    # A queue that requires sessions cannot forward (FWD-25). A bus that accepts the update must not
    # forward then, so none of its messages may arrive at the destination.
    if wanted is not None and queue.settings.requires_session:
        return not_forwarding(namespace, wanted)
    simple = surely and _is_simple(namespace, queue, wanted)
    settings = attrs.evolve(queue.settings, forward_to=wanted)
    managed = attrs.evolve(queue.managed, redirected=True)
    redirected = attrs.evolve(queue, settings=settings, managed=managed)
    namespace = with_queue(namespace, redirected)
    if not simple:
        # Messages may be in either entity, so neither of them is judged.
        joined = (destination for destination in (before, wanted) if destination is not None)
        return stop_judging(namespace, command.queue, *joined)
    return _begun(namespace, redirected) if wanted is not None else _ended(namespace, redirected)


def _is_simple(namespace: Namespace, queue: Queue, wanted: str | None) -> bool:
    """Return whether only one question is open: which of the two entities has each message."""
    name = queue.settings.queue
    messages = [*queue.messages.values()]
    # Whether and when a locked, deferred or scheduled message would be forwarded is open.
    idle = all(stored.lock is None and stored.deferred is False for stored in messages)
    sources = (name, queue.role.topic) if isinstance(queue.role, Subscription) else (name,)
    waits = is_in_transaction(namespace, *sources)
    still = not (len(queue.calendar.entries) or waits or any(feeding(namespace, name)))
    alone = wanted is None or (wanted != name and not any(feeding(namespace, wanted)))
    # If it forwarded elsewhere before, messages in transit may go to either destination.
    passed = bool(queue.passed or messages)
    turned = wanted is not None and queue.settings.forward_to is not None and passed
    return idle and still and alone and not turned and not is_unsure(queue)


def _begun(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace after forwarding has started: each message may go, or stay here."""
    name = queue.settings.queue
    for stored in tuple(queue.messages.values()):
        here = namespace.queues[name]
        # Whether it went or stayed is open until it is seen in one of the two.
        doubted = replace(here, stored, attrs.evolve(stored, certain=False))
        going = Arrival(
            message=stored.message,
            key=stored.key,
            where=stored.where,
            certain=False,
            answered=False,
        )
        namespace = go_on(with_queue(namespace, doubted), doubted, going)
    return namespace


def _ended(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace after forwarding has stopped: messages in transit may have stayed."""
    where = everywhere(namespace, queue.settings)
    # They are stored without a key, so that no later message of their key has to wait for them.
    for several in queue.passed.values():
        for passed in several:
            message = passed.arrival.message
            queue = store(queue, message, None, where, namespace.now, certain=False)
    return with_queue(namespace, queue)
