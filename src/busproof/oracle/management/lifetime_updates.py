"""Updates of the default time to live of an entity.

A message keeps the time to live with which it arrived (MGMT-12). If a message's request was not
answered, or it was forwarded, it may arrive under the old or the new setting.
"""

import attrs

from busproof import vocabulary as v
from busproof.oracle.schedule import NEVER
from busproof.oracle.state import Namespace, Queue, with_queue
from busproof.oracle.unjudged import stop_judging
from busproof.oracle.window import Window


def with_lifetime(namespace: Namespace, command: v.UpdateQueue, *, surely: bool) -> Namespace:
    """MGMT-12: return the namespace after an update of the time to live.

    Args:
        namespace: the state after all other changes of the update.
        command: the update.
        surely: whether it is in force now, and no unanswered update may still change it.
    """
    life = command.time_to_live
    if life is None:
        return namespace
    queue = namespace.queues[command.queue]
    managed = queue.managed
    ever = managed.lifetimes_ever
    wider = Window(min(managed.lifetimes.earliest, life), max(managed.lifetimes.latest, life))
    managed = attrs.evolve(
        managed,
        lifetimes=Window(life, life) if surely else wider,
        lifetimes_ever=Window(min(ever.earliest, life), max(ever.latest, life)),
        lifetimes_changed_at=namespace.now.latest,
        lifetimes_apply_from=queue.arrivals,
    )
    queue = _under_it(namespace, attrs.evolve(queue, managed=managed), life)
    namespace = with_queue(namespace, queue)
    if queue.settings.forward_to is None:
        return namespace
    # Messages that it forwards may get the old or the new one at any destination
    # (FORWARD-LIFETIME).
    return stop_judging(namespace, command.queue)


def _under_it(namespace: Namespace, queue: Queue, life: int) -> Queue:
    """Return the queue in which messages that may arrive later may expire by the new setting.

    This visits all messages, once for each update.
    """
    now, slack = namespace.now, namespace.observability.slack
    for stored in queue.messages.values():
        # A message that surely arrived before the update has its final expiry.
        if stored.dies is None or stored.dies.latest < NEVER:
            continue
        shortest = min(life, stored.message.time_to_live or NEVER)
        earliest = min(stored.dies.earliest, now.earliest + shortest - slack)
        dies = Window(earliest, NEVER)
        queue = attrs.evolve(
            queue,
            messages=queue.messages.set(stored.number, attrs.evolve(stored, dies=dies)),
            deaths=queue.deaths.awaiting(stored.number, dies),
        )
    return queue
