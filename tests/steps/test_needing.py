"""What has to be declared before something is asked."""

import pytest

from busproof import vocabulary as v
from busproof.judging.required_capabilities import needs


def test_a_size_is_asked_only_of_who_has_sizes() -> None:
    """Whoever has `management` and no sizes was asked for them, and was errored."""
    assert v.Capability.SIZES in needs(v.CreateQueue(queue="q", max_size=1))
    assert v.Capability.SIZES not in needs(v.CreateQueue(queue="q"))


def test_creation_needs_all_capabilities_of_its_options() -> None:
    """One need hides no other."""
    asked = v.CreateQueue(queue="q", partitioned=False, api_version="2013-08", max_size=1)
    assert {v.Capability.REGULAR_QUEUES, v.Capability.API_VERSIONS, v.Capability.SIZES} <= {
        *needs(asked)
    }


def test_topic_of_a_size_or_a_version_needs_what_a_queue_needs() -> None:
    asked = v.CreateTopic(topic="t", partitioned=False, api_version="2013-08", max_size=1)
    assert {v.Capability.REGULAR_QUEUES, v.Capability.API_VERSIONS, v.Capability.SIZES} <= {
        *needs(asked)
    }
    assert v.Capability.SIZES not in needs(v.CreateTopic(topic="t"))


@pytest.mark.parametrize("carried", [{"subject": ""}, {"to": "there"}, {"properties": {"a": 0}}])
def test_properties_for_filters_are_sent_only_to_buses_with_filters(carried) -> None:
    """docs/protocol.md gives them to no other bus; the JavaScript one was errored by scenarios."""
    message = v.Message(body="m", **carried)
    assert v.Capability.FILTERS in needs(v.Send(queue="q", message=message))
    assert v.Capability.FILTERS in needs(v.SendBatch(queue="q", messages=(message,)))
    plain = v.Message(body="m", session_id="s", partition_key="s", message_id="i")
    assert v.Capability.FILTERS not in needs(v.Send(queue="q", message=plain))


@pytest.mark.parametrize("command", [v.Peek, v.Receive])
def test_dead_letters_are_looked_for_only_on_buses_that_declare_them(command: type) -> None:
    """A bus without dead letters was accused of an unknown queue."""
    needed = {*needs(command(queue="q/$deadletterqueue"))}
    assert v.Capability.DEAD_LETTER in needed
    assert v.Capability.DEAD_LETTER not in needs(command(queue="q"))
    transfers = {*needs(command(queue="q/$transfer/$deadletterqueue"))}
    assert {*needs(command(queue="q"))} | {v.Capability.TRANSFER_DEAD_LETTER} == transfers
