"""Refusals in AMQP: error conditions, status codes and sentences for people."""

from functools import cache
from typing import Final

from busproof import vocabulary as v
from busproof.model import Answer
from busproof.spec import load

__all__ = [
    "Refusal",
    "answer_too_large",
    "disposition_too_large",
    "insist",
    "not_found",
    "opening_too_large",
    "refusal_of",
    "refuse_disabled",
    "refuse_unauthorized",
    "too_large",
    "too_many",
    "too_many_at_once",
    "too_many_copies",
    "too_many_copies_in_all",
    "too_many_of",
    "too_many_values",
    "too_much_added",
    "too_much_added_by_all",
]

CONDITIONS: Final[dict[v.Error, tuple[str, int]]] = {
    # .NET raises InvalidOperationException for this condition, as the documents say.
    v.Error.INVALID_OPERATION: ("amqp:not-allowed", 400),
    # Clients retry after this condition, as they should in an outage.
    v.Error.UNAVAILABLE: ("com.microsoft:server-busy", 503),
    v.Error.NOT_FOUND: ("amqp:not-found", 404),
    v.Error.ALREADY_EXISTS: ("com.microsoft:entity-already-exists", 409),
    # By these numbers, .NET and JavaScript choose the exception for a reply to a request.
    v.Error.LOCK_LOST: ("com.microsoft:message-lock-lost", 410),
    v.Error.SESSION_CANNOT_BE_LOCKED: ("com.microsoft:session-cannot-be-locked", 410),
    v.Error.SESSION_LOCK_LOST: ("com.microsoft:session-lock-lost", 410),
    # Clients do not retry after this condition, because waiting alone makes no room.
    v.Error.QUOTA_EXCEEDED: ("amqp:resource-limit-exceeded", 403),
    v.Error.MESSAGE_NOT_FOUND: ("com.microsoft:message-not-found", 404),
    v.Error.MESSAGE_TOO_LARGE: ("amqp:link:message-size-exceeded", 403),
    v.Error.ENTITY_DISABLED: ("com.microsoft:entity-disabled", 400),
    v.Error.OTHER: ("amqp:illegal-state", 500),
}

SENTENCES: Final[dict[v.Error, str]] = {
    v.Error.INVALID_OPERATION: "The operation is not allowed here",
    v.Error.UNAVAILABLE: "A partition that the request needs is unavailable",
    v.Error.NOT_FOUND: "The messaging entity could not be found",
    v.Error.ALREADY_EXISTS: "An entity of this name already exists",
    v.Error.LOCK_LOST: "The lock supplied is invalid: it expired, or the message was settled",
    v.Error.SESSION_CANNOT_BE_LOCKED: "The requested session cannot be accepted: another holds it",
    v.Error.SESSION_LOCK_LOST: "The session lock has expired; accept the session again",
    v.Error.QUOTA_EXCEEDED: "A quota of the entity is exceeded",
    v.Error.MESSAGE_NOT_FOUND: "No message with the given sequence number was found",
    v.Error.MESSAGE_TOO_LARGE: "The message is larger than the entity allows",
    v.Error.ENTITY_DISABLED: "The entity is disabled",
    v.Error.OTHER: "The request was refused",
}

LONGEST: Final = 1_000
"""Maximum length of a description, in characters."""


class Refusal(Exception):
    """A request that the broker refuses.

    Args:
        condition: the AMQP error condition.
        description: a sentence for people.
        status: the status code in management replies.
    """

    def __init__(self, condition: str, description: str, status: int = 400) -> None:
        if len(description) > LONGEST:
            # A description may quote received data of any length.
            description = f"{description[:LONGEST]} …"
        super().__init__(description)
        self.condition = condition
        self.description = description
        self.status = status


NOT_FOUND: Final = CONDITIONS[v.Error.NOT_FOUND][0]


def refusal_of(answer: Answer, about: str = "") -> Refusal | None:
    """Return the refusal in an answer, naming the rules behind it; `None` if there is none."""
    return None if answer.refused is None else _refusal(answer.refused, answer.rules, about)


def _refusal(refused: v.Refused, shown: tuple[str, ...], about: str) -> Refusal:
    error = refused.error
    condition, status = CONDITIONS[error]
    titles = _titles()
    # Name the rules, so that a failing test shows which one its request has broken.
    named = (f"{rule}: {titles[rule]}" if rule in titles else rule for rule in shown)
    rules = f" ({'; '.join(named)})" if shown else ""
    place = f" '{about}'" if about else ""
    detail = f": {refused.detail}" if refused.detail else ""
    sentence = f"{SENTENCES[error]}{detail}{rules}.{place and ' Entity:' + place}"
    return Refusal(condition, sentence, status)


