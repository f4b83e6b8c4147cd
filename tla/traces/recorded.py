"""Translation of a recorded scenario to traces of the contract, one for each queue it covers.

Queues that the contract does not cover are reported with the reason. A trace ends before an event
whose outcome is unknown.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.records import Scenario
from busproof.tla.graphs.command_mapping import ANY, NONE, SHORT_TIMEOUT
from busproof.tla.traces.clock_mapping import Ticks, ticks_for
from busproof.tla.traces.unsupported import (
    LeftOut,
    destinations,
    find_created,
    no_queues,
    outside,
)

__all__ = ["Recorded", "Step", "find_traces"]

UNKNOWN: Final = 0
"""Number that stands for a message that no client sent."""


@attrs.frozen
class Step:
    """A step: the spec's command, the replies that match the outcome, and the recorded event."""

    command: dict[str, Any]
    replies: tuple[dict[str, Any], ...]
    event: v.Event


@attrs.frozen(kw_only=True)
class Recorded:
    """The trace of one queue in a scenario.

    Attributes:
        scenario: name of the scenario.
        queue: name of the queue.
        steps: the steps.
        partitions: how many partitions the queue has.
        max_delivery: the queue's `max_delivery_count`.
        ticks: how many ticks of the spec's clock a lock lasts.
        connections: how many connections there are.
        cut: why the remaining events are not judged; empty if all events are.
    """

    scenario: str
    queue: str
    steps: tuple[Step, ...]
    partitions: int
    max_delivery: int
    ticks: int
    connections: int
    cut: str = ""


def find_traces(scenario: Scenario, profile: v.Profile) -> Iterator[Recorded | LeftOut]:
    """Yield the traces of a scenario, and the queues that no trace covers.

    Args:
        scenario: the recorded scenario.
        profile: the profile of the history: the number of partitions of a partitioned queue, and
            whether messages cached for a ReceiveAndDelete receiver are kept (CACHE-DELETE).
    """
    name = scenario.name or "the history"
    yield from no_queues(name, scenario.events)
    fed = destinations(scenario.events)
    for queue, settings in find_created(scenario.events).items():
        events = [event for event in scenario.events if _concerns(event, queue)]
        why = "messages are forwarded to it" if queue in fed else outside(settings, events)
        if why:
            yield LeftOut(name, queue, why)
            continue
        ticks = ticks_for(settings.lock_duration, events)
        if ticks is None:
            yield LeftOut(name, queue, "its times fall between the ticks of the spec's clock")
            continue
        recording = _Recording(settings, profile, ticks)
        trace = recording.trace(name, events)
        yield trace if trace.steps else LeftOut(name, queue, trace.cut or "nothing happened to it")


def _concerns(event: v.Event, queue: str) -> bool:
    return isinstance(event.command, v.AdvanceClock) or getattr(event.command, "queue", "") == queue


