"""A namespace that somebody else runs: only our own entities, announced before, removed after."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters.amqp.embedded import Embedded
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.remote import RemoteAdapter, redact
from busproof.adapters.amqp.run_names import RUN, is_of_a_run, prefix_of
from busproof.adapters.amqp.target import Target, target_of
from busproof.adapters.finding import find
from busproof.cli.main import main
from busproof.errors import AdapterError, UsageError
from busproof.spec import load

pytestmark = pytest.mark.slow

ALONE = ("--clock", "real", "--message-ids", "as-sent")
FOREIGN = "orders"
RUN_NAME = "test1234"


@pytest.fixture(scope="module")
def service() -> Iterator[Embedded]:
    """A broker in real time, with an entity that is none of ours."""
    broker = Embedded(ALONE, timeout=PATIENCE)
    entities = Entities(broker.target, 30)
    entities.put(FOREIGN, "QueueDescription", {})
    entities.close()
    yield broker
    broker.stop()


def adapter_for(target: Target, timeout: float = PATIENCE) -> RemoteAdapter:
    return RemoteAdapter(target, timeout, RUN_NAME)


def names_at(target: Target) -> list[str]:
    entities = Entities(target, 30)
    try:
        return sorted([*entities.names("$Resources/queues"), *entities.names("$Resources/topics")])
    finally:
        entities.close()


def address_of(target: Target) -> str:
    return (
        f"Endpoint=sb://{target.host}:{target.port};SharedAccessKeyName={target.key_name};"
        f"SharedAccessKey={target.key};UseDevelopmentEmulator=true;AdminEndpoint={target.admin};"
        "ReceiveWait=0"
    )


def test_capabilities_of_a_service_are_found_out(service: Embedded) -> None:
    """Without a witness, in real time; what was made for that is removed."""
    adapter = adapter_for(service.target)
    declared = adapter.declaration
    adapter.stop()
    assert declared.clock is v.Clock.REAL
    assert declared.slack > 0
    assert {
        v.Capability.SESSIONS,
        v.Capability.TRANSACTIONS,
        v.Capability.SQL_FILTERS,
        v.Capability.DEFERRAL,
        v.Capability.LOCK_RENEWAL,
        v.Capability.TRANSACTIONAL_SETTLEMENT,
        v.Capability.BATCHES,
        v.Capability.RECEIVE_BATCHES,
    } <= declared.capabilities
    assert not declared.capabilities & {
        v.Capability.CLIENT_LIBRARY,
        v.Capability.WITNESS,
        v.Capability.OUTAGES,
        v.Capability.DISPOSABLE_NAMESPACE,
    }
    assert names_at(service.target) == [FOREIGN]


@pytest.mark.parametrize("number", [2, 4])
def test_partitions_of_a_namespace_are_found_out(number: int) -> None:
    """A run for another kind of namespace does not begin, and what was made is removed."""
    options = ("--tier", "premium", "--namespace-partitions", str(number))
    broker = Embedded((*ALONE, *options), timeout=PATIENCE)
    try:
        adapter = adapter_for(broker.target)
        assert v.Capability.REGULAR_QUEUES in adapter.declaration.capabilities
        with pytest.raises(UsageError, match=f"say --namespace-partitions {number}"):
            adapter.start(v.profile_for(load(), tier="premium"))
        adapter.start(v.profile_for(load(), tier="premium", namespace_partitions=number))
        assert adapter.do(v.CreateQueue(queue="q"), "c1").outcome == v.Done()
        refused = adapter.do(v.CreateQueue(queue="r", partitioned=False), "c1").outcome
        adapter.stop()
        assert [] == names_at(broker.target)
    finally:
        broker.stop()
    assert isinstance(refused, v.Refused)
    assert "SubCode=40000" in refused.detail


def test_service_that_assigns_message_ids_is_judged_as_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `busproof serve` does by default; a run on it is in order."""
    broker = Embedded(("--clock", "real"), timeout=PATIENCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUS", address_of(broker.target))
    rules = ("--rule", "KEY-13", "--rule", "LIFE-02")
    try:
        code = main(["run", "--adapter", "env:BUS", "--yes", *rules])
    finally:
        broker.stop()
    assert 0 == code, capsys.readouterr().out
    assert "2 of 2 applicable rules shown" in capsys.readouterr().out


def test_only_entities_of_the_run_are_seen_and_removed(service: Embedded) -> None:
    adapter = adapter_for(service.target)
    for number in (1, 2):
        adapter.start(v.profile_for(load()))
        assert adapter.do(v.ListQueues(), "c1").outcome == v.Listed()
        assert adapter.do(v.CreateQueue(queue="q"), "c1").outcome == v.Done()
        assert adapter.do(v.ListQueues(), "c1").outcome == v.Listed(names=("q",))
        assert names_at(service.target) == [f"{prefix_of(RUN_NAME, number)}q", FOREIGN]
    adapter.stop()
    assert names_at(service.target) == [FOREIGN]


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        (f"busproof-{RUN_NAME}-1-q", True),
        ("busproof-other123-1-q", False),
        (f"busproof-{RUN_NAME}-q", False),
        (f"my-busproof-{RUN_NAME}-1-q", False),
        ("orders", False),
    ],
)
def test_a_run_knows_its_entities_by_their_names(name: str, ours: bool) -> None:
    assert is_of_a_run(name, RUN_NAME) is ours


