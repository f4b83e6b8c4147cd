"""`busproof report` as a user asks for it."""

import json
import shutil

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(busproof, recorded, broken) -> None:
    """Two runs under reports/runs, the newest of which is `latest`."""
    runs = busproof.folder / "reports" / "runs"
    runs.mkdir(parents=True)
    for name, run in (("whole", recorded), ("broken", broken.run("it"))):
        (runs / name).mkdir()
        shutil.copy(run.folder / "conformance.json", runs / name)
    (runs / "latest").symlink_to("whole")


def values(page: str) -> dict:
    told = page.partition('<script type="application/json" id="values">')[2]
    return json.loads(told.partition("</script>")[0])


@pytest.mark.usefixtures("kept")
def test_the_latest_run_is_told_where_none_is_named(busproof) -> None:
    ended = busproof("report")
    assert (0, "", "Page: reports/conformance.html\n") == (ended.code, ended.out, ended.err)
    (run,) = values((busproof.folder / "reports" / "conformance.html").read_text())["runs"]
    assert run["label"].startswith("busproof model")


@pytest.mark.usefixtures("kept")
def test_runs_stand_beside_each_other_and_all_else_is_written(busproof) -> None:
    """By name, by folder, by file; the same history of runs twice holds each run once."""
    options = ("--history", "kept/runs.jsonl", "--label", "a1b2c3", "--junit", "out/junit.xml")
    named = ("whole", "reports/runs/broken", "reports/runs/broken/conformance.json")
    for _ in range(2):
        ended = busproof("report", *named, *options, "-o", "out/page.html")
        assert 0 == ended.code, ended.err
    data = values((busproof.folder / "out" / "page.html").read_text())
    assert len({run["label"] for run in data["runs"]}) == len(named)
    assert ["KEY-08", "SCHED-12"] == sorted(data["runs"][1]["examples"])
    lines = (busproof.folder / "kept" / "runs.jsonl").read_text().splitlines()
    assert ["a1b2c3", "a1b2c3"] == [json.loads(line)["label"] for line in lines]
    assert (busproof.folder / "out" / "junit.xml").read_text().count("<testsuite ") == len(named)


@pytest.mark.usefixtures("kept")
def test_what_an_audit_printed_is_taken(busproof) -> None:
    audited = busproof("audit", "mismatch-accepted", "--format", "json")
    assert 0 == audited.code
    (busproof.folder / "audit.json").write_text(audited.out)
    ended = busproof("report", "--audit", "audit.json", "-o", "page.html")
    assert 0 == ended.code, ended.err
    data = values((busproof.folder / "page.html").read_text())
    told = [each for rule in data["rules"] for each in rule.get("faults", ()) if len(each) > 2]
    assert [["mismatch-accepted", "killed"]] == [[each[0], each[2]] for each in told]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "there is no run 'latest'; name a run's folder, a conformance.json, or a folder"),
        (("nowhere",), 2, "there is no run 'nowhere'; "),
        (("empty",), 3, "cannot read the report empty/conformance.json: No such file"),
        (("broken.json",), 3, "broken.json is no conformance report: it is no JSON"),
        (("--label", "x"), 2, "--label tells what a history of runs is of; give --history, too"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(busproof, arguments, code, said) -> None:
    (busproof.folder / "empty").mkdir()
    (busproof.folder / "broken.json").write_text("{")
    ended = busproof("report", *arguments)
    assert (code, "") == (ended.code, ended.out)
    assert ended.sentence.startswith(said)


@pytest.mark.usefixtures("kept")
def test_a_time_that_is_none_is_refused(busproof) -> None:
    """And nothing is written."""
    named = {"SOURCE_DATE_EPOCH": "yesterday"}
    ended = busproof("report", "--history", "h.jsonl", environment=named)
    assert 2 == ended.code
    assert ended.sentence.startswith("SOURCE_DATE_EPOCH is 'yesterday'; it must be a number")
    assert not (busproof.folder / "h.jsonl").exists()
