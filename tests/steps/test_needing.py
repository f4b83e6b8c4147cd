"""What has to be declared before something is asked."""

import pytest

from busproof.judging.required_capabilities import needs
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    CreateQueue,
    CreateTopic,
    Peek,
    Receive,
    Send,
    SendBatch,
)
from busproof.vocabulary.messages import Message


def test_a_size_is_asked_only_of_who_has_sizes() -> None:
    """Whoever has `management` and no sizes was asked for them, and was errored."""
    assert Capability.SIZES in needs(CreateQueue(queue="q", max_size=1))
    assert Capability.SIZES not in needs(CreateQueue(queue="q"))


def test_creation_needs_all_capabilities_of_its_options() -> None:
    """One need hides no other."""
    asked = CreateQueue(queue="q", partitioned=False, api_version="2013-08", max_size=1)
    assert {Capability.REGULAR_QUEUES, Capability.API_VERSIONS, Capability.SIZES} <= {*needs(asked)}


def test_topic_of_a_size_or_a_version_needs_what_a_queue_needs() -> None:
    asked = CreateTopic(topic="t", partitioned=False, api_version="2013-08", max_size=1)
    assert {Capability.REGULAR_QUEUES, Capability.API_VERSIONS, Capability.SIZES} <= {*needs(asked)}
    assert Capability.SIZES not in needs(CreateTopic(topic="t"))


@pytest.mark.parametrize("carried", [{"subject": ""}, {"to": "there"}, {"properties": {"a": 0}}])
def test_properties_for_filters_are_sent_only_to_buses_with_filters(
    carried: dict[str, object],
) -> None:
    """docs/protocol.md gives them to no other bus; the JavaScript one was errored by scenarios."""
    message = Message(body="m", **carried)
    assert Capability.FILTERS in needs(Send(queue="q", message=message))
    assert Capability.FILTERS in needs(SendBatch(queue="q", messages=(message,)))
    plain = Message(body="m", session_id="s", partition_key="s", message_id="i")
    assert Capability.FILTERS not in needs(Send(queue="q", message=plain))


@pytest.mark.parametrize("command", [Peek, Receive])
def test_dead_letters_are_looked_for_only_on_buses_that_declare_them(command: type) -> None:
    """A bus without dead letters was accused of an unknown queue."""
    needed = {*needs(command(queue="q/$deadletterqueue"))}
    assert Capability.DEAD_LETTER in needed
    assert Capability.DEAD_LETTER not in needs(command(queue="q"))
    transfers = {*needs(command(queue="q/$transfer/$deadletterqueue"))}
    assert {*needs(command(queue="q"))} | {Capability.TRANSFER_DEAD_LETTER} == transfers
