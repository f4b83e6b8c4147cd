"""Sends in a transaction: buffered with the others of its key, or refused."""

from collections.abc import Generator, Iterator

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.forwarding.forwarding import withheld_beyond
from busproof.oracle.messages.duplicates import Fate, noted
from busproof.oracle.messages.enqueueing import arrive
from busproof.oracle.messages.keys import (
    SESSION_ID,
    effective_key,
    home_name,
    keys_conflict,
    keys_may_be_same,
    keys_may_differ,
    settled_otherwise,
    transaction_key,
)
from busproof.oracle.messages.message_store import never_arrives
from busproof.oracle.messages.partitioning import choices, home_of, narrowed
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.sizes.entity_size import perhaps_full
from busproof.oracle.sizes.free_space import no_room_within
from busproof.oracle.sizes.message_limits import beyond_limits, no_more
from busproof.oracle.state import (
    Namespace,
    Queue,
    Staged,
    Topic,
    Transaction,
    everywhere,
    with_queue,
)
from busproof.oracle.transactions.limits import (
    is_second_entity,
    may_be_over,
    occupied,
    unless_ending,
    with_staged,
    with_transaction,
    without_deleted,
)
from busproof.oracle.transition import Choice, Observation, Transition, done, refusal


def send_in(
    namespace: Namespace, queue: Queue, command: v.Send, message: v.Message, seen: Observation
) -> Iterator[Transition]:
    """TXN-01 to TXN-09: buffer a send in a transaction, or refuse it."""
    for way in _send_in(namespace, queue, command, message, seen):
        yield doubted(way, command.transaction)


def doubted(way: Transition, name: str | None) -> Transition:
    """Return the namespace in which a refusal may have ended its transaction.

    TXN-AFTER-REFUSAL decides whether it has.
    """
    transaction = way.next.transactions.get(name or "")
    continues = way.next.profile.readings.get("TXN-AFTER-REFUSAL") == "continues"
    if continues or transaction is None or not isinstance(way.outcome, v.Refused):
        return way
    doubtful = attrs.evolve(transaction, doubtful=True)
    return attrs.evolve(way, next=with_transaction(way.next, name or "", doubtful))


def _send_in(
    namespace: Namespace, queue: Queue, command: v.Send, message: v.Message, seen: Observation
) -> Iterator[Transition]:
    name = command.transaction
    transaction = namespace.transactions.get(name) if name is not None else None
    if transaction is None or name is None:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
        return
    transaction = without_deleted(namespace, transaction)
    if transaction.keyed or settled_otherwise(namespace, transaction, queue, message):
        transaction = attrs.evolve(transaction, doubtful=True)
    namespace = with_transaction(namespace, name, transaction)
    if transaction.doubtful or may_be_over(namespace, transaction):
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
    for refused in (*no_more(namespace, transaction), *beyond_limits(namespace, command)):
        yield _turned_away(namespace, command, refused)
        if not transaction.doomed:
            yield from _taken_yet_doomed(namespace, queue, command, refused)
    second = yield from _beside_another(namespace, queue, command)
    if keys_conflict(message):
        rule = "TXN-07" if queue.settings.requires_session else "KEY-08"
        yield from _refused(namespace, queue, command, conflicting(namespace, queue, message, rule))
        if queue.settings.partitioned or not regular_accepts(namespace):
            return
    if queue.settings.requires_session and message.session_id is None:
        missing = _session_missing(namespace, queue, message)
        yield from _refused(namespace, queue, command, missing)
        return
    if queue.settings.partitioned:
        yield from _send_in_partitioned(namespace, queue, command, message, seen, second=second)
    elif not second:
        yield from _send_in_regular(namespace, queue, command, message)


def _send_in_regular(
    namespace: Namespace, queue: Queue, command: v.Send, message: v.Message
) -> Iterator[Transition]:
    """TXN-09, TXN-14: on a regular entity no key is needed, and any may follow another."""
    for refused in no_room_within(namespace, queue, message, None, 1):
        yield _turned_away(namespace, command, refused)
    if not queue.outages.must_hit(1):
        rules = _regular_rules(running(namespace, command.transaction or ""), message)
        yield _staged(namespace, queue, command, message, None, 1, rules)
    if queue.outages.any:
        yield refusal(namespace, v.Error.UNAVAILABLE, any_error=True)


