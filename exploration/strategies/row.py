"""What a row of the exploration's table is, and what rows leave behind for each other."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
from hypothesis import stateful
from hypothesis import strategies as st

from busproof.exploration.state import Receipt, Theme, World
from busproof.vocabulary.commands import (
    BeginTransaction,
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Receive,
    RestoreQueue,
)
from busproof.vocabulary.outcomes import Event, Received

__all__ = ["QUEUES", "RECEIPTS", "TRANSACTIONS", "Generator", "Made"]

QUEUES: Final = stateful.Bundle("queues")
"""What can be sent to or received from: queues, topics and subscriptions."""

RECEIPTS: Final = stateful.Bundle("receipts")
TRANSACTIONS: Final = stateful.Bundle("transactions")

Made = Callable[..., Command | None]
"""Makes a command of the world so far and of what was drawn; `None` if there is nothing to ask."""


@attrs.frozen(kw_only=True)
class Generator:
    """How one kind of command is made up.

    Attributes:
        kind: of command.
        draws: what is drawn for it, by name.
        make: the command, from the world and what was drawn; `None` if there is nothing to ask.
        weight: how often, beside the other rows.
        times: how many in a row, each made anew; an empty answer ends it.
        into: the bundles for what it leaves behind: the queue, the transaction or the receipt.
        when: whether there is anything to ask yet, whatever the bus has answered.
        themes: of the sequences in which it is asked; none stands for all.
        name: tells two rows of a kind apart.
        patient: whether an empty answer does not end it, and a message does.
    """

    kind: type[Command]
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
        """Return whether it can be asked now, in a sequence that is about this."""
        if self.themes and world.theme not in self.themes:
            return False
        return self.when is None or self.when(world)

    def until(self, event: Event) -> bool:
        """Whether a row of commands ends with this event: nothing was received, or at last."""
        came = isinstance(event.outcome, Received)
        return isinstance(event.command, Receive) and came is self.patient

    def left_behind(self, made: Command | None, receipt: Receipt | None) -> Any:
        """What later commands may refer to; the same whatever the bus has answered."""
        if not self.into:
            return None
        match made:
            case CreateQueue() | RestoreQueue() | CreateTopic() | CreateSubscription():
                return _as_queue(made)
            case BeginTransaction(transaction=name):
                return name
            case Receive():
                return receipt
            case _:
                return stateful.multiple()

    @property
    def label(self) -> str:
        """A name for the row, which is part of a Hypothesis rule's."""
        return self.name or self.kind.__name__.lower()


def _as_queue(
    made: CreateQueue | RestoreQueue | CreateTopic | CreateSubscription,
) -> CreateQueue:
    """A topic or a subscription as later commands refer to it: as a queue of its address."""
    if isinstance(made, CreateQueue):
        return made
    if isinstance(made, RestoreQueue):
        return CreateQueue(queue=made.queue)
    if isinstance(made, CreateTopic):
        return CreateQueue(queue=made.topic, partitioned=made.partitioned)
    path = f"{made.topic}/subscriptions/{made.subscription}"
    return CreateQueue(queue=path, requires_session=made.requires_session)
