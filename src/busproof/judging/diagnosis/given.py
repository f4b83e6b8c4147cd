"""Rules that are broken by giving or showing a message that ought not to be given, or altered."""

from collections.abc import Iterator, Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.fields import wrong_fields
from busproof.judging.diagnosis.filters import rules_of_filters
from busproof.judging.diagnosis.lives import Change
from busproof.judging.diagnosis.origins import (
    OF_REASONS,
    OF_REMOVALS,
    copies_sent,
    has_odd_window,
    of_forwarding,
    topic_of,
)
from busproof.judging.diagnosis.refusals import not_refused
from busproof.judging.diagnosis.scene import GIVING, Scene
from busproof.judging.replay.bindings import Numbered
from busproof.judging.replay.evidence import base_path, views_of
from busproof.model.life_cycle import State
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import EntityKind

__all__ = ["wrongly_given", "wrongly_given_together", "wrongly_shown"]

STATES: Final = {
    State.LOCKED: ("LIFE-02", "LOCK-10"),
    State.DEFERRED_LOCKED: ("DEFER-05", "LIFE-02"),
    State.DEFERRED: ("DEFER-01",),
}


def wrongly_given(scene: Scene, view: v.MessageView) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by giving this message."""
    entity = scene.entity
    if entity is None:
        return
    sessionless = entity.settings.requires_session and scene.session_id is None
    yield from rules_if((not entity.status.gives, "MGMT-27"), (sessionless, "SESS-02"))
    record = recognised(scene, entity, view)
    named = scene.bindings.named(entity, view.sequence_number or -1)
    is_of_another = named is not None and named.message.body != view.body
    yield from rules_if((scene.is_begun and is_of_another, "SEQ-03"))
    if record is None:
        yield from why_absent(scene, entity, view)
        return
    if isinstance(record, ScheduledMessage):
        event, message = scene.sends_of(view.body)[-1]
        yield from tuple(of_uncommitted(scene, entity, event, message)) or tuple(
            why_not_come(scene, record)
        )
        return
    if not record.is_there:
        yield from why_gone(scene, record, view)
        return
    command = scene.event.command
    deferred = isinstance(command, v.ReceiveDeferred)
    if record.state is State.ACTIVE and deferred:
        yield "DEFER-04"
    elif record.state is not State.ACTIVE and not (deferred and record.state is State.DEFERRED):
        yield from why_not_free(scene, record)
    elif record.session is not None and record.session.name != scene.session_id:
        yield from ("SESS-04", "KEY-06")
    elif record.partition in entity.base.down and not is_forwarded(scene, record):
        yield from ("PART-01",) if not entity.settings.partitioned else ("PART-03", "KEY-20")
    fields = tuple(wrong_fields(scene, record, view))
    if record not in scene.given() and not fields:
        yield from out_of_order(scene, record)
    yield from fields


def why_not_come(scene: Scene, scheduled: ScheduledMessage) -> Iterator[v.RuleId]:
    """Yield the rules by which a scheduled message has not come, never does, or came otherwise."""
    changes = scene.lives.of(scheduled)
    entity = scheduled.entity
    body = scheduled.message.body
    gone = is_gone(scheduled)
    cancelled = gone and scene.cause(scheduled, changes[-1]) is v.CancelScheduled
    came = gone and any(isinstance(one, QueuedMessage) for one in scene.like(body, entity))
    yield from rules_if(
        (cancelled, "SCHED-04"),
        (came, "SCHED-06"),
        (not gone and entity.settings.requires_session, "SCHED-13"),
        (not cancelled and not came, "SCHED-01", "SCHED-13"),
    )


def why_not_free(scene: Scene, record: QueuedMessage) -> Iterator[v.RuleId]:
    """Yield the rules by which a message is locked or deferred."""
    locks = [one for one in scene.lives.of(record) if one.after is record.state]
    renewed = scene.asked_under(record, v.RenewLock, v.RenewLocks)
    again = [one for one in scene.lives.of(record) if one.before is State.DEFERRED_LOCKED]
    enlisted = scene.enlisted(record)
    rolled_back = scene.rolled_back(enlisted)
    subscription = record.entity.kind is EntityKind.SUBSCRIPTION
    yield from rules_if(
        (record.state is State.LOCKED and subscription, "TOPIC-20"),
        (record.state is State.DEFERRED and again, "DEFER-06"),
        (record.state is State.LOCKED and renewed, "LOCK-04"),
        (record.state is State.LOCKED and rolled_back, "LOCK-12"),
        (record.state is State.LOCKED and enlisted, "LOCK-11"),
    )
    yield from STATES.get(record.state, ())
    yield "PART-10" if locks else "LIFE-02"


def is_forwarded(scene: Scene, record: Numbered) -> bool:
    """Return whether a message was sent to another entity."""
    sends = scene.sends_of(record.message.body)
    return base_path(record.entity.path) not in {v.concerned(event.command) for event, _ in sends}


def recognised(scene: Scene, entity: Entity, view: v.MessageView) -> Numbered | None:
    """Return the message that a view shows: by its number, or else the likeliest of its body."""
    number = view.sequence_number
    named = None if number is None else scene.bindings.named(entity, number)
    if named is not None and named.message.body == view.body:
        return named
    if is_another_copy(scene, entity, view):
        return None
    alike = scene.like(view.body, entity)
    given = scene.given()
    alike = sorted(
        alike,
        key=lambda one: (one not in given, is_gone(one), not scene.bindings.fits(one, number)),
    )
    if not alike:
        return named
    best = alike[0]
    doubled = is_gone(best) and scene.bindings.is_bound(best)
    if doubled and number is not None and not scene.bindings.fits(best, number):
        return best
    return best


def is_gone(record: Numbered) -> bool:
    """Return whether a message has left its entity."""
    return record.entity.scheduled.get(record.number) is not record and (
        not isinstance(record, QueuedMessage) or not record.is_there
    )


def is_another_copy(scene: Scene, entity: Entity, view: v.MessageView) -> bool:
    """KEY-11: return whether a view is a copy that duplicate detection had to drop."""
    if view.message_id is None:
        return False
    sent = [
        e for e, _ in copies_sent(scene, view.message_id) if not isinstance(e.outcome, v.Refused)
    ]
    detecting = [
        one for one in scene.namespace.entities.values() if one.settings.duplicate_detection
    ]
    if len(sent) < 2 or not detecting:
        return False
    there = [
        one
        for one in scene.lives.everything()
        if one.entity is entity and one.message.message_id == view.message_id
    ]
    known = [one for one in there if scene.bindings.fits(one, view.sequence_number)]
    exact = [one for one in known if one.message.body == view.body and not is_gone(one)]
    return len(there) < len(sent) and not exact


def why_absent(scene: Scene, entity: Entity, view: v.MessageView) -> Iterator[v.RuleId]:
    """Yield the rules by which a message never came here, or is not this one."""
    if is_another_copy(scene, entity, view):
        yield from of_copies(scene, entity, view)
        return
    sends = scene.sends_of(view.body)
    if sends:
        event, message = sends[-1]
        if isinstance(event.outcome, v.Refused):
            yield from of_refused(scene, event)
        for explain in (of_uncommitted, of_waiting, of_other_place, of_topic):
            rules = tuple(explain(scene, entity, event, message))
            if rules:
                yield from rules
                return
        yield from rules_if(
            (scene.asked(v.DeleteQueue, v.DeleteTopic), "MGMT-15", "MGMT-17"),
            (forwards_sessions(scene, event), "FWD-25"),
            (v.concerned(event.command) != entity.path, "FWD-14", "KEY-01"),
        )
    else:
        yield from rules_if((scene.is_away_from_home(view), "KEY-02"))
        for record in scene.given():
            yield from of_forwarding(scene, record)
    yield "LIFE-01"


def forwards_sessions(scene: Scene, event: v.Event) -> bool:
    """FWD-25: return whether a message was sent to an entity with sessions that forwards."""
    created = [
        one.command
        for one in scene.asked(v.CreateQueue)
        if getattr(one.command, "queue", "") == v.concerned(event.command)
    ]
    return any(
        getattr(one, "requires_session", False) and getattr(one, "forward_to", None) is not None
        for one in created
    )


def of_uncommitted(
    scene: Scene, entity: Entity, event: v.Event, message: v.Message
) -> Iterator[v.RuleId]:
    """TXN-12, TXN-13: yield the rules by which a transaction has not sent a message."""
    transaction = getattr(event.command, "transaction", None)
    arrived = any(isinstance(one, QueuedMessage) for one in scene.like(message.body))
    if transaction is None or arrived:
        return
    refused = [
        one
        for one in scene.refused(v.CommitTransaction)
        if getattr(one.command, "transaction", None) == transaction
    ]
    rolled_back = any(
        getattr(one.command, "transaction", None) == transaction
        for one in scene.asked(v.RollBackTransaction)
    )
    yield from rules_if(
        (any(error_of(one) is v.Error.QUOTA_EXCEEDED for one in refused), "SIZE-14"),
        (refused and scene.asked(*LOCKS), "LOCK-13"),
        (isinstance(event.command, v.SendBatch), "BATCH-08"),
        (topic_of(entity) is not None, "TOPIC-15"),
        (v.concerned(event.command) != base_path(entity.path), "FWD-33"),
        (rolled_back, "TXN-13"),
        (not rolled_back, "TXN-12"),
    )


def error_of(event: v.Event) -> v.Error | None:
    """Return the error of a refusal; `None` for any other answer."""
    return getattr(event.outcome, "error", None)


LOCKS: Final = (v.Complete, v.Abandon, v.DeadLetter, v.Defer)


def of_waiting(scene: Scene, _: Entity, __: v.Event, message: v.Message) -> Iterator[v.RuleId]:
    """SCHED-01, SCHED-04: yield the rules by which a scheduled message has not come, or never."""
    for scheduled in scene.like(message.body):
        if isinstance(scheduled, ScheduledMessage):
            came = [one for one in scene.like(message.body) if isinstance(one, QueuedMessage)]
            if not came:
                yield from why_not_come(scene, scheduled)


def of_other_place(
    scene: Scene, entity: Entity, event: v.Event, message: v.Message
) -> Iterator[v.RuleId]:
    """Yield the rules by which a message is in another entity, or on its way there."""
    if entity.kind is EntityKind.TOPIC:
        yield from ("TOPIC-05", "LIFE-01")
        return
    if entity.kind in (EntityKind.DEAD_LETTERS, EntityKind.TRANSFERS):
        yield from wrongly_dead(scene, entity, message.body)
        return
    elsewhere = scene.like(message.body)
    stopped = [
        one
        for one in elsewhere
        if one.entity.kind in (EntityKind.DEAD_LETTERS, EntityKind.TRANSFERS)
        and isinstance(one, QueuedMessage)
        and one.reason in OF_REASONS
    ]
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    for one in stopped:
        here = one.entity.owner is entity and not is_forwarded(scene, one)
        sessionless = one.reason == "SessionIdMissing" and here
        yield from rules_if((premium, "PREM-11"), (sessionless, "SESS-01"))
        yield from OF_REASONS.get(one.reason, ())
    sent_here = v.concerned(event.command) == base_path(entity.path)
    passed_on = elsewhere and sent_here and scene.hops_to(elsewhere[0].entity.path)
    if entity.settings.forward_to is not None or passed_on:
        received = any(is_gone(one) for one in elsewhere)
        yield from rules_if(
            (scene.asked(v.UpdateQueue), "FWD-05"),
            (topic_of(entity) is not None, "FWD-04"),
            (received, "FWD-14"),
            (True, "FWD-15", "FWD-14"),
        )


def of_topic(
    scene: Scene, entity: Entity, event: v.Event, message: v.Message
) -> Iterator[v.RuleId]:
    """TOPIC-03, FILTER: yield the rules by which a subscription has no copy of a message."""
    topic = topic_of(entity)
    if topic is not None and v.concerned(event.command) == topic.path:
        early = scene.history.index(event) < scene.created_at(entity.path)
        again = any(
            v.concerned(one.command) == entity.path
            for one in scene.deleted_subscriptions(topic.path)
        )
        yield from rules_if((early and again, "MGMT-15"), (early, "TOPIC-03"))
        yield from rules_of_filters(scene, entity, message)


def of_refused(scene: Scene, event: v.Event) -> Iterator[v.RuleId]:
    """Yield the rules by which a send was refused."""
    command = event.command
    yield from rules_if((isinstance(command, v.SendBatch), "BATCH-02"))
    yield from scene.told_at(event, not_refused)


def of_copies(scene: Scene, entity: Entity, view: v.MessageView) -> Iterator[v.RuleId]:
    """KEY-11, DUP: yield the rules by which a copy had to be dropped."""
    sent = copies_sent(scene, view.message_id)
    commands = [event.command for event, _ in sent]
    paths = {v.concerned(command) for command in commands}
    first = next(
        (one for one in scene.lives.everything() if one.message.message_id == view.message_id), None
    )
    history = scene.history
    between = history[history.index(sent[0][0]) : history.index(sent[-1][0])]
    waited = sum(getattr(event.command, "duration", 0) for event in between)
    keys = {message.partition_key or message.session_id for _, message in sent}
    base = entity.base
    window = base.settings.duplicate_window
    yield from rules_if(
        (has_odd_window(scene, base), "DUP-03"),
        (any(isinstance(one, v.SendBatch) for one in commands), "BATCH-09"),
        (any(getattr(one, "transaction", None) for one in commands), "DUP-11"),
        (bool(paths - {base.path}), "FWD-13"),
        (base.kind is EntityKind.TOPIC, "TOPIC-12"),
        (any(isinstance(e.command, v.TakePartitionDown) for e in between), "DUP-09"),
        (waited > window // 2 and window == DEFAULT_WINDOW, "DUP-02"),
        (len(keys) > 1 and not base.settings.partitioned, "DUP-05"),
        (first is not None and was_settled(scene, first, sent[-1][0]), "DUP-07"),
        (True, "KEY-11", "DUP-07", "DUP-04", "DUP-02", "DUP-03", "DUP-05"),
    )


def was_settled(scene: Scene, record: Numbered, by: v.Event) -> bool:
    """Return whether a message was gone before an event, and no receive has deleted it."""
    changes = scene.lives.of(record)
    if not is_gone(record) or scene.cause(record, changes[-1]) in GIVING:
        return False
    return changes[-1].index < scene.before.index(by)


DEFAULT_WINDOW: Final = 600 * v.MICROSECONDS


def why_gone(scene: Scene, record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    """Yield the rules by which a message has left its entity."""
    entity = record.entity
    number = view.sequence_number
    is_second = (
        number is not None
        and scene.bindings.is_bound(record)
        and not (scene.bindings.fits(record, number))
    )
    partial = scene.asked(v.TakePartitionDown)
    if is_second:
        topic = topic_of(entity)
        forwarded = base_path(entity.path) not in {
            v.concerned(event.command) for event, _ in scene.sends_of(record.message.body)
        }
        yield from rules_if(
            (partial, "PART-04"),
            (topic is not None and len(entity.rules) > 1, "FILTER-05"),
            (topic is not None, "TOPIC-01"),
            (topic is None and forwarded, "FWD-14"),
            (True, "KEY-01"),
        )
    changes = scene.lives.of(record)
    cause = scene.cause(record, changes[-1])
    cached = record.entity.settings.partitioned and any(
        one.after is State.LOCKED for one in changes
    )
    dies = record.expires_at is not None
    late = any(isinstance(e.command, v.AdvanceClock) for e in since_locked(scene, changes))
    if cause is v.AdvanceClock or (cause is v.Abandon and dies):
        yield from of_expired(scene, record, late=cause is v.Abandon)
    else:
        yield from rules_if(
            (record.failed >= 10, "DLQ-04"),
            (partial or (cause is v.Complete and late), "LOCK-08"),
        )
        yield from OF_REMOVALS.get(cause, ("LIFE-03",))
    yield from rules_if(
        (True, "LIFE-03"), (cached, "PART-09", "PART-12"), (True, "LOCK-08", "KEY-01")
    )


def since_locked(scene: Scene, changes: Sequence[Change]) -> Sequence[v.Event]:
    """Return the events between the last lock of a message and its end."""
    starts = [one.index for one in changes if one.after in (State.LOCKED, State.DEFERRED_LOCKED)]
    return scene.before[starts[-1] : changes[-1].index] if starts else ()


def of_expired(scene: Scene, record: QueuedMessage, *, late: bool) -> Iterator[v.RuleId]:
    """Yield the rules by which a message expired, or was dead-lettered when its lock ended."""
    entity = record.entity
    now = scene.namespace.now
    expired = record.expires_at is not None and record.expires_at <= now
    given = any(one.before is State.LOCKED for one in scene.lives.of(record))
    own = record.message.time_to_live
    most = entity.settings.time_to_live
    outage = scene.asked(v.TakePartitionDown)
    if expired:
        yield from rules_if(
            (given or late, "TTL-06"),
            (outage, "TTL-13"),
            (scene.lifetimes_changed(), "MGMT-12"),
            (own is None, "TTL-03"),
            (own is not None and most not in (None, own), "TTL-04"),
            (True, "TTL-01"),
        )
    else:
        yield from rules_if((record.failed >= 10, "DLQ-04"), (True, "DLQ-02"))


def wrongly_dead(scene: Scene, dead: Entity, body: str) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by a dead letter that ought not to be one."""
    owner = dead.owner
    lives = [one for one in scene.like(body, owner) if isinstance(one, QueuedMessage)]
    record = lives[0] if lives else None
    view = next(view for view in views_of(scene.event.outcome) if view.body == body)
    reason = view.dead_letter_reason
    if dead.kind is EntityKind.TRANSFERS:
        yield "FWD-32"
    elsewhere = [one for one in scene.like(body) if one.entity not in (dead, owner)]
    if dead.settings.forward_to is not None:
        moved = any(is_gone(one) for one in elsewhere)
        yield from ("FWD-36", "FWD-35") if moved else ("FWD-35", "FWD-36")
    if record is not None:
        expired = record.expires_at is not None and record.expires_at <= scene.namespace.now
        mortal = record.expires_at is not None
        deferred = record.state is State.DEFERRED
        kept = owner.settings.dead_letter_expired
        yield from rules_if(
            (deferred and expired, "TTL-10"),
            (mortal and expired and not kept, "TTL-08"),
            (mortal and not expired and reason in (None, "TTLExpiredException"), "TTL-02"),
            (record.failed and reason == "MaxDeliveryCountExceeded", "DLQ-03"),
        )
    elif body in {m.body for e in scene.before for m in sent_in(e)}:
        yield "DLQ-08"
    paths = {v.concerned(event.command) for event, _ in scene.sends_of(body)}
    foreign = not elsewhere and base_path(owner.path) not in paths
    refused = [
        event
        for event in scene.asked(v.DeadLetter, path=owner.path)
        if isinstance(event.outcome, v.Refused)
    ]
    yield from rules_if(
        (foreign, "DLQ-08"), (refused, "DLQ-14"), (True, "DLQ-03", "DLQ-14", "DLQ-08")
    )


