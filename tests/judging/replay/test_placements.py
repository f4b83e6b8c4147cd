"""Where a message went is decided when an answer first shows it, not by going back."""

from typing import Final

import pytest
from told import Told

from busproof import vocabulary as v
from busproof.judging.replay.search import Ended, Search

TAKE: Final = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
PARTITIONS: Final = 16


def forwarding(count: int, keys: int = 0) -> Told:
    """Messages were sent to a queue that forwards; no answer shows where to."""
    told = Told().of(v.CreateQueue(queue="q", partitioned=True))
    told.of(v.CreateQueue(queue="source", forward_to="q"))
    for place in range(count):
        message = v.Message(body=f"m{place}", partition_key=key_of(place, keys))
        told.of(v.Send(queue="source", message=message))
    return told


def key_of(place: int, keys: int) -> str | None:
    return f"k{place % keys}" if keys else None


def shown(place: int, partition: int, keys: int = 0, **fields: str) -> v.MessageView:
    number = (partition << v.SEQUENCE_BITS) + 100 + place
    return v.MessageView(
        body=f"m{place}",
        sequence_number=number,
        partition_key=key_of(place, keys),
        **fields,  # type: ignore[arg-type]
    )


def judged(told: Told) -> tuple[Ended, int]:
    """Return how a judgement event by event ends, and how many steps it took."""
    search = Search((), told.profile, v.Observability())
    ended = Ended.EXPLAINED
    for event in told.events:
        search.add(event)
        ended = search.run()
        if ended is not Ended.EXPLAINED:
            break
    return ended, search.steps


@pytest.mark.parametrize("keys", [0, 8])
def test_no_place_of_a_forwarded_message_is_guessed(keys: int) -> None:
    told = forwarding(40, keys)
    for place in range(40):
        partition = (place % keys if keys else place) * 7 % PARTITIONS
        told.of(TAKE, v.Received(message=shown(place, partition, keys)))
    assert judged(told) == (Ended.EXPLAINED, len(told.events))


@pytest.mark.parametrize(("partition", "ended"), [(3, Ended.EXPLAINED), (2, Ended.IMPOSSIBLE)])
def test_messages_of_one_key_move_together(partition: int, ended: Ended) -> None:
    """KEY-02."""
    told = forwarding(3, keys=1).of(TAKE, v.Received(message=shown(0, 3, keys=1)))
    told.of(TAKE, v.Received(message=shown(1, partition, keys=1)))
    assert judged(told)[0] is ended


def test_messages_of_a_key_that_something_waits_for_are_not_moved() -> None:
    """A scheduled message of the key has its place; the replay ended with a traceback."""
    told = forwarding(1, keys=1)
    scheduled = v.Message(body="later", partition_key=key_of(0, 1))
    schedule = v.Schedule(queue="q", message=scheduled, delay=60 * v.MICROSECONDS)
    told.of(schedule, v.Scheduled(sequence_number=(3 << v.SEQUENCE_BITS) + 1))
    told.of(TAKE, v.Received(message=shown(0, 5, keys=1)))
    assert judged(told)[0] is Ended.EXPLAINED


@pytest.mark.parametrize(("partition", "ended"), [(1, Ended.EXPLAINED), (2, Ended.IMPOSSIBLE)])
def test_a_message_that_was_seen_does_not_move(partition: int, ended: Ended) -> None:
    told = forwarding(1).of(v.Peek(queue="q"), v.Peeked(messages=(shown(0, 1),)))
    told.of(TAKE, v.Received(message=shown(0, partition)))
    assert judged(told)[0] is ended


@pytest.mark.parametrize(("partition", "ended"), [(0, Ended.EXPLAINED), (1, Ended.IMPOSSIBLE)])
def test_a_message_is_not_where_an_outage_was_when_it_came(partition: int, ended: Ended) -> None:
    """KEY-15."""
    told = Told().of(v.CreateQueue(queue="q", partitioned=True))
    told.of(v.TakePartitionDown(queue="q", partition=1))
    told.of(v.Send(queue="q", message=v.Message(body="m0")))
    told.of(v.BringPartitionUp(queue="q", partition=1))
    told.of(TAKE, v.Received(message=shown(0, partition)))
    assert judged(told)[0] is ended


@pytest.mark.parametrize(
    ("order", "ended"), [((0, 1), Ended.EXPLAINED), ((1, 0), Ended.IMPOSSIBLE)]
)
def test_messages_that_were_moved_are_peeked_as_they_came(
    order: tuple[int, ...], ended: Ended
) -> None:
    """PART-14: m1 is shown first, although m0 came before it."""
    told = Told().of(v.CreateQueue(queue="q", partitioned=True))
    for place in range(2):
        told.of(v.Send(queue="q", message=v.Message(body=f"m{place}")))
    for place in (1, 0):
        view = shown(place, 3, lock_token=f"t{place}")
        told.of(v.Receive(queue="q"), v.Received(message=view))
    views = tuple(shown(place, 3) for place in order)
    told.of(v.Peek(queue="q", count=2), v.Peeked(messages=views))
    result, steps = judged(told)
    assert result is ended
    assert ended is Ended.IMPOSSIBLE or steps == len(told.events)
