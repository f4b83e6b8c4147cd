"""A counterexample as people read it: commands and answers, and a scenario in Gherkin."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
from immutables import Map

from busproof.errors import ConformanceError
from busproof.history.words import command_words, seconds
from busproof.model.commands import (
    DEFAULT_TIMEOUT,
    Abandon,
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    Peek,
    Receive,
    RollBackTransaction,
    Send,
    TakePartitionDown,
)
from busproof.model.values import MICROSECONDS, Message, ReceiveMode
from busproof.tla.asking import QUEUE, asked, body_of
from busproof.tla.manifest import Setting
from busproof.tla.messages import State
from busproof.tla.values import Value, parse

__all__ = ["Said", "gherkin", "said_in", "story"]

INVALID: Final = "invalid-operation"


@attrs.frozen
class Said:
    """One step of a counterexample: the spec's command and reply."""

    command: Mapping[str, Any]
    reply: Mapping[str, Any]


def said_in(trace: Iterable[State]) -> tuple[Said, ...]:
    """What was asked and answered, step by step; nothing where a spec keeps no `said`."""
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
    """What commands refer to, as far as the steps before have told."""

    sent: int = 0
    attempts: int = 0
    deliveries: dict[int, int] = attrs.field(factory=dict)

    def fresh_body(self) -> str:
        return body_of(self.sent + 1)

    def token(self, message: int, *, held: bool) -> str | None:
        latest = self.deliveries.get(message, 1)
        return f"m{message}/{latest}" if held else f"m{message}/{latest} (lost)"

    def heard(self, said: Said) -> None:
        op, kind = said.command["op"], said.reply["type"]
        if op == "Send" and kind == "Done":
            self.sent += 1
        if op == "Receive" and kind == "Received":
            message = said.reply["message"]
            self.deliveries[message] = self.deliveries.get(message, 0) + 1


def story(steps: Sequence[Said], setting: Setting | None = None) -> tuple[str, ...]:
    """Each step as a line: what was asked, what came."""
    told = _Told()
    lines = []
    for said in steps:
        command = _asked(said, setting or Setting(edges=0), told)
        asks = command_words(command) if command is not None else _plain(said.command)
        over = said.command.get("connection", 1)
        who = f" over connection c{over}" if over != 1 else ""
        lines.append(f"{asks}{who} -> {_reply_words(said.reply)}")
        told.heard(said)
    return tuple(lines)


def _asked(said: Said, setting: Setting, told: _Told) -> Command | None:
    """The command in the vocabulary; `None` for what only the specs have words for."""
    try:
        return asked(said.command, setting, told)
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
    """The steps as a scenario in the features' own sentences.

    What no sentence says stands as a comment, so that the scenario still tells the whole story.
    """
    setting = setting or Setting(edges=0)
    told = _Told()
    lines: list[tuple[str, str]] = [("Given", _queue_words(setting))]
    for said in steps:
        command = _asked(said, setting, told)
        found = list(_sentences(command, said)) if command is not None else []
        lines += found or [("#", _plain(said.command) + " -> " + _reply_words(said.reply))]
        told.heard(said)
    return "\n".join([f"Scenario: {name}", *(f"  {line}" for line in _joined(lines))])


def _joined(lines: list[tuple[str, str]]) -> Iterator[str]:
    """`And` where a keyword would stand twice in a row."""
    latest = ""
    for keyword, sentence in lines:
        if keyword == "#":
            yield f"# {sentence}"
            continue
        yield f"{'And' if keyword == latest else keyword} {sentence}"
        latest = keyword


def _queue_words(setting: Setting) -> str:
    queue = CreateQueue(queue=QUEUE, **setting.queue)
    kind = "partitioned" if queue.partitioned else "regular"
    if queue.requires_session:
        return f"a {kind} queue that requires sessions"
    return f"a {kind} queue with duplicate detection" * queue.duplicate_detection or (
        f"a {kind} queue"
    )


def _sentences(command: Command, said: Said) -> Iterator[tuple[str, str]]:
    """The sentences of one step; none where the features have none for it."""
    connection = said.command.get("connection", 1)
    elsewhere = "" if connection == 1 else " over another connection"
    match command:
        case Send():
            yield "When", _send_words(command)
            yield from _came(said)
        case Receive() if said.reply["type"] == "Empty":
            yield "Then", f"a receive{elsewhere} finds nothing"
        case Receive(mode=mode, session_id=None) if said.reply["type"] == "Received":
            how = "kept" if mode is ReceiveMode.PEEK_LOCK else "deleted"
            if not elsewhere:
                yield "When", f"a message is received and {how}"
        case Complete() | Abandon():
            how = "completed" if isinstance(command, Complete) else "abandoned"
            yield "When", f"the message kept is {how}"
            yield from _came(said)
        case Peek():
            yield "When", "messages are peeked"
            if said.reply["type"] == "Peeked" and not said.reply["messages"]:
                yield "Then", "no message is shown"
        case AdvanceClock(duration=duration):
            yield "When", f"{duration // MICROSECONDS} seconds pass"
        case _:
            yield from _world(command, said, elsewhere)


def _world(command: Command, said: Said, elsewhere: str) -> Iterator[tuple[str, str]]:
    match command:
        case TakePartitionDown(partition=partition):
            yield "When", f"partition {partition} is taken down"
        case BringPartitionUp(partition=partition):
            yield "When", f"partition {partition} is brought up"
        case AcceptSession(session_id=session):
            yield "When", f'session "{session}" is accepted{elsewhere}'
            if elsewhere:
                yield from _came(said)
        case CloseSession(session_id=session) if not elsewhere:
            yield "When", f'session "{session}" is closed'
        case BeginTransaction():
            yield "Given", "a transaction"
        case CommitTransaction() if said.reply["type"] == "Done":
            yield "When", "the transaction is committed"
        case RollBackTransaction() if said.reply["type"] == "Done":
            yield "When", "the transaction is rolled back"


def _send_words(command: Send) -> str:
    words = f"a message {_properties(command.message)} is sent"
    if command.transaction is not None:
        return f"{words} in the transaction"
    if command.timeout != DEFAULT_TIMEOUT:
        return f"{words} with a timeout of {seconds(command.timeout).removesuffix(' s')} seconds"
    return words


def _properties(message: Message) -> str:
    named = {
        "SessionId": message.session_id,
        "PartitionKey": message.partition_key,
        "MessageId": message.message_id,
    }
    found = [f'{name} "{value}"' for name, value in named.items() if value is not None]
    return f"with {' and '.join(found)}" if found else "without key"


def _came(said: Said) -> Iterator[tuple[str, str]]:
    if said.reply["type"] == "Done":
        yield "Then", "it is accepted"
    elif said.reply["type"] == "Refused":
        named = said.reply["error"] == INVALID
        yield "Then", "it is refused as an invalid operation" if named else "it is refused"
