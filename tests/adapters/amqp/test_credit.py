"""Over AMQP no more messages come than a receiver has given credit for (PART-13)."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import attrs
import pytest
from proton import Data, Described, ulong
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters.amqp.clients import Clients
from busproof.adapters.amqp.dialect import OVER_AMQP
from busproof.adapters.amqp.embedded import Embedded
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.scenario import Scenario, Setting
from busproof.adapters.amqp.target import Target
from busproof.judging.judge import Judge
from busproof.spec import load

pytestmark = pytest.mark.slow

FLOW, CREDIT = 0x13, 6
MORE = 2


def raise_credit(frame: bytes) -> bytes:
    """A frame in which a link's credit, if it gives any, is larger."""
    begins = frame[4] * 4
    tree = Data()
    if len(frame) <= begins:
        return frame
    tree.decode(frame[begins:])
    tree.rewind()
    tree.next()
    performative: Any = tree.get_object()
    if performative.descriptor != FLOW or not (performative.value[CREDIT:] or [0])[0]:
        return frame
    fields = list(performative.value)
    fields[CREDIT] = type(fields[CREDIT])(fields[CREDIT] + MORE)
    changed = Data()
    changed.put_object(Described(ulong(FLOW), fields))
    body = frame[8:begins] + bytes(changed.encode())
    return struct.pack(">I", 8 + len(body)) + frame[4:8] + body


def pass_on(source: socket.socket, sink: socket.socket, *, raises: bool) -> None:
    """Pass on what comes, until the end."""
    held = b""
    with suppress(OSError):
        while data := source.recv(65_536):
            held += data
            while len(held) >= 8:
                size = 8 if held.startswith(b"AMQP") else int.from_bytes(held[:4], "big")
                if len(held) < size:
                    break
                piece, held = held[:size], held[size:]
                is_frame = not piece.startswith(b"AMQP")
                sink.sendall(raise_credit(piece) if raises and is_frame else piece)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def generous(target: Target) -> Iterator[Target]:
    """A service that takes credit for more than it is."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def meet() -> None:
            client, _ = server.accept()
            service = socket.create_connection((target.host, target.port))
            ways = ((client, service, True), (service, client, False))
            for source, sink, raises in ways:
                how = {"raises": raises}
                threading.Thread(target=pass_on, args=(source, sink), kwargs=how).start()

        threading.Thread(target=meet, daemon=True).start()
        yield attrs.evolve(target, port=server.getsockname()[1])


def test_a_service_that_gives_more_than_there_is_credit_for_is_accused() -> None:
    broker = Embedded(("--clock", "virtual", "--message-ids", "as-sent"), PATIENCE)
    try:
        profile = v.profile_for(load())
        epoch = broker.begin(profile)
        entities = Entities(broker.target, PATIENCE)
        scenario = Scenario(Setting(entities=entities, epoch=epoch, now=lambda: 0))
        observability = v.Declaration(
            implementation=v.Implementation(name="generous"), capabilities=OVER_AMQP.of_broker
        ).observability
        judge = Judge(profile, observability)
        commands = [
            v.CreateQueue(queue="q"),
            *(v.Send(queue="q", message=v.Message(body=f"m{n}")) for n in range(8)),
            v.ReceiveBatch(queue="q", count=3),
        ]
        with generous(broker.target) as target:
            clients = Clients(target, PATIENCE)
            outcomes = [clients.ask(scenario, command, "c1") for command in commands]
            clients.close()
        entities.close()
    finally:
        broker.stop()
    came = outcomes[-1]
    assert isinstance(came, v.ReceivedSeveral)
    assert 3 + MORE == len(came.messages)
    events = (v.Event(command=c, outcome=o) for c, o in zip(commands, outcomes, strict=True))
    found = [judge.saw(event) for event in events]
    assert found[-1] is not None
    assert "PART-13" in found[-1].rules
