"""Sends in a transaction: they wait for the commit, or are refused."""

from collections.abc import Generator, Iterator

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.changes import with_doubt, with_transaction
from busproof.oracle.evolve import evolve
from busproof.oracle.forwarding.forwarding import withheld_beyond
from busproof.oracle.messages.duplicates import Fate, noted
from busproof.oracle.messages.enqueueing import arrive
from busproof.oracle.messages.key_refusals import conflicting, regular_accepts, unavailable
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
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import perhaps_full
from busproof.oracle.sizes.free_space import no_room
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
    without_deleted,
)
from busproof.oracle.transition import Choice, Observation, Transition, done, refusal


@attrs.frozen
class _Sending:
    """A send in a running transaction, with the arguments that most functions here need.

    Attributes:
        namespace: the state before it.
        queue: the entity that it is sent to.
        command: the request.
        message: the message, as one reading of its empty properties has it.
        observed: the observation.
    """

    namespace: Namespace
    queue: Queue
    command: v.Send
    message: v.Message
    observed: Observation

    @property
    def name(self) -> str:
        """Name of the transaction."""
        return self.command.transaction or ""

    @property
    def transaction(self) -> Transaction:
        """The transaction."""
        return running(self.namespace, self.name)

    def reading(self, ambiguity: str) -> str | None:
        """Return the reading of an ambiguity that applies to the bus."""
        return self.namespace.profile.readings.get(ambiguity)


def send_in(
    namespace: Namespace, queue: Queue, command: v.Send, message: v.Message, observed: Observation
) -> Iterator[Transition]:
    """TXN-01 to TXN-09: accept a send into its transaction, or refuse it."""
    name = command.transaction or ""
    transaction = namespace.transactions.get(name)
    if transaction is None:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
        return
    transaction = without_deleted(namespace, transaction)
    if transaction.keyed or settled_otherwise(namespace, transaction, queue, message):
        transaction = evolve(transaction, doubtful=True)
    namespace = with_transaction(namespace, name, transaction)
    for way in _ways(_Sending(namespace, queue, command, message, observed)):
        yield doubted(way, name)


def doubted(way: Transition, name: str | None) -> Transition:
    """Return the transition; if it is a refusal, it may also have ended the transaction.

    The reading of TXN-AFTER-REFUSAL decides whether it has.
    """
    # A refusal by the service may leave the transaction running or end it, so both stay possible.
    transaction = way.next.transactions.get(name or "")
    continues = way.next.profile.readings.get("TXN-AFTER-REFUSAL") == "continues"
    if continues or transaction is None or not isinstance(way.outcome, v.Refused):
        return way
    doubtful = evolve(transaction, doubtful=True)
    return evolve(way, next=with_transaction(way.next, name or "", doubtful))


def _ways(sending: _Sending) -> Iterator[Transition]:
    namespace, queue, message = sending.namespace, sending.queue, sending.message
    transaction, settings = sending.transaction, queue.settings
    if transaction.doubtful or may_be_over(namespace, transaction):
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
    for refused in (*no_more(namespace, transaction), *beyond_limits(namespace, sending.command)):
        yield _turned_away(sending, refused)
        # The limit may also be enforced at the commit, so the send may succeed (TXN-REFUSAL).
        if not transaction.doomed:
            yield from _taken_yet_doomed(sending, refused)
    second = yield from _beside_another(sending)
    if keys_conflict(message):
        rule = "TXN-07" if settings.requires_session else "KEY-08"
        yield from _refused(sending, conflicting(namespace, queue, message, rule))
        if settings.partitioned or not regular_accepts(namespace):
            return
    if settings.requires_session and message.session_id is None:
        # The documents name no error for a message without its required session (SESSION-ERROR).
        free = sending.reading("SESSION-ERROR") != "invalid-operation"
        yield from _refused(sending, _invalid(sending, "TXN-06", any_error=free))
    elif settings.partitioned:
        yield from _send_in_partitioned(sending, second=second)
    elif not second:
        yield from _send_in_regular(sending)


def _send_in_regular(sending: _Sending) -> Iterator[Transition]:
    """TXN-09, TXN-14: accept a message for a regular entity, with any key or without one."""
    # A regular entity has one store, which is partition 0; the set of it is 1.
    outages = sending.queue.outages
    yield from _without_room(sending, None, 1)
    if not outages.must_hit(1):
        yield _staged(sending, None, 1, _regular_rules(sending.transaction, sending.message))
    if outages.any:
        down = refusal(sending.namespace, v.Error.UNAVAILABLE, any_error=True)
        yield from _refused(sending, iter((down,)))
    if sending.queue.settings.duplicate_detection and sending.message.message_id is None:
        # Duplicate detection may need a MessageId, as outside of a transaction (DUP-12).
        nameless = refusal(sending.namespace, v.Error.INVALID_OPERATION, any_error=True)
        yield from _refused(sending, iter((nameless,)))


