"""Messages over HTTP: what is sent comes, is settled once, and is the same over AMQP."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from embedded_clients import client
from work import until

from busproof.broker.embedding import Embedded, embedded
from busproof.vocabulary.commands import CreateQueue

from ..inside import inside
from ..test_sdk_queues import taken
from .speaking import Speaker, address_of, speaker

pytestmark = pytest.mark.slow

KEY = "k"


@pytest.fixture(scope="module")
def shared() -> Iterator[Embedded]:
    with embedded(partitions=4) as broker:
        yield broker


@pytest.fixture
def bus(shared: Embedded) -> Embedded:
    shared.begin()
    shared.queue("q", max_delivery_count=2)
    return shared


@pytest.fixture
def http(bus: Embedded) -> Iterator[Speaker]:
    with speaker(bus.admin_address) as found:
        yield found


def test_a_message_comes_as_it_was_sent(http: Speaker) -> None:
    broker = {
        "MessageId": "m/1",
        "Label": "l",
        "CorrelationId": "c",
        "To": "t",
        "ReplyTo": "r",
        "ReplyToSessionId": "rs",
        "SessionId": KEY,
        "PartitionKey": KEY,
        "TimeToLive": 90,
    }
    sent = http.send("q", "body", broker, Content_Type="text/x", Priority='"High"', Size="3")
    assert (201, b"") == (sent.status, sent.body)
    came = http.lock("Q")
    assert (201, b"body") == (came.status, came.body)
    assert broker == {name: came.broker[name] for name in broker}
    assert ("text/x", '"High"', "3") == tuple(
        came.headers[name] for name in ("Content-Type", "Priority", "Size")
    )
    assert (1, "Active", 0) == tuple(
        came.broker[name] for name in ("DeliveryCount", "State", "EnqueuedSequenceNumber")
    )
    assert came.place == f"/q/messages/m%2F1/{came.broker['LockToken']}"
    assert {"SequenceNumber", "EnqueuedTimeUtc", "LockedUntilUtc"} <= came.broker.keys()


@pytest.mark.parametrize("host", ["localhost", "h\xf6st"])
def test_the_place_of_a_message_can_be_used_whatever_the_names(
    bus: Embedded, http: Speaker, host: str
) -> None:
    bus.queue("f\xfcr uns/viele")
    path = "f%C3%BCr%20uns/viele"
    http.send(path, "a", {"MessageId": "\xfc/?#"})
    locked = http.ask("POST", f"/{path}/messages/head?timeout=0", Host=host)
    assert b"a" == locked.body
    assert 200 == http.ask("DELETE", locked.place).status


def test_a_lock_is_renewed_given_up_and_ended(bus: Embedded, http: Speaker) -> None:
    http.send("q", "a")
    first = http.lock("q")
    assert 204 == http.lock("q").status
    bus.advance(timedelta(seconds=50))
    assert 200 == http.ask("POST", first.place).status
    bus.advance(timedelta(seconds=50))
    assert 204 == http.lock("q").status
    assert 200 == http.ask("PUT", first.place).status
    second = http.lock("q")
    assert 2 == second.broker["DeliveryCount"]
    assert 200 == http.ask("DELETE", second.place).status
    assert [404] * 3 == [http.ask(how, second.place).status for how in ("PUT", "POST", "DELETE")]


def test_a_locked_message_may_be_named_by_its_number(http: Speaker) -> None:
    http.send("q", "a", {"MessageId": "m"})
    broker = http.lock("q").broker
    token = broker["LockToken"]
    assert 404 == http.ask("DELETE", f"/q/messages/other/{token}").status
    assert 200 == http.ask("DELETE", f"/q/messages/{broker['SequenceNumber']}/{token}").status


def test_failed_deliveries_end_in_the_dead_letter_queue(http: Speaker) -> None:
    http.send("q", "a")
    for _ in range(2):
        assert 200 == http.ask("PUT", http.lock("q").place).status
    assert 204 == http.take("q").status
    dead = http.lock("q/$DeadLetterQueue")
    assert (b"a", '"MaxDeliveryCountExceeded"') == (dead.body, dead.headers["DeadLetterReason"])
    assert 200 == http.ask("DELETE", dead.place).status


def test_a_batch_comes_as_it_was_sent(http: Speaker) -> None:
    sent = http.send_batch(
        "q",
        {
            "Body": "a",
            "BrokerProperties": {"PartitionKey": KEY, "TimeToLiveTimeSpan": "0.00:01:00"},
        },
        {"Body": "ü", "BrokerProperties": {"PartitionKey": KEY}, "UserProperties": {"n": 1.5}},
        {"BrokerProperties": {"PartitionKey": KEY}, "UserProperties": {"y": True, "z": None}},
    )
    assert 201 == sent.status
    first, second, third = (http.take("q") for _ in range(3))
    assert [b"a", "ü".encode(), b""] == [each.body for each in (first, second, third)]
    assert 60.0 == first.broker["TimeToLive"]
    assert ("1.5", "true", "null") == (second.headers["n"], third.headers["y"], third.headers["z"])


def test_a_batch_is_taken_whole_or_not_at_all(http: Speaker) -> None:
    wrong = {"Body": "b", "BrokerProperties": {"SessionId": "s", "PartitionKey": "other"}}
    assert 400 == http.send_batch("q", {"Body": "a"}, wrong).status
    assert 204 == http.take("q").status


def test_a_scheduled_message_comes_when_it_is_due(bus: Embedded, http: Speaker) -> None:
    http.send("q", "now")
    enqueued = parsedate_to_datetime(http.take("q").broker["EnqueuedTimeUtc"])
    due = format_datetime(enqueued + timedelta(hours=1), usegmt=True)
    assert 201 == http.send("q", "later", {"ScheduledEnqueueTimeUtc": due}).status
    assert 204 == http.take("q").status
    bus.advance(timedelta(hours=1))
    came = http.take("q")
    assert (b"later", due) == (came.body, came.broker["ScheduledEnqueueTimeUtc"])


@pytest.mark.parametrize("life", [{"TimeToLive": 1}, {"TimeToLiveTimeSpan": "00:00:01"}])
def test_a_message_ends_with_its_time_to_live(
    bus: Embedded, http: Speaker, life: dict[str, Any]
) -> None:
    http.send("q", "a", life)
    bus.advance(timedelta(seconds=2))
    assert 204 == http.take("q").status


def test_a_time_to_live_beyond_that_of_a_header_is_kept(http: Speaker) -> None:
    http.send("q", "a", {"TimeToLive": 90 * 86_400})
    assert 90.0 * 86_400 == http.take("q").broker["TimeToLive"]


def test_the_official_client_receives_what_http_sends(bus: Embedded, http: Speaker) -> None:
    http.send("q", "a", {"MessageId": "m", "Label": "l", "PartitionKey": KEY}, Size="3")
    with client(bus) as found, found.get_queue_receiver("q") as receiver:
        (message,) = taken(receiver)
        assert ("a", "m", "l", KEY) == (
            str(message),
            message.message_id,
            message.subject,
            message.partition_key,
        )
        assert {b"Size": 3} == message.application_properties


def test_http_receives_what_the_official_client_sends(bus: Embedded, http: Speaker) -> None:
    properties = {
        "s": "t",
        "i": 3,
        "b": True,
        "two\r\nlines": "x",
        "text": "a\r\nb",
        "Content-Length": 1,
    }
    message = ServiceBusMessage("a", application_properties=properties, content_type="text/x")
    with client(bus) as found, found.get_queue_sender("q") as sender:
        sender.send_messages(message)
    came = http.lock("q")
    assert (b"a", "text/x", '"t"', "3", "true", '"a\\r\\nb"') == (
        came.body,
        *(came.headers[name] for name in ("Content-Type", "s", "i", "b", "text")),
    )
    assert "1" == came.headers["Content-Length"]
    assert "x" not in came.headers.values()


def test_a_receive_waits_for_a_message(bus: Embedded, http: Speaker) -> None:
    http.begin("DELETE", "/q/messages/head?timeout=30", times=2)
    with speaker(bus.admin_address) as other:
        assert 201 == other.send("q", "a").status
        assert 201 == other.send("q", "b").status
    said = b""
    while b"\r\n\r\nb" not in said:
        # An answer's body may come after its head.
        piece = http.connection.sock.recv(65_536)
        assert piece, said
        said += piece
    assert 2 == said.count(b"HTTP/1.1 200")
    assert said.index(b"\r\n\r\na") < said.index(b"\r\n\r\nb")


def test_a_receive_ends_with_its_entity(bus: Embedded, http: Speaker) -> None:
    http.begin("POST", "/q/messages/head?timeout=30")
    with speaker(bus.admin_address) as other:
        assert 200 == other.ask("DELETE", "/q").status
        assert b"HTTP/1.1 410" == http.connection.sock.recv(12)
        assert 410 == other.take("q").status


def test_a_message_is_kept_for_others_when_a_waiting_client_has_gone() -> None:
    with inside(CreateQueue(queue="q")) as broker:
        waiting = broker.hub._waiting
        with speaker(address_of(broker)) as gone:
            gone.begin("DELETE", "/q/messages/head?timeout=30")
            assert until(lambda: "q" in waiting)
        assert until(lambda: "q" not in waiting)
        with speaker(address_of(broker)) as other:
            other.send("q", "a")
            assert b"a" == other.take("q").body


def test_half_of_the_connections_may_wait() -> None:
    with inside(CreateQueue(queue="q"), http_connections=4) as broker, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(speaker(address_of(broker))).begin("POST", "/q/messages/head")
        assert until(lambda: 2 == sum(map(len, broker.hub._waiting.get("q", {}).values())))
        with speaker(address_of(broker)) as third:
            refused = third.lock("q", 1)
            assert 503 == refused.status
            assert b"2 receives wait" in refused.body
            assert 204 == third.lock("q").status
