"""Paths through the graphs of the TLA+ specs; pytest collects them only with `--bus-from=tla`."""

import pytest

from busproof.steps.bus import BusUnderTest
from busproof.steps.paths_of_specs import follow
from busproof.tla.graphs.paths import Path_, Suite, load_suites


def _paths() -> list[tuple[Suite, Path_]]:
    return [(suite, path) for suite in load_suites() for path in suite.paths]


@pytest.mark.parametrize(("suite", "path"), _paths(), ids=lambda each: getattr(each, "name", "tla"))
def test_path(bus: BusUnderTest, suite: Suite, path: Path_) -> None:
    """Send the commands of a path to the bus, and judge its answers."""
    follow(bus, path, suite.setting)
