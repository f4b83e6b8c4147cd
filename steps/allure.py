"""Allure results for scenarios: Gherkin steps, labels by rule, and the target as parameters.

A pytest plugin that adds Gherkin to allure-pytest. It changes only tests of `busproof.features`,
and imports allure only when one of them runs. Register it if `is_active` returns true:
`config.pluginmanager.register(allure)`.
"""

import csv
import hashlib
import io
import re
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pytest_bdd.parser import ScenarioTemplate, Step

__all__ = ["is_active", "template_of"]

_OURS: Final = Path(__file__).resolve().parent.parent / "features" / "test_features.py"
_BESIDE: Final = {
    "test_distilled.py": "Situations found by machine",
    "test_exploration.py": "Exploration",
    "test_paths.py": "Paths of the TLA+ specs",
    "test_replay.py": "Replay",
}
"""Epics of the tests that are not scenarios, by module; these tests belong to no rule."""

_ALLURE: Final = ("allure_pytest", "allure_pytest.plugin")
"""Names of allure-pytest as a plugin: as an entry point, or as given to `-p`."""

_UNJUDGED: Final = frozenset({"NotApplicable", "Inconclusive"})
"""Names of busproof's exceptions for scenarios that neither passed nor failed.

They are matched by name, because this plugin imports nothing of busproof.
"""

_STEP: Final = pytest.StashKey[AbstractContextManager[object]]()
_PARAMETERS: Final = ("adapter", "edition", "tier", "oracle", "partitions", "reading")
_EXAMPLE: Final = "_pytest_bdd_example"

_NAME: Final = re.compile(r"[\w.-]+(:\w+)?")
"""An adapter's name or `package.module:factory`, where nothing is private."""

_USER_INFO: Final = re.compile(r"(?<=://)[^/@]*@")
_KIND: Final = re.compile(r"(amqps?|exec|Endpoint)\b")


def is_active(config: pytest.Config) -> bool:
    """Return whether allure-pytest is loaded and writes results."""
    installed = any(map(config.pluginmanager.hasplugin, _ALLURE))
    return installed and config.getoption("allure_report_dir", default=None) is not None


# Set labels at collection, so that scenarios skipped in their setup have them, too.


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Label the suite's tests by their rules, and title them by their scenarios."""
    listener = config.pluginmanager.get_plugin("allure_listener")
    if listener is not None:
        config.pluginmanager.register(_Fixtures(listener.allure_logger))
    for item in filter(_is_ours, items):
        for kind, value in _labels(item):
            item.add_marker(pytest.mark.allure_label(value, label_type=kind))
        _name_after_scenario(item)
    for item in items:
        if epic := _beside(item.path):
            item.add_marker(pytest.mark.allure_label(epic, label_type="epic"))
            _name_after_sequence(item)


def _labels(item: pytest.Item) -> Iterator[tuple[str, str]]:
    rules = _rules(item)
    for family in dict.fromkeys(rule.partition("-")[0] for rule in rules):
        yield "epic", family
    for rule in rules:
        yield "feature", rule
        yield "rule", rule
    if template := template_of(item):
        yield "story", template.name
    yield "severity", "critical" if rules else "normal"


def _rules(item: pytest.Item) -> list[str]:
    """Return the ids of the rules in the scenario's tags, sorted, without duplicates."""
    return sorted({str(rule) for mark in item.iter_markers("rule") for rule in mark.args})


def template_of(item: pytest.Item) -> "ScenarioTemplate | None":
    """Return the parsed scenario; `None` for a test that is not a scenario."""
    # pytest-bdd has no public API for this; the dependency is pinned to version 9.
    from pytest_bdd.scenario import scenario_wrapper_template_registry

    function = getattr(item, "obj", None)
    return scenario_wrapper_template_registry.get(function) if function is not None else None


def _name_after_scenario(item: pytest.Item) -> None:
    """Title and describe a test by its scenario, where pytest-bdd would use a path."""
    template = template_of(item)
    if template is None or not isinstance(item, pytest.Function):
        return
    described = template.description or f"{template.feature.name}: {template.name}"
    item.add_marker(pytest.mark.allure_description(described))
    title = template.name.replace("{", "{{").replace("}", "}}")
    item.obj.__allure_display_name__ = (
        f"{title} [{{param_id}}]" if hasattr(item, "callspec") else title
    )


def _name_after_sequence(item: pytest.Item) -> None:
    """Title and describe the test of a distilled sequence by its name and its sentence."""
    call = getattr(item, "callspec", None)
    sequence = call.params.get("sequence") if call else None
    if sequence is not None and isinstance(item, pytest.Function):
        item.add_marker(pytest.mark.allure_description(sequence.about))
        item.obj.__allure_display_name__ = "{sequence.name}"


