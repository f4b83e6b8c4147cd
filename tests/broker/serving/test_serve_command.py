"""`busproof serve` as users start it, and as they start it wrongly."""

import json
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.management import ServiceBusAdministrationClient
from work import PATIENCE

from busproof.cli.main import main

from .. import raw
from ..conftest import Start, launched, running

pytestmark = pytest.mark.slow

CERTIFICATE = Path(__file__).parent / "certificate"
FREE = ("--port", "0", "--admin-port", "0")


Complaint = Callable[..., str]


@pytest.fixture
def complaint(capfd: pytest.CaptureFixture[str]) -> Complaint:
    """What is said of options that do not fit: one sentence, and the exit code of usage."""

    def said_of(*options: str) -> str:
        try:
            code: object = main(["serve", *options])
        except SystemExit as ended:
            code = ended.code
        said = capfd.readouterr().err
        assert 2 == code
        assert said.startswith("busproof: ")
        assert 1 == said.count("\n")
        return said

    return said_of


@pytest.mark.parametrize("option", ["--port", "--websocket-port", "--admin-port"])
def test_a_used_port_is_named(complaint: Complaint, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        options = dict(zip(FREE[::2], FREE[1::2], strict=True)) | {option: port}
        said = complaint(*(each for pair in options.items() for each in pair))
    assert f"127.0.0.1:{port}" in said
    assert f"choose another {option}" in said


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--policy", "kind"), "round-robin, random, hostile"),
        (("--port", "70000"), "65535"),
        (("--clock", "slow"), "virtual"),
        (("--config", "nowhere.json"), "nowhere.json"),
        (("--admin-key", "key.pem"), "--admin-cert"),
        (("--admin-cert", "nowhere.pem"), "nowhere.pem"),
        (("--host", "256.1.1.1"), "256.1.1.1"),
        (("--admin-tls", "nowhere/authority.pem"), "cannot write nowhere/authority.pem"),
        (("--admin-tls", "x.pem", "--admin-cert", "y.pem"), "choose one"),
        (("--admin-tls", "x.pem", "--tls-cert", str(CERTIFICATE / "cert.pem")), "key"),
        (("--tls-key", "key.pem"), "--tls-cert"),
        (("--tls-port", "0"), "--tls or --tls-cert"),
        (("--tls-name", "here"), "--tls-name is of no use without --tls"),
        (("--tls", "nowhere/authority.pem"), "cannot write nowhere/authority.pem"),
        (("--tls", "x.pem", "--tls-cert", "y.pem"), "choose one"),
        (("--tls", "x.pem", "--admin-tls", "y.pem"), "leave --admin-tls out"),
        (("--websocket-port", "70000"), "65535"),
        (("--tls-cert", "nowhere.pem"), "cannot read nowhere.pem"),
        (("--tls-port", "70000"), "65535"),
        (("--keys", "nowhere.json"), "cannot read nowhere.json"),
        (("--keys", "env:BUSPROOF_NOTHING"), "'BUSPROOF_NOTHING' is not set"),
        (("--control-token", "nowhere"), "cannot read nowhere"),
        (("--limit", "links"), "links is ''; it has to be a number from 1 to 100000"),
        (("--limit", "lynx=3"), "no limit 'lynx'; there are connections"),
        (("--strict-config",), "are of no use without --config"),
        (("--config-parameter", "a"), "--config-parameter is 'a'; it has the form NAME=VALUE"),
        (("--adapter", "spark"), "faulty:FAULT-ID"),
        (("--adapter", "faulty:key-move"), "key-moves"),
        (("--adapter", "faulty:key-moves", "--policy", "random"), "a seeded fault has none"),
    ],
)
def test_an_option_that_does_not_fit_is_named(
    complaint: Complaint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    expected: str,
) -> None:
    """The sentence says what would fit, and no file was written before."""
    monkeypatch.chdir(tmp_path)
    free = () if "--port" in options else FREE
    assert expected in complaint(*free, *options)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("store", [False, True])
def test_clients_learn_that_the_broker_ends(tmp_path: Path, store: bool) -> None:
    """By the condition at which client libraries connect again."""
    process = launched(*FREE, *(("--store", str(tmp_path)) if store else ()))
    with raw.greeted(running(process).port) as client:
        while b"busproof" not in client.recv(1_000):
            pass
        process.terminate()
        said = b""
        while came := client.recv(1_000):
            said += came
    assert b"amqp:connection:forced" in said
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_broker_ends_on_a_signal(number: signal.Signals) -> None:
    process = launched(*FREE)
    served = running(process)
    with socket.create_connection(("127.0.0.1", served.port)):
        process.send_signal(number)
        assert 0 == process.wait(PATIENCE)


