"""Rendering of a counterexample as commands with replies, and as a scenario in Gherkin."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.errors import ConformanceError
from busproof.history.render.commands import command_words
from busproof.history.render.gherkin import VERDICT, sentence
from busproof.history.replay import REFERENCE, RecordedCommand
from busproof.tla.graphs.command_mapping import body_of, connection_of, map_command
from busproof.tla.graphs.setup import creations
from busproof.tla.manifest import Setting
from busproof.tla.messages import State
from busproof.tla.values import Value, parse

__all__ = ["Exchange", "exchanges_in", "gherkin", "story"]


@attrs.frozen
class Exchange:
    """A step of a counterexample: a command of the spec, and its reply."""

    command: Mapping[str, Any]
    reply: Mapping[str, Any]


def exchanges_in(trace: Iterable[State]) -> tuple[Exchange, ...]:
    """Return the commands and replies of a trace; none if the spec lacks the variable `said`."""
    exchanges = []
    for state in list(trace)[1:]:
        value: Value = parse(state.variables["said"]) if "said" in state.variables else Map()
        if isinstance(value, Map) and "command" in value:
            exchanges.append(Exchange(_words(value["command"]), _words(value["reply"])))
    return tuple(exchanges)


def _words(record: Any) -> dict[str, Any]:
    return {str(name): value for name, value in record.items()}


@attrs.define
class _Progress:
    """Values that later commands refer to, collected from the steps so far.

    Attributes:
        sent: how many sends were accepted.
        commands: how many commands there were; a scenario names locks by their numbers.
        receipts: message number to the numbers of the receives that returned it.
        dead: the numbers of messages received from a dead-letter queue.
    """

    sent: int = 0
    commands: int = 0
    receipts: dict[int, list[int]] = attrs.field(factory=dict)
    dead: set[int] = attrs.field(factory=set)

    def fresh_body(self) -> str:
        return body_of(self.sent + 1)

    def token(self, message: int, *, is_held: bool) -> str | None:
        """Return the latest lock, or the lost one before it if not `is_held`."""
        received = self.receipts.get(message)
        if received is None:
            return None
        return f"{REFERENCE}{received[-1] if is_held else received[max(0, len(received) - 2)]}"

    def is_dead(self, message: int, *, is_held: bool) -> bool:  # noqa: ARG002 - required by Known
        """Return whether the message was received from a dead-letter queue."""
        return message in self.dead

    def scheduled(self, message: int) -> int | None:  # noqa: ARG002 - required by Known
        """Return `None`: a bus's sequence numbers are not known in advance."""
        return None

    def number(self, message: int) -> int | None:  # noqa: ARG002 - required by Known
        """Return `None`: a bus's sequence numbers are not known in advance."""
        return None

    def heard(self, exchange: Exchange) -> None:
        op, kind = exchange.command["op"], exchange.reply["type"]
        if (op, kind) in (("Send", "Done"), ("Schedule", "Scheduled")):
            self.sent += 1
        if op == "Receive" and kind == "Received":
            self.receipts.setdefault(exchange.reply["message"], []).append(self.commands)
            if exchange.command.get("from") == "dead-letter queue":
                self.dead.add(exchange.reply["message"])


def story(steps: Sequence[Exchange], setting: Setting | None = None) -> tuple[str, ...]:
    """Return each step as a line with its command and its reply."""
    progress = _Progress()
    lines = []
    for exchange in steps:
        command = _find_command(exchange, setting or Setting(edges=0), progress)
        progress.commands += 1
        progress.heard(exchange)
        asks = command_words(command) if command is not None else _plain(exchange.command)
        over = exchange.command.get("connection", 1)
        who = f" over connection c{over}" if over != 1 else ""
        lines.append(f"{asks}{who} -> {_reply_words(exchange.reply)}")
    return tuple(lines)


def _find_command(exchange: Exchange, setting: Setting, progress: _Progress) -> v.Command | None:
    """Return the command in the vocabulary; `None` if the vocabulary does not have it."""
    try:
        return map_command(exchange.command, setting, progress)
    except (ConformanceError, KeyError):
        return None


def _plain(command: Mapping[str, Any]) -> str:
    fields = ", ".join(f"{name} {value}" for name, value in command.items() if name != "op")
    return f"{command['op']}: {fields}" if fields else str(command["op"])


def _reply_words(reply: Mapping[str, Any]) -> str:
    kind = reply["type"]
    if kind == "Received":
        return f"Received {body_of(reply['message'])!r}"
    if kind == "Peeked":
        shown = ", ".join(repr(body_of(message)) for message in reply["messages"])
        return f"Peeked {shown or 'nothing'}"
    if kind == "Refused":
        return "Refused" if reply["error"] == "any" else f"Refused: {reply['error']}"
    if kind == "Done" and "partition" in reply:
        return f"Done (partition {reply['partition']})"
    return str(kind)


def gherkin(name: str, steps: Sequence[Exchange], setting: Setting | None = None) -> str:
    """Return the steps as a scenario for a bus, with the spec's replies as comments.

    A command that the vocabulary lacks becomes a comment as well, so that no step is missing.
    """
    setting = setting or Setting(edges=0)
    created = _find_creations(steps, setting)
    progress = _Progress(commands=len(created))
    lines = [
        f"When {sentence(RecordedCommand(number=number, command=command))}"
        for number, command in enumerate(created, start=1)
    ]
    for exchange in steps:
        command = _find_command(exchange, setting, progress)
        lines.append(_line(exchange, command, progress.commands + 1))
        lines.append(f"# -> {_reply_words(exchange.reply)}")
        if command is not None:
            progress.commands += 1
            progress.heard(exchange)
    if progress.commands:
        lines.append(f"Then {VERDICT}")
    return "\n".join([f"Scenario: {name}", *(f"  {line}" for line in _join_steps(lines))])


def _find_creations(steps: Sequence[Exchange], setting: Setting) -> list[v.CreateQueue]:
    """Return the commands that create the queues in the steps; none if no step can be replayed."""
    commands = [
        exchange.command
        for exchange in steps
        if _find_command(exchange, setting, _Progress()) is not None
    ]
    return creations(setting, iter(commands)) if commands else []


def _line(exchange: Exchange, command: v.Command | None, number: int) -> str:
    if command is None:
        return f"# {_plain(exchange.command)}"
    recorded = RecordedCommand(
        number=number, connection=connection_of(exchange.command), command=command
    )
    return f"When {sentence(recorded)}"


def _join_steps(lines: Sequence[str]) -> Iterator[str]:
    """Replace a `When` after another by `And`."""
    before = False
    for line in lines:
        yield f"And{line.removeprefix('When')}" if before and line.startswith("When") else line
        before = before or line.startswith("When")
