"""Scheduled messages: scheduling and cancelling them."""

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.changes import with_doubt, with_transaction
from busproof.oracle.evolve import evolve
from busproof.oracle.messages import keys
from busproof.oracle.messages.activation import goes_on
from busproof.oracle.messages.duplicates import Fate, fate, from_its_send, noted
from busproof.oracle.messages.enqueueing import arrive
from busproof.oracle.messages.key_refusals import conflicting, regular_accepts
from busproof.oracle.messages.message_store import line_of, never_arrives
from busproof.oracle.messages.partitioning import home_of, homes_of, spread_beside
from busproof.oracle.messages.sequence_numbers import are_unique
from busproof.oracle.queued_messages import Key
from busproof.oracle.schedule import Waiting, entered, perhaps_gone, withdrawn
from busproof.oracle.sizes.entity_size import weight
from busproof.oracle.sizes.free_space import no_room
from busproof.oracle.sizes.message_limits import beyond_limits, no_more
from busproof.oracle.state import (
    NEVER,
    Namespace,
    Queue,
    Staged,
    Transaction,
    everywhere,
    with_queue,
)
from busproof.oracle.storage_used import filled
from busproof.oracle.transactions import limits, transactional_sends
from busproof.oracle.transition import Observation, Transition, Transitions, done, refusal
from busproof.oracle.window import Window

LATER_NUMBERS = 1 << 47
"""First sequence number for scheduled messages whose number was not seen."""


def schedule(namespace: Namespace, command: v.Schedule, observed: Observation) -> Transitions:
    """Return every allowed answer to a request that schedules a message."""
    queue = namespace.queues[command.queue]
    if v.is_dead_letter_queue(command.queue):
        yield refusal(namespace, v.Error.INVALID_OPERATION, "DLQ-11", any_error=True)
        return
    if reuses_number(namespace, queue, observed.outcome):
        return
    for profile, message in keys.interpretations(namespace.profile, command.message):
        if profile is not namespace.profile:
            namespace = evolve(namespace, profile=profile)
        if command.transaction is None:
            yield from beyond_limits(namespace, command)
            yield from _schedule(namespace, queue, command, message, observed)
        else:
            for way in _schedule_in(namespace, queue, command, message, observed):
                yield transactional_sends.doubted(way, command.transaction)


def reuses_number(namespace: Namespace, queue: Queue, outcome: v.Outcome | None) -> bool:
    """SEQ-03: return whether the answer gives a number that another message of the entity has."""
    number = outcome.sequence_number if isinstance(outcome, v.Scheduled) else None
    known = number in queue.calendar.numbers or number in queue.numbers
    return number is not None and known and are_unique(namespace, queue)


def _schedule(
    namespace: Namespace,
    queue: Queue,
    command: v.Schedule,
    message: v.Message,
    observed: Observation,
) -> Transitions:
    """SCHED-03, SCHED-10, SCHED-12: accept the message, unless its keys or an outage forbid it."""
    if keys.keys_conflict(message):
        yield from conflicting(namespace, queue, message, "SCHED-12")
        if queue.settings.partitioned or not regular_accepts(namespace):
            return
    certain = True
    if queue.settings.requires_session and message.session_id is None:
        # SESS-01 holds as for messages sent at once: it is refused, or dead-lettered later.
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        certain = False
    key = keys.effective_key(namespace, queue.settings, message)
    hit, surely = _outage(namespace, queue, key)
    # If the partition is selected only when the message is due, an outage now changes nothing.
    reading = namespace.reading("SCHEDULE-PLACE")
    yield from no_room(namespace, queue, message, key, homes_of(namespace, queue, key))
    if not (surely and key is not None and reading == "when-scheduled"):
        rules = ("SCHED-10",) if surely else ()
        waiting = _waiting(namespace, queue, command, message, observed, certain=certain)
        after = _entered(namespace, queue, waiting, key, namespace.now)
        yield _told(after, waiting, observed, *rules)
    if hit and reading != "when-due":
        yield refusal(namespace, v.Error.UNAVAILABLE, "SCHED-10", any_error=True)
    if key is None and queue.settings.duplicate_detection and message.message_id is None:
        # Duplicate detection needs a MessageId or another key (DUP-12).
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def _outage(namespace: Namespace, queue: Queue, key: Key | None) -> tuple[bool, bool]:
    """Return whether an outage may hit the message's partition, and whether it surely does."""
    outages = queue.outages
    if key is None:
        return outages.any, bool(outages.down)
    home = home_of(namespace, queue, key)
    return outages.may_hit(home), bool(outages.down) and outages.must_hit(home)


