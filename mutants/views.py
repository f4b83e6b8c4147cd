"""Faults in what is shown of messages, wherever they are received or peeked."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Namespace, QueuedMessage
from busproof.mutants.mutant import Function, mutant
from busproof.mutants.runs import Run

__all__ = ["peeked", "showing", "shown"]


def showing(
    change: Callable[[QueuedMessage, v.MessageView], v.MessageView],
) -> Mapping[str, Callable[..., Any]]:
    """Return the functions that show messages, replaced so that they show them changed."""

    def give(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        return change(queued, RULES.messages.give(namespace, queued, mode))

    def hand_out(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        return change(queued, RULES.partitions.hand_out(namespace, queued, mode))

    def deferred(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        return change(queued, RULES.deferral.give(namespace, queued, mode))

    def peek(namespace: Namespace, command: v.Peek, connection: str) -> Answer:
        there = namespace.rules.topics.readable(namespace, command.queue).messages

        def changed(views: tuple[v.MessageView, ...]) -> Iterable[v.MessageView]:
            for view in views:
                queued = there.get(view.sequence_number or 0)
                yield view if queued is None else change(queued, view)

        return peeked(namespace, command, connection, changed)

    return {
        "messages.give": give,
        "partitions.hand_out": hand_out,
        "deferral.give": deferred,
        "partitions.peek": peek,
    }


def peeked(
    namespace: Namespace,
    command: v.Peek,
    connection: str,
    change: Callable[[tuple[v.MessageView, ...]], Iterable[v.MessageView]],
) -> Answer:
    """Peek, and change what is shown."""
    answer = RULES.partitions.peek(namespace, command, connection)
    if isinstance(answer.outcome, v.Peeked):
        answer.outcome = v.Peeked(messages=tuple(change(answer.outcome.messages)))
    return answer


def shown(rule: v.RuleId, run: Run, **more: Any) -> Callable[[Function], Function]:
    """Return the decorator of a function that changes what is shown of a message."""

    def collect(change: Function) -> Function:
        also = {**showing(change), **more.pop("also", {})}
        return mutant(rule, "", run, also=also, **more)(change)

    return collect
