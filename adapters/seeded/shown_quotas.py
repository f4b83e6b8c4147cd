"""The shortest runs in which the faults in how many entities there can be show."""

from collections.abc import Iterator, Mapping
from typing import Final

from busproof.mutants.runs import Run, create, send
from busproof.vocabulary.commands import CreateQueue, CreateTopic, DeleteQueue

__all__ = ["READINGS", "SHOWN"]


def _queues(count: int, *, partitioned: bool = True) -> Iterator[CreateQueue]:
    kind = "p" if partitioned else "r"
    return (CreateQueue(queue=f"{kind}{n}", partitioned=partitioned) for n in range(count))


def _topics(count: int) -> Iterator[CreateTopic]:
    return (CreateTopic(topic=f"t{n}") for n in range(count))


_HUNDRED: Final[Run] = tuple(_queues(100))
_DELETED: Final = DeleteQueue(queue="p0")
_MANY: Final[Run] = tuple(_queues(9_999, partitioned=False))
_ONE_MORE: Final = (CreateQueue(queue="last", partitioned=False),)

SHOWN: Final[Mapping[str, Run]] = {
    "one-partitioned-too-few": _HUNDRED,
    "partitioned-without-end": (*_HUNDRED, create()),
    "too-many-called-invalid": (*_HUNDRED, create()),
    "one-too-many-with-sessions": (*_HUNDRED, create(requires_session=True)),
    "refused-and-created": (*_HUNDRED, create(), send("m1")),
    "topics-without-end": tuple(_topics(101)),
    "half-as-many-topics": tuple(_topics(51)),
    "deleted-still-counts": (*_HUNDRED, _DELETED, create()),
    "refused-counts": (*_HUNDRED, create(), _DELETED, create()),
    "regular-counts": (*_queues(101, partitioned=False), create()),
    "hundred-of-any-kind": (*_HUNDRED, create(partitioned=False)),
    "one-entity-too-few": (*_MANY, create(partitioned=False)),
    "entities-without-end": (*_MANY, *_queues(1), create(partitioned=False)),
    "each-partition-counts": (*_MANY, create()),
    "premium-without-end": (*_MANY, *_ONE_MORE, create(partitioned=False)),
    "quota-in-premium": (*_MANY, *_ONE_MORE, create(partitioned=False)),
}
"""Id of each fault to its run."""

READINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "premium-without-end": {"QUOTA-PREMIUM": "counting"},
    "quota-in-premium": {"QUOTA-PREMIUM": "quota"},
}
"""Faults in what a reading alone demands."""
