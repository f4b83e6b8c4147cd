"""Transactions: they begin, commit or roll back; all their sends take effect, or none."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.changes import with_doubt, with_registry, with_transaction
from busproof.oracle.coverage.topics import with_topic_rules
from busproof.oracle.evolve import evolve
from busproof.oracle.forwarding.forwarding import kept_away_by
from busproof.oracle.management.subscription_rules import with_changes
from busproof.oracle.messages.duplicates import Fate, declined, fate, from_its_send, noted
from busproof.oracle.messages.enqueueing import arrive
from busproof.oracle.messages.keys import effective_key
from busproof.oracle.messages.message_store import never_arrives
from busproof.oracle.messages.scheduling import committed_later
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.free_space import lacks_room
from busproof.oracle.state import NEVER, Namespace, Queue, Staged, Transaction, with_queue
from busproof.oracle.transactions.limits import SIZE_LIMIT, in_order, is_there, may_be_over, vacated
from busproof.oracle.transactions.transactional_settlements import loses, released, settled_together
from busproof.oracle.transition import Observation, Transition, done, refusal
from busproof.oracle.window import Window


def begin(namespace: Namespace, command: v.BeginTransaction) -> Iterator[Transition]:
    """Begin a transaction; Basic may refuse, by pages that belong to no edition."""
    # Whether the name of an earlier transaction can be used again is open.
    if command.transaction in namespace.transactions:
        yield refusal(namespace, v.Error.ALREADY_EXISTS, any_error=True)
    if namespace.transactions.get(command.transaction) is not None:
        return
    began = _begun(namespace, command)
    yield done(with_transaction(namespace, command.transaction, began))
    if namespace.profile.tier is v.Tier.BASIC:
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def _begun(namespace: Namespace, command: v.BeginTransaction) -> Transaction:
    """Return a new transaction, which an unanswered request for its name may end at any time."""
    late = namespace.registry.ends.get(command.transaction)
    return Transaction(begun=namespace.now, doubtful=late is not None, ending=bool(late))


def commit(
    namespace: Namespace, command: v.CommitTransaction, observed: Observation
) -> Iterator[Transition]:
    """TXN-12, SIZE-14: make all messages of the transaction receivable, or none of them."""
    transaction = namespace.transactions.get(command.transaction)
    if transaction is None:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
        return
    ended = with_transaction(namespace, command.transaction, None)
    staged = in_order(transaction)
    hit, outage = _outage(namespace, staged)
    may_lack, lacks = lacks_room(namespace, staged, observed)
    may_lose, loses_lock = loses(namespace, transaction)
    if may_lack:
        left = _forgotten(ended, transaction, "SIZE-14")
        yield refusal(left, v.Error.QUOTA_EXCEEDED, "SIZE-14", "SIZE-11")
    # A settlement frees storage; the documents do not say if sends of the same commit may use it.
    lacks = lacks and not transaction.settlements
    if not (transaction.doomed or lacks or loses_lock or outage):
        rules = _shown_by_commit(namespace, transaction)
        yield done(_committed(ended, transaction, certain=True), *rules)
    # The documents do not say what a commit does if a destination was deleted since the send.
    there = all(_is_still_there(namespace, send) for send in staged)
    if hit or may_lose or not there or _may_have_ended(namespace, transaction):
        error = v.Error.LOCK_LOST if may_lose else v.Error.INVALID_OPERATION
        lost = rules_if((loses_lock, "LOCK-13"))
        yield refusal(_forgotten(ended, transaction), error, *lost, any_error=True)


def _outage(namespace: Namespace, staged: list[Staged]) -> tuple[bool, bool]:
    """Return whether an outage may make the commit fail, and whether it must (TXN-OUTAGE)."""
    queues = namespace.queues
    there = [(queues[send.queue].outages, send) for send in staged if send.queue in queues]
    hit = any(outages.may_hit(send.where) for outages, send in there)
    # Under other readings the commit may succeed although a send's partition is down by now.
    refused = namespace.profile.readings.get("TXN-OUTAGE") == "refused"
    return hit, refused and any(
        outages.identified and outages.must_hit(send.where) and _is_still_there(namespace, send)
        for outages, send in there
    )


def _shown_by_commit(namespace: Namespace, transaction: Transaction) -> tuple[v.RuleId, ...]:
    # A topic's rules are exercised too, because the documents on queues also cover topics.
    destinations = [
        (namespace.queues.get(send.queue), send.queue, send.message.session_id)
        for send in in_order(transaction)
    ]
    sessions = {
        (name, session_id)
        for queue, name, session_id in destinations
        if session_id is not None and not (queue is not None and queue.settings.partitioned)
    }
    rules = rules_if(
        # Messages of several sessions went to one regular queue.
        (len({name for name, _ in sessions}) < len(sessions), "SESS-26"),
        (transaction.size == SIZE_LIMIT, "LIMIT-15"),
        (transaction.settlements, "LOCK-11"),
        (transaction.changes, "FEAT-19"),
        (transaction.size or not transaction.settlements, "TXN-12"),
    )
    queues = (queue for queue, _, _ in destinations if queue is not None)
    of_topics = (rule for queue in queues for rule in with_topic_rules(queue, ("TXN-12",)))
    return tuple(dict.fromkeys((*rules, *of_topics)))


def _is_still_there(namespace: Namespace, staged: Staged) -> bool:
    return is_there(namespace, staged.queue, staged.born)


def sent_to(namespace: Namespace, name: str) -> tuple[str, ...]:
    """Return the entities that may get messages when this transaction ends."""
    transaction = namespace.transactions.get(name)
    return () if transaction is None else tuple(v.owner_of(queue) for queue in transaction.queues)


def _committed(namespace: Namespace, transaction: Transaction, *, certain: bool) -> Namespace:
    """KEY-06, KEY-17: return the namespace after the transaction's requests took effect.

    Each message follows those that had arrived before it was sent. The documents do not order it
    and those that arrived between its send and the commit.
    """
    namespace = with_changes(namespace, transaction, certain=certain)
    begun = namespace
    for staged in in_order(transaction):
        queue = namespace.queues.get(staged.queue)
        if queue is None:
            continue
        body = staged.message.body
        # Since its send the body was recorded as one that never arrives (TXN-12).
        if isinstance(queue.bodies.get(body), str):
            queue = evolve(queue, bodies=queue.bodies.delete(body))
        same = _is_still_there(namespace, staged)
        before = namespace
        # The storage was reserved at the send, and counts again when the message arrives.
        if same:
            queue = vacated(queue, staged)
        namespace = _arrived(namespace, queue, staged, certain=certain and same)
        if not same:
            # The documents do not say whether, and in which order, a later queue of its name gets
            # it.
            continue
        for path, arrivals in staged.arrivals.items():
            if path not in begun.queues:
                continue
            # Its place in a line is open only if others arrived between its send and the commit.
            # Messages of concurrent transactions have no order either, as the graph of the TLA+
            # spec showed.
            batch = begun.queues[path].arrivals
            number = before.queues[path].arrivals
            sent = arrivals if batch > arrivals else NEVER
            namespace = _come_together(namespace, path, number, batch, sent)
    return settled_together(namespace, transaction, certain=certain)


def _come_together(
    namespace: Namespace, path: str, number: int, batch: int, sent: int
) -> Namespace:
    """Return the namespace in which the message with this number belongs to a transaction.

    `batch` is how many messages had arrived before the commit, and `sent` how many before the send,
    if others arrived in between.
    """
    queue = namespace.queues[path]
    stored = queue.messages.get(number)
    if stored is None:
        return namespace
    updated = evolve(stored, batch=batch, sent=sent)
    messages = queue.messages.set(number, updated)
    return with_queue(namespace, evolve(queue, messages=messages))


def _arrived(namespace: Namespace, queue: Queue, staged: Staged, *, certain: bool) -> Namespace:
    if staged.waiting is not None:
        return committed_later(namespace, queue, staged, staged.waiting, certain=certain)
    compared = from_its_send(namespace, staged.sent)
    becomes = fate(compared, queue, staged.message, staged.key)
    copies = noted(
        compared,
        queue,
        staged.message,
        staged.key,
        becomes=becomes,
        certain=certain,
        answered=certain,
    )
    if becomes is Fate.DROPPED:
        dropped = evolve(never_arrives(queue, staged.message.body, "KEY-11"), copies=copies)
        return with_queue(namespace, kept_away_by(dropped, "DUP-11") if certain else dropped)
    kept = certain and becomes is Fate.KEPT
    arrival = Arrival(
        message=staged.message,
        key=effective_key(namespace, queue.settings, staged.message),
        where=staged.where,
        certain=kept,
        answered=certain,
        revision=staged.revision,
        came=_came(namespace, staged),
    )
    return arrive(namespace, queue, arrival, {"copies": copies})


def _came(namespace: Namespace, staged: Staged) -> Window:
    """Return when a message in a transaction arrived (LIFETIME-IN-TRANSACTION)."""
    sent, now = staged.sent, namespace.now
    reading = namespace.profile.readings.get("LIFETIME-IN-TRANSACTION", "either")
    either = Window(sent.earliest, now.latest)
    return {"commit": now, "send": sent}.get(reading, either)


def roll_back(namespace: Namespace, command: v.RollBackTransaction) -> Iterator[Transition]:
    """TXN-13: roll back; no message of the transaction may be received, then or later."""
    transaction = namespace.transactions.get(command.transaction)
    if transaction is None:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
        return
    ended = with_transaction(namespace, command.transaction, None)
    # The storage that its sends may have used stays counted, because no document says when it is
    # free again. A scenario waits two minutes for it.
    left = _forgotten(ended, transaction)
    yield done(left, *rules_if((transaction.changes, "FEAT-19"), (transaction.size, "TXN-13")))
    if _may_have_ended(namespace, transaction):
        yield refusal(left, v.Error.NOT_FOUND, any_error=True)


def _may_have_ended(namespace: Namespace, transaction: Transaction) -> bool:
    return transaction.doubtful or transaction.doomed or may_be_over(namespace, transaction)


def _forgotten(
    namespace: Namespace, transaction: Transaction, why: v.RuleId = "TXN-13"
) -> Namespace:
    for staged in in_order(transaction):
        queue = namespace.queues.get(staged.queue)
        if queue is None:
            continue
        bodies = queue.bodies.set(staged.message.body, why)
        # If not, another message with this body has arrived, and the rollback does not undo that.
        if isinstance(queue.bodies.get(staged.message.body), str):
            queue = evolve(queue, bodies=bodies)
            namespace = with_queue(namespace, declined(queue, staged.message, "DUP-10"))
    return released(namespace, transaction)


def lost_begin(namespace: Namespace, command: v.BeginTransaction) -> Namespace:
    """Return the namespace in which the transaction may have begun."""
    doubtful = evolve(_begun(namespace, command), doubtful=True)
    return with_transaction(namespace, command.transaction, doubtful)


def lost_commit(namespace: Namespace, command: v.CommitTransaction) -> Namespace:
    """Return the namespace in which the commit may take effect now, later or never."""
    transaction = namespace.transactions.get(command.transaction)
    if transaction is None:
        return _with_end(namespace, command.transaction, commits=True)
    # Its messages are stored as uncertain ones. Requests from now on may still be committed by this
    # one, which `ending` records.
    doubtful = evolve(
        transaction,
        doubtful=True,
        ending=True,
        staged=None,
        size=0,
        changes=(),
        settlements=(),
    )
    namespace = _committed(namespace, transaction, certain=False)
    return with_transaction(namespace, command.transaction, doubtful)


def lost_roll_back(namespace: Namespace, command: v.RollBackTransaction) -> Namespace:
    """Return the namespace in which the rollback may have ended the transaction, or may later."""
    if namespace.transactions.get(command.transaction) is None:
        return _with_end(namespace, command.transaction, commits=False)
    return with_doubt(namespace, command)


def _with_end(namespace: Namespace, name: str, *, commits: bool) -> Namespace:
    """Record that an unanswered request may end a later transaction of this name."""
    ends = namespace.registry.ends
    return with_registry(namespace, ends=ends.set(name, commits or ends.get(name, False)))
