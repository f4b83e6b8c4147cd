"""The scenarios of a run, read from the features without pytest.

pytest-bdd parses the features, here as under pytest, so both run the same scenarios.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
from pytest_bdd.feature import get_feature
from pytest_bdd.parser import ScenarioTemplate
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from busproof import vocabulary as v
from busproof.judging.applicability import Terms
from busproof.steps import STEP_MODULES
from busproof.steps.distilled import DistilledSequence, distilled_sequences
from busproof.steps.playing import Definition, Player
from busproof.steps.plugin import ANY_READING, RULE_ID
from busproof.steps.stage import Stage
from busproof.steps.tags import order_as_written
from busproof.steps.waiting import SHOWN_LATE

if TYPE_CHECKING:
    from busproof.tla.graphs import paths

__all__ = [
    "Case",
    "Replayed",
    "Scenario",
    "Sequence",
    "SpecPath",
    "cases",
    "definitions",
    "families_of",
]

EACH: Final = 2
"""Number of scenarios of each rule in a run that leaves out those that let time pass."""

FEATURES: Final = Path(__file__).resolve().parent.parent / "features"


@attrs.frozen(kw_only=True)
class Case(ABC):
    """Something that a run tries in a namespace of its own.

    Attributes:
        name: its name, which no other case has.
        rules: the rules that it is about.
    """

    name: str
    rules: tuple[v.RuleId, ...] = ()

    @abstractmethod
    def play(self, stage: Stage, player: Player) -> None:
        """Try it; the exception that ends it says how it ended."""

    def exclude(self, terms: Terms) -> str:
        """Return why it does not apply, as `play` would say it; empty if it may apply."""
        return terms.exclude(self.rules)


@attrs.frozen(kw_only=True)
class Scenario(Case):
    """A scenario of a feature, or one row of an outline.

    Attributes:
        any_reading: whether every reading allows it.
        steps: type, keyword and text of each step.
    """

    any_reading: bool = False
    steps: tuple[tuple[str, str, str], ...] = attrs.field(repr=False)

    def play(self, stage: Stage, player: Player) -> None:
        """Execute the steps, and take a last look."""
        for bus in stage.bus(self.name, self.rules, any_reading=self.any_reading):
            player.play(bus, self.steps, stage.steps)
            stage.look_at_everything()

    def exclude(self, terms: Terms) -> str:
        """Return why it does not apply; a scenario may apply by any reading."""
        return terms.exclude(self.rules, any_reading=self.any_reading)


@attrs.frozen(kw_only=True)
class Sequence(Case):
    """A distilled sequence."""

    sequence: DistilledSequence

    def play(self, stage: Stage, player: Player) -> None:
        """Send its commands, and take a last look."""
        for bus in stage.bus(self.name, self.rules):
            stage.show_nothing()
            self.sequence.play(player.asking(bus), stage.steps)
            stage.look_at_everything()


@attrs.frozen(kw_only=True)
class SpecPath(Case):
    """A path through the graph of a TLA+ spec."""

    path: "paths.Path_"
    suite: "paths.Suite"

    def play(self, stage: Stage, player: Player) -> None:  # noqa: ARG002 - as `Case.play`
        """Send the commands of the path."""
        from busproof.steps.paths_of_specs import follow

        for bus in stage.bus(self.name, self.rules):
            follow(bus, self.path, self.suite.setting)


@attrs.frozen(kw_only=True)
class Replayed(Case):
    """The replay of a file of commands."""

    def play(self, stage: Stage, player: Player) -> None:  # noqa: ARG002 - as `Case.play`
        """Send the commands again."""
        stage.replay()


def cases(
    *,
    only: str | None,
    source: str | None,
    replays: bool,
    rules: frozenset[v.RuleId],
    waits: bool = True,
) -> tuple[Case, ...]:
    """Return the cases of a run in their order.

    Args:
        only: `features`, `distilled` or `exploration`, if the run is limited to one of these.
        source: `tla` for the paths of the specs.
        replays: whether the run replays commands.
        rules: the rules that the run is limited to; empty if it is not.
        waits: whether scenarios may let time pass; without them, no sequence is sent either.
    """
    if replays:
        return (Replayed(name="Replay"),)
    if only == "exploration":
        return ()
    if source == "tla":
        from busproof.tla.graphs import paths  # other runs start faster without it

        return tuple(
            SpecPath(name=path.name, path=path, suite=suite)
            for suite in paths.load_suites()
            for path in suite.paths
        )
    found: list[Case] = []
    if only != "distilled":
        scenarios = _scenarios(rules)
        found += scenarios if waits else _prompt(scenarios)
    if waits and only != "features":
        found += (
            Sequence(name=sequence.name, rules=(sequence.rule,), sequence=sequence)
            for sequence in distilled_sequences(only=rules)
        )
    kept = (case for case in found if not rules or not rules.isdisjoint(case.rules))
    # Sequences find most in a second, and take three. Then it goes family by family, so that the
    # first verdicts come early.
    return tuple(
        sorted(kept, key=lambda case: (not isinstance(case, Sequence), families_of(case)[:1]))
    )


def _prompt(scenarios: Iterable[Scenario]) -> Iterator[Case]:
    """Yield for each rule two scenarios in which no step lets time pass.

    They are the first of those that are about the fewest other rules. Rows of an outline differ
    little, so one row is enough.
    """
    player, kept, outlines = Player(definitions()), Counter[v.RuleId](), set[str]()
    for case in sorted(scenarios, key=lambda case: len(case.rules)):
        outline = case.name.partition(" (")[0]
        lacking = {rule for rule in case.rules if kept[rule] < EACH} - SHOWN_LATE
        if lacking and outline not in outlines and not player.waits(case.steps):
            outlines.add(outline)
            kept.update(case.rules)
            yield case


def families_of(case: Case) -> tuple[str, ...]:
    """Return the families of the rules that a case is about."""
    return tuple(dict.fromkeys(rule.partition("-")[0] for rule in case.rules))


def _scenarios(rules: frozenset[v.RuleId]) -> Iterator[Scenario]:
    tags = tuple(f"@{rule}" for rule in rules)
    for file in sorted(FEATURES.glob("*.feature")):
        if tags and not any(tag in file.read_text("utf-8") for tag in tags):
            continue
        feature = get_feature(str(FEATURES), file.name)
        for template in feature.scenarios.values():
            yield from _rows(template)


def _rows(template: ScenarioTemplate) -> Iterator[Scenario]:
    tags = template.tags | template.feature.tags | (template.rule.tags if template.rule else set())
    rules = order_as_written([tag for tag in tags if RULE_ID.fullmatch(tag)], template)
    rows = [row for examples in template.examples for row in examples.as_contexts()] or [{}]
    for row in rows:
        values = ", ".join(f"{key} {value}" for key, value in row.items())
        yield Scenario(
            name=f"{template.name} ({values})" if values else template.name,
            rules=rules,
            any_reading=ANY_READING in tags,
            steps=tuple(
                (step.type, step.keyword.strip(), step.name) for step in template.render(row).steps
            ),
        )


def definitions() -> list[Definition]:
    """Return the step definitions of the suite, as pytest-bdd has registered them."""
    for name in STEP_MODULES:
        import_module(name)
    contexts: list[StepFunctionContext] = list(step_function_context_registry.values())
    return [
        Definition(
            kind=context.type,
            parser=context.parser,
            function=context.step_func,
            converters=context.converters,
            target=context.target_fixture,
        )
        for context in contexts
        if context.step_func.__module__ in STEP_MODULES
    ]
