"""Mutants that are right for a queue and its first use, and wrong elsewhere or the next time.

Each stands for a kind: another mode, another holder, a setting that is changed and not in force, a
limit that holds outside of sessions only, a time that holds in queues only.
"""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.batches import Batches
from busproof.model.dead_letters import DeadLetters
from busproof.model.expiry import Expiry
from busproof.model.management import Management
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import EntityKind, InTransit
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.runs import QUEUE, abandon, create, over, receive, send, wait
from busproof.mutants.wrappers import alters

ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
COPIES: Final = v.subscription_path("t", "s")
IN_SESSION: Final = v.Receive(queue=QUEUE, session_id="s")
WITHOUT_LOCK: Final = v.ReceiveBatch(queue=QUEUE, count=2, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


@mutant("LIFE-03", deep=True)
@run(create(), send("m1", partition_key="a"), WITHOUT_LOCK, wait(61), receive())
class DeletedAtOnceComesBack(Batches):
    """Messages received at once in receive-and-delete mode are only locked."""

    def receive_batch(self, command: v.ReceiveBatch, connection: str) -> Answer:
        locked = attrs.evolve(command, mode=v.ReceiveMode.PEEK_LOCK)
        answer = super().receive_batch(locked, connection)
        outcome = answer.outcome
        if command.mode is locked.mode or not isinstance(outcome, v.ReceivedSeveral):
            return answer
        views = (
            attrs.evolve(view, lock_token=None, locked_until=None, delivery_count=None)
            for view in outcome.messages
        )
        answer.outcome = v.ReceivedSeveral(messages=tuple(views))
        return answer


@mutant("SESS-19", deep=True)
@run(
    create(requires_session=True),
    ACCEPT,
    v.SetSessionState(queue=QUEUE, session_id="s", state="half"),
    v.CloseSession(queue=QUEUE, session_id="s"),
    over("c2", ACCEPT),
    over("c2", v.GetSessionState(queue=QUEUE, session_id="s")),
)
class StateIsLostForTheNextHolder(Sessions):
    """A session that another connection accepts has no state any more."""

    def hold(self, session: Session, connection: str) -> None:
        holders = memory(self.rules.namespace, dict[tuple[str, str], str])
        place = (session.entity.path, session.name)
        if holders.get(place, connection) != connection:
            self.namespace.journal.touch(session)
            session.state = None
        holders[place] = connection
        super().hold(session, connection)


@mutant("DLQ-02", deep=True)
@run(
    create(max_delivery_count=5),
    v.UpdateQueue(queue=QUEUE, max_delivery_count=1),
    send("m1", partition_key="a"),
    receive(),
    abandon(0),
    *(wait(121), receive()),
)
class DeliveryLimitIsNeverLowered(Management):
    """An update of the maximum delivery count is ignored if it is a lower one."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        most = command.max_delivery_count
        if most is not None and most < entity.settings.max_delivery_count:
            command = attrs.evolve(command, max_delivery_count=None)
        super().apply_update(entity, command)


@mutant("DLQ-02", deep=True)
@run(
    create(requires_session=True, max_delivery_count=1),
    send("m1", session_id="s"),
    ACCEPT,
    IN_SESSION,
    abandon(0),
    IN_SESSION,
)
class SessionsHaveNoDeliveryLimit(DeadLetters):
    """A message of a session is given again however often its delivery failed."""

    @alters
    def has_failed_too_often(self, usual: bool, queued: QueuedMessage) -> bool:
        return usual and queued.session is None


@mutant("TTL-01", deep=True)
@run(
    v.CreateTopic(topic="t"),
    v.CreateSubscription(topic="t", subscription="s"),
    send("m1", queue="t", partition_key="a", time_to_live=5 * v.MICROSECONDS),
    wait(200),
    receive(queue=COPIES),
)
class OwnLifetimeIsIgnoredInSubscriptions(Expiry):
    """A copy has the time to live of its subscription, whatever the message's own is."""

    def expires_at(self, entity: Entity, message: v.Message, transit: InTransit) -> int | None:
        if entity.kind is EntityKind.SUBSCRIPTION:
            message = attrs.evolve(message, time_to_live=None)
        return super().expires_at(entity, message, transit)
