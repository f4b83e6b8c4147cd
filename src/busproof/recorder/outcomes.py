"""Answers of the service as outcomes of the vocabulary."""

from typing import Any, Final

from proton import Described

from busproof import vocabulary as v
from busproof.adapters.amqp.errors import outcome_of
from busproof.adapters.amqp.failing import Rejected
from busproof.errors import AdapterError
from busproof.recorder.frames import Nested, Unreadable, decode_value

__all__ = [
    "ACCEPTED",
    "ACCEPTED_OR_RELEASED",
    "DECLARED",
    "MODIFIED",
    "RECEIVED",
    "REJECTED",
    "RELEASED",
    "TRANSACTIONAL",
    "UNAUTHORIZED",
    "State",
    "classify_error",
    "error_outcome",
    "refusal",
    "state_of",
]

RECEIVED: Final = 0x23
ACCEPTED: Final = 0x24
REJECTED: Final = 0x25
RELEASED: Final = 0x26
MODIFIED: Final = 0x27
DECLARED: Final = 0x33
TRANSACTIONAL: Final = 0x34
ACCEPTED_OR_RELEASED: Final = 0
"""No code of the protocol: one of the two, in a log that writes both alike."""
NAMED: Final = {
    "amqp:received:list": RECEIVED,
    "amqp:accepted:list": ACCEPTED,
    "amqp:rejected:list": REJECTED,
    "amqp:released:list": RELEASED,
    "amqp:modified:list": MODIFIED,
    "amqp:declared:list": DECLARED,
    "amqp:transactional-state:list": TRANSACTIONAL,
}
PLAINLY_ACCEPTED: Final = (b"\x00\x53\x24\x45", b"\x00\x53\x24\xc0\x01\x00")
"""How nearly every client and service writes that a delivery is accepted."""
UNAUTHORIZED: Final = "not authorized"
"""Detail of a refusal for lack of a right, which says nothing about the bus."""


class State:
    """The state of a delivery: a code and its fields."""

    __slots__ = ("code", "fields")

    def __init__(self, code: int, fields: list[Any]) -> None:
        self.code = code
        self.fields = [*fields, None, None, None]


ACCEPTANCE: Final = State(ACCEPTED, [])


def state_of(value: Any) -> State | None:
    """Return the state in a field of a performative; `None` if there is none.

    Raises:
        Unreadable: it is no state.
    """
    if value is None:
        return None
    if value in PLAINLY_ACCEPTED:
        return ACCEPTANCE
    described = decode_value(value) if isinstance(value, Nested) else value
    if not isinstance(described, Described):
        raise Unreadable("the state of a delivery is not described")
    descriptor: Any = described.descriptor
    code = NAMED.get(descriptor, -1) if isinstance(descriptor, str) else int(descriptor)
    fields: Any = described.value
    return State(code, list(fields or []))


def refusal(state: State) -> v.Outcome:
    """Return the outcome of a delivery that was not accepted."""
    if state.code == REJECTED:
        return error_outcome(state.fields[0])
    if state.code in (RELEASED, MODIFIED):
        return v.Refused(error=v.Error.OTHER, detail="the message was given back")
    return v.Indeterminate(detail=f"an answer with state {state.code:#04x}")


def error_outcome(error: Any) -> v.Outcome:
    """Return the outcome that an AMQP error reports."""
    if isinstance(error, Nested):
        error = decode_value(error)
    fields: list[Any] = []
    if isinstance(error, Described):
        value: Any = error.value
        fields = list(value or [])
    condition, description = [*fields, None, None][:2]
    return classify_error(str(condition or "amqp:not-allowed"), str(description or ""))


def classify_error(condition: str, description: str) -> v.Outcome:
    """Return the outcome for a condition and its description."""
    try:
        return outcome_of(Rejected(condition, description))
    except AdapterError:
        return v.Refused(error=v.Error.OTHER, detail=UNAUTHORIZED)
