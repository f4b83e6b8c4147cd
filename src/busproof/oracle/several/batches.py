"""Batches: several messages sent together or not at all, and several received together.

A batch counts as its messages sent one after another, which are visible only if all are accepted.
BATCH-KEYS decides what the documents leave open about its keys.
"""

from collections.abc import Iterator, Sequence

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.management.premium import is_distinct
from busproof.oracle.messages.duplicates import declined
from busproof.oracle.messages.keys import effective_key
from busproof.oracle.messages.message_store import line_of, never_arrives, order_rule
from busproof.oracle.messages.receiving import lost_receive, receive
from busproof.oracle.messages.sending import lost_send, send
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.message_limits import batch_excess, held_to_limits, may_be_too_many
from busproof.oracle.state import Namespace, Queue, Topic, partition_count, with_queue
from busproof.oracle.transactions.transactional_sends import after_refusal
from busproof.oracle.transition import Observation, Rules, Transition, Transitions, refusal

Reached = tuple[Namespace, Rules]
"""A state, with the rules of the requests that led there."""


def send_batch(namespace: Namespace, command: v.SendBatch, observed: Observation) -> Transitions:
    """BATCH-01, BATCH-02: accept all messages of the batch, or none of them."""
    if not command.messages:
        # The documents do not cover an empty batch.
        yield Transition(outcome=v.Done(), next=namespace)
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        return
    settings = namespace.queues[command.queue].settings
    # Messages without a key count as one key, because they may go to one partition together.
    several = len({effective_key(namespace, settings, message) for message in command.messages}) > 1
    reading = namespace.reading("BATCH-KEYS")
    rule = "BATCH-05"
    distinct = is_distinct(namespace.profile, command)
    # Partitioned namespaces refuse such batches by a rule of their own, which leaves nothing open.
    if several and distinct:
        reading, rule = "refused", "PREM-17"
    may_exceed, exceeds = batch_excess(namespace, command.messages)
    refusals: list[Transition] = []
    for chosen in _choices(namespace, command, observed, several=several):
        ends, refused = _folded(namespace, command, chosen)
        refusals += refused
        if not (exceeds or (several and reading == "refused")):
            for end in ends:
                yield _done(namespace, command, end, several=several)
    if may_exceed:
        rules: Rules = ("BATCH-07",) if exceeds else ()
        yield _refused(namespace, command, refusal(namespace, v.Error.MESSAGE_TOO_LARGE, *rules))
    if several and reading != "split":
        rejected = refusal(namespace, v.Error.INVALID_OPERATION, rule, any_error=True)
        yield _refused(namespace, command, rejected)
    elif distinct:
        # PREM-17 refuses batches with different keys. In a transaction, a message whose own keys
        # differ may come first, and then the commit may be refused instead (TXN-REFUSAL).
        rejected = refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        yield _refused(namespace, command, rejected)
    if may_be_too_many(namespace, len(command.messages)):
        rejected = refusal(namespace, v.Error.QUOTA_EXCEEDED, any_error=True)
        yield _refused(namespace, command, rejected)
    for rejected in refusals:
        yield _refused(namespace, command, rejected)


def _choices(
    namespace: Namespace, command: v.SendBatch, observed: Observation, *, several: bool
) -> Iterator[Observation]:
    """Yield the observation of the batch; without one, an observation of each partition."""
    if observed.outcome is not None:
        yield Observation(v.Done(), observed.witness)
        return
    settings = namespace.queues[command.queue].settings
    for partition in range(partition_count(namespace, settings)):
        yield Observation(v.Done(), v.Witness(partition=partition))
    # Messages with different keys may go to different partitions, which no single witness
    # describes.
    if several:
        yield Observation()


def _folded(
    namespace: Namespace, command: v.SendBatch, observed: Observation
) -> tuple[list[Reached], list[Transition]]:
    """Return the states in which all messages were accepted, and every refusal on the way."""
    reached: list[Reached] = [(namespace, ())]
    refusals: list[Transition] = []
    for one, shows in _one_by_one(namespace, command):
        later: list[Reached] = []
        for state, rules in reached:
            before = _without_turns(state, command.queue)
            for transition in _sent(before, one, observed):
                if isinstance(transition.outcome, v.Refused):
                    refusals.append(transition)
                else:
                    after = _showing(before, transition.next, command.queue, shows)
                    later.append((after, (*rules, *transition.rules)))
        # Merging equal states after each message keeps their number from growing with the batch.
        reached = _apart(later)
    return reached, refusals


