"""Fixtures and hooks for the features; they do not affect a host project's own tests."""

import gc
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from busproof.errors import ConformanceError
from busproof.history.records import StepResult
from busproof.steps import STEP_MODULES, allure
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.any_command import Asking
from busproof.steps.definitions.storage_quota import Filled
from busproof.steps.lookups import remember_definitions, scenario_name
from busproof.steps.options import rules_asked_for
from busproof.steps.reporting import as_pytest_says_it
from busproof.steps.running import RUN, Run, give_up
from busproof.steps.stage import verdict_on
from busproof.steps.tags import order_as_written
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Outcome

for _module in map(import_module, STEP_MODULES):
    # pytest-bdd turns step functions into fixtures with names of its own. Fixtures of a conftest
    # are visible in its folder only.
    globals().update(
        {name: each for name, each in vars(_module).items() if name.startswith("pytestbdd_")}
    )

NEW_OBJECTS: Final = 50_000
"""Number of new objects before a garbage collection; Python's default is 700."""

EXPLORATION: Final = "test_exploration.py"


def pytest_configure(config: pytest.Config) -> None:
    """Register the suite's markers, and the Allure plugin if it is active."""
    config.addinivalue_line("markers", "rule(id): the rule of the catalogue that a scenario shows")
    config.addinivalue_line("markers", "any_reading: a scenario that every reading allows")
    if allure.is_active(config):
        config.pluginmanager.register(allure, "busproof_allure")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect only what was selected: scenarios or paths, and an exploration or a replay."""
    replays = config.getoption("--bus-replay") is not None
    explores = config.getoption("--bus-profile") is not None
    follows = config.getoption("--bus-from") == "tla"
    wanted = {
        "test_features.py": not (replays or follows),
        "test_distilled.py": not (replays or follows),
        EXPLORATION: explores and not replays,
        "test_paths.py": follows and not replays,
        "test_replay.py": replays,
    }
    return None if wanted.get(collection_path.name, True) else True


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Fail the collection under xdist if the run cannot begin; exiting would restart the worker."""
    if module_path.parent != Path(__file__).parent or not hasattr(parent.config, "workerinput"):
        return
    try:
        rules_asked_for(parent.config)
        _run(parent.config)
    except ConformanceError as error:
        raise pytest.Collector.CollectError(f"busproof: {error}") from None


def _run(config: pytest.Config) -> Run:
    """Return the run of this session, which begins at its first scenario."""
    if RUN not in config.stash:
        config.stash[RUN] = Run(config)
    return config.stash[RUN]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the scenarios of other rules, if rules were selected."""
    rules = {item: _rules(item) for item in items if _is_ours(item)}
    if not rules:
        return
    # The exploration asks again what scenarios asked before.
    items.sort(key=lambda item: _is_ours(item) and item.path.name == EXPLORATION)
    _mark_by_rule(config, rules)
    try:
        asked = rules_asked_for(config)
    except ConformanceError as error:
        items.clear()  # collection is finished even after an exit
        give_up(config, error)
    others = [item for item, tagged in rules.items() if asked and asked.isdisjoint(tagged)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


def _mark_by_rule(config: pytest.Config, rules: dict[pytest.Item, tuple[str, ...]]) -> None:
    """Mark each scenario with its rules and families, as for `-m "KEY-08 or SESS"`."""
    families = {rule: rule.partition("-")[0] for tagged in rules.values() for rule in tagged}
    for name in sorted({*families, *families.values()}):
        config.addinivalue_line("markers", f"{name}: scenarios of this rule or family of rules")
    for item, tagged in rules.items():
        for name in dict.fromkeys((*tagged, *(families[rule] for rule in tagged))):
            item.add_marker(name)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Find the adapter before the first test, so that a wrong name is a usage error."""
    ours = [item for item in session.items if _is_ours(item)]
    if ours and not session.config.getoption("--collect-only"):
        try:
            tagged = {rule for item in ours for rule in _rules(item)}
            _run(session.config).begin(len(ours), frozenset(tagged))
        except ConformanceError as error:
            give_up(session.config, error)
        if session.config.getoption("--bus-history") is not None:
            # This process runs only the suite, so objects from before the first test stay.
            gc.freeze()
            gc.set_threshold(NEW_OBJECTS)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the adapter and close the history."""
    if RUN in session.config.stash:
        session.config.stash[RUN].end()


def _is_ours(item: pytest.Item) -> bool:
    return item.path.parent == Path(__file__).parent


remember_definitions(_is_ours)


def _rules(item: pytest.Item) -> tuple[str, ...]:
    rules = {str(mark.args[0]) for mark in item.iter_markers("rule")}
    template = allure.template_of(item)
    return tuple(sorted(rules)) if template is None else order_as_written(rules, template)


@pytest.fixture
def bus(request: pytest.FixtureRequest) -> Iterator[BusUnderTest]:
    """The bus under test, with an empty namespace."""
    node = request.node
    any_reading = node.get_closest_marker("any_reading") is not None
    name, rules = scenario_name(node), _rules(node)
    yield from _run(request.config).bus(name, rules, any_reading=any_reading)


@pytest.fixture
def views() -> list[MessageView]:
    """The messages received so far."""
    return []


@pytest.fixture
def scheduled() -> list[Outcome]:
    """Answers to the schedules so far."""
    return []


@pytest.fixture
def filled() -> Filled:
    """The messages that filled an entity in this scenario."""
    return Filled()


@pytest.fixture
def asking(bus: BusUnderTest) -> Asking:
    """The sequence of arbitrary commands in this scenario."""
    return Asking(bus)


@pytest.fixture
def past() -> list[object]:
    """Outcomes of earlier rounds in the scenario."""
    return []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record how a scenario ended; report one that was not judged as skipped, with the reason."""
    if call.when != "call" or RUN not in item.config.stash:
        return (yield)
    error = call.excinfo.value if call.excinfo else None
    verdict, detail = verdict_on(error)
    run = item.config.stash[RUN]
    run.scenario_ended(verdict, detail)
    item.session.items += run.again(item, error)  # pytest's loop continues with appended items
    as_pytest_says_it(item, call, verdict, detail, run.steps)
    return (yield)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the verdicts on the rules, because scenarios' outcomes are not verdicts."""
    if RUN not in config.stash:
        return
    run = config.stash[RUN]
    lines = list(run.summary())
    if lines:
        terminalreporter.section(f"busproof: {run.declaration.implementation.name}")
        for line in lines:
            terminalreporter.line(line)


def _note(request: pytest.FixtureRequest, step: Any, result: str) -> None:
    if RUN in request.config.stash:
        noted = StepResult(keyword=step.keyword.strip(), text=step.name, result=result)
        request.config.stash[RUN].steps.append(noted)


def pytest_bdd_after_step(request: pytest.FixtureRequest, step: Any) -> None:
    """Record a step that passed."""
    _note(request, step, "passed")


def pytest_bdd_after_scenario(request: pytest.FixtureRequest) -> None:
    """Take a last look at what a scenario has left, if none of its steps has failed."""
    if RUN in request.config.stash:
        request.config.stash[RUN].look_at_everything()


def pytest_bdd_step_error(request: pytest.FixtureRequest, step: Any, exception: Exception) -> None:
    """Record the step that ended the scenario."""
    verdict, _ = verdict_on(exception)
    _note(request, step, verdict.value)