def _waiting(
    namespace: Namespace,
    queue: Queue,
    command: v.Schedule,
    message: v.Message,
    observed: Observation,
    *,
    certain: bool,
) -> Waiting:
    # A time in the past counts as now (SCHED-14).
    due = namespace.now.shifted(max(command.delay, 0))
    place = queue.calendar.scheduled
    number: int | None = LATER_NUMBERS + place
    if isinstance(observed.outcome, v.Scheduled):
        number = observed.outcome.sequence_number
    return Waiting(
        place=place,
        message=message,
        due=due.widened(namespace.observability.slack),
        certain=certain,
        number=number,
        past=command.delay <= 0,
        before=queue.arrivals,
        through=queue.outages.down,
        scheduled_at=namespace.now.latest,
        since=queue.receivers.count,
    )


def _entered(
    namespace: Namespace, queue: Queue, waiting: Waiting, key: Key | None, sent: Window
) -> Namespace:
    """Return the namespace with a message scheduled that was sent then; a copy may be dropped.

    If the entity forwards, the message may arrive elsewhere at any time.
    """
    message, compared = waiting.message, from_its_send(namespace, sent)
    # Whether copies are compared when they are scheduled or when they are due is open
    # (SCHEDULED-COPIES). So it may be dropped for an earlier send, and a later send for it.
    kept = fate(compared, queue, message, key) is Fate.KEPT
    copies = noted(compared, queue, message, key, becomes=Fate.OPEN, answered=False)
    rivals = None if message.message_id is None else copies.get(message.message_id)
    waiting = evolve(waiting, certain=waiting.certain and kept, rivals=rivals)
    somewhere_else = goes_on(queue)
    if somewhere_else:
        waiting = evolve(waiting, due=Window(waiting.due.earliest, NEVER))
    line = line_of(queue, message, key)
    queue = evolve(
        queue,
        calendar=entered(queue.calendar, waiting, line),
        copies=copies,
        spread=spread_beside(namespace, queue, message),
        room=filled(queue.room, everywhere(namespace, queue.settings), weight(queue, message)),
    )
    if not somewhere_else:
        return with_queue(namespace, never_arrives(queue, message.body, "SCHED-01"))
    where = everywhere(namespace, queue.settings)
    late = Arrival(message=message, key=key, where=where, certain=False, answered=False)
    return arrive(with_queue(namespace, queue), queue, late)


def _told(
    after: Namespace, waiting: Waiting, observed: Observation, *rules: v.RuleId
) -> Transition:
    answer = observed.outcome
    outcome = (
        answer if isinstance(answer, v.Scheduled) else v.Scheduled(sequence_number=waiting.number)
    )
    return Transition(outcome=outcome, next=after, rules=rules)


def _schedule_in(
    namespace: Namespace,
    queue: Queue,
    command: v.Schedule,
    message: v.Message,
    observed: Observation,
) -> Transitions:
    """SCHED-15: schedule in a transaction, where the rules for keys may apply or not."""
    name = command.transaction or ""
    transaction = namespace.transactions.get(name)
    if transaction is None:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
        return
    transaction = limits.without_deleted(namespace, transaction)
    if transaction.keyed or keys.settled_otherwise(namespace, transaction, queue, message):
        transaction = evolve(transaction, doubtful=True)
    if transaction.doubtful or limits.may_be_over(namespace, transaction) or queue.outages.any:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
    for refused in (*no_more(namespace, transaction), *beyond_limits(namespace, command)):
        yield _turned_away(refused, name, transaction)
    if keys.keys_conflict(message):
        yield from conflicting(namespace, queue, message, "SCHED-12")
        if queue.settings.partitioned or not regular_accepts(namespace):
            return
    reading = namespace.reading("TXN-OTHER-OPERATIONS")
    objected, must_object = _objections(namespace, queue, message, transaction)
    if objected and reading != "sends-only":
        after = with_transaction(namespace, name, evolve(transaction, doubtful=True))
        yield refusal(after, v.Error.INVALID_OPERATION, "SCHED-15", any_error=True)
    if reading == "all" and must_object:
        return
    key = keys.effective_key(namespace, queue.settings, message)
    home = homes_of(namespace, queue, key)
    for refused in no_room(namespace, queue, message, key, home, within=True):
        yield _turned_away(refused, name, transaction)
    waiting = _waiting(namespace, queue, command, message, observed, certain=True)
    doubted = evolve(
        transaction,
        doubtful=transaction.doubtful or objected,
        keyed=reading != "sends-only",
    )
    after = _staged(namespace, queue, command, doubted, waiting)
    yield _told(after, waiting, observed, "SCHED-15")


def _turned_away(refused: Transition, name: str, transaction: Transaction) -> Transition:
    """Return the refusal, with the transaction possibly ended by it."""
    left = transactional_sends.after_refusal(refused.next, name, transaction)
    return evolve(refused, next=left)


