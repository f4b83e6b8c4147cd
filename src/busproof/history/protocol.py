"""Messages of the process protocol: requests of busproof, and answers of an adapter process."""

from typing import Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import PROTOCOL, check_protocol, structure, unstructure
from busproof.history.converters import ALWAYS
from busproof.history.decode_errors import one_of
from busproof.history.lines import decode_line, encode_line, excerpt

__all__ = [
    "ANSWERS",
    "REQUESTS",
    "Answer",
    "ByeAnswer",
    "ByeRequest",
    "CommandAnswer",
    "CommandRequest",
    "Declared",
    "Hello",
    "HelloAnswer",
    "HelloRequest",
    "ImplementationName",
    "Namespace",
    "Nothing",
    "Request",
    "StartRequest",
    "StartedAnswer",
    "decode_answer",
    "decode_request",
    "encode",
]


@attrs.frozen(kw_only=True)
class Hello:
    """The version of the protocol that busproof uses."""

    protocol: int = attrs.field(default=PROTOCOL, metadata=ALWAYS, validator=attrs.validators.ge(1))


@attrs.frozen(kw_only=True)
class ImplementationName:
    """Name of the implementation."""

    name: str
    version: str = ""
    language: str = ""
    commit: str = ""
    url: str = ""
    contact: str = ""


@attrs.frozen(kw_only=True)
class Declared:
    """Declaration of an adapter; `slack` is in microseconds, `several` as in `Declaration`."""

    protocol: int = attrs.field(default=PROTOCOL, metadata=ALWAYS, validator=attrs.validators.ge(1))
    implementation: ImplementationName
    capabilities: tuple[v.Capability, ...]
    clock: v.Clock = v.Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    several: bool = False


@attrs.frozen(kw_only=True)
class Namespace:
    """The part of a profile that an implementation needs to know.

    The last two fields are left out for a namespace that is not partitioned, or that has one
    messaging unit.
    """

    edition: str
    tier: v.Tier
    partitions: int = attrs.field(validator=attrs.validators.ge(1))
    namespace_partitions: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    messaging_units: int = attrs.field(default=1, validator=attrs.validators.ge(1))

    @classmethod
    def of(cls, profile: v.Profile) -> "Namespace":
        """Return the namespace that a profile describes."""
        return cls(
            edition=profile.edition,
            tier=profile.tier,
            partitions=profile.partitions,
            namespace_partitions=profile.namespace_partitions,
            messaging_units=profile.messaging_units,
        )


@attrs.frozen(kw_only=True)
class Nothing:
    """An object without fields."""


@attrs.frozen(kw_only=True)
class HelloRequest:
    """Request for the adapter's declaration. It is sent once, before all others."""

    id: int
    hello: Hello = attrs.field(factory=Hello, metadata=ALWAYS)


@attrs.frozen(kw_only=True)
class StartRequest:
    """Start with an empty namespace, at virtual time 0."""

    id: int
    start: Namespace


@attrs.frozen(kw_only=True)
class CommandRequest:
    """Send this command to the bus over the named connection."""

    id: int
    connection: str
    command: v.Command


@attrs.frozen(kw_only=True)
class ByeRequest:
    """End of the requests: the adapter answers, and exits."""

    id: int
    bye: Nothing = attrs.field(factory=Nothing, metadata=ALWAYS)


@attrs.frozen(kw_only=True)
class HelloAnswer:
    """The answer to `HelloRequest`."""

    id: int
    hello: Declared


@attrs.frozen(kw_only=True)
class StartedAnswer:
    """The answer to `StartRequest`."""

    id: int
    started: Nothing


@attrs.frozen(kw_only=True)
class CommandAnswer:
    """The answer to `CommandRequest`: the outcome, and the bus's choice if the adapter saw it."""

    id: int
    outcome: v.Outcome
    witness: v.Witness | None = None


@attrs.frozen(kw_only=True)
class ByeAnswer:
    """The answer to `ByeRequest`."""

    id: int
    bye: Nothing


Request = HelloRequest | StartRequest | CommandRequest | ByeRequest
Answer = HelloAnswer | StartedAnswer | CommandAnswer | ByeAnswer

REQUESTS: Final[dict[str, type[Request]]] = {
    "hello": HelloRequest,
    "start": StartRequest,
    "command": CommandRequest,
    "bye": ByeRequest,
}
"""Kind of request by the field that identifies it."""

ANSWERS: Final[dict[type[Request], type[Answer]]] = {
    HelloRequest: HelloAnswer,
    StartRequest: StartedAnswer,
    CommandRequest: CommandAnswer,
    ByeRequest: ByeAnswer,
}
"""Kind of request to the kind of its answer."""

A = TypeVar("A", bound=Answer)


def encode(message: Request | Answer) -> bytes:
    """Return a message as one line.

    Commands and namespaces are written without default values, so that an adapter need not know the
    fields of later releases. Everything else is written in full.
    """
    fields = unstructure(message, full=True)
    if isinstance(message, CommandRequest):
        fields["command"] = unstructure(message.command)
    elif isinstance(message, StartRequest):
        fields["start"] = unstructure(message.start)
    return encode_line(fields)


def decode_request(line: bytes) -> Request:
    """Return the request on a line; for adapter processes written in Python.

    Raises:
        HistoryError: the line is not a request of this protocol.
    """
    fields = decode_line(line)
    name = next((name for name in REQUESTS if name in fields), "")
    if not name:
        raise HistoryError(f"the request must have {one_of(REQUESTS, '')}")
    return structure(fields, REQUESTS[name], "the request")


def decode_answer(line: bytes, kind: type[A], identity: int) -> A:
    """Return the answer on a line of an adapter process.

    Args:
        line: the line.
        kind: the kind of answer to the request, from `ANSWERS`.
        identity: the `id` of the request.

    Raises:
        HistoryError: the line is not that answer; the message says what differs.
    """
    fields = decode_line(line)
    _check_identity(fields, identity)
    declared = fields.get("hello")
    if kind is HelloAnswer and isinstance(declared, dict):
        _check_version(declared)
    return structure(fields, kind, "the answer")


def _check_identity(fields: dict[str, object], identity: int) -> None:
    if "id" not in fields:
        raise HistoryError(f"id is missing, and must be {identity} as in the request")
    came = fields["id"]
    if type(came) is not int or came != identity:
        raise HistoryError(f"id is {excerpt(came)}, and must be {identity} as in the request")


def _check_version(declared: dict[str, object]) -> None:
    if "protocol" not in declared:
        raise HistoryError(f"hello.protocol is missing, and must be {PROTOCOL}")
    try:
        check_protocol(declared["protocol"])
    except HistoryError as error:
        raise HistoryError(f"hello.{error}") from None
