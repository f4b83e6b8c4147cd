"""Render a counterexample: as commands with replies, and as a scenario in Gherkin."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.errors import ConformanceError
from busproof.history.render.commands import command_words
from busproof.history.render.gherkin import VERDICT, sentence
from busproof.history.replay import REFERENCE, Asked
from busproof.tla.graphs.command_mapping import asked, body_of, connection_of
from busproof.tla.graphs.setup import creations
from busproof.tla.manifest import Setting
from busproof.tla.messages import State
from busproof.tla.values import Value, parse

__all__ = ["Said", "gherkin", "said_in", "story"]


@attrs.frozen
class Said:
    """A step of a counterexample: a command of the spec and its reply."""

    command: Mapping[str, Any]
    reply: Mapping[str, Any]


def said_in(trace: Iterable[State]) -> tuple[Said, ...]:
    """Return the commands and replies of a trace; none if the spec has no variable `said`."""
    found = []
    for state in list(trace)[1:]:
        value: Value = parse(state.variables["said"]) if "said" in state.variables else Map()
        if isinstance(value, Map) and "command" in value:
            found.append(Said(_words(value["command"]), _words(value["reply"])))
    return tuple(found)


def _words(record: Any) -> dict[str, Any]:
    return {str(name): value for name, value in record.items()}


@attrs.define
class _Told:
    """The values that later commands refer to, collected from the steps so far.

    Attributes:
        sent: number of accepted sends.
        asked: number of commands so far; a scenario names locks by these numbers.
        receipts: message to the numbers of the receives that returned it.
        dead: messages received from a dead-letter queue.
    """

    sent: int = 0
    asked: int = 0
    receipts: dict[int, list[int]] = attrs.field(factory=dict)
    dead: set[int] = attrs.field(factory=set)

    def fresh_body(self) -> str:
        return body_of(self.sent + 1)

    def token(self, message: int, *, held: bool) -> str | None:
        """Return the latest lock or, unless `held`, the one before it, which is lost."""
        received = self.receipts.get(message)
        if received is None:
            return None
        return f"{REFERENCE}{received[-1] if held else received[max(0, len(received) - 2)]}"

    def is_dead(self, message: int, *, held: bool) -> bool:  # noqa: ARG002 - required by Known
        """Return whether the message was received from a dead-letter queue."""
        return message in self.dead

    def scheduled(self, message: int) -> int | None:  # noqa: ARG002 - required by Known
        """Return no number; see `number`."""
        return None

    def number(self, message: int) -> int | None:  # noqa: ARG002 - required by Known
        """Return no number: the sequence numbers of a bus are not known in advance."""
        return None

    def heard(self, said: Said) -> None:
        op, kind = said.command["op"], said.reply["type"]
        if (op, kind) in (("Send", "Done"), ("Schedule", "Scheduled")):
            self.sent += 1
        if op == "Receive" and kind == "Received":
            self.receipts.setdefault(said.reply["message"], []).append(self.asked)
            if said.command.get("from") == "dead-letter queue":
                self.dead.add(said.reply["message"])


def story(steps: Sequence[Said], setting: Setting | None = None) -> tuple[str, ...]:
    """Return each step as a line with its command and its reply."""
    progress = _Told()
    lines = []
    for said in steps:
        command = _asked(said, setting or Setting(edges=0), progress)
        progress.asked += 1
        progress.heard(said)
        asks = command_words(command) if command is not None else _plain(said.command)
        over = said.command.get("connection", 1)
        who = f" over connection c{over}" if over != 1 else ""
        lines.append(f"{asks}{who} -> {_reply_words(said.reply)}")
    return tuple(lines)


def _asked(said: Said, setting: Setting, progress: _Told) -> v.Command | None:
    """Return the command in the vocabulary; `None` if the vocabulary lacks it."""
    try:
        return asked(said.command, setting, progress)
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
        shown = ", ".join(repr(body_of(each)) for each in reply["messages"])
        return f"Peeked {shown or 'nothing'}"
    if kind == "Refused":
        return "Refused" if reply["error"] == "any" else f"Refused: {reply['error']}"
    if kind == "Done" and "partition" in reply:
        return f"Done (partition {reply['partition']})"
    return str(kind)


def gherkin(name: str, steps: Sequence[Said], setting: Setting | None = None) -> str:
    """Return the steps as a scenario for a bus, with the spec's replies as comments.

    Commands that the vocabulary lacks also become comments, so that no step is missing.
    """
    setting = setting or Setting(edges=0)
    created = _created(steps, setting)
    progress = _Told(asked=len(created))
    lines = [
        f"When {sentence(Asked(number=number, command=command))}"
        for number, command in enumerate(created, start=1)
    ]
    for said in steps:
        command = _asked(said, setting, progress)
        lines.append(_line(said, command, progress.asked + 1))
        lines.append(f"# -> {_reply_words(said.reply)}")
        if command is not None:
            progress.asked += 1
            progress.heard(said)
    if progress.asked:
        lines.append(f"Then {VERDICT}")
    return "\n".join([f"Scenario: {name}", *(f"  {line}" for line in _joined(lines))])


def _created(steps: Sequence[Said], setting: Setting) -> list[v.CreateQueue]:
    """Return the commands that create the queues of the steps, if any step can be replayed."""
    commands = [said.command for said in steps if _asked(said, setting, _Told()) is not None]
    return creations(setting, iter(commands)) if commands else []


def _line(said: Said, command: v.Command | None, number: int) -> str:
    if command is None:
        return f"# {_plain(said.command)}"
    asked = Asked(number=number, connection=connection_of(said.command), command=command)
    return f"When {sentence(asked)}"


def _joined(lines: Sequence[str]) -> Iterator[str]:
    """Replace a repeated `When` with `And`."""
    before = False
    for line in lines:
        yield f"And{line.removeprefix('When')}" if before and line.startswith("When") else line
        before = before or line.startswith("When")
