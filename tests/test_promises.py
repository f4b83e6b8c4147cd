"""What docs/compatibility.md promises is recorded, and no change of it goes unsaid."""

import re

import pytest
from repository import ROOT
from tools.promises import broken, promises, read, write

import busproof

RECORD = ROOT / "tools" / "release" / "promises.txt"


def unreleased_part(changelog: str) -> str:
    """Return the part of the changelog on the next release; empty right after a release."""
    found = re.search(r"^## \[Unreleased\]\n(.*?)^## \[", changelog, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


@pytest.fixture(scope="module")
def present() -> dict[str, str]:
    """The promises of this checkout."""
    return promises()


@pytest.mark.slow
def test_changed_promises_are_named_in_the_changelog(present: dict[str, str]) -> None:
    """A line under *Unreleased* has what is printed here; of a command, the last word will do."""
    version, recorded = read(RECORD.read_text(encoding="utf-8"))
    assert busproof.__version__ == version, "a release: run make promises"
    said = unreleased_part((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    words = [
        name.split(" ")[-1] if name.startswith("busproof ") else name
        for name in broken(recorded, present)
    ]
    assert [] == [word for word in words if f"`{word}`" not in said]


@pytest.mark.slow
def test_every_kind_of_promise_of_the_page_is_recorded(present: dict[str, str]) -> None:
    for name in (
        "exit code 3",
        'conformance.required "summary"',
        "conformance.summary.applicable.minimum",
        "history.$ref",
        "busproof run --only features",
        "busproof run --adapter default",
        "pytest --bus-adapter",
        "fixture bus",
        "busproof.broker.embedding.embedded(config)",
        "busproof.adapters.base.Adapter.start",
        "busproof.vocabulary.commands_sending.Send(queue)",
        "action input adapter",
        "action output verdict",
    ):
        assert name in present, name


def test_record_reads_as_it_was_written() -> None:
    found = {"exit code 0": "ok", 'JSON Send.required "queue"': "member", "f(x)": "required"}
    assert ("1.0", found) == read(write("1.0", found))


@pytest.mark.parametrize(
    ("recorded", "present", "names"),
    [
        ({"f": "function"}, {"f": "function", "g": "function"}, []),
        ({"f": "function"}, {}, ["f"]),
        ({"exit code 3": "incomplete"}, {"exit code 3": "errored"}, ["exit code 3"]),
        ({"f": "function"}, {"f": "function", "f(x)": "optional"}, []),
        ({"f": "function"}, {"f": "function", "f(x)": "required"}, ["f"]),
        ({"f": "function", "f(x)": "optional"}, {"f": "function", "f(x)": "required"}, ["f"]),
        ({"f": "function", "f(x)": "optional", "f(y)": "optional"}, {"f": "function"}, ["f"]),
        ({}, {"g": "function", "g(x)": "required"}, []),
        ({"busproof run --tier default": "'standard'"}, {}, ["busproof run --tier"]),
        ({'JSON Send.required "queue"': "member"}, {}, ["JSON Send.required"]),
    ],
)
def test_promise_is_broken_by_what_breaks_a_user(recorded, present, names) -> None:
    """What is added breaks nobody, but for a parameter that callers do not pass."""
    assert names == broken(recorded, present)


def test_changelog_of_a_release_alone_has_nothing_unreleased() -> None:
    text = "# Changelog\n\n## [Unreleased]\n\n- `a` is gone.\n\n## [1.0] - 2026-01-01\n\n- `b`\n"
    assert "\n- `a` is gone.\n\n" == unreleased_part(text)
    assert "" == unreleased_part(text.replace("## [Unreleased]\n", ""))
