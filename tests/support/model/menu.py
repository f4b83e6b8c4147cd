"""Conceivable outcomes of a command on a namespace of the model, whether or not it allows them."""

from collections.abc import Iterable, Iterator, Set
from functools import singledispatch
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.model import Namespace
from busproof.model.answers import view_of
from busproof.model.state import QueuedMessage

__all__ = ["Seen", "conceivable"]

Seen = tuple[v.Outcome, int | None]
"""An outcome, and the partition that took what was sent."""

SECOND = v.MICROSECONDS
UNSEEN = frozenset({"stands_in", "size", "lock_token"})
"""Bookkeeping of the suite's, and names of locks, which are the bus's own affair."""
UNTOLD = frozenset({"time_to_live"})
"""No rule says what a message tells of it: each hop of AMQP may lower it, and a bus may cut it."""
SESSIONS = ("a", "b")


def conceivable(namespace: Namespace, command: v.Command, ways: Iterable[Seen]) -> Iterator[Seen]:
    """Every refusal, every plain answer, messages from anywhere, and near misses of the ways."""
    outcomes: list[v.Outcome] = [v.Refused(error=error) for error in v.Error]
    if not isinstance(command, v.AdvanceClock):
        outcomes.append(v.Empty())
        outcomes += answers(namespace, command)
    for way, _ in ways:
        outcomes += near(way)
    yield from ((outcome, None) for outcome in outcomes)
    if isinstance(command, v.Send | v.SendBatch):
        # The partition of a regular entity means nothing, and is not asked.
        entity = namespace.entities.get(command.queue)
        several = entity is not None and entity.settings.partitioned
        for partition in range(namespace.profile.partitions + 1 if several else 1):
            yield v.Done(), partition


def answers(namespace: Namespace, command: v.Command) -> Iterator[v.Outcome]:
    """What a command of this kind may be answered that is no refusal."""
    match command:
        case v.Receive():
            yield from (v.Received(message=view) for view in views(namespace, command.mode))
        case v.ReceiveBatch() | v.ReceiveDeferred():
            shown = views(namespace, command.mode)
            yield from (v.ReceivedSeveral(messages=(view,)) for view in shown)
        case v.AcceptNextSession():
            yield from (v.SessionAccepted(session_id=name) for name in (*SESSIONS, "none"))
        case v.GetSessionState():
            yield from (v.SessionState(state=state) for state in (None, "x", "y"))
        case v.ListSessions():
            listed = ((), ("a",), ("b",), SESSIONS, ("none",))
            yield from (v.SessionsListed(session_ids=names) for names in listed)
    if not isinstance(command, v.Send | v.SendBatch):
        yield v.Done()


def views(namespace: Namespace, mode: v.ReceiveMode) -> Iterator[v.MessageView]:
    """Each message of the namespace as a receive would show it, were it given."""
    for entity in namespace.entities.values():
        for queued in entity.messages.values():
            yield as_given(namespace, queued, mode)
        for waiting in entity.scheduled.values():
            view = v.MessageView.of(waiting.message, sequence_number=waiting.number)
            until = namespace.now + entity.settings.lock_duration
            locked = {"delivery_count": 1, "lock_token": f"{waiting.number}/1"}
            unlocked = mode is v.ReceiveMode.RECEIVE_AND_DELETE
            yield view if unlocked else attrs.evolve(view, locked_until=until, **locked)


