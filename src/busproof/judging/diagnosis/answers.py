"""Rules that are broken by an answer that gives no message: places, sessions, lists, numbers."""

from collections.abc import Iterator
from typing import Any

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.fields import misplaced
from busproof.judging.diagnosis.scene import Scene
from busproof.model.life_cycle import LOCKED_STATES
from busproof.model.state import Session

__all__ = [
    "wrong_session",
    "wrong_state",
    "wrongly_deleted",
    "wrongly_listed",
    "wrongly_placed",
    "wrongly_renewed",
]


def wrongly_placed(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by the partition that took a message, or by its number."""
    entity, witness, outcome = scene.entity, scene.event.witness, scene.event.outcome
    message = getattr(scene.event.command, "message", None)
    messages = getattr(scene.event.command, "messages", (message,))
    number = getattr(outcome, "sequence_number", None)
    if entity is not None and messages[0] is not None:
        place = None if witness is None else witness.partition
        if number is not None:
            place = number >> v.SEQUENCE_BITS
            yield from rules_if((scene.bindings.named(entity, number) is not None, "SEQ-03"))
        if place is not None:
            yield from misplaced(scene, entity, messages[0], place)
    yield from scene.rules_of_answers


def wrong_session(scene: Scene) -> Iterator[v.RuleId]:
    """SESS-06, SESS-07, SCHED-13: yield the rules that are broken by accepting a session."""
    entity = scene.entity
    name = getattr(scene.event.outcome, "session_id", None)
    if entity is not None and name is not None:
        session = entity.sessions.get(name)
        held = session is not None and session.holder is not None
        scheduled = any(one.message.session_id == name for one in entity.scheduled.values())
        down = session is not None and session.partition in entity.base.down
        yield from rules_if(
            (held, "SESS-07", "LIFE-10"), (scheduled, "SCHED-13"), (down, "SESS-24")
        )
    yield "SESS-06"
    yield from scene.rules_of_answers


def wrong_state(scene: Scene) -> Iterator[v.RuleId]:
    """SESS-16 to SESS-20: yield the rules that are broken by the state of a session."""
    entity = scene.entity
    name = getattr(scene.event.command, "session_id", "")
    told = getattr(scene.event.outcome, "state", None)
    if entity is not None:
        session: Session | None = entity.sessions.get(name)
        own = None if session is None else session.state
        sets: list[Any] = [
            event.command
            for event in scene.done(v.SetSessionState, path=scene.path)
            if getattr(event.command, "session_id", None) == name
        ]
        others = {one.state for one in entity.sessions.values() if one is not session}
        partitioned = entity.settings.partitioned and session is not None and session.partition
        lost = own is not None and told is None
        calm = not scene.own_outages and not scene.asked(v.AdvanceClock, v.CloseSession)
        yield from rules_if(
            (told is not None and told in others, "SESS-20"),
            (not sets, "SESS-16"),
            (sets and sets[-1].state is None, "SESS-18"),
            (lost and calm and partitioned, "FEAT-15"),
            (lost and not calm, "SESS-19"),
        )
    yield from ("SESS-17", "SESS-19", "SESS-21")


def wrongly_listed(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by a list of entities, sessions or rules."""
    match scene.event.command:
        case v.ListRules():
            yield from _wrong_rules(scene)
        case v.ListSessions():
            yield from _wrong_sessions(scene)
        case _:
            yield from rules_if(
                (scene.asked(v.RestoreQueue), "PREM-04"),
                (scene.done(v.DeleteTopic), "TOPIC-22"),
                (scene.refused(v.CreateQueue, v.CreateTopic, v.CreateSubscription), "MGMT-19"),
                (True, "MGMT-16", "MGMT-15"),
            )


def _wrong_rules(scene: Scene) -> tuple[v.RuleId, ...]:
    changes = scene.rule_changes(scene.path)
    refused = [event for event in changes if isinstance(event.outcome, v.Refused)]
    partitioned = scene.entity is not None and scene.entity.settings.partitioned
    inside = any(getattr(event.command, "transaction", None) is not None for event in changes)
    again = any(
        getattr(event.outcome, "error", None) is v.Error.ALREADY_EXISTS for event in refused
    )
    long = any(len(getattr(event.command, "rule", "")) > 50 for event in refused)
    acts = any(getattr(event.command, "action", None) is not None for event in refused)
    return rules_if(
        (inside, "FEAT-03" if partitioned else "FEAT-19"),
        (again, "FILTER-08"),
        (long, "FILTER-27"),
        (acts, "FILTER-25"),
        (refused and not again and not long and not acts, "FILTER-19"),
        (True, "FILTER-10", "FILTER-07"),
    )


def _wrong_sessions(scene: Scene) -> tuple[v.RuleId, ...]:
    entity = scene.entity
    told = getattr(scene.event.outcome, "session_ids", ())
    missing = [] if entity is None else [one for n, one in entity.sessions.items() if n not in told]
    elsewhere = any(session.partition for session in missing)
    return rules_if((elsewhere, "FEAT-16"), (True, "SESS-22"))


def wrongly_deleted(scene: Scene) -> Iterator[v.RuleId]:
    """BATCH-15 to BATCH-17: yield the rules that are broken by the number of deleted messages."""
    entity = scene.entity
    command = scene.event.command
    records = [] if entity is None else list(entity.messages.values())
    locked = any(record.state in LOCKED_STATES for record in records)
    yield from rules_if(
        (getattr(command, "age", None) is not None, "BATCH-17"), (locked, "BATCH-16")
    )
    yield "BATCH-15"


def wrongly_renewed(scene: Scene) -> Iterator[v.RuleId]:
    """LOCK-01 to LOCK-04, SESS-13, MGMT-12: yield the rules on how long a renewed lock lasts."""
    yield from scene.rules_of_answers
    yield from rules_if(
        (scene.asked(v.UpdateQueue, path=scene.path), "MGMT-12"), (True, "LOCK-01", "LOCK-02")
    )