def _one_by_one(namespace: Namespace, command: v.SendBatch) -> Iterator[tuple[v.Send, Rules]]:
    """Yield a send for each message, with the rules that the delivery of the message exercises."""
    queue = namespace.queues[command.queue]
    lines: set[object] = set()
    for message in command.messages:
        line = line_of(queue, message, effective_key(namespace, queue.settings, message))
        one = v.Send(
            queue=command.queue,
            message=message,
            timeout=command.timeout,
            transaction=command.transaction,
        )
        # Order is promised only within a key or session, so only a later message of one shows it.
        yield one, ("BATCH-01", "BATCH-03") if line in lines else ("BATCH-01",)
        lines.update({line} - {None})


def _sent(namespace: Namespace, one: v.Send, observed: Observation) -> Transitions:
    """Yield the answers to one send; without an observation only the first that accepts it."""
    for transition in held_to_limits(namespace, one, send(namespace, one, observed)):
        yield transition
        # All acceptances of a message lead to the same answer, so one stands for the others.
        if observed.outcome is None and not isinstance(transition.outcome, v.Refused):
            return


def _apart(reached: list[Reached]) -> list[Reached]:
    """Return the results without repetitions of an earlier state."""
    return [
        state
        for place, state in enumerate(reached)
        if all(state[0] != other[0] for other in reached[:place])
    ]


def _without_turns(namespace: Namespace, name: str) -> Namespace:
    """KEY-14: forget whose turn is next: whether a batch takes one turn or several is open."""
    queue = namespace.queues[name]
    left = evolve(queue.asked("batches"), spread=queue.spread.restarted())
    return with_queue(namespace, left)


def _showing(before: Namespace, after: Namespace, name: str, shows: Rules) -> Namespace:
    """Return the namespace in which delivering the newest message exercises these rules, too."""
    role = after.queues[name].role
    for path in role.subscriptions if isinstance(role, Topic) else (name,):
        queue = after.queues[path]
        # The message was not stored here: it is a copy, or no rule of the subscription takes it.
        if queue.arrivals == before.queues[path].arrivals:
            continue
        stored = queue.messages.get(queue.arrivals - 1)
        if stored is not None:
            updated = evolve(stored, shows=(*shows, *stored.shows))
            messages = queue.messages.set(stored.number, updated)
            after = with_queue(after, evolve(queue, messages=messages))
    return after


def _done(
    namespace: Namespace,
    command: v.SendBatch,
    end: Reached,
    *,
    several: bool,
) -> Transition:
    state, rules = end
    queue = namespace.queues[command.queue]
    more = _shown(queue, command, rules, several=several)
    after = _without_turns(state, command.queue)
    distinct = tuple(dict.fromkeys((*more, *rules)))
    return Transition(outcome=v.Done(), next=after, rules=distinct)


def _shown(queue: Queue, command: v.SendBatch, rules: Rules, *, several: bool) -> Rules:
    """BATCH-04 to BATCH-06, BATCH-08, BATCH-09: return the rules that acceptance exercises."""
    named = {(message.session_id, message.partition_key) for message in command.messages}
    together = not several and len(command.messages) > 1
    return rules_if(
        (several, "BATCH-05"),
        (together and "KEY-02" in rules, "BATCH-04"),
        (not queue.settings.partitioned and len(named) > 1, "BATCH-06"),
        (command.transaction is not None, "BATCH-08"),
        ("KEY-11" in rules, "BATCH-09"),
    )


def _refused(namespace: Namespace, command: v.SendBatch, transition: Transition) -> Transition:
    """BATCH-02: return the refusal of a batch, so that none of its messages may arrive."""
    queue = namespace.queues[command.queue].asked("batches")
    for message in command.messages:
        # Another message with the same body may still arrive, or have arrived.
        if message.body not in queue.bodies:
            queue = never_arrives(queue, message.body, "BATCH-02")
            queue = declined(queue, message, "DUP-08")
    left = with_queue(namespace, queue)
    name = command.transaction
    transaction = None if name is None else namespace.transactions.get(name)
    # A refusal may have failed the transaction in which the batch was sent.
    if name is not None and transaction is not None:
        left = after_refusal(left, name, transaction)
    full = transition.outcome == v.Refused(error=v.Error.QUOTA_EXCEEDED)
    # The batch is refused because not all of it has room, or because its key's partition is down.
    why = rules_if((full, "BATCH-10"), ("KEY-03" in transition.rules, "BATCH-11"))
    # A bus that accepts the batch breaks first the rule that refuses it.
    rules = tuple(dict.fromkeys((*why, *transition.rules, "BATCH-02"))) if transition.rules else ()
    return evolve(transition, next=left, rules=rules)


