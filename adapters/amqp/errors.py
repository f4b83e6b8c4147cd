"""Errors of the vocabulary for AMQP conditions and HTTP status codes."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.amqp.failing import Rejected
from busproof.errors import AdapterError

__all__ = ["outcome_of"]

CONDITIONS: Final = {
    "amqp:not-allowed": v.Error.INVALID_OPERATION,
    "amqp:not-implemented": v.Error.INVALID_OPERATION,
    "amqp:invalid-field": v.Error.INVALID_OPERATION,
    "amqp:precondition-failed": v.Error.INVALID_OPERATION,
    "amqp:not-found": v.Error.NOT_FOUND,
    "amqp:resource-limit-exceeded": v.Error.QUOTA_EXCEEDED,
    "amqp:link:message-size-exceeded": v.Error.MESSAGE_TOO_LARGE,
    "amqp:transaction:unknown-id": v.Error.NOT_FOUND,
    "amqp:transaction:rollback": v.Error.INVALID_OPERATION,
    "amqp:transaction:timeout": v.Error.INVALID_OPERATION,
    "com.microsoft:argument-error": v.Error.INVALID_OPERATION,
    "com.microsoft:argument-out-of-range": v.Error.INVALID_OPERATION,
    "com.microsoft:precondition-failed": v.Error.INVALID_OPERATION,
    "com.microsoft:entity-already-exists": v.Error.ALREADY_EXISTS,
    "com.microsoft:entity-disabled": v.Error.ENTITY_DISABLED,
    "com.microsoft:message-lock-lost": v.Error.LOCK_LOST,
    "com.microsoft:message-not-found": v.Error.MESSAGE_NOT_FOUND,
    "com.microsoft:server-busy": v.Error.UNAVAILABLE,
    "com.microsoft:session-cannot-be-locked": v.Error.SESSION_CANNOT_BE_LOCKED,
    "com.microsoft:session-lock-lost": v.Error.SESSION_LOCK_LOST,
    "com.microsoft:store-lock-lost": v.Error.SESSION_LOCK_LOST,
    "http:400": v.Error.INVALID_OPERATION,
    "http:403": v.Error.QUOTA_EXCEEDED,
    "http:404": v.Error.NOT_FOUND,
    "http:405": v.Error.INVALID_OPERATION,
    "http:409": v.Error.ALREADY_EXISTS,
    "http:410": v.Error.NOT_FOUND,
    "http:501": v.Error.INVALID_OPERATION,
    "http:503": v.Error.UNAVAILABLE,
}

SAYING: Final = (
    ("amqp:not-allowed", "size of the message", v.Error.MESSAGE_TOO_LARGE),
    ("http:409", "another conflicting operation", v.Error.OTHER),
)
"""AMQP conditions with several meanings, and the lower-case words that distinguish them."""

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
"""Conditions that do not say whether the request took effect."""

UNAUTHORIZED: Final = frozenset(
    {"amqp:unauthorized-access", "com.microsoft:auth-failed", "http:401"}
)


def outcome_of(rejected: Rejected) -> v.Outcome:
    """Return the outcome that reports a refusal by the service.

    Raises:
        AdapterError: the key lacks the right for the request.
    """
    condition, description = rejected.condition, rejected.description.lower()
    detail = f"{condition}: {rejected.description}"
    if condition in UNAUTHORIZED:
        raise AdapterError(
            f"the service does not let us in ({detail}); the key needs Manage, Send and Listen"
        )
    if condition in UNANSWERED:
        return v.Indeterminate(detail=detail)
    error = CONDITIONS.get(condition, v.Error.OTHER)
    for known, words, meant in SAYING:
        if condition == known and words in description:
            error = meant
    return v.Refused(error=error, detail=detail)