def test_an_answer_that_does_not_come_is_no_refusal(service: Embedded) -> None:
    """The send is not tried again: it took effect once."""
    adapter = adapter_for(service.target, timeout=1)
    adapter.start(v.profile_for(load()))
    adapter.do(v.CreateQueue(queue="q"), "c1")
    message = v.Message(body="once")
    adapter.do(v.Receive(queue="q"), "c2")
    adapter.do(v.Send(queue="q", message=v.Message(body="before")), "c1")
    os.kill(service.process, signal.SIGSTOP)
    try:
        silent = adapter.do(v.Send(queue="q", message=message, timeout=1), "c1").outcome
    finally:
        os.kill(service.process, signal.SIGCONT)
    assert isinstance(silent, v.Indeterminate)
    assert adapter.do(v.CreateQueue(queue="other"), "c1").outcome == v.Done()
    came = [adapter.do(v.Receive(queue="q"), "c2").outcome for _ in range(3)]
    bodies = [each.message.body for each in came if isinstance(each, v.Received)]
    assert bodies == ["before", "once"]
    assert came[-1] == v.Empty()
    adapter.stop()


def test_a_service_that_goes_away_is_an_error_of_its_own() -> None:
    """What was asked last may have taken effect; after a few tries it is not tried any more."""
    broker = Embedded(ALONE, timeout=PATIENCE)
    adapter = adapter_for(broker.target)
    adapter.start(v.profile_for(load()))
    adapter.do(v.CreateQueue(queue="q"), "c1")
    adapter.do(v.Send(queue="q", message=v.Message(body="m")), "c1")
    broker.stop()
    lost = adapter.do(v.Send(queue="q", message=v.Message(body="m2")), "c1").outcome
    assert isinstance(lost, v.Indeterminate)
    for _ in range(4):
        with pytest.raises(AdapterError, match="cannot be reached"):
            adapter.do(v.Receive(queue="q"), "c1")
    with pytest.raises(AdapterError, match="not tried again"):
        adapter.do(v.Receive(queue="q"), "c1")
    with pytest.raises(
        AdapterError, match="1 entities could not be removed: busproof-test1234-1-q"
    ):
        adapter.stop()


def test_a_wrong_key_is_reported_as_such(service: Embedded) -> None:
    """Not as a refusal of the service's to do something."""
    wrong = target_of(address_of(service.target).replace(service.target.key, "wrong"))
    with pytest.raises(AdapterError, match="does not let us in"):
        _ = adapter_for(wrong).declaration


