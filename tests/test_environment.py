"""`tools/environment.py`: locks install with old pips, and what goes wrong is one sentence."""

import base64
import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import refuse
from tools import environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FULL = os.environ.get("BUSPROOF_SIZE") == "full"
LOCKS = sorted(lock.stem for lock in (ROOT / "requirements").glob("*.lock"))
PIPS = {
    "22.3": "1daab4b8d3b97d1d763caeb01a4640a2250a0ea899e257b1e44b9eded91e15ab",
    "23.2.1": "7ccf472345f20d35bdc9d1841ff5f313260c2c33fe417f48c30ac46cccabf5be",
    "24.2": "2cd581cf58ab7fcfca4ce8efa6dcacd0de5bf8d0a3eb9ec927e07405f4d9e2a2",
    "25.2": "6d67a2b4e7f14d8b31b8b52648866fa717f45a1eb70e83002f4331d07e953717",
}
"""What ensurepip brings in the first release of each Python from 3.11 on, with the wheel's hash."""

TRIED = [(pip, lock) for pip in PIPS for lock in LOCKS if FULL or (pip, lock) == (min(PIPS), "dev")]


@pytest.fixture(autouse=True)
def only_our_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip ask no index but the one that a test makes."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("BUSPROOF_REQUIRE_ALL", raising=False)


