"""Messages that are delivered until they are dead letters."""

from observing import Observer, received

from busproof.vocabulary.commands import Abandon, AdvanceClock, DeadLetter, Receive

__all__ = [
    "ABANDON",
    "BURY",
    "DEAD",
    "FROM_DEAD",
    "MINUTE",
    "RECEIVE",
    "TOO_OFTEN",
    "after",
    "buried",
    "given",
    "locked",
]

DEAD = "q/$deadletterqueue"
RECEIVE = Receive(queue="q")
FROM_DEAD = Receive(queue=DEAD)
ABANDON = Abandon(queue="q", lock_token="l")
BURY = DeadLetter(queue="q", lock_token="l", reason="bad")
MINUTE = 60_000_000
TOO_OFTEN = "MaxDeliveryCountExceeded"


def after(observer: Observer, duration: int) -> None:
    observer.has(AdvanceClock(duration=duration))


def given(observer: Observer, count: int | None = None, token: str = "l", body: str = "m1") -> bool:
    """Whether the message may be given with this delivery count; if so, it was."""
    return bool(
        observer.saw(RECEIVE, received(body, 1, lock_token=token, delivery_count=count)).possible
    )


def locked(observer: Observer, **settings: object) -> Observer:
    """A queue with one message, which is locked."""
    observer.queue(**settings)
    observer.send(partition=1)
    assert given(observer, 1)
    return observer


def buried(observer: Observer, **settings: object) -> Observer:
    """A queue with one dead letter."""
    locked(observer, **settings)
    observer.has(BURY)
    return observer
