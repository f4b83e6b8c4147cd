"""Judging of recorded histories by TLC: many traces in a run, each with its own verdict.

Each run also has control traces, copies in which one answer was made impossible. TLC must reject
each control at exactly that step; otherwise the run has no verdict.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.errors import TlcError
from busproof.tla.tlc import Progress, Task, run
from busproof.tla.traces.recorded import UNKNOWN, Recorded, Step

__all__ = ["BATCH", "Judged", "judge_traces", "spelt"]

BATCH: Final = 1000
"""Number of traces in one run of TLC."""

_SHORT: Final = 16
"""Number of messages up to which traces count as equally short."""

_CONTROLS: Final = 20
"""Number of traces for each control; each run has at least one control."""

_EXPLAINED: Final = re.compile(r'"T<<(\d+), (\d+)>>"')
_MODULE: Final = "TraceData"
_SECONDS: Final = 600.0
_SECONDS_A_TRACE: Final = 2.0


@attrs.frozen(kw_only=True)
class Judged:
    """The verdict on one trace.

    Attributes:
        trace: the trace.
        explained: how many of its steps the spec explains, from the first one on.
    """

    trace: Recorded
    explained: int

    @property
    def accepted(self) -> bool:
        """Whether the spec explains all steps."""
        return self.explained == len(self.trace.steps)

    @property
    def failing(self) -> Step | None:
        """The first step that the spec does not explain."""
        return None if self.accepted else self.trace.steps[self.explained]


def judge_traces(
    folder: Path,
    traces: Sequence[Recorded],
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
    timeout: float | None = None,
    heap: str | None = None,
) -> Iterator[Judged]:
    """Judge all traces with TLC; those with the same constants share a run.

    The longest trace of a run decides how many messages the spec has, and the cost of each state
    depends on that. So traces of similar length share a run.

    Raises:
        TlcError: TLC gave no verdict, or accepted a control.
    """
    groups: dict[object, list[Recorded]] = defaultdict(list)
    for trace in traces:
        size = max(_SHORT, _sends(trace)).bit_length() // 2
        groups[trace.partitions, trace.max_delivery, trace.ticks, size].append(trace)
    for group in groups.values():
        for begin in range(0, len(group), batch):
            yield from _judge(folder, group[begin : begin + batch], progress, timeout, heap)


def _judge(
    folder: Path,
    traces: Sequence[Recorded],
    progress: Progress | None,
    timeout: float | None,
    heap: str | None,
) -> list[Judged]:
    corrupted = list(_corrupt(traces))
    every = [trace.steps for trace in traces] + [steps for _, _, steps in corrupted]
    explained = dict.fromkeys(range(1, len(every) + 1), 0)

    def hear(line: str) -> None:
        if match := _EXPLAINED.match(line):
            number, step = int(match[1]), int(match[2])
            explained[number] = max(explained[number], step)

    task = Task(
        module=folder / f"{_MODULE}.tla",
        name=f"{len(traces):,} traces",
        config=_config(traces),
        files={f"{_MODULE}.tla": "\n".join(_module(every))},
        timeout=timeout or _SECONDS + _SECONDS_A_TRACE * len(every),
        heap=heap,
    )
    ended = run(task, hear, progress)
    if ended.reading.violation:
        raise TlcError(f"TLC reports {ended.reading.violated} while it judges traces")
    _insist_on_controls(corrupted, explained, len(traces))
    return [
        Judged(trace=trace, explained=explained[number])
        for number, trace in enumerate(traces, start=1)
    ]


def _corrupt(traces: Sequence[Recorded]) -> Iterator[tuple[int, int, tuple[Step, ...]]]:
    """Yield the controls: the index of a trace, that of its impossible step, and all steps."""
    able = [
        (index, place)
        for index, trace in enumerate(traces)
        if (place := _last_answered(trace.steps)) is not None
    ]
    wanted = max(1, len(able) // _CONTROLS)
    for index, place in able[:: max(1, len(able) // wanted)]:
        steps = list(traces[index].steps)
        steps[place] = _impossible(steps[place])
        yield index, place, tuple(steps)


def _last_answered(steps: Sequence[Step]) -> int | None:
    """Return the index of the last step with an answer that can be made impossible."""
    for place in range(len(steps) - 1, -1, -1):
        if steps[place].command["op"] in ("Receive", "Complete", "Abandon", "Peek"):
            return place
    return None


def _impossible(step: Step) -> Step:
    """Return the step with an answer that no state of the spec explains."""
    op = step.command["op"]
    if op == "Receive":
        reply: dict[str, Any] = {"type": "Received", "message": UNKNOWN}
    elif op == "Peek":
        reply = {"type": "Peeked", "messages": (UNKNOWN,)}
    else:
        reply = {"type": "Empty"}
    return attrs.evolve(step, replies=(reply,))


def _insist_on_controls(
    corrupted: Sequence[tuple[int, int, tuple[Step, ...]]],
    explained: Mapping[int, int],
    traces: int,
) -> None:
    for offset, (index, place, _) in enumerate(corrupted):
        control, original = explained[traces + offset + 1], explained[index + 1]
        if control != min(place, original):
            raise TlcError(
                f"a corrupted copy of trace {index + 1} had to be rejected at step {place + 1} and "
                f"was explained up to step {control}: the spec does not judge these traces"
            )


def _config(traces: Sequence[Recorded]) -> str:
    first = traces[0]
    steps = [step for trace in traces for step in trace.steps]
    keys = sorted({step.command["key"] for step in steps if "key" in step.command} - {"none"})
    sends = max(map(_sends, traces))
    partitions = spelt(frozenset(range(first.partitions)))
    connections = max(trace.connections for trace in traces)
    return "\n".join(
        [
            "SPECIFICATION TraceSpec",
            "VIEW TraceView",
            "CONSTANTS",
            f"  Partitions = {partitions}",
            f"  Breakable = {partitions}",
            f"  Keys = {spelt(frozenset(keys))}",
            f"  Connections = {spelt(frozenset(range(1, connections + 1)))}",
            '  Modes = {"peek-lock", "receive-and-delete"}',
            '  Timeouts = {"long", "short"}',
            "  PeekCounts = {}",
            f"  MaxMessages = {sends + 1}",
            f"  MaxDelivery = {first.max_delivery}",
            f"  LockTicks = {first.ticks}",
            "  Mortal = {}",
            "",
        ]
    )


def _sends(trace: Recorded) -> int:
    return sum(step.command["op"] == "Send" for step in trace.steps)


def _module(traces: Iterable[Sequence[Step]]) -> Iterator[str]:
    """Yield the lines of the data module.

    Each step has a line, because the parser SANY takes quadratic time in the length of a line.
    """
    yield f"---- MODULE {_MODULE} ----"
    yield "EXTENDS TraceContract"
    # The traces are put into a register (see `Traces`), because TLC evaluates a definition anew at
    # each use.
    yield "ASSUME TLCSet(1, <<"
    for number, steps in enumerate(traces):
        yield ", <<" if number else "<<"
        for place, step in enumerate(steps):
            replies = ", ".join(spelt(reply) for reply in step.replies)
            comma = ", " if place else ""
            yield f"{comma}[command |-> {spelt(step.command)}, replies |-> {{{replies}}}]"
        yield ">>"
    yield ">>)"
    yield "===="


def spelt(value: object) -> str:
    """Return a Python value as a TLA+ expression."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        return f"[{', '.join(f'{name} |-> {spelt(field)}' for name, field in value.items())}]"
    if isinstance(value, tuple):
        return f"<<{', '.join(map(spelt, value))}>>"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(spelt, value)))}}}"
    if isinstance(value, str):
        # TLC reads only plain ASCII in strings, but a history may have any text.
        plain = "".join(
            character if _is_plain(character) else f"_{ord(character):x}_" for character in value
        )
        return f'"{plain}"'
    raise AssertionError(f"{value!r} has no place in a trace")


def _is_plain(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in " .-+:/")
