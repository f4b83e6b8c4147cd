"""Messages that are delivered until they are dead letters."""

from telling import Told, received

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


def after(told: Told, duration: int) -> None:
    told.has(AdvanceClock(duration=duration))


def given(told: Told, count: int | None = None, token: str = "l", body: str = "m1") -> bool:
    """Whether the message may be given with this delivery count; if so, it was."""
    return bool(
        told.saw(RECEIVE, received(body, 1, lock_token=token, delivery_count=count)).possible
    )


def locked(told: Told, **settings: object) -> Told:
    """A queue with one message, which is locked."""
    told.queue(**settings)
    told.send(partition=1)
    assert given(told, 1)
    return told


def buried(told: Told, **settings: object) -> Told:
    """A queue with one dead letter."""
    locked(told, **settings)
    told.has(BURY)
    return told
