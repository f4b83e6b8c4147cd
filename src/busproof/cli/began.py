"""`--began`: what was there before a history that begins in the middle."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof.cli.frame import Options, option

if TYPE_CHECKING:
    from busproof.history.records import Began

__all__ = ["OPTION", "began_of"]

UNKNOWN: Final = "unknown"

OPTION: Final = option(
    "--began",
    metavar="unknown|FILE",
    help="the history begins in the middle: judge only what no past explains. unknown: nothing is "
    "known of the entities; or a file with their settings: a Config.json of the emulator, or an "
    "ARM template",
)


def began_of(args: Options) -> "Began | None":
    """Return what `--began` says; `None` without it.

    Raises:
        UsageError: the file cannot be read, or is no configuration.
    """
    if args.began is None:
        return None
    from busproof import vocabulary as v
    from busproof.history.records import Began

    if args.began == UNKNOWN:
        return Began()
    from busproof.broker.configuration.emulator import read_configuration

    configuration = read_configuration(Path(args.began))
    created = (v.CreateQueue, v.CreateTopic, v.CreateSubscription)
    return Began(settings=tuple(one for one in configuration.created if isinstance(one, created)))
