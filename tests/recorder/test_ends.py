"""Ends that nobody wants: kills, full disks, lost connections, slow readers, and nonsense."""

import errno
import signal
import socket
import threading
from io import FileIO
from pathlib import Path

import pytest
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus import ServiceBusReceiver
from azure.servicebus.exceptions import ServiceBusError
from work import PATIENCE, until

from busproof import vocabulary as v
from busproof.broker.embedding import Embedded
from busproof.errors import HistoryError
from busproof.history.files import load, read
from busproof.history.recordings import OPEN_REQUESTS, parts_of
from busproof.recorder import journal as journal_module
from busproof.recorder import open_requests
from busproof.recorder.journal import Journal, Rolling

from .conftest import HOST, Recorded, Start, header, ports_to, recorded, taken, violated

pytestmark = pytest.mark.slow
SEND = v.Send(queue="q", message=v.Message(body="m"))
HELLO = b"AMQP\x03\x01\x00\x00"


def events_in(folder: Path) -> list[v.Event]:
    """The events of a recording, whose proxy may have been killed."""
    (scenario,) = load(folder).scenarios
    return list(scenario.events)


def opened(folder: Path, rolling: Rolling | None = None) -> Journal:
    """A journal in a new folder."""
    return Journal(folder, header(), rolling or Rolling())


def test_a_request_that_was_passed_on_is_found_after_a_kill(tmp_path: Path) -> None:
    """Of those that were answered, the answer; of the other, that there was none."""
    journal = opened(tmp_path / "out")
    answered = journal.begin("c1", "c1", v.CreateQueue(queue="q"))
    journal.end(answered, v.Done())
    journal.begin("c1", "c1", SEND)
    journal.flush()
    events = events_in(tmp_path / "out")
    assert [v.Done(), v.Indeterminate()] == [event.outcome for event in events]
    assert SEND == events[1].command
    assert events[1].returned is None


def test_half_a_line_is_left_out_and_its_request_is_not(tmp_path: Path) -> None:
    """The kill came while the answer was written, which therefore was not passed on."""
    journal = opened(tmp_path / "out")
    journal.begin("c1", "c1", SEND)
    journal.flush()
    with (tmp_path / "out" / "recording-000001.jsonl").open("a") as file:
        file.write('{"record":"event","client":"c1"')
    assert [v.Indeterminate()] == [event.outcome for event in events_in(tmp_path / "out")]


def test_a_recording_that_goes_on_can_be_read(tmp_path: Path) -> None:
    """What it has passed on is found, answered or not, whatever happens while it is read."""
    journal = opened(tmp_path / "out")
    first = journal.begin("c1", "c1", SEND)
    journal.end(journal.begin("c2", "c2", v.CreateQueue(queue="q")), v.Done())
    journal.flush()
    reader = read(tmp_path / "out")
    next(reader)
    assert isinstance(next(reader), v.Event)
    journal.end(first, v.Done())
    meanwhile = journal.begin("c3", "c3", v.Send(queue="q", message=v.Message(body="n")))
    journal.end(journal.begin("c4", "c4", v.DeleteQueue(queue="q")), v.Done())
    journal.flush()
    found = {event.client: event.outcome for event in reader}
    assert meanwhile.client in found
    assert v.Indeterminate() == found["c3"]
    assert {"c1", "c3", "c4"} == set(found)


def test_open_requests_take_bounded_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_requests, "ROOM", 2_000)
    journal = opened(tmp_path / "out")
    journal.begin("c1", "c1", SEND)
    for _ in range(50):
        journal.end(journal.begin("c2", "c2", v.CreateQueue(queue="p")), v.Done())
        journal.flush()
    assert (tmp_path / "out" / OPEN_REQUESTS).stat().st_size < 3_000
    assert 51 == len(events_in(tmp_path / "out"))
    assert SEND == events_in(tmp_path / "out")[-1].command


def test_requests_that_overlap_have_clients_of_their_own(tmp_path: Path) -> None:
    journal = opened(tmp_path / "out")
    first, second = (journal.begin("c1", "c1", SEND) for _ in range(2))
    journal.end(first, v.Done())
    third = journal.begin("c1", "c1", SEND)
    assert ["c1", "c1~2", "c1"] == [call.client for call in (first, second, third)]


def test_a_recording_goes_on_in_further_files(recording: Recorded, tmp_path: Path) -> None:
    journal = opened(tmp_path / "parts", Rolling(size=4_000))
    for number in range(40):
        command = v.CreateQueue(queue=f"q{number}")
        journal.end(journal.begin("c1", "c1", command), v.Done())
        journal.flush()
    journal.close()
    parts = parts_of(tmp_path / "parts")
    assert len(parts) > 2
    assert [".gz"] * (len(parts) - 1) == [path.suffix for path in parts[:-1]]
    assert [f"q{number}" for number in range(40)] == [
        event.command.queue for event in events_in(tmp_path / "parts")
    ]
    assert not (tmp_path / "parts" / OPEN_REQUESTS).exists()
    recording.stop()
    with pytest.raises(HistoryError, match="is not empty; name a new folder"):
        opened(recording.folder)


def test_files_roll_by_time(tmp_path: Path) -> None:
    journal = opened(tmp_path / "out", Rolling(seconds=0))
    for _ in range(3):
        journal.end(journal.begin("c1", "c1", SEND), v.Done())
        journal.flush()
    journal.close()
    assert 4 == len(parts_of(tmp_path / "out"))


