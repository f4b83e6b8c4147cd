"""Commands of a run, without their answers, to be replayed.

A lock token is known only when a receive has been answered, and another bus gives other tokens. So
a command that needs a token names the receive instead: `@5` is the lock that command 5 got.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from busproof import __version__
from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import PROTOCOL, check_protocol, structure, unstructure
from busproof.history.converters import ALWAYS
from busproof.history.lines import decode_line

__all__ = [
    "CommandFile",
    "RecordedCommand",
    "commands_of",
    "join_commands",
    "numbered",
    "read_commands",
    "resolved",
    "write_commands",
]

REFERENCE: Final = "@"
IDLE: Final = 1000
"""Least pause between two events on a real clock that is replayed, in microseconds."""


@attrs.frozen(kw_only=True)
class RecordedCommand:
    """One command of a list of commands.

    Attributes:
        number: its number in the list; other commands refer to it.
        connection: the connection that carries it.
        command: the command; in place of a lock token it has `@` and the number of a receive.
    """

    number: int = attrs.field(metadata=ALWAYS, validator=attrs.validators.ge(1))
    connection: str = attrs.field(default="c1", metadata=ALWAYS)
    command: v.Command


@attrs.frozen(kw_only=True)
class CommandFile:
    """A list of commands in a file, and where it comes from.

    Attributes:
        protocol: the version of the wire format.
        busproof: the version of busproof that wrote the file.
        rule: the rule that an implementation broke with these commands.
        profile: the profile of that implementation.
        commands: the commands, in order.
    """

    protocol: int = attrs.field(default=PROTOCOL, metadata=ALWAYS)
    busproof: str = __version__
    rule: v.RuleId = ""
    profile: v.Profile
    commands: tuple[RecordedCommand, ...]


def commands_of(
    events: Sequence[v.Event], clock: v.Clock = v.Clock.VIRTUAL
) -> tuple[RecordedCommand, ...]:
    """Return the commands of events, for a replay; on a real clock with the pauses between them."""
    return numbered(tuple(_convert_events(events, clock)))


def _convert_events(events: Sequence[v.Event], clock: v.Clock) -> Iterator[RecordedCommand]:
    numbers: dict[str, int] = {}
    number = idle_since = 0
    for event in events:
        if clock is v.Clock.REAL and event.called - idle_since > IDLE:
            number += 1
            yield RecordedCommand(
                number=number, command=v.AdvanceClock(duration=event.called - idle_since)
            )
        idle_since = event.called if event.returned is None else event.returned
        number += 1
        yield RecordedCommand(
            number=number,
            connection=event.connection,
            command=_refer_to_receives(event.command, numbers),
        )
        if isinstance(event.outcome, v.Received) and event.outcome.message.lock_token:
            numbers[event.outcome.message.lock_token] = number


def _refer_to_receives(command: v.Command, numbers: Mapping[str, int]) -> v.Command:
    tokens = _tokens(command)
    named = [f"{REFERENCE}{numbers[token]}" if token in numbers else token for token in tokens]
    return _replace_tokens(command, named)


def resolved(command: v.Command, tokens: Mapping[int, str]) -> v.Command | None:
    """Return the command with real lock tokens; `None` if a receive that it refers to got none.

    Args:
        command: a command of the list.
        tokens: the number of each receive to the lock token that it got.
    """
    real_tokens: list[str] = []
    for token in _tokens(command):
        number = _read_reference(token)
        if number is not None and number not in tokens:
            return None
        real_tokens.append(token if number is None else tokens[number])
    return _replace_tokens(command, real_tokens)


def numbered(commands: Sequence[RecordedCommand]) -> tuple[RecordedCommand, ...]:
    """Return the commands, numbered from 1 on."""
    return join_commands(commands)


def join_commands(*parts: Sequence[RecordedCommand]) -> tuple[RecordedCommand, ...]:
    """Return the commands of all parts, numbered from 1 on, with their references adapted."""
    commands: list[RecordedCommand] = []
    for part in parts:
        new = {recorded.number: place for place, recorded in enumerate(part, len(commands) + 1)}
        commands += [
            attrs.evolve(
                recorded,
                number=new[recorded.number],
                command=_renumber_command(recorded.command, new),
            )
            for recorded in part
        ]
    return tuple(commands)


def _renumber_command(command: v.Command, new: Mapping[int, int]) -> v.Command:
    tokens = _tokens(command)
    numbers = map(_read_reference, tokens)
    changed = [
        token if number is None else f"{REFERENCE}{new.get(number, 0)}"
        for token, number in zip(tokens, numbers, strict=True)
    ]
    return _replace_tokens(command, changed)


def _read_reference(token: str) -> int | None:
    digits = token.removeprefix(REFERENCE)
    return int(digits) if digits != token and digits.isdecimal() else None


def _tokens(command: v.Command) -> tuple[str, ...]:
    """Return the lock tokens in a command; most commands have none."""
    one = getattr(command, "lock_token", None)
    several: tuple[str, ...] = getattr(command, "lock_tokens", ())
    return several if one is None else (one,)


def _replace_tokens(command: v.Command, tokens: Sequence[str]) -> v.Command:
    if not tokens:
        return command
    changed: dict[str, Any] = {"lock_token": tokens[0]}
    if hasattr(command, "lock_tokens"):
        changed = {"lock_tokens": tuple(tokens)}
    return attrs.evolve(command, **changed)


def write_commands(path: str | os.PathLike[str], commands: CommandFile) -> None:
    """Write a list of commands to a file.

    Raises:
        HistoryError: the file cannot be written.
    """
    text = json.dumps(unstructure(commands), indent=2, ensure_ascii=False)
    try:
        Path(path).write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"cannot write {path}: {error.strerror}") from None


def read_commands(path: str | os.PathLike[str]) -> CommandFile:
    """Return the list of commands in a file.

    Raises:
        HistoryError: the file cannot be read, or is not a list of commands.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise HistoryError(f"cannot read the commands {path}: {error.strerror}") from None
    try:
        value = decode_line(raw)
        check_protocol(value.get("protocol"))
        return structure(value, CommandFile, "the list of commands")
    except HistoryError as error:
        raise HistoryError(f"{path} is not a list of commands: {error}") from None