class Index:
    """A package index of empty wheels, with newer releases of all that a lock pins."""

    def __init__(self, folder: Path, lock: str) -> None:
        self.folder = folder
        self.url = folder.as_uri()
        self.lock = folder / f"{lock}.lock"
        text = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8")
        pins = re.findall(r"^([\w.-]+)==([^\s;]+)( ; [^\\\n]+?)? ?\\$", text, re.MULTILINE)
        lines = []
        for name, version, marker in pins:
            pinned = self.publish(name, version)
            self.publish(name, "9999.0")
            lines.append(f"{name}=={version}{marker} \\\n    --hash=sha256:{pinned}\n")
        self.lock.write_text("".join(lines), encoding="utf-8")

    def publish(self, name: str, version: str) -> str:
        """Add a release without modules; return the hash of its wheel."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        wheel = folder / f"{name.replace('-', '_').replace('.', '_')}-{version}-py3-none-any.whl"
        described = {
            "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            + "".join(f"{line}\n" for line in dependencies(name)),
            "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        info = f"{wheel.name.partition('-py3')[0]}.dist-info"
        record = [
            f"{info}/{file},sha256={digest(text.encode())},{len(text.encode())}\n"
            for file, text in described.items()
        ]
        with zipfile.ZipFile(wheel, "w") as archive:
            for file, text in described.items():
                archive.writestr(f"{info}/{file}", text)
            archive.writestr(f"{info}/RECORD", f"{''.join(record)}{info}/RECORD,,\n")
        links = "".join(f'<a href="{each.name}">{each.name}</a>' for each in folder.glob("*.whl"))
        (folder / "index.html").write_text(f"<!DOCTYPE html><body>{links}", encoding="utf-8")
        return hashlib.sha256(wheel.read_bytes()).hexdigest()


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def dependencies(name: str) -> Iterator[str]:
    """Yield what the real package says of what it needs."""
    try:
        metadata = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return
    for field in ("Requires-Dist", "Provides-Extra"):
        yield from (f"{field}: {value}" for value in metadata.get_all(field, ()))


@pytest.fixture(scope="module")
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index(tmp_path_factory.mktemp("index"), request.param)


@pytest.fixture(scope="module")
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with this pip."""
    folder = tmp_path_factory.mktemp("home")
    wanted = folder / "pip.txt"
    wanted.write_text(f"pip=={request.param} --hash=sha256:{PIPS[request.param]}\n")
    home = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    got = subprocess.run(
        [sys.executable, "-m", "pip", f"--python={home / 'bin' / 'python'}", "install", "--quiet",
         "--require-hashes", "--requirement", str(wanted)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if got.returncode:
        refuse("index")
    return home


def pip(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(home / "bin" / "python"), "-m", "pip", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("home", "index"), TRIED, indirect=True)
def test_a_lock_installs_with_an_old_pip_whatever_the_index_has_newer(home, index) -> None:
    installer = environment.Pip(home, index.url)
    assert [] == installer.install(index.lock)
    installer.check([])
    installed = pip(home, "list", "--format=freeze").stdout.splitlines()
    assert [] == [line for line in installed if line.endswith("==9999.0")]
    assert len(installed) > len(re.findall("==", index.lock.read_text())) - 3


@pytest.mark.parametrize(("home", "index"), [(min(PIPS), "dev")], indirect=True)
def test_the_same_lock_is_refused_where_pip_resolves(home: Path, index: Index) -> None:
    """The trap is real: without --no-deps an old pip looks past pins."""
    options = ("--dry-run", "--ignore-installed", "--require-hashes", "--index-url", index.url)
    ended = pip(home, "install", *options, "--requirement", str(index.lock))
    assert ended.returncode == 1
    assert "all requirements must have their versions pinned" in ended.stderr


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment; making one takes seconds, copying it does not."""
    home = tmp_path_factory.mktemp("empty") / "env"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    return home


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, empty: Path) -> Path:
    """A checkout with one small lock, where new environments are copies of an empty one."""
    run = environment.run

    def copying(command: list[str], what: str, settings: dict[str, str]) -> None:
        if "venv" in command:
            shutil.rmtree(command[-1], ignore_errors=True)
            shutil.copytree(empty, command[-1], symlinks=True)
        else:
            run(command, what, settings)

    monkeypatch.setattr(environment, "run", copying)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "pyproject.toml").touch()
    Index(tmp_path / "requirements", "build")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, Path]:
    """Call the tool for an environment named `env`; return its exit code and the stamp."""
    index = (environment.ROOT / "requirements").as_uri()
    options = ["env", "build", "--no-project", "--index", index, *arguments]
    monkeypatch.setattr(sys, "argv", ["environment.py", *options])
    return environment.main(), Path("env", ".installed")


def test_an_environment_is_made_once_for_each_lock(checkout, monkeypatch, capsys) -> None:
    code, stamp = made(monkeypatch)
    assert (0, True) == (code, stamp.exists())
    assert "env: made in" in capsys.readouterr().out
    assert 0 == made(monkeypatch)[0]
    assert "" == capsys.readouterr().out
    with (checkout / "requirements" / "build.lock").open("a") as file:
        file.write("\n")
    assert 0 == made(monkeypatch)[0]
    assert "env: made in" in capsys.readouterr().out


def test_a_broken_installation_is_never_taken_for_a_whole_one(checkout, monkeypatch, capsys):
    """Neither the first nor the one that was whole before."""
    made(monkeypatch)
    lock = checkout / "requirements" / "build.lock"
    lock.write_text(lock.read_text().replace("sha256:", "sha256:0000")[:-5] + "\n")
    for _ in range(2):
        code, stamp = made(monkeypatch)
        assert (1, False) == (code, stamp.exists())
        (said,) = capsys.readouterr().err.splitlines()
        assert said.startswith("make: the packages could not be installed: ")


@pytest.mark.usefixtures("checkout")
def test_an_incomplete_lock_is_refused(monkeypatch, capsys) -> None:
    monkeypatch.setattr(environment, "run", then_add_a_need(environment.run))
    code, stamp = made(monkeypatch)
    assert (1, False) == (code, stamp.exists())
    assert "a lock is not complete: " in capsys.readouterr().err


def then_add_a_need(run):
    """Pretend that pip installed something with a need that no lock has."""

    def run_then_add(command, what, settings):
        run(command, what, settings)
        for info in Path("env").glob("lib/python*/site-packages/setuptools-*.dist-info/METADATA"):
            info.write_text(info.read_text() + "Requires-Dist: nothing-of-that-name\n")

    return run_then_add


@pytest.mark.usefixtures("checkout")
def test_no_index_in_reach_is_one_sentence(monkeypatch, capsys) -> None:
    monkeypatch.setenv("PIP_RETRIES", "1")
    code, _ = made(monkeypatch, "--index", "http://localhost:1/simple")
    assert 1 == code
    assert "no package index can be reached" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="/proc is of Linux")
def test_a_checkout_that_cannot_be_written_is_one_sentence(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["environment.py", "/proc/env", "build", "--no-project"])
    assert 1 == environment.main()
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("make: /proc/env could not be made: ")


@pytest.mark.usefixtures("checkout")
def test_a_full_disk_is_one_sentence(monkeypatch, capsys) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "env")

    monkeypatch.setattr(environment, "run", full)
    code, stamp = made(monkeypatch)
    assert (1, False) == (code, stamp.exists())
    assert "make: env could not be made: the disk is full (" in capsys.readouterr().err


def test_a_second_call_waits_for_the_first(checkout) -> None:
    with environment.only_one_at_a_time(Path("env")):
        second = subprocess.Popen(
            [sys.executable, str(ROOT / "tools" / "environment.py"), "env", "build"],
            cwd=checkout,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert "another process is making it; waiting" in second.stdout.readline()
        second.kill()
    second.communicate()


def test_package_to_be_built_is_left_out_without_a_compiler(checkout, monkeypatch, capsys) -> None:
    """It is installed as soon as there is one, and nothing may be left out where all is asked."""
    monkeypatch.setattr(environment, "BUILT_HERE", {"setuptools": "a compiler"})
    lock = checkout / "requirements" / "build.lock"
    whole = lock.read_text()
    lock.write_text(re.sub("sha256:....", "sha256:0000", whole))
    monkeypatch.setattr(environment, "can_compile", lambda: False)
    code, stamp = made(monkeypatch)
    assert 0 == code
    assert "left out: setuptools" in stamp.read_text()
    capsys.readouterr()
    assert (0, "") == (made(monkeypatch)[0], capsys.readouterr().out)
    monkeypatch.setenv("BUSPROOF_REQUIRE_ALL", "1")
    assert 1 == made(monkeypatch)[0]
    assert "building it needs a compiler" in capsys.readouterr().err


WITHOUT_PROTON = """
import sys
from importlib.machinery import PathFinder

class WithoutProton(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in ("proton", "cproton")
        return None if hidden else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutProton
"""


def test_tests_are_collected_without_proton(tmp_path: Path) -> None:
    """Where no compiler builds it, its tests are one skipped item a file."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_PROTON)
    searched = ["tests/adapters", "tests/broker", "tests/cli", "tests/steps"]
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
        + (["tests"] if FULL else searched),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COVERAGE_PROCESS_START": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == collected.returncode, collected.stdout[-2000:]
    assert "tests/broker/auth/test_keys.py::the whole file" in collected.stdout
