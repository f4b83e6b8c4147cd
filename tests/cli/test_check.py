"""Histories of any origin are judged as far as they can be read, and never silently less."""

import json
import os

import pytest

from busproof.history.conformance import Verdict
from busproof.history.files import load
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"


@pytest.fixture(scope="session")
def lines(brief) -> list[bytes]:
    """A history, line by line."""
    return (brief.folder / "history.jsonl").read_bytes().splitlines(keepends=True)


def written(busproof, content: bytes) -> str:
    (busproof.folder / "history.jsonl").write_bytes(content)
    return "history.jsonl"


def with_header(lines: list[bytes], **changed: object) -> bytes:
    """The history with another profile in its header."""
    header = json.loads(lines[0])
    header["profile"] |= changed
    return b"".join([json.dumps(header).encode() + b"\n", *lines[1:]])


def test_a_recorded_run_is_judged_as_the_run_was(busproof, recorded):
    """By the file, and by the run's folder; the report is the same and can be written."""
    for place in (recorded.folder / "history.jsonl", recorded.folder):
        ended = busproof("check", str(place), "--format", "json", "--report", "told")
        beside_progress = [
            line for line in ended.err.splitlines() if not line.startswith("Judging ")
        ]
        assert (recorded.report.exit_code, []) == (ended.code, beside_progress)
        assert recorded.report.rules == reports.read(busproof.folder / "told").rules


CUTS = {
    "in the last line": (-1, 0.5),
    "in the first character of the last line": (-1, 0.0),
    "in an early event": (40, 0.7),
    "in the line of a scenario's end": (None, 0.3),
}


@pytest.mark.parametrize("place", CUTS)
def test_a_history_with_a_cut_last_line_is_judged_as_far_as_it_goes(busproof, lines, place):
    """Verdicts on what was read, a problem for the rest, and exit code 3."""
    index, part = CUTS[place]
    if index is None:
        index = next(n for n, line in enumerate(lines) if b'"record":"ended"' in line)
    whole, last = lines[:index], lines[index]
    file = written(busproof, b"".join(whole) + last[: 1 + int(part * len(last))])
    ended = busproof("check", file, "--report", "told")
    assert 3 == ended.code
    assert "the history's last line is cut off; everything before it was judged" in ended.problems
    read = load(busproof.folder / file)
    assert read.cut
    report = reports.read(busproof.folder / "told")
    assert sum(len(each.events) for each in read.scenarios) == report.events > 0
    assert report.counted(Verdict.SHOWN) > 0
    assert report.counted(Verdict.VIOLATED) == 0


def test_a_history_that_ends_between_two_lines_is_incomplete(busproof, lines):
    """The header says how many scenarios there were to be."""
    end = next(n for n, line in enumerate(lines) if b'"record":"ended"' in line)
    planned = json.loads(lines[0])["planned"]
    ended = busproof("check", written(busproof, b"".join(lines[: end + 1])))
    assert 3 == ended.code
    assert f"the run stopped after 1 of {planned} scenarios" in ended.problems


def test_a_violation_outweighs_a_cut_last_line(busproof, lines):
    """What was seen before the cut has been seen."""
    lost = next(n for n, line in enumerate(lines) if b'"type":"Received"' in line)
    event = json.loads(lines[lost])
    event["outcome"]["message"]["body"] = "never sent"
    content = [*lines[:lost], json.dumps(event).encode() + b"\n", lines[lost + 1][:9]]
    ended = busproof("check", written(busproof, b"".join(content)))
    assert 1 == ended.code
    assert "the history's last line is cut off" in ended.problems
    assert "'never sent'" in ended.out.partition(" violated: ")[2]


NO_HISTORIES = {
    "an empty file": (b"", "is empty, and a history begins with a header"),
    "no JSON": (b"I am no history\n", "history.jsonl:1: the line must be JSON"),
    "JSON of another kind": (b'{"a": 1}\n', "history.jsonl:1: "),
    "a cut header": (b'{"record":"header","protoc', "history.jsonl:1: the line must be JSON"),
    "bytes": (bytes(range(200, 256)), "history.jsonl:1: the line must be UTF-8"),
    "a newer version": (b'{"record":"header","protocol":2}\n', "upgrade busproof"),
}


@pytest.mark.parametrize("what", NO_HISTORIES)
def test_a_file_that_is_no_history_gets_one_sentence(busproof, what):
    """The sentence names the file, the line and what should stand there."""
    content, said = NO_HISTORIES[what]
    ended = busproof("check", written(busproof, content))
    assert (3, "") == (ended.code, ended.out)
    assert said in ended.sentence


def test_nonsense_in_the_middle_is_reported_with_its_line(busproof, lines):
    """Only a last line may be cut off; whatever else is wrong was not written by us."""
    ended = busproof("check", written(busproof, b"".join([*lines[:9], b"nonsense\n", *lines[9:]])))
    assert 3 == ended.code
    assert "history.jsonl:10: the line must be JSON" in ended.sentence


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"edition": "de-1999-01"},
            "There is no edition 'de-1999-01'; nearest: de-2021-04; use one of fr-2016-09",
        ),
        ({"readings": {"KEY-ORDER": "none"}}, "KEY-ORDER has no reading 'none'; allowed:"),
        ({"readings": {"NOTHING": "none"}}, "There is no ambiguity 'NOTHING'"),
    ],
)
def test_a_header_that_names_the_unknown_is_reported_with_its_file(busproof, lines, changed, said):
    """The file may be of a newer busproof, or of somebody's own program."""
    ended = busproof("check", written(busproof, with_header(lines, **changed)))
    assert 2 == ended.code
    assert f"history.jsonl names what is not known here. {said}" in ended.sentence


