"""The command line: parses, calls the room that does the work, prints one sentence on failure."""

import argparse
import sys
from collections.abc import Sequence

from busproof import (
    __version__,
    commands_adapters,
    commands_audit,
    commands_check,
    commands_rules,
    commands_run,
)
from busproof.errors import ConformanceError, SpecificationError, UsageError

__all__ = ["main"]

USAGE = 2
INCOMPLETE = 3


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="busproof",
        description="Proves, or disproves, that a message bus behaves as Azure Service Bus "
        "documents for partitioned queues and topics.",
        epilog="Exit codes: 0 every applicable rule was shown, 1 a violation, 2 usage, "
        "3 incomplete, inconclusive or errored.",
    )
    parser.add_argument("--version", action="version", version=f"busproof {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (
        commands_rules,
        commands_run,
        commands_check,
        commands_adapters,
        commands_audit,
    ):
        module.add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code and shows no traceback for what users can cause."""
    args = _parser().parse_args(arguments)
    try:
        return int(args.run(args))
    except ConformanceError as error:
        print(f"busproof: {error}", file=sys.stderr)  # noqa: T201 - this is the terminal
        return USAGE if isinstance(error, UsageError | SpecificationError) else INCOMPLETE
    except KeyboardInterrupt:
        print("busproof: interrupted; nothing more was done", file=sys.stderr)  # noqa: T201
        return INCOMPLETE
    except BrokenPipeError:
        # Whoever read our output has stopped reading; Python would complain once more at exit.
        sys.stderr.close()
        return INCOMPLETE
