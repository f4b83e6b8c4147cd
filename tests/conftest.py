"""Tests that share what takes long to make are run by one process, which makes it once."""

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    (
        "tests/pipeline/test_bus.py",
        "tests/pipeline/test_features_on_spark.py",
        "tests/pipeline/test_simulating.py",
    ),
    ("tests/pipeline/test_folder_followed.py",),
    ("tests/pipeline/",),
    ("tests/browser/",),
    ("tests/workflows/",),
    (
        "tests/cli/test_check.py",
        "tests/cli/test_known_failures.py",
        "tests/cli/test_usage.py::test_verdicts_that",
        "tests/cli/test_exploration.py::test_features_and_exploration",
    ),
    ("tests/cli/test_exploration.py",),
    ("tests/reports/test_allure_steps.py",),
    ("tests/steps/test_features_from_a_host.py",),
    ("tests/test_examples.py::test_the_package",),
    ("tests/test_packaging.py",),
    ("tests/test_site.py",),
)
"""Where those tests are that ask for the same Spark, the same browser, the same whole run."""


class Together(LoadScopeScheduling):
    """Each test by itself, but for those that are told here.

    Marks of xdist's own, by which `--dist loadgroup` goes, are without effect since pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((each[0] for each in TOGETHER if nodeid.startswith(each)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Together:
    """Let whole groups go to one process, the largest first."""
    return Together(config, log)
