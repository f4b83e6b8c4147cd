"""The command line: parses, calls the room that does the work, prints one sentence on failure."""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from busproof import __version__
from busproof.cli import (
    adapters,
    audit,
    check,
    check_adapter,
    clean,
    doctor,
    modelcheck,
    report,
    rules,
    run,
    serve,
    simulate,
)
from busproof.cli.console import give_up_output, say
from busproof.errors import ConformanceError, SpecificationError, UsageError

__all__ = ["main"]

USAGE = 2
INCOMPLETE = 3


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Tell what does not fit, and where what does is listed."""
        self.exit(USAGE, f"busproof: {message}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="busproof",
        description="Proves, or disproves, that a message bus behaves as Azure Service Bus "
        "documents for partitioned queues and topics.",
        epilog="Exit codes: 0 every applicable rule was shown, 1 a violation, 2 usage, "
        "3 incomplete, inconclusive or errored, 4 a stale list of known failures.",
    )
    parser.add_argument("--version", action="version", version=f"busproof {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (
        rules,
        run,
        check,
        report,
        adapters,
        check_adapter,
        audit,
        modelcheck,
        simulate,
        serve,
        clean,
        doctor,
    ):
        module.add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code and shows no traceback for what users can cause."""
    args = _parser().parse_args(arguments)
    try:
        code = int(args.run(args))
        sys.stdout.flush()
    except ConformanceError as error:
        say(str(error))
        return USAGE if isinstance(error, UsageError | SpecificationError) else INCOMPLETE
    except KeyboardInterrupt:
        say("interrupted; nothing more was done")
        return INCOMPLETE
    except OSError as error:
        give_up_output(error)
        return INCOMPLETE
    except SystemExit:
        # rich has found our output's reader gone, and would end with the code of a violation.
        return INCOMPLETE
    return code
