"""Requests that await their answers, and what becomes of each: kept as an event, or dropped."""

from abc import ABC, abstractmethod

import attrs

from busproof import vocabulary as v
from busproof.recorder.left_out import LeftOut

__all__ = ["Call", "Requests"]


@attrs.define(eq=False)
class Call:
    """A request that awaits its answer.

    Attributes:
        client: the client; its requests do not overlap.
        connection: the connection that carries it.
        called: when it was made, in microseconds.
        command: the request.
        base: the name from which the client's is made.
        number: its number among the open requests; 0 if it is not noted there.
        written: the request as JSON, if it was written already.
    """

    client: str
    connection: str
    called: int
    command: v.Command
    base: str = ""
    number: int = 0
    written: str = ""


class Requests(ABC):
    """The requests of all connections.

    Args:
        epoch: time 0 of the history, in microseconds since 1970.
    """

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.left_out = LeftOut()
        self.events = 0
        self._lanes: dict[str, set[int]] = {}

    @abstractmethod
    def now(self) -> int:
        """Return the time on the history's clock, in microseconds; it never goes backwards."""

    @abstractmethod
    def flush(self) -> None:
        """Make sure that what was kept so far stays, before anything is passed on."""

    @abstractmethod
    def _keep(self, call: Call, returned: int | None, outcome: v.Outcome) -> None:
        """Keep a request and its outcome as an event."""

    @abstractmethod
    def _note_open(self, call: Call) -> None:
        """Note that a request is about to be passed on."""

    @abstractmethod
    def _note_closed(self, call: Call) -> None:
        """Note that a request that was open needs no answer any more."""

    def begin(
        self,
        base: str,
        connection: str,
        command: v.Command,
        *,
        called: int | None = None,
        is_noted: bool = True,
    ) -> Call:
        """Begin a request, and note it as open unless it changes nothing.

        Args:
            base: who makes it; requests that overlap get clients of their own.
            connection: the connection that carries it.
            command: the request.
            called: when it was made; by default now.
            is_noted: whether the bus might do something for it without an answer.
        """
        lanes = self._lanes.setdefault(base, set())
        lane = 1
        while lane in lanes:
            lane += 1
        lanes.add(lane)
        call = Call(
            base if lane == 1 else f"{base}~{lane}",
            connection,
            self.now() if called is None else called,
            command,
            base,
        )
        if is_noted and not self.left_out.has(command):
            self._note_open(call)
        return call

    def rename(self, call: Call, command: v.Command) -> None:
        """Note which request it really was."""
        call.command = command
        call.written = ""

    def end(self, call: Call, outcome: v.Outcome) -> None:
        """Keep the event of a request that was answered now, or that never will be."""
        answered = not isinstance(outcome, v.Indeterminate)
        self._write(call, self.now() if answered else None, outcome)
        self.drop(call)

    def drop(self, call: Call) -> None:
        """Forget a request of which the bus has certainly done nothing."""
        if call.number:
            self._note_closed(call)
        base, _, lane = call.client.rpartition("~")
        if base != call.base:
            lane = "1"
        lanes = self._lanes.get(call.base)
        if lanes is not None:
            lanes.discard(int(lane))
            if not lanes:
                del self._lanes[call.base]

    def record(
        self,
        client: str,
        connection: str,
        called: int,
        command: v.Command,
        outcome: v.Outcome,
        *,
        returned: int | None = None,
    ) -> None:
        """Keep an event that was not begun before; it was answered now, unless it never was."""
        answered = not isinstance(outcome, v.Indeterminate)
        if returned is None and answered:
            returned = self.now()
        self._write(Call(client, connection, called, command), returned, outcome)

    def _write(self, call: Call, returned: int | None, outcome: v.Outcome) -> None:
        if not self.left_out.has(call.command):
            self.events += 1
            self._keep(call, returned, outcome)
