"""The report on what breaks when clients move."""

import json
from pathlib import Path

import pytest

from busproof import spec
from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.moves import BREAKS, EASED, MAY_BREAK, Break, Example, Move
from busproof.reports.moving import move_lines, move_page, write_move

CATALOGUE = spec.load()
SEND = v.Send(queue="<q>", message=v.Message(body="m"))


def moved(*verdicts: str, compared: int = 9) -> Move:
    move = Move(source="en-2026-02/standard", target="en-2026-02/premium:4", compared=compared)
    for number, verdict in enumerate(verdicts, 1):
        move.breaks[verdict] = Break(
            kind=verdict,
            what=f"send: kind {number}",
            verdict=verdict,
            rules=("TXN-03",),
            before=("TXN-14",),
            seen=number,
            entities={"<q>": number},
            clients={f"c{client}": 1 for client in range(7)},
            first=Example(
                where="a & b",
                client="c0",
                at="3 s",
                command=SEND,
                here=v.Done(),
                there=v.Refused(error=v.Error.INVALID_OPERATION),
            ),
        )
    return move


def test_lines_name_rules_answers_and_the_first_client() -> None:
    text = "\n".join(move_lines(moved(BREAKS, MAY_BREAK, EASED), CATALOGUE))

    assert f"there  TXN-03: {CATALOGUE.rule('TXN-03').title}" in text
    assert f"here   TXN-14: {CATALOGUE.rule('TXN-14').title}" in text
    assert "seen   once, on <q>, by c0, c1, c2, c3, c4 and 2 more" in text
    assert "first  c0 at 3 s in 'a & b': Send to '<q>': body 'm'" in text
    assert "there: Refused: invalid-operation" in text
    assert text.endswith("Exit code 1: 1 kind of request will break.")


@pytest.mark.parametrize(
    ("move", "code", "said"),
    [
        (moved(), 0, "nothing that was seen breaks"),
        (moved(EASED), 0, "nothing that was seen breaks"),
        (moved(MAY_BREAK), 3, "something may"),
        (moved(compared=0), 3, "no request could be compared"),
        (moved(BREAKS), 1, "1 kind of request will break"),
    ],
)
def test_the_exit_code_is_explained(move: Move, code: int, said: str) -> None:
    *_, last = move_lines(move, CATALOGUE)

    assert move.exit_code == code
    assert last.startswith(f"Exit code {code}: ")
    assert said in last


def test_of_many_clients_the_first_are_named() -> None:
    kind = moved(BREAKS).breaks[BREAKS]
    kind.clients.clear()
    for number in range(1_500):
        kind.count(None, f"c{number}")

    assert len(kind.clients) == 1_001
    assert kind.clients["others"] == 500
    assert kind.seen == 1_501


def test_what_was_not_compared_is_no_pass() -> None:
    move = moved()
    move.set_apart("no answer came")

    assert move.exit_code == 3
    assert "Not compared: 1 request, because no answer came" in "\n".join(
        move_lines(move, CATALOGUE)
    )


def test_the_page_escapes_and_has_a_picture_with_a_description() -> None:
    page = move_page(moved(BREAKS, EASED), CATALOGUE)

    assert "<q>" not in page
    assert "&lt;q&gt;" in page
    assert page.count("<rect ") == 2
    assert "<desc>send: kind 1: once; send: kind 2: 2 times</desc>" in page
    assert "<svg" not in move_page(moved(), CATALOGUE)


def test_json_and_page_are_written(tmp_path: Path) -> None:
    write_move(moved(BREAKS, MAY_BREAK), tmp_path / "new", CATALOGUE)

    written = json.loads((tmp_path / "new" / "moving.json").read_text("utf-8"))
    (kind,) = written["breaks"]
    assert (kind["rules"], kind["seen"], kind["first"]["client"]) == (["TXN-03"], 1, "c0")
    assert kind["first"]["command"]["type"] == "Send"
    assert len(written["may_break"]) == 1
    assert (tmp_path / "new" / "moving.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    with pytest.raises(HistoryError, match="cannot write the report in"):
        write_move(moved(), tmp_path / "file", CATALOGUE)
