"""Spans of OpenTelemetry that SDKs of Service Bus write, in OTLP JSON, read as a history.

A span has no body, no sequence number and no lock token, so a message is known by its MessageId
alone, and a settlement belongs to the only receive of its message that
came before it. What a span leaves open is left
out and counted. The history begins in the middle: other clients may have been there before.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.logs.converted import Converted

__all__ = ["CANNOT_SHOW", "events_of_spans", "is_spans"]

CANNOT_SHOW: Final = (
    "OpenTelemetry spans show no sequence numbers, partitions, lock tokens, bodies, sessions and "
    "locks' ends, so rules on them (SEQ, KEY, LOCK, SESS, PART, DUP) are out of reach. Messages "
    "are told apart by their MessageIds, which must not be used twice. Sampling has to be off: "
    "a receive that is missing makes a settlement look like that of another one"
)
"""What the format cannot show, and what it needs."""

ID: Final = "messaging.message.id"
NAMES: Final = ("messaging.destination.name", "messaging.destination", "message_bus.destination")
SUBSCRIPTIONS: Final = (
    "messaging.destination.subscription.name",
    "messaging.servicebus.destination.subscription_name",
)
OPERATIONS: Final = (
    "messaging.operation.type",
    "messaging.operation",
    "messaging.operation.name",
)
STATUSES: Final = ("messaging.servicebus.disposition_status", "messaging.operation.name")
COUNTS: Final = (
    "messaging.servicebus.message.delivery_count",
    "azure.servicebus.message.delivery_count",
)
SETTLEMENTS: Final[dict[str, type[v.Settlement]]] = {
    "complete": v.Complete,
    "abandon": v.Abandon,
    "dead_letter": v.DeadLetter,
    "deadletter": v.DeadLetter,
    "defer": v.Defer,
}
ERROR: Final = 2
"""Status code of a span that failed."""


@attrs.define
class _Span:
    """What a span says of one request."""

    start: int
    end: int
    instance: str
    path: str
    operation: str
    ids: tuple[str, ...]
    values: dict[str, Any]
    is_failed: bool


def is_spans(value: object) -> bool:
    """Return whether a JSON value is an export of spans."""
    return isinstance(value, dict) and "resourceSpans" in value


def events_of_spans(path: Path) -> Converted:
    """Return the events in a file of OTLP JSON: one export, or one in each line.

    Raises:
        HistoryError: the file cannot be read, or is not of this form.
    """
    left_out = Counter[str]()
    spans = sorted(_spans(path, left_out), key=lambda span: (span.start, span.end))
    if not spans:
        raise HistoryError(
            f"{path} has no spans of Service Bus: spans with messaging.system servicebus and a "
            "destination are read"
        )
    begin = spans[0].start
    receives: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, span in enumerate(spans):
        if span.operation == "receive":
            for name in span.ids:
                receives[span.path, name].append(number)
    lanes = _Lanes()
    starts = [span.start for span in spans]
    events = []
    for number, span in enumerate(spans):
        exchange = _exchange(number, span, receives, starts, left_out)
        if exchange is not None:
            command, outcome = exchange
            called = (span.start - begin) // 1_000
            returned = (span.end - begin) // 1_000
            events.append(
                v.Event(
                    client=lanes.take(span.instance, called, returned),
                    connection=span.instance,
                    called=called,
                    returned=None if isinstance(outcome, v.Indeterminate) else returned,
                    command=command,
                    outcome=outcome,
                )
            )
    events.sort(key=lambda event: event.called if event.returned is None else event.returned)
    return Converted(events=tuple(events), left_out=left_out)


class _Lanes:
    """Clients of each instance: requests of one client never overlap."""

    def __init__(self) -> None:
        self._busy: dict[str, list[int]] = defaultdict(list)

    def take(self, instance: str, called: int, returned: int) -> str:
        """Return a client of an instance that is free then."""
        lanes = self._busy[instance]
        for lane, until in enumerate(lanes):
            if until < called:
                lanes[lane] = returned
                return f"{instance}~{lane + 1}"
        lanes.append(returned)
        return f"{instance}~{len(lanes)}"


def _exchange(
    number: int,
    span: _Span,
    receives: dict[tuple[str, str], list[int]],
    starts: Sequence[int],
    left_out: Counter[str],
) -> tuple[v.Command, v.Outcome] | None:
    """Return the request and the answer of a span; `None` if it leaves open what they are."""
    if span.operation in ("publish", "send"):
        return _read_send(span, left_out)
    if span.operation == "receive":
        return _read_receive(number, span, left_out)
    if span.operation == "settle" or span.operation in SETTLEMENTS:
        return _read_settlement(span, receives, starts, left_out)
    left_out[f"{span.operation or 'no operation'}: not a send, receive or settlement"] += 1
    return None


def _read_send(span: _Span, left_out: Counter[str]) -> tuple[v.Command, v.Outcome] | None:
    messages = tuple(v.Message(body=name, message_id=name) for name in span.ids)
    if not messages:
        left_out["send: no MessageId"] += 1
        return None
    outcome: v.Outcome = v.Indeterminate() if span.is_failed else v.Done()
    if len(messages) == 1:
        return v.Send(queue=span.path, message=messages[0]), outcome
    return v.SendBatch(queue=span.path, messages=messages), outcome


def _read_receive(
    number: int, span: _Span, left_out: Counter[str]
) -> tuple[v.Command, v.Outcome] | None:
    command = v.ReceiveBatch(queue=span.path, count=max(1, len(span.ids)))
    if span.is_failed:
        return command, v.Indeterminate()
    if not span.ids:
        left_out["receive: no MessageIds, or none received"] += 1
        return None
    count = _first(span.values, COUNTS)
    views = tuple(
        v.MessageView(
            body=name,
            message_id=name,
            lock_token=f"{name}/{number}",
            delivery_count=int(count) if count is not None and len(span.ids) == 1 else None,
        )
        for name in span.ids
    )
    return command, v.ReceivedSeveral(messages=views)


def _read_settlement(
    span: _Span,
    receives: dict[tuple[str, str], list[int]],
    starts: Sequence[int],
    left_out: Counter[str],
) -> tuple[v.Command, v.Outcome] | None:
    status = _first(span.values, STATUSES)
    kind = SETTLEMENTS.get(str(status).lower(), SETTLEMENTS.get(span.operation))
    if kind is None or len(span.ids) != 1:
        left_out["settlement: no kind, or no single MessageId"] += 1
        return None
    name = span.ids[0]
    given = [one for one in receives.get((span.path, name), []) if starts[one] < span.end]
    if len(given) != 1:
        left_out[
            "settlement: the message was received before more than once, or not in the log, so it "
            "is not known which lock was meant"
        ] += 1
        return None
    settle: Any = kind
    command: v.Command = settle(queue=span.path, lock_token=f"{name}/{given[0]}")
    return command, v.Indeterminate() if span.is_failed else v.Done()


def _spans(path: Path, left_out: Counter[str]) -> Iterator[_Span]:
    for export in _exports(path):
        try:
            for of_resource in export["resourceSpans"]:
                resource = _values(of_resource.get("resource", {}))
                instance = resource.get("service.instance.id") or resource.get("service.name")
                for scope in of_resource.get("scopeSpans", ()):
                    for span in scope.get("spans", ()):
                        told = _span(span, str(instance or "unnamed"))
                        if told is not None:
                            yield told
                        else:
                            left_out["span: not of Service Bus, or without a destination"] += 1
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise HistoryError(f"{path} is not OTLP JSON: {error!r}") from None


def _exports(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HistoryError(f"cannot read {path}: {error}") from None
    try:
        values = [json.loads(text)]
    except json.JSONDecodeError:
        try:
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise HistoryError(f"{path} is not JSON, nor JSON in each line: {error}") from None
    for value in values:
        if not is_spans(value):
            raise HistoryError(f"{path} is not OTLP JSON: an export has the field resourceSpans")
        yield value


def _span(span: dict[str, Any], instance: str) -> _Span | None:
    values = _values(span)
    system = str(values.get("messaging.system") or values.get("az.namespace") or "").lower()
    name = _first(values, NAMES)
    if "servicebus" not in system or name is None:
        return None
    subscription = _first(values, SUBSCRIPTIONS)
    path = str(name) if subscription is None else v.subscription_path(str(name), str(subscription))
    linked = [_values(link).get(ID) for link in span.get("links", ())]
    ids = [values[ID]] if ID in values else [one for one in linked if one is not None]
    return _Span(
        start=int(span["startTimeUnixNano"]),
        end=int(span["endTimeUnixNano"]),
        instance=instance,
        path=path,
        operation=str(_first(values, OPERATIONS) or "").lower(),
        ids=tuple(dict.fromkeys(map(str, ids))),
        values=values,
        is_failed=span.get("status", {}).get("code") in (ERROR, "STATUS_CODE_ERROR")
        or "error.type" in values,
    )


def _values(holder: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, a link or a resource."""
    return {
        one["key"]: next(iter(one["value"].values()), None) for one in holder.get("attributes", ())
    }


def _first(values: dict[str, Any], names: Sequence[str]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)
