"""Settling as only a raw client can: with properties, and many messages at once."""

import time
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage as SdkMessage
from proton import UNDESCRIBED as NO_DESCRIPTOR
from proton import Array, Data, int32, symbol, timestamp

from . import raw
from .conftest import Served
from .test_bounds import Asker
from .test_sdk_queues import completed, emptied, sent, taken

pytestmark = pytest.mark.slow


def tokens(*found: Any) -> Array:
    return Array(NO_DESCRIPTOR, Data.UUID, *found)


@pytest.mark.parametrize("status", ["abandoned", "suspended"])
def test_a_message_gets_properties_as_it_is_settled(served: Served, status: str) -> None:
    message = SdkMessage("changed", application_properties={"kept": 1, "changed": "before"})
    sent(served, "plain", message)
    with served.client() as client, client.get_queue_receiver("plain") as receiver:
        (held,) = taken(receiver)
        with raw.logged_in(served.port) as connection:
            asked = {
                "disposition-status": status,
                "lock-tokens": tokens(held.lock_token),
                "properties-to-modify": {"changed": "after", "added": 2},
                "deadletter-reason": "why",
            }
            assert 200 == Asker(connection, "plain").ask("update-disposition", asked)[0]
        queue = {"abandoned": None, "suspended": "deadletter"}[status]
        with client.get_queue_receiver("plain", sub_queue=queue) as again:
            (got,) = completed(again)
        expected: dict[bytes, Any] = {b"kept": 1, b"changed": b"after", b"added": 2}
        if status == "suspended":
            expected[b"DeadLetterReason"] = b"why"
        assert expected == got.application_properties


def test_a_batch_is_deleted_of_a_queue_without_partitions(served: Served) -> None:
    """What nobody holds, up to a number; of a partitioned queue nothing is."""
    sent(served, "plain", *(SdkMessage(str(each)) for each in range(5)))
    later = timestamp(int(time.time() * 1000) + 60_000)
    with (
        served.client() as client,
        client.get_queue_receiver("plain") as receiver,
        raw.logged_in(served.port) as connection,
    ):
        (held,) = taken(receiver)
        asked = {"message-count": int32(3), "enqueued-time-utc": later}
        plain = Asker(connection, "plain")
        parted = Asker(connection, "parted")
        answer = plain.replied("batch-delete-messages", asked)
        assert (200, 3) == (answer.properties["statusCode"], answer.body["message-count"])
        asked["enqueued-time-utc"] = timestamp(0)
        assert 204 == plain.ask("batch-delete-messages", asked)[0]
        answer = parted.replied("batch-delete-messages", asked)
        assert (400, "amqp:not-allowed") == (
            answer.properties["statusCode"],
            answer.properties["errorCondition"],
        )
        receiver.complete_message(held)
    assert ["4"] == emptied(served, "plain", least=1)


@pytest.mark.parametrize("annotated", [False, True])
def test_locks_of_two_partitions_are_refused_and_those_of_one_are_settled(
    served: Served, annotated: bool
) -> None:
    """As the service does, whether or not the request itself names a partition key."""
    sent(served, "parted", *(SdkMessage(str(each), partition_key="a") for each in range(2)))
    sent(served, "parted", *(SdkMessage("other", partition_key=key) for key in "bcdefgh"))
    with (
        served.client() as client,
        client.get_queue_receiver("parted") as receiver,
        raw.logged_in(served.port) as connection,
    ):
        held = taken(receiver, 9)
        parts: dict[int, list[Any]] = {}
        for each in held:
            parts.setdefault(each.sequence_number >> 48, []).append(each.lock_token)
        notes = {symbol("x-opt-partition-key"): "a"} if annotated else None
        asked = {
            "disposition-status": "completed",
            "lock-tokens": tokens(*(each.lock_token for each in held)),
        }
        parted = Asker(connection, "parted", notes)
        answer = parted.replied("update-disposition", asked)
        assert (400, "amqp:not-allowed") == (
            answer.properties["statusCode"],
            answer.properties["errorCondition"],
        )
        assert 400 == parted.ask("renew-lock", {"lock-tokens": asked["lock-tokens"]})[0]
        for of_one in parts.values():
            renewed = parted.replied("renew-lock", {"lock-tokens": tokens(*of_one)})
            assert len(of_one) == len(list(renewed.body["expirations"]))
            asked["lock-tokens"] = tokens(*of_one)
            assert 200 == parted.ask("update-disposition", asked)[0]
        assert 410 == parted.ask("update-disposition", asked)[0]
    assert [] == emptied(served, "parted")