def as_given(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
    """A message as it would be received now, whatever its state."""
    if mode is v.ReceiveMode.RECEIVE_AND_DELETE:
        return view_of(queued)
    until = namespace.now + queued.entity.settings.lock_duration
    if queued.session is not None:
        until = queued.session.locked_until
    return attrs.evolve(
        view_of(queued),
        delivery_count=queued.failed + 1,
        lock_token=f"{queued.number}/{queued.deliveries + 1}",
        locked_until=until,
    )


@singledispatch
def near(_: Any) -> Iterator[v.Outcome]:
    """Outcomes that differ from one in a detail."""
    yield from ()


@near.register
def _(outcome: v.Received) -> Iterator[v.Outcome]:
    for view in near_views(outcome.message):
        yield v.Received(message=view)


@near.register(v.ReceivedSeveral)
@near.register(v.Peeked)
def _(outcome: v.ReceivedSeveral | v.Peeked) -> Iterator[v.Outcome]:
    kind, messages = type(outcome), outcome.messages
    yield kind(messages=())
    if not messages:
        return
    yield kind(messages=messages[:-1])
    yield kind(messages=messages[1:])
    yield kind(messages=messages[::-1])
    yield kind(messages=(*messages, messages[0]))
    for view in near_views(messages[0]):
        yield kind(messages=(view, *messages[1:]))


@near.register
def _(outcome: v.Scheduled) -> Iterator[v.Outcome]:
    number = outcome.sequence_number or 0
    for other in (number - 1, number + 1, number + (1 << v.SEQUENCE_BITS)):
        yield v.Scheduled(sequence_number=max(other, 0))


@near.register
def _(outcome: v.Renewed) -> Iterator[v.Outcome]:
    until = outcome.locked_until
    if until is not None:
        for other in (until - SECOND, until - 1, until + 1, until + SECOND):
            yield v.Renewed(locked_until=max(other, 0))


@near.register
def _(outcome: v.RenewedSeveral) -> Iterator[v.Outcome]:
    yield v.RenewedSeveral(locked_until=(*outcome.locked_until, 0))
    for other in (1, -1, SECOND, -SECOND):
        ends = tuple(max((end or 0) + other, 0) for end in outcome.locked_until)
        yield v.RenewedSeveral(locked_until=ends)


@near.register
def _(outcome: v.Deleted) -> Iterator[v.Outcome]:
    for count in (outcome.count + 1, max(outcome.count - 1, 0)):
        yield v.Deleted(count=count)


@near.register
def _(outcome: v.Listed) -> Iterator[v.Outcome]:
    yield v.Listed(names=outcome.names[1:])
    yield v.Listed(names=(*outcome.names, "no entity"))
    yield v.Listed(names=(*outcome.names, *outcome.names[:1]))


@near.register
def _(outcome: v.RulesListed) -> Iterator[v.Outcome]:
    rules = outcome.rules
    yield v.RulesListed(rules=rules[1:])
    yield v.RulesListed(rules=(*rules, v.SubscriptionRule(name="no", filter=v.TrueFilter())))
    if rules:
        yield v.RulesListed(rules=(attrs.evolve(rules[0], action="SET a = 1"), *rules[1:]))


@near.register(v.Described)
@near.register(v.TopicDescribed)
def _(outcome: v.Described | v.TopicDescribed) -> Iterator[v.Outcome]:
    for description in near_values(outcome.description):
        yield type(outcome)(description=description)


def near_views(view: v.MessageView) -> Iterator[v.MessageView]:
    """Views that differ in one property; what is left out is never held against a bus."""
    yield from near_values(view, but=UNSEEN | UNTOLD)
    number = view.sequence_number
    if number is not None:
        yield attrs.evolve(view, sequence_number=number + (1 << v.SEQUENCE_BITS))


def near_values(thing: Any, but: Set[str] = UNSEEN) -> Iterator[Any]:
    """A value with one of its fields changed."""
    for field in attrs.fields(type(thing)):
        if field.name in but:
            continue
        value = getattr(thing, field.name)
        for other in near_value(field.name, value):
            yield attrs.evolve(thing, **{field.name: other})


def near_value(name: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, v.Availability | v.MessageState):
        return tuple(each for each in type(value) if each is not value)
    if name in ("locked_until", "lock_duration", "duplicate_window", "time_to_live"):
        return () if value is None else (value + 1, value - SECOND)
    if isinstance(value, int):
        return (value + 1, *((value - 1,) if value > 0 else ()))
    if isinstance(value, str):
        return (value + "?",)
    return ()
