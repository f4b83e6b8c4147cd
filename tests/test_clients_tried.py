"""`tools/clients_tried.py`: what it writes of clients that it tried, or could not try."""

import pytest
from tools import clients_tried as tool


def test_table_names_each_client_that_is_tried() -> None:
    """With its version and what it spoke over, as the tool was last run."""
    found = tool.TABLE.search(tool.PAGE.read_text(encoding="utf-8"))
    rows = [tuple(line.strip("| ").split(" | ")[:3]) for line in found[0].splitlines()[2:]]
    assert [(each.package, each.version, each.over) for each in tool.CLIENTS] == rows


def test_step_that_failed_is_in_the_column_of_what_it_does_not() -> None:
    """And so is one that was not tried; one that the client does not have is in neither."""
    said = {"sends_and_receives": "ok", "settles": "failed: E()", "schedules": "not tried"}
    client = tool.TriedClient("package", "1.0", "program.py", steps=tuple(said))
    expected = "| package | 1.0 | TCP | sends and receives | settles, schedules |\n"
    assert expected == tool.row(client, said)


@pytest.mark.parametrize(
    ("program", "needed"),
    [
        ("program.py", "it needs pip and a package index"),
        ("program.mjs", "it needs node and npm"),
        ("program.cpp", "it needs g++ and libqpid-proton-cpp12-dev"),
    ],
)
def test_client_that_cannot_be_installed_was_not_tried(monkeypatch, program, needed) -> None:
    """None of its steps passed, and the sentence says what to install."""

    def fails(_: object) -> list[str]:
        raise OSError("no network")

    monkeypatch.setattr(tool, "install", fails)
    client = tool.TriedClient("package", "1.0", program, steps=("settles",))
    assert {"settles": f"not tried: {needed} (no network)"} == tool.outcome(client, {})
