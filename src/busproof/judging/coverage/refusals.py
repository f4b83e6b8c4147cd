"""What each refusal implies, request by request."""

from collections.abc import Callable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.coverage import batches, deferral, keys, locks, management, sessions, sizes
from busproof.judging.coverage.duplicates import declined
from busproof.judging.coverage.notes import Coverage, Rules
from busproof.model.state import Entity

__all__ = ["of_refusal", "said_of"]

See = Callable[[Coverage, Entity, Any, v.Error, Rules], None]
OF_OUTAGES: Final = frozenset(("KEY-03", "KEY-18", "PART-01", "PART-03"))
"""Rules by which a send is refused in an outage."""
NOTHING: Final[v.RuleId] = ""
OF_SESSIONS: Final = (v.AcceptSession, v.AcceptNextSession, v.ListSessions, v.CloseSession)
SAID_OTHERWISE: Final[dict[type[v.Command], dict[v.RuleId, v.RuleId]]] = {
    v.Schedule: {"KEY-08": "SCHED-12", **dict.fromkeys(("KEY-03", "KEY-18"), "SCHED-10")},
    v.CreateSubscription: {"MGMT-10": "TOPIC-19"},
    v.ReceiveDeferred: dict.fromkeys(("SESS-02", "SESS-12"), "DEFER-12"),
    v.CommitTransaction: {
        **dict.fromkeys(("LIFE-06", "LOCK-06"), "LOCK-13"),
        **dict.fromkeys(("KEY-03", "LIFE-11"), NOTHING),
    },
    v.DeleteBatch: dict.fromkeys(("BATCH-15", "LIFE-11"), NOTHING),
    v.TakePartitionDown: {"PART-05": NOTHING},
    **{kind: dict.fromkeys(("MGMT-27", "SESS-02"), NOTHING) for kind in OF_SESSIONS},
}
"""Request to the rules that say of it in particular, or do not say, what others say of any."""

SAID_OF: Final[dict[v.RuleId, frozenset[type[v.Command]]]] = {
    "MGMT-10": frozenset(
        (
            *(v.Send, v.SendBatch, v.Receive, v.ReceiveBatch, v.Peek),
            *(v.GetQueue, v.UpdateQueue, v.DeleteQueue),
            *(v.GetTopic, v.UpdateTopic, v.DeleteTopic, v.ListSubscriptions),
        )
    ),
    "TOPIC-05": frozenset((v.Receive, v.ReceiveBatch, v.Peek)),
}
"""Rules about some requests only, which the model applies to others too."""


def said_of(coverage: Coverage, decided: Rules) -> Rules:
    """Return the rules that say why this very request was refused.

    SCHED-10, SCHED-12, TOPIC-19 and TXN-07 say of some requests what other rules say of
    any.
    """
    command = coverage.event.command
    entity = coverage.entity
    kind = type(command)
    instead = SAID_OTHERWISE.get(kind, {})
    sends = isinstance(command, v.Send | v.SendBatch) and command.transaction is not None
    if entity is not None and sends and entity.settings.requires_session:
        instead = {"KEY-08": "TXN-07"}
    elif "SESS-12" in decided and not sessions.has_lost(coverage):
        instead = {**instead, "SESS-12": instead.get("SESS-12", NOTHING)}
    said = (instead.get(rule, rule) for rule in decided)
    return tuple(rule for rule in said if rule and kind in SAID_OF.get(rule, (kind,)))


def of_refusal(coverage: Coverage, error: v.Error, decided: Rules) -> None:
    """Show the rules that a refusal implies.

    Args:
        coverage: the coverage.
        error: the recorded error.
        decided: the rules by which the model refused the request.
    """
    entity = coverage.entity
    path = coverage.path
    if "MGMT-18" in decided and path is not None:
        management.note_outage(coverage, path)
    if entity is None:
        if error is v.Error.NOT_FOUND and path is not None:
            management.of_missing(coverage, path)
        return
    see = REFUSALS.get(type(coverage.command))
    if see is not None:
        see(coverage, entity, coverage.command, error, decided)


