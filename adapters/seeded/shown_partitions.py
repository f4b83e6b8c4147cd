"""The shortest runs in which the faults of partitions and of peeks show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    complete,
    create,
    home,
    over,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import BringPartitionUp, CreateQueue, Peek, TakePartitionDown
from busproof.vocabulary.messages import SEQUENCE_BITS

__all__ = ["SHOWN"]

OTHER: Final = "other"


def _down(partition: int) -> TakePartitionDown:
    return TakePartitionDown(queue=QUEUE, partition=partition)


def _up(partition: int) -> BringPartitionUp:
    return BringPartitionUp(queue=QUEUE, partition=partition)


_ALL_DOWN: Final[Run] = tuple(map(_down, range(PARTITIONS)))
_ALL_UP: Final[Run] = tuple(map(_up, range(PARTITIONS)))
_REGULAR: Final = create(partitioned=False)
_HOME: Final = home("a")
_BEFORE: Final = (_HOME - 1) % PARTITIONS
_KEYED: Final[Run] = (create(), send("m1", partition_key="a"))
_SIX_OF_ONE: Final[Run] = tuple(send(f"m{number}", partition_key="a") for number in range(1, 8))
_ONE_EACH: Final[Run] = tuple(send(f"m{number}") for number in range(PARTITIONS))
_PEEK: Final = Peek(queue=QUEUE)
_PEEK_FOUR: Final = Peek(queue=QUEUE, count=4)
_OTHERS: Final[Run] = (create(), CreateQueue(queue=OTHER), send("m1", queue=OTHER))

SHOWN: Final[Mapping[str, Run]] = {
    "regular-sends-go-round": (_REGULAR, _down(0), send("m1")),
    "regular-is-read-in-its-outage": (_REGULAR, send("m1"), _down(0), receive()),
    "outage-stops-every-key": (*_KEYED, _down(_BEFORE), send("m2", partition_key="a")),
    "outage-stops-the-next-partition": (
        *_KEYED,
        *(step for _ in range(4) for step in (_down(_BEFORE), _up(_BEFORE))),
        _down(_BEFORE),
        send("m2", partition_key="a"),
    ),
    "taken-with-all-down": (create(), *_ALL_DOWN, send("m1")),
    "refused-with-all-down-and-kept": (
        create(),
        *_ALL_DOWN,
        send("m1"),
        *_ALL_UP,
        receive(),
    ),
    "outage-empties-its-partition": (*_KEYED, *_ALL_DOWN, *_ALL_UP, receive()),
    "locked-is-lost-in-an-outage": (*_KEYED, receive(), *_ALL_DOWN, *_ALL_UP, wait(61), receive()),
    "outage-doubles-messages": (
        *_KEYED,
        *(_down(_HOME), _up(_HOME)) * 2,
        receive(delete=True),
        receive(),
    ),
    "outage-hits-every-entity": (
        *_OTHERS,
        *_ALL_DOWN,
        send("m2", queue=OTHER),
    ),
    "outage-hits-the-latest-entity": (*_OTHERS, *_ALL_DOWN, receive(queue=OTHER)),
    "cached-is-never-given": (create(), *_ONE_EACH, receive(), receive()),
    "cache-is-given-twice": (
        create(),
        *_ONE_EACH,
        *(receive() for _ in range(PARTITIONS)),
        complete(1),
        receive(),
    ),
    "two-front-ends-lock-one-message": (
        create(),
        send("m1"),
        receive(),
        over("c2", receive()),
    ),
    "settles-by-place": (
        create(),
        *_ONE_EACH,
        *(receive(), receive(), complete(1), wait(61)),
        *(receive() for _ in range(PARTITIONS)),
    ),
    "settles-in-the-first-partition": (
        create(),
        *(step for n in range(103) for step in (send(f"m{n}"), receive(), complete(n))),
    ),
    "regular-peek-misses-the-oldest": (_REGULAR, send("m1"), send("m2"), _PEEK),
    "regular-peek-misses-what-is-locked": (
        _REGULAR,
        send("m1"),
        send("m2"),
        receive(),
        _PEEK,
    ),
    "regular-peek-shows-nothing": (_REGULAR, send("m1"), _PEEK),
    "peek-begins-with-a-partitions-second": (*_KEYED, send("m2", partition_key="a"), _PEEK),
    "peek-forgets-the-oldest-of-many": (create(), *_SIX_OF_ONE, _PEEK),
    "peek-shows-one-more": (create(), send("m1"), send("m2"), _PEEK),
    "peek-shows-one-twice": (create(), *_SIX_OF_ONE, _PEEK_FOUR),
    "peek-begins-anew": (
        create(),
        *_SIX_OF_ONE,
        Peek(queue=QUEUE, from_sequence_number=(_HOME << SEQUENCE_BITS) + 3),
    ),
    "peek-on-ends-with-its-partition": (
        create(),
        *_ONE_EACH,
        Peek(queue=QUEUE, count=4, from_sequence_number=0),
    ),
}
"""Id of each fault to its run."""
