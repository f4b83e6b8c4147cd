"""Every mistake on the command line gets one sentence, with exit code 2."""

import os
from pathlib import Path

import pytest
from rows import rows_of

from busproof.cli.main import main
from busproof.cli.running import child_run
from busproof.history.conformance import Verdict
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
BROKEN = ("run", "--only", "features", "--rule", "KEY-08", "--adapter", "faulty:mismatch-accepted")
"""A run that is short, and ends with an exit code of its own: 1."""

WRONG = dict(rows_of(__file__, "usage"))
"""A line that is typed, and parts of the sentence that it gets."""


NEEDS_A_RUN = (
    "run --adapter no_such_module:make",
    "run --adapter os:no_such_factory",
    "run --adapter faulty:none",
    "run --adapter exec:",
)
"""What the process that runs the features finds out, because it imports what is named."""


@pytest.mark.parametrize("line", [line for line in WRONG if line not in NEEDS_A_RUN])
def test_wrong_usage_is_reported_before_anything_begins(monkeypatch, capsys, tmp_path, line):
    """At once: no process of its own finds out what can be seen here."""

    def record(*_: object) -> None:
        raise AssertionError("a run has begun")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(child_run, "record", record)
    try:
        code = main(line.split())
    except SystemExit as ended:  # the parser ends the process itself
        code = ended.code
    printed = capsys.readouterr()
    assert (2, "") == (code, printed.out)
    assert all(part in printed.err for part in WRONG[line])
    assert "\n" not in printed.err.removeprefix("busproof: ").rstrip("\n")
    assert [] == list(tmp_path.iterdir())


def test_correct_options_begin_a_run(monkeypatch, tmp_path):
    """The tests above would see it."""

    def record(*_: object) -> None:
        raise AssertionError("a run has begun")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(child_run, "record", record)
    with pytest.raises(AssertionError, match="has begun"):
        main(["run", "--adapter", "model?policy=random"])


@pytest.mark.parametrize("line", NEEDS_A_RUN)
def test_wrong_usage_gets_one_sentence_and_leaves_nothing(busproof, line):
    """The sentence names the value and what would have been right; no folder is left."""
    ended = busproof(*line.split(), "--rule", "KEY-08")
    assert 2 == ended.code
    assert "" == ended.out
    for part in WRONG[line]:
        assert part in ended.sentence
    assert set() == busproof.runs


def test_a_name_that_is_taken_is_refused_and_its_run_is_kept(busproof):
    """A second run of a name must not touch the first."""
    assert 0 == busproof("run", "--only", "features", "--name", "mine", "--rule", "KEY-09").code
    before = (busproof.run("mine").folder / "history.jsonl").read_bytes()
    again = busproof("run", "--only", "features", "--name", "mine")
    assert 2 == again.code
    assert "reports/runs/mine" in again.sentence
    assert "choose another --name" in again.sentence
    assert before == (busproof.run("mine").folder / "history.jsonl").read_bytes()


def test_a_name_is_free_again_after_a_wrong_adapter(busproof):
    """Who corrects a typing error need not think of another name."""
    assert 2 == busproof("run", "--only", "features", "--name", "mine", "--adapter", "nope").code
    assert 0 == busproof("run", "--only", "features", "--name", "mine", "--rule", "KEY-09").code


FACTORIES = """
from busproof.adapters.base import Declaration, Implementation
from busproof.adapters.model import ModelAdapter

def raises():
    raise RuntimeError("no bus today")

def returns_none():
    return None

class Broken(ModelAdapter):
    def declaration(self): ...

class Silent(Broken):
    @property
    def declaration(self):
        raise ValueError("who am I?")

class Wordy(Broken):
    @property
    def declaration(self):
        return Declaration(implementation=Implementation(name="wordy"), capabilities={"peek"})
"""

RAISED = {
    "raises": ["failed to make an adapter", "RuntimeError: no bus today"],
    "returns_none": ["NoneType", "is not an adapter", "lacks start, do, stop, declaration"],
    "Broken": ["factories:Broken declares", "must declare a busproof.adapters.base.Declaration"],
    "Silent": ["ValueError: who am I?"],
    "Wordy": ["capabilities of busproof.adapters.base.Capability"],
    "syntax": ["factories_syntax cannot be imported", "SyntaxError"],
}


