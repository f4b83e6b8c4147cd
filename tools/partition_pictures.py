"""Write docs/images/partitions/*.svg: what partitioned entities do, drawn from runs of the model.

`make picture` draws them anew. The runs are in tools/pictures/partitions.yaml; a column is a
command with its answer, and a row is a partition with the messages that it holds after each column.
"""

import argparse
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

import attrs
import yaml

from busproof import spec
from busproof import vocabulary as v
from busproof.history.render.gherkin import request_of
from busproof.history.replay import resolved
from busproof.model.choices import RoundRobin
from busproof.model.life_cycle import LOCKED_STATES
from busproof.model.rules import Namespace
from busproof.model.state import QueuedMessage
from busproof.model.step import new_namespace, step

ROOT: Final = Path(__file__).parent.parent
RUNS: Final = Path(__file__).parent / "pictures" / "partitions.yaml"
FOLDER: Final = ROOT / "docs" / "images" / "partitions"

QUEUE: Final = "orders"
PARTITIONS: Final = 4
MEGABYTE: Final = 10**6

COLUMN: Final = 118
LABELS: Final = 104
TEXT: Final = 15
BOX: Final = 34
GAP: Final = 5
MARGIN: Final = 16
LETTERS: Final = 17
"""How many letters fit into a column."""

FILLS: Final = {"red": "#fde0da", "blue": "#dcebfb", "": "#ececec"}
"""Fill of a box by its key, which is also written in it."""
OTHER_FILL: Final = "#d9f2ec"
LINES: Final = {"locked": "#b45309", "sent": "#6d28d9", "there": "#37474f"}


@attrs.frozen(kw_only=True)
class Box:
    """A message in a partition after a column.

    Attributes:
        name: what tells it from all others.
        body: its body.
        note: what is written below the body.
        key: what chose its partition; empty without a key.
        state: `there`, `locked` by a receiver, or `sent` in a transaction that has not ended.
    """

    name: object
    body: str
    note: str
    key: str
    state: str = "there"


@attrs.frozen(kw_only=True)
class Column:
    """A command, its answer, and what the partitions are and hold afterwards."""

    asked: tuple[str, ...]
    answer: str
    is_refused: bool
    held: Mapping[int, tuple[Box, ...]]
    down: frozenset[int]


def columns_of(run: Mapping[str, Any]) -> Iterator[Column]:
    """Play a run on the model; yield its columns."""
    premium = run.get("premium", 1)
    profile = v.profile_for(
        spec.load(),
        tier=v.Tier.PREMIUM if premium > 1 else v.Tier.STANDARD,
        partitions=None if premium > 1 else PARTITIONS,
        namespace_partitions=premium,
    )
    namespace = new_namespace(profile)
    choices = RoundRobin()
    if premium == 1:
        settings = f", {run['queue']}" if "queue" in run else ""
        step(namespace, request_of(f'Create queue, queue "{QUEUE}"{settings}'), "setup", choices)
    for sentence in run.get("before", ()):
        step(namespace, _request(sentence)[1], "setup", choices)
    asked = [_request(sentence) for sentence in run["commands"]]
    several = len({connection for connection, _ in asked}) > 1
    tokens: dict[int, str] = {}
    bodies: dict[str, str] = {}
    for number, (connection, referring) in enumerate(asked, 1):
        command = resolved(referring, tokens) or referring
        outcome = step(namespace, command, connection, choices).outcome
        if isinstance(outcome, v.Received) and (token := outcome.message.lock_token):
            tokens[number] = token
            bodies[token] = outcome.message.body
        words = list(_asked_words(command, bodies))
        if several:
            words[0] = f"{connection}: {words[0]}"
        entity = namespace.entities.get(QUEUE)
        yield Column(
            asked=tuple(words),
            answer=_answer_words(outcome),
            is_refused=isinstance(outcome, v.Refused),
            held=_held(namespace, run.get("shows", "key")),
            down=frozenset() if entity is None else entity.down,
        )


def _request(sentence: str) -> tuple[str, v.Command]:
    connection, _, request = sentence.partition(" asks: ")
    return connection, request_of(request)


def _held(namespace: Namespace, shows: str) -> dict[int, tuple[Box, ...]]:
    """Return what each partition of the queue holds."""
    entity = namespace.entities.get(QUEUE)
    if entity is None:
        return {}
    held: dict[int, list[Box]] = {partition.number: [] for partition in entity.partitions}
    for queued in entity.messages.values():
        held[queued.partition].append(_box(queued, shows))
    for name, transaction in namespace.transactions.items():
        for send in () if transaction.ended else transaction.sends:
            key = _key_of(send.message, is_detecting=False)
            body = send.message.body
            box = Box(name=(name, body), body=body, note=key, key=key, state="sent")
            held[send.partition].append(box)
    return {number: tuple(boxes) for number, boxes in held.items()}


