"""Bytes that are not AMQP within messages: refused, so that no client fails that receives them."""

import random
from typing import Any, Final
from uuid import UUID

import attrs
import pytest
from proton import Delivery, Message, symbol, timestamp
from proton.utils import BlockingConnection
from work import PATIENCE

from busproof import vocabulary as v
from busproof.broker.amqp.encoding import check
from busproof.broker.amqp.messages import inner_messages, parse
from busproof.broker.amqp.overlays import overlay_action
from busproof.broker.amqp.unreadable import decode_completely

from . import raw
from .conftest import Served, anew
from .test_sdk_queues import emptied

BODY: Final = b"\x00\x53\x75\xa0\x01x"
WRONG: Final = {
    "data that is a text": b"\x00\x53\x75\xa1\x01x",
    "data that is a number": b"\x00\x53\x75\x44",
    "data that is a list": b"\x00\x53\x75\x45",
    "a sequence that is a map": b"\x00\x53\x76\xc1\x01\x00",
    "a list cut off": b"\x00\x53\x77\xc0\x05\x02\xa1\x01a\xa1",
    "a list with more than it has room for": b"\x00\x53\x77\xc0\x02\x05\x40\x40\x40\x40\x40",
    "a list with room left": b"\x00\x53\x77\xc0\x04\x01\x40\x40\x40",
    "a map with a key alone": b"\x00\x53\x77\xc1\x02\x01\x40",
    "a text that is not UTF-8": b"\x00\x53\x77\xa1\x02\xff\xfe",
    "a text within a list": b"\x00\x53\x77\xc0\x05\x01\xa1\x02\xff\xfe",
    "an unknown type": b"\x00\x53\x77\x57\x00",
    "an unknown type within a map": b"\x00\x53\x77\xc1\x06\x02\xa1\x01a\x57\x00",
    "a described value without a value": b"\x00\x53\x77\x00\x53\x77",
    "an array cut off": b"\x00\x53\x77\xe0\x04\x05\x50\x01\x02",
    "an array of endless nothing": b"\x00\x53\x77\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40",
    "lists within lists": b"\x00\x53\x77" + b"\xc0\xff\x01" * 40 + b"\x45",
    "a property of the application": b"\x00\x53\x74\xc1\x08\x02\xa1\x01a\xc0\x02\x05\x40" + BODY,
    "a key that is null": b"\x00\x53\x74\xc1\x03\x02\x40\x40" + BODY,
    "an annotation": b"\x00\x53\x72\xc1\x08\x02\xa3\x01a\xc0\x02\x05\x40" + BODY,
    "annotations that are a list": b"\x00\x53\x72\xc0\x01\x00" + BODY,
    "a property that is a list": b"\x00\x53\x73\xc0\x02\x01\x45" + BODY,
    "too many properties": b"\x00\x53\x73\xc0\x0f\x0e" + b"\x40" * 14 + BODY,
    "one byte": b"\x00",
    "plain text": b"plain text",
    "data cut off": b"\x00\x53\x75\xa0\x09short",
    "properties that are null": b"\x00\x53\x74\x40",
    "no section": b"\x00\x53\x10\x45",
    "a footer": BODY + b"\x00\x53\x78\xc1\x08\x02\xa3\x01a\xc0\x02\x05\x40",
}


@pytest.mark.slow
def test_message_that_is_not_amqp_within_is_refused(punctual: Served) -> None:
    """With a sentence; the official client receives what others send before and after."""
    served = anew(punctual)
    with raw.logged_in(served.port) as connection:
        sender = connection.create_sender("plain")
        for kind, data in {**WRONG, "right": BODY}.items():
            refused = _refused(connection, sender, data)
            assert refused == (kind != "right"), kind
    assert ["x"] == emptied(served, "plain", least=1)


VALUES: Final[tuple[Any, ...]] = (
    *(None, True, 1, -1, 2**40, 1.5, "text", b"bytes", symbol("s"), timestamp(5), "x" * 300),
    *([], [1, [2, ["three"]]], {"a": {"b": [None]}}, [b"x" * 300] * 3),
)


@pytest.mark.parametrize("value", VALUES)
def test_values_of_all_kinds_are_accepted(value: Any) -> None:
    message = Message(body=value, properties={"a": value}, annotations={symbol("own"): value})
    data = bytes(message.encode())
    parse(data, "m", 0)
    assert decode_completely(data).body == message.body


def test_no_random_change_is_accepted_that_proton_cannot_read() -> None:
    """Of a message with values within values, a few bytes of which are changed."""
    chance = random.Random(3)
    inner = {"a": [1, "b", {"c": [b"d", None, 2.5]}], "e": ["f"] * 20}
    whole = bytes(Message(body=inner).encode())
    place = whole.index(b"\x00\x53\x77") + 3
    read = 0
    for _ in range(3_000):
        changed = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(place, len(whole))] = chance.randrange(256)
        try:
            end = check(bytes(changed), place)
        except (ValueError, IndexError):
            continue
        if end == len(changed):
            decode_completely(bytes(changed))
            read += 1
    assert read > 100


def _refused(connection: BlockingConnection, sender: Any, data: bytes) -> bool:
    delivery = sender.link.delivery("1")
    sender.link.stream(data)
    sender.link.advance()
    connection.wait(lambda: delivery.settled, timeout=PATIENCE)
    delivery.settle()
    if delivery.remote_state == Delivery.ACCEPTED:
        return False
    assert "amqp:decode-error" == delivery.remote.condition.name
    return bool(delivery.remote_state == Delivery.REJECTED)


@pytest.mark.parametrize(("due", "enqueued"), [(0, 1_000), (999, 1_000), (1_001, 1_001)])
def test_message_is_enqueued_when_it_is_due_but_not_before_it_came(due: int, enqueued: int) -> None:
    """A scheduled time that is over would make it expire at once where clients reckon by it."""
    annotations = {symbol("x-opt-scheduled-enqueue-time"): timestamp(due)}
    scheduled = Message(b"x", inferred=True, annotations=annotations)
    parsed = parse(bytes(scheduled.encode()), "m", 1_000)
    assert parsed.content_when_due().enqueued == enqueued


@pytest.mark.parametrize("sent", [7, UUID(int=7), b"\xff\x00", "text", None])
@pytest.mark.parametrize(("set_by_action", "shown"), [({}, None), ({"message_id": "new"}, "new")])
def test_ids_that_an_action_leaves_alone_keep_their_type(
    sent: Any, set_by_action: dict[str, str], shown: str | None
) -> None:
    message = Message(b"x", inferred=True, id=sent, correlation_id=sent, subject="sent")
    parsed = parse(bytes(message.encode()), "m", 0, identified=False)
    view = v.MessageView.of(parsed.message)
    content = overlay_action(attrs.evolve(view, subject="changed", **set_by_action), parsed.content)
    delivered = Message()
    delivered.decode(content.properties)
    assert (shown or sent, sent, "changed") == (
        delivered.id,
        delivered.correlation_id,
        delivered.subject,
    )


@pytest.mark.parametrize("data", [b"\x00", b"plain text", b"\x00\x53\x75\xa0\x09short"])
def test_batch_that_is_no_message_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="no AMQP message"):
        list(inner_messages(data))
