"""Updates of a queue's default time to live.

Messages keep the time to live with which they arrived (MGMT-12). Messages of unanswered requests,
and forwarded ones, may arrive under the old or the new setting.
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
        namespace: the state.
        command: the update.
        surely: whether it is in force now, and no other update may still change that.
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
    # Messages forwarded through it may get either one at any destination (FORWARD-LIFETIME).
    return stop_judging(namespace, command.queue)


def _under_it(namespace: Namespace, queue: Queue, life: int) -> Queue:
    """Return the queue with uncertain arrivals that may expire under the new setting.

    It visits all messages, once for each update.
    """
    now, slack = namespace.now, namespace.observability.slack
    for stored in queue.messages.values():
        # Messages that arrived before the update have a known expiry.
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
