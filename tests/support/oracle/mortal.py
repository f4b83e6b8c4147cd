"""Messages that live for so long, and what is seen of them."""

from observing import SECOND, Observer, is_allowed, received

from busproof.vocabulary.commands import Peek, Receive
from busproof.vocabulary.outcomes import Received, Refused
from busproof.vocabulary.values import Error

__all__ = [
    "DEAD",
    "DEAD_RECEIVE",
    "EXPIRED",
    "LIFE",
    "NOT_FOUND",
    "PEEK",
    "RECEIVE",
    "is_kept",
    "letter",
    "may_be_given",
    "mortal",
]

LIFE = 10 * SECOND
DEAD = "q/$deadletterqueue"
RECEIVE = Receive(queue="q")
DEAD_RECEIVE = Receive(queue=DEAD)
PEEK = Peek(queue="q", count=4)
NOT_FOUND = Refused(error=Error.MESSAGE_NOT_FOUND)
EXPIRED = "TTLExpiredException"


def may_be_given(observer: Observer, body: str = "m1", **seen: object) -> bool:
    return is_allowed(observer, RECEIVE, received(body, **seen))


def mortal(observer: Observer, life: int | None = LIFE, **properties: object) -> None:
    """A message is sent that lives for so long, to partition 0."""
    assert observer.send(partition=0, time_to_live=life, **properties).possible


def is_kept(observer: Observer, body: str = "m1", **seen: object) -> None:
    observer.has(RECEIVE, received(body, lock_token="l", **seen))


def letter(body: str = "m1", reason: str | None = EXPIRED) -> Received:
    """A dead letter that a receive is given."""
    return received(body, dead_letter_reason=reason)
