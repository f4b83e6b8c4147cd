"""What the documents allow: every transition of a command, and what a seen one leaves possible."""

from collections.abc import Iterator
from typing import assert_never

import attrs

from busproof.model import commands as c
from busproof.model.blaming import blamed
from busproof.model.deferral import defer, lost_defer, lost_receive_deferred, receive_deferred
from busproof.model.ledger import never_arrives
from busproof.model.locks import lost_renew_lock, renew_lock
from busproof.model.outcomes import Event, Indeterminate, Refused, Unsupported
from busproof.model.peeking import peek
from busproof.model.queues import (
    advance_clock,
    bring_up,
    create_queue,
    lost_advance,
    lost_create,
    lost_outage,
    take_down,
)
from busproof.model.receiving import lost_receive, receive
from busproof.model.returning import prepared
from busproof.model.sending import lost_send, send
from busproof.model.session_states import get_state, list_sessions, lost_set_state, set_state
from busproof.model.sessions import (
    accept_next,
    accept_session,
    close_session,
    lost_accept,
    lost_accept_next,
    lost_close,
    lost_renew,
    renew,
)
from busproof.model.settling import (
    abandon,
    complete,
    dead_letter,
    lost_abandon,
    lost_complete,
    lost_dead_letter,
)
from busproof.model.state import Namespace, with_queue
from busproof.model.transactions import (
    begin,
    commit,
    lost_begin,
    lost_commit,
    lost_roll_back,
    roll_back,
)
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
        yield from _on_unknown_queue(namespace, seen)
        return
    for transition in _dispatched(ready, command, connection, seen):
        if transition.admits(seen.outcome):
            yield _confirmed(transition, command)
    if _is_doubtful(ready, command):
        yield from _on_unknown_queue(namespace, seen)


def step(
    namespace: Namespace, command: c.Command, connection: str = "c1"
) -> tuple[Transition, ...]:
    """Every transition that the documents allow; never none."""
    return tuple(transitions(namespace, command, connection))


def _prepared(namespace: Namespace, command: c.Command) -> Namespace | None:
    """The namespace with all locks ended that have expired; `None` if there is no such queue."""
    name = getattr(command, "queue", None)
    if name is None or isinstance(command, c.CreateQueue):
        return namespace
    return prepared(namespace, name)


def _on_unknown_queue(namespace: Namespace, seen: Sighting) -> Iterator[Transition]:
    transition = refusal(namespace, Error.NOT_FOUND, any_error=True)
    if transition.admits(seen.outcome):
        yield transition


def _is_doubtful(namespace: Namespace, command: c.Command) -> bool:
    queue = namespace.queues.get(getattr(command, "queue", ""))
    return queue is not None and queue.doubtful and not isinstance(command, c.CreateQueue)


def _confirmed(transition: Transition, command: c.Command) -> Transition:
    """What an answer tells besides what it does.

    A message that was refused never arrives; a queue of whose creation nobody knew exists once it
    has answered.
    """
    if isinstance(transition.outcome, Refused) and isinstance(command, c.Send):
        queue = transition.next.queues[command.queue]
        if transition.rules and command.message.body not in queue.bodies:
            told = never_arrives(queue, command.message.body, transition.rules[0])
            return attrs.evolve(transition, next=with_queue(transition.next, told))
    if isinstance(transition.outcome, Refused) or not _is_doubtful(transition.next, command):
        return transition
    queue = transition.next.queues[getattr(command, "queue", "")]
    known = with_queue(transition.next, attrs.evolve(queue, doubtful=False))
    return attrs.evolve(transition, next=known)


