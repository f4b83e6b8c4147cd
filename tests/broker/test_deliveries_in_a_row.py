"""Deliveries that come in a row, which the broker handles together, step by step."""

from typing import Any

import pytest
from proton import Described, Message

from busproof.vocabulary.commands import CreateQueue

from .fuzz import frames as f
from .inside import inside
from .test_full_lists import frames, performative

pytestmark = pytest.mark.slow

ACCEPTED, REJECTED = 0x24, 0x25
ONE = bytes(Message(b"body", inferred=True).encode())
IN_SESSION = bytes(Message(b"body", inferred=True, group_id="g").encode())
QUEUES = CreateQueue(queue="q", partitioned=True), CreateQueue(queue="s", requires_session=True)


def settled(number: int, *, settles: bool = True, state: bytes = f.ACCEPT) -> bytes:
    """A receiver's disposition of one delivery."""
    return f.frame(
        f.DISPOSITION, f.TRUE, f.uint(number), f.NULL, f.TRUE if settles else f.FALSE, state
    )


def heard(client: f.Peer, wanted: int, code: int) -> list[list[Any]]:
    """The fields of the broker's frames of this kind, once there are as many or no more come."""
    while True:
        found = [fields for kind, fields in map(performative, frames(client.said)) if kind == code]
        before = len(client.said)
        if sum(_amount(fields) if code == f.DISPOSITION else 1 for fields in found) >= wanted:
            return found
        client.read_some()
        assert len(client.said) > before, found


def _amount(fields: list[Any]) -> int:
    return 1 if fields[2] is None else int(fields[2] - fields[1] + 1)


def outcomes(client: f.Peer, wanted: int) -> dict[int, int]:
    """The state in which each delivery was settled, by its id."""
    states: dict[int, int] = {}
    for _, first, last, is_settled, state, *_ in heard(client, wanted, f.DISPOSITION):
        assert is_settled
        assert isinstance(state, Described)
        ids = range(first, (first if last is None else last) + 1)
        assert not states.keys() & ids
        states |= dict.fromkeys(ids, int(state.descriptor))
    return states


def test_each_of_several_sends_in_a_row_gets_its_own_answer() -> None:
    """One is not AMQP, and one is refused by the model; those before and behind are accepted."""
    links = f.attach("a", 0, sends="q") + f.attach("b", 1, sends="s")
    with inside(*QUEUES) as broker, f.peer(broker.broker.port, f.begin(), links) as client:
        client.read(b"\x00\x53\x13")
        client.say(
            f.transfer(0, ONE),
            f.transfer(1, ONE[:-1]),
            f.transfer(2, ONE),
            f.transfer(3, ONE, handle=1),
            f.transfer(4, IN_SESSION, handle=1),
            f.transfer(5, ONE),
        )
        expected = dict.fromkeys((0, 2, 4, 5), ACCEPTED) | dict.fromkeys((1, 3), REJECTED)
        assert expected == outcomes(client, 6)
        assert 3 == len(broker.hub.bus.namespace.entities["q"].messages)


def test_more_sends_in_a_row_than_are_decided_together_are_all_accepted() -> None:
    with (
        inside(*QUEUES) as broker,
        f.peer(broker.broker.port, f.begin(), f.attach("a", 0, sends="q")) as client,
    ):
        client.read(b"\x00\x53\x13")
        client.say(*[f.transfer(number, ONE) for number in range(170)])
        assert dict.fromkeys(range(170), ACCEPTED) == outcomes(client, 170)
        assert 170 == len(broker.hub.bus.namespace.entities["q"].messages)


def test_settlements_in_a_row_take_effect_once() -> None:
    """Accepted without being settled, then settled, some of them twice, all in one piece."""
    links = f.attach("a", 0, sends="q") + f.attach("b", 1, receives="q")
    with inside(*QUEUES) as broker, f.peer(broker.broker.port, f.begin(), links) as client:
        client.read(b"\x00\x53\x13")
        client.say(*[f.transfer(number, ONE) for number in range(6)])
        outcomes(client, 6)
        client.say(f.flow(6, handle=1))
        ids = [fields[1] for fields in heard(client, 6, f.TRANSFER)]
        accepted = [settled(number, settles=False) for number in ids]
        again = [settled(number) for number in (ids[1], ids[1], *ids[:4])]
        gone = [settled(number, state=f.NULL) for number in ids]
        client.say(*accepted, *again, *gone, f.transfer(6, ONE), f.transfer(7, ONE))
        while 7 not in outcomes(client, 0):
            client.read_some()
        assert not client.is_over
        entity = broker.hub.bus.namespace.entities["q"]
        assert 2 == len(entity.messages)
        assert not broker.hub.tallies.of(entity).locked


def test_sessions_that_are_asked_for_amid_sends_are_each_given_once() -> None:
    """Who asks for the next session in the middle of much else is given one, and leaves another."""
    any_session = f.mapped(f.symbol("com.microsoft:session-filter"), f.NULL)
    sent = [
        f.transfer(n, bytes(Message(b"body", inferred=True, group_id=f"s{n % 2}").encode()))
        for n in range(200)
    ]
    with (
        inside(*QUEUES) as broker,
        f.peer(broker.broker.port, f.begin(), f.attach("s", 0, sends="s")) as client,
    ):
        client.read(b"\x00\x53\x13")
        client.say(*sent[:2])
        outcomes(client, 2)
        first, second = (f.attach(f"r{n}", n, receives="s", more=any_session) for n in (1, 2))
        client.say(first, *sent[2:100], second, *sent[100:])
        attached = heard(client, 3, f.ATTACH)
        given = [source.value[7].values() for _, _, _, _, _, source, *_ in attached[1:]]
        assert ["s0", "s1"] == sorted(str(name) for names in given for name in names)
        assert dict.fromkeys(range(200), ACCEPTED) == outcomes(client, 200)
