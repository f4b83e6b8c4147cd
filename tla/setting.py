"""Settings of a graph's comparison: its counterpart, its setup, and the known differences."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

__all__ = ["Difference", "Pin", "Setting"]


@attrs.frozen(kw_only=True)
class Pin:
    """A choice of the model that is fixed during a comparison.

    Attributes:
        to: index of the only allowed candidate.
        why: why the spec lacks the other candidates.
    """

    to: int
    why: str


@attrs.frozen(kw_only=True)
class Difference:
    """Edges that only the spec or only the model has, where the documents leave the behavior open.

    Attributes:
        only: the side that has them.
        op: the command's operation.
        edges: number of such edges.
        why: what the documents leave open.
        reply: the kind of reply; empty for any.
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
    """The setting of a graph's comparison.

    Attributes:
        edges: number of edges of the graph.
        beside: the counterpart: the `model`, state by state, or the client `oracle`, reply by
            reply.
        looser: for the oracle, operation to why it may accept more replies than the spec has.
        bounded: operations that the spec may leave out even where they would have an effect.
        pinned: choice of the model to its fixed candidate.
        differences: edges that only one side has.
        unreached: number of graph states that the model does not reach because of the differences.
        partitions: number of partitions of a partitioned queue.
        readings: ambiguity to the reading that the spec takes.
        places: partition key to its partition.
        queue: settings of all queues.
        queues: queue to its additional settings.
        elsewhere: queue to the partitions of keys, where they differ from `places`.
        silent: operations that no client requests; the model performs them at once.
        lock_ticks: length of a lock in ticks of the spec's clock.
        window_ticks: length of a duplicate detection window in ticks of the spec's clock.
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
