"""What one client may have of the broker: connections, links, and bytes that it waits for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from proton import ConnectionException, Delivery, Message
from proton.utils import BlockingConnection, LinkDetached

from busproof.broker import engine, intake
from busproof.model.commands import CreateQueue

from .inside import Inside, inside
from .test_wire import LOGIN

pytestmark = pytest.mark.slow


@contextmanager
def connected(served: Inside) -> Iterator[BlockingConnection]:
    connection = BlockingConnection(f"amqp://127.0.0.1:{served.broker.port}", timeout=20, **LOGIN)
    try:
        yield connection
    finally:
        connection.close()


def send(connection: BlockingConnection, body: bytes) -> bool:
    sent = connection.create_sender("q").send(Message(body, inferred=True))
    return bool(sent.remote_state == Delivery.ACCEPTED)


def test_nobody_waits_for_the_end_of_what_is_far_too_large() -> None:
    """The connection ends; those of others do not."""
    with inside(CreateQueue(queue="q")) as served, connected(served) as other:
        with pytest.raises(ConnectionException, match="at most 4194304 are taken"):
            connection = BlockingConnection(
                f"amqp://127.0.0.1:{served.broker.port}", timeout=20, **LOGIN
            )
            send(connection, b"x" * (intake.MOST_KEPT + 1_000))
        assert send(other, b"small")


def test_a_connection_has_so_many_links_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is refused; once one is closed there may be another."""
    monkeypatch.setattr(engine, "MOST_LINKS", 2)
    with inside(CreateQueue(queue="q")) as served, connected(served) as connection:
        first = connection.create_sender("q", name="first")
        connection.create_sender("q", name="second")
        with pytest.raises(LinkDetached, match="resource-limit-exceeded"):
            connection.create_sender("q", name="third")
        first.close()
        connection.create_sender("q", name="fourth")


def test_there_are_so_many_connections_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is not let in; once one has ended another may come."""
    monkeypatch.setattr(engine, "MOST_CONNECTIONS", 1)
    with inside(CreateQueue(queue="q")) as served:
        with connected(served) as first:
            with pytest.raises(ConnectionException), connected(served):
                pass
            assert send(first, b"still there")
        while served.hub.connections:
            time.sleep(0.01)
        with connected(served) as second:
            assert send(second, b"there now")