def sent_in(event: v.Event) -> Sequence[v.Message]:
    """Return the messages that an event sends."""
    command = event.command
    return getattr(command, "messages", None) or (
        (command.message,) if isinstance(command, v.Send | v.Schedule) else ()
    )


def out_of_order(scene: Scene, record: QueuedMessage) -> Iterator[v.RuleId]:
    """Yield the rules on order that are broken by giving a message before another one."""
    entity = record.entity
    ahead = [one for one in scene.given() if one.number < record.number]
    again = [(one, scene.lives.of(one)[-1]) for one in ahead if len(scene.lives.of(one)) > 1]
    requests = {scene.cause(one, last) for one, last in again}
    scheduled = any(
        isinstance(e.command, v.Schedule) for e, _ in scene.sends_of(record.message.body)
    )
    batch = any(isinstance(e.command, v.SendBatch) for e, _ in scene.sends_of(record.message.body))
    several = isinstance(scene.event.command, v.ReceiveBatch)
    subscription = entity.kind is EntityKind.SUBSCRIPTION
    in_session = record.message.session_id is not None
    yield from rules_if(
        (scheduled, "SCHED-07"),
        (subscription and in_session, "TOPIC-14"),
        (in_session and v.Abandon in requests, "SESS-15"),
        (in_session and v.CloseSession in requests, "SESS-08"),
        (several, "BATCH-13"),
        (batch, "BATCH-03"),
        (in_session, "KEY-06"),
        (not in_session and entity.settings.partitioned, "KEY-17"),
        (not entity.settings.partitioned, "KEY-26"),
    )


