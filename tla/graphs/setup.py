"""Creation of a graph's queues, as its setting describes them."""

from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter

from busproof import vocabulary as v
from busproof.errors import SpecificationError
from busproof.tla.graphs.command_mapping import QUEUE
from busproof.tla.manifest import Setting

__all__ = ["creations"]


def creations(setting: Setting, commands: Iterator[Mapping[str, object]]) -> list[v.CreateQueue]:
    """Return the commands that create the queues of a graph; destinations come first."""
    names = {str(command.get("queue", QUEUE)) for command in commands} | setting.queues.keys()
    try:
        by_name = {name: _creation(setting, name) for name in sorted(names or {QUEUE})}
    except (TypeError, ValueError) as error:
        raise SpecificationError(f"the setting's queue cannot be created: {error}") from None
    onward = {
        name: [onto for onto in by_name if onto == creation.forward_to]
        for name, creation in by_name.items()
    }
    return [by_name[name] for name in TopologicalSorter(onward).static_order()]


def _creation(setting: Setting, name: str) -> v.CreateQueue:
    return v.CreateQueue(queue=name, **{**setting.queue, **setting.queues.get(name, {})})
