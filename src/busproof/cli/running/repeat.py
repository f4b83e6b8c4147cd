"""Commands that repeat a run or a violation, complete and ready to copy."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from busproof import vocabulary as v
from busproof.adapters.finding import is_address
from busproof.cli.failures import COMMANDS, FOLDER, Failure
from busproof.cli.frame import Options
from busproof.cli.running.consent import ADAPTER
from busproof.history.conformance import Conformance, RuleVerdict
from busproof.spec import Catalogue

__all__ = ["add_commands"]


def add_commands(
    conformance: Conformance,
    args: Options,
    catalogue: Catalogue,
    folder: Path,
    broken: Sequence[Failure],
    about: Mapping[str, tuple[v.RuleId, ...]],
) -> Conformance:
    """Return the verdicts with the commands that repeat the run and each violation.

    Args:
        conformance: the verdicts of a run.
        args: the options of the run.
        catalogue: the source of default readings, which are omitted.
        folder: the folder of the run.
        broken: the violations that can be replayed alone; others need their scenario.
        about: the name of each scenario that broke a rule, with the rules that it is about.
    """
    files = {failure.rule: folder / FOLDER / failure.rule / COMMANDS for failure in broken}

    def options_for(rule: RuleVerdict) -> list[str]:
        if rule.id in files:
            return ["--replay", str(files[rule.id])]
        title = rule.counterexample.scenario if rule.counterexample is not None else ""
        rules = about.get(title) or (rule.id,)
        return [word for name in rules for word in ("--rule", name)]

    terms = list(_terms(args, conformance, catalogue))
    return attrs.evolve(
        conformance,
        again=_shell([*terms, *_options_to_repeat(args, conformance)]),
        rules=tuple(
            rule
            if rule.counterexample is None
            else attrs.evolve(rule, again=_shell([*terms, *options_for(rule)]))
            for rule in conformance.rules
        ),
    )


def _terms(args: Options, conformance: Conformance, catalogue: Catalogue) -> Iterator[str]:
    """Yield the options that name the adapter and the terms of the run."""
    subject = conformance.subject
    if is_address(args.adapter):
        # The address contains a key.
        yield from (f"{ADAPTER}=ADDRESS", "busproof", "run", "--adapter", f"env:{ADAPTER}")
    else:
        yield from ("busproof", "run", "--adapter", args.adapter)
    yield from ("--edition", subject.edition, "--tier", str(subject.tier))
    yield from ("--partitions", str(subject.partitions))
    if subject.namespace_partitions > 1:
        yield from ("--namespace-partitions", str(subject.namespace_partitions))
    if subject.messaging_units > 1:
        yield from ("--messaging-units", str(subject.messaging_units))
    defaults = {ambiguity.id: ambiguity.default for ambiguity in catalogue.ambiguities}
    for name, reading in subject.readings.items():
        if defaults.get(name) != reading:
            yield from ("--reading", f"{name}={reading}")
    yield from _options_as_given(args, "oracle", "timeout")
    if args.yes:
        yield "--yes"


def _options_to_repeat(args: Options, conformance: Conformance) -> Iterator[str]:
    """Yield the options that name what was run, including the seed that was drawn."""
    for rule in args.rule:
        yield from ("--rule", rule)
    yield from _options_as_given(args, "replay", "only", "profile", "minutes")
    if args.source is not None:
        yield from ("--from", args.source)
    if conformance.explored is not None and conformance.explored.seed is not None:
        yield from ("--seed", str(conformance.explored.seed))


def _options_as_given(args: Options, *names: str) -> Iterator[str]:
    for name in names:
        if getattr(args, name) is not None:
            yield from (f"--{name}", str(getattr(args, name)))


def _shell(words: Sequence[str]) -> str:
    """Quote words for a shell; an address becomes a placeholder."""
    first, *rest = words
    return " ".join([first if "=" in first else shlex.quote(first), *map(shlex.quote, rest)])
