"""What a task does with its components, in this process: none stops another, no line is lost."""

import json
from collections.abc import Iterator
from typing import Any

import attrs
import pyarrow as pa
import pytest
import recorded_cases as cases

from busproof.history.codec import unstructure
from busproof.history.records import Record
from busproof.judging.decompose import parts
from busproof.judging.scenario_result import Checker
from busproof.judging.summary import Summary
from busproof.pipeline import components, judge

HEADER = json.dumps(unstructure(cases.header(), union=Record))
ROWS = [
    *(("history_id", pa.int64()), ("part", pa.int64()), ("line", pa.int64())),
    *(("file", pa.string()), ("text", pa.string()), ("is_last", pa.bool_())),
]
BEGUN = '{"record":"started","scenario":"s%d","rules":["KEY-02"]}'
CREATED = (
    '{"record":"event","command":{"type":"CreateQueue","queue":"q"},"outcome":{"type":"Done"}}'
)
ENDED = '{"record":"ended","verdict":"passed"}'


@attrs.frozen
class Told:
    """What a task said."""

    summary: Summary
    unusable: dict[int, str]
    violations: list[dict[str, Any]]


def judged(*histories: list[str | None], last: bool = False) -> Told:
    """Let one task judge histories of these lines, of which the whole last one may be the end."""
    rows = [
        (number, components.WHOLE, 100 * number + line, "h.jsonl", text)
        for number, lines in enumerate(histories, 1)
        for line, text in enumerate(lines)
    ]
    ends = [last and row is rows[-1] for row in rows]
    columns = [*map(list, zip(*rows, strict=True)), ends]
    batch = pa.record_batch(columns, schema=pa.schema(ROWS))
    halves = (batch.slice(0, 3), batch.slice(3))
    said = [row for each in judge._judge(HEADER, None, iter(halves)) for row in each.to_pylist()]
    of = {kind: [json.loads(row["told"]) for row in said if row["kind"] == kind] for kind in KINDS}
    (summary,) = of["summary"]
    unusable = {each["line"]: each["why"] for each in of["unusable"]}
    return Told(Summary.of(summary), unusable, of["violation"])


KINDS = (judge.SUMMARY, judge.UNUSABLE, judge.VIOLATION)


def test_a_component_that_breaks_the_judge_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no verdict on its rules, with a sentence that says what happened."""
    check = Checker.check

    def broken(checker: Checker, scenario: Any) -> Any:
        if scenario.name == "s1":
            raise ZeroDivisionError("division\nby zero")
        return check(checker, scenario)

    monkeypatch.setattr(Checker, "check", broken)
    summary = judged([BEGUN % 1, CREATED, ENDED], [BEGUN % 2, CREATED, ENDED]).summary
    sentence = "judging 's1' broke off: ZeroDivisionError: division by zero"
    assert {sentence: 1} == summary.exhausted
    assert sentence == summary.rules["KEY-02"].own["exhausted"].text
    assert (2, {"passed": 2}) == (summary.scenarios, summary.ended())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no JSON", "the line must be JSON"),
        (CREATED.replace("CreateQueue", "MakeQueue"), "MakeQueue"),
        (CREATED.replace('"queue"', '"ttl":5,"queue"'), "ttl"),
        (ENDED + "\n", ""),
        (CREATED[:-1] + ',"called":9,"returned":5}', "returned is 5, and must not be before"),
        ('{"record":"header","protocol":1,"profile":{"edition":"cs-2020-12"}}', "has no other"),
        (None, "history_id, seq, command or outcome is missing"),
    ],
)
def test_a_line_that_cannot_be_used_keeps_its_history_from_being_judged(line, why) -> None:
    """And no other history: without the event that it was, what comes after would look wrong."""
    result = judged([BEGUN % 1, CREATED, line, ENDED], [BEGUN % 2, CREATED])
    assert {102, 103} >= result.unusable.keys() > set()
    assert why in next(iter(result.unusable.values()))
    assert {"interrupted": 1} == result.summary.ended()


def test_an_event_after_the_end_belongs_to_no_scenario() -> None:
    result = judged([BEGUN % 1, ENDED, CREATED], [ENDED])
    assert "an event outside of a scenario" in result.unusable[102]
    assert "a scenario ends here that did not begin" in result.unusable[200]
    assert 0 == result.summary.scenarios


def test_two_events_of_one_place_are_not_judged() -> None:
    """A message that was received and deleted would seem to have been received again."""
    batch = pa.record_batch(
        [[1, 1], [-1, -1], [5, 5], ["t", "t"], [CREATED, CREATED], [False, False]],
        schema=pa.schema(ROWS),
    )
    said = [row for each in judge._judge(HEADER, None, iter([batch])) for row in each.to_pylist()]
    assert "name more than one event" in said[0]["told"]


def test_a_last_line_that_was_cut_off_is_left_out() -> None:
    """As where a run was killed; what stands before it is judged."""
    result = judged([BEGUN % 1, CREATED, CREATED[:50]], last=True)
    assert result.summary.cut
    assert {} == result.unusable
    assert {"interrupted": 1} == result.summary.ended()
    assert not judged([BEGUN % 1, CREATED, CREATED[:50]]).summary.cut
    assert judged([BEGUN % 1, CREATED, "no JSON"], last=True).unusable


def test_a_violation_names_its_lines() -> None:
    (case,) = cases.corrupted("never sent", 4, 1)
    lines = [json.dumps(unstructure(event, union=Record)) for event in case.events]
    (violation,) = judged([BEGUN % 1, *lines]).violations
    assert ("LIFE-01", "s1", "keyed") == tuple(
        violation[name] for name in ("rule", "scenario", "entity")
    )
    assert "never sent" in violation["actual"]
    assert case.changed is not None
    assert 101 + case.changed == violation["seqs"][-1]


def test_parts_that_were_learned_in_pieces_are_those_of_the_whole() -> None:
    """In any order of the pieces; every part begins as its scenario does."""
    (case,) = cases.clean("round-robin", (2,))
    texts = [json.dumps(unstructure(event, union=Record)) for event in case.events]
    numbers = numbered([BEGUN % 1, *texts, "no JSON"])
    expected = [{index + 1 for index in part} for part in parts(case.events)]
    found = [set(lines) - {0} for number, lines in numbers.items() if number]
    assert sorted(expected, key=min) == sorted(found, key=min)
    assert len(expected) > 1
    assert all(0 in lines for number, lines in numbers.items() if number)
    assert [len(texts) + 1] == numbers[components.OUTSIDE]


def numbered(texts: list[str]) -> dict[int, list[int]]:
    """Number of a part to the places of its lines."""
    schema = pa.schema([("history_id", pa.int64()), ("text", pa.string()), ("line", pa.int64())])
    columns = [[7] * len(texts), texts, list(range(len(texts)))]
    batch = pa.record_batch(columns, schema=schema)
    pieces = [batch.slice(place, 40) for place in range(0, len(texts), 40)]
    rows = components._learn_connections(
        each.select(["history_id", "text"]) for each in pieces[::-1]
    )
    numbers = components._put_together(row for each in rows for row in each.to_pylist())
    found: dict[int, list[int]] = {}
    for row in rows_of(components._number_rows(numbers, iter(pieces))):
        found.setdefault(row["part"], []).append(row["line"])
    return found


def rows_of(batches: Iterator[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()
