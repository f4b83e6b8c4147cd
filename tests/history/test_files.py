"""A history file keeps what was recorded, whatever happened to the run or the disk."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import unstructure
from busproof.history.files import HistoryWriter, RecordTooLong, load, read, scenarios
from busproof.history.lines import LIMIT
from busproof.history.records import (
    Ended,
    Header,
    History,
    Record,
    Scenario,
    ScenarioVerdict,
    Started,
    StepResult,
)

HEADER = '{"record":"header","protocol":1,"profile":{"edition":"de-2021-04"}}'
EVENT = '{"record":"event","command":{"type":"Peek","queue":"q"},"outcome":{"type":"Empty"}}'
STARTED = '{"record":"started","scenario":"s"}'
ENDED = '{"record":"ended","verdict":"passed"}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.jsonl"


@pytest.fixture
def records(send: v.Event, receive: v.Event, profile: v.Profile) -> list[Record]:
    step = StepResult(keyword="Then", text="the message is received", result="passed")
    return [
        Header(adapter="model", oracle="strict", profile=profile, seed=7, busproof="0.1.0"),
        Started(scenario="one", rules=("KEY-03",), feature="keys.feature"),
        send,
        receive,
        Ended(verdict=ScenarioVerdict.PASSED, steps=(step,)),
        Started(scenario="two"),
        send,
    ]


def written(path: Path, records: list[Record]) -> Path:
    with HistoryWriter(path) as writer:
        for record in records:
            writer.write(record)
    return path


def lines(path: Path, *given: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in given), encoding="utf-8")
    return path


def test_records_come_back_in_order(path: Path, records: list[Record]) -> None:
    assert records == list(read(written(path, records)))


@pytest.mark.slow
@given(st.lists(st.from_type(Started | v.Event | Ended), max_size=5))
def test_any_records_come_back(tmp_path_factory: pytest.TempPathFactory, later: list) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    records = [Header(profile=v.Profile(edition="e")), *map(in_time, later)]
    assert records == list(read(written(path, records)))


def in_time(record: Record) -> Record:
    """The record, with its return after its call."""
    if not isinstance(record, v.Event) or record.returned is None:
        return record
    first, last = sorted((record.called, record.returned))
    return attrs.evolve(record, called=first, returned=last)


def test_a_history_is_made_of_scenarios(path, records, send, receive) -> None:
    header, started, _, _, ended, _, _ = records
    first = Scenario(
        name="one",
        rules=started.rules,
        feature="keys.feature",
        events=(send, receive),
        ended=ended,
    )
    second = Scenario(name="two", events=(send,))
    assert History(header=header, scenarios=(first, second)) == load(written(path, records))


def test_events_alone_are_one_scenario(path: Path, records: list[Record], send: v.Event) -> None:
    history = load(written(path, [records[0], send, send]))
    assert (Scenario(events=(send, send)),) == history.scenarios


def test_events_alone_may_end(path: Path) -> None:
    history = load(lines(path, HEADER, EVENT, ENDED, STARTED))
    assert [len(scenario.events) for scenario in history.scenarios] == [1, 0]
    assert [scenario.ended is not None for scenario in history.scenarios] == [True, False]


def test_a_header_alone_is_a_history_without_scenarios(path: Path) -> None:
    assert load(lines(path, HEADER)).scenarios == ()


def test_scenarios_can_be_read_one_at_a_time(path: Path, records: list[Record]) -> None:
    reader = read(written(path, records))
    assert next(scenarios(reader)).name == "one"
    assert reader.line == 5
    reader.close()


def test_the_header_shows_the_protocol_though_it_is_the_default(path, records) -> None:
    first = written(path, records).read_text().splitlines()[0]
    assert first.startswith('{"record":"header","protocol":1,')


def test_each_record_is_on_disk_at_once(path: Path, records: list[Record]) -> None:
    with HistoryWriter(path) as writer:
        for count, record in enumerate(records, 1):
            writer.write(record)
            assert count == path.read_bytes().count(b"\n")


@pytest.mark.slow
def test_a_killed_run_keeps_what_was_recorded(path: Path) -> None:
    program = (
        "import os, sys\n"
        "from busproof.history.files import HistoryWriter\n"
        "from busproof.history.records import Header\n"
        "from busproof.vocabulary.profile import Profile\n"
        "writer = HistoryWriter(sys.argv[1])\n"
        "writer.write(Header(profile=Profile(edition='e')))\n"
        f"os.kill(os.getpid(), {signal.SIGKILL.value})\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert v.Profile(edition="e") == load(path).header.profile


def test_a_last_line_cut_anywhere_is_left_out(path: Path, records: list[Record]) -> None:
    whole = written(path, records).read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for end in range(last + 1, len(whole) - 1):
        path.write_bytes(whole[:end])
        reader = read(path)
        assert (records[:-1], True) == (list(reader), reader.cut)


def test_a_last_line_without_its_line_end_is_whole(path: Path, records: list[Record]) -> None:
    whole = written(path, records).read_bytes()
    path.write_bytes(whole[:-1])
    reader = read(path)
    assert (records, False) == (list(reader), reader.cut)


def test_a_history_shows_that_it_is_cut(path: Path) -> None:
    path.write_text(f"{HEADER}\n{EVENT}\n{EVENT[:20]}")
    history = load(path)
    assert (len(history.scenarios[0].events), history.cut) == (1, True)


def test_a_cut_last_line_may_have_been_given_a_line_end(path: Path) -> None:
    assert load(lines(path, HEADER, EVENT, EVENT[:20])).cut


def test_zeroes_that_a_power_cut_leaves_are_left_out(path: Path) -> None:
    path.write_bytes(f"{HEADER}\n{EVENT}\n".encode() + bytes(100))
    assert load(path).cut


def test_empty_lines_do_not_matter(path: Path) -> None:
    assert len(load(lines(path, HEADER, "", EVENT, "  ")).scenarios) == 1


@pytest.mark.parametrize(
    ("given_lines", "said"),
    [
        ([HEADER, EVENT[:20], EVENT], ":2: the line must be JSON, and is not"),
        ([HEADER, "nonsense"], ":2: the line must be JSON, and is not"),
        ([HEADER, EVENT, HEADER], ":3: a second header begins here: keep each history in a file"),
        ([EVENT], ":1: a history must begin with a header"),
        ([HEADER[:30]], ":1: the line must be JSON, and is not"),
        ([HEADER, '{"record":"evnt"}'], ':2: record is "evnt", and must be one of "event", '),
        ([HEADER, '{"verdict":"passed"}'], ":2: record is missing, and must be one of "),
        ([HEADER, ENDED], ":2: a scenario ends here that did not begin"),
        ([HEADER, STARTED, ENDED, ENDED], ":4: a scenario ends here that did not begin"),
        ([HEADER, STARTED, ENDED, EVENT], ":4: an event outside of a scenario: begin one with st"),
        (['{"record":"header","profile":{}}'], ":1: protocol is null, and must be 1"),
        (
            ['{"record":"header","protocol":2,"news":1}'],
            ":1: protocol is 2, and this busproof reads up to 1: upgrade busproof",
        ),
        (
            [HEADER, '{"record":"ended","verdict":"ok"}'],
            ':2: verdict is "ok", and must be one of "',
        ),
        (
            [HEADER, EVENT[:-1] + ',"called":9,"returned":5}'],
            ":2: returned is 5, and must not be before called, 9: take both from one clock",
        ),
        ([], " is empty, and a history begins with a header"),
    ],
)
def test_a_broken_history_is_refused_by_file_and_line(path, given_lines, said) -> None:
    with pytest.raises(HistoryError, match=re.escape(f"{path}{said}")):
        load(lines(path, *given_lines))


def test_invalid_utf_8_before_the_last_line_is_refused(path: Path) -> None:
    path.write_bytes(f"{HEADER}\n".encode() + b'{"record":"\xff"}\n' + f"{EVENT}\n".encode())
    with pytest.raises(HistoryError, match=":2: the line must be UTF-8, and byte 12 of it is not"):
        load(path)


@pytest.mark.slow
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_over_16_mib_is_refused(path: Path, end: bytes) -> None:
    path.write_bytes(f"{HEADER}\n".encode() + b" " * LIMIT + b" " + end)
    with pytest.raises(HistoryError, match=":2: a line must not exceed 16777216 bytes"):
        load(path)


@pytest.mark.slow
def test_a_line_of_16_mib_is_read(path: Path) -> None:
    padding = " " * (LIMIT - len(EVENT))
    assert len(load(lines(path, HEADER, padding + EVENT)).scenarios) == 1


def test_a_file_that_is_not_there_is_refused(path: Path) -> None:
    with pytest.raises(HistoryError, match=r"cannot read the history .*: No such file"):
        read(path)


def test_a_folder_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match=r"cannot read the history .*: Is a directory"):
        read(tmp_path)


def test_a_disk_that_cannot_be_read_is_reported(path, monkeypatch) -> None:
    reader = read(lines(path, HEADER))

    class Broken:
        def readline(self, _: int) -> bytes:
            raise OSError(5, "Input/output error")

    reader._file.close()
    monkeypatch.setattr(reader, "_file", Broken())
    with pytest.raises(HistoryError, match="Input/output error"):
        reader._next_line()


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match=r"cannot write the history .*: No such file"):
        HistoryWriter(tmp_path / "missing" / "history.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_gets_one_sentence(profile: v.Profile) -> None:
    said = "cannot write the history /dev/full: No space left on device; the first 0 bytes were"
    with HistoryWriter("/dev/full") as writer:
        with pytest.raises(HistoryError, match=re.escape(said)):
            writer.write(Header(profile=profile))
        with pytest.raises(HistoryError, match=re.escape(said)):
            writer.write(Header(profile=profile))


def test_a_disk_that_fills_up_leaves_whole_records(path, records, monkeypatch) -> None:
    with HistoryWriter(path) as writer:
        for record in records[:3]:
            writer.write(record)
        room = [10, 0]
        monkeypatch.setattr(writer, "_file", Filling(writer._file, room))
        with pytest.raises(HistoryError, match="No space left"):
            writer.write(records[3])
        with pytest.raises(HistoryError, match="No space left"):
            writer.write(records[4])
    reader = read(path)
    assert (records[:3], False) == (list(reader), reader.cut)


class Filling:
    """A file on a disk that takes a few bytes more and then is full."""

    def __init__(self, file, room: list[int]) -> None:
        self.file, self.room = file, room
        self.truncate, self.close = file.truncate, file.close

    def write(self, data: bytes) -> int:
        taken = self.room.pop(0)
        if not taken:
            raise OSError(28, os.strerror(28))
        return self.file.write(data[:taken])


def test_a_failing_close_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = HistoryWriter(path)
    writer.close()

    class Failing:
        def close(self) -> None:
            raise OSError(122, "Disk quota exceeded")

        def truncate(self, _: int) -> None:
            raise ValueError("closed")

    monkeypatch.setattr(writer, "_file", Failing())
    with pytest.raises(HistoryError, match="Disk quota exceeded"):
        writer.close()


def test_a_closed_writer_writes_nothing_more(path: Path, records: list[Record]) -> None:
    writer = HistoryWriter(path)
    writer.close()
    writer.close()
    with pytest.raises(HistoryError, match="closed"):
        writer.write(records[0])


def of_length(length: int) -> v.Event:
    """An event that takes this many bytes on a line."""
    refused = v.Refused(error=v.Error.OTHER, detail="")
    bare = v.Event(command=v.Peek(queue="q"), outcome=refused)
    rest = length - len(json.dumps(unstructure(bare, union=Record), separators=(",", ":")))
    detail = "x" * (rest - len(',"detail":""'))
    return attrs.evolve(bare, outcome=attrs.evolve(refused, detail=detail))


def test_the_longest_record_that_is_written_is_read_back(path, profile) -> None:
    longest = of_length(LIMIT)
    written(path, [Header(profile=profile), longest])
    assert LIMIT == len(path.read_bytes().splitlines()[1])
    assert longest == load(path).scenarios[0].events[0]


def test_a_record_that_no_reader_takes_is_not_written(path, send, profile) -> None:
    """What stands before it is kept, and what comes after it can be written."""
    with HistoryWriter(path) as writer:
        writer.write(Header(profile=profile))
        writer.write(send)
        with pytest.raises(RecordTooLong, match="a record of 16777217 bytes does not fit"):
            writer.write(of_length(LIMIT + 1))
        writer.write(send)
    assert (send, send) == load(path).scenarios[0].events