def _box(queued: QueuedMessage, shows: str) -> Box:
    message = queued.message
    key = _key_of(message, is_detecting=queued.entity.settings.duplicate_detection)
    note = key
    if shows == "number":
        counter = queued.number & ((1 << v.SEQUENCE_BITS) - 1)
        note = f"{queued.number >> v.SEQUENCE_BITS} · {counter}"
    elif shows == "size" and message.size:
        note = f"{message.size // MEGABYTE} MB"
    return Box(
        name=queued.number,
        body=message.body,
        note=note,
        key=key,
        state="locked" if queued.state in LOCKED_STATES else "there",
    )


def _key_of(message: v.Message, *, is_detecting: bool) -> str:
    """Return the property that chose the partition: KEY-04, KEY-07 and KEY-10."""
    own = message.session_id or message.partition_key
    if own is not None:
        return own
    return message.message_id or "" if is_detecting else ""


def _asked_words(command: v.Command, bodies: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines above a column: the command, then what it gives."""
    match command:
        case v.Send(message=message, transaction=transaction):
            yield f"send {message.body}"
            yield from _property_words(message)
            if transaction is not None:
                yield f"in {transaction}"
        case v.SendBatch(messages=messages):
            yield "send together"
            for message in messages:
                yield f"{message.body}, {message.partition_key}"
        case v.Receive(mode=mode, session_id=session):
            yield "receive"
            yield "and delete" if mode is v.ReceiveMode.RECEIVE_AND_DELETE else "and lock"
            if session is not None:
                yield f"session {session}"
        case v.Complete(lock_token=token):
            yield f"complete {bodies[token]}"
        case v.CreateQueue(partitioned=partitioned):
            yield "create queue"
            yield "partitioned" if partitioned else "not partitioned"
        case _:
            yield from _other_words(command)


def _other_words(command: v.Command) -> Iterator[str]:
    """Yield the lines above a column whose command sends and settles nothing."""
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(command).__name__).lower()
    match command:
        case v.AcceptSession(session_id=session):
            yield "accept"
            yield f"session {session}"
        case v.AcceptNextSession():
            yield "accept"
            yield "next session"
        case v.AdvanceClock(duration=duration):
            yield f"{duration // v.MICROSECONDS} s pass"
        case v.TakePartitionDown(partition=partition):
            yield f"partition {partition}"
            yield "goes down"
        case v.BringPartitionUp(partition=partition):
            yield f"partition {partition}"
            yield "is up again"
        case (
            v.BeginTransaction(transaction=transaction)
            | v.CommitTransaction(transaction=transaction)
            | v.RollBackTransaction(transaction=transaction)
        ):
            yield words.removesuffix(" transaction")
            yield str(transaction)
        case _:
            yield words


def _property_words(message: v.Message) -> Iterator[str]:
    for name, value in (
        ("SessionId", message.session_id),
        ("PartitionKey", message.partition_key),
        ("MessageId", message.message_id),
    ):
        if value is not None:
            yield f"{name} {value}"
    if message.size:
        yield f"{message.size // MEGABYTE} MB"


def _answer_words(outcome: v.Outcome) -> str:
    match outcome:
        case v.Refused(error=error):
            return f"✗ {error.value.replace('-', ' ')}"
        case v.Received(message=view):
            return f"→ {view.body}"
        case v.Peeked(messages=views):
            return "→ " + ", ".join(view.body for view in views)
        case v.SessionAccepted(session_id=session):
            return f"✓ session {session}"
        case v.Empty():
            return "→ nothing"
        case _:
            return "✓"


def slots_of(columns: Sequence[Column]) -> dict[tuple[int, object], int]:
    """Return for each partition and message the slot that it keeps while it is there."""
    slots: dict[tuple[int, object], int] = {}
    for column in columns:
        for partition, boxes in column.held.items():
            places = [(partition, box.name) for box in boxes]
            used = {slots[place] for place in places if place in slots}
            for place in places:
                if place not in slots:
                    slots[place] = next(n for n in range(len(places) + 1) if n not in used)
                    used.add(slots[place])
    return slots


@attrs.define
class Drawing:
    """An SVG that grows part by part."""

    title: str
    description: str
    width: int
    height: int
    parts: list[str] = attrs.field(factory=list)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        fill: str = "#263238",
        size: int = 12,
        anchor: str = "middle",
        weight: str = "normal",
    ) -> None:
        """Add a line of text."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" fill="{fill}" font-size="{size}" '
            f'text-anchor="{anchor}" font-weight="{weight}">{escape(words)}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, style: str) -> None:
        """Add a rectangle with attributes of its own."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {style}/>'
        )

    def svg(self) -> str:
        """Return the SVG."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img" '
            'aria-labelledby="title description">\n'
            f'<title id="title">{escape(self.title)}</title>\n'
            f'<desc id="description">{escape(self.description)}</desc>\n'
            '<defs><pattern id="down" width="8" height="8" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><rect width="8" height="8" fill="#f3d9d5"/>'
            '<line y2="8" stroke="#b3261e" stroke-width="2"/></pattern></defs>\n'
            f'<rect width="{self.width}" height="{self.height}" rx="10" fill="#ffffff" '
            'stroke="#cfd8dc"/>\n<g font-family="system-ui, Segoe UI, Roboto, Helvetica, '
            'Arial, sans-serif">\n'
        )
        return head + "\n".join(self.parts) + "\n</g>\n</svg>\n"


