"""Logs of amqpproxy are read as a history, as far as they are whole."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from busproof import vocabulary as v
from busproof.cli.main import main
from busproof.errors import HistoryError
from busproof.history.files import load
from busproof.recorder.amqpproxy import events_of_amqpproxy

EXAMPLE = Path(__file__).parents[2] / "examples" / "amqpproxy"
SENDS, RECEIVES, SESSION, DEAD = (f"amqpproxy-traffic-{number}.json" for number in range(1, 5))
Lines = list[dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example, to be changed."""
    shutil.copytree(EXAMPLE, tmp_path / "logs")
    return tmp_path / "logs"


def lines_of(log: Path) -> Lines:
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


def write(log: Path, lines: Lines) -> None:
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def is_frame(line: dict[str, Any], direction: str, kind: str, entity: str = "") -> bool:
    return (
        (direction, kind) == (line["Direction"], line["FrameType"])
        and line["Frame"] is not None
        and entity in line.get("EntityPath", "")
    )


def judged(log: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[str]]:
    """Convert and check a log; return the exit code and the violated rules."""
    history = log.parent / "history.jsonl"
    assert 0 == main(["convert", str(log), "--out", str(history), *options])
    capsys.readouterr()
    code = main(["check", str(history), "--format", "json"])
    rules = json.loads(capsys.readouterr().out)["rules"]
    return code, [rule["id"] for rule in rules if rule["verdict"] == "violated"]


def test_frames_of_each_connection_are_requests_and_answers(folder: Path, capsys) -> None:
    history = folder / "history.jsonl"
    assert 0 == main(["convert", str(folder), "--out", str(history), "--no-releases"])
    said = capsys.readouterr().err
    assert "left out: 1 of all about visits, because in amqpproxy-traffic-3.json" in said
    events = load(history).scenarios[0].events
    settled = ["Complete", "Abandon", "DeadLetter", "Defer", "ReceiveDeferred", "Complete"]
    expected = ["SendBatch", "Send", *["Receive"] * 4, *settled]
    expected += ["Receive", "Complete", "Receive", "Complete"]
    assert expected == [type(event.command).__name__ for event in events]
    assert not [one for one in events if isinstance(one.outcome, v.Indeterminate | v.Refused)]
    assert {"orders", "orders/$deadletterqueue"} == {event.command.queue for event in events}
    assert ["m0", "m1", "m2", "q"] == [event.outcome.message.message_id for event in events[2:6]]
    assert events[0].called == min(event.called for event in events)


@pytest.mark.parametrize("options", [(), ("--no-releases",)])
def test_the_example_accuses_nobody(options: tuple[str, ...], folder: Path, capsys) -> None:
    assert (3, []) == judged(folder, capsys, *options)


