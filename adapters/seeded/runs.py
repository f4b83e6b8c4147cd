"""Short words for runs of requests, and playing such a run."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs

from busproof.adapters.base import Adapter
from busproof.model.commands import (
    Abandon,
    AdvanceClock,
    Command,
    Complete,
    CreateQueue,
    Receive,
    Send,
)
from busproof.model.outcomes import Event, Received
from busproof.model.values import MICROSECONDS, Message, MessageView, ReceiveMode

__all__ = [
    "PARTITIONS",
    "QUEUE",
    "Over",
    "Request",
    "Run",
    "Settling",
    "abandon",
    "complete",
    "create",
    "home",
    "over",
    "play",
    "receive",
    "send",
    "wait",
]

PARTITIONS: Final = 3
"""How many partitions a namespace is to have in which these runs are played."""
QUEUE: Final = "q"


@attrs.frozen
class Settling:
    """Settle the message that the receive with this number was given, counted from 0."""

    kind: type[Complete] | type[Abandon]
    receive: int


@attrs.frozen
class Over:
    """Ask over another connection."""

    connection: str
    request: Command | Settling


Request = Command | Settling | Over
Run = tuple[Request, ...]


def create(**settings: Any) -> CreateQueue:
    """Create the queue."""
    return CreateQueue(queue=QUEUE, **settings)


def send(
    body: str, *, within: str | None = None, seconds: int = 60, **properties: str | None
) -> Send:
    """Send a message; `within` names a transaction, `seconds` is the sender's timeout."""
    message = Message(body=body, **properties)
    return Send(queue=QUEUE, message=message, transaction=within, timeout=seconds * MICROSECONDS)


def receive(session_id: str | None = None, *, delete: bool = False) -> Receive:
    """Receive a message."""
    mode = ReceiveMode.RECEIVE_AND_DELETE if delete else ReceiveMode.PEEK_LOCK
    return Receive(queue=QUEUE, session_id=session_id, mode=mode)


def complete(receive: int) -> Settling:
    """Complete what the receive with this number was given."""
    return Settling(Complete, receive)


def abandon(receive: int) -> Settling:
    """Abandon what the receive with this number was given."""
    return Settling(Abandon, receive)


def wait(seconds: int) -> AdvanceClock:
    """Let time pass."""
    return AdvanceClock(duration=seconds * MICROSECONDS)


def over(connection: str, request: Command | Settling) -> Over:
    """Ask over another connection than the usual one."""
    return Over(connection, request)


def home(key: str) -> int:
    """The partition that a key selects in the seeded bus."""
    return zlib.crc32(key.encode()) % PARTITIONS


def play(adapter: Adapter, run: Iterable[Request]) -> Iterator[Event]:
    """Ask one request after another and tell what came of each."""
    given: list[MessageView] = []
    for request in run:
        connection, wanted = "c1", request
        if isinstance(wanted, Over):
            connection, wanted = wanted.connection, wanted.request
        if isinstance(wanted, Settling):
            token = given[wanted.receive].lock_token or "none"
            wanted = wanted.kind(queue=QUEUE, lock_token=token)
        observed = adapter.do(wanted, connection)
        if isinstance(observed.outcome, Received):
            given.append(observed.outcome.message)
        yield Event(
            connection=connection,
            command=wanted,
            outcome=observed.outcome,
            witness=observed.witness,
        )
