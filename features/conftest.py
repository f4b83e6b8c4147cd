"""Gives the features their steps and their bus; nothing of it reaches a host's own tests."""

import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("busproof.steps.expecting")

from busproof.errors import ConformanceError, UsageError  # noqa: E402 - after the rewriting is registered
from busproof.history.records import ScenarioVerdict, StepResult  # noqa: E402
from busproof.model.values import MessageView  # noqa: E402
from busproof.steps import creating, disturbing, expecting, receiving, sending  # noqa: E402
from busproof.steps.harness import Bus  # noqa: E402
from busproof.steps.running import RUN, Run, verdict_on  # noqa: E402

for _module in (creating, sending, receiving, disturbing, expecting):
    # pytest-bdd makes fixtures of step functions, under names of its own; fixtures of a conftest
    # reach its folder and no other.
    globals().update(
        {name: each for name, each in vars(_module).items() if name.startswith("pytestbdd_")}
    )


def _run(config: pytest.Config) -> Run:
    """The run of this session, begun at its first scenario."""
    if RUN not in config.stash:
        try:
            config.stash[RUN] = Run(config)
        except ConformanceError as error:
            print(f"busproof: {error}", file=sys.stderr)  # noqa: T201 - the run ends here
            pytest.exit(str(error), returncode=2 if isinstance(error, UsageError) else 3)
    return config.stash[RUN]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out our scenarios of other rules, where one rule was asked for."""
    rule = config.getoption("--bus-rule")
    others = [
        item
        for item in items
        if rule and _is_ours(item) and rule not in [m.args[0] for m in item.iter_markers("rule")]
    ]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Find the adapter before the first test, so that a wrong name is a usage error."""
    ours = [item for item in session.items if _is_ours(item)]
    if ours and not session.config.getoption("--collect-only"):
        _run(session.config).begin(len(ours))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the adapter and close the history."""
    if RUN in session.config.stash:
        session.config.stash[RUN].end()


def _is_ours(item: pytest.Item) -> bool:
    return item.path.parent == Path(__file__).parent


@pytest.fixture
def bus(request: pytest.FixtureRequest) -> Iterator[Bus]:
    """The bus under test, empty."""
    rules = tuple(sorted(mark.args[0] for mark in request.node.iter_markers("rule")))
    yield from _run(request.config).bus(_name(request.node), rules)


def _name(item: pytest.Item) -> str:
    """The scenario's name as the feature words it, with the values of its row."""
    name = str(item.function.__doc__).partition(": ")[2]  # type: ignore[attr-defined]
    row = getattr(item, "callspec", None)
    example = row.params.get("_pytest_bdd_example", {}) if row is not None else {}
    values = ", ".join(f"{key} {value}" for key, value in example.items())
    return f"{name} ({values})" if values else name


@pytest.fixture
def views() -> list[MessageView]:
    """The messages received so far."""
    return []


@pytest.fixture
def past() -> list[object]:
    """What came of earlier rounds of a scenario."""
    return []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record how a scenario ended; what was not judged is reported as skipped, with its reason."""
    report = yield
    if call.when != "call" or RUN not in item.config.stash:
        return report
    verdict, detail = verdict_on(call.excinfo.value if call.excinfo else None)
    item.config.stash[RUN].scenario_ended(verdict, detail)
    if verdict in (ScenarioVerdict.NOT_APPLICABLE, ScenarioVerdict.INCONCLUSIVE):
        report.outcome = "skipped"
        path, line, _ = item.reportinfo()
        report.longrepr = (str(path), line or 0, f"Skipped: {verdict.value}: {detail}")
    return report


def _note(request: pytest.FixtureRequest, step: Any, result: str) -> None:
    if RUN in request.config.stash:
        noted = StepResult(keyword=step.keyword.strip(), text=step.name, result=result)
        request.config.stash[RUN].steps.append(noted)


def pytest_bdd_after_step(request: pytest.FixtureRequest, step: Any) -> None:
    """Note a step that was taken."""
    _note(request, step, "passed")


def pytest_bdd_step_error(request: pytest.FixtureRequest, step: Any, exception: Exception) -> None:
    """Note the step that a scenario ended at."""
    verdict, _ = verdict_on(exception)
    _note(request, step, verdict.value)