class _Recording:
    """Translator of one queue's events to commands and replies of the spec."""

    def __init__(self, settings: v.CreateQueue, profile: v.Profile, ticks: Ticks) -> None:
        self._settings = settings
        self._partitions = profile.partitions if settings.partitioned else 1
        self._keeps = profile.readings.get("CACHE-DELETE") == "kept"
        self._deleters: set[str] = set()
        self._ticks = ticks
        self._numbers: dict[str, int] = {}
        self._tokens: dict[str, tuple[int, int]] = {}
        self._latest: dict[int, str] = {}
        self._used: set[str] = set()
        self._connections: dict[str, int] = {}
        self._down: set[int] = set()
        self._now = 0
        self._exists = False

    def trace(self, name: str, events: Sequence[v.Event]) -> Recorded:
        steps: list[Step] = []
        cut = ""
        for event in events:
            if isinstance(event.outcome, v.Indeterminate | v.Unsupported):
                cut = f"{type(event.command).__name__} got no answer"
                break
            if self._may_be_deleted_unseen(event):
                cut = "what a front end cached to delete may be gone"
                break
            exchange = self._exchange_of(event) if self._exists else self._translate_early(event)
            if exchange is _OUTSIDE:
                cut = f"{_name_command(event)} is not the contract's matter"
                break
            if exchange is not None:
                steps.append(Step(exchange[0], exchange[1], event))
        return Recorded(
            scenario=name,
            queue=self._settings.queue,
            steps=tuple(steps),
            partitions=self._partitions,
            max_delivery=self._settings.max_delivery_count,
            ticks=self._ticks.whole,
            connections=max(1, len(self._connections)),
            cut=cut,
        )

    def _may_be_deleted_unseen(self, event: v.Event) -> bool:
        """CACHE-DELETE: return whether an event may show that cached messages were lost.

        The front end of a connection that receives in ReceiveAndDelete may delete all messages that
        it caches. That connection still receives them, but other connections and peeks may not.
        """
        command = event.command
        if isinstance(command, v.Receive):
            others = self._deleters - {event.connection}
            if command.mode is v.ReceiveMode.RECEIVE_AND_DELETE and not self._keeps:
                self._deleters.add(event.connection)
            return bool(others)
        return isinstance(command, v.Peek) and bool(self._deleters)

    def _exchange_of(self, event: v.Event) -> "_Exchange | None":  # noqa: PLR0911 - one return per case
        match event.command:
            case v.Send():
                return self._send(event, event.command)
            case v.Receive():
                return self._receive(event, event.command)
            case v.Complete() | v.Abandon():
                return self._settle(event, event.command)
            case v.Peek():
                return {"op": "Peek"}, self._replies(event)
            case v.AdvanceClock(duration=duration):
                return self._advance(event, duration)
            case v.TakePartitionDown() | v.BringPartitionUp():
                return self._outage(event, event.command)
            case v.CreateQueue() | v.GetQueue():
                return None
            case _:
                return _OUTSIDE

    def _translate_early(self, event: v.Event) -> "_Exchange | None":
        """Translate an event from before the creation of the queue.

        Requests are refused then. Only outages and the clock have a lasting effect.
        """
        if isinstance(event.command, v.AdvanceClock | v.TakePartitionDown | v.BringPartitionUp):
            return self._exchange_of(event)
        if isinstance(event.outcome, v.Refused):
            return None
        self._exists = isinstance(event.command, v.CreateQueue)
        return None if self._exists else _OUTSIDE

    def _send(self, event: v.Event, command: v.Send) -> "_Exchange | None":
        message = command.message
        if command.transaction is not None or message.body in self._numbers:
            # If two messages have the same body, a receive does not show which one it returned.
            return _OUTSIDE
        if _keys_differ(message):
            # The contract has no rules on keys, and a refused send has changed nothing.
            return None if isinstance(event.outcome, v.Refused) else _OUTSIDE
        if isinstance(event.outcome, v.Done):
            self._numbers[message.body] = len(self._numbers) + 1
        key = message.session_id or message.partition_key or NONE
        if not self._settings.partitioned:
            key = NONE
        timeout = "short" if command.timeout <= SHORT_TIMEOUT else "long"
        return {"op": "Send", "key": key, "timeout": timeout}, self._replies(event)

    def _receive(self, event: v.Event, command: v.Receive) -> "_Exchange | None":
        if command.session_id is not None:
            return _OUTSIDE
        connection = self._connections.setdefault(event.connection, len(self._connections) + 1)
        spoken = {"op": "Receive", "connection": connection, "mode": command.mode.value}
        if isinstance(event.outcome, v.Received) and command.mode is v.ReceiveMode.PEEK_LOCK:
            number = self._number(event.outcome.message.body)
            token = event.outcome.message.lock_token
            if token is not None:
                self._tokens[token] = (number, event.called)
                self._latest[number] = token
        return spoken, self._replies(event)

    def _settle(self, event: v.Event, command: v.Complete | v.Abandon) -> "_Exchange | None":
        token = command.lock_token
        if command.transaction is not None:
            return _OUTSIDE
        if token not in self._tokens:
            # The contract has only locks that a receiver got.
            return None if isinstance(event.outcome, v.Refused) else _OUTSIDE
        number, taken = self._tokens[token]
        over = self._ticks.between(taken, event.called) >= self._ticks.whole
        is_held = token not in self._used and self._latest.get(number) == token and not over
        if isinstance(event.outcome, v.Done):
            self._used.add(token)
        lock = "held" if is_held else "lost"
        op = type(command).__name__
        return {"op": op, "message": number, "lock": lock}, self._replies(event)

    def _advance(self, event: v.Event, duration: int) -> "_Exchange | None":
        passed = self._ticks.between(self._now, self._now + duration)
        self._now += duration
        if not passed:
            return None
        # No lock or cache of the spec lasts longer, and TLC reads no number beyond 32 bits.
        spoken = min(passed, 2 * self._ticks.whole)
        return {"op": "AdvanceClock", "ticks": spoken}, self._replies(event)

    def _outage(
        self, event: v.Event, command: v.TakePartitionDown | v.BringPartitionUp
    ) -> "_Exchange | None":
        down = isinstance(command, v.TakePartitionDown)
        if isinstance(event.outcome, v.Refused) or (command.partition in self._down) is down:
            return None
        (self._down.add if down else self._down.discard)(command.partition)
        op = type(command).__name__
        return {"op": op, "partition": command.partition}, self._replies(event)

    def _number(self, body: str) -> int:
        return self._numbers.get(body, UNKNOWN)

    def _replies(self, event: v.Event) -> tuple[dict[str, Any], ...]:
        """Return the spec's replies that match an outcome; every error matches a refusal."""
        outcome = event.outcome
        match outcome:
            case v.Refused():
                return tuple({"type": "Refused", "error": error} for error in (ANY, "lock-lost"))
            case v.Received(message=view):
                return ({"type": "Received", "message": self._number(view.body)},)
            case v.Peeked(messages=views):
                shown = tuple(self._number(view.body) for view in views)
                return ({"type": "Peeked", "messages": shown},)
            case _:
                return ({"type": type(outcome).__name__},)


def _name_command(event: v.Event) -> str:
    command = event.command
    if isinstance(command, v.Send) and command.transaction is not None:
        return "Send in a transaction"
    return type(command).__name__


_Exchange = tuple[dict[str, Any], tuple[dict[str, Any], ...]]
_OUTSIDE: Final[_Exchange] = ({}, ())


def _keys_differ(message: v.Message) -> bool:
    keys = {message.session_id, message.partition_key} - {None}
    return len(keys) > 1 or "" in keys
