"""How tests are spread over processes, and what becomes of those whose programs are missing."""

import gc
import importlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from built_site import built_site
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from programs import Tally, lacking, needs_of_file, refuse

# A busy machine may take longer than Hypothesis' deadline of 0.2 s for an example, and longer than
# it allows for drawing ten of them.
settings.register_profile(
    "whatever-it-takes", deadline=None, suppress_health_check=(HealthCheck.too_slow,)
)
settings.load_profile("whatever-it-takes")

TOGETHER = (
    ("tests/pipeline/",),
    ("tests/browser/test_site_look.py", "tests/test_site.py"),
    ("tests/browser/",),
    ("tests/workflows/",),
    (
        "tests/cli/test_check.py",
        "tests/cli/test_known_failures.py",
        "tests/cli/test_usage.py::test_verdicts_that",
        "tests/cli/test_exploration.py::test_features_and_exploration",
    ),
    ("tests/cli/test_exploration.py",),
    ("tests/cli/test_extras.py",),
    ("tests/test_environment.py",),
    ("tests/reports/test_allure_steps.py",),
    ("tests/steps/test_features_are_tidy.py",),
    ("tests/steps/test_features_from_a_host.py",),
    ("tests/judging/test_pairs_of_readings.py",),
    ("tests/test_examples.py::test_the_package",),
    ("tests/test_distribution.py",),
)
"""Tests that share something expensive (a Spark, a browser, a whole run): one process each."""

LONGEST = (
    "tests/pipeline/",
    "tests/test_examples.py",
    "tests/cli/test_terms.py",
    "tests/browser/test_site_look.py",
    "tests/test_site.py",
    "tests/broker/storage/test_crashes.py",
    "tests/cli/test_extras.py",
    "tests/cli/test_check.py",
    "tests/test_environment.py",
    "tests/test_commands_of_documents.py",
    "tests/test_documents.py",
    "tests/cli/test_interrupts.py",
    # Those of the broker come next, and most of them wait: these compute meanwhile.
    "tests/model/",
    "tests/steps/test_features_from_a_host.py",
    "tests/steps/test_features_are_sound.py",
    "tests/judging/test_soundness.py",
    "tests/exploration/test_generating.py",
)
"""Tests of many seconds each, which begin first, so that none is left when all others are done."""

BUDGETS = {
    "busproof.judging.linearization.message_subhistories": ("STEPS_AT_LEAST", "STEPS_AN_EVENT"),
    "busproof.judging.linearization.overlap": ("STEPS_AT_LEAST", "STEPS_AN_EVENT"),
    "busproof.judging.replay.explanation": ("PROPER", "PROPER_AT_LEAST"),
    "busproof.judging.replay.search": ("STEPS_AT_LEAST", "STEPS_AN_EVENT"),
}
"""The judge's budgets, in steps."""

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
NEW_OBJECTS = 50_000
"""How many come to be before garbage is looked for; by default it is 700, and a tenth slower."""


def pytest_configure() -> None:
    """Let Ctrl-C reach the commands under test.

    A shell that starts tests in the background ignores it, and so would all that they start.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(NEW_OBJECTS)
    if not FULL and hasattr(providers, "is_local_module_file"):
        # At full size Hypothesis reads all our modules for constants to draw: two seconds a process
        # in a new clone.
        providers.is_local_module_file = lambda _: False


def pytest_collection_finish() -> None:
    """Let garbage not be looked for in what was imported and collected: it stays until the end."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Let whole groups go to one process, the largest first.

    Marks of xdist's own, by which `--dist loadgroup` goes, are without effect since pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling  # only xdist calls this: it may be missing

    class Together(LoadScopeScheduling):
        """Schedule each test by itself, but the groups of `TOGETHER` as wholes."""

        def _split_scope(self, nodeid: str) -> str:
            return next((group[0] for group in TOGETHER if nodeid.startswith(group)), nodeid)

    return Together(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the nightly parts have, and put the longest tests first."""
    if not FULL:
        nightly = [item for item in items if item.get_closest_marker("full_size")]
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if not item.get_closest_marker("full_size")]
    items.sort(key=lambda item: place(item.nodeid))


def place(nodeid: str) -> int:
    """Return the position in `LONGEST`, or the one after all of it."""
    found = (number for number, start in enumerate(LONGEST) if nodeid.startswith(start))
    return next(found, len(LONGEST))


class FileNotImported(pytest.File):
    """A file of tests whose imports this machine lacks: one item, which is skipped."""

    need = ""

    def collect(self) -> Iterator[pytest.Item]:
        yield NotImported.from_parent(self, name="the whole file")


class NotImported(pytest.Item):
    """Stands for all tests of such a file."""

    def runtest(self) -> None:
        assert isinstance(self.parent, FileNotImported)
        refuse(self.parent.need)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> FileNotImported | None:
    """Collect no file that cannot be imported here."""
    need = needs_of_file(module_path.relative_to(parent.config.rootpath).as_posix())
    if need is None:
        return None
    file = FileNotImported.from_parent(parent, path=module_path)
    file.need = need
    return file


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test before its fixtures begin, if something is missing that it needs."""
    if (need := lacking(item)) is not None:
        refuse(need)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what was not run, each with its reason: what it needs, and what brings that."""
    lines = list(Tally(terminalreporter.stats.get("skipped", [])).lines())
    if lines:
        terminalreporter.section("not run")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the gate, let the judge give up after a fifth of its steps.

    Random histories of conforming buses would otherwise take most of the tests' time, and spend it
    on the few of them that end without a verdict. What accuses any of them wrongly does so sooner.
    """
    for module, names in () if FULL else BUDGETS.items():
        for name in names:
            budget = getattr(importlib.import_module(module), name)
            monkeypatch.setattr(f"{module}.{name}", budget // 5)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents' site, which takes half a minute to build."""
    return built_site(tmp_path_factory.mktemp("site"))
