"""Judging of one event: the transitions that the documents allow, and those that it matches."""

import itertools
from collections.abc import Iterable
from typing import Final, NamedTuple

from busproof import vocabulary as v
from busproof.oracle import not_found
from busproof.oracle.changes import with_doubt
from busproof.oracle.coverage.added_later import shown_as_added
from busproof.oracle.coverage.management import shown_in_premium
from busproof.oracle.coverage.topics import with_topic_rules
from busproof.oracle.diagnosis.broken_rules import blamed
from busproof.oracle.dispatch import dispatched, lost
from busproof.oracle.evolve import evolve
from busproof.oracle.management.topics import of_like_name, returned, with_partitions_of_topic
from busproof.oracle.management.updates_and_deletions import is_managed_otherwise
from busproof.oracle.merged_refusals import for_whatever_reason
from busproof.oracle.messages.duplicates import declined
from busproof.oracle.messages.message_store import never_arrives
from busproof.oracle.messages.releasing import prepared
from busproof.oracle.state import Namespace, Queue, is_unsure, with_queue
from busproof.oracle.transactions.transactions import sent_to
from busproof.oracle.transition import UNOBSERVED, Observation, Rules, Transition, Transitions
from busproof.oracle.unjudged import is_about_unjudged, named, topic_above, with_pending_effects
from busproof.oracle.window import Window

CREATING: Final = (v.CreateQueue, v.RestoreQueue, v.CreateTopic)
"""Requests that may be about an entity that does not exist."""

NO_ANSWER: Final = Observation(v.Indeterminate())

SWITCHING: Final = (v.TakePartitionDown, v.BringPartitionUp)

LASTING: Final = frozenset(
    (*CREATING, v.CreateSubscription, v.DeleteQueue, v.DeleteTopic, *SWITCHING)
)
"""Requests that create, delete or disturb an entity; all others use an existing one."""

ALLOWED_SHOWN = 8
"""Maximum number of allowed answers that the explanation of a violation lists."""


class Acceptance(NamedTuple):
    """The result of judging an event.

    Attributes:
        possible: the states that explain all events so far; none means a violation.
        rules: the rules that decided the event, or the rules that a violation breaks, the most
            relevant first.
        allowed: for a violation, the answers that would have been allowed.
    """

    possible: tuple[Namespace, ...]
    rules: Rules = ()
    allowed: tuple[Transition, ...] = ()

    @property
    def outcomes(self) -> tuple[v.Outcome, ...]:
        """The answers that would have been allowed, as the client would have seen them."""
        return tuple(transition.outcome for transition in self.allowed)


def transitions(
    namespace: Namespace,
    command: v.Command,
    connection: str = "c1",
    observed: Observation = UNOBSERVED,
) -> Transitions:
    """Yield every transition that the documents allow and that matches the observation."""
    names = named(command)
    name = names[0] if names else ""
    # This comes first: no answer about an entity that is not judged can be a violation.
    if (whatever := _beyond_judgement(namespace, command, observed)) is not None:
        yield whatever
        return
    ready = _prepared(namespace, command)
    if ready is None:
        like = of_like_name(namespace, name)
        if like is not None:
            yield not_found.of_like_name(namespace, command, like, observed)
            return
        yield from _agreeing(not_found.absent(namespace, command, name), observed)
        return
    queue = ready.queues.get(name)
    # After a request that changed some partitions only, the documents say nothing about the use of
    # the entity.
    if queue is not None and queue.managed.partially_applied:
        used = observed.outcome is not None and type(command) not in LASTING
        if used:
            yield not_found.in_part(ready, command, queue, observed)
            return
    if is_managed_otherwise(ready, command):
        yield not_found.of_no_queue(ready, command, observed)
        return
    answers = dispatched(ready, command, connection, observed)
    if queue is not None and is_unsure(queue) and not isinstance(command, CREATING):
        answers = _of_unsure(ready, command, queue, _agreeing(answers, observed), observed)
    # If the entity surely exists, so do its dead-letter queues, and the answer reveals nothing.
    unsure = "" if queue is not None and not queue.doubtful else name
    for transition in answers:
        if transition.admits(observed.outcome):
            yield _confirmed(transition, command, unsure)


