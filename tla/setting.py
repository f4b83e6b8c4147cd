"""Settings of a graph's comparison: its counterpart, its queues, and the known differences."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

__all__ = ["Difference", "Pin", "Setting"]


@attrs.frozen(kw_only=True)
class Pin:
    """A choice of the model that has only one candidate during a comparison.

    Attributes:
        to: the position of that candidate.
        why: why the spec does not have the others.
    """

    to: int
    why: str


@attrs.frozen(kw_only=True)
class Difference:
    """Edges that only one side has, where the documents leave the behaviour open.

    Attributes:
        only: the side that has them.
        op: the operation of the command.
        edges: how many such edges there are.
        why: what the documents leave open.
        reply: the kind of reply; empty for any kind.
    """

    only: str = attrs.field(validator=attrs.validators.in_(("spec", "model")))
    op: str
    edges: int = attrs.field(validator=attrs.validators.ge(1))
    why: str
    reply: str = ""

    def explains(self, only: str, operation: object, reply: tuple[Any, ...]) -> bool:
        """Return whether this is the difference of a reply that only one side has."""
        known = ("", reply[0], f"{reply[0]} {reply[-1]}")
        return self.only == only and self.op == operation and self.reply in known


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
    """The setting of a graph's comparison.

    Attributes:
        edges: how many edges the graph has.
        beside: the counterpart: the `model`, compared state by state, or the model as `clients`
            see it, compared reply by reply.
        bounded: the operations that the spec may lack even where they would have an effect.
        pinned: the name of each choice of the model that is fixed, with its candidate.
        differences: the edges that only one side has.
        unreached: how many states of the graph the model does not reach because of the differences.
        partitions: how many partitions a partitioned queue has.
        readings: each ambiguity with the reading that the spec takes.
        places: partition key to its partition.
        queue: settings of all queues.
        queues: name of a queue to its further settings.
        elsewhere: name of a queue to the partitions of keys that differ from `places` there.
        silent: the operations that no client requests, and that the model does at once.
        lock_ticks: how many ticks of the spec's clock a lock lasts.
        window_ticks: how many ticks of the spec's clock a duplicate window lasts.
    """

    edges: int = attrs.field(validator=attrs.validators.ge(0))
    beside: str = attrs.field(default="model", validator=attrs.validators.in_(("model", "clients")))
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
