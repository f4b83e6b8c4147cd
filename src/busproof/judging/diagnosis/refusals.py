"""Rules that are broken by refusing a request, or by not refusing one."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.scene import Scene
from busproof.judging.replay.evidence import tokens_of
from busproof.model.life_cycle import State
from busproof.model.state import QueuedMessage
from busproof.model.values import EntityKind

__all__ = ["not_refused"]


def not_refused(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by not refusing a request, or by another error.

    The model names the rules of its refusals; of each, what else is known comes first.
    """
    inside = getattr(scene.event.command, "transaction", None) is not None
    yield from rules_if((inside and not scene.rules_of_refusals, "TXN-12", "TXN-13"))
    for rule in scene.rules_of_refusals:
        yield from KNOWN_BESIDES.get(rule, of_nothing)(scene)
        yield rule


def of_nothing(_: Scene) -> Iterable[v.RuleId]:
    """Return no rules."""
    return ()


def of_lost_lock(scene: Scene) -> Iterator[v.RuleId]:
    """LOCK-07, LOCK-13, LOCK-14 to LOCK-18: yield the rules on using a lock that is lost."""
    command = scene.event.command
    entity = scene.entity
    inside = getattr(command, "transaction", None) is not None
    is_copy = entity is not None and entity.kind is EntityKind.SUBSCRIPTION
    token = getattr(command, "lock_token", None)
    record = None if token is None else scene.holding(token)
    together = settled_together(scene)
    locked_anew = record is not None and record.is_there and record.state is State.LOCKED
    yield from rules_if(
        (is_copy, "TOPIC-20"),
        (isinstance(command, v.CommitTransaction) or inside, "LOCK-13"),
        (isinstance(command, v.SettleBatch), "LOCK-17", "LOCK-14"),
        (isinstance(command, v.RenewLocks), "LOCK-17", "LOCK-18"),
        (any(map(scene.of_several_partitions, together)), "LOCK-16"),
        (together, "LOCK-14", "LOCK-16", "LOCK-17"),
        (locked_anew, "LOCK-07"),
    )


def settled_together(scene: Scene) -> list[tuple[str, ...]]:
    """Return the locks of the earlier requests that were to settle one of these with others."""
    used = set(tokens_of(scene.event.command))
    every = (tokens_of(event.command) for event in scene.asked(v.SettleBatch, path=scene.path))
    return [tokens for tokens in every if not used.isdisjoint(tokens)]


def of_no_deferred(scene: Scene) -> Iterator[v.RuleId]:
    """DEFER-04, DEFER-05, DEFER-07, DEFER-12: yield why a number names no deferred message."""
    entity = scene.entity
    command = scene.event.command
    if entity is None or not isinstance(command, v.ReceiveDeferred):
        return
    for number in command.sequence_numbers:
        record = scene.bindings.named(entity, number)
        if not isinstance(record, QueuedMessage):
            continue
        was_deferred = any(one.after is State.DEFERRED for one in scene.lives.of(record))
        yield from rules_if(
            (not record.is_there and was_deferred, "DEFER-07"),
            (record.is_there and record.state in (State.ACTIVE, State.LOCKED), "DEFER-04"),
            (record.state is State.DEFERRED_LOCKED, "DEFER-05"),
            (record.is_there and record.state is State.DEFERRED, "DEFER-12"),
        )


def of_session(scene: Scene) -> Iterator[v.RuleId]:
    """SESS-02, SESS-12, SESS-21: yield the rules on using a session that is not held."""
    command = scene.event.command
    connection = scene.event.connection
    name = getattr(command, "session_id", None)
    accepted = [
        event
        for event in scene.done(v.AcceptSession, v.AcceptNextSession, path=scene.path)
        if event.connection == connection
        and name
        in (getattr(event.command, "session_id", None), getattr(event.outcome, "session_id", None))
    ]
    topic = scene.entity is not None and scene.entity.kind is EntityKind.SUBSCRIPTION
    deferred = isinstance(command, v.ReceiveDeferred)
    of_state = isinstance(command, v.GetSessionState | v.SetSessionState)
    receives = isinstance(command, v.Receive | v.ReceiveBatch)
    yield from rules_if(
        (topic, "TOPIC-13"),
        (deferred, "DEFER-12"),
        (of_state and not accepted, "SESS-21"),
        (receives and not accepted, "SESS-02", "LIFE-10"),
    )


def of_held_session(scene: Scene) -> Iterator[v.RuleId]:
    """SESS-13: yield the rules by which a session is still held."""
    yield from rules_if((scene.done(v.RenewSessionLock, path=scene.path), "SESS-13"))


