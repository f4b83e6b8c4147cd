"""What a broker without a dialect calls itself."""

import socket
import threading
from collections.abc import Iterator

import pytest
from proton import symbol
from proton.handlers import MessagingHandler
from proton.reactor import Container
from work import PATIENCE

from busproof.adapters.amqp.plain import PlainAdapter
from busproof.adapters.amqp.target import target_of


class Named(MessagingHandler):
    """Lets everybody in, and says what it is."""

    def __init__(self, port: int, properties: dict[str, object]) -> None:
        super().__init__()
        self.address = f"127.0.0.1:{port}"
        self.properties = {symbol(name): value for name, value in properties.items()}
        self.listens = threading.Event()
        self.ends = threading.Event()

    def on_start(self, event) -> None:
        self.acceptor = event.container.listen(self.address)
        self.listens.set()
        event.container.schedule(0.05, self)

    def on_timer_task(self, event) -> None:
        """Look whether it is over."""
        if self.ends.is_set():
            self.acceptor.close()
            event.container.stop()
        else:
            event.container.schedule(0.05, self)

    def on_connection_opening(self, event) -> None:
        event.connection.properties = self.properties


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def named(port: int) -> tuple[str, str]:
    """What the adapter says that its broker is."""
    target = target_of(f"amqp://127.0.0.1:{port}?dialect=plain")
    implementation = PlainAdapter(target, timeout=PATIENCE, run="r").declaration.implementation
    return implementation.name, implementation.version


@pytest.fixture
def name(request) -> Iterator[tuple[str, str]]:
    broker = Named(free_port(), request.param)
    serving = threading.Thread(target=Container(broker).run, daemon=True)
    serving.start()
    assert broker.listens.wait(PATIENCE)
    yield named(int(broker.address.partition(":")[2]))
    broker.ends.set()
    serving.join(PATIENCE)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ({"product": "RabbitMQ", "version": "3.10.8", "platform": "x"}, ("RabbitMQ", "3.10.8")),
        ({"product": "A\nB\x1b[2J" + "c" * 99}, ("AB[2J" + "c" * 55, "")),
        ({"version": 7}, ("AMQP 1.0 broker", "7")),
        ({}, ("AMQP 1.0 broker", "")),
    ],
    indirect=["name"],
    ids=["named", "hostile", "version alone", "nothing"],
)
def test_a_broker_has_the_name_that_it_gives_itself(name, expected) -> None:
    assert expected == name


def test_one_that_cannot_be_reached_has_no_name() -> None:
    assert ("AMQP 1.0 broker", "") == named(free_port())
