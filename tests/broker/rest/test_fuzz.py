"""Whatever is in a request for messages: the broker does not fail, and lets nobody in."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from typing import Final

import pytest
from proton import Data, Message
from work import TURN, check

from busproof.broker.core import Hub
from busproof.broker.http_requests import Answer, Later, Request
from busproof.broker.rest.addresses import address_of
from busproof.broker.rest.messages import Messages
from busproof.broker.rest.received_messages import answer_message

from .. import raw
from ..fuzz import fuzzing
from ..fuzz.broken_frames import cut, flipped, spliced
from ..fuzz.test_fuzz import ANEW, CASES, Trial, tried
from ..test_turns import QUEUE, longest
from .speaking import BATCH

pytestmark = pytest.mark.slow

TOKEN: Final = raw.token("sb://localhost/", fuzzing.NAME, fuzzing.KEY)
PATHS: Final = (
    ("POST", "/q/messages?timeout=60"),
    ("POST", "/q/messages"),
    ("POST", "/q/messages/head?timeout=0"),
    ("DELETE", "/q/$DeadLetterQueue/messages/head?timeout=0"),
    ("PUT", "/q/messages/m%2F1/00000000-0000-0001-0000-000000000001"),
    ("DELETE", "/q/messages/3/00000000-0000-0001-0000-000000000001"),
    ("POST", "/s/messages/m/00000000-0000-0001-0000-000000000001"),
)
PROPERTIES: Final = json.dumps(
    {
        "MessageId": "m",
        "SessionId": "s",
        "PartitionKey": "s",
        "TimeToLive": 1.5,
        "TimeToLiveTimeSpan": "1.00:00:40",
        "ScheduledEnqueueTimeUtc": "Sun, 06 Nov 2094 08:49:37 GMT",
    }
)
ITEMS: Final = f'[{{"Body":"a","BrokerProperties":{PROPERTIES},"UserProperties":{{"x":1}}}}]'


def changed(text: str, chance: random.Random) -> str:
    """A text with something wrong about it, more often than not."""
    data = bytearray(text, "latin-1")
    for _ in range(chance.choice((0, 1, 1, 3))):
        data[:] = chance.choice((flipped, cut, spliced))(data, chance) or b"/"
    return data.decode("latin-1")


def asked(chance: random.Random) -> Request:
    """A request with something wrong about it."""
    method, path = chance.choice(PATHS)
    written = (
        ("BrokerProperties", changed(PROPERTIES, chance)),
        (changed("Priority", chance), changed('"High"', chance)),
        *(BATCH.items() if chance.random() < 0.5 else ()),
        ("Authorization", TOKEN if chance.random() < 0.9 else "x"),
    )
    headers = {name.lower(): value for name, value in written}
    body = changed(ITEMS, chance).encode("latin-1")
    return Request(method, changed(path, chance), headers, body, written=written)


async def answered(messages: Messages, request: Request) -> Answer | None:
    """What is answered; `None` if the request is none for messages."""
    address = address_of(request.method, request.target)
    if address is None:
        return None
    answer = await messages.answer(request, address)
    if isinstance(answer, Later):
        answer.answer.cancel()
        await asyncio.sleep(0)
        return None
    return answer


def test_broken_requests_make_nothing_fail() -> None:
    async def trying(trial: Trial) -> None:
        messages = Messages(trial.hub)
        statuses = set[int]()
        for trial.case in range(CASES // 4):
            if trial.case % ANEW == 0:
                await trial.begin()
                assert {} == trial.hub._waiting
            request = asked(random.Random(trial.case))
            answer = await answered(messages, request)
            if answer is not None:
                statuses.add(answer.status)
                is_let_in = request.headers["authorization"] == TOKEN
                assert is_let_in or answer.status == 401, (trial.case, answer)
                assert answer.status < 500, (trial.case, answer)
        assert {201, 204, 400, 401, 404} <= statuses

    tried(trying)


def test_every_type_of_a_value_can_be_shown() -> None:
    values = Data()
    values.put_array(False, Data.INT)
    message = Message(body={"a": [1, None]}, inferred=False)
    message.content_type = "text/x\r\nEvil: 1"
    message.properties = {
        "none": None,
        "list": [1, "two"],
        "bytes": b"\xff",
        "big": 2**63 - 1,
        "Transfer-Encoding": "chunked",
        "white space": 1,
    }
    answer = answer_message(bytes(message.encode()), None, "http://localhost/q/messages")
    names = [name for name, _ in answer.headers]
    assert ["BrokerProperties", "none", "list", "bytes", "big"] == names
    assert all(text.isascii() and text.isprintable() for _, text in answer.headers)
    assert b'{"a": [1, null]}' == answer.body


def test_a_batch_is_read_in_slices() -> None:
    items = [{"Body": "x", "UserProperties": {"n": number}} for number in range(4_000)]

    async def send(hub: Hub) -> AsyncIterator[None]:
        headers = {"authorization": TOKEN, "content-type": BATCH["Content-Type"]}
        request = Request("POST", "/q/messages", headers, json.dumps(items).encode())
        yield
        answer = await answered(Messages(hub), request)
        assert answer is not None
        assert 201 == answer.status, answer
        yield

    check(TURN * 1.5, lambda: longest(send, QUEUE))
