"""How refusals are said in AMQP: conditions, status numbers, and a sentence for people."""

from functools import cache
from typing import Final

from busproof.model import Answer
from busproof.spec import load
from busproof.vocabulary.outcomes import Refused
from busproof.vocabulary.values import Error

__all__ = [
    "Refusal",
    "disabled",
    "insist",
    "not_found",
    "opening_too_large",
    "refusal_of",
    "too_large",
    "too_many",
    "too_many_at_once",
    "unauthorized",
]

CONDITIONS: Final[dict[Error, tuple[str, int]]] = {
    Error.INVALID_OPERATION: ("amqp:not-allowed", 400),
    Error.UNAVAILABLE: ("com.microsoft:server-busy", 503),
    Error.NOT_FOUND: ("amqp:not-found", 404),
    Error.ALREADY_EXISTS: ("com.microsoft:entity-already-exists", 409),
    Error.LOCK_LOST: ("com.microsoft:message-lock-lost", 410),
    Error.SESSION_CANNOT_BE_LOCKED: ("com.microsoft:session-cannot-be-locked", 410),
    Error.SESSION_LOCK_LOST: ("com.microsoft:session-lock-lost", 410),
    Error.QUOTA_EXCEEDED: ("amqp:resource-limit-exceeded", 403),
    Error.MESSAGE_NOT_FOUND: ("com.microsoft:message-not-found", 404),
    Error.MESSAGE_TOO_LARGE: ("amqp:link:message-size-exceeded", 403),
    Error.ENTITY_DISABLED: ("com.microsoft:entity-disabled", 400),
    Error.OTHER: ("amqp:illegal-state", 500),
}

SENTENCES: Final[dict[Error, str]] = {
    Error.INVALID_OPERATION: "The operation is not allowed here",
    Error.UNAVAILABLE: "A partition that the request needs is unavailable",
    Error.NOT_FOUND: "The messaging entity could not be found",
    Error.ALREADY_EXISTS: "An entity of this name exists already",
    Error.LOCK_LOST: "The lock supplied is invalid: it expired, or the message was settled",
    Error.SESSION_CANNOT_BE_LOCKED: "The requested session cannot be accepted: another holds it",
    Error.SESSION_LOCK_LOST: "The session lock has expired; accept the session again",
    Error.QUOTA_EXCEEDED: "A quota of the entity is exceeded",
    Error.MESSAGE_NOT_FOUND: "A message with the given sequence number could not be had",
    Error.MESSAGE_TOO_LARGE: "The message is larger than the entity takes",
    Error.ENTITY_DISABLED: "The entity is disabled",
    Error.OTHER: "The request was refused",
}


LONGEST: Final = 1_000
"""Characters of a sentence that a client is told."""


class Refusal(Exception):  # noqa: N818 - what the service answers, not an error of ours
    """What a client is told instead of being given what it asked for.

    Args:
        condition: the AMQP error condition.
        description: for people.
        status: the number that management replies carry.
    """

    def __init__(self, condition: str, description: str, status: int = 400) -> None:
        if len(description) > LONGEST:
            # It may show what came, which is none of the broker's words.
            description = f"{description[:LONGEST]} …"
        super().__init__(description)
        self.condition = condition
        self.description = description
        self.status = status


NOT_FOUND: Final = CONDITIONS[Error.NOT_FOUND][0]


def refusal_of(answer: Answer, about: str = "") -> Refusal | None:
    """What a client is told of a refused request, with the rules that refuse it; else `None`."""
    return None if answer.refused is None else _refusal(answer.refused, answer.rules, about)


def _refusal(refused: Refused, shown: tuple[str, ...], about: str) -> Refusal:
    error = refused.error
    condition, status = CONDITIONS[error]
    titles = _titles()
    named = (f"{each}: {titles[each]}" if each in titles else each for each in shown)
    rules = f" ({'; '.join(named)})" if shown else ""
    place = f" '{about}'" if about else ""
    detail = f": {refused.detail}" if refused.detail else ""
    return Refusal(
        condition, f"{SENTENCES[error]}{detail}{rules}.{place and ' Entity:' + place}", status
    )


@cache
def _titles() -> dict[str, str]:
    """What each rule of the catalogue is about."""
    return {rule.id: rule.title for rule in load().rules}


def insist(answer: Answer, about: str = "") -> None:
    """Insist that a request was not refused.

    No frame here has a name for the refusal. One that had would be kept, with the message that was
    refused, by the traceback of its own local variable.

    Raises:
        Refusal: it was.
    """
    if answer.refused is not None:
        raise _refusal(answer.refused, answer.rules, about)


def not_found(path: str) -> Refusal:
    """What a client is told of an entity that does not exist."""
    return Refusal(NOT_FOUND, f"The messaging entity '{path}' could not be found.", 404)


def disabled(path: str, status: str) -> Refusal:
    """What a client is told of an entity that is disabled for what it wants."""
    condition, number = CONDITIONS[Error.ENTITY_DISABLED]
    return Refusal(condition, f"'{path}' is {status}: enable it by its Status.", number)


def too_large(size: int, most: int) -> Refusal:
    """What a client is told whose message has more bytes than are taken."""
    condition, status = CONDITIONS[Error.MESSAGE_TOO_LARGE]
    return Refusal(condition, f"The message has {size} bytes; at most {most} are taken.", status)


def opening_too_large(size: int, most: int) -> Refusal:
    """What a client is told that opens something with too many bytes."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"A frame that opens a connection, a session or a link has {size:,} bytes; at most "
        f"{most:,} are taken.",
        403,
    )


def too_many(things: str, most: int) -> Refusal:
    """What a client is told whose connection has as many of something as it may have."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"The connection has {most:,} {things}, as many as one may have.",
        403,
    )


def too_many_at_once(count: int, most: int) -> Refusal:
    """What a client is told whose request has more in it than one may have."""
    return Refusal(
        "amqp:resource-limit-exceeded",
        f"The request has {count:,} messages, lock tokens or sequence numbers; at most {most:,} "
        "may be in one.",
        403,
    )


def unauthorized(right: str, path: str) -> Refusal:
    """What a client is told who has no claim for this, or has none any more."""
    return Refusal(
        "amqp:unauthorized-access",
        f"Unauthorized access. '{right}' claim is required to perform this operation on '{path}'; "
        "no token that was put has it, or it has expired.",
        401,
    )
