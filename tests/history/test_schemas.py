"""The committed schemas are those of the classes, and agree with the codec."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rows import rows_of

from busproof.errors import HistoryError
from busproof.history.codec import structure_union, unstructure
from busproof.history.lines import decode_line
from busproof.history.protocol import Answer, Request, encode
from busproof.history.records import Record
from busproof.history.schemas import FOLDER, render, schemas, write

SCHEMAS = {name: json.loads((FOLDER / name).read_text(encoding="utf-8")) for name in schemas()}
HISTORY = Draft202012Validator(SCHEMAS["history.schema.json"])
PROTOCOL = Draft202012Validator(SCHEMAS["protocol.schema.json"])

EVENT = {"command": {"type": "Peek", "queue": "q"}, "outcome": {"type": "Done"}}
WRONG_EVENTS = [
    wrong
    for wrong, _ in rows_of(__file__, "wrong_events")
    if isinstance(wrong, dict) and not isinstance(wrong.get("called"), float)
]
"""Those that the codec refuses; only for a schema 1.0 is a whole number."""


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_committed_schema_is_up_to_date(name: str) -> None:
    committed = (FOLDER / name).read_text(encoding="utf-8")
    assert render(schemas()[name]) == committed, "run python -m busproof.history.schemas"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])


def test_schemas_are_written_where_asked(tmp_path: Path) -> None:
    write(tmp_path / "schemas")
    assert set(SCHEMAS) == {file.name for file in (tmp_path / "schemas").iterdir()}


@pytest.mark.slow
@given(st.from_type(Record), st.booleans())
def test_every_record_fits(record: Record, full: bool) -> None:
    HISTORY.validate(json.loads(json.dumps(unstructure(record, union=Record, full=full))))


@pytest.mark.slow
@given(st.from_type(Request | Answer))
def test_every_message_fits(message: Request | Answer) -> None:
    PROTOCOL.validate(decode_line(encode(message)))


@pytest.mark.parametrize(
    "line",
    [
        {},
        [],
        {"record": "evnt"},
        {"record": "header", "protocol": 2, "profile": {"edition": "e"}},
        {"record": "header", "profile": {"edition": "e"}, "protocol": "1"},
        {"record": "header", "protocol": 1, "profile": {"edition": "e", "partitions": 0}},
        {"record": "header", "protocol": 1, "profile": {"edition": "e", "readings": {"A": 1}}},
        {"record": "header", "protocol": 1, "profile": {"edition": "e"}, "slack": -1},
        {"record": "started"},
        {"record": "started", "scenario": "s", "rules": "KEY-03"},
        {"record": "ended", "verdict": "shown"},
        {"record": "ended", "verdict": "passed", "steps": [{"keyword": "Given"}]},
        EVENT,
        *({"record": "event", **wrong} for wrong in WRONG_EVENTS),
    ],
)
def test_record_that_the_codec_refuses_does_not_fit(line: object) -> None:
    assert not HISTORY.is_valid(line)
    if line != {"record": "header", "protocol": 2, "profile": {"edition": "e"}}:
        with pytest.raises(HistoryError):
            structure_union(line, Record, "the record")


@pytest.mark.parametrize(
    "line",
    [
        {"id": 1},
        {"hello": {"protocol": 1}},
        {"id": "1", "bye": {}},
        {"id": 1, "bye": {}, "started": {}},
        {"id": 1, "hello": {"protocol": 2}},
        {"id": 1, "outcome": {"type": "Dnoe"}},
        {
            "id": 1,
            "hello": {"protocol": 1, "implementation": {"name": "b"}, "capabilities": ["peeks"]},
        },
    ],
)
def test_invalid_message_does_not_fit(line: object) -> None:
    assert not PROTOCOL.is_valid(line)


def test_answers_can_be_distinguished_from_requests() -> None:
    answers = PROTOCOL.evolve(schema={**SCHEMAS["protocol.schema.json"], **_only("Answer")})
    assert answers.is_valid({"id": 1, "started": {}})
    assert not answers.is_valid({"id": 1, "start": {"edition": "e", "tier": "basic"}})


def _only(name: str) -> dict[str, object]:
    return {"anyOf": [{"$ref": f"#/$defs/{name}"}]}