def _of_send(
    coverage: Coverage,
    entity: Entity,
    command: v.Send | v.Schedule,
    error: v.Error,
    decided: Rules,
) -> None:
    if decided:
        declined(coverage, entity, command.message, "DUP-08")
    if error is v.Error.QUOTA_EXCEEDED:
        sizes.of_full(coverage, entity, command)
    elif isinstance(command, v.Send) and not OF_OUTAGES.isdisjoint(decided):
        keys.of_refused_send(coverage, entity, command.message, command.timeout)


def _of_batch(
    coverage: Coverage, entity: Entity, command: v.SendBatch, error: v.Error, decided: Rules
) -> None:
    for message in command.messages:
        declined(coverage, entity, message, "DUP-08")
    if entity.base.down and "KEY-03" in decided and command.messages:
        keys.of_refused_send(coverage, entity, command.messages[0], command.timeout)
    if error is v.Error.QUOTA_EXCEEDED:
        coverage.show_if((not entity.settings.partitioned, "SIZE-10"), (True, "SIZE-11"))
    batches.of_refused(coverage)


def _of_lock(
    coverage: Coverage,
    entity: Entity,
    command: v.Settlement | v.RenewLock,
    error: v.Error,
    _: Rules,
) -> None:
    if error is v.Error.LOCK_LOST:
        locks.of_lost_lock(coverage, entity, command.lock_token)
        enlisted = getattr(command, "transaction", None) is not None
        coverage.show_if((isinstance(command, v.DeadLetter), "DLQ-14"), (enlisted, "LOCK-13"))


def _of_locks(
    coverage: Coverage,
    entity: Entity,
    command: v.SettleBatch | v.RenewLocks,
    error: v.Error,
    decided: Rules,
) -> None:
    coverage.show_if(("LOCK-15" in decided, "LOCK-16"))
    if error is v.Error.LOCK_LOST:
        for token in command.lock_tokens:
            locks.of_lost_lock(coverage, entity, token)
        if isinstance(command, v.RenewLocks):
            coverage.show("LOCK-05")
        else:
            used_up = command.disposition.name in ("COMPLETE", "ABANDON")
            coverage.show("LIFE-06" if used_up else "LOCK-06")


def _of_deferred(
    coverage: Coverage, entity: Entity, command: v.ReceiveDeferred, _: v.Error, __: Rules
) -> None:
    deferral.of_refusal(coverage, entity, command)


def _of_receive(
    coverage: Coverage, entity: Entity, command: v.Receive, error: v.Error, decided: Rules
) -> None:
    coverage.show_if(
        ("LIFE-11" in decided and entity.dead_letters is None, "DLQ-13"),
        ("LIFE-11" in decided and not entity.settings.partitioned, "PART-01"),
    )
    session = entity.sessions.get(command.session_id or "")
    others = session is not None and session.holder not in (None, coverage.event.connection)
    coverage.show_if((error is v.Error.SESSION_LOCK_LOST and others, "LIFE-10"))


def _of_accept(
    coverage: Coverage, entity: Entity, command: v.AcceptSession, error: v.Error, _: Rules
) -> None:
    if error is v.Error.SESSION_CANNOT_BE_LOCKED:
        sessions.of_refusal(coverage, entity, command)


def _of_accept_next(
    coverage: Coverage, entity: Entity, _: v.Command, __: v.Error, decided: Rules
) -> None:
    if "SESS-07" in decided:
        sessions.of_none_accepted(coverage, entity)


def _of_update(coverage: Coverage, entity: Entity, _: v.Command, __: v.Error, ___: Rules) -> None:
    management.note_refused_update(coverage, entity)


REFUSALS: Final[dict[type[v.Command], See]] = {
    v.Send: _of_send,
    v.Schedule: _of_send,
    v.SendBatch: _of_batch,
    **dict.fromkeys((v.Complete, v.Abandon, v.DeadLetter, v.Defer, v.RenewLock), _of_lock),
    **dict.fromkeys((v.SettleBatch, v.RenewLocks), _of_locks),
    v.ReceiveDeferred: _of_deferred,
    **dict.fromkeys((v.Receive, v.ReceiveBatch), _of_receive),
    v.AcceptSession: _of_accept,
    v.AcceptNextSession: _of_accept_next,
    **dict.fromkeys((v.UpdateQueue, v.UpdateTopic), _of_update),
}
"""Request to what its refusal implies."""