def wrongly_given_together(scene: Scene, views: Sequence[v.MessageView]) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by giving these messages together."""
    command = scene.event.command
    if isinstance(command, v.ReceiveDeferred):
        yield from wrongly_given_by_number(scene, command, views)
        return
    most = getattr(command, "count", len(views))
    if not 1 <= len(views) <= most or len({view.body for view in views}) < len(views):
        yield from ("BATCH-12", "PART-13")
    tokens = [view.lock_token for view in views if view.lock_token is not None]
    if len(set(tokens)) < len(tokens):
        yield "BATCH-14"
    for view in views:
        yield from wrongly_given(scene, view)
    yield from ("BATCH-13", "BATCH-14", "BATCH-12")


def wrongly_given_by_number(
    scene: Scene, command: v.ReceiveDeferred, views: Sequence[v.MessageView]
) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by giving deferred messages by their numbers."""
    entity = scene.entity
    if entity is None:
        return
    numbers = command.sequence_numbers
    if len(views) != len(numbers):
        yield from ("DEFER-03",) if not views else ("DEFER-11",)
    for view in views:
        number = view.sequence_number
        named = None if number is None else scene.bindings.named(entity, number)
        yield from rules_if(
            (number not in (None, *numbers), "DEFER-08"),
            (named is not None and named.message.body != view.body, "DEFER-02"),
        )
        record = recognised(scene, entity, view)
        if record is None:
            yield from why_absent(scene, entity, view)
            continue
        known = scene.bindings.number_or_limits(record)
        yield from rules_if((isinstance(known, int) and known not in numbers, "DEFER-02"))
        yield from wrongly_given(scene, view)
    yield from ("DEFER-02", "DEFER-12", "DEFER-11")


