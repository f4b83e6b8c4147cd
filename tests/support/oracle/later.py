"""Messages that are scheduled, for the tests of the model."""

from observing import SECOND, Observer, is_allowed, received

from busproof.vocabulary.commands import CancelScheduled, Receive, Schedule
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Scheduled

__all__ = ["CANCEL", "NUMBER", "later", "may_be_given", "scheduled"]

NUMBER = 77
CANCEL = CancelScheduled(queue="q", sequence_number=NUMBER)


def later(
    body: str = "m1", delay: int = 5, transaction: str | None = None, **keys: str
) -> Schedule:
    """Schedule a message in so many seconds."""
    message = Message(body=body, **keys)
    return Schedule(queue="q", message=message, delay=delay * SECOND, transaction=transaction)


def scheduled(observer: Observer, number: int | None = NUMBER, **options: object) -> Observer:
    """A message is scheduled under this number."""
    observer.has(later(**options), Scheduled(sequence_number=number))
    return observer


def may_be_given(observer: Observer, body: str = "m1", **properties: object) -> bool:
    """Whether the message may be given now; the answer is forgotten."""
    return is_allowed(observer, Receive(queue="q"), received(body, 1, **properties))
