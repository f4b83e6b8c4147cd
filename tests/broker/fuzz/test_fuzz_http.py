"""Whatever is in a request over HTTP or in a file: the broker neither fails nor lets anybody in."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from busproof.broker.admin.access import Control
from busproof.broker.admin.endpoint import Administration
from busproof.broker.auth.policies import read_rules
from busproof.broker.configuration.emulator import read_configuration
from busproof.broker.http_requests import Request
from busproof.errors import UsageError

from .. import raw
from ..auth.test_keys import RULES
from ..serving.test_config import SAMPLE
from . import fuzzing
from .broken_frames import cut, flipped, spliced
from .test_fuzz import ANEW, CASES, Trial, tried

pytestmark = pytest.mark.slow


XML = b"""<?xml version="1.0" encoding="utf-8"?>
<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">
<SubscriptionDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
 xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><LockDuration>PT1M</LockDuration>
<MaxDeliveryCount>5</MaxDeliveryCount><DefaultRuleDescription><Filter i:type="SqlFilter">
<SqlExpression>(a = 1 OR b LIKE 'x%') AND NOT c IN (1, 2)</SqlExpression></Filter>
<Action i:type="SqlRuleAction"><SqlExpression>SET d = 2 + a</SqlExpression></Action>
<Name>r</Name></DefaultRuleDescription></SubscriptionDescription></content></entry>"""


JSON = b'{"entity": "q", "partition": 3, "advance": 1.5, "readings": {}, "tier": "standard"}'


PATHS = (
    *("/t/subscriptions/s", "/q", "/t/subscriptions/s/rules/r"),
    *("/$Resources/queues?$skip=0&$top=100", "/busproof/decisions?after=3"),
    *("/busproof/partitions/down", "/busproof/entities/restore", "/busproof/namespace"),
    "/health",
)


def asked(chance: random.Random) -> Request:
    """A request with something wrong about it."""
    path = bytearray(chance.choice(PATHS), "ascii")
    body = bytearray(chance.choice((XML, JSON, XML.replace(b"Subscription", b"Queue"))))
    for text in (path, body):
        for _ in range(chance.choice((0, 1, 1, 3))):
            change = chance.choice((flipped, cut, spliced, _repeated))
            text[:] = change(text, chance) or b"/"
    headers = {"host": "localhost", "authorization": TOKEN if chance.random() < 0.9 else "x"}
    if chance.random() < 0.2:
        headers["if-match"] = "*"
    method = chance.choice(("PUT", "PUT", "GET", "POST", "DELETE", "HEAD"))
    return Request(method, path.decode("latin-1"), headers, bytes(body), "127.0.0.1")


TOKEN = raw.token("sb://localhost/", fuzzing.NAME, fuzzing.KEY)


def is_open_to_all(request: Request) -> bool:
    """Whether this request, or one with this token, may be answered."""
    path = unquote(urlsplit(request.target).path)
    own = path == "/health" or path.startswith("/busproof/")
    return own or request.headers["authorization"] == TOKEN


def _repeated(text: bytearray, chance: random.Random) -> bytearray:
    """A piece of it comes ever so often, as brackets do that are never closed."""
    place, size = chance.randrange(len(text)), chance.choice((1, 1, 2, 30))
    text[place:place] = text[place : place + size] * chance.choice((10, 5_000))
    return text


def test_broken_atom_and_json_make_nothing_fail() -> None:
    """Each request is answered with a number and without a traceback, and what was there stays."""

    async def trying(trial: Trial) -> None:
        warned: list[str] = []
        administration = Administration(trial.hub, warned.append, Control(is_on=True))
        for trial.case in range(CASES // 8):
            chance = random.Random(trial.case)
            if trial.case % ANEW == 0:
                await trial.begin()
            request = asked(chance)
            try:
                answer = administration.answer(request)
            except Exception as error:  # noqa: BLE001 - whatever it is is what we look for
                trial.complain(f"{type(error).__name__}: {error}"[:300] + f" for {request}"[:600])
                continue
            assert 200 <= answer.status < 500, (trial.case, answer)
            assert answer.status >= 400 or is_open_to_all(request), (trial.case, answer)
            assert b"Traceback" not in answer.body
        health = administration.answer(Request("GET", "/health", {}, b""))
        assert 200 == health.status

    tried(trying)


@pytest.mark.parametrize(
    ("read", "sample"),
    [(read_configuration, SAMPLE), (read_rules, RULES)],
    ids=["configuration", "keys"],
)
def test_a_broken_file_is_said_to_be_broken(
    tmp_path: Path, read: Callable[[Any], object], sample: str
) -> None:
    """By an error of usage, or it is taken; nothing else comes of it."""
    path = tmp_path / "file"
    taken = refused = 0
    for case in range(CASES // 16):
        chance = random.Random(case)
        text = bytearray(sample, "utf-8")
        for _ in range(chance.choice((1, 1, 3))):
            change = chance.choice((flipped, cut, spliced, _repeated))
            text = change(text, chance)
        path.write_bytes(text)
        try:
            read(path if read is read_configuration else str(path))
            taken += 1
        except UsageError:
            refused += 1
    assert taken > 0
    assert refused > CASES // 32
