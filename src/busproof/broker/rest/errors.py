"""Refusals as answers over HTTP."""

from typing import Final

from busproof.broker.admin import atom
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.http_requests import Answer

__all__ = ["UNAUTHORIZED", "answer_refusal"]

UNAUTHORIZED: Final = "amqp:unauthorized-access"
STATUSES: Final = {
    # An entity that does not exist, and a lock that does not, have the opposite numbers in AMQP.
    "amqp:not-found": 410,
    "com.microsoft:message-lock-lost": 404,
}
"""Statuses of this interface that differ from those of management over AMQP."""
ERROR: Final = "application/xml;charset=utf-8"


def answer_refusal(refusal: Refusal) -> Answer:
    """Return the answer to a request that is refused."""
    status = STATUSES.get(refusal.condition, refusal.status)
    return Answer(status, atom.error(status, refusal.description), ERROR)
