"""Which rules an event breaks that nothing allowed."""

from typing import Final

from busproof.model.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    Command,
    Complete,
    GetSessionState,
    ListSessions,
    Peek,
    Receive,
    RenewSessionLock,
    Send,
    SetSessionState,
)
from busproof.model.keys import SESSION_ID, effective_key, home_name, interpretations, rule_of
from busproof.model.ledger import first_in_line
from busproof.model.outcomes import Done, Empty, Event, Peeked, Received, Refused
from busproof.model.peeking import in_order
from busproof.model.placing import home_of
from busproof.model.receiving import COUNTED_AGAIN, order_rule
from busproof.model.sending import REROUTING_TIMEOUT
from busproof.model.sighting import absence, recognised
from busproof.model.state import Key, Namespace, Queue, Stored
from busproof.model.transition import Sighting, Transition
from busproof.model.values import MessageView, RuleId

__all__ = ["blamed"]

_SESSION_RULES: Final[dict[type[Command], tuple[RuleId, ...]]] = {
    AcceptNextSession: ("SESS-06", "SESS-07"),
    RenewSessionLock: ("SESS-13", "SESS-12"),
    SetSessionState: ("SESS-17", "SESS-21", "SESS-12"),
    GetSessionState: ("SESS-17", "SESS-18", "SESS-19", "SESS-16", "SESS-20", "SESS-21", "SESS-12"),
    ListSessions: ("SESS-22",),
}


def blamed(
    namespace: Namespace, event: Event, seen: Sighting, allowed: tuple[Transition, ...]
) -> tuple[RuleId, ...]:
    """The rules broken, the one to blame first; never none.

    Where something had to happen and did not, they are the rules of what was allowed; where
    something impossible was shown, the rules that make it impossible.
    """
    command, outcome = event.command, event.outcome
    queue = namespace.queues.get(getattr(command, "queue", ""))
    rules: tuple[RuleId, ...] = ()
    if queue is not None:
        match command, outcome:
            case Receive(), Received(message=view):
                rules = _wrongly_given(namespace, queue, command, view, seen)
            case Receive(), Empty() | Refused():
                rules = _withheld(namespace, queue, command)
            case Peek(), Peeked(messages=views):
                rules = _wrongly_shown(namespace, queue, command, views, seen)
            case Send(), Done():
                rules = _wrongly_taken(namespace, queue, command, allowed)
            case Send(), Refused():
                rules = _wrongly_refused(namespace, queue, command, allowed)
            case Complete() | Abandon(), _:
                rules = ("LIFE-06",)
            case AcceptSession(), _:
                rules = ("LIFE-10",)
            case AcceptNextSession() | RenewSessionLock() | SetSessionState(), _:
                rules = _SESSION_RULES[type(command)]
            case GetSessionState() | ListSessions(), _:
                rules = _SESSION_RULES[type(command)]
    found = (*rules, *(rule for transition in allowed for rule in transition.rules))
    return tuple(dict.fromkeys(found)) or ("LIFE-01",)


def _wrongly_given(
    namespace: Namespace, queue: Queue, command: Receive, view: MessageView, seen: Sighting
) -> tuple[RuleId, ...]:
    candidates = list(recognised(namespace, queue, view, seen))
    if not candidates:
        return absence(namespace, queue, view)
    stored = candidates[0].stored
    if stored.message.session_id != command.session_id and command.session_id is not None:
        return (
            ("SESS-01",) if stored.message.session_id is None else ("SESS-04", "KEY-06", "LIFE-10")
        )
    if stored.lock is not None:
        return ("LIFE-02",)
    if stored.counted is not None and view.delivery_count not in (None, stored.counted):
        return (COUNTED_AGAIN.get(stored.returned or "", "LIFE-01"),)
    return _order_broken(queue, stored)


def _order_broken(queue: Queue, stored: Stored) -> tuple[RuleId, ...]:
    first = None if stored.line is None else first_in_line(queue, stored.line)
    if first is None or first.number >= stored.sent:
        return ("LIFE-10",)
    again = ("LIFE-04", "LIFE-05") if first.deliveries else ()
    return (order_rule(queue), *again)