@cache
def _titles() -> dict[str, str]:
    """Return the titles of the rules in the catalogue, by id."""
    return {rule.id: rule.title for rule in load().rules}


def insist(answer: Answer, about: str = "") -> None:
    """Raise an error if an answer is a refusal.

    No local variable holds the error: its traceback would keep this frame, and with it the refused
    message, alive.

    Raises:
        Refusal: the request was refused.
    """
    if isinstance(answer.outcome, v.Refused):
        raise _refusal(answer.outcome, answer.rules, about)


def not_found(path: str) -> Refusal:
    """Return the refusal for an entity that does not exist."""
    return Refusal(NOT_FOUND, f"The messaging entity '{path}' could not be found.", 404)


def refuse_disabled(path: str, status: str) -> Refusal:
    """Return the refusal for an entity whose status forbids the operation."""
    condition, number = CONDITIONS[v.Error.ENTITY_DISABLED]
    return Refusal(condition, f"'{path}' is {status}: enable it by its Status.", number)


def too_large(size: int, most: int) -> Refusal:
    """Return the refusal for a message that exceeds the size limit."""
    condition, status = CONDITIONS[v.Error.MESSAGE_TOO_LARGE]
    return Refusal(condition, f"The message has {size} bytes; at most {most} are taken.", status)


def opening_too_large(size: int, most: int) -> Refusal:
    """Return the refusal for a frame that opens something and is larger than allowed."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"A frame that opens a connection, a session or a link has {size:,} bytes; at most "
        f"{most:,} are taken.",
        403,
    )


def disposition_too_large(size: int, most: int) -> Refusal:
    """Return the refusal for a disposition whose outcome is too large for so many messages."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"A disposition takes {size:,} bytes for all its messages together; at most {most:,} are "
        "taken: settle fewer at once.",
        403,
    )


def too_many_values(most: int) -> Refusal:
    """Return the refusal for a frame with too many values besides its message."""
    sentence = f"A frame has more than {most:,} values besides a message; no more are read."
    return Refusal("amqp:resource-limit-exceeded", sentence, 403)


def too_many(things: str, most: int) -> Refusal:
    """Return the refusal for a connection that has as many links or the like as it may have."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"The connection has {most:,} {things}, as many as one may have.",
        403,
    )


def too_many_copies(messages: int, copies: int, most: int) -> Refusal:
    """Return the refusal for messages of which too many copies would be made at once."""
    what = "a message" if messages == 1 else f"{messages:,} messages sent together"
    advice = "" if messages == 1 else ": send fewer together"
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"{messages * copies:,} copies of {what} would be made, as many for each as subscriptions "
        f"get it; at most {most:,} are made at once{advice}.",
        403,
    )


def too_many_copies_in_all(copies: int, most: int) -> Refusal:
    """Return the refusal for a transaction of whose messages too many copies would be made."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"{copies:,} copies would be made of the transaction's messages; at most {most:,} are made "
        "at once: send fewer in one transaction.",
        403,
    )


def too_many_of(what: str, topic: str, most: int) -> Refusal:
    """Return the refusal for an addition to a topic that has as many as it may have."""
    sentence = f"The topic '{topic}' has {most:,} {what}, and may have no more; delete some first."
    return Refusal("amqp:resource-limit-exceeded", sentence, 403)


def too_many_at_once(count: int, most: int) -> Refusal:
    """Return the refusal for a request with too many messages, lock tokens or sequence numbers."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"The request has {count:,} messages, lock tokens or sequence numbers; at most {most:,} "
        "may be in one.",
        403,
    )


def too_much_added(size: int, most: int) -> Refusal:
    """Return the refusal for a settlement that would add too many properties to its message."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"The message would have {size:,} bytes of properties added by settlements; at most "
        f"{most:,} may be added.",
        403,
    )


def answer_too_large(size: int, most: int) -> Refusal:
    """Return the refusal of a request for more bytes of messages than an answer may have."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"These messages have {size:,} bytes; at most {most:,} are answered: request fewer.",
        403,
    )


def too_much_added_by_all(most: int) -> Refusal:
    """Return the refusal for a state, properties or a rule beyond what all may add."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"States of sessions, properties added to messages, and rules have {most:,} bytes, as much "
        "as they may together: clear states, complete messages or delete rules.",
        403,
    )


def refuse_unauthorized(right: str, path: str) -> Refusal:
    """Return the refusal for a missing or expired claim."""
    return Refusal(
        "amqp:unauthorized-access",
        f"Unauthorized access. '{right}' claim is required to perform this operation on '{path}'; "
        "no token in force has it; put one with this claim.",
        401,
    )
