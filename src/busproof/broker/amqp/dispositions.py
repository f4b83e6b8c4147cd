"""Settlements in AMQP: lock tokens as bytes, and what a client's disposition requests."""

from collections.abc import Mapping, Sequence
from struct import Struct
from typing import Any, Final
from uuid import UUID

import attrs
from proton import Data, Delivery, Described, ulong

from busproof import vocabulary as v
from busproof.broker.amqp.encoding import string_of
from busproof.broker.amqp.refusals import Refusal
from busproof.vocabulary import values

__all__ = [
    "ACCEPTED",
    "DESCRIPTION",
    "MODIFIED",
    "REASON",
    "REJECTED",
    "Disposition",
    "echo_outcome",
    "read_disposition",
    "read_transactional",
    "tag_of",
    "token_in_bytes",
    "token_of",
    "value_of",
    "wire_token",
]

REASON: Final = "DeadLetterReason"
DESCRIPTION: Final = "DeadLetterErrorDescription"

ACCEPTED: Final = int(Delivery.ACCEPTED)
REJECTED: Final = int(Delivery.REJECTED)
RELEASED: Final = int(Delivery.RELEASED)
MODIFIED: Final = int(Delivery.MODIFIED)
# AMQP lets a client write the descriptor of an outcome as a symbol, too.
NAMED: Final = {
    "amqp:accepted:list": ACCEPTED,
    "amqp:rejected:list": REJECTED,
    "amqp:released:list": RELEASED,
    "amqp:modified:list": MODIFIED,
}
TOGETHER: Final[dict[type[v.Settlement], values.Disposition]] = {
    v.Complete: values.Disposition.COMPLETE,
    v.Abandon: values.Disposition.ABANDON,
    v.Defer: values.Disposition.DEFER,
    v.DeadLetter: values.Disposition.DEAD_LETTER,
}
# Both numbers are in the token itself, so the broker keeps no table from UUIDs to messages.
TOKEN: Final = Struct(">QQ")
"""A lock token as 16 bytes: the sequence number, then the number of the delivery."""


def token_in_bytes(token: str) -> bytes:
    """Return a lock token of the model as the 16 bytes of a UUID."""
    number, _, delivery = token.partition("/")
    return TOKEN.pack(int(number), int(delivery))


def wire_token(token: str) -> UUID:
    """Return a lock token of the model as a UUID."""
    return UUID(bytes=token_in_bytes(token))


def token_of(token: UUID) -> str:
    """Return the model's lock token for the UUID that a client sent."""
    return f"{token.int >> 64}/{token.int & (2**64 - 1)}"


def tag_of(token: bytes) -> bytes:
    """Return the tag of a delivery: its lock token, in the byte order of a .NET Guid."""
    # A Guid's first three parts are little-endian, and .NET clients read the tag as a Guid.
    # Requests carry the token in network order; tests of azure-servicebus compare the two.
    return token[3::-1] + token[5:3:-1] + token[7:5:-1] + token[8:]