def lost_send_batch(namespace: Namespace, command: v.SendBatch) -> Namespace:
    """Return the namespace in which all messages of the batch may arrive, now or later."""
    for message in command.messages:
        one = v.Send(queue=command.queue, message=message, transaction=command.transaction)
        # A batch may still arrive after other sends, so it is unknown whose turn is next.
        namespace = lost_send(_without_turns(namespace, command.queue), one)
    return namespace


def one_of(command: v.ReceiveBatch) -> v.Receive:
    """Return the same request for a single message."""
    return v.Receive(queue=command.queue, mode=command.mode, session_id=command.session_id)


def receive_batch(
    namespace: Namespace, command: v.ReceiveBatch, connection: str, observed: Observation
) -> Transitions:
    """BATCH-12 to BATCH-14: give some available messages, as if they were received one by one."""
    one = one_of(command)
    if isinstance(observed.outcome, v.ReceivedSeveral):
        yield from _given(namespace, command, connection, observed.outcome)
        return
    if observed.outcome is None:
        yield from _offered(namespace, command, connection)
    for transition in receive(namespace, one, connection, observed):
        if not isinstance(transition.outcome, v.Received):
            yield transition


def _given(
    namespace: Namespace, command: v.ReceiveBatch, connection: str, outcome: v.ReceivedSeveral
) -> Transitions:
    views = outcome.messages
    # A batch without messages would be an empty answer, which has its own outcome.
    if not 1 <= len(views) <= command.count or not are_locked_apart(command, views):
        return
    reached: list[Reached] = [(namespace, ())]
    for view in views:
        reached = one_more(reached, command, connection, view)
    for state, rules in reached:
        queue = namespace.queues[command.queue]
        more = _shown_together(queue, command, views, rules)
        distinct = tuple(dict.fromkeys((*more, *rules)))
        after = with_queue(state, state.queues[command.queue].asked("batches"))
        yield Transition(outcome=outcome, next=after, rules=distinct)


def one_more(
    reached: Sequence[Reached], command: v.ReceiveBatch, connection: str, view: v.MessageView
) -> list[Reached]:
    """Return the states after the batch also gave this message; none if it may not."""
    outcome = v.Received(message=view)
    return _apart(
        [
            (transition.next, (*rules, *transition.rules))
            for state, rules in reached
            for transition in receive(state, one_of(command), connection, Observation(outcome))
            if transition.admits(outcome)
        ]
    )


def are_locked_apart(command: v.ReceiveBatch, views: Sequence[v.MessageView]) -> bool:
    """BATCH-14: return whether no two of these messages have the same lock."""
    # A message that is deleted as it is received has no lock.
    if command.mode is v.ReceiveMode.RECEIVE_AND_DELETE:
        return True
    tokens = [view.lock_token for view in views if view.lock_token is not None]
    return len({*tokens}) == len(tokens)


def _shown_together(
    queue: Queue, command: v.ReceiveBatch, views: Sequence[v.MessageView], rules: Rules
) -> Rules:
    lines = {(view.session_id, view.partition_key) for view in views}
    locked = command.mode is v.ReceiveMode.PEEK_LOCK
    return rules_if(
        (True, "BATCH-12"),
        (len(lines) < len(views) and order_rule(queue) in rules, "BATCH-13"),
        (len(views) > 1 and locked, "BATCH-14"),
        (len(views) > 1 and locked and queue.settings.partitioned, "PART-13"),
    )


def _offered(namespace: Namespace, command: v.ReceiveBatch, connection: str) -> Transitions:
    """Yield the answers that must be possible: all available messages, or fewer."""
    state, views, transitions = namespace, list[v.MessageView](), list[Transition]()
    for _ in range(command.count):
        offered = receive(state, one_of(command), connection, Observation())
        answers = ((transition, transition.outcome) for transition in offered)
        first = next(((offer, of) for offer, of in answers if isinstance(of, v.Received)), None)
        if first is None:
            break
        state = first[0].next
        views.append(first[1].message)
        outcome = v.ReceivedSeveral(messages=tuple(views))
        transitions.append(Transition(outcome=outcome, next=state, rules=("BATCH-12",)))
    yield from reversed(transitions)


def lost_receive_batch(namespace: Namespace, command: v.ReceiveBatch, connection: str) -> Namespace:
    """Return the namespace in which up to the requested number may be taken, now or later."""
    # This is like so many unanswered receives: each may take a message, or fill a cache later.
    for _ in range(command.count):
        namespace = lost_receive(namespace, one_of(command), connection)
    return namespace
