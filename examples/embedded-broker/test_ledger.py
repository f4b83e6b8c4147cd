"""What the ledger does on a partitioned queue, which no emulator has."""

import json
from datetime import timedelta

import pytest
from azure.servicebus import ServiceBusClient
from ledger import Booking, RefusedError, in_one_session, in_two_sessions, transfer

from busproof.broker.embedding import Embedded

BOOKED = [Booking("anna", -500), Booking("ben", 500)]


@pytest.fixture(params=[True, False], ids=["partitioned", "regular"])
def partitioned(request: pytest.FixtureRequest, bus: Embedded) -> bool:
    """Whether the queue of bookings has partitions; there is one, and nothing is in it."""
    bus.queue("bookings", partitioned=request.param, requires_session=True)
    return bool(request.param)


def address(bus: Embedded) -> str:
    """Where the ledger sends to."""
    return f"amqp://RootManageSharedAccessKey:SAS_KEY_VALUE@127.0.0.1:{bus.port}"


def booked(bus: Embedded, session: str) -> list[Booking]:
    """What is in this session, in order."""
    with (
        ServiceBusClient.from_connection_string(bus.connection_string, retry_total=0) as client,
        client.get_queue_receiver("bookings", session_id=session, max_wait_time=1) as receiver,
    ):
        return [Booking(**json.loads(str(each))) for each in receiver.receive_messages(10)]


def held(bus: Embedded) -> int:
    """How many messages the queue has."""
    return sum(bus.state()["entities"]["bookings"]["held"])


@pytest.mark.usefixtures("partitioned")
def test_a_transfer_arrives_whole_and_in_order(bus: Embedded) -> None:
    """As it is done now."""
    transfer(address(bus), "bookings", in_one_session("anna", "ben", 500))
    assert booked(bus, "transfers") == BOOKED


def test_the_first_version_worked_on_regular_queues_alone(bus: Embedded, partitioned: bool) -> None:
    """A transaction on a partitioned queue is held to one session; nothing of it was taken."""
    parts = in_two_sessions("anna", "ben", 500)
    if not partitioned:
        transfer(address(bus), "bookings", parts)
        assert held(bus) == 2
        return
    with pytest.raises(RefusedError, match="TXN-08"):
        transfer(address(bus), "bookings", parts)
    assert held(bus) == 0


def test_an_outage_lets_nothing_through_in_part(bus: Embedded) -> None:
    """The session's partition is down: all is refused, and all is taken once it is up again."""
    bus.queue("bookings", requires_session=True)
    parts = in_one_session("anna", "ben", 500)
    with bus.outage("bookings"), pytest.raises(RefusedError):
        transfer(address(bus), "bookings", parts)
    assert held(bus) == 0
    transfer(address(bus), "bookings", parts)
    assert held(bus) == 2


def test_what_a_reader_has_not_settled_comes_again(bus: Embedded) -> None:
    """A minute passes at once, because the broker's clock is the test's."""
    bus.queue("bookings", requires_session=True, lock_duration=timedelta(minutes=1))
    transfer(address(bus), "bookings", in_one_session("anna", "ben", 500))
    assert booked(bus, "transfers") == BOOKED
    bus.advance(timedelta(minutes=1))
    assert booked(bus, "transfers") == BOOKED
