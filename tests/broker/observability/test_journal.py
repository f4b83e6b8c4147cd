"""What a broker writes of what happens: lines that a program reads, and no secret among them."""

import io
import json
import logging
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus import exceptions as errors
from embedded_clients import client as embedded_client
from work import PATIENCE

from busproof.broker.embedding import embedded
from busproof.broker.observability.event_log import LONGEST, journal
from busproof.errors import UsageError

from ..conftest import SETTINGS, Served, Start, administration, running

FREE = ("--port", "0", "--admin-port", "0")
SECRETS = ("SAS_KEY_VALUE", "wrong-key", "mouth", "sig=", "SharedAccessSignature", "secret body")
"""Keys, tokens and bodies that are sent in these tests."""


def lines(text: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines()]
    assert all(list(each)[:3] == ["time", "level", "event"] for each in found)
    assert [each["time"] for each in found] == sorted(each["time"] for each in found)
    return found


def ended(served: Served) -> None:
    served.process.send_signal(signal.SIGTERM)
    served.process.communicate(timeout=PATIENCE)


def use(served: Served) -> None:
    """Send and receive, be refused, and administer."""
    with served.client() as found:
        with found.get_queue_sender("parted") as sender:
            sender.send_messages(ServiceBusMessage("secret body", message_id="secret body id"))
        with found.get_queue_receiver("parted", max_wait_time=PATIENCE) as receiver:
            receiver.complete_message(receiver.receive_messages(1)[0])
        with pytest.raises(errors.ServiceBusError), found.get_queue_sender("none") as sender:
            sender.send_messages(ServiceBusMessage("secret body"))
    with (
        served.client_of("sender", "mouth") as found,
        pytest.raises(errors.ServiceBusAuthorizationError),
        found.get_queue_receiver("parted", max_wait_time=0.5) as receiver,
    ):
        receiver.receive_messages(1)
    text = served.connection_string.replace("SAS_KEY_VALUE", "wrong-key")
    with (
        ServiceBusClient.from_connection_string(text, **SETTINGS) as found,
        pytest.raises((errors.ServiceBusAuthenticationError, errors.ServiceBusAuthorizationError)),
        found.get_queue_sender("parted") as sender,
    ):
        sender.send_messages(ServiceBusMessage("secret body"))
    served.ask("/busproof/partitions/down", entity="parted", partition=3)
    with administration(served) as admin:
        admin.create_queue("made")
        admin.delete_queue("made")


@pytest.mark.slow
def test_log_has_events_but_no_secrets(start: Start, tmp_path: Path) -> None:
    """Connections from their begin to their end, what was refused and why, outages, changes."""
    path = tmp_path / "log"
    served = start("--log", str(path))
    use(served)
    ended(served)
    text = path.read_text(encoding="utf-8")
    entries = lines(text)
    assert not [each for each in SECRETS if each in text]
    events = [each["event"] for each in entries]
    assert ("started", "stopped") == (events[0], events[-1])
    assert served.port == entries[0]["port"]
    connections = {each["connection"] for each in entries if each["event"] == "connected"}
    assert 3 <= len(connections)
    assert connections == {
        each["connection"] for each in entries if each["event"] == "disconnected"
    }
    assert {"token-taken", "connection-opened", "link-attached", "link-ended"} <= set(events)
    refusals = [each for each in entries if each["event"] == "link-refused"]
    assert {"amqp:unauthorized-access"} == {each["condition"] for each in refusals}
    missing, wrong = [each for each in entries if each["event"] == "token-refused"]
    assert "none" in missing["said"]
    assert ("warning", True) == (wrong["level"], "invalid signature" in wrong["said"])
    [down] = [each for each in entries if each["event"] == "partition-down"]
    assert ("parted", 3) == (down["entity"], down["partition"])
    administered = [(each["method"], each["path"]) for each in entries if each["event"] == "http"]
    assert ("PUT", "/made") in administered
    assert ("DELETE", "/made") in administered


@pytest.mark.slow
def test_the_output_has_nothing_but_lines(config: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "busproof", "serve", *FREE, "--config", str(config), "--log", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    running(process)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    assert ["started", "stopped"] == [each["event"] for each in lines(output)]


@pytest.mark.slow
@pytest.mark.needs("full-device")
def test_a_log_that_cannot_be_written_stops_nobody(start: Start) -> None:
    served = start("--log", "/dev/full")
    with served.client() as found, found.get_queue_sender("parted") as sender:
        sender.send_messages(ServiceBusMessage("a"))
    served.process.send_signal(signal.SIGTERM)
    assert served.process.stderr is not None
    # Some of it may have been read ahead, which `communicate` would not know.
    said = served.said + served.process.stderr.read()
    assert 1 == said.count("the log cannot be written")
    assert 0 == served.process.wait(PATIENCE)


def test_a_log_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write the log .*/none/log: No such file"):
        journal(tmp_path / "none" / "log", io.StringIO(), print)


def test_client_name_in_the_log_is_one_short_line() -> None:
    output = io.StringIO()
    journal(None, output, print).info("connected", client="a\nb\x1b[2J%s\ud800" + "x" * 1_000)
    [entry] = lines(output.getvalue())
    assert entry["client"].startswith("a\nb\x1b[2J%s")
    assert LONGEST == len(entry["client"])
    assert output.getvalue().isascii()
    assert output.getvalue().rstrip("\n").isprintable()


def test_a_file_that_can_be_written_again_is(capsys: pytest.CaptureFixture[str]) -> None:
    class Moody(io.StringIO):
        fails = False

        def flush(self) -> None:
            if self.fails:
                raise OSError(28, "No space left on device")

    output = Moody()
    log = journal(None, output, print)
    for fails in (False, True, True, False, True):
        output.fails = fails
        log.info("tick")
    assert 2 == capsys.readouterr().out.count("No space left on device")


@pytest.mark.slow
def test_a_broker_within_a_program_logs_where_that_does(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "busproof.broker"), embedded() as bus:
        bus.queue("orders")
        with embedded_client(bus) as found, found.get_queue_sender("orders") as sender:
            sender.send_messages(ServiceBusMessage("secret body"))
    assert "link-attached" in caplog.text
    assert not [each for each in SECRETS if each in caplog.text]
