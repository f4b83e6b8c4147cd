"""Checks of a program's use of the process protocol, line by line."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import attrs

from busproof import vocabulary as v
from busproof.adapters.checking.findings import Exchange, Finding, Lesson, Result, Wrong
from busproof.adapters.checking.talk import one_line
from busproof.adapters.child import FAREWELL, Broken, Child, Deadline
from busproof.errors import HistoryError
from busproof.history import protocol
from busproof.history.lines import decode_line

__all__ = ["WIRE", "wire_findings"]

QUIET: Final = 0.1
"""How long to listen to a child process that has no request to answer, in seconds."""

ODD_IDS: Final = (7, 1000, 2**31, 2**53 - 1)

_ANSWERS: Final[dict[str, type[protocol.Answer]]] = {
    name: protocol.ANSWERS[kind] for name, kind in protocol.REQUESTS.items()
}


class _Line:
    """A child process that exchanges single lines with a check."""

    def __init__(self, arguments: list[str], timeout: float) -> None:
        self._timeout = timeout
        self.exchanges: list[Exchange] = []
        try:
            self.child = Child(arguments)
        except Broken as broken:
            raise Wrong(f"it {broken}") from None

    def ask(self, identity: int, kind: str, content: Any, **more: str) -> protocol.Answer:
        """Send a request and return the valid answer; `kind` names the request's field.

        Raises:
            Wrong: the answer is invalid.
        """
        line = json.dumps({"id": identity, **more, kind: content}).encode() + b"\n"
        came = self._exchange(line, kind)
        try:
            return protocol.decode_answer(came, _ANSWERS[kind], identity)
        except HistoryError as error:
            if kind in _field_names(came) or not _field_names(came):
                raise Wrong(str(error)) from None
            raise Wrong(f"{error}; the answer to {kind} is {_SHAPES[kind]}") from None

    def _exchange(self, line: bytes, kind: str) -> bytes:
        sent = one_line(line.decode())
        deadline = Deadline(self._timeout)
        try:
            self.child.check_silence(kind)
            self.child.send(line, kind, deadline)
            came = self.child.receive(kind, deadline)
        except Broken as broken:
            self.exchanges.append(Exchange(sent=sent, came=""))
            raise Wrong(f"it {broken}") from None
        self.exchanges.append(Exchange(sent=sent, came=one_line(came.decode("utf-8", "replace"))))
        return came

    def listen(self) -> None:
        """Raise `Wrong` if the child process writes anything without a request."""
        time.sleep(QUIET)
        try:
            self.child.check_silence("a request")
        except Broken as broken:
            raise Wrong(f"it {broken}") from None

    def greet(self) -> protocol.Declared:
        """Send `hello`, and return the declaration of the child process."""
        return cast(protocol.HelloAnswer, self.ask(1, "hello", {"protocol": 1})).hello

    def begin(self, identity: int = 2) -> None:
        """Start an empty namespace in the child process."""
        self.ask(identity, "start", _NAMESPACE)

    def command(self, identity: int, **command: Any) -> protocol.CommandAnswer:
        """Send a command, and return the child's answer."""
        answer = self.ask(identity, "command", command, connection="c1")
        return cast(protocol.CommandAnswer, answer)


_NAMESPACE: Final = {"edition": "de-2021-04", "tier": v.Tier.STANDARD.value, "partitions": 16}

_SHAPES: Final = {
    "hello": '{"id": …, "hello": DECLARATION}',
    "start": '{"id": …, "started": {}}',
    "command": '{"id": …, "outcome": OUTCOME}, with "witness" if there is one',
    "bye": '{"id": …, "bye": {}}',
}


def _field_names(line: bytes) -> set[str]:
    try:
        return set(decode_line(line)) - {"id"}
    except HistoryError:
        return set()


def _greets(line: _Line) -> None:
    line.greet()


def _starts(line: _Line) -> None:
    line.greet()
    line.begin()


def _answers_once(line: _Line) -> None:
    line.greet()
    line.listen()
    line.begin()
    line.listen()
    line.command(3, type="CreateQueue", queue="q")
    line.listen()


def _repeats_ids(line: _Line) -> None:
    line.greet()
    line.begin()
    for place, identity in enumerate(ODD_IDS):
        line.command(identity, type="CreateQueue", queue=f"q{place}")


def _fills_in_defaults(line: _Line) -> None:
    """Leave out all fields that have their default values."""
    line.greet()
    line.begin()
    for command in (
        {"type": "CreateQueue", "queue": "q"},
        {"type": "Send", "queue": "q", "message": {"body": "m1"}},
    ):
        answer = line.command(3, **command)
        if type(answer.outcome).__name__ != "Done":
            raise Wrong(f"{command['type']} with its defaults left out is to be Done")


def _knows_its_limits(line: _Line) -> None:
    line.greet()
    line.begin()
    answer = line.command(3, type="FlyToTheMoon", queue="q")
    if type(answer.outcome).__name__ != "Unsupported":
        raise Wrong("a command that no adapter knows was not answered with Unsupported")
    answer = line.command(4, type=v.CreateQueue.__name__, queue="q")
    if type(answer.outcome).__name__ != "Done":
        raise Wrong("it does not continue after a command that it does not know")


