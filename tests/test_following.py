"""A history is judged while it is recorded, and reported as if it had been read afterwards."""

import threading
from pathlib import Path

import pytest
from work import PATIENCE

from busproof.cli import live as beside
from busproof.cli.live import Following
from busproof.errors import HistoryError, UsageError
from busproof.history.files import load
from busproof.history.records import Scenario
from busproof.judging.verdicts import Hearing, conformance
from busproof.spec import load as load_catalogue

LATER = 0.5

HEADER = '{"record":"header","protocol":1,"clock":"%s","profile":{"edition":"%s"}}\n'
STARTED = '{"record":"started","scenario":"%s"}\n'
PEEK = (
    '{"record":"event","command":{"type":"Peek","queue":"q"},'
    '"outcome":{"type":"Refused","error":"not-found"}}\n'
)
ENDED = '{"record":"ended","verdict":"passed"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.jsonl"


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> dict[str, threading.Event]:
    """The scenarios that are waited for, each set once it is judged."""
    waited = {name: threading.Event() for name in ("one", "two")}

    class Telling(Hearing):
        def hear(self, scenario: Scenario) -> None:
            super().hear(scenario)
            waited[scenario.name].set()

    monkeypatch.setattr(beside, "Hearing", Telling)
    return waited


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def scenario(name: str) -> str:
    return STARTED % name + PEEK + ENDED


def test_a_scenario_is_judged_while_the_next_one_is_recorded(path, heard):
    with Following(path) as following:
        append(path, HEADER % ("virtual", "de-2021-04") + scenario("one") + STARTED[:20])
        assert not heard["one"].wait(LATER), "the line after it may still be anything"
        append(path, STARTED[20:] % "two" + PEEK)
        assert heard["one"].wait(PATIENCE)
        assert not heard["two"].is_set()
        append(path, ENDED)
    assert following.conformance() == conformance(load(path), load_catalogue())
    assert [each.name for each in following.scenarios] == ["one", "two"]


def test_real_time_scenario_is_judged_at_its_end(path, heard):
    with Following(path) as following:
        append(path, HEADER % ("real", "de-2021-04") + scenario("one") + scenario("two"))
        assert not heard["one"].wait(LATER)
    assert following.conformance() == conformance(load(path), load_catalogue())
    assert heard["one"].is_set()


def test_a_line_written_in_pieces_is_one_line(path):
    with Following(path) as following:
        for piece in (HEADER % ("virtual", "de-2021-04") + scenario("one")).split(","):
            append(path, piece if piece.endswith("\n") else f"{piece},")
    assert following.conformance() == conformance(load(path), load_catalogue())


def test_a_last_line_that_was_cut_off_is_reported(path):
    with Following(path) as following:
        append(path, HEADER % ("virtual", "de-2021-04") + scenario("one") + PEEK[:40])
    assert following.conformance().problems == (
        "the history's last line is cut off; everything before it was judged",
    )


def test_nothing_recorded_is_an_error_where_verdicts_are_asked_for(path):
    with Following(path) as following:
        pass
    with pytest.raises(HistoryError, match="cannot read the history"):
        following.conformance()


def test_a_line_that_is_no_record_is_an_error_where_verdicts_are_asked_for(path):
    with Following(path) as following:
        append(path, HEADER % ("virtual", "de-2021-04") + "no record\n" + ENDED)
    with pytest.raises(HistoryError, match=r"history\.jsonl:2"):
        following.conformance()


def test_an_edition_that_is_not_known_is_an_error_where_verdicts_are_asked_for(path):
    with Following(path) as following:
        append(path, HEADER % ("virtual", "xx-1999-01") + scenario("one"))
    with pytest.raises(UsageError, match="xx-1999-01"):
        following.conformance()
