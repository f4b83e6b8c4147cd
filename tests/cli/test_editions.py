"""`busproof run --edition all`: a run of each edition, and one page of them all."""

import json

import pytest

from busproof.spec import load

pytestmark = pytest.mark.slow

EDITIONS = [each.id for each in sorted(load().editions, key=lambda each: each.order)]
FAULTY = ("--adapter", "faulty:largest-size-refused")
"""It breaks a rule of which the newest edition says nothing."""
SHORT = ("run", "--edition", "all", "--only", "features", "--name", "it")


def test_every_edition_is_run_and_stands_beside_the_others(busproof):
    """A violation in any of them is the exit code, though other runs are incomplete."""
    ended = busproof(*SHORT, "--rule", "SIZE-01", *FAULTY)
    assert 1 == ended.code
    codes = {busproof.run(f"it-{edition}").report.exit_code for edition in EDITIONS}
    assert {1, 3} == codes
    assert EDITIONS == ended.out.split("family")[1].split("\n")[0].split()
    for edition in EDITIONS:
        assert edition == busproof.run(f"it-{edition}").report.subject.edition
    page = busproof.folder / "reports" / "runs" / "it.html"
    assert all(edition in page.read_text() for edition in EDITIONS)


@pytest.mark.full_size("another run of all editions: run by the nightly part commands")
def test_verdicts_come_as_json_by_edition(busproof):
    ended = busproof(*SHORT, "--rule", "KEY-08", "--format", "json")
    assert 0 == ended.code
    assert set(EDITIONS) == json.loads(ended.out)["editions"].keys()
