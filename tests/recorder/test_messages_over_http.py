"""Messages over HTTP pass through a recording, which leaves out what it does not know whole."""

from pathlib import Path

import pytest
from azure.servicebus import ServiceBusReceiveMode

from busproof import vocabulary as v
from busproof.broker.embedding import Embedded

from ..broker.rest.speaking import speaker
from .conftest import HOST, admin_port_of, ports_to, recorded, taken

pytestmark = pytest.mark.slow


def test_an_entity_is_left_out_once_messages_go_over_http(broker: Embedded, tmp_path: Path) -> None:
    """Else what HTTP sent would come from nowhere; the entities beside it are recorded."""
    ports = ports_to(broker.port, admin_port_of(broker))
    with recorded(tmp_path / "out", ports) as recording:
        for queue in ("q", "other"):
            recording.administration().create_queue(queue)
        with speaker(f"http://{HOST}:{recording.admin_port}") as http:
            assert 201 == http.send("q", "a").status
            assert 204 == http.take("other/$DeadLetterQueue").status
            assert 201 == http.send("q", "b").status
            assert b"a" == http.take("q").body
        mode = ServiceBusReceiveMode.RECEIVE_AND_DELETE
        with (
            recording.client() as client,
            client.get_queue_receiver("q", receive_mode=mode) as receiver,
        ):
            assert ["b"] == [str(message) for message in taken(receiver, 1)]
        recording.stop()
        assert any("messages over HTTP" in said for said in recording.said)
        commands = [event.command for event in recording.events()]
        assert [v.CreateQueue(queue="q"), v.CreateQueue(queue="other")] == [
            v.CreateQueue(queue=command.queue)
            for command in commands
            if isinstance(command, v.CreateQueue)
        ]
        assert not any(isinstance(command, v.Receive | v.DeleteQueue) for command in commands)
        assert "violated" not in {verdict.verdict for verdict in recording.verdict().rules}
