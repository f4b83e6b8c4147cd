"""Faults in the views of messages, alike in receives and in peeks."""

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.model import Family
from busproof.model.deferral import Deferral
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.state import QueuedMessage
from busproof.mutants.mutant import mutant
from busproof.mutants.runs import Run
from busproof.mutants.wrappers import tells

Views = tuple[v.MessageView, ...]
Change = TypeVar("Change", bound=Callable[[QueuedMessage, v.MessageView], v.MessageView])


def showing(
    change: Callable[[QueuedMessage, v.MessageView], v.MessageView],
) -> tuple[type[Family], ...]:
    """Return families whose views of messages are changed."""

    class ShowingMessages(Messages):
        def give(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
            return change(queued, super().give(queued, mode))

    class ShowingDeferral(Deferral):
        def give(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
            return change(queued, super().give(queued, mode))

    class ShowingPartitions(Partitions):
        def hand_out(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
            return change(queued, super().hand_out(queued, mode))

        @tells("messages")
        def peek(self, command: v.Peek, usual: Views) -> Views:
            there = self.rules.topics.readable(command.queue).messages
            messages = [there.get(view.sequence_number or 0) for view in usual]
            pairs = zip(messages, usual, strict=True)
            return tuple(change(queued, view) if queued else view for queued, view in pairs)

    return ShowingMessages, ShowingDeferral, ShowingPartitions


def without(views: Views, state: v.MessageState) -> Views:
    """Return the views without those of messages in this state."""
    return tuple(view for view in views if view.state is not state)


def as_active(views: Views, state: v.MessageState) -> Views:
    """Return the views, with messages in this state shown as active."""
    active = v.MessageState.ACTIVE
    return tuple(
        attrs.evolve(view, state=active) if view.state is state else view for view in views
    )


def changes_view(
    rule: v.RuleId, run: Run = (), *, also: tuple[type[Family], ...] = (), **more: Any
) -> Callable[[Change], Change]:
    """Return the decorator of a function that changes a view of a message, which names a mutant."""

    def collect(change: Change) -> Change:
        name = "".join(word.capitalize() for word in change.__name__.split("_"))
        named = {"__doc__": change.__doc__, "__module__": change.__module__}
        mutant(rule, run, also=(*showing(change), *also), **more)(type(name, (), named))
        return change

    return collect
