"""The way from the id of a rule to its files, as docs/architecture.md describes it."""

import re
from pathlib import Path

from busproof.spec import load

ROOT = Path(__file__).resolve().parent.parent


def test_architecture_leads_from_a_rule_to_its_files() -> None:
    """Each file that it names has the rule, or the command that the rule is about."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    start = text.index("The id of a rule leads to its files")
    files = re.findall(r"`([a-z_]+/[\w/.]+)`", text[start : text.index("`busproof rules", start)])
    assert len(files) >= 10
    assert [] == [
        file
        for file in files
        if not re.search(
            "SESS-07|AcceptNext|[Nn]ext ?session|TheNext", (ROOT / file).read_text("utf-8")
        )
    ]


def test_a_family_has_one_word_in_all_rooms() -> None:
    """The table in the architecture leads from a rule to a file in each room that has its rules."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    words = dict(re.findall(r"\| ([A-Z]+) \| `(\w+)`", text))
    assert sorted(words) == sorted(family.id for family in load().families)
    elsewhere = {
        ("model", "FEAT"): "subscription_rules.py",
        ("model", "FILTER"): "subscription_rules.py",
        ("model", "SEQ"): "messages.py",
        ("oracle", "LIFE"): "messages/",
        ("oracle", "SIZE"): "sizes/",
    }
    missing = []
    for room in ("features", "model", "oracle", "mutants"):
        files = [*(ROOT / room).rglob("*.py"), *(ROOT / room).rglob("*.feature")]
        for family, word in words.items():
            name = elsewhere.get((room, family), f"{word}.")
            assert name.rstrip(".") in text, name
            named = [file for file in files if f"/{name}" in file.as_posix()]
            if not any(re.search(rf"\b{family}-\d", file.read_text("utf-8")) for file in named):
                missing.append(f"{room}: {family} {name}")
    assert missing == []
