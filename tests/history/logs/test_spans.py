"""Spans of OpenTelemetry are read as a history, as far as they go."""

import json
from pathlib import Path
from typing import Any

import pytest

from busproof import vocabulary as v
from busproof.cli.main import main
from busproof.errors import HistoryError
from busproof.history.files import load
from busproof.history.logs.spans import events_of_spans

EXAMPLE = Path(__file__).parents[3] / "examples" / "spans" / "valid.json"
MILLISECOND = 1_000_000


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return attributes as OTLP JSON has them."""
    return [
        {"key": key, "value": {"intValue" if isinstance(one, int) else "stringValue": str(one)}}
        for key, one in values.items()
    ]


def span(operation: str, at: int, *ids: str, code: int = 0, **more: Any) -> dict[str, Any]:
    """Return a span of 5 ms that begins at this millisecond."""
    values = {
        "messaging.system": "servicebus",
        "messaging.destination.name": "orders",
        "messaging.operation.type": operation,
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    linked = [{"attributes": attributes({"messaging.message.id": one})} for one in ids]
    return {
        "startTimeUnixNano": str(at * MILLISECOND),
        "endTimeUnixNano": str((at + 5) * MILLISECOND),
        "attributes": attributes(values),
        "links": linked,
        "status": {"code": code},
    }


def settle(kind: str, at: int, name: str, **more: Any) -> dict[str, Any]:
    return span("settle", at, name, messaging__servicebus__disposition_status=kind, **more)


def write(folder: Path, *spans: dict[str, Any], instance: str = "a") -> Path:
    """Write an export; return its file."""
    resource = {"attributes": attributes({"service.instance.id": instance})}
    scopes = [{"spans": list(spans)}]
    file = folder / "spans.json"
    text = json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]})
    file.write_text(text, encoding="utf-8")
    return file


def judged(folder: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Convert and check a log; return the exit code and the violated rules."""
    history = folder / "history.jsonl"
    assert 0 == main(["convert", str(log), "--out", str(history)])
    capsys.readouterr()
    code = main(["check", str(history), "--format", "json"])
    rules = json.loads(capsys.readouterr().out)["rules"]
    return code, [rule["id"] for rule in rules if rule["verdict"] == "violated"]


def test_the_example_is_judged_and_accuses_nobody(tmp_path, capsys) -> None:
    code, violated = judged(tmp_path, EXAMPLE, capsys)
    assert (3, []) == (code, violated)
    events = load(tmp_path / "history.jsonl").scenarios[0].events
    kinds = [type(event.command) for event in events]
    assert [v.Send, v.ReceiveBatch, v.Complete, v.Complete] == kinds


def test_a_completed_message_that_is_given_again_is_accused(tmp_path, capsys) -> None:
    """Its settlement can be of either receive, unless it came between them in the log."""
    spans = [
        span("receive", 0, "m"),
        settle("complete", 10, "m"),
        span("receive", 20, "m"),
    ]
    code, violated = judged(tmp_path, write(tmp_path, *spans), capsys)
    assert (1, ["LIFE-03"]) == (code, violated)


def test_a_settlement_after_two_receives_may_be_of_either(tmp_path: Path) -> None:
    spans = [span("receive", 0, "m"), span("receive", 20, "m"), settle("complete", 40, "m")]
    converted = events_of_spans(write(tmp_path, *spans))
    assert 2 == len(converted.events)
    assert 1 == sum(converted.left_out.values())


def test_a_failed_span_may_have_taken_effect(tmp_path: Path) -> None:
    converted = events_of_spans(write(tmp_path, span("send", 0, "m", code=2)))
    (event,) = converted.events
    assert (v.Indeterminate(), None) == (event.outcome, event.returned)


def test_spans_that_overlap_are_of_different_clients(tmp_path: Path) -> None:
    spans = [span("send", 0, "m"), span("send", 3, "n"), span("send", 30, "o")]
    converted = events_of_spans(write(tmp_path, *spans))
    assert ["a~1", "a~2", "a~1"] == [event.client for event in converted.events]
    assert {"a"} == {event.connection for event in converted.events}


def test_a_subscription_and_a_delivery_count_are_read(tmp_path: Path) -> None:
    more = {
        "messaging__destination__subscription__name": "audit",
        "messaging__servicebus__message__delivery_count": 3,
    }
    (event,) = events_of_spans(write(tmp_path, span("receive", 0, "m", **more))).events
    assert "orders/subscriptions/audit" == event.command.queue
    assert [3] == [view.delivery_count for view in event.outcome.messages]


def test_what_is_left_out_is_counted_and_the_limits_are_told(tmp_path, capsys) -> None:
    log = write(tmp_path, span("send", 0, "m"), span("process", 9, "m"), span("send", 12))
    main(["convert", str(log), "--out", str(tmp_path / "h.jsonl")])
    told = " ".join(capsys.readouterr().err.split())
    assert "1 events" in told
    assert "left out: 1 of process: not a send, receive or settlement" in told
    assert "left out: 1 of send: no MessageId" in told
    assert "Sampling has to be off" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "is not JSON"),
        ("{}", "resourceSpans"),
        ('{"resourceSpans": 7}', "is not OTLP JSON"),
        ('{"resourceSpans": []}', "has no spans of Service Bus"),
    ],
)
def test_a_file_that_is_no_export_gets_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "log.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(HistoryError, match=said):
        events_of_spans(file)