def _staged(
    namespace: Namespace,
    queue: Queue,
    command: v.Schedule,
    transaction: Transaction,
    waiting: Waiting,
) -> Namespace:
    staged = Staged(
        queue=command.queue,
        born=queue.managed.born,
        message=waiting.message,
        key=None,
        where=everywhere(namespace, queue.settings),
        waiting=waiting,
        sent=namespace.now,
    )
    grown = limits.with_staged(transaction, queue, staged)
    calendar = evolve(queue.calendar, scheduled=waiting.place + 1)
    waited = evolve(limits.occupied(queue, staged), calendar=calendar)
    hidden = never_arrives(waited, waiting.message.body, "TXN-12")
    after = limits.unless_ending(with_queue(namespace, hidden), transaction, command.queue)
    return with_transaction(after, command.transaction or "", grown)


def _objections(
    namespace: Namespace, queue: Queue, message: v.Message, transaction: Transaction
) -> tuple[bool, bool]:
    """Return whether a send of this message may be refused, and whether it must be."""
    if queue.settings.requires_session and message.session_id is None:
        return True, True
    may, must = limits.is_second_entity(transaction, queue.settings.queue)
    must = must and namespace.reading("TXN-ENTITIES") == "refused"
    if not queue.settings.partitioned:
        return may, must
    before, profile = transaction.keys.get(queue.settings.queue), namespace.profile
    named = keys.transaction_key(namespace, queue.settings, message)
    if before is None:
        return may or None in named, must or named == (None,)
    differ = [key is None or keys.keys_may_differ(profile, before, key) for key in named]
    agree = [key is not None and keys.keys_may_be_same(profile, before, key) for key in named]
    return may or any(differ), must or not any(agree)


def committed_later(
    namespace: Namespace, queue: Queue, staged: Staged, waiting: Waiting, *, certain: bool
) -> Namespace:
    """Return the namespace after the commit of a transaction that scheduled this message."""
    undoubted = waiting.number not in queue.calendar.doubted
    now, due = namespace.now, waiting.due
    # If the commit was not answered, the message may arrive at any time.
    latest = max(now.latest, due.latest) if certain else NEVER
    waiting = evolve(
        waiting,
        certain=waiting.certain and certain and undoubted,
        before=queue.arrivals,
        due=Window(max(now.earliest, due.earliest), latest),
    )
    key = keys.effective_key(namespace, queue.settings, staged.message)
    return _entered(namespace, queue, waiting, key, staged.sent)


def cancel(namespace: Namespace, command: v.CancelScheduled) -> Transitions:
    """SCHED-03 to SCHED-05: cancel the message, or refuse because it is too late or unknown."""
    queue = namespace.queues[command.queue]
    calendar, number = queue.calendar, command.sequence_number
    place = calendar.numbers.get(number)
    waiting = None if place is None else calendar.entries.get(place)
    if waiting is None:
        doubted = calendar
        # The number may be from an unanswered request, or from a transaction that still runs.
        if place is None:
            doubted = evolve(calendar, doubted=calendar.doubted | {number})
        after = with_queue(namespace, evolve(queue, calendar=doubted))
        rules = () if place is None else ("SCHED-05",)
        yield done(after, *rules)
        yield refusal(namespace, v.Error.MESSAGE_NOT_FOUND, *rules, any_error=True)
        return
    if namespace.now.latest < waiting.due.earliest:
        bodies, body = queue.bodies, waiting.message.body
        if isinstance(bodies.get(body), str):
            bodies = bodies.set(body, "SCHED-04")
        cancelled = evolve(queue, calendar=withdrawn(calendar, waiting), bodies=bodies)
        yield done(with_queue(namespace, cancelled), "SCHED-03")
        if waiting.certain and not queue.outages.any:
            return
    else:
        unsure = evolve(queue, calendar=perhaps_gone(calendar, waiting))
        yield done(with_queue(namespace, unsure))
    yield refusal(namespace, v.Error.MESSAGE_NOT_FOUND, any_error=True)


def lost_schedule(namespace: Namespace, command: v.Schedule) -> Namespace:
    """Return the namespace in which the message may be scheduled, under an unknown number."""
    queue = namespace.queues[command.queue]
    message = command.message
    unseen = Observation(v.Scheduled(sequence_number=None))
    waiting = _waiting(namespace, queue, command, message, unseen, certain=False)
    waiting = evolve(waiting, due=Window(waiting.due.earliest, NEVER))
    key = keys.effective_key(namespace, queue.settings, message)
    return with_doubt(_entered(namespace, queue, waiting, key, namespace.now), command)


def lost_cancel(namespace: Namespace, command: v.CancelScheduled) -> Namespace:
    """Return the namespace in which the message may be cancelled, or arrive as before."""
    queue = namespace.queues[command.queue]
    calendar = queue.calendar
    place = calendar.numbers.get(command.sequence_number)
    waiting = None if place is None else calendar.entries.get(place)
    if waiting is None:
        doubted = calendar.doubted | {command.sequence_number}
        calendar = evolve(calendar, doubted=doubted)
    else:
        calendar = perhaps_gone(calendar, waiting)
    return with_queue(namespace, evolve(queue, calendar=calendar))
