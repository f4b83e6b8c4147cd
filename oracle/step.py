"""Judging: the transitions that the documents allow, and those that match an observation."""

import itertools
from collections.abc import Iterable
from typing import Final, NamedTuple

from busproof import vocabulary as v
from busproof.oracle import not_found
from busproof.oracle.changes import with_doubt
from busproof.oracle.coverage.added_later import shown_as_added
from busproof.oracle.coverage.management import shown_in_premium
from busproof.oracle.coverage.topics import told_of_topics
from busproof.oracle.diagnosis.broken_rules import blamed
from busproof.oracle.dispatch import dispatched, lost
from busproof.oracle.evolve import evolve
from busproof.oracle.management.topics import returned, with_partitions_of_topic
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
"""Requests about an entity that need not exist."""

NO_ANSWER: Final = Observation(v.Indeterminate())

SWITCHING: Final = (v.TakePartitionDown, v.BringPartitionUp)

LASTING: Final = frozenset(
    (*CREATING, v.CreateSubscription, v.DeleteQueue, v.DeleteTopic, *SWITCHING)
)
"""Requests that create, delete or disturb an entity; all others use it."""

ALLOWED_SHOWN = 8
"""Maximum number of allowed answers in a violation's explanation."""


class Acceptance(NamedTuple):
    """The result of judging an event.

    Attributes:
        possible: the remaining states; none means a violation.
        rules: the rules that decided the event; of a violation, those that it breaks, the most
            relevant first.
        allowed: of a violation, the answers that would have been allowed.
    """

    possible: tuple[Namespace, ...]
    rules: Rules = ()
    allowed: tuple[Transition, ...] = ()


def transitions(
    namespace: Namespace,
    command: v.Command,
    connection: str = "c1",
    seen: Observation = UNOBSERVED,
) -> Transitions:
    """Yield every transition that the documents allow and that matches the observation."""
    names = named(command)
    name = names[0] if names else ""
    if (whatever := _beyond_judgement(namespace, command, seen)) is not None:
        yield whatever
        return
    ready = _prepared(namespace, command)
    if ready is None:
        yield from _agreeing(not_found.absent(namespace, command, name), seen)
        return
    queue = ready.queues.get(name)
    if queue is not None and queue.managed.partially_applied:
        used = seen.outcome is not None and type(command) not in LASTING
        if used:
            yield not_found.in_part(ready, command, queue, seen)
            return
    if is_managed_otherwise(ready, command):
        yield not_found.of_no_queue(ready, command, seen)
        return
    found = dispatched(ready, command, connection, seen)
    if queue is not None and is_unsure(queue) and not isinstance(command, CREATING):
        found = _of_unsure(ready, command, queue, _agreeing(found, seen), seen)
    # Where the queue surely exists, so do its dead-letter queues.
    unsure = "" if queue is not None and not queue.doubtful else name
    for transition in found:
        if transition.admits(seen.outcome):
            yield _confirmed(transition, command, unsure)


def _beyond_judgement(
    namespace: Namespace, command: v.Command, seen: Observation
) -> Transition | None:
    """Return the answer, whatever it is, of an entity that is not judged or that no rule covers."""
    if len(namespace.registry.unjudged) and is_about_unjudged(namespace, command):
        return not_found.unjudged(namespace, command, seen)
    topic = topic_above(namespace, command)
    return None if topic is None else not_found.under_a_topic(namespace, topic, seen)


def _of_unsure(
    namespace: Namespace,
    command: v.Command,
    queue: Queue,
    found: Transitions,
    seen: Observation,
) -> Transitions:
    """Return the answers of a queue that may not exist; among equal ones, the least informative.

    A refusal may mean that the queue does not exist; only the refusal of a change is less
    informative if it exists, because the change may have been made in part.
    """
    change = isinstance(command, v.UpdateQueue | v.DeleteQueue | v.UpdateTopic | v.DeleteTopic)
    outage = isinstance(command, SWITCHING)
    missing = _agreeing(not_found.maybe_absent(namespace, command, queue), seen)
    if outage or (isinstance(seen.outcome, v.Refused) and not change):
        yield from missing
        return
    refused = False
    for transition in found:
        refused = refused or isinstance(seen.outcome, v.Refused)
        yield transition
    if not refused:
        yield from missing


def _agreeing(found: Transitions, seen: Observation) -> Transitions:
    return (transition for transition in found if transition.admits(seen.outcome))


def step(
    namespace: Namespace, command: v.Command, connection: str = "c1"
) -> tuple[Transition, ...]:
    """Return every transition that the documents allow; there is always one."""
    return tuple(transitions(namespace, command, connection))


def _prepared(namespace: Namespace, command: v.Command) -> Namespace | None:
    """Return the namespace with all expired locks ended; `None` if there is no such queue."""
    name = None if isinstance(command, v.RestoreQueue) else v.concerned(command)
    if name is None:
        return namespace
    return prepared(with_partitions_of_topic(namespace, name), name)