def test_an_unreadable_header_is_reported_with_its_field(busproof, lines):
    """A tier is one of three."""
    ended = busproof("check", written(busproof, with_header(lines, tier="gold")))
    assert 3 == ended.code
    assert 'profile.tier is "gold", and must be one of "basic"' in ended.sentence


def test_a_report_that_cannot_be_written_hides_no_verdict(busproof, brief):
    """The verdicts are printed; the exit code says that something is missing."""
    (busproof.folder / "told").write_text("somebody's file")
    ended = busproof("check", str(brief.folder), "--report", "told")
    assert 3 == ended.code
    assert "cannot write the report told/conformance.json" in ended.sentence
    assert "applicable rules shown, 0 violated" in ended.out


def test_either_oracle_judges_a_history(busproof, recorded):
    """What only partitions show is not applicable to the client's oracle, with that cause."""
    ended = busproof("check", str(recorded.folder), "--oracle", "client", "--report", "told")
    assert recorded.report.exit_code == ended.code
    report = reports.read(busproof.folder / "told")
    causes = {each.cause for each in report.rules if each.verdict is Verdict.NOT_APPLICABLE}
    expected = {
        "oracle: only strict can judge it",
        "capability: client-library",
        "reading: REGULAR-ORDER=either",
    }
    if FULL:  # at the gate the run is limited to two families
        expected |= {
            "edition: en-2026-02 says nothing of it",
            "tier: standard is not one of basic",
            "tier: standard is not one of premium",
            "tier: standard is not one of premium, partitioned-premium",
            "tier: standard is not one of partitioned-premium",
            "reading: OUTAGE-CLOCK=either",
            "reading: PEEK-IN-OUTAGE=either",
            "reading: SCHEDULED-COUNT=either",
            "reading: TXN-ENTITIES=either",
        }
    assert expected == causes


@pytest.mark.parametrize("engine", ["local", "auto"])
def test_an_engine_can_be_named(busproof, brief, engine):
    """Whichever it is, what is not in the history is not shown."""
    ended = busproof("check", str(brief.folder), "--engine", engine, "--report", "told")
    assert 3 == ended.code
    report = reports.read(busproof.folder / "told")
    shown = {each.id for each in report.rules if each.verdict is Verdict.SHOWN}
    assert {"KEY-04", "LIFE-01", "LIFE-02"} <= shown


@pytest.mark.parametrize("option", [("--master", "local"), ("--violations", "v"), ("--plan",)])
def test_spark_options_are_refused_for_the_local_engine(busproof, brief, option):
    ended = busproof("check", str(brief.folder), *option)
    assert (2, "") == (ended.code, ended.out)
    assert f"{option[0]} is for --engine spark" in ended.sentence


def test_clients_that_overlap_are_judged_by_their_times(busproof):
    """A history of another program's making, with a lost answer: one receive of two came first."""
    header = {"record": "header", "protocol": 1, "clock": "real"}
    header["profile"] = {"edition": "de-2021-04"}
    header["capabilities"] = ["witness", "peek-lock"]
    queue, message = {"queue": "q"}, {"body": "m", "partition_key": "k"}
    events = [
        ("a", 0, 5, {"type": "CreateQueue", **queue}, {"type": "Done"}),
        ("a", 10, 40, {"type": "Send", **queue, "message": message}, {"type": "Done"}),
        ("b", 20, 30, {"type": "Receive", **queue}, {"type": "Empty"}),
        ("c", 12, None, {"type": "Peek", **queue}, {"type": "Indeterminate"}),
        ("b", 35, 50, {"type": "Receive", **queue}, {"type": "Received", "message": message}),
    ]
    lines = [json.dumps(header)]
    for client, called, returned, command, outcome in events:
        event = {"record": "event", "client": client, "connection": client, "called": called}
        event |= {} if returned is None else {"returned": returned}
        lines.append(json.dumps(event | {"command": command, "outcome": outcome}))
    (busproof.folder / "h.jsonl").write_text("\n".join(lines) + "\n")
    assert 3 == busproof("check", "h.jsonl", "--engine", "local").code  # incomplete, not violated
    late = (
        lines[3].replace('"called": 20', '"called": 45').replace('"returned": 30', '"returned": 47')
    )
    assert late != lines[3]
    again = (
        lines[5].replace('"client": "b"', '"client": "d"').replace('"called": 35', '"called": 60')
    )
    again = again.replace('"returned": 50', '"returned": 70')
    (busproof.folder / "h.jsonl").write_text("\n".join([*lines[:3], late, again]) + "\n")
    ended = busproof("check", "h.jsonl")
    assert 1 == ended.code
    assert "LIFE-09 violated" in ended.out or "LIFE-01 violated" in ended.out