def _beyond_judgement(
    namespace: Namespace, command: v.Command, observed: Observation
) -> Transition | None:
    """Return the given answer as allowed if no rule covers it; `None` if the answer is judged."""
    if len(namespace.registry.unjudged) and is_about_unjudged(namespace, command):
        return not_found.unjudged(namespace, command, observed)
    topic = topic_above(namespace, command)
    return None if topic is None else not_found.under_a_topic(namespace, topic, observed)


def _of_unsure(
    namespace: Namespace,
    command: v.Command,
    queue: Queue,
    answers: Transitions,
    observed: Observation,
) -> Transitions:
    """Yield the answers of a queue that may not exist.

    The same refusal may come from a queue that exists or from one that does not. Then only the
    transition that reveals less is yielded. That is the one without a queue, except for a change:
    a queue that exists may have made part of a change that it refused.
    """
    change = isinstance(command, v.UpdateQueue | v.DeleteQueue | v.UpdateTopic | v.DeleteTopic)
    outage = isinstance(command, SWITCHING)
    missing = _agreeing(not_found.maybe_absent(namespace, command, queue), observed)
    if outage or (isinstance(observed.outcome, v.Refused) and not change):
        yield from missing
        return
    refused = False
    for transition in answers:
        refused = refused or isinstance(observed.outcome, v.Refused)
        yield transition
    if not refused:
        yield from missing


def _agreeing(answers: Transitions, observed: Observation) -> Transitions:
    return (transition for transition in answers if transition.admits(observed.outcome))


def step(
    namespace: Namespace, command: v.Command, connection: str = "c1"
) -> tuple[Transition, ...]:
    """Return every transition that the documents allow; there is always one."""
    return tuple(transitions(namespace, command, connection))


def _prepared(namespace: Namespace, command: v.Command) -> Namespace | None:
    """Return the namespace in which locks of the entity that have expired are released.

    Return `None` if the entity does not exist.
    """
    # A request that ends a transaction names none of the entities that it changes.
    if isinstance(command, v.CommitTransaction | v.RollBackTransaction):
        for path in sent_to(namespace, command.transaction):
            namespace = with_partitions_of_topic(namespace, path)
    name = None if isinstance(command, v.RestoreQueue) else v.concerned(command)
    if name is None:
        return namespace
    return prepared(with_partitions_of_topic(namespace, name), name)


def _confirmed(transition: Transition, command: v.Command, unsure: str) -> Transition:
    """Add what an answer reveals beyond its effect.

    A message that was refused never arrives; an entity whose existence was `unsure` exists once it
    has answered.
    """
    refused = isinstance(transition.outcome, v.Refused)
    if refused and isinstance(command, v.Send | v.Schedule):
        sent_to = transition.next.queues[command.queue]
        if transition.rules and command.message.body not in sent_to.bodies:
            updated = never_arrives(sent_to, command.message.body, transition.rules[0])
            updated = declined(updated, command.message, "DUP-08")
            transition = evolve(transition, next=with_queue(transition.next, updated))
    entity = transition.next.queues.get(v.concerned(command) or "")
    if entity is not None and entity.role is not None:
        rules = with_topic_rules(entity, transition.rules)
        learned = returned(transition.next, entity)
        transition = evolve(transition, next=learned, rules=rules)
    more = shown_as_added(entity, command, transition.outcome)
    if transition.next.profile.tier is v.Tier.PREMIUM:
        more = (*shown_in_premium(transition.next, entity, command, transition.outcome), *more)
    if more:
        transition = evolve(transition, rules=(*transition.rules, *more))
    # A refusal may come from an entity that does not exist, and partitions of a missing one can be
    # taken down too, so neither proves that it exists.
    if refused or not unsure or isinstance(command, SWITCHING):
        return transition
    left = transition.next
    for name in (unsure, *v.dead_letter_queues_of(unsure)):
        known = left.queues.get(name)
        if known is not None and known.doubtful:
            left = with_queue(left, evolve(known, doubtful=False))
    return transition if left is transition.next else evolve(transition, next=left)