def _confirmed(transition: Transition, command: v.Command, unsure: str) -> Transition:
    """Add the knowledge that an answer reveals beyond its effect.

    A refused message never arrives; the queue that was `unsure` exists once it has answered.
    """
    refused = isinstance(transition.outcome, v.Refused)
    if refused and isinstance(command, v.Send | v.Schedule):
        sent_to = transition.next.queues[command.queue]
        if transition.rules and command.message.body not in sent_to.bodies:
            told = never_arrives(sent_to, command.message.body, transition.rules[0])
            told = declined(told, command.message, "DUP-08")
            transition = evolve(transition, next=with_queue(transition.next, told))
    entity = transition.next.queues.get(v.concerned(command) or "")
    if entity is not None and entity.role is not None:
        rules = told_of_topics(entity, transition.rules)
        learned = returned(transition.next, entity)
        transition = evolve(transition, next=learned, rules=rules)
    more = shown_as_added(entity, command, transition.outcome)
    if transition.next.profile.tier is v.Tier.PREMIUM:
        more = (*shown_in_premium(transition.next, entity, command, transition.outcome), *more)
    if more:
        transition = evolve(transition, rules=(*transition.rules, *more))
    if refused or not unsure or isinstance(command, SWITCHING):
        return transition
    left = transition.next
    for name in (unsure, *v.dead_letter_queues_of(unsure)):
        known = left.queues.get(name)
        if known is not None and known.doubtful:
            left = with_queue(left, evolve(known, doubtful=False))
    return transition if left is transition.next else evolve(transition, next=left)


def _unanswered(namespace: Namespace, command: v.Command, connection: str) -> tuple[Namespace, ...]:
    """Return the states after an unanswered request, with its queues' names marked as pending."""
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
    if isinstance(command, v.CommitTransaction | v.RollBackTransaction):
        names = sent_to(namespace, command.transaction)
    return tuple(with_pending_effects(each, command, *names) for each in left)


def accept(possible: tuple[Namespace, ...], event: v.Event, *, explain: bool = True) -> Acceptance:
    """Return what remains possible after this event; nothing if no rule allows it.

    On a real clock the event has a time span, and every timer may fire anywhere in it. A request
    that was never answered keeps all its outcomes possible.

    Args:
        possible: the states before.
        event: the observed event.
        explain: whether to diagnose a violation: the broken rules and the allowed answers. A search
            over orders does not need that.
    """
    timed = _at(possible, event)
    if isinstance(event.outcome, v.Unsupported):
        return Acceptance(possible=timed)
    if isinstance(event.outcome, v.Indeterminate):
        left = (_unanswered(each, event.command, event.connection) for each in timed)
        return Acceptance(possible=_distinct(itertools.chain.from_iterable(left)))
    seen = Observation(event.outcome, event.witness)
    found = [
        transition
        for namespace in timed
        for transition in transitions(namespace, event.command, event.connection, seen)
    ]
    if not found:
        return _violation(timed, event, seen) if explain else Acceptance(possible=())
    command, refused = event.command, isinstance(event.outcome, v.Refused)
    if len(found) > 1 and refused and isinstance(command, v.Send | v.Schedule):
        known = all(command.queue in transition.next.queues for transition in found)
        found = for_whatever_reason(found, command) if known else found
    reached = (transition.next for transition in found)
    possible = _distinct(reached) if len(found) > 1 else tuple(reached)
    return Acceptance(possible=possible, rules=found[0].rules)


def _distinct(reached: Iterable[Namespace]) -> tuple[Namespace, ...]:
    """Return the distinct states reached; several only if an answer's meaning is open."""
    states: list[Namespace] = []
    for namespace in reached:
        if namespace not in states:
            states.append(namespace)
    return tuple(states)


def _at(possible: tuple[Namespace, ...], event: v.Event) -> tuple[Namespace, ...]:
    """Return the states at the time of an event; on a virtual clock, they have the time."""
    if possible[0].observability.clock is v.Clock.VIRTUAL:
        return possible
    called, latest = event.called, event.called if event.returned is None else event.returned
    timed = []
    for namespace in possible:
        before = namespace.now
        now = Window(max(called, before.earliest), max(latest, before.latest))
        timed.append(evolve(namespace, now=now))
    return tuple(timed)


def _violation(timed: tuple[Namespace, ...], event: v.Event, seen: Observation) -> Acceptance:
    allowed: list[Transition] = []
    for namespace in timed:
        for transition in transitions(namespace, event.command, event.connection):
            if len(allowed) < ALLOWED_SHOWN and all(
                transition.outcome != each.outcome for each in allowed
            ):
                allowed.append(transition)
    ready = _prepared(timed[0], event.command) or timed[0]
    rules = blamed(ready, event, seen, tuple(allowed))
    return Acceptance(possible=(), rules=rules, allowed=tuple(allowed))
