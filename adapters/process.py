"""Adapter for a program in any language, as a child process that uses the process protocol."""

import itertools
import shlex
import time
from typing import Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.adapters.child import FAREWELL, Broken, Child, Deadline
from busproof.errors import AdapterError, HistoryError, UsageError
from busproof.history import protocol

__all__ = ["DEFAULT_TIMEOUT", "RESTARTS", "ProcessAdapter"]

DEFAULT_TIMEOUT: Final = 10.0
"""Maximum wait for an answer, in seconds."""

STARTING: Final = 10.0
"""Minimum timeout for a child's first answer, in seconds, because starting takes longer."""

RESTARTS: Final = 3
"""Maximum number of broken child processes that are replaced in a run."""

A = TypeVar("A", bound=protocol.Answer)


class ProcessAdapter:
    """An adapter that sends requests to a child process, one at a time; not thread-safe.

    Args:
        command: the program and its arguments, quoted as for a shell; no shell runs it.
        timeout: maximum wait for an answer, in seconds; at least `STARTING` for the first one.

    Raises:
        UsageError: `command` or `timeout` is invalid.
        AdapterError: from every method, if the child breaks the protocol; the child is dead then,
            and the next `start` begins a new one, at most `RESTARTS` times.
    """

    def __init__(self, command: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._command, self._timeout = command, timeout
        self._arguments = _split(command)
        if not timeout > 0:
            raise UsageError(f"the timeout is {timeout} s, and must be more than 0")
        self._child: Child | None = None
        self._declaration: v.Declaration | None = None
        self._identities = itertools.count(1)
        self._failures = 0
        self._failure = ""

    @property
    def declaration(self) -> v.Declaration:
        """The declaration in the child's first answer; reading it starts the child if necessary."""
        return self._declaration or self._launch()

    def start(self, profile: v.Profile) -> None:
        """Begin with an empty namespace, in a new child process if the last one broke."""
        if self._child is None:
            self._launch()
        namespace = protocol.Namespace.of(profile)
        self._ask(
            protocol.StartRequest(id=next(self._identities), start=namespace),
            "start",
            protocol.StartedAnswer,
        )

    def do(self, command: v.Command, connection: str) -> v.Observed:
        """Execute a command in the child; on a real clock, `AdvanceClock` sleeps here instead."""
        if isinstance(command, v.AdvanceClock) and self.declaration.clock is v.Clock.REAL:
            time.sleep(command.duration / v.MICROSECONDS)
            return v.Observed(v.Done())
        request = protocol.CommandRequest(
            id=next(self._identities), connection=connection, command=command
        )
        answer = self._ask(request, type(command).__name__, protocol.CommandAnswer)
        return v.Observed(answer.outcome, answer.witness)

    def stop(self) -> None:
        """Send `bye`, and wait up to two seconds for the child to end before killing it."""
        if self._child is None:
            return
        deadline = Deadline(min(self._timeout, FAREWELL))
        self._ask(
            protocol.ByeRequest(id=next(self._identities)), "bye", protocol.ByeAnswer, deadline
        )
        try:
            self._child.await_end(deadline)
        except Broken as broken:
            raise self._broke(str(broken)) from None
        self._drop()

    def _launch(self) -> v.Declaration:
        if self._failures > RESTARTS:
            raise AdapterError(
                f"{self._name} broke {self._failures} times and is not started again; "
                f"at last: {self._failure}"
            )
        self._identities = itertools.count(1)
        try:
            self._child = Child(self._arguments)
        except Broken as broken:
            raise self._broke(str(broken)) from None
        hello = protocol.HelloRequest(id=next(self._identities))
        deadline = Deadline(max(self._timeout, STARTING))
        declaration = _declaration(self._ask(hello, "hello", protocol.HelloAnswer, deadline).hello)
        if self._declaration not in (None, declaration):
            raise self._broke("declares something else than before it was started again")
        self._declaration = declaration
        return declaration

    def _ask(
        self, request: protocol.Request, name: str, kind: type[A], deadline: Deadline | None = None
    ) -> A:
        child = self._child
        if child is None:
            raise AdapterError(f"{self._name} does not run: start a scenario before {name}")
        deadline = deadline or Deadline(self._timeout)
        called = f"request {request.id} ({name})"
        try:
            child.check_silence(called)
            child.send(protocol.encode(request), called, deadline)
            return _decode(child.receive(called, deadline), kind, request.id, called)
        except Broken as broken:
            raise self._broke(str(broken)) from None
        except BaseException:
            self._drop()
            raise

    @property
    def _name(self) -> str:
        return f"the adapter `{self._command}`"

    def _broke(self, text: str) -> AdapterError:
        self._failures += 1
        self._failure = f"it {text}"
        return AdapterError(f"{self._name} {text}{self._drop()}")

    def _drop(self) -> str:
        child, self._child = self._child, None
        if child is None:
            return ""
        tail = child.end()
        return f"\nits log ends with:\n{tail}" if tail else "\nits log is empty"


def _split(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the command `{command}` cannot be split into words: {error}") from None
    if not arguments:
        raise UsageError("the command is empty: name the program that is the adapter")
    return arguments


def _decode(line: bytes, kind: type[A], identity: int, called: str) -> A:
    try:
        return protocol.decode_answer(line, kind, identity)
    except HistoryError as error:
        advice = "" if line.startswith(b"{") else "; its log belongs on standard error"
        raise Broken(f"answered {called} wrongly: {error}{advice}") from None


def _declaration(declared: protocol.Declared) -> v.Declaration:
    implementation = declared.implementation
    return v.Declaration(
        implementation=v.Implementation(**attrs.asdict(implementation)),
        capabilities=frozenset(v.Capability(name) for name in declared.capabilities),
        clock=declared.clock,
        slack=declared.slack,
        several=declared.several,
    )
