"""`busproof modelcheck --traces`: judge recorded histories with TLC."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from busproof.cli.console import write_aside
from busproof.cli.frame import Options
from busproof.errors import TlcError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.tla.traces.judge import Judged
    from busproof.tla.traces.unsupported import LeftOut

__all__ = ["run_traces"]

_REJECTED: Final = 1
_NOTHING_JUDGED: Final = 3
_SHOWN: Final = 10


def run_traces(args: Options, folder: Path) -> int:
    """Judge histories; return 1 if a trace was rejected, 3 if there was no trace, else 0.

    Raises:
        HistoryError: a file is not a history.
        TlcError: TLC gave no verdict.
    """
    from busproof.history.files import load  # the catalogue alone starts faster
    from busproof.tla.traces.judge import judge_traces
    from busproof.tla.traces.recorded import Recorded, find_traces
    from busproof.tla.traces.unsupported import LeftOut

    need("tla", "busproof modelcheck")
    recordings: list[Recorded | LeftOut] = []
    for path in args.traces:
        history = load(path)
        for scenario in history.scenarios:
            recordings += find_traces(scenario, history.header.profile)
    traces = [recording for recording in recordings if isinstance(recording, Recorded)]
    left_out = [recording for recording in recordings if isinstance(recording, LeftOut)]
    if sys.stderr.isatty():
        write_aside(f"TLC judges {len(traces):,} traces")
    verdicts = list(judge_traces(folder, traces, timeout=args.timeout, heap=args.heap))
    if args.format == "json":
        _print_json(verdicts, left_out)
    else:
        _print(verdicts, left_out)
    if any(not verdict.accepted for verdict in verdicts):
        return _REJECTED
    return 0 if verdicts else _NOTHING_JUDGED


def _print(verdicts: "list[Judged]", left_out: "list[LeftOut]") -> None:
    from busproof.history.render.events import event_words

    rejected = [verdict for verdict in verdicts if not verdict.accepted]
    steps = sum(verdict.explained for verdict in verdicts)
    lines = [
        f"{len(verdicts) - len(rejected):,} of {len(verdicts):,} traces explained by the contract, "
        f"{steps:,} steps"
    ]
    for judged in rejected[:_SHOWN]:
        step = judged.failing
        if step is None:
            raise TlcError("a rejected trace has a step that fails")
        lines += [
            f"\nrejected: {judged.trace.scenario}, queue {judged.trace.queue}, at step "
            f"{judged.explained + 1} of {len(judged.trace.steps)}:",
            f"  {event_words(step.event)}",
        ]
    if rejected[_SHOWN:]:
        lines.append(f"\n… and {len(rejected) - _SHOWN:,} rejected more; --format json has all")
    cut = Counter(verdict.trace.cut for verdict in verdicts if verdict.trace.cut)
    lines += ["\nJudged up to a point only:"] if cut else []
    lines += [f"  {number:5,}  {why}" for why, number in cut.most_common()]
    causes = Counter(omitted.why for omitted in left_out)
    lines += ["\nLeft out, queue by queue:"] if causes else []
    lines += [f"  {number:5,}  {why}" for why, number in causes.most_common()]
    sys.stdout.write("\n".join(lines) + "\n")


def _print_json(verdicts: "list[Judged]", left_out: "list[LeftOut]") -> None:
    from busproof.history.render.events import event_words

    traces: list[dict[str, Any]] = [
        {
            "scenario": verdict.trace.scenario,
            "queue": verdict.trace.queue,
            "steps": len(verdict.trace.steps),
            "accepted": verdict.accepted,
            "failing_step": None if verdict.accepted else verdict.explained + 1,
            "event": "" if verdict.failing is None else event_words(verdict.failing.event),
            "cut": verdict.trace.cut,
        }
        for verdict in verdicts
    ]
    out = [
        {"scenario": omitted.scenario, "queue": omitted.queue, "why": omitted.why}
        for omitted in left_out
    ]
    sys.stdout.write(json.dumps({"traces": traces, "left_out": out}, indent=2) + "\n")
