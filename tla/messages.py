"""Parser of TLC's output with `-tool`: numbered messages between marks, and printed lines."""

import re
from collections.abc import Callable
from typing import Final

import attrs

__all__ = ["ERRORS", "VIOLATIONS", "Code", "Listener", "Message", "Reading", "State"]


class Code:
    """Numbers of the messages that busproof reads (TLC 2.15, `tlc2/output/EC.java`)."""

    INVARIANT_INITIALLY = 2107
    INVARIANT = 2110
    ACTION_PROPERTY = 2112
    DEADLOCK = 2114
    TEMPORAL = 2116
    STATE = 2217
    STUTTERING = 2218
    BACK_TO_STATE = 2122
    SUCCESS = 2193
    DEPTH = 2194
    STATS = 2199
    PROGRESS = 2200
    COVERED_ACTION = 2772
    INITIAL = (2190, 2191, 2207, 2208)
    SANY_BEGINS = 2220
    SANY_ENDS = 2219
    PARSING_FAILED = 3002
    ASSUMPTION = (2104, 2105)


VIOLATIONS: Final = {
    Code.INVARIANT_INITIALLY: "invariant",
    Code.INVARIANT: "invariant",
    Code.ACTION_PROPERTY: "action-property",
    Code.DEADLOCK: "deadlock",
    Code.TEMPORAL: "liveness",
}
"""Number of a message to the kind of violation that it reports."""

ERRORS: Final = 1
"""The severity of error messages."""

_START: Final = re.compile(r"@!@!@STARTMSG (\d+):(\d) @!@!@")
_END: Final = re.compile(r"@!@!@ENDMSG (\d+) @!@!@")
_NAMED: Final = re.compile(r"(?:Invariant|Action property|property) (\S+) (?:is|was) violated")
_COUNTS: Final = re.compile(r"([\d,]+) states generated.*?([\d,]+) distinct states found")
_ACTION: Final = re.compile(r"<(\S+) line .* of module (\S+)>: (\d+):(\d+)")
_STEP: Final = re.compile(r"(\d+): <(\S+).*>")
_NUMBER: Final = re.compile(r"[\d,]+")
_MODULE_NOISE: Final = ("Parsing file ", "Semantic processing of module ")


@attrs.frozen
class Message:
    """A message of TLC."""

    code: int
    severity: int
    text: str


@attrs.frozen
class State:
    """A state of a counterexample: the action that led to it, and its variables as printed."""

    action: str
    variables: dict[str, str]


@attrs.define
class Reading:
    """The output of a run as far as it has come.

    Attributes:
        distinct: the number of distinct states found so far.
        generated: the number of states generated so far, including initial ones.
        initial: the number of initial states.
        depth: the depth of the search; 0 until the search is complete.
        success: whether TLC has reported that it found no error.
        violation: the kind of violation; empty if there is none.
        violated: the name of the violated property, if TLC reports it.
        trace: the states of the counterexample.
        loop: for a violation of liveness, the number of the state where the loop begins.
        actions: action to the numbers of (distinct, all) states that it generated.
        errors: messages with the severity of an error, in order.
        parsing: the output of the parser SANY.
        printed: how many lines the spec has printed.
    """

    distinct: int = 0
    generated: int = 0
    initial: int = 0
    depth: int = 0
    success: bool = False
    violation: str = ""
    violated: str = ""
    trace: list[State] = attrs.field(factory=list)
    loop: int | None = None
    actions: dict[str, tuple[int, int]] = attrs.field(factory=dict)
    errors: list[Message] = attrs.field(factory=list)
    parsing: list[str] = attrs.field(factory=list)
    printed: int = 0