def conflicting(
    namespace: Namespace, queue: Queue, message: v.Message, rule: v.RuleId
) -> Iterator[Transition]:
    """KEY-08, TXN-07: SessionId and PartitionKey differ, which is an invalid operation.

    If a partition is down as well, either error may come first (ERROR-PRECEDENCE).
    """
    readings = namespace.profile.readings
    if not queue.settings.partitioned:
        if readings.get("REGULAR-KEYS") != "accepted":
            yield refusal(namespace, v.Error.INVALID_OPERATION)
            yield from perhaps_full(namespace, queue, message)
        return
    either_first = queue.outages.any and readings.get("ERROR-PRECEDENCE") != "key-first"
    yield refusal(namespace, v.Error.INVALID_OPERATION, rule, any_error=either_first)
    yield from perhaps_full(namespace, queue, message)


def regular_accepts(namespace: Namespace) -> bool:
    """Return whether a regular queue may take a PartitionKey that differs from the SessionId."""
    return namespace.profile.readings.get("REGULAR-KEYS") != "refused"


def unavailable(
    namespace: Namespace, queue: Queue, key: Key, home: Partitions, *rules: v.RuleId
) -> Transition:
    """KEY-03, KEY-20: refuse because the key's partition is down (OUTAGE-ERROR)."""
    outages = queue.outages
    if outages.identified:
        hit = home & (outages.down | outages.doubt)
        queue = attrs.evolve(queue, homes=narrowed(namespace, queue, key, hit))
        namespace = with_queue(namespace, queue)
        if outages.must_hit(home) and home.bit_count() == 1:
            rules = (*rules, "KEY-20")
    error_is_free = namespace.profile.readings.get("OUTAGE-ERROR") != "unavailable"
    return refusal(namespace, v.Error.UNAVAILABLE, *rules, any_error=error_is_free)


def _regular_rules(transaction: Transaction, message: v.Message) -> tuple[v.RuleId, ...]:
    """TXN-09, TXN-14: return the rules exercised by accepting a second session, or any key."""
    staged = transaction.staged
    if message.session_id is None:
        return ("TXN-14",)
    if staged is None:
        return ()
    before = staged[0].message.session_id
    return ("TXN-09",) if before is not None and before != message.session_id else ()


def _session_missing(
    namespace: Namespace, queue: Queue, message: v.Message
) -> Iterator[Transition]:
    """TXN-06: a message for a session-aware entity needs a session; no error is documented."""
    error_is_free = namespace.profile.readings.get("SESSION-ERROR") != "invalid-operation"
    yield refusal(namespace, v.Error.INVALID_OPERATION, "TXN-06", any_error=error_is_free)
    yield from perhaps_full(namespace, queue, message)


def _send_in_partitioned(
    namespace: Namespace,
    queue: Queue,
    command: v.Send,
    message: v.Message,
    seen: Observation,
    *,
    second: bool,
) -> Iterator[Transition]:
    """TXN-02, TXN-03, TXN-04, TXN-08: one key, the same as before, or an invalid operation."""
    transaction = running(namespace, command.transaction or "")
    before = transaction.keys.get(command.queue)
    for key in transaction_key(namespace, queue.settings, message):
        if key is None:
            yield from _refused(
                namespace, queue, command, _invalid(namespace, queue, message, "TXN-03")
            )
            continue
        if before is not None and keys_may_differ(namespace.profile, before, key):
            rule = _rule_of_difference(before, key)
            invalid = _invalid(namespace, queue, message, rule)
            yield from _refused(namespace, queue, command, invalid)
        if second:
            continue
        if before is None or keys_may_be_same(namespace.profile, before, key):
            yield from _stage(namespace, queue, command, message, key, seen)


