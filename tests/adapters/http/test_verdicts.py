"""Buses with HTTP only are judged: ours, one that somebody else runs, and strange ones."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from answers import error_of
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters.amqp.embedded import Embedded
from busproof.adapters.amqp.remote import RemoteAdapter
from busproof.adapters.amqp.target import target_of
from busproof.adapters.http.dialect import OVER_HTTP
from busproof.cli.main import main
from busproof.cli.mutation.audit import Job, run_apart
from busproof.errors import AdapterError, UsageError
from busproof.spec import load

from ..amqp.test_verdicts import by_rule, verdicts

pytestmark = pytest.mark.slow

OF_HTTP = ("LIFE-08", "PART-11", "PART-23", "PART-25")


@pytest.mark.parametrize("policy", ["round-robin", "hostile"])
def test_what_the_documents_say_of_http_is_shown(tmp_path: Path, policy: str) -> None:
    """By the strict oracle; each connection has a front end, whose cache may have everything."""
    rules = [option for rule in OF_HTTP for option in ("--rule", rule)]
    adapter = f"http?policy={policy}&seed=3"
    found = verdicts(tmp_path, "--adapter", adapter, *rules, "--only", "features")
    assert ["shown"] * len(OF_HTTP) == [by_rule(found)[rule] for rule in OF_HTTP]
    assert "strict" == found["oracle"]
    assert "http" in found["capabilities"]


def test_a_fault_is_caught_over_http(tmp_path: Path) -> None:
    options = ("--adapter", "http?fault=mismatch-accepted", "--rule", "KEY-08")
    assert "violated" == by_rule(verdicts(tmp_path, *options, "--only", "features"))["KEY-08"]


def test_a_fault_of_http_alone_is_noticed(tmp_path: Path) -> None:
    """By one scenario of its rule, which is not shrunk: the nightly part broker has them whole."""
    request = Job(fault="each-request-has-a-front-end", wire=True).request()
    assert ("http?fault=each-request-has-a-front-end", ("PART-25",)) == (
        request.adapter,
        request.rules,
    )
    name = "Over one HTTP connection everything comes in the end (carried without key)"
    assert (name,) == run_apart(request, {name}, tmp_path)


def test_a_history_over_http_is_judged_again(tmp_path: Path, capsys) -> None:
    """`check` finds what the run has found."""
    options = ("--adapter", "http", "--name", "http", "--rule", "KEY-08", "--only", "features")
    assert "shown" == by_rule(verdicts(tmp_path, *options))["KEY-08"]
    main(["check", str(tmp_path / "reports/runs/http/history.jsonl"), "--format", "json"])
    again = by_rule(json.loads(capsys.readouterr().out))
    assert "shown" == again["KEY-08"]
    assert "violated" not in again.values()


@pytest.mark.full_size("minutes for all features: run by the nightly part broker")
def test_no_feature_accuses_the_broker_over_http(tmp_path: Path) -> None:
    found = by_rule(verdicts(tmp_path, "--adapter", "http", "--only", "features"))
    assert "shown" in found.values()
    assert [rule for rule, verdict in found.items() if verdict in ("violated", "errored")] == []


@pytest.fixture(scope="module")
def service() -> Iterator[Embedded]:
    """A broker in real time that somebody else runs."""
    broker = Embedded(("--clock", "real", "--message-ids", "as-sent"), timeout=PATIENCE)
    yield broker
    broker.stop()


def address_of(service: Embedded) -> str:
    """Its address over HTTP, with the name and the key of a rule."""
    url = urlsplit(service.target.admin)
    return f"http://{service.target.key_name}:{service.target.key}@{url.netloc}"


def test_a_service_is_judged_by_its_address(service: Embedded, tmp_path: Path) -> None:
    """By two scenarios of which none has to wait for nothing."""
    options = ("--rule", "KEY-09", "--only", "features", "--yes")
    found = verdicts(tmp_path, "--adapter", address_of(service), *options)
    assert "shown" == by_rule(found)["KEY-09"]
    assert service.target.key not in json.dumps(found)


def test_capabilities_of_a_service_over_http_are_found_out(service: Embedded) -> None:
    adapter = RemoteAdapter(target_of(address_of(service)), PATIENCE, "test1234", OVER_HTTP)
    declared = adapter.declaration.capabilities
    adapter.stop()
    assert OVER_HTTP.of_broker - declared <= {
        v.Capability.DISPOSABLE_NAMESPACE,
        v.Capability.LEGACY_ENTITIES,
        v.Capability.LIMITS,
        v.Capability.API_VERSIONS,
        v.Capability.OUTAGES,
        v.Capability.WITNESS,
    }
    assert declared <= OVER_HTTP.of_broker


def test_a_wrong_key_is_told(service: Embedded) -> None:
    target = target_of(address_of(service).replace(service.target.key, "wrong"))
    adapter = RemoteAdapter(target, PATIENCE, "test1234", OVER_HTTP)
    with pytest.raises(AdapterError, match="is the key right"):
        _ = adapter.declaration


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://localhost:5300", "RootManageSharedAccessKey:KEY@localhost"),
        ("https://name:key@host?x=1", "a name, a key, a host, a port and a path only"),
        (
            "Endpoint=sb://h;SharedAccessKeyName=n;SharedAccessKey=k;Protocol=soap",
            "Protocol is 'soap'; it is amqp or http",
        ),
    ],
)
def test_an_address_that_cannot_be_used_is_told(address: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("?", r"\?")) as caught:
        target_of(address)
    assert "key@" not in str(caught.value).replace("KEY@", "")


class _Strange(BaseHTTPRequestHandler):
    """A service that has nothing, and closes each connection after its answer, as HTTP/1.0 has it.

    What it answers may be set.
    """

    status, said = 204, b""

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(self.status)
        self.send_header("X-Powered-By", "strange")
        self.send_header("Content-Length", str(len(self.said)))
        self.end_headers()
        self.wfile.write(self.said)

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - so HTTP has them

    def log_message(self, *_: object) -> None:
        """Be silent."""


@contextmanager
def strange(status: int = 204, said: bytes = b"") -> Iterator[RemoteAdapter]:
    """An adapter for a strange service."""
    handler = type("Handler", (_Strange,), {"status": status, "said": said})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # It looks so often whether it has to end.
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    target = target_of(f"http://n:k@127.0.0.1:{server.server_port}")
    adapter = RemoteAdapter(target, PATIENCE, "test1234", OVER_HTTP)
    adapter.start(v.profile_for(load()))
    try:
        yield adapter
    finally:
        adapter.stop()
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


def test_a_bus_that_keeps_no_connection_is_not_accused_of_its_caches() -> None:
    """Another front end may have what the first receive left; only then nothing is known."""
    with strange() as adapter:
        first, second = (adapter.do(v.Receive(queue="q"), "c1").outcome for _ in range(2))
        assert v.Empty() == first
        assert isinstance(second, v.Indeterminate)
        assert "was not kept alive" in second.detail


def test_headers_of_a_server_are_no_properties_of_a_message() -> None:
    with strange(200, b"a") as adapter:
        mode = v.ReceiveMode.RECEIVE_AND_DELETE
        received = v.Received(message=v.MessageView(body="a"))
        assert received == adapter.do(v.Receive(queue="q", mode=mode), "c1").outcome


@pytest.mark.parametrize(
    ("status", "said", "error"),
    [
        (404, b"", v.Error.LOCK_LOST),
        (410, b"<Error><Detail>The lock supplied is invalid.</Detail></Error>", v.Error.LOCK_LOST),
        (404, b'{"error": "no such queue"}', v.Error.NOT_FOUND),
        (413, b"", v.Error.MESSAGE_TOO_LARGE),
        (403, b"The message is larger than the queue allows", v.Error.MESSAGE_TOO_LARGE),
        (403, b"The queue is full", v.Error.QUOTA_EXCEEDED),
        (429, b"", v.Error.UNAVAILABLE),
        (503, b"", v.Error.UNAVAILABLE),
        (403, b"Messaging entity 'q' is currently disabled.", v.Error.ENTITY_DISABLED),
    ],
)
def test_refusals_of_other_buses_are_understood(status: int, said: bytes, error: v.Error) -> None:
    with strange(status, said) as adapter:
        assert error is error_of(adapter.do(v.Complete(queue="q", lock_token="x"), "c1").outcome)
