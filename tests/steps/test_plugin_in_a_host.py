"""A project in which busproof is installed sees nothing of it in its own tests."""

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
OUTCOMES = [
    "FAILED tests/test_checkout.py::test_that_fails - AssertionError: assert 'bus of the host' "
    "== 'bus of busproof'",
    "PASSED tests/test_checkout.py::test_one_order",
    "PASSED tests/test_checkout.py::test_options",
    "PASSED tests/test_checkout.py::test_two_orders",
    "SKIPPED [1] tests/test_checkout.py:26: not today",
]


def test_a_hosts_tests_have_the_outcomes_that_they_have_without_busproof(host):
    """Its fixtures bus, queue and outcome, its tags and its options are its own."""
    there = host.pytest("-q", "-rA", is_new=True)
    gone = host.pytest("-q", "-rA", "-p", "no:busproof")
    assert there.outcomes == gone.outcomes
    assert OUTCOMES == there.outcomes
    assert (1, 1) == (there.code, gone.code)


@pytest.mark.parametrize(
    ("options", "counted", "code"),
    [
        ("-m smoke", "2 passed, 3 deselected", 0),
        *([("-n 2", "1 failed, 3 passed, 1 skipped", 1)] if FULL else []),
    ],
)
def test_a_host_selects_and_spreads_its_tests_as_ever(host, options, counted, code):
    """By marks, by its own tags, and over processes."""
    ended = host.pytest("-q", "-rA", *options.split())
    assert (counted, code) == (ended.counted, ended.code)
    assert set(ended.outcomes) <= {*OUTCOMES}


def test_a_host_sees_no_marker_and_no_option_of_ours_but_bus_options(host):
    """What `pytest --markers` and `pytest --help` print."""
    markers = [host.pytest("--markers", *more).out for more in ([], ["-p", "no:busproof"])]
    assert markers[0] == markers[1]
    there, gone = (
        set(re.findall(r"^ +(-[-\w]+)", host.pytest("--help", *more).out, re.MULTILINE))
        for more in ([], ["-p", "no:busproof"])
    )
    assert there - gone
    assert all(option.startswith("--bus-") for option in there - gone)
    assert set() == gone - there


def test_a_mark_that_a_host_misspells_is_still_refused(host):
    """Under --strict-markers a mark called rule is unknown, as it was before."""
    (host.folder / "tests/test_rule.py").write_text(
        "import pytest\n@pytest.mark.rule('x')\ndef test_it(): ...\n"
    )
    ended = host.pytest("-q", "tests/test_rule.py")
    assert "'rule' not found in `markers` configuration option" in ended.out
    assert 2 == ended.code


def test_the_plugin_brings_no_module_of_ours_along():
    """A host's start-up and coverage stay its own."""
    asked = (
        "import sys, busproof.steps.plugin; "
        "print(sorted(name for name in sys.modules if name.startswith('busproof')))"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert "['busproof', 'busproof.steps', 'busproof.steps.plugin']" == said.stdout.strip()


def test_the_steps_of_the_features_are_none_of_the_hosts(host):
    """A scenario of the host's with our words has no definition, as it had none before."""
    (host.folder / "tests/checkout.feature").write_text(
        "Feature: F\n  Scenario: S\n    Given a transaction\n"
    )
    ended = host.pytest("-q", "-k", "test_s")
    assert 'Step definition is not found: Given "a transaction"' in ended.out
    assert 1 == ended.code
