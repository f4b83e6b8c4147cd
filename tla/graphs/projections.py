"""Projections of the model's state to the variables of each spec that has a graph.

A projection computes the `State` of a spec's module from the model's state, and from a client's
memory of what the model forgets. Some specs keep irrelevant details, such as when a cancelled
message was due; their own states are first reduced to a plain form.
"""

from collections.abc import Callable
from typing import Any, Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.errors import SpecificationError
from busproof.model.life_cycle import State
from busproof.model.state import QueuedMessage, ScheduledMessage
from busproof.tla.graphs.memory import Sent
from busproof.tla.graphs.model_state import Standing, connection_number, record, word
from busproof.tla.graphs.projections_of_queues import forwarding, plain_transactions, transactions
from busproof.tla.graphs.replies import Reply
from busproof.tla.values import Function, Value

__all__ = ["PROJECTIONS", "Projection", "projection_of"]

Fields = tuple[Any, ...]


@attrs.frozen
class Projection:
    """The projection to the variables of one spec.

    Attributes:
        of_model: the function from the model's state, and the spec's initial state, to the spec's
            state.
        of_spec: the function from a state of the spec to its plain form.
        tells: whether the partition in replies to sends is compared.
    """

    of_model: Callable[[Standing, Function], Value]
    of_spec: Callable[[Function], Value] = lambda state: state
    tells: bool = True

    def reply(self, reply: Reply) -> Reply:
        """Return the plain form of a reply."""
        return reply if self.tells or reply[0] != "Done" else ("Done", None)


def _is_dead(queued: QueuedMessage) -> bool:
    return v.is_dead_letter_queue(queued.entity.path)


def _in_queue(standing: Standing, sent: Sent) -> tuple[str, int, int, int]:
    """Return the state, delivery count, remaining ticks of lock, and front end of a message."""
    queued = standing.of(sent)
    if not isinstance(queued, QueuedMessage):
        return ("completed", 0, 0, 0)
    if _is_dead(queued):
        return ("dead", 0, 0, 0)
    if queued.state is State.ACTIVE:
        return ("available", queued.failed, 0, 0)
    if queued.cached_by is not None:
        front = connection_number(queued.cached_by)
        return ("cached", queued.failed, standing.lock(queued), front)
    return ("locked", queued.failed, standing.lock(queued), 0)


def partitioned_entity(standing: Standing, _initial: Function) -> Value:
    """Return the state of `PartitionedEntity`."""

    def brief(sent: Sent) -> Fields:
        key = word(sent.message.partition_key)
        state, count, left, front = _in_queue(standing, sent)
        return (key, sent.witnessed, state, count, left, front, sent.lost is not None)

    return record(messages=tuple(map(brief, standing.memory.sent)), up=standing.up())


def regular_entity(standing: Standing, _initial: Function) -> Value:
    """Return the state of `RegularEntity`."""

    def brief(sent: Sent) -> Fields:
        state, count, left, _ = _in_queue(standing, sent)
        return (word(sent.message.partition_key), state, count, left, sent.lost is not None)

    return record(messages=tuple(map(brief, standing.memory.sent)), up=bool(standing.up()))


def partition_key(standing: Standing, _initial: Function) -> Value:
    """Return the state of `PartitionKey`."""

    def brief(sent: Sent) -> Fields:
        message, is_here = sent.message, standing.of(sent) is not None
        keys = (message.session_id, message.partition_key, message.message_id)
        return (*map(word, keys), sent.witnessed, is_here)

    messages = tuple(map(brief, standing.memory.sent))
    return record(messages=messages, up=standing.up(), turn=frozenset())


def duplicate_detection(standing: Standing, _initial: Function) -> Value:
    """Return the state of `DuplicateDetection`."""

    def brief(sent: Sent) -> Fields:
        state = "available"
        if standing.of(sent) is None:
            state = "eliminated" if sent.gone == "Send" else "completed"
        return (_key(sent), word(sent.message.message_id), sent.witnessed, state)

    remembered = frozenset(
        record(
            key=(_property(key.source), key.value) if key is not None else ("none", "none"),
            message_id=message_id,
            left=standing.ticks(entry.until, "window"),
        )
        for (key, message_id), entry in standing.queue().duplicates.items()
    )
    messages = tuple(map(brief, standing.memory.sent))
    return record(messages=messages, remembered=remembered, up=standing.up())


def _property(source: str) -> str:
    """Return the specs' name for a property."""
    return {"SessionId": "session_id", "PartitionKey": "partition_key"}.get(source, "message_id")


def _key(sent: Sent) -> tuple[str, str]:
    message = sent.message
    if message.session_id is not None:
        return ("session_id", message.session_id)
    if message.partition_key is not None:
        return ("partition_key", message.partition_key)
    return ("message_id", word(message.message_id))


