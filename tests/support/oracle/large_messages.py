"""Large messages that fill a queue of 1 GB."""

from typing import Any

from observing import Observer

from busproof import vocabulary as v

FULL = v.Refused(error=v.Error.QUOTA_EXCEEDED)

TOO_LARGE = v.Refused(error=v.Error.MESSAGE_TOO_LARGE)

LARGE = 100_000_000

LESS = 10
"""So many large messages may fill a partition of 1 GB,"""

MORE = 11
"""and so many surely do."""


def large(observer: Observer, **properties: Any) -> v.Send:
    return v.Send(
        queue="q", message=observer.message(**{"size": LARGE, "stands_in": True, **properties})
    )


def fill(
    observer: Observer, number: int = MORE, partition: int | None = None, **properties: Any
) -> None:
    for _ in range(number):
        found = observer.send(
            partition=partition, **{"size": LARGE, "stands_in": True, **properties}
        )
        assert found.possible, found.rules
