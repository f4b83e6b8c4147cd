"""Definition of a generator: a row of the table, and the values that it leaves for other rows."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
from hypothesis import stateful
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import Receipt, Theme, World

__all__ = ["QUEUES", "RECEIPTS", "TRANSACTIONS", "Generator", "Made"]

QUEUES: Final = stateful.Bundle("queues")
"""Entities to send to or receive from: queues, topics and subscriptions."""

RECEIPTS: Final = stateful.Bundle("receipts")
TRANSACTIONS: Final = stateful.Bundle("transactions")

Made = Callable[..., v.Command | None]
"""A function that makes a command from the world and drawn values, or `None` for no command."""


@attrs.frozen(kw_only=True)
class Generator:
    """A generator of one kind of command.

    Attributes:
        kind: the kind of command.
        draws: strategies for the drawn values, by name.
        make: function that makes the command from the world and the drawn values, or `None`.
        weight: frequency, relative to the other rows.
        times: strategy for the number of commands in a row, each made anew; an empty answer ends
            them.
        into: bundles that receive the queue, the transaction or the receipt.
        when: function that returns whether the row makes sense yet; must not depend on answers of
            the bus.
        themes: themes of the sequences that use the row; empty for all.
        name: name that distinguishes rows of the same kind.
        patient: whether a message, instead of an empty answer, ends the repetition.
    """

    kind: type[v.Command]
    draws: Mapping[str, Any]
    make: Made
    weight: int = 1
    times: st.SearchStrategy[int] | None = None
    into: tuple[Any, ...] = ()
    when: Callable[[World], bool] | None = None
    themes: tuple[Theme, ...] = ()
    name: str = ""
    patient: bool = False

    def suits(self, world: World) -> bool:
        """Return whether the row fits the theme and the state of a sequence."""
        if self.themes and world.theme not in self.themes:
            return False
        return self.when is None or self.when(world)

    def until(self, event: v.Event) -> bool:
        """Return whether a receive ends the repetition: by a message if `patient`, else by none."""
        came = isinstance(event.outcome, v.Received)
        return isinstance(event.command, v.Receive) and came is self.patient

    def left_behind(self, made: v.Command | None, receipt: Receipt | None) -> Any:
        """Return the value to keep for later commands; it does not depend on the bus's answers."""
        if not self.into:
            return None
        match made:
            case v.CreateQueue() | v.RestoreQueue() | v.CreateTopic() | v.CreateSubscription():
                return _make_queue(made)
            case v.BeginTransaction(transaction=name):
                return name
            case v.Receive():
                return receipt
            case _:
                return stateful.multiple()

    @property
    def label(self) -> str:
        """Name of the row within the names of its Hypothesis rules."""
        return self.name or self.kind.__name__.lower()


def _make_queue(
    made: v.CreateQueue | v.RestoreQueue | v.CreateTopic | v.CreateSubscription,
) -> v.CreateQueue:
    """Return a topic or a subscription as later commands use it: as a queue at its path."""
    if isinstance(made, v.CreateQueue):
        return made
    if isinstance(made, v.RestoreQueue):
        return v.CreateQueue(queue=made.queue)
    if isinstance(made, v.CreateTopic):
        return v.CreateQueue(queue=made.topic, partitioned=made.partitioned)
    path = f"{made.topic}/subscriptions/{made.subscription}"
    return v.CreateQueue(queue=path, requires_session=made.requires_session)