def answering(data: bytes) -> int:
    """The port of a server that says this to whoever connects, and hangs up."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        client, _ = server.accept()
        with client, server:
            client.recv(4096)
            client.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    return int(server.getsockname()[1])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"AMQP\x00\x00\x09\x01", "speaks AMQP 0-9-1"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "speaks HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x16", "speaks TLS"),
        (b"SSH-2.0-server\r\n", "speaks no AMQP"),
        (b"", "without a word"),
    ],
    ids=["amqp 0-9-1", "http", "tls", "ssh", "nothing"],
)
def test_a_server_that_speaks_something_else_is_reported(
    service: Embedded, data: bytes, said: str
) -> None:
    port = answering(data)
    text = address_of(service.target).replace(f":{service.target.port};", f":{port};")
    with pytest.raises(AdapterError, match=said):
        adapter_for(target_of(text)).declaration  # noqa: B018 - asked, not looked at


def test_nobody_at_the_address_is_reported(service: Embedded) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    text = address_of(service.target).replace(f":{service.target.port};", f":{port};")
    with pytest.raises(AdapterError, match="cannot be reached: nobody answers"):
        adapter_for(target_of(text)).declaration  # noqa: B018 - asked, not looked at


def test_details_have_no_host_and_no_key() -> None:
    """Nor of the service's own names for a request."""
    target = target_of(
        "Endpoint=sb://mybus.example.net/;SharedAccessKeyName=root;SharedAccessKey=c2VjcmV0"
    )
    said = (
        "not found at sb://mybus.example.net/q. TrackingId:abc-1_G2, "
        "SystemTracker:mybus:queue:q, Timestamp:2026-01-01T00:00:00 key c2VjcmV0 "
        "SharedAccessSignature sr=x&sig=y"
    )
    text = redact(said, target)
    assert not [word for word in ("mybus", "c2VjcmV0", "abc-1", "sig=y") if word in text]
    assert text.startswith("not found at sb://…/q")


def test_no_namespace_is_used_that_nobody_agreed_to(service: Embedded, monkeypatch) -> None:
    """Whoever runs the features under pytest says so by a name for the run."""
    monkeypatch.delenv(RUN, raising=False)
    with pytest.raises(UsageError, match=RUN):
        find(address_of(service.target), timeout=1)
    monkeypatch.setenv(RUN, "not a name!")
    with pytest.raises(UsageError, match="4 to 16 letters"):
        find(address_of(service.target), timeout=1)


def test_a_run_shows_its_plan_and_asks(
    service: Embedded,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: object,
) -> None:
    """Nobody can be asked here: nothing is done."""
    monkeypatch.chdir(str(tmp_path))
    monkeypatch.setenv("BUS", address_of(service.target))
    assert main(["run", "--adapter", "env:BUS", "--rule", "LIFE-01"]) == 2
    said = capsys.readouterr().err
    assert "names begin with busproof-" in said
    assert "operations" in said
    assert "pass --yes" in said
    assert service.target.key not in said
    assert names_at(service.target) == [FOREIGN]


@pytest.mark.parametrize("edition", [(), ("--edition", "all")], ids=["one", "all"])
def test_name_of_a_run_that_is_taken_is_refused_before_consent(
    service: Embedded,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    edition: tuple[str, ...],
) -> None:
    """Nobody is asked for what cannot begin; of several runs all names are looked at first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUS", address_of(service.target))
    taken = tmp_path / "reports" / "runs" / ("it-de-2021-04" if edition else "it")
    taken.mkdir(parents=True)
    named = ("--name", "it", *edition)
    assert main(["run", "--adapter", "env:BUS", "--rule", "LIFE-01", *named]) == 2
    said = capsys.readouterr().err
    assert f"there is a run {Path('reports') / 'runs' / taken.name}; choose another --name" in said
    assert "names begin with busproof-" not in said


def test_entities_left_by_runs_are_removed(service: Embedded, capsys, monkeypatch) -> None:
    """Of one run, or of all; nobody else's, and not before it was agreed to."""
    monkeypatch.setenv("BUS", address_of(service.target))
    entities = Entities(service.target, 30)
    for name in ("busproof-aaaa-1-q", "busproof-bbbb-1-q", "busproofs-own"):
        entities.put(name, "QueueDescription", {})
    assert main(["clean", "--adapter", "env:BUS"]) == 2
    assert "pass --yes" in capsys.readouterr().err
    assert main(["clean", "--adapter", "env:BUS", "--run", "aaaa", "--yes"]) == 0
    assert names_at(service.target) == ["busproof-bbbb-1-q", "busproofs-own", FOREIGN]
    assert main(["clean", "--adapter", "env:BUS", "--yes"]) == 0
    assert "removed 1 entities" in capsys.readouterr().err
    assert names_at(service.target) == ["busproofs-own", FOREIGN]
    assert main(["clean", "--adapter", "env:BUS", "--yes"]) == 0
    assert "nothing to remove" in capsys.readouterr().err
    assert main(["clean", "--adapter", "model"]) == 2
    entities.delete("busproofs-own")
    entities.close()