def _of_sessions(standing: Standing, names: list[str]) -> tuple[Value, Value, Value]:
    """Return, by session: its holder, the ticks of its lock, and the connections that lost it."""
    sessions = standing.queue().sessions
    holders, times, expired = {}, {}, {}
    for name in names:
        session = sessions.get(name)
        is_held = session is not None and session.holder is not None
        holders[name] = connection_number(session.holder) if session is not None else 0
        times[name] = standing.ticks(session.locked_until) if session and is_held else 0
        lost = standing.memory.expired.get(name, frozenset())
        expired[name] = frozenset(map(connection_number, lost))
    return Map(holders), Map(times), Map(expired)


def sessions(standing: Standing, initial: Function) -> Value:
    """Return the state of `Sessions`."""

    def brief(sent: Sent) -> Fields:
        state, count, _, _ = _in_queue(standing, sent)
        number = 0 if sent.witnessed is None else sent.witnessed
        return (word(sent.message.session_id), number, state, count, sent.lost is not None)

    holders, times, expired = _of_sessions(standing, _names(initial["holder"]))
    return record(
        messages=tuple(map(brief, standing.memory.sent)),
        holder=holders,
        time=times,
        expired=expired,
        up=standing.up(),
    )


def _names(function: Any) -> list[str]:
    return [str(name) for name in function]


def session_states(standing: Standing, initial: Function) -> Value:
    """Return the state of `SessionStates`."""
    names = _names(initial["holder"])
    holders, _, expired = _of_sessions(standing, names)
    states = {}
    for name in names:
        session = standing.queue().sessions.get(name)
        states[name] = word(None if session is None else session.state)
    return record(
        messages=tuple(
            (word(sent.message.session_id), "gone" if standing.of(sent) is None else "available")
            for sent in standing.memory.sent
        ),
        holder=holders,
        lost=expired,
        states=Map(states),
        up=standing.up(),
    )


def settlement(standing: Standing, _initial: Function) -> Value:
    """Return the state of `Settlement`; failed deliveries count up to the limit only."""
    most = standing.queue().settings.max_delivery_count

    def brief(sent: Sent) -> Fields:
        queued, place, left, reason = standing.of(sent), "gone", 0, "none"
        if isinstance(queued, QueuedMessage):
            place = "active" if queued.state in (State.ACTIVE, State.LOCKED) else "deferred"
            left = standing.lock(queued)
            if _is_dead(queued):
                place = "dead"
                too_many = queued.reason == "MaxDeliveryCountExceeded"
                reason = queued.reason if queued.reason and too_many else "of the receiver"
        lost, count = sent.lost is not None, min(sent.failed, most)
        return (sent.partition, place, count, left, lost, reason)

    return record(messages=tuple(map(brief, standing.memory.sent)), up=standing.up())


def scheduled(standing: Standing, _initial: Function) -> Value:
    """Return the state of `Scheduled`.

    In this spec a message stays scheduled if its partition is down when it is due.
    """

    def brief(sent: Sent) -> Fields:
        stored, place, due = standing.of(sent), "active", 0
        if stored is None:
            place = "cancelled" if sent.gone == "Cancel" else "gone"
        elif isinstance(stored, ScheduledMessage):
            place, due = "scheduled", standing.ticks(stored.due)
        elif sent.waiting and sent.scheduled is not None:
            place = "scheduled"
        key, later = word(sent.message.partition_key), sent.scheduled is not None
        return (key, sent.witnessed, place, due, sent.place, later)

    memory = standing.memory
    return record(messages=tuple(map(brief, memory.sent)), issued=memory.places, up=standing.up())


def plain_scheduled(state: Function) -> Value:
    """Return the state without the due times of messages that are not scheduled any more."""
    messages: Any = state["messages"]
    return state.set(
        "messages",
        tuple(
            (key, partition, place, due if place == "scheduled" else 0, number, later)
            for key, partition, place, due, number, later in messages
        ),
    )


PROJECTIONS: Final[dict[str, Projection]] = {
    "PartitionedEntity": Projection(partitioned_entity),
    "RegularEntity": Projection(regular_entity),
    "PartitionKey": Projection(partition_key),
    "DuplicateDetection": Projection(duplicate_detection),
    "Sessions": Projection(sessions),
    "SessionStates": Projection(session_states),
    "Settlement": Projection(settlement),
    "Scheduled": Projection(scheduled, plain_scheduled),
    "Forwarding": Projection(forwarding),
    "Transactions": Projection(transactions, plain_transactions, tells=False),
}
"""Name of a spec, without the prefix `MC` and the suffix `Props`, to its projection."""


def projection_of(module: str) -> Projection:
    """Return the projection for the spec with this root module.

    Raises:
        SpecificationError: the spec has no projection.
    """
    name = module.removeprefix("MC").removesuffix("Props")
    if name not in PROJECTIONS:
        raise SpecificationError(
            f"no projection of the model to the variables of {module}; there are some for "
            f"{', '.join(sorted(PROJECTIONS))} (tla/graphs/projections.py)"
        )
    return PROJECTIONS[name]
