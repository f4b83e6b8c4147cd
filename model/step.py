"""What the documents allow: every transition of a command, and what a seen one leaves possible."""

import itertools
from collections.abc import Iterable, Iterator

import attrs

from busproof.model import commands as c
from busproof.model.blaming import blamed
from busproof.model.dispatching import dispatched, lost
from busproof.model.duplicates import declined
from busproof.model.entities import concerned
from busproof.model.ledger import never_arrives
from busproof.model.outcomes import Event, Indeterminate, Refused, Unsupported
from busproof.model.returning import prepared
from busproof.model.state import Namespace, Queue, Subscription, Topic, with_queue
from busproof.model.topics import returned, told_of_topics, with_partitions_of_topic
from busproof.model.transition import NOTHING_SEEN, Sighting, Transition, refusal
from busproof.model.values import Clock, Error, RuleId, Window

__all__ = ["Acceptance", "accept", "step", "transitions"]

ALLOWED_SHOWN = 8
"""How many allowed answers a violation lists; more would not be read."""


@attrs.frozen(kw_only=True)
class Acceptance:
    """What an event leaves possible.

    Attributes:
        possible: the states that remain; none is a violation.
        rules: the rules that decided the event; of a violation, those that it breaks, first the
            one to blame.
        allowed: of a violation, what would have been allowed.
    """

    possible: tuple[Namespace, ...]
    rules: tuple[RuleId, ...] = ()
    allowed: tuple[Transition, ...] = ()


def transitions(
    namespace: Namespace,
    command: c.Command,
    connection: str = "c1",
    seen: Sighting = NOTHING_SEEN,
) -> Iterator[Transition]:
    """Every transition that the documents allow and that agrees with what was seen, lazily."""
    ready = _prepared(namespace, command)
    if ready is None:
        yield from _on_unknown_entity(namespace, command, seen, known=False)
        return
    for transition in dispatched(ready, command, connection, seen):
        if transition.admits(seen.outcome):
            yield _confirmed(transition, command)
    if _is_doubtful(ready, command):
        yield from _on_unknown_entity(namespace, command, seen, known=True)


def step(
    namespace: Namespace, command: c.Command, connection: str = "c1"
) -> tuple[Transition, ...]:
    """Every transition that the documents allow; never none."""
    return tuple(transitions(namespace, command, connection))


def _prepared(namespace: Namespace, command: c.Command) -> Namespace | None:
    """The namespace with all locks ended that have expired; `None` if there is no such queue."""
    name = concerned(command)
    if name is None:
        return namespace
    return prepared(with_partitions_of_topic(namespace, name), name)


def _on_unknown_entity(
    namespace: Namespace, command: c.Command, seen: Sighting, *, known: bool
) -> Iterator[Transition]:
    """TOPIC-19: what does not exist, or may not, cannot be asked."""
    subscribing = isinstance(command, c.CreateSubscription)
    rules = ("TOPIC-19",) if subscribing and not known else ()
    any_error = known or not subscribing
    transition = refusal(namespace, Error.NOT_FOUND, *rules, any_error=any_error)
    if transition.admits(seen.outcome):
        yield transition


def _is_doubtful(namespace: Namespace, command: c.Command) -> bool:
    queue = _entity(namespace, command)
    return queue is not None and queue.doubtful


def _entity(namespace: Namespace, command: c.Command) -> Queue | None:
    return namespace.queues.get(concerned(command) or "")