def _dispatched(
    namespace: Namespace, command: c.Command, connection: str, seen: Sighting
) -> Iterator[Transition]:
    match command:
        case c.Send():
            return send(namespace, command, seen)
        case c.Receive():
            return receive(namespace, command, connection, seen)
        case c.Complete():
            return complete(namespace, command)
        case c.Abandon():
            return abandon(namespace, command)
        case c.DeadLetter():
            return dead_letter(namespace, command)
        case c.Defer():
            return defer(namespace, command)
        case c.ReceiveDeferred():
            return receive_deferred(namespace, command, connection, seen)
        case c.RenewLock():
            return renew_lock(namespace, command, seen)
        case c.Peek():
            return peek(namespace, command, seen)
        case c.AcceptSession():
            return accept_session(namespace, command, connection)
        case c.CloseSession():
            return close_session(namespace, command, connection)
        case c.AcceptNextSession():
            return accept_next(namespace, command, connection, seen)
        case c.RenewSessionLock():
            return renew(namespace, command, connection, seen)
        case c.SetSessionState():
            return set_state(namespace, command, connection)
        case c.GetSessionState():
            return get_state(namespace, command, connection, seen)
        case c.ListSessions():
            return list_sessions(namespace, command, seen)
        case c.BeginTransaction():
            return begin(namespace, command)
        case c.CommitTransaction():
            return commit(namespace, command)
        case c.RollBackTransaction():
            return roll_back(namespace, command)
        case c.CreateQueue():
            return create_queue(namespace, command)
        case c.TakePartitionDown():
            return take_down(namespace, command)
        case c.BringPartitionUp():
            return bring_up(namespace, command)
        case c.AdvanceClock():
            return advance_clock(namespace, command)
        case _:
            assert_never(command)


def _lost(namespace: Namespace, command: c.Command, connection: str) -> Namespace:
    """The state after a request that was never answered, all its ends kept possible."""
    match command:
        case c.Send():
            return lost_send(namespace, command)
        case c.Receive():
            return lost_receive(namespace, command, connection)
        case c.Complete():
            return lost_complete(namespace, command)
        case c.Abandon():
            return lost_abandon(namespace, command)
        case c.DeadLetter():
            return lost_dead_letter(namespace, command)
        case c.Defer():
            return lost_defer(namespace, command)
        case c.ReceiveDeferred():
            return lost_receive_deferred(namespace, command)
        case c.RenewLock():
            return lost_renew_lock(namespace, command)
        case c.Peek() | c.GetSessionState() | c.ListSessions():
            return namespace
        case c.AcceptSession():
            return lost_accept(namespace, command, connection)
        case c.CloseSession():
            return lost_close(namespace, command)
        case c.AcceptNextSession():
            return lost_accept_next(namespace, command, connection)
        case c.RenewSessionLock():
            return lost_renew(namespace, command)
        case c.SetSessionState():
            return lost_set_state(namespace, command)
        case c.BeginTransaction():
            return lost_begin(namespace, command)
        case c.CommitTransaction():
            return lost_commit(namespace, command)
        case c.RollBackTransaction():
            return lost_roll_back(namespace, command)
        case c.CreateQueue():
            return lost_create(namespace, command)
        case c.TakePartitionDown() | c.BringPartitionUp():
            return lost_outage(namespace, command)
        case c.AdvanceClock():
            return lost_advance(namespace, command)
        case _:
            assert_never(command)


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
        lost = (_prepared(namespace, event.command) for namespace in timed)
        return Acceptance(
            possible=tuple(
                _lost(ready, event.command, event.connection) if ready is not None else namespace
                for namespace, ready in zip(timed, lost, strict=True)
            )
        )
    seen = Sighting(event.outcome, event.witness)
    found = [
        transition
        for namespace in timed
        for transition in transitions(namespace, event.command, event.connection, seen)
    ]
    if not found:
        return _violation(timed, event, seen) if explain else Acceptance(possible=())
    if len(found) > 1 and isinstance(event.command, c.Send) and isinstance(event.outcome, Refused):
        found = _for_one_reason(found, event.command)
    return Acceptance(possible=_distinct(found), rules=found[0].rules)


def _for_one_reason(found: list[Transition], command: c.Send) -> list[Transition]:
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


def _distinct(found: list[Transition]) -> tuple[Namespace, ...]:
    """The states reached; several only where it is open what an answer means."""
    if len(found) == 1:
        return (found[0].next,)
    states: list[Namespace] = []
    for transition in found:
        if transition.next not in states:
            states.append(transition.next)
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