@pytest.mark.parametrize(("options", "accused"), [((), False), (("--no-releases",), True)])
def test_a_message_that_is_given_after_its_settlement_was_perhaps_released(
    options: tuple[str, ...], accused: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of(folder / RECEIVES)
    places = [n for n, one in enumerate(lines) if is_frame(one, "in", "Disposition")]
    end = places[-1] + 1
    credit, again = (
        json.loads(json.dumps([one for one in lines if is_frame(one, *kind, "/orders")][-1]))
        for kind in (("out", "Flow"), ("in", "Transfer"))
    )
    credit["Frame"]["Body"]["DeliveryCount"] += 1
    again["Frame"]["Body"]["DeliveryID"] += 1
    credit["Time"] = again["Time"] = lines[end]["Time"]
    write(folder / RECEIVES, [*lines[:end], credit, again, *lines[end:]])
    code, violated = judged(folder / RECEIVES, capsys, *options)
    assert accused == (code == 1)
    assert accused == bool(violated)


def without(direction: str, kind: str, entity: str = "") -> Callable[[Lines], Lines]:
    """Return what leaves the first such frame out."""

    def leave_out(lines: Lines) -> Lines:
        (place, *_) = (n for n, one in enumerate(lines) if is_frame(one, direction, kind, entity))
        return lines[:place] + lines[place + 1 :]

    return leave_out


@pytest.mark.parametrize(
    ("log", "change", "reason"),
    [
        (SENDS, without("out", "Transfer", "orders"), "a message was answered that was not sent"),
        (SENDS, without("in", "Attach", "orders"), "a link that was not answered"),
        (SENDS, without("out", "Begin"), "that was not opened"),
        (SENDS, without("out", "Attach", "orders"), "that was not opened"),
        (DEAD, without("in", "Transfer", "orders"), "a message was settled that was not given"),
        (RECEIVES, without("in", "Transfer", "orders"), "settled that was not given"),
        (RECEIVES, without("in", "Attach", "orders"), "that was not opened"),
    ],
)
def test_all_about_an_entity_is_left_out_if_a_frame_is_missing(
    log: str, change: Callable[[Lines], Lines], reason: str, folder: Path
) -> None:
    write(folder / log, change(lines_of(folder / log)))
    converted = events_of_amqpproxy(sorted(folder.iterdir())[1:])
    (why,) = [one for one in converted.left_out if one.startswith("all about orders")]
    assert reason in why
    assert () == converted.events


def test_a_link_that_was_never_answered_is_a_missing_frame(folder: Path) -> None:
    lines = lines_of(folder / DEAD)
    (place, *_) = (n for n, one in enumerate(lines) if is_frame(one, "out", "Attach", "orders"))
    write(folder / DEAD, lines[: place + 1])
    converted = events_of_amqpproxy([folder / DEAD])
    assert "a link was never answered" in "".join(converted.left_out)


def test_a_line_that_was_cut_is_passed_over(folder: Path) -> None:
    log = folder / SENDS
    log.write_text(log.read_text("utf-8") + '{"Time":"2026-', "utf-8")
    commands = [type(event.command) for event in events_of_amqpproxy([log]).events]
    assert [v.SendBatch, v.Send] == commands


def changed(place: int, **changes: Any) -> Callable[[Lines], Lines]:
    """Return what changes the body of the n-th message of the client."""

    def change(lines: Lines) -> Lines:
        sent = [one for one in lines if is_frame(one, "out", "Transfer", "orders")]
        sent[place]["Frame"]["Body"] |= changes
        return lines

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (changed(0, Payload=None), "do not use --exclude-payload-data"),
        (changed(0, Payload="no base 64!"), "cannot be read"),
        (changed(0, State=7), "cannot be read"),
        (lambda lines: [*lines, {}], "it has Time, Direction and Frame"),
        (lambda lines: [*lines, lines[0] | {"Time": "noon"}], "cannot be read"),
        (lambda lines: [*lines, lines[0] | {"Direction": "up"}], "cannot be read"),
        (lambda lines: [*lines, lines[0] | {"Frame": {}}], "cannot be read"),
        (lambda _: [], "is empty"),
    ],
)
def test_what_is_no_such_log_is_told_in_a_sentence(
    change: Callable[[Lines], Lines], sentence: str, folder: Path
) -> None:
    log = folder / SENDS
    write(log, change(lines_of(log)))
    with pytest.raises(HistoryError, match=sentence):
        events_of_amqpproxy([log])


def test_a_frame_that_makes_no_sense_leaves_its_entities_out(folder: Path) -> None:
    log = folder / SENDS
    write(log, changed(1, Payload="AAAA")(lines_of(log)))
    converted = events_of_amqpproxy([log])
    assert () == converted.events
    assert any(one.startswith("all about orders") for one in converted.left_out)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["nothing.json"], "there is no file"),
        (["empty"], "has no file *-traffic-*.json"),
        (["spans.json", "spans.json"], "spans are read from one file at a time"),
    ],
)
def test_logs_that_are_not_there_are_told(
    names: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "spans.json").write_text("{}", "utf-8")
    paths = [str(tmp_path / name) for name in names]
    assert 2 == main(["convert", *paths, "--out", str(tmp_path / "history.jsonl")])
    assert sentence in " ".join(capsys.readouterr().err.split())
