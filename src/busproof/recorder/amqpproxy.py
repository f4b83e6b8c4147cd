"""Logs of amqpproxy, in JSON, read as a history.

amqpproxy is a proxy of an SDK's team that writes each frame as a line of JSON, in a file for each
connection. The frames go through the same `Conversation` as those that `busproof record` sees.

Two things are lost in such a log. *Accepted* and *released* are both written as `{}`, so that a
settlement that is one of the two may have been either. And where a frame comes that amqpproxy
cannot read, it writes nothing more of that direction, without a word; the entities of such a
connection are left out from the beginning, because nobody knows what became of them.
"""

import base64
import json
import secrets
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from heapq import merge
from pathlib import Path
from typing import Any, Final

import attrs
from proton import Described

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.logs.converted import Converted
from busproof.recorder import frames as f
from busproof.recorder import outcomes as o
from busproof.recorder.conversation import Conversation
from busproof.recorder.desk import Desk
from busproof.recorder.frames import Frame, Unreadable
from busproof.recorder.messages import Privacy
from busproof.recorder.names import entity_of
from busproof.recorder.requests import Call, Requests
from busproof.recorder.tally import Tally
from busproof.recorder.wholeness import Watch

__all__ = ["CANNOT_SHOW", "events_of_amqpproxy", "is_amqpproxy"]

CANNOT_SHOW: Final = (
    "A log of amqpproxy writes accepted and released alike, so a settlement that is one of the two "
    "may have been either, and a message that is given again after it accuses nobody; "
    "--no-releases says that the clients complete, and never release. It shows no transactions, "
    "and nothing of the administration"
)
"""What the format cannot show."""

CODES: Final = {
    "Begin": f.BEGIN,
    "Attach": f.ATTACH,
    "Flow": f.FLOW,
    "Transfer": f.TRANSFER,
    "Disposition": f.DISPOSITION,
    "Detach": f.DETACH,
    "End": f.END,
    "Close": f.CLOSE,
}
"""The frames that a conversation is about, by their names in a log."""
SOURCE: Final = 0x28
TARGET: Final = 0x29
ERROR: Final = 0x1D
DAY_ONE: Final = datetime(1970, 1, 1, tzinfo=UTC)


@attrs.frozen(order=False)
class Line:
    """A line of a log.

    Attributes:
        at: its time, in microseconds since 1970.
        by_client: whether the client sent the frame.
        frame: the frame; `None` for one that is no part of a conversation.
        address: the entity that it is about, as the log names it; empty if it names none.
        is_hidden: whether the frame is a message with a token, which the log does not show.
    """

    at: int
    by_client: bool
    frame: Frame | None
    address: str
    is_hidden: bool


def is_amqpproxy(value: object) -> bool:
    """Return whether a JSON value is a line of a log of amqpproxy."""
    return isinstance(value, dict) and {"Time", "Direction", "Frame"} <= value.keys()


def events_of_amqpproxy(logs: Sequence[Path], *, releases: bool = True) -> Converted:
    """Return the events in logs of amqpproxy, of which each is about one connection.

    Args:
        logs: the files, as amqpproxy writes them.
        releases: whether the clients may have released messages; if not, each settlement that is
            either accepted or released is taken for accepted.

    Raises:
        HistoryError: a file cannot be read, or is not of this form.
    """
    torn: dict[Path, str] = {}
    entities: dict[Path, set[str]] = {}
    begin: int | None = None
    for log in logs:
        watch = Watch()
        names = entities[log] = set()
        for line in _lines(log, releases=releases):
            begin = line.at if begin is None else min(begin, line.at)
            names.add(entity_of(line.address).partition("/$")[0])
            if line.frame is not None:
                watch.see(line.frame, by_client=line.by_client)
            elif line.is_hidden:
                watch.hide()
        if reason := watch.end():
            torn[log] = reason
    if begin is None:
        raise HistoryError(f"{logs[0]} is empty; name a log that amqpproxy wrote")
    while True:
        transcript = _Transcript(begin)
        tally = Tally(lambda _: None)
        for log, reason in torn.items():
            for name in sorted(name for name in entities[log] if name and name[0] != "$"):
                transcript.left_out.leave(name)
                tally.left_out[f"all about {name}, because in {log.name} {reason}"] += 1
        try:
            whole = [log for log in logs if log not in torn]
            _transcribe(whole, transcript, tally, releases=releases)
        except _Torn as error:
            # What one connection did to an entity is not known, so all about it is left out.
            torn[error.log] = error.reason
            continue
        events = sorted(
            transcript.kept,
            key=lambda event: event.called if event.returned is None else event.returned,
        )
        return Converted(events=tuple(events), left_out=tally.left_out)


