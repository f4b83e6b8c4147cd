"""`busproof convert`: read a log of another program as a history."""

from pathlib import Path
from typing import Final

from busproof.cli.console import write_aside
from busproof.cli.frame import PATH, Command, Options, argument, option
from busproof.errors import UsageError

__all__ = ["COMMAND", "run"]


def run(args: Options) -> int:
    """Write the history, and print what is not in it.

    Raises:
        HistoryError: the log cannot be read, or the history cannot be written.
        UsageError: the log does not exist.
    """
    from busproof import vocabulary as v
    from busproof.history.files import HistoryWriter
    from busproof.history.logs.spans import CANNOT_SHOW, events_of_spans
    from busproof.history.records import Began, Header
    from busproof.spec import load

    log = Path(args.log)
    if not log.is_file():
        raise UsageError(f"there is no file {log}; name a file of spans in OTLP JSON")
    converted = events_of_spans(log)
    header = Header(
        profile=v.profile_for(load()),
        clock=v.Clock.REAL,
        capabilities=("dead-letter", "deferral", "peek-lock"),
        implementation={"name": "a service in spans"},
        began=Began(),
    )
    with HistoryWriter(args.out) as writer:
        writer.write(header)
        for event in converted.events:
            writer.write(event)
    write_aside(f"{len(converted.events)} events: {args.out}")
    for reason, count in converted.left_out.most_common():
        write_aside(f"left out: {count} of {reason}")
    write_aside(f"{CANNOT_SHOW}.")
    write_aside(f"judge it by busproof check {args.out}")
    return 0


COMMAND: Final = Command(
    "convert",
    run,
    description="Read a log of another program as a history: OpenTelemetry spans of the SDKs, in "
    "OTLP JSON.",
    parameters=[
        argument("log", "LOG", "a file of OTLP JSON, one export or one in each line", type=PATH),
        option(
            "--out",
            type=PATH,
            metavar="FILE",
            required=True,
            help="the history to write",
        ),
    ],
    examples=[
        ("busproof convert spans.json --out history.jsonl", "Then judge history.jsonl:"),
        ("busproof convert exports.jsonl --out history.jsonl", "One export in each line:"),
    ],
)