def _unanswered(namespace: Namespace, command: v.Command, connection: str) -> tuple[Namespace, ...]:
    """Return the states after an unanswered request, which may still affect the names in it."""
    names = named(command)
    left: tuple[Namespace, ...] = (with_doubt(namespace, command),)
    if (whatever := _beyond_judgement(namespace, command, NO_ANSWER)) is not None:
        left = (whatever.next,)
    elif is_managed_otherwise(namespace, command):
        left = (not_found.of_no_queue(namespace, command, NO_ANSWER).next,)
    elif (ready := _prepared(namespace, command)) is not None:
        queue = ready.queues.get(names[0]) if names else None
        if queue is not None and is_unsure(queue) and type(command) not in LASTING:
            ready = not_found.touched(ready, queue)
        left = lost(ready, command, connection)
    elif names and (like := of_like_name(namespace, names[0])) is not None:
        left = (not_found.of_like_name(namespace, command, like, NO_ANSWER).next,)
    # An unanswered one may still change them later.
    if isinstance(command, v.CommitTransaction | v.RollBackTransaction):
        names = sent_to(namespace, command.transaction)
    return tuple(with_pending_effects(state, command, *names) for state in left)


def accept(possible: tuple[Namespace, ...], event: v.Event, *, explain: bool = True) -> Acceptance:
    """Return what remains possible after this event; no state if the documents do not allow it.

    On a real clock an event has a time span, and a timer may fire at any moment in it. A request
    that was never answered leaves all its outcomes possible.

    Args:
        possible: the states before the event.
        event: the observed event.
        explain: whether to diagnose a violation, with the rules that it breaks and the allowed
            answers. A search over orders of events needs no diagnosis.
    """
    timed = _at(possible, event)
    if isinstance(event.outcome, v.Unsupported):
        return Acceptance(possible=timed)
    if isinstance(event.outcome, v.Indeterminate):
        left = (_unanswered(state, event.command, event.connection) for state in timed)
        return Acceptance(possible=_distinct(itertools.chain.from_iterable(left)))
    observed = Observation(event.outcome, event.witness)
    answers = [
        transition
        for namespace in timed
        for transition in transitions(namespace, event.command, event.connection, observed)
    ]
    if not answers:
        return _violation(timed, event, observed) if explain else Acceptance(possible=())
    command, refused = event.command, isinstance(event.outcome, v.Refused)
    # Different reasons for a refusal would leave a state each; only their common part is kept.
    if len(answers) > 1 and refused and isinstance(command, v.Send | v.Schedule):
        known = all(command.queue in transition.next.queues for transition in answers)
        answers = for_whatever_reason(answers, command) if known else answers
    reached = (transition.next for transition in answers)
    possible = _distinct(reached) if len(answers) > 1 else tuple(reached)
    return Acceptance(possible=possible, rules=answers[0].rules)


def _distinct(reached: Iterable[Namespace]) -> tuple[Namespace, ...]:
    """Return the states without duplicates; there are several only if the answer is ambiguous."""
    states: list[Namespace] = []
    for namespace in reached:
        if namespace not in states:
            states.append(namespace)
    return tuple(states)


def _at(possible: tuple[Namespace, ...], event: v.Event) -> tuple[Namespace, ...]:
    """Return the states at the time of an event; on a virtual clock they already have it."""
    if possible[0].observability.clock is v.Clock.VIRTUAL:
        return possible
    called, latest = event.called, event.called if event.returned is None else event.returned
    timed = []
    for namespace in possible:
        before = namespace.now
        # It takes effect after the events before it in this order, even if it was called before
        # them.
        now = Window(max(called, before.earliest), max(latest, before.latest))
        timed.append(evolve(namespace, now=now))
    return tuple(timed)


def _violation(timed: tuple[Namespace, ...], event: v.Event, observed: Observation) -> Acceptance:
    # Without an observation, all answers that would have been allowed are listed.
    allowed: list[Transition] = []
    for namespace in timed:
        for transition in transitions(namespace, event.command, event.connection):
            if len(allowed) < ALLOWED_SHOWN and all(
                transition.outcome != answer.outcome for answer in allowed
            ):
                allowed.append(transition)
    ready = _prepared(timed[0], event.command) or timed[0]
    rules = blamed(ready, event, observed, tuple(allowed))
    return Acceptance(possible=(), rules=rules, allowed=tuple(allowed))