def test_a_full_disk_ends_the_recording_with_a_sentence(recording: Recorded, monkeypatch) -> None:
    """The client learns nothing that is not in the files, where its request has no answer."""
    with recording.administration() as admin:
        admin.create_queue("q", enable_partitioning=True)
    whole = journal_module._put
    with recording.client() as client, client.get_queue_sender("q") as sender:
        sender.send_messages(Message("kept"))

        def full(file: FileIO, data: bytes) -> None:
            if b'"outcome":{"type":"Done"}' in data:
                raise OSError(errno.ENOSPC, "No space left on device")
            whole(file, data)

        monkeypatch.setattr(journal_module, "_put", full)
        with pytest.raises(ServiceBusError):
            sender.send_messages(Message("lost"), timeout=PATIENCE)
    recording.stop()
    sentence = f"cannot write the recording in {recording.folder}: No space left on device"
    assert f"{sentence}; all connections were ended" == recording.said[-1]
    created, kept, lost = events_in(recording.folder)
    assert (v.Done(), v.Done()) == (created.outcome, kept.outcome)
    assert (v.Send, v.Indeterminate()) == (type(lost.command), lost.outcome)


def test_a_lost_connection_leaves_its_requests_unanswered(
    broker: Embedded, recording: Recorded
) -> None:
    """Messages may have been given, and the session may have been released."""
    with recording.administration() as admin:
        admin.create_queue("q", requires_session=True, enable_partitioning=True)
    with recording.client() as client:
        with client.get_queue_sender("q") as sender:
            sender.send_messages(Message("m", session_id="s"))
        receiver = client.get_queue_receiver("q", session_id="s", prefetch_count=5)
        with receiver:
            taken(receiver, 1)
            broker.begin()
            until(lambda: not recording.recording._proxy._pipes)
    events = recording.events()
    unanswered = [event for event in events if isinstance(event.outcome, v.Indeterminate)]
    kinds = {type(event.command) for event in unanswered}
    assert {v.ReceiveBatch, v.CloseSession} <= kinds
    assert all(event.returned is None for event in unanswered)
    assert [] == violated(recording.verdict())


def test_nonsense_ends_its_connection_alone(recording: Recorded) -> None:
    """With a sentence: what cannot be read cannot be recorded."""
    with recording.administration() as admin:
        admin.create_queue("q")
    with recording.client() as client, client.get_queue_sender("q") as sender:
        for nonsense in (b"hello world", HELLO + b"\0\0\0\x03nonsense"):
            with socket.create_connection((HOST, recording.port), timeout=PATIENCE) as talker:
                talker.sendall(nonsense)
                while talker.recv(4096):
                    pass
        sender.send_messages(Message("fine"))
    assert ["spoke neither AMQP nor HTTP" in recording.said[0]] == [True]
    assert "a frame says that it has 3 bytes" in recording.said[1]
    assert [v.Done()] * 2 == [event.outcome for event in recording.events()]


def test_a_service_that_is_not_there_is_named(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind((HOST, 0))
        port = unused.getsockname()[1]
    with (
        recorded(tmp_path / "out", ports_to(port, port)) as recording,
        socket.create_connection((HOST, recording.port), timeout=PATIENCE) as talker,
    ):
        talker.sendall(HELLO)
        assert b"" == talker.recv(4096)
    assert f"cannot reach {HOST}:{port}" in recording.said[0]


def test_a_client_that_does_not_read_is_not_read_for(tmp_path: Path) -> None:
    """A service that writes without end is stopped; the memory of the proxy is bounded."""
    with socket.create_server((HOST, 0)) as listening:
        port = listening.getsockname()[1]
        with (
            recorded(tmp_path / "out", ports_to(port, port)) as recording,
            socket.create_connection((HOST, recording.port), timeout=PATIENCE) as talker,
        ):
            talker.sendall(HELLO)
            service, _ = listening.accept()
            service.settimeout(0.5)
            heartbeats = (b"\0\0\0\x08\x02\0\0\0") * 8_192
            written = 0
            with pytest.raises(TimeoutError), service:
                while written < 512 * 1024 * 1024:
                    written += service.send(heartbeats)
    assert 0 < written < 64 * 1024 * 1024


def test_a_killed_proxy_leaves_what_it_has_passed_on(start: Start) -> None:
    """Also the credit that a receiver gave: the service may have given it a message."""
    pair = start()
    pair.create_queue("q", enable_partitioning=True)
    with pair.client() as client, client.get_queue_sender("q") as sender:
        sender.send_messages(Message("kept"))
        receiver = client.get_queue_receiver("q", prefetch_count=3)
        waiting = threading.Thread(target=_received, args=(receiver,))
        waiting.start()
        until(lambda: b'"ReceiveBatch"' in (pair.folder / OPEN_REQUESTS).read_bytes())
        pair.process.send_signal(signal.SIGKILL)
        pair.process.wait(PATIENCE)
        waiting.join(PATIENCE)
    created, sent, *rest = events_in(pair.folder)
    assert (v.CreateQueue, v.Send) == (type(created.command), type(sent.command))
    assert isinstance(rest[-1].command, v.ReceiveBatch | v.Receive)
    assert v.Indeterminate() == rest[-1].outcome


def _received(receiver: ServiceBusReceiver) -> None:
    try:
        with receiver:
            while True:
                receiver.receive_messages(1, max_wait_time=PATIENCE)
    except ServiceBusError:
        return
