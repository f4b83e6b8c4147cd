"""`busproof check --as`: what breaks when the clients of a history move to another namespace."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof.cli import values
from busproof.cli.console import busy
from busproof.cli.frame import Options, option
from busproof.errors import UsageError

if TYPE_CHECKING:
    from busproof.history.moves import Move
    from busproof.history.records import History

__all__ = ["OPTION", "check_move"]

SETTINGS: Final = ".json"
"""Ending of a file with the settings of entities; histories are `.jsonl`, packed or not."""

OPTION: Final = option(
    "--as",
    "target",
    metavar="NAMESPACE",
    help="do not judge, but say what breaks when the clients move to another namespace: premium:4, "
    "premium, basic, an edition, EDITION/TIER or AMBIGUITY=READING. HISTORY may also be a "
    "Config.json or an ARM template",
    shell_complete=values.namespaces,
)
IDLE: Final = ("oracle", "known_failures", "require", "explain", "follow", "screen", "plan")


def check_move(args: Options, history: "History | None") -> int:
    """Compare, print and write the report; return 1 if something breaks, 3 if it is open, else 0.

    Args:
        args: the options of `busproof check`.
        history: the history; `None` if the file has settings of entities.

    Raises:
        UsageError: there is no such namespace, or it is the one that the clients use.
        HistoryError: the report cannot be written.
    """
    from busproof.history.moves import view_move
    from busproof.judging.moving.histories import compare_history
    from busproof.reports.moving import move_lines, write_move
    from busproof.spec import load

    catalogue = load()
    with busy("Comparing", lines=True):
        move = (
            _compare_settings(Path(args.history), args.target)
            if history is None
            else compare_history(history, catalogue, args.target)
        )
    if args.report is not None:
        write_move(move, args.report, catalogue)
    if args.format == "json":
        print(json.dumps(view_move(move), indent=2))
    else:
        for line in move_lines(move, catalogue):
            print(line)
    return move.exit_code


def refuse_idle_options(args: Options) -> None:
    """Refuse options of judging, which a comparison would ignore.

    Raises:
        UsageError: there is one.
    """
    for name in IDLE:
        if getattr(args, name, None):
            written = name.replace("_", "-")
            raise UsageError(f"--as compares and does not judge; leave out --{written} beside it")
    if args.engine == "spark":
        raise UsageError("--as compares in this process; leave out --engine spark beside it")


def has_settings(path: Path) -> bool:
    """Return whether a file has the settings of entities, and is no history."""
    return path.suffix.lower() == SETTINGS and path.is_file()


def _compare_settings(path: Path, target: str) -> "Move":
    from busproof import vocabulary as v
    from busproof.broker.configuration.emulator import read_configuration
    from busproof.judging.moving.settings import compare_settings
    from busproof.spec import load

    configuration = read_configuration(path)
    catalogue = load()
    source = v.profile_for(
        catalogue,
        edition=configuration.edition,
        tier=configuration.tier,
        readings=configuration.readings,
        partitions=configuration.partitions,
        namespace_partitions=configuration.namespace_partitions,
        messaging_units=configuration.messaging_units,
    )
    return compare_settings(configuration.created, configuration.places, catalogue, source, target)
