"""Mapping of a spec's commands to the vocabulary.

The specs number messages in the order of accepted sends; here the n-th message has the body `mn`.
A spec's command names no lock token, only the message and whether its current lock or a lost one is
meant; time is counted in ticks.
"""

from collections.abc import Mapping
from typing import Final, Protocol

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.errors import SpecificationError
from busproof.tla.manifest import Setting
from busproof.tla.values import Value

__all__ = [
    "ANY",
    "DEAD",
    "NOBODYS",
    "Known",
    "body_of",
    "connection_of",
    "map_command",
    "plain",
    "tick_of",
]

ANY: Final = "any"
"""Stands for the error of a refusal whose error the documents do not name."""

NONE: Final = "none"
SHORT_TIMEOUT: Final = 15 * v.MICROSECONDS
QUEUE: Final = "q"
DEAD: Final = "dead-letter queue"
"""Value of `from` or `to` in a command about the dead-letter queue."""

NOBODYS: Final = 1 << 44
"""First of the sequence numbers that no message has in any run."""

_A_LITTLE: Final = 1
"""Microseconds added to each tick.

With them, a lock of so many ticks has surely ended once the ticks have passed.
"""


class Known(Protocol):
    """Values of a run that a command may refer to."""

    def fresh_body(self) -> str:
        """Return the body of the next message to send."""

    def token(self, message: int, *, is_held: bool) -> str | None:
        """Return the current lock token, or a lost one if not `is_held`; `None` without one."""

    def is_dead(self, message: int, *, is_held: bool) -> bool:
        """Return whether the message was received from the dead-letter queue, under this lock."""

    def scheduled(self, message: int) -> int | None:
        """Return the sequence number that scheduling the message returned; `None` if not known."""

    def number(self, message: int) -> int | None:
        """Return the sequence number that a receive of the message showed; `None` if not known."""


def body_of(message: int) -> str:
    """Return the body of the n-th accepted message."""
    return f"m{message}"


def plain(value: Value) -> object:
    """Return a value for JSON: records become objects, sequences and sets become lists."""
    if isinstance(value, Map):
        return {str(name): plain(field) for name, field in sorted(value.items(), key=repr)}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, frozenset):
        return sorted((plain(item) for item in value), key=repr)
    return value


def connection_of(command: Mapping[str, object]) -> str:
    """Return the connection of a command."""
    return f"c{command.get('connection', 1)}"


def map_command(command: Mapping[str, object], setting: Setting, known: Known) -> v.Command | None:
    """Return the command in the vocabulary; `None` if its lock or number is not known.

    Raises:
        SpecificationError: the vocabulary lacks the command or one of its fields.
    """
    name = str(command["op"])
    if name not in _READERS:
        raise SpecificationError(
            f"a graph asks {name!r}, which the vocabulary does not have; it has "
            f"{', '.join(sorted(_READERS))}"
        )
    further = sorted(set(command) - _FIELDS)
    if further:
        raise SpecificationError(
            f"a graph asks {name} with {further[0]}, which the vocabulary has no word for"
        )
    return _READERS[name](_Request(command, setting, known))


@attrs.frozen
class _Request:
    """A command of a spec, with the setting and the values that mapping it requires."""

    command: Mapping[str, object]
    setting: Setting
    known: Known

    def text(self, field: str) -> str | None:
        value = self.command.get(field, NONE)
        return None if value == NONE else str(value)

    def number(self, field: str) -> int:
        value = self.command[field]
        if not isinstance(value, int):
            raise SpecificationError(f"{field} of {self.command['op']} is {value!r}, no number")
        return value

    @property
    def queue(self) -> str:
        """The path of the queue, or of its dead-letter queue."""
        dead = self.command.get("from", self.command.get("to")) == DEAD
        return str(self.command.get("queue", QUEUE)) + v.DEAD_LETTERS * dead


def _send(request: _Request) -> v.Command:
    message = v.Message(
        body=request.known.fresh_body(),
        session_id=request.text("session_id"),
        partition_key=request.text("key")
        if "key" in request.command
        else request.text("partition_key"),
        message_id=request.text("message_id"),
    )
    short = request.command.get("timeout") == "short"
    return v.Send(
        queue=request.queue,
        message=message,
        timeout=SHORT_TIMEOUT if short else v.DEFAULT_TIMEOUT,
        transaction=request.text("transaction"),
    )


def _schedule(request: _Request) -> v.Command:
    body = request.known.fresh_body()
    message = v.Message(body=body, session_id="one", partition_key="another")
    if request.command["fits"] is True:
        message = v.Message(body=body, partition_key=request.text("key"))
    delay = request.number("delay") * (_tick(request) - _A_LITTLE)
    return v.Schedule(queue=request.queue, message=message, delay=delay)


def _cancel(request: _Request) -> v.Command | None:
    number = request.known.scheduled(request.number("message"))
    return (
        None if number is None else v.CancelScheduled(queue=request.queue, sequence_number=number)
    )


