"""`busproof simulate`: compare the bus on Spark with the model, by very many random sequences."""

from pathlib import Path
from secrets import randbits
from typing import TYPE_CHECKING, Final

from busproof.cli.frame import PATH, Command, Options, flag, option
from busproof.errors import UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from busproof.cli.spark.simulation import Simulation
    from busproof.vocabulary.profile import Profile

__all__ = ["COMMAND", "run"]

VIOLATION: Final = 1
SHRUNK: Final = 3
"""Maximum number of differences to shrink and save."""

SEED_BITS: Final = 32


def run(args: Options) -> int:
    """Run a simulation, and print the result."""
    _check(args)
    need("spark", "busproof simulate")
    from busproof.adapters.spark import BULK_SETTINGS, READINGS  # fast start
    from busproof.pipeline.session import settings_from, spark_session_for_now
    from busproof.spec import load
    from busproof.vocabulary.profile import profile_for

    profile = profile_for(load(), tier=args.tier, readings=READINGS, partitions=args.partitions)
    seed = randbits(SEED_BITS) if args.seed is None else args.seed
    conf = {**BULK_SETTINGS, **settings_from(args.conf)}
    with spark_session_for_now(master=args.master, remote=args.remote, conf=conf) as spark:
        ask = _mutants if args.mutants else _sequences
        return ask(spark, profile, args, range(seed, seed + args.sequences))


def _check(args: Options) -> None:
    for name in ("sequences", "length", "partitions"):
        if getattr(args, name) < 1:
            raise UsageError(f"--{name} is {getattr(args, name)}, and must be at least 1")
    if args.tier not in ("basic", "standard", "premium"):
        raise UsageError(f"--tier is {args.tier!r}, and must be basic, standard or premium")


def _sequences(spark: "SparkSession", profile: "Profile", args: Options, seeds: range) -> int:
    from busproof.cli.spark.simulation import save_difference, simulate

    simulation = simulate(spark, profile, seeds, args.length, args.to)
    _say(
        f"{simulation.sequences} sequences from seed {seeds.start}, {simulation.commands} commands"
    )
    _tell_decisions(simulation, profile)
    for difference in simulation.differences[:SHRUNK]:
        _say(
            f"seed {difference.seed}, command {difference.place} breaks "
            f"{', '.join(difference.rules)}: {difference.detail}"
        )
        path = save_difference(spark, profile, difference, args.length, args.to)
        _say(f"  busproof run --adapter spark --replay {path}")
    _say(
        f"{len(simulation.differences)} sequences differ; "
        f"{simulation.undecided} could not be judged"
    )
    return VIOLATION if simulation.differences else 0


def _tell_decisions(simulation: "Simulation", profile: "Profile") -> None:
    """Print how many of the applicable rules decided commands; rare decisions prove little."""
    from busproof.cli.spark.simulation import applicable_rules, find_seldom

    rules = sorted({*applicable_rules(profile), *simulation.decided})
    rare = find_seldom(simulation, rules)
    never = [rule for rule in rare if not simulation.decided[rule]]
    _say(
        f"{len(rules) - len(rare)} of {len(rules)} rules that apply decided at least 1 command in "
        "1000"
    )
    for what, ids in (
        ("fewer, which proves little", [rule for rule in rare if rule not in never]),
        ("none, which proves nothing", never),
    ):
        if ids:
            _say(f"{what} ({len(ids)}): {', '.join(ids)}")


def _mutants(spark: "SparkSession", profile: "Profile", args: Options, seeds: range) -> int:
    from busproof.cli.spark.simulation import find_noticed
    from busproof.pipeline.bus.mutants import MUTANTS

    caught = find_noticed(spark, profile, seeds, args.length, args.to)
    for mutant in MUTANTS:
        difference = caught.get(mutant.name)
        what = (
            "not noticed"
            if difference is None
            else f"seed {difference.seed} breaks {', '.join(difference.rules)}"
        )
        _say(f"{mutant.name} ({mutant.rule}): {what}")
    _say(f"{len(caught)} of {len(MUTANTS)} faults were caught")
    return 0 if len(caught) == len(MUTANTS) else VIOLATION


def _say(line: str) -> None:
    print(line)


COMMAND: Final = Command(
    "simulate",
    run,
    description="Run random command sequences on Spark's bus in one job and judge the "
    "answers. The first differences are shrunk and saved for busproof run "
    "--replay.",
    parameters=[
        option("--sequences", type=int, default=1000, metavar="N", help="default: 1000"),
        option(
            "--length", type=int, default=50, metavar="N", help="commands in each (default: 50)"
        ),
        option("--seed", type=int, metavar="N", help="seed of the first sequence"),
        flag("--mutants", help="run buses with one fault each and report which are caught"),
        option(
            "--to",
            type=PATH,
            default=Path("reports/simulate"),
            metavar="DIR",
            help="folder for differences (default: reports/simulate)",
        ),
        option("--master", metavar="URL", help="Spark master: local[N], spark://…"),
        option("--remote", metavar="URL", help="use a Spark Connect server: sc://HOST:PORT"),
        option("--conf", multiple=True, metavar="NAME=VALUE", help="Spark setting (repeatable)"),
        option(
            "--partitions",
            type=int,
            default=4,
            metavar="N",
            help="partitions; few make keys collide (default: 4)",
        ),
        option(
            "--tier",
            default="standard",
            metavar="T",
            help="tier: basic, standard (default) or premium",
        ),
    ],
    examples=[
        ("busproof simulate --sequences 100 --length 30", "A hundred short sequences:"),
        (
            "busproof simulate --mutants --seed 7",
            "Which faults do the sequences from seed 7 catch?",
        ),
        ("busproof simulate --master spark://HOST:7077", "On a cluster:"),
    ],
)
