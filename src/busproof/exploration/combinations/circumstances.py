"""The circumstances in which an operation may find a queue or a subscription."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.combinations.stage import (
    DOOR,
    FILTERED_SUBSCRIPTION,
    LOCK,
    OTHER,
    PLAIN_SUBSCRIPTION,
    SESSION,
    TOPIC,
    Home,
    Stage,
)

__all__ = ["CIRCUMSTANCES", "Circumstance"]

SECOND: Final = v.MICROSECONDS
LARGE: Final = 600_000_000
"""Size in bytes of a message of which a partition of 1 GB takes one."""

Act = Callable[[Stage], object]


def _nothing(stage: Stage) -> None:
    del stage


@attrs.frozen(kw_only=True)
class Circumstance:
    """A circumstance.

    Attributes:
        settings: the settings of the queue that it needs.
        home: what has to hold the messages; `None` if anything may.
        arrange: what comes before the operation is prepared.
        begin: what comes between that and the operation itself.
        end: what comes after the operation.
    """

    settings: Mapping[str, Any] = attrs.field(factory=dict)
    home: Home | None = None
    arrange: Act = _nothing
    begin: Act = _nothing
    end: Act = _nothing


def _have_an_outage(stage: Stage) -> None:
    stage.take_down()
    stage.bring_up()


def _begin_transaction(stage: Stage) -> None:
    stage.do(v.BeginTransaction(transaction="t"))
    stage.transaction = "t"


def _commit(stage: Stage) -> None:
    stage.do(v.CommitTransaction(transaction="t"))
    stage.transaction = None


def _roll_back(stage: Stage) -> None:
    stage.do(v.RollBackTransaction(transaction="t"))
    stage.transaction = None


def _begin_over_two(stage: Stage) -> None:
    stage.create(OTHER)
    _begin_transaction(stage)
    stage.send(OTHER)


def _send_and_roll_back(stage: Stage) -> None:
    _begin_transaction(stage)
    stage.send()
    _roll_back(stage)


def _settle_and_roll_back(stage: Stage) -> None:
    view = stage.lock()
    if view is not None and view.lock_token is not None:
        stage.tokens.append(view.lock_token)
        _begin_transaction(stage)
        stage.do(v.Complete(queue=stage.home.path, lock_token=view.lock_token, transaction="t"))
        _roll_back(stage)


def _switch_connection(stage: Stage) -> None:
    stage.connection = "c2"


def _hand_over(stage: Stage) -> None:
    stage.do(v.CloseSession(queue=stage.home.path, session_id=SESSION))
    stage.accept_session("c2")
    stage.connection = "c2"


def _lock_another(stage: Stage) -> None:
    view = stage.lock()
    if view is not None and view.lock_token is not None:
        stage.tokens.append(view.lock_token)


def _settle_others(stage: Stage) -> None:
    for token in stage.tokens:
        stage.do(v.Complete(queue=stage.home.path, lock_token=token))


def _end_other_locks(stage: Stage) -> None:
    stage.wait(LOCK // 2)
    _settle_others(stage)


def _forward(stage: Stage) -> None:
    settings = {name: stage.settings[name] for name in stage.settings if name == "partitioned"}
    stage.do(v.CreateQueue(queue=DOOR, forward_to=stage.home.door, **settings))
    stage.door = DOOR


def _aim_elsewhere(stage: Stage) -> None:
    stage.create(OTHER)
    stage.send(OTHER)
    stage.at = OTHER


def _make_anew(stage: Stage) -> None:
    if stage.home.door == TOPIC:
        stage.do(v.DeleteTopic(topic=TOPIC))
    else:
        stage.do(v.DeleteQueue(queue=stage.home.path))
    stage.home.make(stage)
    stage.accept_session(stage.connection)


def _status(status: v.EntityStatus) -> Circumstance:
    return Circumstance(
        begin=lambda stage: _set_status(stage, status),
        end=lambda stage: _set_status(stage, v.EntityStatus.ACTIVE),
    )


def _set_status(stage: Stage, status: v.EntityStatus) -> None:
    stage.do(v.UpdateQueue(queue=stage.home.path, status=status))
    if stage.home.door == TOPIC and status is not v.EntityStatus.RECEIVE_DISABLED:
        stage.do(v.UpdateTopic(topic=TOPIC, status=status))


def _copy(stage: Stage) -> None:
    stage.send()
    stage.is_copied = True


def _look_alike(stage: Stage) -> None:
    stage.is_alike = True
    stage.send()


def _send_together(stage: Stage) -> None:
    stage.is_batched = True


def _fail_once(stage: Stage) -> None:
    stage.failures = 1


def _fill(stage: Stage) -> None:
    stage.send(size=LARGE, stands_in=True)


def _overfill(stage: Stage) -> None:
    stage.transaction = None
    stage.send(size=LARGE, stands_in=True)


CIRCUMSTANCES: Final[Mapping[str, Circumstance]] = {
    "with nothing else": Circumstance(),
    "in an outage": Circumstance(begin=Stage.take_down, end=Stage.bring_up),
    "after an outage": Circumstance(begin=_have_an_outage),
    "in a transaction": Circumstance(begin=_begin_transaction, end=_commit),
    "in a transaction that is rolled back": Circumstance(begin=_begin_transaction, end=_roll_back),
    "in a transaction over two queues": Circumstance(begin=_begin_over_two, end=_roll_back),
    "after a send was rolled back": Circumstance(begin=_send_and_roll_back),
    "after a settlement was rolled back": Circumstance(
        begin=_settle_and_roll_back, end=_settle_others
    ),
    "over another connection": Circumstance(begin=_switch_connection),
    "while another one holds the session": Circumstance(
        settings={"requires_session": True}, begin=_switch_connection
    ),
    "by the session's next holder": Circumstance(
        settings={"requires_session": True}, begin=_hand_over
    ),
    "beside a deferred message": Circumstance(arrange=lambda stage: stage.defer()),
    "beside a message that is nearly due": Circumstance(
        arrange=lambda stage: stage.schedule(20 * SECOND),
        begin=lambda stage: stage.wait(19 * SECOND),
    ),
    "beside a message that was due": Circumstance(
        arrange=lambda stage: stage.schedule(20 * SECOND),
        begin=lambda stage: stage.wait(21 * SECOND),
    ),
    "beside an expired message": Circumstance(
        arrange=lambda stage: stage.send(time_to_live=5 * SECOND),
        begin=lambda stage: stage.wait(6 * SECOND),
    ),
    "beside another lock": Circumstance(
        arrange=_lock_another,
        begin=lambda stage: stage.wait(LOCK * 2 // 3),
        end=_end_other_locks,
    ),
    "under duplicate detection": Circumstance(settings={"duplicate_detection": True}, begin=_copy),
    "behind a queue that forwards": Circumstance(arrange=_forward),
    "aimed at another queue": Circumstance(begin=_aim_elsewhere),
    "while the queue is disabled": _status(v.EntityStatus.DISABLED),
    "while sending is disabled": _status(v.EntityStatus.SEND_DISABLED),
    "while receiving is disabled": _status(v.EntityStatus.RECEIVE_DISABLED),
    "just before the lock ends": Circumstance(begin=lambda stage: stage.wait(LOCK - SECOND)),
    "just after the lock has ended": Circumstance(begin=lambda stage: stage.wait(LOCK + SECOND)),
    "at the last delivery": Circumstance(settings={"max_delivery_count": 2}, arrange=_fail_once),
    "with two messages sent together": Circumstance(arrange=_send_together),
    "among messages that look alike": Circumstance(arrange=_look_alike),
    "in a partition that is nearly full": Circumstance(begin=_fill, end=_overfill),
    "after a change of the lock duration": Circumstance(
        begin=lambda stage: stage.do(v.UpdateQueue(queue=stage.home.path, lock_duration=LOCK // 2))
    ),
    "after the queue was made anew": Circumstance(begin=_make_anew),
    "in a subscription": Circumstance(home=PLAIN_SUBSCRIPTION),
    "in a subscription with a filter": Circumstance(home=FILTERED_SUBSCRIPTION),
    "where nothing is partitioned": Circumstance(settings={"partitioned": False}),
    "where the expired are dead-lettered": Circumstance(
        settings={"dead_letter_expired": True, "time_to_live": 90 * SECOND}
    ),
}
"""The circumstances, by the words that complete "a message is completed …"."""