def of_room(scene: Scene) -> Iterator[v.RuleId]:
    """SIZE-10, SIZE-11, SIZE-13, SIZE-14, BATCH-10: yield the rules on want of room."""
    command = scene.event.command
    entity = scene.entity
    inside = getattr(command, "transaction", None) is not None
    commits = isinstance(command, v.CommitTransaction)
    error = getattr(scene.event.outcome, "error", None)
    states = set() if entity is None else {one.state for one in entity.messages.values()}
    set_apart = states & {State.LOCKED, State.DEFERRED}
    dead = scene.asked(v.DeadLetter) or scene.asked(v.Schedule) or scene.asked(v.SetSessionState)
    message = getattr(command, "message", None)
    keyed = (
        entity is not None
        and message is not None
        and scene.namespace.rules.keys.effective_key(entity, message) is not None
    )
    yield from rules_if(
        (error not in (None, v.Error.QUOTA_EXCEEDED), "SIZE-11"),
        (isinstance(command, v.SendBatch), "BATCH-10"),
        (inside or commits, "SIZE-14"),
        (set_apart or dead, "SIZE-13"),
        (not keyed, "SIZE-10"),
    )


def of_outage(scene: Scene) -> Iterator[v.RuleId]:
    """KEY-20, TOPIC-10, BATCH-11: yield the rules on a key whose partition is down."""
    command = scene.event.command
    entity = scene.entity
    topic = entity is not None and entity.kind is EntityKind.TOPIC
    yield from rules_if(
        (topic, "TOPIC-10"),
        (isinstance(command, v.SendBatch), "BATCH-11"),
        (isinstance(command, v.CommitTransaction), "TXN-12"),
        (_went_round(scene), "KEY-20"),
    )


def _went_round(scene: Scene) -> bool:
    """Return whether another partition took the message than the one that its key selects."""
    witness = scene.event.witness
    entity = scene.entity
    message = getattr(scene.event.command, "message", None)
    if witness is None or entity is None or message is None:
        return False
    key = scene.namespace.rules.keys.effective_key(entity, message)
    return key is not None and scene.home(entity, key) not in (None, witness.partition)


def of_two_keys(scene: Scene) -> Iterator[v.RuleId]:
    """SCHED-12, TXN-07: yield the rules on a SessionId and a PartitionKey that differ."""
    command = scene.event.command
    inside = getattr(command, "transaction", None) is not None
    yield from rules_if((isinstance(command, v.Schedule), "SCHED-12"), (inside, "TXN-07"))


def of_size(scene: Scene) -> Iterator[v.RuleId]:
    """LIMIT-06, LIMIT-21: yield the rules on a message that is too large."""
    command = scene.event.command
    inside = getattr(command, "transaction", None) is not None
    yield from rules_if((inside, "LIMIT-21"), (isinstance(command, v.Schedule), "LIMIT-06"))


def of_missing(scene: Scene) -> Iterator[v.RuleId]:
    """TOPIC-19, TOPIC-22, MGMT-15: yield the rules by which an entity is not there."""
    deleted = scene.done(v.DeleteTopic)
    subscribes = isinstance(scene.event.command, v.CreateSubscription)
    yield from rules_if(
        (deleted, "TOPIC-22"),
        (subscribes and not deleted, "TOPIC-19"),
        (scene.done(v.DeleteQueue), "MGMT-15"),
        (v.is_dead_letter_queue(scene.path), "DLQ-08"),
    )


def of_transaction(scene: Scene) -> Iterator[v.RuleId]:
    """TOPIC-16: yield the rule on the keys of a transaction on a topic."""
    topic = scene.entity is not None and scene.entity.kind is EntityKind.TOPIC
    yield from rules_if((topic, "TOPIC-16"))


KNOWN_BESIDES: Final[dict[v.RuleId, Callable[[Scene], Iterable[v.RuleId]]]] = {
    **dict.fromkeys(("LIFE-06", "LOCK-05", "LOCK-06", "LOCK-17"), of_lost_lock),
    **dict.fromkeys(("SIZE-07", "SIZE-09", "SIZE-10", "SIZE-14"), of_room),
    **dict.fromkeys(("KEY-03", "PART-03", "PART-01"), of_outage),
    **dict.fromkeys(("LIMIT-02", "LIMIT-04"), of_size),
    **dict.fromkeys(("SESS-02", "SESS-12"), of_session),
    **dict.fromkeys(("TXN-03", "TXN-04", "TXN-08"), of_transaction),
    "DEFER-03": of_no_deferred,
    "LIFE-10": of_held_session,
    "KEY-08": of_two_keys,
    "MGMT-10": of_missing,
    "TOPIC-19": of_missing,
}
"""Rule of a refusal to what else is known about it."""