class Listener:
    """Parser of TLC's output, line by line.

    Args:
        printed: called with each line that the spec prints before a violation; after one, TLC
            evaluates the spec again for the counterexample, and repeats lines.
    """

    def __init__(self, printed: Callable[[str], None] | None = None) -> None:
        self.reading = Reading()
        self._printed = printed
        self._open: list[tuple[int, int, list[str]]] = []
        self._in_sany = False

    def hear(self, line: str) -> None:
        """Parse one line, without its line break."""
        if line.startswith('"') and not self._open:
            self._take_printed(line)
        elif "@!@!@" in line:
            self._take_mark(line)
        elif self._open:
            self._open[-1][2].append(line)
        elif self._in_sany and line.strip() and not line.startswith(_MODULE_NOISE):
            self.reading.parsing.append(line.strip())
        elif line.startswith(("Exception in thread", "Error:", "Terminating due to", "java.lang")):
            self.reading.errors.append(Message(0, ERRORS, line.strip()))

    def _take_printed(self, line: str) -> None:
        if not self.reading.violation:
            self.reading.printed += 1
            if self._printed is not None:
                self._printed(line)

    def _take_mark(self, line: str) -> None:
        before, _, _ = line.partition("@!@!@")
        start = _START.search(line)
        if start is not None:
            if before.strip() and self._open:
                self._open[-1][2].append(before.strip())
            self._open.append((int(start[1]), int(start[2]), []))
        elif _END.search(line) and self._open:
            code, severity, lines = self._open.pop()
            if self._open:
                # TLC puts the message of an evaluation error inside the message about the failure.
                self._open[-1][2].extend(lines)
            else:
                self._take(Message(code, severity, "\n".join(lines).strip("\n")))

    def _take(self, message: Message) -> None:
        code, reading = message.code, self.reading
        if code in VIOLATIONS:
            self._take_violation(message)
        elif code in (Code.STATE, Code.STUTTERING, Code.BACK_TO_STATE):
            self._take_state(message)
        elif code in (Code.STATS, Code.PROGRESS):
            self._take_counts(message.text)
        elif code == Code.COVERED_ACTION:
            self._take_action(message.text)
        elif code in Code.INITIAL and (match := _NUMBER.search(message.text.partition(":")[2])):
            reading.initial = _int(match[0])
        elif code == Code.DEPTH:
            reading.depth = _last_int(message.text)
        elif code == Code.SUCCESS:
            reading.success = True
        elif code in (Code.SANY_BEGINS, Code.SANY_ENDS):
            self._in_sany = code == Code.SANY_BEGINS
        elif message.severity == ERRORS:
            reading.errors.append(message)

    def _take_violation(self, message: Message) -> None:
        if not self.reading.violation:
            self.reading.violation = VIOLATIONS[message.code]
            named = _NAMED.search(message.text)
            self.reading.violated = named[1] if named else ""
            if message.code == Code.INVARIANT_INITIALLY:
                self._take_variables("Init", message.text.splitlines()[1:])

    def _take_state(self, message: Message) -> None:
        first, *rest = message.text.splitlines()
        if message.code != Code.STATE:
            number = _int(first.partition(":")[0]) if ":" in first else 0
            # The behaviour ends in a loop; if TLC names no state to go back to, the last one
            # repeats.
            # repeats.
            self.reading.loop = number - 1 if message.code == Code.STUTTERING else number
            return
        step = _STEP.match(first)
        action = step[2] if step and step[2] != "Initial" else "Init"
        self._take_variables(action, rest)

    def _take_variables(self, action: str, lines: list[str]) -> None:
        variables: dict[str, str] = {}
        name = ""
        for line in lines:
            begun = re.match(r"(?:/\\ )?(\w+) = (.*)", line)
            if begun and (line.startswith("/\\ ") or not variables):
                name = begun[1]
                variables[name] = begun[2]
            elif name:
                variables[name] += f" {line.strip()}"
        self.reading.trace.append(State(action, variables))

    def _take_counts(self, text: str) -> None:
        # A rate in parentheses separates the two counts.
        counts = _COUNTS.search(re.sub(r" \([^)]*\)", "", text))
        if counts is not None:
            self.reading.generated, self.reading.distinct = _int(counts[1]), _int(counts[2])

    def _take_action(self, text: str) -> None:
        match = _ACTION.match(text.strip())
        if match is not None:
            distinct, generated = self.reading.actions.get(match[1], (0, 0))
            self.reading.actions[match[1]] = (
                distinct + int(match[3]),
                generated + int(match[4]),
            )


def _int(text: str) -> int:
    return int(text.replace(",", ""))


def _last_int(text: str) -> int:
    numbers = _NUMBER.findall(text)
    return _int(numbers[-1]) if numbers else 0
