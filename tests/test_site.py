"""The documents make a site in which every link leads somewhere, and nothing asks a network."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from built_site import build

from busproof import spec
from busproof.cli.main import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
ASKS = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=[\"']?(https?:[^\"' >]+)")
STYLE = re.compile(r"<link[^>]*\shref=[\"']?(https?:[^\"' >]+)[^>]*stylesheet")


def test_every_rule_has_its_place(site: Path) -> None:
    for rule in spec.load().rules:
        page = (site / "reference" / "rules" / f"{rule.family}.html").read_text(encoding="utf-8")
        assert f'id="{rule.id.lower()}"' in page, rule.id


def test_every_open_question_is_reported_with_all_readings(site: Path) -> None:
    page = (site / "reference" / "ambiguities.html").read_text(encoding="utf-8")
    for each in spec.load().ambiguities:
        part = page.partition(f'id="{each.id.lower()}"')[2].partition("<h2")[0]
        assert part.count(", the default</td>") == 1, each.id
        for name in each.readings:
            assert f"<code>{name}</code>" in part, (each.id, name)
        for said in each.said:
            assert said.source in part.partition("what is said")[2], (each.id, said)
        for rule in each.rules:
            assert f'#{rule.lower()}">{rule}<' in part, (each.id, rule)


def test_every_document_is_there(site: Path) -> None:
    documents = [each.relative_to(ROOT / "docs") for each in (ROOT / "docs").rglob("*.md")]
    taken = ["index", "contributing", "changes", "results", "examples/node-adapter"]
    for name in [*(str(each.with_suffix("")) for each in documents), *taken]:
        assert (site / f"{name}.html").exists(), name


def test_every_command_has_its_help(site: Path, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    groups = capsys.readouterr().out.partition("Read and run:")[2].partition("Examples:")[0]
    listed = re.findall(r"^  ([a-z][a-z-]+)", groups, re.MULTILINE)
    page = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert len(listed) > 5
    for name in listed:
        assert f"Usage: busproof {name}" in page, name


def test_the_blocks_of_a_document_keep_their_files_names(site: Path) -> None:
    """By which a document's files are distinguished."""
    assert ">mybus.py<" in (site / "index.html").read_text(encoding="utf-8")


def test_no_page_asks_a_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert [] == [*ASKS.findall(text), *STYLE.findall(text)], page


@pytest.mark.parametrize(("link", "fits"), [("b.md#there", True), ("b.md#nowhere", False)])
def test_a_link_that_leads_nowhere_is_complained_about(tmp_path: Path, link, fits) -> None:
    """By the site's own settings, on two pages: its build would not pass with one."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# A\n\n[words]({link})\n")
    (tmp_path / "docs" / "b.md").write_text("# B\n\n## There\n")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[0]
    config = config.replace("hooks:\n  - tools/site_pages.py\n", "")
    (tmp_path / "mkdocs.yml").write_text(config)
    ended = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert fits is (ended.returncode == 0), ended.stderr
    assert fits is ("#nowhere" not in ended.stderr)


@pytest.mark.parametrize(
    ("written", "turned"),
    [
        ("[`spec/levels.yaml`](../../spec/levels.yaml)", "`spec/levels.yaml`"),
        ("[the README](../../README.md#verdicts)", "[the README](../index.md#verdicts)"),
        ("`[no](../../link.md)`", "`[no](../../link.md)`"),
        (
            "[api](https://github.com/busproof/busproof/blob/main/docs/api.md)",
            "[api](../api.md)",
        ),
        ("[elsewhere](https://example.org/a.md)", "[elsewhere](https://example.org/a.md)"),
    ],
)
def test_links_lead_to_pages_of_the_site_or_are_plain_words(written: str, turned: str) -> None:
    """A file that the site does not have is no link, also where its name is code."""
    spec_ = importlib.util.spec_from_file_location("site_pages", ROOT / "tools" / "site_pages.py")
    assert spec_.loader is not None
    site_pages = importlib.util.module_from_spec(spec_)
    spec_.loader.exec_module(site_pages)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/x.md"))
    assert turned == site_pages.on_page_markdown(written, page)