class _Torn(Exception):
    """A log of which a part makes no sense."""

    def __init__(self, log: Path, reason: str) -> None:
        super().__init__(reason)
        self.log = log
        self.reason = reason


class _Transcript(Requests):
    """The events of a log, at the times of its lines."""

    def __init__(self, begin: int) -> None:
        super().__init__(begin)
        self.kept: list[v.Event] = []
        self._now = 0

    def now(self) -> int:
        return self._now

    def advance(self, at: int) -> None:
        """Note the time of a line; those of both directions may be out of order by a little."""
        self._now = max(self._now, at - self.epoch)

    def flush(self) -> None:
        """Nothing is passed on."""

    def _note_open(self, call: Call) -> None:
        """What is open is known until the end."""

    def _note_closed(self, call: Call) -> None:
        """What is open is known until the end."""

    def _keep(self, call: Call, returned: int | None, outcome: v.Outcome) -> None:
        self.kept.append(
            v.Event(
                client=call.client,
                connection=call.connection,
                called=call.called,
                returned=returned,
                command=call.command,
                outcome=outcome,
            )
        )


def _transcribe(
    logs: Sequence[Path], transcript: _Transcript, tally: Tally, *, releases: bool
) -> None:
    """Let a conversation for each log take its frames, in the order of their times.

    Raises:
        _Torn: a frame of a log makes no sense.
    """
    desk = Desk(transcript, Privacy(secrets.token_bytes(16)), tally)
    talks = [Conversation(desk, f"c{number}") for number in range(1, len(logs) + 1)]
    streams = [_number_lines(number, log, releases=releases) for number, log in enumerate(logs)]
    for at, number, line in merge(*streams, key=lambda one: one[0]):
        transcript.advance(at)
        if line is None:
            talks[number].end()
        elif line.frame is not None:
            try:
                talks[number].take(line.frame, by_client=line.by_client)
            except Unreadable as error:
                raise _Torn(logs[number], str(error)) from None


def _number_lines(
    number: int, log: Path, *, releases: bool
) -> Iterator[tuple[int, int, Line | None]]:
    """Yield the lines of a log with its number, and `None` at the end of the connection."""
    latest = 0
    for line in _lines(log, releases=releases):
        latest = max(latest, line.at)
        yield latest, number, line
    yield latest, number, None


def _lines(log: Path, *, releases: bool) -> Iterator[Line]:
    try:
        with log.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                # A proxy that was killed leaves a line that is not complete.
                if text.endswith("\n") and not text.isspace():
                    yield _line(f"{log}:{number}", text, releases=releases)
    except (OSError, UnicodeDecodeError) as error:
        raise HistoryError(f"cannot read {log}: {error}") from None


def _line(place: str, text: str, *, releases: bool) -> Line:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise HistoryError(f"{place}: no JSON: {error}") from None
    if not is_amqpproxy(value):
        raise HistoryError(f"{place}: no frame of amqpproxy: it has Time, Direction and Frame")
    try:
        moment = datetime.fromisoformat(value["Time"])
        at = (moment - DAY_ONE) // (datetime.resolution)
        by_client = {"out": True, "in": False}[value["Direction"]]
        written = value["Frame"]
        frame = None if written is None else _frame(written, releases=releases and by_client)
        is_hidden = written is None and by_client
        return Line(at, by_client, frame, value.get("EntityPath") or "", is_hidden)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise HistoryError(
            f"{place}: a frame of amqpproxy that cannot be read: {error!r}"
        ) from None