def running(namespace: Namespace, name: str) -> Transaction:
    """Return the transaction with this name, which has begun and not ended."""
    transaction = namespace.transactions.get(name)
    if transaction is None:
        raise AssertionError("a request in an unknown transaction was refused before")
    return transaction


def _rule_of_difference(before: Key, key: Key) -> v.RuleId:
    both_sessions = before.taken_from == key.taken_from == SESSION_ID
    return "TXN-08" if both_sessions else "TXN-04"


def _invalid(
    namespace: Namespace, queue: Queue, message: v.Message, rule: v.RuleId
) -> Iterator[Transition]:
    readings = namespace.profile.readings
    either_first = queue.outages.any and readings.get("ERROR-PRECEDENCE") != "key-first"
    yield refusal(namespace, v.Error.INVALID_OPERATION, rule, any_error=either_first)
    yield from perhaps_full(namespace, queue, message)


def _beside_another(
    namespace: Namespace, queue: Queue, command: v.Send
) -> Generator[Transition, None, bool]:
    """TXN-15: the refusal of a send to a second entity; return whether it is the only answer.

    Whether an entity is partitioned makes no difference. The refusal may end the transaction, as
    any other does (TXN-AFTER-REFUSAL), and it may come before one for the message's keys.
    """
    transaction = running(namespace, command.transaction or "")
    may, must = is_second_entity(transaction, command.queue)
    reading = namespace.profile.readings.get("TXN-ENTITIES")
    if may and reading != "accepted":
        rules = ("TXN-15",) if must and reading == "refused" else ()
        second = refusal(namespace, v.Error.INVALID_OPERATION, *rules, any_error=True)
        yield from _refused(namespace, queue, command, iter((second,)))
    return must and reading == "refused"


def _refused(
    namespace: Namespace,
    queue: Queue,
    command: v.Send,
    refusals: Iterator[Transition],
) -> Iterator[Transition]:
    """Refuse at the send, or at the commit (TXN-REFUSAL); it may end the transaction.

    While a partition is down the send may be refused for that, under any reading (KEY-03). The
    first of several refusals of one send decides why it must not take effect.
    """
    reading = namespace.profile.readings.get("TXN-REFUSAL")
    for place, transition in enumerate(refusals):
        if reading != "at-commit" or queue.outages.any:
            yield _turned_away(namespace, command, transition)
        if place == 0:
            yield from _taken_yet_doomed(namespace, queue, command, transition)


def _turned_away(namespace: Namespace, command: v.Send, refused: Transition) -> Transition:
    """Refuse at the send."""
    transaction = running(namespace, command.transaction or "")
    after = after_refusal(refused.next, command.transaction or "", transaction)
    return attrs.evolve(refused, next=after)


def _taken_yet_doomed(
    namespace: Namespace, queue: Queue, command: v.Send, refused: Transition
) -> Iterator[Transition]:
    """Accept the send, and refuse its transaction's commit later (TXN-REFUSAL)."""
    if namespace.profile.readings.get("TXN-REFUSAL") not in ("at-commit", "either"):
        return
    doomed = attrs.evolve(running(namespace, command.transaction or ""), doomed=True)
    accepted = with_transaction(namespace, command.transaction or "", doomed)
    gone = never_arrives(queue, command.message.body, (*refused.rules, "TXN-12")[0])
    yield done(with_queue(accepted, gone))


def after_refusal(namespace: Namespace, name: str, transaction: Transaction) -> Namespace:
    """Return the state of a transaction after a refused send (TXN-AFTER-REFUSAL)."""
    match namespace.profile.readings.get("TXN-AFTER-REFUSAL"):
        case "continues":
            return namespace
        case "dead":
            left = attrs.evolve(transaction, doubtful=True, doomed=True)
        case _:
            left = attrs.evolve(transaction, doubtful=True)
    return with_transaction(namespace, name, left)


