"""Options that select rules and what to run, and the request that they make."""

from typing import TYPE_CHECKING, Final

import click

from busproof.cli import values
from busproof.cli.frame import Option, Options, option
from busproof.errors import UsageError

if TYPE_CHECKING:
    from busproof.cli.running.child_run import Request

__all__ = ["HOW_MUCH", "TERMS", "request_from"]

EXPLORATION: Final = "What to run"
MOST_JOBS: Final = 256
MOST_DIGITS: Final = 9
TERMS_OF: Final = "Options that select the rules"

TERMS: Final[tuple[Option, ...]] = (
    option(
        "--edition",
        section=TERMS_OF,
        metavar="ID",
        help="edition of the documents, or all (default: see busproof rules)",
        shell_complete=values.editions,
    ),
    option(
        "--tier",
        section=TERMS_OF,
        metavar="T",
        help="tier: basic, standard (default) or premium",
        shell_complete=values.one_of("basic", "standard", "premium"),
    ),
    option(
        "--reading",
        section=TERMS_OF,
        multiple=True,
        metavar="AMBIGUITY=READING",
        help="choose a reading of an ambiguity (repeatable); see busproof rules --ambiguities",
    ),
    option(
        "--oracle",
        section=TERMS_OF,
        metavar="O",
        help="strict or client (default: strict if partitions are observable)",
        shell_complete=values.one_of("strict", "client"),
    ),
    option(
        "--partitions",
        section=TERMS_OF,
        metavar="N",
        help="partitions of a partitioned queue (default: 16)",
    ),
    option(
        "--namespace-partitions",
        section=TERMS_OF,
        metavar="N",
        help="partitions of a Premium namespace: 1 (not partitioned, default), 2 or 4",
        shell_complete=values.one_of("1", "2", "4"),
    ),
    option(
        "--messaging-units",
        section=TERMS_OF,
        metavar="N",
        help="messaging units of a Premium namespace (default: one for each partition)",
    ),
)
"""Options that select the rules."""

HOW_MUCH: Final[tuple[Option, ...]] = (
    option(
        "--rule",
        section=EXPLORATION,
        multiple=True,
        metavar="ID",
        help="only the scenarios of this rule or family (repeatable)",
        shell_complete=values.rules,
    ),
    option(
        "--only",
        section=EXPLORATION,
        type=click.Choice(("features", "distilled", "exploration")),
        help="run only the scenarios, the distilled sequences or the exploration",
    ),
    option(
        "--profile",
        section=EXPLORATION,
        metavar="P",
        help="amount of exploration: quick (default), ci, thorough, network or soak; smoke: only "
        "what needs no waiting, and no exploration",
        shell_complete=values.one_of("smoke", "quick", "ci", "thorough", "network", "soak"),
    ),
    option(
        "--minutes",
        section=EXPLORATION,
        metavar="N",
        help="duration of a soak (default: 10)",
    ),
    option(
        "--seed",
        section=EXPLORATION,
        metavar="N",
        help="repeat an exploration; each run prints its seed",
    ),
    option(
        "--replay",
        section=EXPLORATION,
        type=click.Path(readable=False),
        metavar="FILE",
        help="replay the commands of a commands.json, and nothing else",
    ),
    option(
        "--from",
        "source",
        section=EXPLORATION,
        type=click.Choice(("features", "tla")),
        help="features: the scenarios (default); tla: the paths of the TLA+ specs",
    ),
)
"""Options that select what to run."""


def _profile(args: Options) -> str | None:
    """Return the profile of the exploration, or `None` if the run does not explore."""
    alone = [f"--{name}" for name in ("rule", "replay") if getattr(args, name, None)]
    if (only := getattr(args, "only", None)) in ("features", "distilled"):
        alone.append(f"--only {only}")
    exploring = [
        f"--{name}"
        for name in ("profile", "minutes", "seed")
        if getattr(args, name, None) is not None
    ]
    if alone and (exploring or getattr(args, "only", None) == "exploration"):
        raise UsageError(f"{alone[0]} does not explore; leave out {(exploring or ['--only'])[0]}")
    return None if alone else getattr(args, "profile", None) or _profile_for(args)


def _profile_for(args: Options) -> str:
    """Return the default profile, which is small if each request is slow."""
    from busproof.adapters.finding import is_address, resolve_name

    return "network" if is_address(resolve_name(getattr(args, "adapter", ""))) else "quick"


def _jobs(text: str | None) -> int | None:
    """Return the number of processes, or `None` for as many as there are cores."""
    if text is None:
        return None
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else 0
    if not 1 <= number <= MOST_JOBS:
        raise UsageError(f"--jobs is {text!r}; give a whole number from 1 to {MOST_JOBS}")
    return number


def request_from(args: Options, adapter: str) -> "Request":
    """Return the request for a run, from the options of a command line."""
    from busproof.cli.running.child_run import Request  # the catalogue alone starts faster

    return Request(
        adapter=adapter,
        edition=args.edition,
        tier=args.tier,
        oracle=args.oracle,
        partitions=args.partitions,
        namespace_partitions=args.namespace_partitions,
        messaging_units=args.messaging_units,
        timeout=getattr(args, "timeout", None),
        rules=tuple(getattr(args, "rule", ())),
        profile=_profile(args),
        minutes=getattr(args, "minutes", None),
        seed=getattr(args, "seed", None),
        replay=getattr(args, "replay", None),
        only=getattr(args, "only", None),
        source=getattr(args, "source", None),
        readings=tuple(args.reading),
        jobs=_jobs(getattr(args, "jobs", None)),
    )
