"""`busproof report` as a user asks for it, in this process: no run is made for it."""

import json
from pathlib import Path

import attrs
import pytest

from busproof.cli.main import main
from busproof.judging.audit import Audited, Result
from busproof.reports.conformance import JSON_NAME, write

RUNS = Path("reports") / "runs"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def runs(conformance) -> None:
    """Two runs under reports/runs, one of which is `latest`."""
    other = attrs.evolve(conformance, subject=attrs.evolve(conformance.subject, name="Other"))
    write(conformance, RUNS / "one")
    write(other, RUNS / "other")
    (RUNS / "latest").symlink_to("other")


def values(page: str) -> dict:
    data = Path(page).read_text().partition('<script type="application/json" id="values">')[2]
    return json.loads(data.partition("</script>")[0])


@pytest.mark.usefixtures("runs")
def test_the_latest_run_is_reported_where_none_is_named(capsys) -> None:
    assert main(["report"]) == 0
    assert capsys.readouterr() == ("", "Page: reports/conformance.html\n")
    (run,) = values("reports/conformance.html")["runs"]
    assert run["label"] == "Other 2.1"


@pytest.mark.usefixtures("runs")
def test_runs_are_named_by_name_by_folder_and_by_file() -> None:
    assert main(["report", "one", str(RUNS / "other"), str(RUNS / "one" / JSON_NAME)]) == 0
    labels = [run["label"] for run in values("reports/conformance.html")["runs"]]
    assert labels == ["Acme Bus 2.1, run 1", "Other 2.1", "Acme Bus 2.1, run 2"]


@pytest.mark.usefixtures("runs")
def test_all_else_is_written_where_it_is_asked_for(monkeypatch) -> None:
    """The same runs twice stand in the history of runs once."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1763791800")
    options = ["--history", "kept/runs.jsonl", "--label", "a1b2c3", "--junit", "out/junit.xml"]
    for _ in range(2):
        assert main(["report", "one", "other", *options, "-o", "out/page.html"]) == 0
    lines = [json.loads(line) for line in Path("kept/runs.jsonl").read_text().splitlines()]
    assert [(line["name"], line["at"], line["label"]) for line in lines] == [
        ("Acme Bus", "2025-11-22T06:10Z", "a1b2c3"),
        ("Other", "2025-11-22T06:10Z", "a1b2c3"),
    ]
    assert Path("out/junit.xml").read_text().count("<testsuite ") == 2
    assert [len(run["trend"]) for run in values("out/page.html")["runs"]] == [1, 1]


@pytest.mark.usefixtures("runs")
def test_output_of_an_audit_is_accepted() -> None:
    killed = Audited(
        id="mismatch-accepted", rule="KEY-08", result=Result.KILLED, killed_by=("x",), commands=3
    )
    Path("audit.json").write_text(json.dumps({"faults": [attrs.asdict(killed)]}))
    assert main(["report", "--audit", "audit.json", "-o", "page.html"]) == 0
    rules = values("page.html")["rules"]
    faults = [each for rule in rules for each in rule.get("faults", ()) if len(each) > 2]
    assert [["mismatch-accepted", "killed"]] == [[each[0], each[2]] for each in faults]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "there is no run 'latest'; name a run's folder, a conformance.json, or a folder"),
        (("nowhere",), 2, "there is no run 'nowhere'; "),
        (("empty",), 3, "cannot read the report empty/conformance.json: No such file"),
        (("broken.json",), 3, "broken.json is not a conformance report: it is not JSON"),
        (("--label", "x"), 2, "--label tells what a history of runs is of; give --history, too"),
        (("one", "-o", "broken.json/page.html"), 3, "cannot write broken.json/page.html: "),
        (("one", "--junit", "broken.json/x.xml"), 3, "cannot write broken.json/x.xml: "),
        (("one", "--history", "broken.json/x"), 3, "cannot write the history of runs broken.json"),
        (("one", "--badges", "broken.json"), 3, "cannot write broken.json/"),
        (("one", "--allure", "broken.json/x"), 3, "cannot write Allure results into "),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    conformance, capsys, arguments, code, said
) -> None:
    write(conformance, "one")
    Path("empty").mkdir()
    Path("broken.json").write_text("{")
    assert main(["report", *arguments]) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"busproof: {said}")


@pytest.mark.usefixtures("runs")
def test_a_time_that_is_none_is_refused_before_anything_is_written(capsys, monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert main(["report", "--history", "runs.jsonl"]) == 2
    assert "SOURCE_DATE_EPOCH is 'yesterday'; it must be a number" in capsys.readouterr().err
    assert not Path("runs.jsonl").exists()