def _without_room(sending: _Sending, key: Key | None, where: Partitions) -> Iterator[Transition]:
    arguments = (sending.namespace, sending.queue, sending.message, key, where)
    yield from (_turned_away(sending, refused) for refused in no_room(*arguments, within=True))


def _regular_rules(transaction: Transaction, message: v.Message) -> tuple[v.RuleId, ...]:
    """TXN-09, TXN-14: return the rules that accepting a second session, or any key, exercises."""
    session_id, staged = message.session_id, transaction.staged
    before = None if staged is None else staged[0].message.session_id
    second = session_id is not None and before not in (None, session_id)
    return rules_if((session_id is None, "TXN-14"), (second, "TXN-09"))


def _send_in_partitioned(sending: _Sending, *, second: bool) -> Iterator[Transition]:
    """TXN-02, TXN-03, TXN-04, TXN-08: accept the first key again, and refuse any other."""
    namespace, queue = sending.namespace, sending.queue
    before = sending.transaction.keys.get(sending.command.queue)
    either_first = queue.outages.any and sending.reading("ERROR-PRECEDENCE") != "key-first"
    for key in transaction_key(namespace, queue.settings, sending.message):
        if key is None:
            yield from _refused(sending, _invalid(sending, "TXN-03", any_error=either_first))
            continue
        # Keys with the same value from different properties may count as different or as one key.
        if before is not None and keys_may_differ(namespace.profile, before, key):
            both_sessions = before.taken_from == key.taken_from == SESSION_ID
            rule = "TXN-08" if both_sessions else "TXN-04"
            yield from _refused(sending, _invalid(sending, rule, any_error=either_first))
        same = before is None or keys_may_be_same(namespace.profile, before, key)
        if same and not second:
            yield from _stage(sending, key)


def running(namespace: Namespace, name: str) -> Transaction:
    """Return the running transaction with this name."""
    transaction = namespace.transactions.get(name)
    if transaction is None:
        raise AssertionError("a request in an unknown transaction was refused before")
    return transaction


def _invalid(sending: _Sending, rule: v.RuleId, *, any_error: bool) -> Iterator[Transition]:
    """Yield the refusals of an invalid operation; the bus may name a full entity instead."""
    namespace = sending.namespace
    yield refusal(namespace, v.Error.INVALID_OPERATION, rule, any_error=any_error)
    yield from perhaps_full(namespace, sending.queue, sending.message)


def _beside_another(sending: _Sending) -> Generator[Transition, None, bool]:
    """TXN-15: yield the refusal of a send to a second entity; return whether it is required.

    Whether an entity is partitioned makes no difference. The refusal may end the transaction
    (TXN-AFTER-REFUSAL), and it may come before one for the message's keys.
    """
    may, must = is_second_entity(sending.transaction, sending.command.queue)
    reading = sending.reading("TXN-ENTITIES")
    if may and reading != "accepted":
        rules = ("TXN-15",) if must and reading == "refused" else ()
        second = refusal(sending.namespace, v.Error.INVALID_OPERATION, *rules, any_error=True)
        yield from _refused(sending, iter((second,)))
    return must and reading == "refused"


def _refused(sending: _Sending, refusals: Iterator[Transition]) -> Iterator[Transition]:
    """Yield the refusal now, or the success of a send whose commit is refused (TXN-REFUSAL).

    While a partition is down the send may be refused for that under any reading (KEY-03). The first
    of several refusals decides why the message must never arrive.
    """
    for place, transition in enumerate(refusals):
        if sending.reading("TXN-REFUSAL") != "at-commit" or sending.queue.outages.any:
            yield _turned_away(sending, transition)
        if place == 0:
            yield from _taken_yet_doomed(sending, transition)


def _turned_away(sending: _Sending, refused: Transition) -> Transition:
    """Return the refusal, which may also have ended the transaction."""
    after = after_refusal(refused.next, sending.name, sending.transaction)
    return evolve(refused, next=after)


def _taken_yet_doomed(sending: _Sending, refused: Transition) -> Iterator[Transition]:
    """Yield the success of a send that dooms its transaction: the commit fails (TXN-REFUSAL)."""
    if sending.reading("TXN-REFUSAL") not in ("at-commit", "either"):
        return
    doomed = evolve(sending.transaction, doomed=True)
    accepted = with_transaction(sending.namespace, sending.name, doomed)
    body = sending.message.body
    gone = never_arrives(sending.queue, body, (*refused.rules, "TXN-12")[0])
    yield done(with_queue(accepted, gone))


