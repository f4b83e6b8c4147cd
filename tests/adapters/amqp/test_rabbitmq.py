"""A broker that nobody here wrote and that has no dialect: RabbitMQ with its AMQP 1.0 plugin."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import message_of
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters.amqp.plain import PlainAdapter
from busproof.adapters.amqp.target import target_of
from busproof.spec import load

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""Debian's, without the script around it that wants a system service."""

pytestmark = [pytest.mark.slow, pytest.mark.needs("rabbitmq")]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a RabbitMQ of our own listens, in a folder of its own."""
    home, port = tmp_path_factory.mktemp("rabbitmq"), free_port()
    (home / "enabled").write_text("[rabbitmq_amqp1_0].\n", encoding="utf-8")
    settings = {
        "HOME": str(home),
        "RABBITMQ_NODENAME": f"busproof{port}@localhost",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(home / "mnesia"),
        "RABBITMQ_LOG_BASE": str(home / "log"),
        "RABBITMQ_CONFIG_FILE": str(home / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "enabled"),
    }
    with (home / "out").open("w") as out:
        server = subprocess.Popen(
            [SERVER], env=os.environ | settings, stdout=out, stderr=out, start_new_session=True
        )
    try:
        wait_for(port, home / "out")
        yield port
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)


def wait_for(port: int, out: Path) -> None:
    end = time.monotonic() + 120
    while "completed" not in out.read_text():
        assert time.monotonic() < end, out.read_text()
        time.sleep(0.2)
    socket.create_connection(("127.0.0.1", port), 20).close()


@pytest.fixture
def adapter(port: int) -> Iterator[PlainAdapter]:
    target = target_of(f"amqp://guest:guest@127.0.0.1:{port}?dialect=plain")
    adapter = PlainAdapter(target, timeout=PATIENCE, run=f"r{time.time_ns():x}"[-8:])
    adapter.start(v.profile_for(load()))
    yield adapter
    adapter.stop()


def test_messages_are_sent_received_and_settled(adapter: PlainAdapter) -> None:
    whole = v.Message(body="one", message_id="x", subject="s", properties={"a": 1, "b": "c"})
    assert adapter.do(v.CreateQueue(queue="q"), "c1").outcome == v.Done()
    for message in (whole, v.Message(body="two")):
        assert adapter.do(v.Send(queue="q", message=message), "c1").outcome == v.Done()
    first = message_of(adapter.do(v.Receive(queue="q"), "c1").outcome)
    assert (first.body, first.message_id, first.subject) == ("one", "x", "s")
    assert dict(first.properties) == {"a": 1, "b": "c"}
    completion = v.Complete(queue="q", lock_token=first.lock_token or "")
    assert adapter.do(completion, "c1").outcome == v.Done()
    assert isinstance(adapter.do(completion, "c1").outcome, v.Refused)
    second = message_of(adapter.do(v.Receive(queue="q"), "c2").outcome)
    assert isinstance(adapter.do(v.Receive(queue="q"), "c1").outcome, v.Empty)
    adapter.do(v.Abandon(queue="q", lock_token=second.lock_token or ""), "c2")
    for_good = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert message_of(adapter.do(for_good, "c1").outcome).body == "two"
    assert isinstance(adapter.do(for_good, "c1").outcome, v.Empty)


def test_requests_that_amqp_does_not_know_are_unsupported(adapter: PlainAdapter) -> None:
    assert isinstance(adapter.do(v.Peek(queue="q"), "c1").outcome, v.Unsupported)
    assert len(adapter.declaration.capabilities) == 3
    assert adapter.declaration.implementation.name == "RabbitMQ"
