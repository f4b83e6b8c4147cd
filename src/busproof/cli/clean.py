"""`busproof clean`: remove what runs have left in a namespace."""

import re
from typing import Final

from busproof.cli.console import say
from busproof.cli.frame import Command, Options, flag, option
from busproof.cli.running.consent import confirm_plan
from busproof.errors import UsageError
from busproof.extras import need

__all__ = ["COMMAND", "run"]

INCOMPLETE: Final = 3
TIMEOUT: Final = 30.0
LISTED: Final = 20
"""Maximum number of entities to list before asking for consent; the rest are counted."""


def run(args: Options) -> int:
    """Remove leftover entities, after the user has agreed."""
    need("amqp", "busproof clean")
    from busproof.adapters.amqp.entities import Entities
    from busproof.adapters.amqp.remote import left_by, remove_entities
    from busproof.adapters.amqp.target import target_of
    from busproof.adapters.finding import is_address, resolve_name

    name = resolve_name(args.adapter)
    if not is_address(name):
        raise UsageError(
            f"{args.adapter!r} leaves nothing to remove; name a service by Endpoint=sb://…"
        )
    if args.of_run is not None and not re.fullmatch(r"[0-9a-z]{4,16}", args.of_run):
        raise UsageError(f"--run is {args.of_run!r}; it is 4 to 16 letters a to z and digits")
    target = target_of(name)
    entities = Entities(target, TIMEOUT)
    leftover = left_by(entities, args.of_run)
    entities.close()
    if not leftover:
        say("there is nothing to remove")
        return 0
    more = f"\n  and {len(leftover) - LISTED} more" if len(leftover) > LISTED else ""
    listed = "".join(f"\n  {name}" for name in leftover[:LISTED])
    confirm_plan(
        f"{len(leftover)} entities to be removed from {target.host}:{listed}{more}\n", yes=args.yes
    )
    gone, left = remove_entities(target, TIMEOUT, args.of_run)
    say(f"removed {len(gone)} entities" + (f", {len(left)} are left" if left else ""))
    return INCOMPLETE if left else 0


COMMAND: Final = Command(
    "clean",
    run,
    description="Remove queues and topics that runs created in a namespace and left "
    "there. Only names that begin with busproof-RUN- are touched.",
    parameters=[
        option("--adapter", required=True, metavar="A", help="Endpoint=sb://…, or env:NAME"),
        option("--run", "of_run", metavar="RUN", help="only entities of this run"),
        flag("--yes", help="do not ask"),
    ],
    examples=[
        ("busproof clean --adapter env:BUS", "List them, and ask before removing:"),
        (
            "busproof clean --adapter env:BUS --run k3v9x2 --yes",
            "Entities of one run, without asking:",
        ),
    ],
)