@attrs.frozen
class Disposition:
    """The settlement that a client requests.

    Attributes:
        outcome: the AMQP code of the outcome.
        undeliverable: whether the message must not be delivered again as it is (deferred).
        details: dead-letter reason and description, and properties to set on the message.
    """

    outcome: int
    undeliverable: bool = False
    details: Mapping[str, Any] = attrs.field(factory=dict)
    _encoded: dict[str, bytes] = attrs.field(init=False, eq=False)

    @_encoded.default
    def _encode(self) -> dict[str, bytes]:
        # Encoded once, however many messages share the values.
        details = {name: value for name, value in self.details.items() if name != REASON}
        return {name: value_of(value) for name, value in details.items() if value is not None}

    def settlement(self, queue: str, token: str) -> v.Settlement:
        """Return the command for this settlement.

        Raises:
            Refusal: the outcome settles no message.
        """
        if self.outcome == ACCEPTED:
            return v.Complete(queue=queue, lock_token=token)
        if self.outcome == REJECTED:
            reason = str(self.details.get(REASON) or "")
            return v.DeadLetter(queue=queue, lock_token=token, reason=reason)
        if self.outcome == MODIFIED and self.undeliverable:
            return v.Defer(queue=queue, lock_token=token)
        if self.outcome == MODIFIED:
            return v.Abandon(queue=queue, lock_token=token)
        raise Refusal("amqp:not-allowed", f"No message is settled by outcome {self.outcome:#04x}.")

    def together(self, queue: str, tokens: Sequence[str]) -> v.SettleBatch:
        """Return the command that settles several messages in this way.

        Raises:
            Refusal: the outcome settles no message.
        """
        # The batch lists the tokens; this one command shows only which kind of settlement it is.
        one = self.settlement(queue, "")
        return v.SettleBatch(
            queue=queue,
            lock_tokens=tuple(tokens),
            disposition=TOGETHER[type(one)],
            reason=one.reason if isinstance(one, v.DeadLetter) else "",
        )

    def more(self) -> dict[str, bytes]:
        """Return the properties that this settlement adds to the message, as encoded AMQP values.

        The dead-letter reason is not among them, because the model stores it.
        """
        return dict(self._encoded)


def value_of(value: Any) -> bytes:
    """Encode a value in AMQP."""
    if isinstance(value, str):
        return string_of(value)
    tree = Data()
    tree.put_object(value)
    return bytes(tree.encode())


def read_disposition(delivery: Delivery) -> Disposition:
    """Read a disposition that is not part of a transaction."""
    remote = delivery.remote
    outcome = int(delivery.remote_state)
    if outcome == REJECTED:
        # Clients dead-letter by a rejection whose error carries reason and description in its info.
        condition = remote.condition
        return Disposition(outcome, details=_texts(None if condition is None else condition.info))
    if outcome == MODIFIED:
        # Abandon and defer are the same outcome, `modified`; `undeliverable-here` makes it a defer.
        return Disposition(outcome, bool(remote.undeliverable), _texts(remote.annotations))
    return Disposition(outcome)


def read_transactional(delivery: Delivery) -> Disposition:
    """Read a disposition that is part of a transaction.

    Raises:
        Refusal: it names no outcome, or cannot be read.
    """
    try:
        return _read_staged(delivery)
    except (TypeError, ValueError, OverflowError) as error:
        raise Refusal("amqp:decode-error", f"The disposition cannot be read: {error}.") from None


def _read_staged(delivery: Delivery) -> Disposition:
    state: Any = delivery.remote.data or []
    # Proton does not know transactional states; it passes their fields on as plain values.
    outcome = state[1] if len(state) > 1 else None
    if not isinstance(outcome, Described):
        raise Refusal("amqp:decode-error", "A disposition in a transaction names its outcome.")
    descriptor: Any = outcome.descriptor
    code = int(NAMED.get(str(descriptor), descriptor))
    # AMQP permits a sender to omit the last fields of a list.
    fields = [*_items(outcome), None, None, None]
    if code == REJECTED:
        error = fields[0]
        info = [*_items(error), None, None, None][2] if isinstance(error, Described) else None
        return Disposition(code, details=_texts(info))
    if code == MODIFIED:
        return Disposition(code, bool(fields[1]), _texts(fields[2]))
    return Disposition(code)


def echo_outcome(disposition: Disposition) -> Described:
    """Return the outcome to send back to the client within a transactional state."""
    fields: list[Any] = []
    if disposition.outcome == MODIFIED:
        # The Python client reports a failure if the outcome is of another type than its own.
        fields = [True, disposition.undeliverable]
    return Described(ulong(disposition.outcome), fields)


def _items(described: Described) -> list[Any]:
    items: Any = described.value
    return list(items or [])


def _texts(info: Any) -> dict[str, Any]:
    """Return a map with its keys as strings; an empty one if `info` is not a map."""
    if not isinstance(info, dict):
        return {}
    # AMQP specifies symbols as keys here; the JavaScript client writes strings.
    return {str(key): value for key, value in info.items()}
