"""Conforming buses that are late with what they do by themselves: no document says by when."""

from collections.abc import Callable

import attrs

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.broker.direct_actions import act
from busproof.model import Answer, Namespace, RoundRobin
from busproof.model.dead_letters import DeadLetters
from busproof.model.forwarding import Forwarding
from busproof.model.management import Management
from busproof.model.scheduling import Scheduling
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import DIRECT, InTransit
from busproof.mutants.mutant import memory

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

    def do(self, command: v.Command, connection: str) -> v.Observed:
        observed = super().do(command, connection)
        namespace = self._namespace
        pending = memory(namespace, Pending)
        due = [each for each in pending if each[0] <= namespace.now]
        for each in due:
            pending.remove(each)
            act(namespace, RoundRobin(), each[1])
        return observed


class ActivatesLate(Scheduling):
    def activate(self, scheduled: ScheduledMessage) -> None:
        moment = scheduled.due + LATE
        if self.namespace.now < moment:
            scheduled.entity.look_at("scheduling.activate", moment, scheduled, scheduled.number)
        else:
            super().activate(scheduled)


class LateSchedules(ModelAdapter):
    """Scheduled messages become active a minute after they are due."""

    def __init__(self) -> None:
        super().__init__(families={"scheduling": ActivatesLate})


class ForwardsLate(Forwarding):
    def forward(
        self, source: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        forward = super().forward
        later(self.namespace, lambda _: forward(source, message, partition, transit), LATE // 2)


class LateForwarding(LateBus):
    """Messages are forwarded half a minute after they came; three hops take less than two."""

    def __init__(self) -> None:
        super().__init__(families={"forwarding": ForwardsLate})


class BuriesLate(DeadLetters):
    def dead_letter(self, queued: QueuedMessage, reason: str) -> None:
        if reason not in ("MaxDeliveryCountExceeded", "TTLExpiredException"):
            super().dead_letter(queued, reason)
            return
        entity = queued.entity
        self.rules.messages.remove(queued)

        def bury(namespace: Namespace) -> None:
            if namespace.entities.get(entity.path) is entity:
                transit = DIRECT._replace(reason=reason)
                namespace.rules.dead_letters.enqueue(
                    entity, queued.message, queued.partition, transit
                )

        later(self.namespace, bury)


class LateDeadLetters(LateBus):
    """Messages become dead letters a minute after their last delivery, or after they died."""

    def __init__(self) -> None:
        super().__init__(families={"dead_letters": BuriesLate})


class CountsLate(Management):
    def get_queue(self, command: v.GetQueue, connection: str) -> Answer:
        answer = super().get_queue(command, connection)
        namespace = self.namespace
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
        super().__init__(families={"management": CountsLate})


class NeverActivates(Scheduling):
    def activate(self, scheduled: ScheduledMessage) -> None:
        pass


class NeverSchedules(ModelAdapter):
    """Nothing that is scheduled becomes active."""

    def __init__(self) -> None:
        super().__init__(families={"scheduling": NeverActivates})


class ForwardsNothing(Forwarding):
    def forward(self, *_: object) -> None:
        pass


class NeverForwards(ModelAdapter):
    """Nothing that is forwarded arrives."""

    def __init__(self) -> None:
        super().__init__(families={"forwarding": ForwardsNothing})