@pytest.mark.parametrize("factory", RAISED if FULL else ("raises", "Silent", "syntax"))
def test_a_factory_that_fails_gets_one_sentence(busproof, factory):
    """The adapter's author must act: exit code 3, and no run is left."""
    (busproof.folder / "factories.py").write_text(FACTORIES)
    (busproof.folder / "factories_syntax.py").write_text("def make(:\n")
    name = "factories_syntax:make" if factory == "syntax" else f"factories:{factory}"
    words = ("run", "--name", "it", "--rule", "KEY-08", "--adapter", name)
    ended = busproof(*words)
    assert 3 == ended.code
    for part in RAISED[factory]:
        assert part in ended.sentence
    assert set() == busproof.runs
    kept = busproof.folder / "reports" / "adapter-error.txt"
    if factory in ("raises", "Silent", "syntax"):
        assert ended.sentence.endswith(f"; {kept.relative_to(busproof.folder)} has its traceback")
        assert "factories" in kept.read_text()
    if factory == "raises" or FULL:
        # The name of the run is free for the next try.
        assert "there is a run" not in busproof(*words).err


def without_privileges() -> None:
    """Give up root's right to write where nobody may."""
    import ctypes  # in the child, before it becomes busproof

    drop_capability, dac_override = 24, 1
    ctypes.CDLL(None).prctl(drop_capability, dac_override, 0, 0, 0)


def test_a_folder_that_cannot_be_written_gets_one_sentence(busproof):
    """The current folder belongs to somebody else, or its disk is mounted to be read only."""
    folder = busproof.folder / "read-only"
    folder.mkdir()
    folder.chmod(0o555)
    prepare = without_privileges if os.geteuid() == 0 else None
    ended = busproof("run", "--only", "features", folder=folder, prepare=prepare)
    assert 3 == ended.code
    assert "cannot make reports/runs/" in ended.sentence
    assert "Permission denied; run busproof in a folder that can be written" in ended.sentence


def test_a_file_where_a_folder_should_be_gets_one_sentence(busproof):
    """Somebody's file is called reports."""
    (busproof.folder / "reports").write_text("mine")
    ended = busproof("run", "--only", "features")
    assert 3 == ended.code
    assert "Not a directory" in ended.sentence


def test_adapters_table_prints_extras_in_full(busproof):
    """The table takes no extra in brackets for markup."""
    table = busproof("adapters").out
    assert {"busproof[amqp];", "busproof[spark];"} <= set(table.split())


@pytest.mark.parametrize("command", ["rules", "rules --format json", "adapters"])
def test_a_full_disk_behind_the_output_gets_one_sentence(busproof, command):
    """What cannot be printed is not taken for a violation, and shows no traceback."""
    with Path("/dev/full").open("w") as full:
        ended = busproof(*command.split(), prepare=lambda: os.dup2(full.fileno(), 1))
    assert 3 == ended.code
    assert ["cannot go on writing: No space left on device"] == ended.sentences


def test_verdicts_that_cannot_be_printed_leave_their_report(busproof, brief):
    """The verdicts are in the folder, and the exit code says that something is missing."""
    with Path("/dev/full").open("w") as full:
        ended = busproof(
            *("check", str(brief.folder), "--report", "told"),
            prepare=lambda: os.dup2(full.fileno(), 1),
        )
    assert 3 == ended.code
    assert ["cannot go on writing: No space left on device"] == ended.sentences
    assert reports.read(busproof.folder / "told").counted(Verdict.SHOWN)


@pytest.mark.parametrize(("command", "code"), [(("rules",), 3), (BROKEN, 1)], ids=["rules", "run"])
def test_a_reader_that_stops_reading_is_no_failure(busproof, command, code):
    """`busproof … | head -0` ends in silence, and a run with its own exit code."""
    reading, writing = os.pipe()
    os.close(reading)
    ended = busproof(*command, prepare=lambda: os.dup2(writing, 1))
    os.close(writing)
    assert [] == ended.sentences
    assert code == ended.code
