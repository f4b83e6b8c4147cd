"""What a graph is compared with, how that is set up, and what is known to differ."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

__all__ = ["Difference", "Pin", "Setting"]


@attrs.frozen(kw_only=True)
class Pin:
    """One choice of the model that has one candidate only in a comparison.

    Attributes:
        to: the candidate's place.
        why: the spec does not have the others.
    """

    to: int
    why: str


@attrs.frozen(kw_only=True)
class Difference:
    """Edges that only the spec or only the model has, where the documents leave it open.

    Attributes:
        only: who has them.
        op: the command's operation.
        edges: how many there are.
        why: what is left open.
        reply: the kind of reply; any, if empty.
    """

    only: str = attrs.field(validator=attrs.validators.in_(("spec", "model")))
    op: str
    edges: int = attrs.field(validator=attrs.validators.ge(1))
    why: str
    reply: str = ""


def _pins(entries: Mapping[str, Any]) -> dict[str, Pin]:
    return {
        name: entry if isinstance(entry, Pin) else Pin(**entry) for name, entry in entries.items()
    }


def _differences(entries: Iterable[Any]) -> tuple[Difference, ...]:
    return tuple(
        entry if isinstance(entry, Difference) else Difference(**entry) for entry in entries
    )


@attrs.frozen(kw_only=True)
class Setting:
    """What a graph is compared with, and how that is set up.

    Attributes:
        edges: how many edges the graph has.
        beside: the `model`, state by state, or the client `oracle`, answer by answer.
        looser: for the oracle, operation to why it may allow more replies to it than the spec has.
        bounded: operations that the spec need not offer wherever they would have an effect.
        pinned: choice of the model to the candidate that is taken.
        differences: the edges that only one of the two has.
        unreached: how many states of the graph the model does not come to for that.
        partitions: of a partitioned queue.
        readings: ambiguity to the reading that the spec takes.
        places: key to its partition.
        queue: what the queue is created with.
        queues: queue to what it alone is created with besides.
        elsewhere: queue to the partitions of keys there, where they are others.
        silent: operations that nobody asks for: the model takes them at once.
        lock_ticks: ticks of the spec's clock that make up a lock.
        window_ticks: ticks of the spec's clock that make up a duplicate window.
    """

    edges: int = attrs.field(validator=attrs.validators.ge(0))
    beside: str = attrs.field(default="model", validator=attrs.validators.in_(("model", "oracle")))
    looser: Mapping[str, str] = attrs.field(factory=dict)
    bounded: tuple[str, ...] = attrs.field(default=("Send",), converter=tuple)
    pinned: Mapping[str, Pin] = attrs.field(factory=dict, converter=_pins)
    differences: tuple[Difference, ...] = attrs.field(default=(), converter=_differences)
    unreached: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    partitions: int = attrs.field(default=2, validator=attrs.validators.ge(1))
    readings: Mapping[str, str] = attrs.field(factory=dict)
    places: Mapping[str, int] = attrs.field(factory=dict)
    queue: Mapping[str, Any] = attrs.field(factory=dict)
    queues: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    elsewhere: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)
    silent: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    lock_ticks: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    window_ticks: int = attrs.field(default=1, validator=attrs.validators.ge(1))
