"""The page of results: what runs came to, beside each other."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from busproof.history.conformance import Verdict
from busproof.mutants.by_machine.record import Fate, Result, Sample, load_sample
from busproof.reports.conformance import write

ROOT = Path(__file__).parent.parent.parent
TOOL = ROOT / "tools" / "results_page.py"
NOBODYS = Verdict.KNOWN_FAILURE
"""A verdict that no rule of these runs has, and that has no column."""


def made(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The tool, as `make results` calls it."""
    return subprocess.run(
        [sys.executable, str(TOOL), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def runs(conformance, tmp_path) -> list[Path]:
    """One that breaks a rule, and one of another implementation in which nothing came to an end."""
    other = attrs.evolve(
        conformance,
        subject=attrs.evolve(conformance.subject, name="other", language="", version="7"),
        rules=tuple(
            attrs.evolve(each, verdict=Verdict.INCONCLUSIVE, cause="it was too slow")
            for each in conformance.rules
        ),
    )
    folders = []
    for name, run in (("one", conformance), ("two", other)):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        write(run, folders[-1])
    return folders


def test_each_run_has_its_line_its_column_and_what_it_breaks(conformance, runs, tmp_path) -> None:
    """What is open has its reason, and is no rule that is shown."""
    faults = tmp_path / "audit.json"
    faults.write_text(json.dumps({"faults": [{"result": "killed"}] * 3 + [{"result": "silent"}]}))
    page = tmp_path / "results.md"
    ended = made(*runs, "--audit", faults, "--output", page)
    assert (0, "") == (ended.returncode, ended.stderr)
    text = page.read_text(encoding="utf-8")
    broken = [each for each in conformance.rules if each.verdict is Verdict.VIOLATED]
    assert broken
    for rule in broken:
        assert f"- {rule.id}: {rule.title}\n" in text
    counted = [str(conformance.counted(each)) for each in Verdict if each is not NOBODYS]
    assert f"| {NOBODYS.value} |" not in text
    ours = f"| {conformance.subject.name} "
    line = next(each for each in text.splitlines() if each.startswith(ours))
    assert line.rstrip(" |").split(" | ")[3:] == counted
    assert ": it was too slow\n" in text
    assert f"| other 7 | {conformance.oracle} | " in text
    assert "Of 4 buses with one fault each" in text
    assert "3 killed, 1 silent." in text


def test_a_run_without_verdicts_is_named_and_no_page_is_written(runs, tmp_path) -> None:
    page = tmp_path / "results.md"
    ended = made(*runs, tmp_path, "--output", page)
    assert 1 == ended.returncode
    assert f"{tmp_path}" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not page.exists()


FATES = (
    Fate(id="keys.a.x", result=Result.KILLED, part="features"),
    Fate(id="keys.b.x@outage", result=Result.FOUND, part="search", since="A key in an outage"),
    Fate(id="keys.c.x", result=Result.FOUND, part="exploration"),
    Fate(id="locks.d.x", result=Result.UNDECIDED, why="kept the same records"),
    Fate(id="locks.e.x@late", result=Result.UNDECIDED, why="kept the same records"),
    Fate(id="locks.f.x", result=Result.EQUIVALENT, why="It is the other way round."),
)


def test_generated_faults_have_a_line_for_each_family_and_each_survivor_its_reason() -> None:
    tool = runpy.run_path(str(TOOL))
    made = {"keys": 30, "locks": 60}
    sample = Sample(on="2026-11-26", seed=9, tries=40, made=made, fates=FATES)
    text = "".join(tool["generated_faults"](sample))
    assert "| `keys` | 30 | 3 | 3 | 33.3 % | 33.3 % | 6.1 to 79.2 % | 66.7 % | 0 | 0 | 0 |" in text
    assert "| `locks` | 60 | 3 | 0 | - | - | - | - | 1 | 2 | 0 |" in text
    assert "- `keys.b.x@outage`: since noticed by “A key in an outage”.\n" in text
    assert "- `keys.c.x`: open.\n" in text
    assert "- kept the same records: 2 (any context: 1, late: 1)\n" in text
    assert "- `locks.f.x`: It is the other way round.\n" in text


def test_the_page_has_the_recorded_sample() -> None:
    """`python tools/results_page.py`, without runs, writes that section anew."""
    tool = runpy.run_path(str(TOOL))
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert "\n".join(tool["generated_faults"](load_sample())) in page


def test_the_plots_alone_are_drawn_anew(runs, tmp_path) -> None:
    """And the rest stays."""
    page = tmp_path / "results.md"
    made(*runs, "--output", page)
    whole = page.read_text(encoding="utf-8")
    page.write_text(whole[: whole.index("```mermaid")], encoding="utf-8")
    assert 0 == made("--output", page).returncode
    assert whole == page.read_text(encoding="utf-8")


def test_the_plots_show_what_the_benchmarks_say() -> None:
    """Without runs the tool draws them anew; a section without a label for one is an error."""
    tool = runpy.run_path(str(TOOL))
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for plot in tool["PLOTS"]:
        assert tool["draw"](plot) in page, plot.section
    gone = tool["Plot"]("SQL filters", "µs", "")
    with pytest.raises(SystemExit, match="no figure of the section 'SQL filters' has a label"):
        tool["draw"](gone)
