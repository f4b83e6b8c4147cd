"""Requests for messages over HTTP that are refused, and what they cost."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from work import until

from busproof.broker.embedding import Embedded, embedded
from busproof.vocabulary.commands import CreateQueue

from .. import raw
from ..conftest import Served, anew
from ..inside import inside
from .speaking import BATCH, Speaker, address_of, speaker

pytestmark = pytest.mark.slow

UNKNOWN = "00000000-0000-0001-0000-000000000001"
LARGEST = 262_144


@pytest.fixture(scope="module")
def bus() -> Iterator[Embedded]:
    with embedded(partitions=4) as broker:
        broker.queue("q")
        broker.queue("sessions", requires_session=True)
        broker.topic("t")
        broker.subscription("t", "s")
        yield broker


@pytest.fixture
def http(bus: Embedded) -> Iterator[Speaker]:
    with speaker(bus.admin_address) as found:
        yield found


@pytest.mark.parametrize(
    ("broker", "said"),
    [
        ("{", "BrokerProperties is '{'; it has to be a JSON object."),
        ("[1]", "BrokerProperties is '[1]'"),
        ("[" * 9_000, "it has to be a JSON object"),
        ('{"TimeToLive": NaN}', "it has to be a JSON object"),
        ('{"TimeToLive": -1}', "TimeToLive is '-1'; it has to be a number of seconds, 0 or more."),
        ('{"TimeToLive": true}', "TimeToLive is 'true'"),
        ('{"TimeToLive": 1e999}', "TimeToLive is 'Infinity'"),
        ('{"TimeToLiveTimeSpan": "40"}', "a time span such as 0.00:00:40"),
        (
            '{"x-opt-busproof-size": "1"}',
            "x-opt-busproof-size is '1'; it has to be a number of bytes",
        ),
        ('{"MessageId": 3}', "MessageId is '3'; it has to be a string."),
        ('{"ScheduledEnqueueTimeUtc": "2030-01-01"}', "a date such as 'Sun, 06 Nov 1994"),
        ('{"ScheduledEnqueueTimeUtc": "Sun, 31 Feb 2030 08:49:37 GMT"}', "a date such as"),
        ('{"SessionId": "s", "PartitionKey": "k"}', "KEY-08"),
        (json.dumps({"MessageId": "m" * 129}), "128"),
    ],
)
def test_broker_properties_that_cannot_be_read_are_named(
    http: Speaker, broker: str, said: str
) -> None:
    answer = http.ask("POST", "/q/messages", "a", BrokerProperties=broker)
    assert 400 == answer.status
    assert said in answer.body.decode()
    assert 204 == http.take("q").status


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "has to be a JSON array"),
        ("hello", "has to be a JSON array"),
        (b"\xff", "not UTF-8"),
        ('{"Body": "a"}', "has to be a JSON array"),
        ("[1]", "An item of the batch is '1'"),
        ("[{}", "is not JSON at character 3"),
        ("[{},]", "is not JSON at character 4"),
        ("[{}] x", "is not JSON at character 3"),
        ('[{"Body": 1}]', "Body is '1'; it has to be a string"),
        ('[{"Body": "a", "BrokerProperties": []}]', "BrokerProperties is '[]'"),
        ('[{"Body": "a", "UserProperties": {"x": {}}}]', "The property x is '{}'"),
        ('[{"Body": "a", "UserProperties": {"x": 9223372036854775808}}]', "The property x"),
        ("[" + '{"a":' * 5_000, "is not JSON at character 1"),
    ],
)
def test_batches_that_cannot_be_read_are_named(http: Speaker, body: bytes | str, said: str) -> None:
    answer = http.ask("POST", "/q/messages", body, **BATCH)
    assert 400 == answer.status
    assert said in answer.body.decode()
    assert 204 == http.take("q").status


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/nowhere/messages", 410),
        ("POST", "/nowhere/messages/head?timeout=0", 410),
        ("DELETE", "/nowhere/messages/head?timeout=0", 410),
        ("DELETE", f"/nowhere/messages/m/{UNKNOWN}", 410),
        ("DELETE", f"/q/messages/m/{UNKNOWN}", 404),
        ("PUT", f"/q/messages/m/{UNKNOWN}", 404),
        ("POST", f"/q/messages/m/{UNKNOWN}", 404),
        ("POST", "/t/messages/head?timeout=0", 400),
        ("POST", "/t/subscriptions/s/messages", 400),
        ("POST", "/q/$DeadLetterQueue/messages", 400),
        ("POST", "/sessions/messages", 400),
        ("POST", "/sessions/messages/head?timeout=0", 400),
        ("POST", "/q/messages/head?timeout=-1", 400),
        ("POST", "/q/messages/head?timeout=86401", 400),
        ("POST", "/q/messages/m/no-token", 405),
        ("PATCH", "/q/messages/head", 405),
        ("POST", "//[/messages", 400),
    ],
)
def test_requests_that_cannot_be_served_have_the_statuses_of_the_reference(
    http: Speaker, method: str, path: str, status: int
) -> None:
    assert status == http.ask(method, path).status


def test_a_body_is_for_sends_only(http: Speaker) -> None:
    assert 413 == http.ask("POST", "/q/messages/head", "a").status


@pytest.mark.parametrize("size", [LARGEST - 20, LARGEST + 1])
def test_a_message_that_is_too_large_is_refused(http: Speaker, size: int) -> None:
    answer = http.send("q", b"x" * size)
    assert 403 == answer.status
    assert f"at most {LARGEST} are taken" in answer.body.decode()


def test_a_message_of_the_largest_size_is_taken(http: Speaker) -> None:
    body = b"x" * (LARGEST - 60)
    assert 201 == http.send("q", body).status
    assert body == http.take("q").body


def test_a_chunked_body_is_counted(http: Speaker) -> None:
    http.connection.request(
        "POST", "/q/messages", iter([b"x" * 65_536] * 5), {"Authorization": token(http)}
    )
    assert 403 == http.connection.getresponse().status


def token(http: Speaker) -> str:
    """The token of a client."""
    return raw.token("sb://localhost/", *http.key)


@pytest.mark.parametrize(
    ("authorization", "status"),
    [("", 401), ("Bearer x", 401), ("SharedAccessSignature sr=x&sig=x&se=1&skn=x", 401)],
)
@pytest.mark.parametrize("path", ["/q/messages", "/nowhere/messages", "/q/messages/head"])
def test_a_client_without_a_token_learns_nothing(
    http: Speaker, path: str, authorization: str, status: int
) -> None:
    answer = http.ask("POST", path, Authorization=authorization)
    assert status == answer.status
    assert b"could not be found" not in answer.body


@pytest.mark.parametrize(
    ("key", "sends", "receives"),
    [
        (("sender", "mouth"), 201, 401),
        (("listener", "ears"), 401, 204),
        (("sender", "x"), 401, 401),
    ],
)
def test_a_key_has_the_rights_of_its_rule(
    served: Served, key: tuple[str, str], sends: int, receives: int
) -> None:
    anew(served)
    with speaker(served.admin, *key) as http:
        assert receives == http.take("plain").status
        assert sends == http.send("plain", "a").status


@pytest.mark.parametrize(
    ("status", "sends", "receives"), [("SendDisabled", 400, 204), ("ReceiveDisabled", 201, 400)]
)
def test_a_disabled_entity_refuses(status: str, sends: int, receives: int) -> None:
    with inside(CreateQueue(queue="q")) as broker:
        broker.hub.loop.call_soon_threadsafe(broker.hub.say_status, "q", status)
        with speaker(address_of(broker)) as http:
            assert receives == http.take("q").status
            assert sends == http.send("q", "a").status


def test_bodies_count_in_the_budget() -> None:
    """A client that sends more than all may hold is disconnected, and others are served."""
    with inside(CreateQueue(queue="q"), message=4_194_304, held=1_048_576) as broker:
        with speaker(address_of(broker)) as large, pytest.raises(OSError):
            large.send("q", b"x" * 2_097_152)
        with speaker(address_of(broker)) as http:
            assert 201 == http.send("q", "a").status
        assert until(lambda: broker.hub.budget.total == 0)


def test_a_batch_has_so_many_messages_at_most() -> None:
    items: list[Any] = [{"Body": "a"}] * 3
    with inside(CreateQueue(queue="q"), batch=3) as broker, speaker(address_of(broker)) as http:
        assert 201 == http.send_batch("q", *items).status
        assert 403 == http.send_batch("q", *items, {"Body": "b"}).status


def test_a_client_that_waits_for_leave_gets_it(http: Speaker) -> None:
    """As curl and .NET do with large bodies."""
    http.connection.connect()
    head = (
        *("POST /q/messages HTTP/1.1", "Host: localhost", f"Authorization: {token(http)}"),
        *("Expect: 100-continue", "Content-Length: 1", "", ""),
    )
    http.connection.sock.sendall("\r\n".join(head).encode())
    assert http.connection.sock.recv(65_536).startswith(b"HTTP/1.1 100 ")
    http.connection.sock.sendall(b"a")
    assert http.connection.sock.recv(65_536).startswith(b"HTTP/1.1 201 ")
    http.connection.close()
    assert b"a" == http.take("q").body
