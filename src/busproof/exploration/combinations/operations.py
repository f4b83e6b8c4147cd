"""The operations that are tried in each circumstance."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.combinations.stage import (
    PLAIN_SUBSCRIPTION,
    SESSION,
    SUBSCRIPTION,
    TOPIC,
    Home,
    Stage,
)

__all__ = ["OPERATIONS", "Operation"]

SECOND: Final = v.MICROSECONDS
NOBODYS: Final = 4711
"""A number that no message has."""

Request = Callable[[], v.Command]
"""Makes the request once the circumstances are there, because they decide where it goes."""


@attrs.frozen(kw_only=True)
class Operation:
    """An operation.

    Attributes:
        prepare: sends what the operation needs, and returns what makes its request.
        settings: the settings of the queue that it needs.
        home: what has to hold the messages; `None` if anything may.
        accepts: whether the session of the queue, if it has one, is accepted before.
        is_repeatable: whether it does something when it is done again.
    """

    prepare: Callable[[Stage], Request]
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    home: Home | None = None
    accepts: bool = True
    is_repeatable: bool = True


def _token(stage: Stage) -> str:
    view = stage.lock()
    return "never given" if view is None or view.lock_token is None else view.lock_token


def _settling(kind: Callable[..., v.Command]) -> Callable[[Stage], Request]:
    def prepare(stage: Stage) -> Request:
        token = _token(stage)
        return lambda: kind(queue=stage.at, lock_token=token, transaction=stage.transaction)

    return prepare


def _renewing(stage: Stage) -> Request:
    token = _token(stage)
    return lambda: v.RenewLock(queue=stage.at, lock_token=token)


def _renewing_several(stage: Stage) -> Request:
    tokens = (_token(stage), _token(stage))
    return lambda: v.RenewLocks(queue=stage.at, lock_tokens=tokens)


def _settling_several(disposition: v.Disposition) -> Callable[[Stage], Request]:
    def prepare(stage: Stage) -> Request:
        tokens = (_token(stage), _token(stage))
        return lambda: v.SettleBatch(queue=stage.at, lock_tokens=tokens, disposition=disposition)

    return prepare


def _sending(stage: Stage) -> Request:
    stage.send()
    return lambda: v.Send(
        queue=stage.target,
        message=stage.message(),
        transaction=stage.transaction,
    )


def _sending_several(stage: Stage) -> Request:
    stage.send()
    return lambda: v.SendBatch(
        queue=stage.target,
        messages=(stage.message(), stage.message()),
        transaction=stage.transaction,
    )


def _scheduling(stage: Stage) -> Request:
    stage.send()
    return lambda: v.Schedule(
        queue=stage.target,
        message=stage.message(),
        delay=30 * SECOND,
        transaction=stage.transaction,
    )


def _cancelling(stage: Stage) -> Request:
    number = stage.schedule(100 * SECOND)
    return lambda: v.CancelScheduled(queue=stage.target, sequence_number=number or NOBODYS)


def _cancelling_an_active_one(stage: Stage) -> Request:
    view = stage.lock()
    if view is not None and view.lock_token is not None:
        stage.do(v.Abandon(queue=stage.home.path, lock_token=view.lock_token))
    number = NOBODYS if view is None else view.sequence_number or NOBODYS
    return lambda: v.CancelScheduled(queue=stage.target, sequence_number=number)


def _receiving(mode: v.ReceiveMode) -> Callable[[Stage], Request]:
    def prepare(stage: Stage) -> Request:
        stage.send()
        return lambda: v.Receive(queue=stage.at, mode=mode, session_id=stage.session)

    return prepare


def _receiving_several(stage: Stage) -> Request:
    stage.send()
    stage.send()
    return lambda: v.ReceiveBatch(queue=stage.at, count=3, session_id=stage.session)


def _receiving_deferred(mode: v.ReceiveMode) -> Callable[[Stage], Request]:
    def prepare(stage: Stage) -> Request:
        number = stage.defer() or NOBODYS
        return lambda: v.ReceiveDeferred(
            queue=stage.at, sequence_numbers=(number,), mode=mode, session_id=stage.session
        )

    return prepare


def _completing_deferred(stage: Stage) -> Request:
    number = stage.defer() or NOBODYS
    command = v.ReceiveDeferred(
        queue=stage.home.path, sequence_numbers=(number,), session_id=stage.session
    )
    event = stage.do(command)
    token = "never given"  # noqa: S105 - no secret
    if event is not None and isinstance(event.outcome, v.ReceivedSeveral):
        token = next((view.lock_token or token for view in event.outcome.messages), token)
    return lambda: v.Complete(queue=stage.at, lock_token=token, transaction=stage.transaction)


def _peeking(stage: Stage) -> Request:
    stage.send()
    return lambda: v.Peek(queue=stage.at, count=10)


def _deleting_several(stage: Stage) -> Request:
    stage.send()
    return lambda: v.DeleteBatch(queue=stage.at, count=10)


def _send_first(make: Callable[[str], v.Command]) -> Callable[[Stage], Request]:
    def prepare(stage: Stage) -> Request:
        stage.send()
        return lambda: make(stage.at)

    return prepare


def _set_state_first(make: Callable[[str], v.Command]) -> Callable[[Stage], Request]:
    def prepare(stage: Stage) -> Request:
        stage.send()
        stage.do(
            v.SetSessionState(queue=stage.home.path, session_id=SESSION, state=stage.message().body)
        )
        return lambda: make(stage.at)

    return prepare


def _creating(stage: Stage) -> Request:
    name = stage.new_name()
    return lambda: stage.creation(name)


def _listing(stage: Stage) -> Request:
    stage.create(stage.new_name())
    return v.ListQueues


def _adding_a_rule(stage: Stage) -> Request:
    stage.send()
    name = stage.new_name()
    return lambda: v.AddRule(
        topic=TOPIC,
        subscription=SUBSCRIPTION,
        rule=name,
        filter=v.SqlFilter(expression="sys.Label IS NULL OR seen IS NULL"),
        action="SET seen = 1",
        transaction=stage.transaction,
    )


def _removing_a_rule(stage: Stage) -> Request:
    name = stage.new_name()
    stage.do(v.AddRule(topic=TOPIC, subscription=SUBSCRIPTION, rule=name, filter=v.TrueFilter()))
    stage.send()
    return lambda: v.RemoveRule(
        topic=TOPIC, subscription=SUBSCRIPTION, rule=name, transaction=stage.transaction
    )


def _about_the_topic(make: Callable[[], v.Command]) -> Operation:
    def prepare(stage: Stage) -> Request:
        stage.send()
        return make

    return Operation(prepare=prepare, home=PLAIN_SUBSCRIPTION)


SESSIONS: Final = {"requires_session": True}

OPERATIONS: Final[Mapping[str, Operation]] = {
    "send": Operation(prepare=_sending),
    "send of two together": Operation(prepare=_sending_several),
    "schedule": Operation(prepare=_scheduling),
    "cancellation": Operation(prepare=_cancelling),
    "cancellation of an active message": Operation(prepare=_cancelling_an_active_one),
    "receive": Operation(prepare=_receiving(v.ReceiveMode.PEEK_LOCK)),
    "receive and delete": Operation(prepare=_receiving(v.ReceiveMode.RECEIVE_AND_DELETE)),
    "receive of several": Operation(prepare=_receiving_several),
    "peek": Operation(prepare=_peeking),
    "completion": Operation(prepare=_settling(v.Complete)),
    "abandoning": Operation(prepare=_settling(v.Abandon)),
    "deferral": Operation(prepare=_settling(v.Defer)),
    "dead-lettering": Operation(prepare=_settling(v.DeadLetter)),
    "renewal": Operation(prepare=_renewing),
    "renewal of two": Operation(prepare=_renewing_several),
    "completion of two": Operation(prepare=_settling_several(v.Disposition.COMPLETE)),
    "receive of a deferred message": Operation(
        prepare=_receiving_deferred(v.ReceiveMode.PEEK_LOCK)
    ),
    "receive and delete of a deferred message": Operation(
        prepare=_receiving_deferred(v.ReceiveMode.RECEIVE_AND_DELETE)
    ),
    "completion of a deferred message": Operation(prepare=_completing_deferred),
    "deletion of several": Operation(prepare=_deleting_several, settings={"partitioned": False}),
    "description": Operation(prepare=_send_first(lambda queue: v.GetQueue(queue=queue))),
    "change of the time to live": Operation(
        prepare=_send_first(lambda queue: v.UpdateQueue(queue=queue, time_to_live=50 * SECOND))
    ),
    "change of the delivery count": Operation(
        prepare=_send_first(lambda queue: v.UpdateQueue(queue=queue, max_delivery_count=1))
    ),
    "creation of another queue": Operation(prepare=_creating),
    "listing of the queues": Operation(prepare=_listing),
    "deletion of the queue": Operation(
        prepare=_send_first(lambda queue: v.DeleteQueue(queue=queue)), is_repeatable=False
    ),
    "accepting of the session": Operation(
        prepare=_send_first(lambda queue: v.AcceptSession(queue=queue, session_id=SESSION)),
        settings=SESSIONS,
        accepts=False,
        is_repeatable=False,
    ),
    "accepting of the next session": Operation(
        prepare=_send_first(lambda queue: v.AcceptNextSession(queue=queue)),
        settings=SESSIONS,
        accepts=False,
        is_repeatable=False,
    ),
    "renewal of the session": Operation(
        prepare=_send_first(lambda queue: v.RenewSessionLock(queue=queue, session_id=SESSION)),
        settings=SESSIONS,
    ),
    "closing of the session": Operation(
        prepare=_send_first(lambda queue: v.CloseSession(queue=queue, session_id=SESSION)),
        settings=SESSIONS,
    ),
    "setting of the state": Operation(
        prepare=_set_state_first(
            lambda queue: v.SetSessionState(queue=queue, session_id=SESSION, state="after")
        ),
        settings=SESSIONS,
    ),
    "getting of the state": Operation(
        prepare=_set_state_first(lambda queue: v.GetSessionState(queue=queue, session_id=SESSION)),
        settings=SESSIONS,
    ),
    "listing of the sessions": Operation(
        prepare=_send_first(lambda queue: v.ListSessions(queue=queue)), settings=SESSIONS
    ),
    "addition of a subscription rule": Operation(prepare=_adding_a_rule, home=PLAIN_SUBSCRIPTION),
    "removal of a subscription rule": Operation(prepare=_removing_a_rule, home=PLAIN_SUBSCRIPTION),
    "listing of the subscription rules": _about_the_topic(
        lambda: v.ListRules(topic=TOPIC, subscription=SUBSCRIPTION)
    ),
    "listing of the subscriptions": _about_the_topic(lambda: v.ListSubscriptions(topic=TOPIC)),
    "description of the topic": _about_the_topic(lambda: v.GetTopic(topic=TOPIC)),
    "change of the topic's time to live": _about_the_topic(
        lambda: v.UpdateTopic(topic=TOPIC, time_to_live=50 * SECOND)
    ),
}
"""The operations, by name."""