def _stage(
    namespace: Namespace,
    queue: Queue,
    command: v.Send,
    message: v.Message,
    key: Key,
    seen: Observation,
) -> Iterator[Transition]:
    """TXN-05, TXN-10: place in the key's partition, as outside a transaction."""
    pins = key == effective_key(namespace, queue.settings, message)
    home = home_of(namespace, queue, key) if pins else everywhere(namespace, queue.settings)
    for refused in no_room_within(namespace, queue, message, key, home):
        yield _turned_away(namespace, command, refused)
    for where in choices(namespace, queue, queue.outages.spared(home), seen):
        rules = _stage_rules(namespace, queue, command, message, key, home)
        narrowed_queue = queue
        if pins:
            narrowed_queue = attrs.evolve(queue, homes=narrowed(namespace, queue, key, where))
        yield _staged(namespace, narrowed_queue, command, message, key, where, rules)
    if queue.outages.may_hit(home):
        transition = unavailable(namespace, queue, key, home, "KEY-03")
        yield from _refused(namespace, queue, command, iter((transition,)))


def _stage_rules(
    namespace: Namespace,
    queue: Queue,
    command: v.Send,
    message: v.Message,
    key: Key,
    home: Partitions,
) -> tuple[v.RuleId, ...]:
    transaction = running(namespace, command.transaction or "")
    again = command.queue in transaction.keys
    known = home.bit_count() == 1 and home_name(namespace.profile, key) in queue.homes
    rules: tuple[v.RuleId, ...] = ("TXN-02",) if again else ("TXN-01",)
    if known:
        rules = ("TXN-10", *rules) if again else ("TXN-05", *rules)
    if not queue.settings.requires_session and message.session_id is None:
        rules = (*rules, "TXN-11") if message.partition_key is not None else rules
    return rules


def _staged(
    namespace: Namespace,
    queue: Queue,
    command: v.Send,
    message: v.Message,
    key: Key | None,
    where: Partitions,
    rules: tuple[v.RuleId, ...],
) -> Transition:
    transaction = running(namespace, command.transaction or "")
    staged = Staged(
        queue=command.queue,
        born=queue.managed.born,
        message=message,
        key=key,
        where=where,
        arrivals=arrived_by_now(namespace, queue),
        revision=queue.role.revision if isinstance(queue.role, Topic) else 0,
        sent=namespace.now,
    )
    keys = transaction.keys
    if key is not None:
        keys = keys.set(command.queue, keys.get(command.queue, key))
    grown = with_staged(attrs.evolve(transaction, keys=keys), queue, staged)
    hidden = never_arrives(occupied(queue, staged), message.body, "TXN-12")
    after = withheld_beyond(with_queue(namespace, hidden), hidden, message.body, "FWD-33")
    after = unless_ending(after, transaction, command.queue)
    if queue.settings.forward_to is not None:
        rules = ("FWD-34", *rules)
    choice = Choice(where.bit_length() - 1) if where.bit_count() == 1 else None
    return done(with_transaction(after, command.transaction or "", grown), *rules, choice=choice)


def arrived_by_now(namespace: Namespace, queue: Queue) -> Map[str, int]:
    """Return how many messages a queue, or each subscription of a topic, has had."""
    if not isinstance(queue.role, Topic):
        return Map({queue.settings.queue: queue.arrivals})
    return Map({path: namespace.queues[path].arrivals for path in queue.role.subscriptions})


def lost_send_in(namespace: Namespace, command: v.Send) -> Namespace:
    """Return the states in which the message may be in the transaction, or may have ended it."""
    name = command.transaction or ""
    transaction = namespace.transactions.get(name)
    if transaction is None:
        return namespace
    queue = namespace.queues[command.queue]
    message, where = command.message, everywhere(namespace, queue.settings)
    key = effective_key(namespace, queue.settings, message)
    copies = noted(namespace, queue, message, key, becomes=Fate.OPEN, answered=False)
    lost = Arrival(message=message, key=key, where=where, certain=False, answered=False)
    after = arrive(namespace, queue, lost, {"copies": copies})
    return with_transaction(after, name, attrs.evolve(transaction, doubtful=True))
