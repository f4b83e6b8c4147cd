"""Settlements in a transaction: each message stays locked until the commit settles it."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.changes import with_doubt, with_transaction
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import push
from busproof.oracle.messages.keys import keys_may_differ
from busproof.oracle.messages.settling import (
    has_ended,
    is_of_lost_answer,
    locked,
    perhaps_settled,
    settle_at_once,
)
from busproof.oracle.queued_messages import Key, Lock, Pledge, Stored
from busproof.oracle.state import NEVER, Enlisted, Namespace, Queue, Transaction, with_queue
from busproof.oracle.transactions.limits import TIME_LIMIT, is_there, may_be_full, may_be_over
from busproof.oracle.transactions.transactional_sends import after_refusal, running
from busproof.oracle.transition import Transition, done, refusal
from busproof.oracle.unjudged import stop_judging
from busproof.oracle.window import Window


def settle(namespace: Namespace, command: v.Settlement) -> Iterator[Transition]:
    """LOCK-11, LOCK-12: settle at once, or at the commit of the transaction."""
    if command.transaction is not None:
        yield from _enlisted(namespace, command, command.transaction)
        return
    pledged = _held_in_doubt(namespace, command)
    yield from settle_at_once(pledged or namespace, command)
    if pledged is not None:
        # The documents do not say what a second settlement does after one in a transaction.
        yield refusal(namespace, v.Error.LOCK_LOST, any_error=True)


def _held_in_doubt(namespace: Namespace, command: v.Settlement) -> Namespace | None:
    """Return the namespace in which an earlier settlement of the same message is in doubt.

    Return `None` if no settlement of the message waits for a commit.
    """
    stored = locked(namespace.queues[command.queue], command.lock_token)
    lock = None if stored is None else stored.lock
    if lock is None or lock.pledge is None:
        return None
    name = lock.pledge.transaction
    transaction = namespace.transactions.get(name)
    if transaction is None:
        return namespace
    # Which of two settlements of one message counts is open; those of other messages stand.
    same = (command.queue, command.lock_token)
    doubted = tuple(
        evolve(settlement, certain=False)
        if (settlement.command.queue, settlement.command.lock_token) == same
        else settlement
        for settlement in transaction.settlements
    )
    left = evolve(transaction, settlements=doubted, doubtful=True)
    return with_transaction(namespace, name, left)


def _enlisted(namespace: Namespace, command: v.Settlement, name: str) -> Iterator[Transition]:
    """LOCK-11, LOCK-13: let the settlement wait for the commit; now or then, refuse a lost lock."""
    transaction = namespace.transactions.get(name)
    if transaction is None:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
        return
    before = _held_in_doubt(namespace, command)
    again = before is not None
    namespace = before or namespace
    transaction = running(namespace, name)
    # A settlement outside of the transaction would have these answers, and enlisting has similar
    # ones.
    may_settle = unsure = False
    for transition in settle_at_once(namespace, evolve(command, transaction=None)):
        if isinstance(transition.outcome, v.Done):
            may_settle = True
        else:
            # A refusal without a rule is optional: it is not known whether the lock lasts.
            unsure = unsure or not transition.rules
            if not (transition.rules and _refuses(namespace, "at-commit")):
                yield _turned_away(transition, command, name, transaction)
            yield from _taken_yet_doomed(namespace, command, name, transition)
    if may_settle and not _must_object(namespace, command, transaction):
        yield done(_accepted(namespace, command, name, again=again, unsure=unsure))
    elif unsure and not _refuses(namespace, "at-once"):
        # If its lock is lost, only the commit refuses it, and its key is never compared. So it is
        # with a refusal for which no rule names the error, as of a dead letter's dead letter.
        yield _doomed(namespace, command, name)
    over = transaction.doubtful or may_be_over(namespace, transaction)
    if again or over or may_be_full(transaction) or _may_object(namespace, command, transaction):
        after = after_refusal(namespace, name, transaction)
        yield refusal(after, v.Error.INVALID_OPERATION, any_error=True)


def _accepted(
    namespace: Namespace, command: v.Settlement, name: str, *, again: bool, unsure: bool
) -> Namespace:
    """Return the namespace in which the settlement waits for the commit.

    Args:
        namespace: the state before.
        command: the settlement.
        name: its transaction.
        again: whether an earlier settlement of the same message waits as well.
        unsure: whether the lock may have been lost already.
    """
    nameless = is_of_lost_answer(namespace.queues[command.queue], command.lock_token)
    waiting = _waiting(namespace, command, name, certain=not (again or nameless))
    if nameless:
        waiting = stop_judging(waiting, v.owner_of(command.queue))
    if unsure and not _refuses(namespace, "at-once"):
        # The commit may then be refused for it. The documents do not say whether a transaction that
        # must fail still accepts sends or a rollback.
        waiting = with_doubt(waiting, command)
    return waiting


def _turned_away(
    refused: Transition, command: v.Settlement, name: str, transaction: Transaction
) -> Transition:
    """LOCK-13: return the refusal of a settlement in a transaction."""
    lost = refused.rules and refused.outcome == v.Refused(error=v.Error.LOCK_LOST)
    rules = ("LOCK-13", *refused.rules) if lost else refused.rules
    after = after_refusal(_pledging(refused.next, command), name, transaction)
    return evolve(refused, next=after, rules=rules, any_error=True)


def _taken_yet_doomed(
    namespace: Namespace, command: v.Settlement, name: str, refused: Transition
) -> Iterator[Transition]:
    """Yield the success of a settlement that dooms its transaction (SETTLEMENT-REFUSAL)."""
    if not refused.rules or _refuses(namespace, "at-once"):
        return
    yield _doomed(namespace, command, name)


def _doomed(namespace: Namespace, command: v.Settlement, name: str) -> Transition:
    """Return the success of a settlement under a lost lock, for which the commit is refused."""
    waiting = _waiting(namespace, command, name)
    transaction = running(waiting, name)
    *others, lost = transaction.settlements
    # A lost lock identifies no message, so it binds the transaction to no key.
    settlements = (*others, evolve(lost, key=None))
    doomed = evolve(transaction, settlements=settlements, doomed=True)
    return done(with_transaction(waiting, name, doomed))


def _refuses(namespace: Namespace, when: str) -> bool:
    """SETTLEMENT-REFUSAL: return whether lost locks are refused only `at-once` or `at-commit`."""
    return namespace.profile.readings.get("SETTLEMENT-REFUSAL") == when


def _may_object(namespace: Namespace, command: v.Settlement, transaction: Transaction) -> bool:
    """TXN-OTHER-OPERATIONS, TXN-ENTITIES: return whether the key or the entity may conflict."""
    queue, readings = namespace.queues[command.queue], namespace.profile.readings
    others = {*transaction.queues} - {v.owner_of(command.queue)}
    if others and readings.get("TXN-ENTITIES") != "accepted":
        return True
    is_bound = bool(queue.settings.partitioned) and locked(queue, command.lock_token) is not None
    unfit = _key(namespace, command) is None or _differs(namespace, command, transaction)
    return is_bound and unfit and readings.get("TXN-OTHER-OPERATIONS") != "sends-only"


def _must_object(namespace: Namespace, command: v.Settlement, transaction: Transaction) -> bool:
    """Return whether the key surely conflicts with the transaction (TXN-OTHER-OPERATIONS).

    Only sends surely give a transaction its key.
    """
    reading = namespace.profile.readings.get("TXN-OTHER-OPERATIONS")
    of_sends = evolve(transaction, settlements=())
    return reading == "all" and _differs(namespace, command, of_sends)


def _differs(namespace: Namespace, command: v.Settlement, transaction: Transaction) -> bool:
    """Return whether the key differs from keys that the transaction has for this entity."""
    key = _key(namespace, command)
    of_sends = transaction.keys.get(command.queue)
    keys = [
        settlement.key
        for settlement in transaction.settlements
        if settlement.command.queue == command.queue
    ]
    others = [other for other in (of_sends, *keys) if other is not None]
    return key is not None and any(
        keys_may_differ(namespace.profile, key, other) for other in others
    )


def _key(namespace: Namespace, command: v.Settlement) -> Key | None:
    stored = locked(namespace.queues[command.queue], command.lock_token)
    return None if stored is None else stored.key


def _pledging(namespace: Namespace, command: v.Settlement) -> Namespace:
    """Record that a transaction settled, or tried to settle, a message of this entity."""
    queue = namespace.queues[command.queue]
    return with_queue(namespace, queue.asked("transactions"))


def _waiting(
    namespace: Namespace, command: v.Settlement, name: str, *, certain: bool = True
) -> Namespace:
    """Return the namespace in which the settlement waits and its message stays locked.

    Whether the lock ends in its time meanwhile is open (LOCK-IN-TRANSACTION).
    """
    transaction = running(namespace, name)
    owner = v.owner_of(command.queue)
    born = namespace.queues[owner].managed.born
    outside = evolve(command, transaction=None)
    entry = Enlisted(outside, _key(namespace, command), born, certain)
    grown = evolve(
        transaction,
        settlements=(*transaction.settlements, entry),
        queues=transaction.queues.set(owner, born),
        doubtful=transaction.doubtful or not certain,
    )
    namespace = with_transaction(_pledging(namespace, command), name, grown)
    queue = namespace.queues[command.queue]
    stored = locked(queue, command.lock_token)
    if stored is None or stored.lock is None:
        return namespace
    lock, pledge = stored.lock, stored.lock.pledge
    until = lock.expiry if pledge is None else pledge.until
    pledge = Pledge(name, until, _reading(namespace), _over(namespace, grown))
    pledged = evolve(lock, pledge=pledge, expiry=pledge.bounds())
    return with_queue(namespace, _held(queue, stored, pledged))


def _over(namespace: Namespace, transaction: Transaction) -> int:
    """Return the first moment at which the transaction may have ended."""
    if transaction.doubtful:
        return -NEVER
    return transaction.begun.earliest + TIME_LIMIT - namespace.observability.slack


def _reading(namespace: Namespace) -> str:
    """LOCK-IN-TRANSACTION: return what happens to a lock whose message a transaction settles."""
    return namespace.profile.readings.get("LOCK-IN-TRANSACTION", "either")


def _held(queue: Queue, stored: Stored, lock: Lock) -> Queue:
    """Return the queue with another lock on the message, and a timer for its end."""
    return evolve(
        queue,
        messages=queue.messages.set(stored.number, evolve(stored, lock=lock)),
        timers=push(queue.timers, (lock.expiry.latest, stored.number, lock.token)),
    )


def loses(namespace: Namespace, transaction: Transaction) -> tuple[bool, bool]:
    """LOCK-13: return whether a commit may be refused for its settlements, and whether it must."""
    fates = [_loses(namespace, settlement) for settlement in transaction.settlements]
    return any(may for may, _ in fates), any(must for _, must in fates)


def _loses(namespace: Namespace, enlisted: Enlisted) -> tuple[bool, bool]:
    queue = _queue_of(namespace, enlisted)
    stored = None if queue is None else locked(queue, enlisted.command.lock_token)
    if queue is None or stored is None or stored.lock is None:
        # The commit must be refused for a lost lock. If the queue is gone, or a new one has its
        # name, the documents do not say what the commit does; exploration found this case.
        return True, enlisted.certain and queue is not None
    pledge = stored.lock.pledge
    until = stored.lock.expiry if pledge is None else pledge.until
    released = pledge is not None and pledge.may_be_released
    ends = released or (until.earliest <= namespace.now.latest and _reading(namespace) != "lasts")
    doubtful = not (enlisted.certain and stored.certain)
    may_lose = ends or doubtful or queue.outages.may_hit(stored.where)
    return may_lose, has_ended(namespace, queue, stored)


def _queue_of(namespace: Namespace, enlisted: Enlisted) -> Queue | None:
    """Return the queue of a settlement; `None` if it was deleted since.

    A queue that was created again under its name is another one. The documents do not say what a
    commit does in either case.
    """
    name = enlisted.command.queue
    same = is_there(namespace, v.owner_of(name), enlisted.born)
    return namespace.queues.get(name) if same else None


def settled_together(namespace: Namespace, transaction: Transaction, *, certain: bool) -> Namespace:
    """LOCK-11: return the namespace after the commit settled all messages of the transaction."""
    if certain:
        # First the locks are as they were before, so that settling them works as outside.
        namespace = released(namespace, transaction)
    for settlement in transaction.settlements:
        command = settlement.command
        queue = _queue_of(namespace, settlement) if certain and settlement.certain else None
        if queue is not None and locked(queue, command.lock_token) is not None:
            namespace = next(settle_at_once(namespace, command)).next
        elif command.queue in namespace.queues:
            namespace = perhaps_settled(namespace, command)
    return namespace


def lost_settle(namespace: Namespace, command: v.Settlement) -> Namespace:
    """Return the namespace after an unanswered settlement; in a transaction it may wait."""
    if command.transaction is None:
        return perhaps_settled(_held_in_doubt(namespace, command) or namespace, command)
    if namespace.transactions.get(command.transaction) is None:
        return namespace
    namespace = _held_in_doubt(namespace, command) or namespace
    return _waiting(namespace, command, command.transaction, certain=False)


def released(namespace: Namespace, transaction: Transaction) -> Namespace:
    """LOCK-12: return the namespace after the transaction's settlements were undone.

    Each message stays locked for as long as it would have without the settlement, if that is not
    over.
    """
    for settlement in transaction.settlements:
        queue = _queue_of(namespace, settlement)
        stored = None if queue is None else locked(queue, settlement.command.lock_token)
        lock = None if stored is None else stored.lock
        if queue is None or stored is None or lock is None or lock.pledge is None:
            continue
        until = lock.pledge.until
        latest = max(until.latest, namespace.now.latest)
        # An unanswered settlement may have ended the lock meanwhile.
        earliest = min(until.earliest, lock.expiry.earliest)
        bounds = Window(earliest, until.latest if lock.pledge.reading == "ends" else latest)
        # A later settlement under a `spared` lock shows that this one left the message alone
        # (LOCK-12).
        freed = evolve(lock, pledge=None, expiry=bounds, spared=True)
        namespace = with_queue(namespace, _held(queue, stored, freed))
    return namespace