def _leaves(line: _Line) -> None:
    line.greet()
    line.begin()
    line.ask(3, "bye", {})
    try:
        line.child.await_end(Deadline(FAREWELL))
    except Broken as broken:
        raise Wrong(f"it {broken}") from None


def _leaves_at_once(line: _Line) -> None:
    """Send `bye` right after `hello`, as a run without scenarios does."""
    line.greet()
    line.ask(2, "bye", {})


WIRE: Final[tuple[tuple[Lesson, Callable[[_Line], None]], ...]] = (
    (
        Lesson(
            id="hello",
            title="answers hello with its declaration",
            protocol='The first request is {"id": 1, "hello": {"protocol": 1}}; the answer is one '
            "line with the same id and the declaration: protocol, implementation, capabilities, "
            "clock, slack.",
            advice="Print one JSON object and flush; use the fields and names of the protocol's "
            "tables, each once, and no others.",
        ),
        _greets,
    ),
    (
        Lesson(
            id="started",
            title="answers start",
            protocol='start is answered with {"started": {}} once the namespace is empty.',
            advice="Answer after you have cleaned up, and take start any number of times.",
        ),
        _starts,
    ),
    (
        Lesson(
            id="one-answer",
            title="writes one line for each request and nothing else",
            protocol="A child writes exactly one line for each request. A line that nobody asked "
            "for breaks the conversation; the log belongs on standard error.",
            advice="Look for print statements of yours, and of libraries that log to standard "
            "output.",
        ),
        _answers_once,
    ),
    (
        Lesson(
            id="ids",
            title="repeats the id of the request",
            protocol="An answer has the id of its request, which is any whole number.",
            advice="Copy the id; do not count yourself, and do not convert it to text.",
        ),
        _repeats_ids,
    ),
    (
        Lesson(
            id="defaults",
            title="uses the defaults of omitted fields",
            protocol="A command or a message may omit fields that have a default.",
            advice="Read each field with the default of the protocol's table.",
        ),
        _fills_in_defaults,
    ),
    (
        Lesson(
            id="unknown-command",
            title="answers a command that it does not know with Unsupported",
            protocol="Unsupported means that the adapter does not know a command; later versions "
            "of busproof have more of them.",
            advice="End your table of commands with a branch for all others.",
        ),
        _knows_its_limits,
    ),
    (
        Lesson(
            id="bye",
            title="answers bye and ends",
            protocol='bye is answered with {"bye": {}}; the child then exits within 2 s.',
            advice="Leave your loop after bye, and stop threads that would keep the program alive.",
        ),
        _leaves,
    ),
    (
        Lesson(
            id="bye-early",
            title="answers bye before any start",
            protocol="bye may come at any time after hello.",
            advice="Answer it even if there was no start.",
        ),
        _leaves_at_once,
    ),
)
"""Requirements for the lines themselves; each is checked with a new child process."""

SAME: Final = Lesson(
    id="same-declaration",
    title="declares the same when it is started again",
    protocol="A child that is restarted after a failure must declare the same as before.",
    advice="Declare what your adapter supports, not the present state of your bus.",
)


def wire_findings(arguments: list[str], timeout: float) -> Iterator[Finding]:
    """Check the lines of a program; yield each finding. If `hello` fails, skip the rest."""
    greeted = True
    for lesson, run in WIRE:
        if greeted:
            finding = _finding(lesson, run, arguments, timeout)
            greeted = lesson.id != "hello" or finding.result is Result.PASSED
            yield finding
        else:
            yield Finding(lesson=lesson, result=Result.NOT_TRIED, detail="hello has failed")
    if greeted:
        yield _same(arguments, timeout)
    else:
        yield Finding(lesson=SAME, result=Result.NOT_TRIED, detail="hello has failed")


def _finding(
    lesson: Lesson, run: Callable[[_Line], None], arguments: list[str], timeout: float
) -> Finding:
    try:
        line = _Line(arguments, timeout)
    except Wrong as wrong:
        return Finding(lesson=lesson, result=Result.FAILED, detail=str(wrong))
    detail = ""
    try:
        run(line)
    except Wrong as wrong:
        detail = str(wrong)
    finally:
        tail = line.child.end()
    if detail and tail:
        detail = f"{detail}\nits log ends with:\n{tail}"
    result = Result.FAILED if detail else Result.PASSED
    return Finding(lesson=lesson, result=result, detail=detail, exchanges=tuple(line.exchanges))


def _same(arguments: list[str], timeout: float) -> Finding:
    declared = []

    def greets_again(line: _Line) -> None:
        declared.append(line.greet())
        if declared[0] != declared[-1]:
            raise Wrong("two children of the same command declare different things")

    first = _finding(SAME, greets_again, arguments, timeout)
    if first.result is not Result.PASSED:
        return first
    second = _finding(SAME, greets_again, arguments, timeout)
    return attrs.evolve(second, exchanges=(*first.exchanges, *second.exchanges))
