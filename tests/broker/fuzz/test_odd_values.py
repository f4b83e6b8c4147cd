"""Values that no field is made for, each found by a changed conversation."""

from typing import Any

import pytest
from proton import Data, Described, ubyte, uint, ulong
from proton import Message as ProtonMessage

from busproof.broker.amqp.encoding import binary
from busproof.broker.amqp.framing import Handshake
from busproof.broker.amqp.messages import parse
from busproof.broker.amqp.unreadable import decode_completely
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.configuration.durations import microseconds_in
from busproof.broker.configuration.emulator import Configuration

from .. import raw
from . import frames as f
from .test_fuzz import Trial, tried

pytestmark = pytest.mark.slow


HUGE = 10**13
"""As bytes, more than any machine has."""


def of(body: Any, **more: Any) -> bytes:
    return bytes(ProtonMessage(body=body, properties=more or None).encode())


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (ulong(HUGE), "a binary is expected"),
        ("text", "a binary is expected"),
        ([1], "a binary is expected"),
    ],
)
def test_a_number_is_no_binary_of_so_many_zeros(value: Any, said: str) -> None:
    """Found where Python's own conversion takes it for one; a binary of any kind is one."""
    with pytest.raises(ValueError, match=said):
        binary(value)
    assert [b"a"] * 3 == [binary(each) for each in (b"a", memoryview(b"a"), bytearray(b"a"))]


def test_a_login_by_a_number_is_refused() -> None:
    """Found as a login that asks for ten terabytes; nobody has to be known for it."""
    said = b"\xa3\x05PLAIN\x80" + HUGE.to_bytes(8, "big")
    init = b"\x00\x53\x41\xc0" + bytes([len(said) + 1, 2]) + said
    written: list[bytes] = []
    handshake = Handshake(AccessPolicies(Configuration().keys), written.append)
    assert handshake.feed(raw.SASL) == b""
    assert not handshake.failed
    handshake.feed((len(init) + 8).to_bytes(4, "big") + b"\x02\x01\x00\x00" + init)
    assert (True, False) == (handshake.failed, handshake.done)


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ([True, ubyte(255), uint(5)], True),
        ([], True),
        ([None, None, ulong(2**40)], False),
        ([None, 300, None], False),
        ([None, None, []], False),
        ([None, "high", None], False),
        ([3, None, None], False),
    ],
)
def test_a_header_is_as_amqp_has_it(header: list[Any], *, taken: bool) -> None:
    """Found as a time to live that is a list; what goes out again has to be what came."""
    tree = Data()
    tree.put_object(Described(ulong(0x70), header))
    if taken:
        content = parse(bytes(tree.encode()), "m", 0).content
        assert (5_000, 255) == (content.life, content.priority) or not header
        return
    with pytest.raises(ValueError, match=r"durable|priority|ttl"):
        parse(bytes(tree.encode()), "m", 0)


@pytest.mark.parametrize("deep", [30, 3_000])
def test_value_described_too_often_is_refused(deep: int) -> None:
    """Found as a traceback: it was followed to its end."""
    message = b"\x00\x53\x77" + b"\x00\x40" * deep + b"\x40"
    if deep < 32:
        assert parse(message, "m", 0).content.body == message
        return
    with pytest.raises(ValueError, match="described too often"):
        parse(message, "m", 0)


@pytest.mark.parametrize("key", [{"a": 1}, Described(ulong(1), [])], ids=["map", "described"])
def test_a_map_whose_keys_python_cannot_have_is_no_request(key: Any) -> None:
    """Found as a traceback: Proton makes a dictionary of it."""
    inner = Data()
    inner.put_object(key)
    body = bytes(inner.encode()) + b"\x40"
    whole = b"\x00\x53\x77\xc1" + bytes([len(body) + 1, 2]) + body
    with pytest.raises(ValueError, match="no AMQP message"):
        decode_completely(whole)
    assert {"a": 1} == decode_completely(of({"a": 1})).body


def test_a_filter_whose_keys_python_cannot_have_is_unreadable() -> None:
    """Found as a failure of ours: Proton makes a dictionary of a link's filters, too."""

    async def trying(trial: Trial) -> None:
        keyed = f.mapped(f.described(1, f.listed()), f.text("x"))
        _, wire = f.speaking(trial.hub, 1, f.attach("r", 0, receives="q", more=keyed))
        assert b"amqp:decode-error" in wire.said
        assert wire.is_over

    tried(trying)


@pytest.mark.parametrize(
    "time", ["PT" + "1" * 400 + "S", "P" + "9" * 16 + "D", "PT1." + "1" * 16 + "S"]
)
def test_a_duration_beyond_all_numbers_is_none(time: str) -> None:
    """Found as a number that Python has no whole one of."""
    assert microseconds_in(time) is None
    assert microseconds_in("P10675199DT2H48M5.4775807S") == 922_337_203_685_477_581
