"""Pages of the site outside docs/: the README and similar files, and the generated reference.

MkDocs calls the functions whose names begin with `on_`. The documents have links that work on a
code host; these functions turn them into links of the site.
"""

import contextlib
import io
import os
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from mkdocs.structure.files import File, Files

from busproof import spec
from busproof.cli.evidence import evidence
from busproof.cli.main import COMMANDS, main
from busproof.history import schemas as history_schemas
from busproof.reports import overview
from busproof.reports import schemas as report_schemas

sys.path.insert(0, str(Path(__file__).parent))

from sentences_page import sentences

ROOT: Final = Path(__file__).parent.parent
TAKEN: Final = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "examples/ci/README.md": "examples/ci.md",
    "examples/lab/README.md": "examples/lab.md",
    "examples/node-adapter/README.md": "examples/node-adapter.md",
    "examples/python-package/README.md": "examples/python-package.md",
}
"""Documents outside docs/, and their names on the site."""

MERMAID: Final = ROOT / "tools" / "mermaid" / "node_modules" / "mermaid" / "dist" / "mermaid.min.js"
"""The library that draws diagrams; `make docs` installs it, so that Material need not load it."""

OURS: Final = re.compile(
    r"https://(?:github\.com/busproof/busproof/blob|raw\.githubusercontent\.com/busproof/busproof)"
    r"/main/"
)
"""Absolute links in the README to this repository, which work on package indexes, too."""

BADGE: Final = re.compile(r"^\[!\[.*\n", re.MULTILINE)
"""A line with a badge, whose image would come from another server."""

LINK: Final = re.compile(
    r"(?P<code>`[^`\n]+`)|\[(?P<words>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)"
)
"""A link, whose words may have code, or other code, so that no links are found in it."""

FENCE: Final = re.compile(r"^```(\w+) ([^\s=]+)$", re.MULTILINE)
CODE: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/."""
    for source, name in TAKEN.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text))
    for name, content in reference():
        files.append(File.generated(config, name, content=content))
    with contextlib.suppress(FileNotFoundError):
        content = MERMAID.read_text(encoding="utf-8")
        files.append(File.generated(config, "javascripts/mermaid.min.js", content=content))
    return files


def on_config(config: Any) -> Any:
    """Add the pages of rule families to the navigation."""
    families = spec.load().families
    rules = [{family.title: f"reference/rules/{family.id}.md"} for family in families]
    for part in config["nav"]:
        for entries in part.values():
            if isinstance(entries, list):
                for entry in entries:
                    if entry.get("Rules") == "reference/rules/":
                        entry["Rules"] = ["reference/rules/index.md", *rules]
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a document with the site's links, and with file names as titles of code blocks."""
    source = page.file.src_uri
    if source == "results.md":
        markdown += RESULTS
    markdown = BADGE.sub("", markdown)
    place = {name: path for path, name in TAKEN.items()}.get(source, f"docs/{source}")
    pieces = CODE.split(markdown)
    # Only text outside of code blocks has links.
    pieces[::2] = [
        LINK.sub(lambda match: turned(match, place, source), piece) for piece in pieces[::2]
    ]
    return FENCE.sub(r'```\1 title="\2"', "".join(pieces))


def turned(link: re.Match[str], place: str, source: str) -> str:
    """Turn a link in the document at `place` into one for the page `source`, or into plain text."""
    if link["code"]:
        return link[0]
    words, target = link["words"], link["target"]
    path, _, anchor = target.partition("#")
    if ours := OURS.match(path):
        leads_to = path[ours.end() :]
    elif "://" in target or not path:
        return link[0]
    else:
        leads_to = posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
    name = TAKEN.get(leads_to, leads_to.removeprefix("docs/"))
    if name == leads_to:
        return words
    relative = posixpath.relpath(name, posixpath.dirname(source))
    return f"[{words}]({relative}{'#' if anchor else ''}{anchor})"


RESULTS: Final = """

## Rule by rule

Of this very revision, by `make site`:

- <a href="report.html">The conformance page</a>: the reference model and the bus in JavaScript beside each other, rule by rule, with what moved since.
- <a href="allure.html">The same runs in Allure</a>, with each step of each scenario.
"""  # noqa: E501 - one sentence a line
"""Section of the page of results that only the site has, beside the pages that it links to."""


def reference() -> Iterator[tuple[str, str]]:
    """Yield the generated pages, and the schemas that they link to."""
    catalogue = spec.load()
    yield from rules(catalogue)
    yield "reference/ambiguities.md", "".join(ambiguities(catalogue))
    yield "reference/commands.md", "".join(commands())
    yield "reference/sentences.md", "".join(sentences())
    schemas = {file.name: file for file in schema_files()}
    lines = [f"- [{name}](schemas/{name}): {title(file)}\n" for name, file in schemas.items()]
    yield (
        "reference/schemas.md",
        "# Schemas\n\nJSON Schemas of what busproof writes and reads.\n\n" + ("".join(lines)),
    )
    for name, file in schemas.items():
        yield f"reference/schemas/{name}", file.read_text(encoding="utf-8")


def schema_files() -> list[Path]:
    """Return the published schemas."""
    folders = {Path(package.__file__ or "").parent for package in (history_schemas, report_schemas)}
    return sorted(file for folder in folders for file in (folder / "schemas").glob("*.json"))


def title(file: Path) -> str:
    """Return the title of a schema."""
    import json

    return str(json.loads(file.read_text(encoding="utf-8")).get("title", file.stem))


def commands() -> Iterator[str]:
    """Yield the help of every command."""
    yield "# Commands\n\nThe output of `busproof --help` and `busproof COMMAND --help`.\n\n"
    yield f"```text\n{said('--help')}```\n"
    for name in COMMANDS.list_commands(click.Context(COMMANDS)):
        yield f"\n## busproof {name}\n\n```text\n{said(name, '--help')}```\n"