def picture_of(run: Mapping[str, Any]) -> str:
    """Return the SVG of a run."""
    columns = list(columns_of(run))
    slots = slots_of(columns)
    partitions = sorted({number for column in columns for number in column.held})
    answers = [textwrap.wrap(column.answer, LETTERS) for column in columns]
    above = max(len(column.asked) for column in columns) * TEXT + TEXT
    below = max(map(len, answers)) * TEXT + TEXT
    heights = {
        partition: (
            max((slot for (at, _), slot in slots.items() if at == partition), default=0) + 1
        )
        * (BOX + GAP)
        + GAP
        for partition in partitions
    }
    tops: dict[int, int] = {}
    bottom = MARGIN + above
    for partition in partitions:
        tops[partition] = bottom
        bottom += heights[partition] + GAP
    drawing = Drawing(
        title=run["title"],
        description=" ".join(f"{', '.join(column.asked)}: {column.answer}." for column in columns),
        width=2 * MARGIN + LABELS + COLUMN * len(columns),
        height=bottom + below + MARGIN,
    )
    right = drawing.width - MARGIN
    for partition in partitions:
        top = tops[partition]
        drawing.box(MARGIN, top, right - MARGIN, heights[partition], 'rx="6" fill="#f5f7f8"')
        drawing.text(
            MARGIN + 12, top + heights[partition] / 2 + 4, f"Partition {partition}", anchor="start"
        )
    for number, column in enumerate(columns):
        left = MARGIN + LABELS + number * COLUMN
        middle = left + COLUMN / 2
        for line, words in enumerate(column.asked):
            weight = "normal" if line else "bold"
            drawing.text(middle, MARGIN + TEXT * (line + 1), words, weight=weight)
        for partition in column.down & tops.keys():
            drawing.box(left, tops[partition], COLUMN, heights[partition], 'fill="url(#down)"')
        for partition, boxes in column.held.items():
            for box in boxes:
                slot = slots[partition, box.name]
                top = tops[partition] + GAP + slot * (BOX + GAP)
                _draw_box(drawing, left, top, box)
        fill = "#b3261e" if column.is_refused else "#00695c"
        for line, words in enumerate(answers[number]):
            drawing.text(middle, bottom + TEXT * (line + 1), words, fill=fill, weight="bold")
    return drawing.svg()


def _draw_box(drawing: Drawing, left: float, top: float, box: Box) -> None:
    middle = left + COLUMN / 2
    width = 1 if box.state == "there" else 2.5
    dashes = ' stroke-dasharray="5 3"' if box.state == "sent" else ""
    fill = FILLS.get(box.key, OTHER_FILL)
    drawing.box(
        left + 6,
        top,
        COLUMN - 12,
        BOX,
        f'rx="5" fill="{fill}" stroke="{LINES[box.state]}" stroke-width="{width}"{dashes}',
    )
    if box.note:
        drawing.text(middle, top + 14, box.body, weight="bold")
        drawing.text(middle, top + 28, box.note, size=11)
    else:
        drawing.text(middle, top + 21, box.body, weight="bold")


def pictures() -> Iterator[tuple[str, str]]:
    """Yield the name of each picture's file, and the SVG."""
    for number, run in enumerate(yaml.safe_load(RUNS.read_text(encoding="utf-8")), 1):
        yield f"{number:02}-{run['name']}.svg", picture_of(run)


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=FOLDER)
    output: Path = parser.parse_args().output
    for name, drawn in pictures():
        (output / name).write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
