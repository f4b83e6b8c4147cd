"""Conforming buses that are late with what they do by themselves: no document says by when."""

from collections.abc import Callable
from functools import partial

import attrs

from busproof import vocabulary as v
from busproof.adapters.base import Observed
from busproof.adapters.model import ModelAdapter
from busproof.broker.direct_actions import act
from busproof.model import Answer, Namespace, RoundRobin
from busproof.model.rules import RULES
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import DIRECT, InTransit
from busproof.mutants.mutant import memory, replaced

__all__ = [
    "LateCounts",
    "LateDeadLetters",
    "LateForwarding",
    "LateSchedules",
    "NeverForwards",
    "NeverSchedules",
]

LATE = 60 * v.MICROSECONDS
Work = Callable[[Namespace], None]
Pending = list[tuple[int, Work]]
Counts = dict[Entity, tuple[int, v.QueueDescription]]


def later(namespace: Namespace, work: Work, delay: int = LATE) -> None:
    memory(namespace, Pending).append((namespace.now + delay, work))


class LateBus(ModelAdapter):
    """Does some of its work a minute later."""

    def do(self, command: v.Command, connection: str) -> Observed:
        observed = super().do(command, connection)
        namespace = self._namespace
        pending = memory(namespace, Pending)
        due = [each for each in pending if each[0] <= namespace.now]
        for each in due:
            pending.remove(each)
            act(namespace, RoundRobin(), each[1])
        return observed


def activate_late(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    moment = scheduled.due + LATE
    if namespace.now < moment:
        scheduled.entity.look_at("scheduling.activate", moment, scheduled, scheduled.number)
    else:
        RULES.scheduling.activate(namespace, scheduled)


class LateSchedules(ModelAdapter):
    """Scheduled messages become active a minute after they are due."""

    def __init__(self) -> None:
        super().__init__(rules=replaced({"scheduling.activate": activate_late}))


def forward_late(
    namespace: Namespace, source: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    work = partial(
        RULES.forwarding.forward,
        source=source,
        message=message,
        partition=partition,
        transit=transit,
    )
    later(namespace, work, LATE // 2)


class LateForwarding(LateBus):
    """Messages are forwarded half a minute after they came; three hops take less than two."""

    def __init__(self) -> None:
        super().__init__(rules=replaced({"forwarding.forward": forward_late}))


def dead_letter_late(namespace: Namespace, queued: QueuedMessage, reason: str) -> None:
    if reason not in ("MaxDeliveryCountExceeded", "TTLExpiredException"):
        RULES.dead_letters.dead_letter(namespace, queued, reason)
        return
    entity = queued.entity
    namespace.rules.messages.remove(namespace, queued)

    def bury(namespace: Namespace) -> None:
        if namespace.entities.get(entity.path) is entity:
            transit = DIRECT._replace(reason=reason)
            RULES.dead_letters.enqueue(namespace, entity, queued.message, queued.partition, transit)

    later(namespace, bury)


class LateDeadLetters(LateBus):
    """Messages become dead letters a minute after their last delivery, or after they died."""

    def __init__(self) -> None:
        super().__init__(rules=replaced({"dead_letters.dead_letter": dead_letter_late}))


def count_late(namespace: Namespace, command: v.GetQueue, connection: str) -> Answer:
    answer = RULES.management.get_queue(namespace, command, connection)
    description, earlier = answer.outcome.description, memory(namespace, Counts)
    entity = namespace.entities[command.queue]
    when, old = earlier.get(entity, (namespace.now - LATE, description))
    if when + LATE <= namespace.now:
        earlier[entity] = (namespace.now, description)
        return answer
    counts = {"message_count", "transfer_dead_letters"}
    late = {name: getattr(old, name) for name in counts}
    answer.outcome = v.Described(description=attrs.evolve(description, **late))
    return answer


class LateCounts(ModelAdapter):
    """Counts that are got of a queue are those of up to a minute ago."""

    def __init__(self) -> None:
        super().__init__(rules=replaced({"management.get_queue": count_late}))


def never(*_: object, **__: object) -> None:
    pass


class NeverSchedules(ModelAdapter):
    """Nothing that is scheduled becomes active."""

    def __init__(self) -> None:
        super().__init__(rules=replaced({"scheduling.activate": never}))


class NeverForwards(ModelAdapter):
    """Nothing that is forwarded arrives."""

    def __init__(self) -> None:
        super().__init__(rules=replaced({"forwarding.forward": never}))
