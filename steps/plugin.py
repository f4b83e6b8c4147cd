"""pytest plugin that is active in every environment with busproof: only options and a tag.

It imports nothing of busproof, because a host project's start-up time and coverage must not change.
It affects only tests, tags and options of `busproof.features`.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["OPTIONS", "features_asked_for", "loading_our_features"]

RULE_ID = re.compile(r"[A-Z]+-\d\d")
ANY_READING = "any-reading"
"""Tag of a scenario that applies under any reading, even if one of its rules is not in force."""

OPTIONS = {
    "adapter": "which implementation the features run on (default: model); see busproof adapters",
    "edition": "id of the edition of the documents (default: that of the catalogue)",
    "tier": "basic, standard or premium (default: standard)",
    "oracle": "strict or client (default: strict if partitions are observable)",
    "partitions": "partitions of a partitioned queue (default: 16)",
    "namespace-partitions": "partitions of a Premium namespace: 1 (default), 2 or 4",
    "messaging-units": "messaging units of a Premium namespace (default: one a partition)",
    "timeout": "seconds to wait for an answer of an exec: adapter (default: 10)",
    "history": "file to record the run in (default: none)",
    "profile": "explore, too, this much: quick, ci, thorough, network or soak (default: do not)",
    "minutes": "how long a soak lasts (default: 10)",
    "seed": "what the exploration's random choices begin from (default: any number)",
    "replay": "file of commands to ask, instead of all else (default: none)",
    "from": "what to run: features (default), or tla: the paths of the TLA+ specs",
}


_loading: list[bool] = []
_asked: list[str] = []
"""Values of `--bus-rule`, for test modules, which cannot access pytest's configuration."""


@contextmanager
def loading_our_features() -> Iterator[None]:
    """Treat tags as the suite's while the features load; pytest-bdd does not pass their origin."""
    _loading.append(True)
    try:
        yield
    finally:
        _loading.pop()


def features_asked_for(folder: Path) -> list[str]:
    """Return the feature files that contain a scenario of a selected rule.

    All files are returned if no rule is selected or no file matches; unknown rules are reported
    later. This saves a second, which parsing all files takes.
    """
    files = sorted(folder.glob("*.feature"))
    tags = tuple(f"@{rule}" for rule in _asked)
    fitting = [file for file in files if any(tag in file.read_text("utf-8") for tag in tags)]
    return [file.name for file in fitting or files]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the features, prefixed `--bus-` to leave short names to the host."""
    group = parser.getgroup("busproof", "conformance of a message bus (busproof.features)")
    for name, explained in OPTIONS.items():
        group.addoption(f"--bus-{name}", default=None, help=explained)
    group.addoption(
        "--bus-reading",
        action="append",
        default=[],
        metavar="AMBIGUITY=READING",
        help="how an ambiguity of the documents is read; may be given several times",
    )
    group.addoption(
        "--bus-rule",
        action="append",
        default=[],
        metavar="ID",
        help="run only the scenarios of this rule, or family of rules; may be given several times",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Record the selected rules, and refuse a history that several processes would share.

    Raises:
        UsageError: pytest-xdist distributes the run over processes.
    """
    _asked[:] = config.getoption("--bus-rule")
    history = config.getoption("--bus-history")
    if history and config.getoption("dist", "no") != "no":
        raise pytest.UsageError(
            f"--bus-history={history} records one run in one process, and pytest-xdist spreads it "
            "over several: leave one of both out (-n0 turns pytest-xdist off)"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_bdd_apply_tag(tag: str, function: Callable[..., object]) -> bool | None:
    """Convert a tag of the suite's scenarios to a mark; leave other tags to other plugins."""
    if not _loading or not (tag == ANY_READING or RULE_ID.fullmatch(tag)):
        return None
    mark = pytest.mark.any_reading if tag == ANY_READING else pytest.mark.rule(tag)
    mark(function)
    return True