def _frame(written: dict[str, Any], *, releases: bool) -> Frame | None:
    """Return the frame of a line.

    Raises:
        KeyError: it lacks something; `TypeError` and `ValueError` are raised, too.
    """
    code = CODES.get(written["BodyType"])
    if code is None:
        return None
    body: dict[str, Any] = written["Body"]
    fields = FIELDS[code](body, releases)
    payload = b""
    if code == f.TRANSFER:
        payload = base64.b64decode(body["Payload"] or "", validate=True)
        if not payload and not body["Aborted"]:
            raise ValueError("a message without a payload; do not use --exclude-payload-data")
    return Frame(code, written["Header"]["Channel"], fields, payload)


def _begin(body: dict[str, Any], _: bool) -> list[Any]:
    return [body["RemoteChannel"]]


def _attach(body: dict[str, Any], _: bool) -> list[Any]:
    return [
        *(body["Name"], body["Handle"], body["Role"]),
        *(body["SenderSettleMode"], body["ReceiverSettleMode"]),
        _terminus(SOURCE, body["Source"]),
        _terminus(TARGET, body["Target"]),
        *(None, None),
        body["InitialDeliveryCount"],
    ]


def _terminus(code: int, written: dict[str, Any] | None) -> Described | None:
    if written is None:
        return None
    filters = {name: one and one["Value"] for name, one in (written.get("Filter") or {}).items()}
    return Described(code, [written["Address"] or None, *[None] * 6, filters or None])


def _flow(body: dict[str, Any], _: bool) -> list[Any]:
    return [
        *[None] * 4,
        *(body["Handle"], body["DeliveryCount"], body["LinkCredit"], None, body["Drain"]),
    ]


def _transfer(body: dict[str, Any], releases: bool) -> list[Any]:
    tag = body["DeliveryTag"]
    return [
        *(body["Handle"], body["DeliveryID"]),
        None if tag is None else base64.b64decode(tag),
        *(body["MessageFormat"], body["Settled"], body["More"], None),
        *(_state(body["State"], releases), None, body["Aborted"]),
    ]


def _disposition(body: dict[str, Any], releases: bool) -> list[Any]:
    return [
        *(body["Role"], body["First"], body["Last"], body["Settled"]),
        _state(body["State"], releases),
    ]


def _state(written: dict[str, Any] | None, releases: bool) -> Described | None:
    """Return the state of a delivery; which it is shows only by its fields."""
    if written is None:
        return None
    if "UndeliverableHere" in written:
        values = [written["DeliveryFailed"], written["UndeliverableHere"]]
        return Described(o.MODIFIED, values)
    if "Error" in written:
        return Described(o.REJECTED, [_error(written["Error"])])
    if "SectionNumber" in written:
        return Described(o.RECEIVED, [])
    return Described(o.ACCEPTED_OR_RELEASED if releases else o.ACCEPTED, [])


def _error(written: dict[str, Any] | None) -> Described | None:
    if written is None:
        return None
    return Described(ERROR, [written["Condition"], written["Description"], written["Info"]])


def _detach(body: dict[str, Any], _: bool) -> list[Any]:
    return [body["Handle"], body.get("Closed", False), _error(body.get("Error"))]


def _nothing(_: dict[str, Any], __: bool) -> list[Any]:
    return []


FIELDS: Final = {
    f.BEGIN: _begin,
    f.ATTACH: _attach,
    f.FLOW: _flow,
    f.TRANSFER: _transfer,
    f.DISPOSITION: _disposition,
    f.DETACH: _detach,
    f.END: _nothing,
    f.CLOSE: _nothing,
}
"""What makes the fields of a performative, in the order of the protocol."""