def wrongly_shown(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by what a peek shows."""
    entity = scene.entity
    command = scene.event.command
    views = views_of(scene.event.outcome)
    if entity is None or not isinstance(command, v.Peek):
        return
    start = command.from_sequence_number
    numbers = [view.sequence_number for view in views if view.sequence_number is not None]
    yield from rules_if(
        (are_disordered(numbers), "LIFE-07"),
        (len(views) > command.count or len(set(views)) < len(views), "PART-19"),
        (start is not None and any(number < start for number in numbers), "PART-20"),
    )
    shown: list[Numbered] = []
    for view in views:
        record = recognised(scene, entity, view)
        if record is None:
            yield from why_absent(scene, entity, view)
            continue
        yield from rules_if((record in shown, "KEY-01"))
        shown.append(record)
        yield from why_not_shown(scene, record, view)
    yield from left_out(entity, command, shown)
    yield from rules_if(
        (start is not None, "PART-20"),
        (command.session_id is not None, "SESS-23"),
        (not entity.settings.partitioned, "PART-14"),
        (entity.settings.partitioned, "PART-15"),
        (True, "LIFE-07"),
    )


def why_not_shown(scene: Scene, record: Numbered, view: v.MessageView) -> Iterator[v.RuleId]:
    """Yield the rules by which a peek does not show a message, or shows it otherwise."""
    session = getattr(scene.event.command, "session_id", None)
    waiting = isinstance(record, ScheduledMessage)
    if is_gone(record):
        if isinstance(record, QueuedMessage):
            yield from why_gone(scene, record, view)
        else:
            yield from why_not_come(scene, record)
        return
    yield from rules_if(
        (session not in (None, record.message.session_id), "SESS-23"),
        (record.partition in record.entity.base.down, "PART-29"),
        (waiting and view.state is not v.MessageState.SCHEDULED, "SCHED-08"),
    )
    if isinstance(record, QueuedMessage):
        yield from wrong_fields(scene, record, view)


def are_disordered(numbers: Sequence[int]) -> bool:
    """PART-14: return whether the numbers of one partition fall."""
    latest: dict[int, int] = {}
    for number in numbers:
        if latest.get(number >> v.SEQUENCE_BITS, -1) > number:
            return True
        latest[number >> v.SEQUENCE_BITS] = number
    return False


def left_out(entity: Entity, command: v.Peek, shown: Sequence[Numbered]) -> Iterator[v.RuleId]:
    """Yield the rules by which a peek has to show what it leaves out."""
    missing = [one for one in entity.messages.values() if one not in shown]
    deferred = [one for one in missing if one.state in (State.DEFERRED, State.DEFERRED_LOCKED)]
    scheduled = [one for one in entity.scheduled.values() if one not in shown]
    everything = not missing and scheduled
    dead = entity.kind is EntityKind.DEAD_LETTERS
    start = command.from_sequence_number
    yield from rules_if(
        (deferred, "DEFER-09"),
        (everything and not shown, "SCHED-08"),
        (start is not None, "PART-20"),
        (command.session_id is not None, "SESS-23"),
        (dead, "DLQ-07"),
        (entity.base.down and not shown, "PART-29"),
    )