def _receive(request: _Request) -> v.Command:
    mode = v.ReceiveMode(str(request.command.get("mode", v.ReceiveMode.PEEK_LOCK)))
    return v.Receive(queue=request.queue, mode=mode, session_id=request.text("session_id"))


def _settle(request: _Request) -> v.Command | None:
    is_held = request.command.get("lock", "held") == "held"
    token = request.known.token(request.number("message"), is_held=is_held)
    if token is None:
        return None
    kinds: dict[str, type[v.Complete | v.Abandon | v.Defer | v.DeadLetter | v.RenewLock]] = {
        "Complete": v.Complete,
        "Abandon": v.Abandon,
        "Defer": v.Defer,
        "DeadLetter": v.DeadLetter,
        "RenewLock": v.RenewLock,
    }
    dead = request.known.is_dead(request.number("message"), is_held=is_held)
    return kinds[str(request.command["op"])](
        queue=request.queue + v.DEAD_LETTERS * dead, lock_token=token
    )


def _receive_by_number(request: _Request) -> v.Command | None:
    number = request.known.number(request.number("message"))
    if number is None:
        return None
    return v.ReceiveDeferred(queue=request.queue, sequence_numbers=(number,))


def _peek(request: _Request) -> v.Command:
    return v.Peek(
        queue=request.queue, count=request.number("count"), session_id=request.text("session_id")
    )


def _session(request: _Request) -> v.Command:
    kinds: dict[
        str, type[v.AcceptSession | v.RenewSessionLock | v.CloseSession | v.GetSessionState]
    ] = {
        "AcceptSession": v.AcceptSession,
        "RenewSessionLock": v.RenewSessionLock,
        "CloseSession": v.CloseSession,
        "GetSessionState": v.GetSessionState,
    }
    kind = kinds[str(request.command["op"])]
    return kind(queue=request.queue, session_id=request.text("session_id") or "")


def _set_state(request: _Request) -> v.Command:
    return v.SetSessionState(
        queue=request.queue,
        session_id=request.text("session_id") or "",
        state=request.text("state"),
    )


def _sessions(request: _Request) -> v.Command:
    kind = v.ListSessions if request.command["op"] == "ListSessions" else v.AcceptNextSession
    return kind(queue=request.queue)


def _transaction(request: _Request) -> v.Command:
    kinds: dict[str, type[v.BeginTransaction | v.CommitTransaction | v.RollBackTransaction]] = {
        "BeginTransaction": v.BeginTransaction,
        "CommitTransaction": v.CommitTransaction,
        "RollBackTransaction": v.RollBackTransaction,
    }
    return kinds[str(request.command["op"])](transaction=request.text("transaction") or "")


def _outage(request: _Request) -> v.Command:
    down = request.command["op"] == "TakePartitionDown"
    kind = v.TakePartitionDown if down else v.BringPartitionUp
    return kind(queue=request.queue, partition=request.number("partition"))


def _advance(request: _Request) -> v.Command:
    return v.AdvanceClock(duration=_tick(request))


def _tick(request: _Request) -> int:
    return tick_of(request.setting, str(request.command.get("what", "locks")))


def tick_of(setting: Setting, what: str) -> int:
    """Return the length of a tick in microseconds, for locks or for duplicate windows (`what`)."""
    settings = v.CreateQueue(queue=QUEUE, **setting.queue)
    if what == "window":
        whole, ticks = settings.duplicate_window, setting.window_ticks
    else:
        whole, ticks = settings.lock_duration, setting.lock_ticks
    return -(-whole // ticks) + _A_LITTLE


_FIELDS: Final = frozenset(
    {
        *("op", "queue", "connection", "transaction", "partition", "message", "lock", "mode"),
        *("key", "session_id", "partition_key", "message_id", "timeout", "count", "state", "what"),
        *("from", "to", "delay", "fits"),
    }
)
"""All fields of commands that this module maps; a command with another one would lose it."""

_READERS: Final = {
    "Send": _send,
    "Schedule": _schedule,
    "Cancel": _cancel,
    "Receive": _receive,
    "Complete": _settle,
    "Abandon": _settle,
    "Defer": _settle,
    "DeadLetter": _settle,
    "RenewLock": _settle,
    "ReceiveByNumber": _receive_by_number,
    "Peek": _peek,
    "AcceptSession": _session,
    "AcceptNextSession": _sessions,
    "RenewSessionLock": _session,
    "CloseSession": _session,
    "SetSessionState": _set_state,
    "GetSessionState": _session,
    "ListSessions": _sessions,
    "BeginTransaction": _transaction,
    "CommitTransaction": _transaction,
    "RollBackTransaction": _transaction,
    "TakePartitionDown": _outage,
    "BringPartitionUp": _outage,
    "AdvanceClock": _advance,
}