def _withheld(namespace: Namespace, queue: Queue, command: Receive) -> tuple[RuleId, ...]:
    """A message was there and was not given."""
    if command.session_id is not None:
        return _withheld_from_session(queue, command.session_id)
    waiting = [
        stored for stored in queue.messages.values() if stored.certain and stored.lock is None
    ]
    returned = dict.fromkeys(stored.returned for stored in waiting if stored.returned)
    rules: tuple[RuleId, ...] = (*returned, "LIFE-09", "TXN-12", "LIFE-01")
    if queue.peeked:
        rules = (*rules, "LIFE-07")
    if any(stored.key is None and stored.message.message_id is not None for stored in waiting):
        rules = (*rules, "KEY-12")
    if namespace.now.earliest > queue.receivers.others_until >= 0:
        rules = ("LIFE-08", *rules)
    return rules


def _withheld_from_session(queue: Queue, session_id: str) -> tuple[RuleId, ...]:
    first = first_in_line(queue, Key(SESSION_ID, session_id))
    returned = (first.returned,) if first is not None and first.returned else ()
    rules: tuple[RuleId, ...] = (*returned, "LIFE-09", "LIFE-10", "SESS-05")
    return rules if queue.settings.partitioned else (*rules, "SESS-26")


def _wrongly_shown(
    namespace: Namespace,
    queue: Queue,
    command: Peek,
    views: tuple[MessageView, ...],
    seen: Sighting,
) -> tuple[RuleId, ...]:
    for view in views:
        found = list(recognised(namespace, queue, view, Sighting(seen.outcome)))
        if not found:
            return (*absence(namespace, queue, view), "LIFE-07")
        if command.session_id not in (None, found[0].stored.message.session_id):
            return ("SESS-23", "LIFE-07")
    return ("LIFE-07",) if not in_order(views) else ("LIFE-07", "KEY-01", "LIFE-12")


def _wrongly_taken(
    namespace: Namespace, queue: Queue, command: Send, allowed: tuple[Transition, ...]
) -> tuple[RuleId, ...]:
    """A send was accepted that had to be refused, or went where it must not go."""
    if all(isinstance(transition.outcome, Refused) for transition in allowed):
        return ()
    key = _key(namespace, queue, command)
    if key is None:
        keyless = ("KEY-15", "KEY-14") if queue.outages.any else ("KEY-14", "KEY-12")
        return (*keyless, "KEY-01")
    rules = rule_of(queue.settings, command.message, key)
    within: tuple[RuleId, ...] = ()
    if command.transaction is not None:
        within = ("TXN-10", "TXN-05")
    if home_name(namespace.profile, key) not in queue.homes:
        return (*within, "KEY-20", "KEY-03", *rules)
    if home_of(namespace, queue, key) & queue.recovered:
        within = ("KEY-20", *within)
    return (*within, *rules, "KEY-02")


def _wrongly_refused(
    namespace: Namespace, queue: Queue, command: Send, allowed: tuple[Transition, ...]
) -> tuple[RuleId, ...]:
    """A send was refused, or with another error, where it had to be accepted."""
    if all(isinstance(transition.outcome, Refused) for transition in allowed):
        return ()
    key = _key(namespace, queue, command)
    if command.transaction is not None:
        return () if key is None else ("TXN-02", "TXN-01", "TXN-09", "TXN-11")
    if key is None:
        if queue.outages.any:
            return ("KEY-15", "KEY-12")
        return ("KEY-18",) if command.timeout <= REROUTING_TIMEOUT else ("KEY-12",)
    message = command.message
    both = message.session_id is not None and message.session_id == message.partition_key
    wrong_place = ("KEY-02", *rule_of(queue.settings, message, key)) if queue.outages.any else ()
    return ("KEY-09", *wrong_place) if both else wrong_place


def _key(namespace: Namespace, queue: Queue, command: Send) -> Key | None:
    _, message = next(interpretations(namespace.profile, command.message))
    return effective_key(namespace, queue.settings, message)
