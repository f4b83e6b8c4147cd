"""Each placeholder for the publisher stands in tools/release/identity.toml, and nowhere else."""

import re
import subprocess
from pathlib import Path

import pytest
from repository import ROOT
from tools.release.identity import FILE, Identity, files, read, rename, renamed

NEW: Identity = {
    "repository": "ada/engine",
    "package": "conformance-engine",
    "documentation": "https://engine.example/docs",
    "authors": "Ada Lovelace",
    "published": True,
}
NOT_REACHED = re.compile(
    r"busproof/busproof"
    r"|[Tt]he busproof authors"
    r"|\bOWNER\b"
    r"|on PyPI\b"
    r"|pip install [^|\n]*?(?<![\w./'-])busproof(?![\w/`.\[-])"
    r"|(?<![\w./-])busproof\\?\[\w+\\?\]"
    r"|metadata\.\w+\(\"busproof\"\)"
)
"""What a rename has to leave nowhere: looser than what it looks for."""


@pytest.fixture(scope="module")
def now() -> Identity:
    """The identity that the files have."""
    identity, _ = read((ROOT / FILE).read_text(encoding="utf-8"))
    return identity


@pytest.mark.slow
def test_no_placeholder_is_out_of_reach(now: Identity) -> None:
    """Nor would any other place of the repository name the old publisher afterwards."""
    left = []
    for path in files(ROOT):
        if path != Path(__file__) and path.suffix not in (".png", ".gz"):
            text = renamed(path.read_text(encoding="utf-8"), now, NEW)
            left += [f"{path.relative_to(ROOT)}: {each[0]}" for each in NOT_REACHED.finditer(text)]
    assert [] == left


def test_a_placeholder_out_of_reach_is_found() -> None:
    for text in (
        "see github.com/busproof/busproof",
        "uses: OWNER/busproof@v1",
        "pip install --upgrade busproof",
        "once it is on PyPI",
    ):
        assert NOT_REACHED.search(text), text
    assert not NOT_REACHED.search("`pip install .` installs the command `busproof`")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pip install 'busproof[amqp]' pytest", "pip install 'conformance-engine[amqp]' pytest"),
        ("pip install busproof", "pip install conformance-engine"),
        ('name = "busproof"', 'name = "conformance-engine"'),
        ("busproof run --name first", "busproof run --name first"),
        ("https://github.com/busproof/busproof/issues", "https://github.com/ada/engine/issues"),
        ("https://github.com/busproof/busproof/tree/main/docs", "https://engine.example/docs"),
        ("src/busproof/cli/run.py", "src/busproof/cli/run.py"),
        ("a\n\nUntil busproof is on PyPI, wait.\n\nb\n", "a\n\nb\n"),
    ],
)
def test_a_name_is_replaced_where_it_stands_for_the_publisher(now, old, new) -> None:
    """The command and the module keep their name."""
    assert new == renamed(old, now, NEW)
    assert old == renamed(old, now, now)


def test_a_rename_reaches_files_in_git_and_its_own_table(now: Identity, tmp_path: Path) -> None:
    """A second one has nothing to do."""
    identity = (ROOT / FILE).read_text(encoding="utf-8")
    target = identity.partition("[becomes]")[2]
    asked = target.replace(str(now["repository"]), "ada/engine")
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text(identity.replace(target, asked), encoding="utf-8")
    (tmp_path / "README.md").write_text("github.com/busproof/busproof\n", encoding="utf-8")
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert 1 == rename(tmp_path)
    assert "github.com/ada/engine\n" == (tmp_path / "README.md").read_text(encoding="utf-8")
    current, wanted = read((tmp_path / FILE).read_text(encoding="utf-8"))
    assert wanted == current
    assert "ada/engine" == current["repository"]
    assert 0 == rename(tmp_path)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("[becomes]\n", "[becomes]\nowner = 1\n", "differ in {'owner'}"),
        ("published = false  #", "published = true  #", "are gone"),
    ],
)
def test_an_identity_that_cannot_be_taken_is_refused(right: str, wrong: str, said: str) -> None:
    text = (ROOT / FILE).read_text(encoding="utf-8")
    assert right in text
    with pytest.raises(ValueError, match=said):
        read(text.replace(right, wrong))
