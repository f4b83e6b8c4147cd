"""Projections of the model's state to specs with several queues, or with transactions."""

from typing import Any

from immutables import Map

from busproof import vocabulary as v
from busproof.model.state import QueuedMessage
from busproof.tla.graphs.memory import Sent
from busproof.tla.graphs.model_state import Standing, record, word
from busproof.tla.values import Function, Value

__all__ = ["forwarding", "plain_transactions", "transactions"]

PROPERTIES = {"SessionId": "session_id", "PartitionKey": "partition_key", "MessageId": "message_id"}


def forwarding(standing: Standing, initial: Function) -> Value:
    """Return the state of `Forwarding`.

    In this spec a message for a partition that is down stays in its source until the partition is
    up.
    """
    names = [str(name) for name in initial["forward"]]  # type: ignore[union-attr]  # a function
    memory = standing.memory
    queues = {name: standing.queue(name) for name in names}
    return record(
        messages=tuple(_forwarded(standing, sent) for sent in memory.sent),
        forward=Map({name: word(queue.settings.forward_to) for name, queue in queues.items()}),
        down=frozenset((name, down) for name in names for down in queues[name].base.down),
        seen=frozenset(trace for name in names for trace in _remembered_ids(standing, name)),
    )


def _forwarded(standing: Standing, sent: Sent) -> Value:
    message = sent.message
    keys = (message.session_id, message.partition_key, message.message_id)
    queue, partition, state = v.owner_of(sent.path), sent.partition, "here"
    if standing.of(sent) is None:
        state = "removed" if v.is_dead_letter_queue(sent.path) else "completed"
        if sent.gone == "Send":
            queue, partition = _dropped_duplicate(standing, sent)
            state = "dropped"
    elif v.is_dead_letter_queue(sent.path):
        state = "dead"
    way = _way(standing, sent.queue, queue)
    if sent.waiting and len(way) > 1:
        way.pop()
        queue, partition = way[-1], sent.witnessed if len(way) == 1 else 0
    return (*map(word, keys), queue, partition or 0, len(way) - 1, state)


def _way(standing: Standing, source: str, last: str) -> list[str]:
    """Return the queues that a message passed, from its source to the last one."""
    way = [source]
    while way[-1] != last:
        onto = standing.queue(way[-1]).settings.forward_to
        if onto is None:
            break
        way.append(onto)
    return way


def _dropped_duplicate(standing: Standing, sent: Sent) -> tuple[str, int]:
    """Return the queue that dropped a duplicate, and the partition of its key there."""
    name = sent.queue
    while not (queue := standing.queue(name)).settings.duplicate_detection:
        if queue.settings.forward_to is None:
            break
        name = queue.settings.forward_to
    key = sent.message.session_id or sent.message.partition_key or sent.message.message_id
    return name, queue.homes.get(key or "", 0)


def _remembered_ids(standing: Standing, name: str) -> list[Value]:
    """Return the MessageIds that a queue remembers, without messages that wait for a partition."""
    queue = standing.queue(name)
    coming = {
        sent.message.message_id
        for sent in standing.memory.sent
        if sent.waiting and sent.path == name
    }
    return [
        (name, (PROPERTIES[key.source], key.value) if key else ("none", "none"), message_id)
        for key, message_id in queue.duplicates
        if message_id not in coming
    ]


def transactions(standing: Standing, initial: Function) -> Value:
    """Return the state of `Transactions`."""
    names = [str(name) for name in initial["phase"]]  # type: ignore[union-attr]  # a function
    spoilt = standing.memory.ended.spoilt
    return plain_transactions(
        record(
            messages=tuple(_in_transaction(standing, sent) for sent in standing.memory.sent),
            phase=Map({name: _phase(standing, name) for name in names}),
            spoilt=spoilt,
            up=standing.up(),
        )
    )


def _phase(standing: Standing, name: str) -> str:
    transaction, ended = standing.namespace.transactions.get(name), standing.memory.ended
    if transaction is None:
        return "none"
    if transaction.ended:
        return "committed" if name in ended.committed else "undone"
    return "dead" if transaction.doomed and name not in ended.spoilt else "open"


def _in_transaction(standing: Standing, sent: Sent) -> Value:
    message, name = sent.message, sent.transaction or ""
    keys = (message.session_id, message.partition_key, message.message_id)
    state = {"committed": "completed", "undone": "undone"}.get(_phase(standing, name), "pending")
    if isinstance(standing.of(sent), QueuedMessage):
        state = "available"
    partition = sent.partition or 0
    return (*map(word, keys), sent.queue, partition, name, state, sent.follows)


def plain_transactions(state: Function) -> Value:
    """Return the state without partitions and predecessors that do not matter any more."""
    messages: Any = state["messages"]
    spoilt: Any = state["spoilt"]
    there = {
        number for number, message in enumerate(messages, start=1) if message[6] == "available"
    }
    plain = []
    for *keys, queue, partition, name, place, follows in messages:
        lives = place in ("pending", "available") and name not in spoilt
        after = follows & there if lives else frozenset()
        never = place == "undone" or name in spoilt
        plain.append((*keys, queue, 0 if never else partition, name, place, after))
    return state.set("messages", tuple(plain))