def _confirmed(transition: Transition, command: c.Command) -> Transition:
    """What an answer tells besides what it does.

    A message that was refused never arrives; a queue of whose creation nobody knew exists once it
    has answered.
    """
    if isinstance(transition.outcome, Refused) and isinstance(command, c.Send | c.Schedule):
        sent_to = transition.next.queues[command.queue]
        if transition.rules and command.message.body not in sent_to.bodies:
            told = never_arrives(sent_to, command.message.body, transition.rules[0])
            told = declined(told, command.message, "DUP-08")
            transition = attrs.evolve(transition, next=with_queue(transition.next, told))
    queue = _entity(transition.next, command)
    if queue is None:
        return transition
    if isinstance(queue.role, Subscription | Topic):
        rules = told_of_topics(queue, transition.rules)
        learned = returned(transition.next, queue)
        transition = attrs.evolve(transition, next=learned, rules=rules)
    if isinstance(transition.outcome, Refused) or not queue.doubtful:
        return transition
    known = attrs.evolve(transition.next.queues[queue.settings.queue], doubtful=False)
    return attrs.evolve(transition, next=with_queue(transition.next, known))


def accept(possible: tuple[Namespace, ...], event: Event, *, explain: bool = True) -> Acceptance:
    """What remains possible once this event was seen; nothing, if no rule allows it.

    On a real clock the event's own times say when it is; every timed transition may happen anywhere
    in between. A request that was never answered keeps all its ends possible.

    Args:
        possible: the states before.
        event: what was seen.
        explain: whether a violation says which rules it breaks, and what was allowed instead;
            whoever only tries an order need not pay for that.
    """
    timed = tuple(_at(namespace, event) for namespace in possible)
    if isinstance(event.outcome, Unsupported):
        return Acceptance(possible=timed)
    if isinstance(event.outcome, Indeterminate):
        prepared_ones = (_prepared(namespace, event.command) for namespace in timed)
        after = (
            (namespace,) if ready is None else lost(ready, event.command, event.connection)
            for namespace, ready in zip(timed, prepared_ones, strict=True)
        )
        return Acceptance(possible=_distinct(itertools.chain.from_iterable(after)))
    seen = Sighting(event.outcome, event.witness)
    found = [
        transition
        for namespace in timed
        for transition in transitions(namespace, event.command, event.connection, seen)
    ]
    if not found:
        return _violation(timed, event, seen) if explain else Acceptance(possible=())
    command, refused = event.command, isinstance(event.outcome, Refused)
    if len(found) > 1 and refused and isinstance(command, c.Send | c.Schedule):
        known = all(command.queue in transition.next.queues for transition in found)
        found = _for_one_reason(found, command) if known else found
    reached = _distinct(transition.next for transition in found)
    return Acceptance(possible=reached, rules=found[0].rules)


def _for_one_reason(found: list[Transition], command: c.Send | c.Schedule) -> list[Transition]:
    """The transitions of a refused send, whose message never arrives for the same reason in all.

    For which of several reasons it was refused is of no consequence. States that differed in it
    alone would double with every such send.
    """
    body = command.message.body
    queues = [transition.next.queues[command.queue] for transition in found]
    reasons = [each for queue in queues if isinstance(each := queue.bodies.get(body), str)]
    if not reasons:
        return found
    return [
        transition
        if isinstance(queue.bodies.get(body), tuple)
        else attrs.evolve(
            transition,
            next=with_queue(
                transition.next, attrs.evolve(queue, bodies=queue.bodies.set(body, reasons[0]))
            ),
        )
        for transition, queue in zip(found, queues, strict=True)
    ]


def _distinct(reached: Iterable[Namespace]) -> tuple[Namespace, ...]:
    """The states reached; several only where it is open what an answer means."""
    states: list[Namespace] = []
    for namespace in reached:
        if namespace not in states:
            states.append(namespace)
    return tuple(states)


def _at(namespace: Namespace, event: Event) -> Namespace:
    if namespace.vantage.clock is Clock.VIRTUAL:
        return namespace
    latest = event.called if event.returned is None else event.returned
    now = Window(max(event.called, namespace.now.earliest), max(latest, namespace.now.latest))
    return attrs.evolve(namespace, now=now)


def _violation(timed: tuple[Namespace, ...], event: Event, seen: Sighting) -> Acceptance:
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