def after_refusal(namespace: Namespace, name: str, transaction: Transaction) -> Namespace:
    """Return the namespace after a refused send in a transaction (TXN-AFTER-REFUSAL)."""
    match namespace.profile.readings.get("TXN-AFTER-REFUSAL"):
        case "continues":
            return namespace
        case "dead":
            left = evolve(transaction, doubtful=True, doomed=True)
        case _:
            left = evolve(transaction, doubtful=True)
    return with_transaction(namespace, name, left)


def _stage(sending: _Sending, key: Key) -> Iterator[Transition]:
    """TXN-05, TXN-10: put the message into its key's partition, as outside a transaction."""
    namespace, queue = sending.namespace, sending.queue
    # A MessageId may be a key in transactions only (TXN-MESSAGE-ID). Then other sends of it need
    # not go to the same partition.
    pins = key == effective_key(namespace, queue.settings, sending.message)
    home = home_of(namespace, queue, key) if pins else everywhere(namespace, queue.settings)
    yield from _without_room(sending, key, home)
    rules = _stage_rules(sending, key, home)
    for where in choices(namespace, queue, queue.outages.spared(home), sending.observed):
        placed = sending
        if pins:
            homes = narrowed(namespace, queue, key, where)
            placed = evolve(sending, queue=evolve(queue, homes=homes))
        yield _staged(placed, key, where, rules)
    if queue.outages.may_hit(home):
        transition = unavailable(namespace, queue, key, home, "KEY-03")
        yield from _refused(sending, iter((transition,)))


def _stage_rules(sending: _Sending, key: Key, home: Partitions) -> tuple[v.RuleId, ...]:
    message, queue, profile = sending.message, sending.queue, sending.namespace.profile
    again = sending.command.queue in sending.transaction.keys
    known = home.bit_count() == 1 and home_name(profile, key) in queue.homes
    by_key = message.session_id is None and message.partition_key is not None
    return rules_if(
        (known, "TXN-10" if again else "TXN-05"),
        (True, "TXN-02" if again else "TXN-01"),
        (by_key and not queue.settings.requires_session, "TXN-11"),
    )


def _staged(
    sending: _Sending, key: Key | None, where: Partitions, rules: tuple[v.RuleId, ...]
) -> Transition:
    namespace, queue, transaction = sending.namespace, sending.queue, sending.transaction
    name, body = sending.command.queue, sending.message.body
    staged = Staged(
        queue=name,
        born=queue.managed.born,
        message=sending.message,
        key=key,
        where=where,
        arrivals=arrived_by_now(namespace, queue),
        revision=queue.role.revision if isinstance(queue.role, Topic) else 0,
        sent=namespace.now,
    )
    keys = transaction.keys
    if key is not None:
        keys = keys.set(name, keys.get(name, key))
    grown = with_staged(evolve(transaction, keys=keys), queue, staged)
    # Until the commit nobody may receive the message (TXN-12), neither here nor where it is
    # forwarded.
    hidden = never_arrives(occupied(queue, staged), body, "TXN-12")
    after = withheld_beyond(with_queue(namespace, hidden), hidden, body, "FWD-33")
    after = unless_ending(after, transaction, name)
    if queue.settings.forward_to is not None:
        rules = ("FWD-34", *rules)
    choice = Choice(where.bit_length() - 1) if where.bit_count() == 1 else None
    return done(with_transaction(after, sending.name, grown), *rules, choice=choice)


def arrived_by_now(namespace: Namespace, queue: Queue) -> Map[str, int]:
    """Return how many messages the queue, or each subscription of the topic, has stored so far."""
    if not isinstance(queue.role, Topic):
        return Map({queue.settings.queue: queue.arrivals})
    return Map({path: namespace.queues[path].arrivals for path in queue.role.subscriptions})


def lost_send_in(namespace: Namespace, command: v.Send) -> Namespace:
    """Return the namespace in which the message may be in the transaction, or have ended it."""
    if namespace.transactions.get(command.transaction or "") is None:
        return namespace
    queue = namespace.queues[command.queue]
    message, where = command.message, everywhere(namespace, queue.settings)
    key = effective_key(namespace, queue.settings, message)
    copies = noted(namespace, queue, message, key, becomes=Fate.OPEN, answered=False)
    lost = Arrival(message=message, key=key, where=where, certain=False, answered=False)
    return with_doubt(arrive(namespace, queue, lost, {"copies": copies}), command)
