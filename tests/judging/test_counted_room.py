"""What the model counts of a queue's room, step by step, is what its messages take of it."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping

import attrs
import pytest
from exploring import explored

from busproof.adapters.base import Adapter
from busproof.adapters.model import ModelAdapter
from busproof.oracle.state import Namespace, Queue, fresh_namespace
from busproof.oracle.step import accept
from busproof.spec import load
from busproof.vocabulary.commands import Schedule, Send
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import profile_for

SEQUENCES = 300 if os.environ.get("BUSPROOF_SIZE") == "full" else 12


def sums(taken: Iterable[tuple[object, int]]) -> Mapping[object, int]:
    found: Counter[object] = Counter()
    for what, size in taken:
        found[what] += size
    return +found


def weighed(queue: Queue) -> tuple[Mapping[object, int], ...]:
    """What is surely there, by its partitions, what of it is apart, by keys, and planned."""
    there = [(each, each.message.size or 0) for each in queue.messages.values() if each.certain]
    waiting = [each for each in queue.calendar.entries.values() if each.certain]
    return (
        sums((each.where, size) for each, size in there),
        sums((each.where, size) for each, size in there if each.lock or each.deferred),
        sums((each.key, size) for each, size in there if each.key is not None),
        sums(("planned", each.message.size or 0) for each in waiting),
        sums(mortal(each.message) for each in (*(stored for stored, _ in there), *waiting)),
    )


def mortal(message: Message) -> tuple[str, int]:
    return "mortal", 0 if message.time_to_live is None else message.size or 0


def counted(queue: Queue) -> tuple[Mapping[object, int], ...]:
    room = queue.room
    mortal = {"mortal": room.mortal + queue.calendar.mortal}
    planned = {"planned": queue.calendar.size}
    maps = (room.certain, room.apart, room.keys, planned, mortal)
    return tuple(sums(each.items()) for each in maps)


def checked(namespace: Namespace) -> int:
    """How many queues hold something that says how large it is, each counted right."""
    for queue in namespace.queues.values():
        assert weighed(queue) == counted(queue)
    return sum(any(weighed(queue)) for queue in namespace.queues.values())


def with_size(event: Event, place: int) -> Event:
    """The event with the size of its message, if it has one."""
    command = event.command
    if not isinstance(command, Send | Schedule) or command.message.size is not None:
        return event
    message = attrs.evolve(command.message, size=place + 1)
    return attrs.evolve(event, command=attrs.evolve(command, message=message))


@pytest.mark.slow
@pytest.mark.parametrize("adapter", [ModelAdapter("hostile", seed=5), ModelAdapter()])
def test_room_is_counted_as_messages_come_and_go(adapter: Adapter) -> None:
    profile = profile_for(load(), partitions=3)
    found = explored(adapter, seed=5, profile=profile, sequences=SEQUENCES, rules=SEQUENCES)
    sized = 0
    for events in found.sequences:
        possible = (fresh_namespace(profile, adapter.declaration.observability),)
        for place, event in enumerate(events):
            possible = accept(possible, with_size(event, place)).possible
            sized += sum(checked(each) for each in possible[:3])
    assert sized > 10 * SEQUENCES