# Allure identifies a test by its parameters: without them, the results of a second adapter in
# the same folder would replace those of the first, as if they were retries.


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Add the target's options and the values of an outline's row as parameters."""
    if not _is_ours(item) and not _beside(item.path):
        return
    import allure

    for name, value in _parameters(item):
        allure.dynamic.parameter(name, value)


def _parameters(item: pytest.Item) -> Iterator[tuple[str, str]]:
    for name in _PARAMETERS:
        value = item.config.getoption(f"--bus-{name}", default=None)
        if value:
            yield name, _published(value) if name == "adapter" else _listed(value)
    call = getattr(item, "callspec", None)
    yield from (call.params.get(_EXAMPLE, {}) if call else {}).items()


def _published(value: str) -> str:
    """Return a plain name unchanged, and a command or an address as its kind and a digest.

    Commands and addresses may contain keys. The digest tells two of them apart.
    """
    if _NAME.fullmatch(value):
        return value
    public = _USER_INFO.sub("", value).partition(";")[0].partition("?")[0]
    kind = _KIND.match(value)
    digest = hashlib.sha256(public.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{kind[0] if kind else 'other'} {digest}"


def _listed(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


# Each Gherkin step becomes a step of the test's result.


def pytest_bdd_before_step_call(request: pytest.FixtureRequest, step: "Step") -> None:
    """Begin the step, with its table or text attached."""
    if _is_ours(request.node):
        _begin(request.node, step)


def pytest_bdd_after_step(request: pytest.FixtureRequest) -> None:
    """End the step as passed."""
    _end(request.node)


def pytest_bdd_step_error(
    request: pytest.FixtureRequest, step: "Step", exception: BaseException
) -> None:
    """End the step as failed; it may have failed before its function was called."""
    if _is_ours(request.node) and _STEP not in request.node.stash:
        _begin(request.node, step)
    _end(request.node, exception)


def pytest_bdd_step_func_lookup_error(
    request: pytest.FixtureRequest, step: "Step", exception: BaseException
) -> None:
    """Report a step without a definition as failed."""
    if _is_ours(request.node):
        _begin(request.node, step)
        _end(request.node, exception)


def pytest_bdd_after_scenario(request: pytest.FixtureRequest) -> None:
    """End a step that called `pytest.skip` or was interrupted: pytest-bdd has no hook for these."""
    _end(request.node, sys.exc_info()[1])


# pytest-bdd makes a fixture of each step's definition, and Allure writes a file for each fixture:
# eleven files in a scenario that repeat what its steps say.


class _Fixtures:
    """A filter that keeps passed fixtures of the suite's tests out of Allure's results."""

    def __init__(self, reporter: Any) -> None:
        self._reporter = reporter
        self._write = reporter.stop_group
        self._ours = False
        reporter.stop_group = self.stop_group

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_post_finalizer(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Generator[None, None, None]:
        """Record whether the fixture that ends belongs to one of the suite's tests."""
        self._ours = fixturedef.scope == "function" and _is_ours(request.node)
        try:
            yield
        finally:
            self._ours = False

    def stop_group(self, uuid: str, **facts: object) -> None:
        """Drop a passed fixture of the suite; write any other one."""
        group = self._reporter.get_item(uuid)
        # A fixture that is still ending has no status yet.
        passed = all(
            fixture.status in (None, "passed") for fixture in (*group.befores, *group.afters)
        )
        if self._ours and passed:
            self._reporter.drop_test(uuid)
        else:
            self._write(uuid, **facts)


def _begin(item: pytest.Item, step: "Step") -> None:
    import allure

    title = f"{step.keyword} {step.name}".strip()
    context: AbstractContextManager[object] = allure.step(title)
    context.__enter__()
    item.stash[_STEP] = context
    if step.datatable is not None:
        table = _comma_separated(step.datatable.raw())
        allure.attach(table, "table", attachment_type=allure.attachment_type.CSV)
    if step.docstring is not None:
        allure.attach(step.docstring, "text", attachment_type=allure.attachment_type.TEXT)


def _end(item: pytest.Item, error: BaseException | None = None) -> None:
    context = item.stash.get(_STEP, None)
    if context is None:
        return
    del item.stash[_STEP]
    if error is None:
        context.__exit__(None, None, None)
        return
    reported = pytest.skip.Exception(str(error)) if _is_unjudged(error) else error
    context.__exit__(type(reported), reported, error.__traceback__)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report scenarios that were not judged as skipped; allure-pytest would call them broken."""
    report = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if error is not None and _is_unjudged(error) and _is_ours(item):
        path, line, _ = item.location
        report.outcome = "skipped"
        report.longrepr = (path, line or 0, f"Skipped: {error}")
    return report


def _is_unjudged(error: BaseException) -> bool:
    return type(error).__name__ in _UNJUDGED


def _comma_separated(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _is_ours(item: pytest.Item) -> bool:
    return _is_ours_at(item.path)


@cache
def _beside(path: Path) -> str:
    """Return the epic of a module without scenarios; empty for other modules."""
    here = path.resolve().parent == _OURS.parent
    return _BESIDE.get(path.name, "") if here else ""


@cache
def _is_ours_at(path: Path) -> bool:
    return path.resolve() == _OURS
