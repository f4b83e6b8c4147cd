"""Errors of the vocabulary for AMQP conditions and HTTP status codes."""

from typing import Final

from busproof.adapters.amqp.failing import Rejected
from busproof.errors import AdapterError
from busproof.vocabulary.outcomes import Indeterminate, Outcome, Refused
from busproof.vocabulary.values import Error

__all__ = ["outcome_of"]

CONDITIONS: Final = {
    "amqp:not-allowed": Error.INVALID_OPERATION,
    "amqp:not-implemented": Error.INVALID_OPERATION,
    "amqp:invalid-field": Error.INVALID_OPERATION,
    "amqp:precondition-failed": Error.INVALID_OPERATION,
    "amqp:not-found": Error.NOT_FOUND,
    "amqp:resource-limit-exceeded": Error.QUOTA_EXCEEDED,
    "amqp:link:message-size-exceeded": Error.MESSAGE_TOO_LARGE,
    "amqp:transaction:unknown-id": Error.NOT_FOUND,
    "amqp:transaction:rollback": Error.INVALID_OPERATION,
    "amqp:transaction:timeout": Error.INVALID_OPERATION,
    "com.microsoft:argument-error": Error.INVALID_OPERATION,
    "com.microsoft:argument-out-of-range": Error.INVALID_OPERATION,
    "com.microsoft:precondition-failed": Error.INVALID_OPERATION,
    "com.microsoft:entity-already-exists": Error.ALREADY_EXISTS,
    "com.microsoft:entity-disabled": Error.ENTITY_DISABLED,
    "com.microsoft:message-lock-lost": Error.LOCK_LOST,
    "com.microsoft:message-not-found": Error.MESSAGE_NOT_FOUND,
    "com.microsoft:server-busy": Error.UNAVAILABLE,
    "com.microsoft:session-cannot-be-locked": Error.SESSION_CANNOT_BE_LOCKED,
    "com.microsoft:session-lock-lost": Error.SESSION_LOCK_LOST,
    "com.microsoft:store-lock-lost": Error.SESSION_LOCK_LOST,
    "http:400": Error.INVALID_OPERATION,
    "http:403": Error.QUOTA_EXCEEDED,
    "http:404": Error.NOT_FOUND,
    "http:405": Error.INVALID_OPERATION,
    "http:409": Error.ALREADY_EXISTS,
    "http:410": Error.NOT_FOUND,
    "http:501": Error.INVALID_OPERATION,
    "http:503": Error.UNAVAILABLE,
}

SAYING: Final = (
    ("amqp:not-allowed", "size of the message", Error.MESSAGE_TOO_LARGE),
    ("http:409", "another conflicting operation", Error.OTHER),
)
"""Conditions with several meanings, and the words, in lower case, that distinguish them."""

UNANSWERED: Final = frozenset(
    {
        "com.microsoft:timeout",
        "amqp:link:detach-forced",
        "amqp:connection:forced",
        "amqp:internal-error",
        "http:500",
        "http:502",
        "http:504",
    }
)
"""Conditions that leave open whether the request took effect."""

UNAUTHORIZED: Final = frozenset(
    {"amqp:unauthorized-access", "com.microsoft:auth-failed", "http:401"}
)


def outcome_of(rejected: Rejected) -> Outcome:
    """Return the outcome for a refusal.

    Raises:
        AdapterError: the key lacks the right to make the request.
    """
    condition, said = rejected.condition, rejected.description.lower()
    detail = f"{condition}: {rejected.description}"
    if condition in UNAUTHORIZED:
        raise AdapterError(
            f"the service does not let us in ({detail}); the key needs Manage, Send and Listen"
        )
    if condition in UNANSWERED:
        return Indeterminate(detail=detail)
    error = CONDITIONS.get(condition, Error.OTHER)
    for each, words, meant in SAYING:
        if condition == each and words in said:
            error = meant
    return Refused(error=error, detail=detail)
