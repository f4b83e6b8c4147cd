"""Faults in the views of messages, alike in receives and in peeks."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.model.rules import Namespace
from busproof.model.state import QueuedMessage
from busproof.mutants.mutant import Function, mutant
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import Run
from busproof.mutants.wrappers import tells

Views = tuple[v.MessageView, ...]


def showing(
    change: Callable[[QueuedMessage, v.MessageView], v.MessageView],
) -> Mapping[str, Callable[..., Any]]:
    """Return replacements for the functions that make views, which change the views by `how`."""

    def shows(usual: Callable[..., v.MessageView]) -> Callable[..., v.MessageView]:
        def show(namespace: Namespace, queued: QueuedMessage, *rest: Any) -> v.MessageView:
            return change(queued, usual(namespace, queued, *rest))

        return show

    def peeked(namespace: Namespace, command: v.Peek, connection: str, usual: Views) -> Views:
        there = namespace.rules.topics.readable(command.queue).messages
        messages = [there.get(view.sequence_number or 0) for view in usual]
        pairs = zip(messages, usual, strict=True)
        return tuple(change(queued, view) if queued else view for queued, view in pairs)

    return {
        "messages.give": shows(RULES.messages.give),
        "partitions.hand_out": shows(RULES.partitions.hand_out),
        "deferral.give": shows(RULES.deferral.give),
        "partitions.peek": tells("messages")(RULES.partitions.peek, peeked),
    }


def without(views: Views, state: v.MessageState) -> Views:
    """Return the views without those of messages in this state."""
    return tuple(view for view in views if view.state is not state)


def as_active(views: Views, state: v.MessageState) -> Views:
    """Return the views, with messages in this state shown as active."""
    active = v.MessageState.ACTIVE
    return tuple(
        attrs.evolve(view, state=active) if view.state is state else view for view in views
    )


def shown(rule: v.RuleId, run: Run = (), **more: Any) -> Callable[[Function], Function]:
    """Return the decorator of a function that changes a view of a message."""

    def collect(change: Function) -> Function:
        also = {**showing(change), **more.pop("also", {})}
        return mutant(rule, "", run, also=also, **more)(change)

    return collect