def said(*arguments: str) -> str:
    """Return the output of the command line."""
    os.environ["COLUMNS"] = "80"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main(list(arguments))
    return printed.getvalue()


def rules(catalogue: spec.Catalogue) -> Iterator[tuple[str, str]]:
    """Yield the pages of the catalogue: one for each family, and an index."""
    shown = evidence(catalogue.rules)
    lines = [
        "# Rules\n\n",
        f"{len(catalogue.rules)} rules, in our own words, each with its sources.\n\n",
    ]
    lines += ["| family | rules | what it is about |\n| --- | ---: | --- |\n"]
    for family in catalogue.families:
        members = [rule for rule in catalogue.rules if rule.family == family.id]
        lines.append(f"| [{family.id}]({family.id}.md) | {len(members)} | {family.title} |\n")
        parts = (described(catalogue, rule, shown[rule.id]) for rule in members)
        yield f"reference/rules/{family.id}.md", f"# {family.title}\n\n" + "\n".join(parts)
    lines += ["\n## Editions of the documents\n\n"]
    lines += ["| edition | dated | rules in force | what there is to know |\n"]
    lines += ["| --- | --- | ---: | --- |\n"]
    lines += [
        f"| [{edition.id}]({edition.link}) | {edition.dated or 'no date'} | {len(listed)} "
        f"| {plain(edition.note or '')} |\n"
        for edition in catalogue.editions
        for listed in [[rule for rule in catalogue.rules if edition.id in rule.editions]]
    ]
    lines += ["\n## Versions of the catalogue\n\n"]
    lines += ["| version | dated | changes |\n| --- | --- | --- |\n"]
    lines += [
        f"| {release.version} | {release.dated} | {' '.join(release.changes)} |\n"
        for release in catalogue.releases
    ]
    yield "reference/rules/index.md", "".join(lines)


def ambiguities(catalogue: spec.Catalogue) -> Iterator[str]:
    """Yield the page of open questions in the documents."""
    yield (
        "# Open questions\n\n"
        f"{len(catalogue.ambiguities)} questions that the documents leave open, or answer in two "
        "ways. `busproof run --reading QUESTION=READING` holds a run to another reading than the "
        "default, which is the one marked so.\n"
    )
    for ambiguity in catalogue.ambiguities:
        rows = {
            f"`{name}`" + (", the default" if name == ambiguity.default else ""): meaning
            for name, meaning in ambiguity.readings.items()
        }
        rows["why"] = ambiguity.why
        rows["told apart by"] = ambiguity.told_apart_by
        rows["out of reach"] = ambiguity.out_of_reach or ""
        facts = "".join(f"| {name} | {plain(fact)} |\n" for name, fact in rows.items() if fact)
        touched = ", ".join(
            f"[{rule}](rules/{rule.partition('-')[0]}.md#{rule.lower()})"
            for rule in ambiguity.rules
        )
        yield (
            f"\n## {ambiguity.id}\n\n{plain(ambiguity.question)}\n\n| reading | |\n| --- | --- |\n"
            f"{facts}| what is said | {'<br>'.join(said_by(ambiguity))} |\n"
            f"| touches | {touched} |\n"
        )


def said_by(ambiguity: spec.Ambiguity) -> list[str]:
    """Return the statements about a question, each once with all of its sources."""
    sources: dict[str, list[str]] = {}
    for statement in ambiguity.said:
        sources.setdefault(statement.what, []).append(statement.source)
    return [f"{plain(what)} ({', '.join(names)})" for what, names in sources.items()]


def described(catalogue: spec.Catalogue, rule: spec.Rule, shown: dict[str, Any]) -> str:
    """Return the section of a rule on its family's page."""
    cited = overview.citations(catalogue, rule, catalogue.default_edition)
    facts = {
        "modality": rule.modality,
        "status": rule.status,
        "tiers": ", ".join(rule.tiers),
        "needs": ", ".join(need.replace("|", " or ") for need in rule.needs),
        "unless": ", ".join(rule.unless),
        "cannot be shown": rule.why_never or "",
        "the documents say": "; ".join(say.says for say in catalogue.says(rule)),
        "stated in": "; ".join(f"{place} ({', '.join(names)})" for names, place in cited.items()),
        "left open": "; ".join(
            f"{ambiguity.id}: {ambiguity.question}" for ambiguity in catalogue.concerning({rule.id})
        ),
        "scenarios": "; ".join(scenario["name"] for scenario in shown["scenarios"]),
        "TLA+": ", ".join(
            f"`{entry['module']}!{entry['name']}`"
            for kind in ("operators", "properties")
            for entry in shown["tla"].get(kind, ())
        ),
        "seeded faults": "; ".join(f"`{fault['id']}`" for fault in shown["faults"]),
    }
    rows = [f"| {name} | {plain(fact)} |\n" for name, fact in facts.items() if fact]
    english = {citation.source: catalogue.english(citation) for citation in rule.citations}
    read = ", ".join(f"[{name}]({address})" for name, address in english.items() if address)
    if read:
        rows.append(f"| read it in English | {read} |\n")
    heading = f"## {rule.id} {plain(rule.title)} {{ #{rule.id.lower()} }}"
    table = f"| {rule.id} | |\n| --- | --- |\n{''.join(rows)}"
    return f"{heading}\n\n{plain(rule.statement)}\n\n{table}"


def plain(text: str) -> str:
    """Return text as one line, with the syntax of tables and Markdown escaped."""
    text = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return re.sub(r"([\[\]*_])(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\\1", text)