def test_broker_ends_quietly_with_an_open_http_connection() -> None:
    """As the official client for administration does."""
    process = launched(*FREE)
    served = running(process)
    host = urlsplit(served.admin)
    connection = HTTPConnection(host.hostname or "", host.port)
    connection.request("GET", "/health")
    assert 200 == connection.getresponse().status
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert (0, "") == (process.returncode, said)
    connection.close()


def test_without_the_extra_it_says_how_to_get_it() -> None:
    program = (
        "import sys; sys.modules['proton'] = None; from busproof.cli.main import main; "
        "sys.exit(main(['serve']))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert 2 == ended.returncode
    assert "pip install 'busproof[amqp]'" in ended.stderr


@pytest.mark.parametrize("given", [True, False], ids=["given", "made"])
def test_with_a_certificate_administration_is_by_https(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, given: bool
) -> None:
    """As Python's client asks without any change."""
    cert, key, made = CERTIFICATE / "cert.pem", CERTIFICATE / "key.pem", tmp_path / "made.pem"
    own = ("--admin-cert", str(cert), "--admin-key", str(key))
    served = start(*(own if given else ("--admin-tls", str(made))))
    trusted = cert if given else made
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted))
    port = served.admin.rpartition(":")[2]
    text = f"Endpoint=sb://localhost:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
    with ServiceBusAdministrationClient.from_connection_string(
        f"{text}SharedAccessKey=SAS_KEY_VALUE", retry_total=0
    ) as client:
        assert "plain" in [each.name for each in client.list_queues()]
    context = ssl.create_default_context(cafile=str(trusted))
    with urllib.request.urlopen(
        f"https://localhost:{port}/health", timeout=PATIENCE, context=context
    ) as answer:
        assert "healthy" == json.load(answer)["status"]


def test_a_bus_with_a_fault_is_served_too(start: Start) -> None:
    """With what is configured, in real time; its fault is what clients come to see."""
    served = start("--adapter", "faulty:mismatch-accepted")
    session = {"session_id": "s", "application_properties": {"n": 1}}
    with served.client() as client:
        with client.get_queue_sender("sessions") as sender:
            # The client's own check would refuse it: the annotation is set beside it.
            message = ServiceBusMessage("both", **session)
            message.raw_amqp_message.annotations = {"x-opt-partition-key": "other"}
            sender.send_messages(message)
        with client.get_queue_receiver("sessions", session_id="s") as receiver:
            (came,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
            assert ("both", "other", {b"n": 1}) == (
                str(came),
                came.partition_key,
                came.application_properties,
            )
            receiver.complete_message(came)
            assert [] == receiver.receive_messages(1, max_wait_time=1)


def test_keys_without_effect_are_named_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "Config.json"
    queue = '{"Name": "q", "Properties": {"AutoDeleteOnIdle": "PT5M"}}'
    path.write_text(f'{{"UserConfig": {{"Namespaces": [{{"Queues": [{queue}]}}]}}}}')
    served = running(launched("--port", "0", "--admin-port", "0", "--config", str(path)))
    served.process.terminate()
    served.process.communicate(timeout=PATIENCE)
    assert f"busproof: {path}:1: AutoDeleteOnIdle has no effect here\n" in served.said


@pytest.mark.parametrize("log", [(), ("--log", "-")])
def test_connection_string_is_alone_on_standard_output(
    tmp_path: Path, log: tuple[str, ...]
) -> None:
    template = {
        "resources": [
            {
                "type": "Microsoft.ServiceBus/namespaces/queues",
                "name": "[format('bus/{0}', parameters('queue'))]",
            }
        ],
        "parameters": {"queue": {"type": "string"}},
    }
    path = tmp_path / "main.json"
    path.write_text(json.dumps(template), encoding="utf-8")
    given = ("--config", str(path), "--config-parameter", "queue=orders", *log)
    process = subprocess.Popen(
        [sys.executable, "-m", "busproof", "serve", *FREE, *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    served = running(process)
    process.terminate()
    output, _ = process.communicate(timeout=PATIENCE)
    assert "1 entities" in served.said
    if log:
        assert "Endpoint=" not in output
    else:
        assert f"{served.connection_string}\n" == output


def test_unknown_field_ends_a_strict_start(complaint: Complaint, tmp_path: Path) -> None:
    """Without `--strict-config` it is a warning."""
    path = tmp_path / "Config.json"
    path.write_text('{"UserConfig": {"Namespaces": [{"Colour": "red"}]}}', encoding="utf-8")
    assert "'Colour'" in complaint(*FREE, "--config", str(path), "--strict-config")
