"""`busproof convert`: read logs of another program as a history."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof.cli.console import say_next, write_aside
from busproof.cli.frame import PATH, Command, Options, argument, flag, option
from busproof.errors import HistoryError, UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof import vocabulary as v
    from busproof.history.logs.converted import Converted
    from busproof.history.records import Header

__all__ = ["COMMAND", "run"]

TRAFFIC: Final = "*-traffic-*.json"
"""The files of a folder that amqpproxy has written."""


def run(args: Options) -> int:
    """Write the history, and print what is not in it.

    Raises:
        HistoryError: a log cannot be read, or the history cannot be written.
        UsageError: a log does not exist, or several are given of a kind that is one file.
    """
    from busproof.history.files import HistoryWriter

    logs = _files(args.log)
    if _are_frames(logs[0]):
        converted, header, cannot_show = _frames(logs, releases=not args.no_releases)
    elif len(logs) > 1:
        raise UsageError(f"{len(logs)} logs are given; spans are read from one file at a time")
    else:
        converted, header, cannot_show = _spans(logs[0])
    with HistoryWriter(args.out) as writer:
        writer.write(header)
        for event in converted.events:
            writer.write(event)
    write_aside(f"{len(converted.events)} events: {args.out}")
    for reason, count in converted.left_out.most_common():
        write_aside(f"left out: {count} of {reason}")
    write_aside(f"{cannot_show}.")
    say_next(f"busproof check {args.out} judges it")
    return 0


def _files(named: Sequence[Path]) -> list[Path]:
    """Return the files that are named, and those in folders that are.

    Raises:
        UsageError: there is none.
    """
    files: list[Path] = []
    for path in named:
        if path.is_dir():
            found = sorted(path.glob(TRAFFIC))
            if not found:
                raise UsageError(
                    f"the folder {path} has no file {TRAFFIC}, as amqpproxy writes; "
                    "name a file, or another folder"
                )
            files += found
        elif path.is_file():
            files.append(path)
        else:
            raise UsageError(
                f"there is no file {path}; name a file of spans in OTLP JSON, or logs of amqpproxy"
            )
    return files


def _are_frames(log: Path) -> bool:
    """Return whether a log begins as amqpproxy's do.

    Raises:
        HistoryError: it cannot be read.
    """
    try:
        with log.open("rb") as file:
            first = json.loads(file.readline())
    except OSError as error:
        raise HistoryError(f"cannot read {log}: {error.strerror}") from None
    except ValueError:
        return False
    return isinstance(first, dict) and {"Time", "Direction", "Frame"} <= first.keys()


def _frames(logs: Sequence[Path], *, releases: bool) -> tuple["Converted", "Header", str]:
    from busproof import vocabulary as v

    need("amqp", "a log of amqpproxy")
    from busproof.recorder.amqpproxy import CANNOT_SHOW, events_of_amqpproxy

    converted = events_of_amqpproxy(logs, releases=releases)
    unseen = {
        *(v.Capability.LIMITS, v.Capability.DISPOSABLE_NAMESPACE, v.Capability.OUTAGES),
        *(v.Capability.LEGACY_ENTITIES, v.Capability.TIMESTAMPS, v.Capability.TRANSACTIONS),
        v.Capability.HTTP,
    }
    header = _header("traffic in a log of amqpproxy", set(v.Capability) - unseen)
    return converted, header, CANNOT_SHOW


def _spans(log: Path) -> tuple["Converted", "Header", str]:
    from busproof import vocabulary as v
    from busproof.history.logs.spans import CANNOT_SHOW, events_of_spans

    seen = {v.Capability.DEAD_LETTER, v.Capability.DEFERRAL, v.Capability.PEEK_LOCK}
    header = _header("a service in spans", seen)
    return events_of_spans(log), header, CANNOT_SHOW


def _header(name: str, capabilities: "set[v.Capability]") -> "Header":
    """Return the header of a history that begins in the middle, of a service that we know not."""
    from busproof import vocabulary as v
    from busproof.history.records import Began, Header
    from busproof.spec import load

    return Header(
        profile=v.profile_for(load()),
        clock=v.Clock.REAL,
        slack=v.MICROSECONDS,
        capabilities=tuple(sorted(capabilities)),
        implementation={"name": name},
        began=Began(),
    )


COMMAND: Final = Command(
    "convert",
    run,
    description="Read logs of another program as a history: OpenTelemetry spans of the SDKs, in "
    "OTLP JSON, or the frames that amqpproxy writes.",
    parameters=[
        argument(
            "log",
            "LOG",
            "a file of OTLP JSON, one export or one in each line; or logs of amqpproxy, one for "
            "each connection, or their folder",
            type=PATH,
            nargs=-1,
            required=True,
        ),
        option(
            "--out",
            type=PATH,
            metavar="FILE",
            required=True,
            help="the history to write",
        ),
        flag(
            "--no-releases",
            help="amqpproxy: the clients complete messages, and never release any; its log writes "
            "both alike",
        ),
    ],
    examples=[
        ("busproof convert spans.json --out history.jsonl", "Then judge history.jsonl:"),
        ("busproof convert exports.jsonl --out history.jsonl", "One export in each line:"),
        ("busproof convert logs --out history.jsonl", "What amqpproxy wrote to a folder:"),
    ],
)
