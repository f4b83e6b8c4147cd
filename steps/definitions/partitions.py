"""Steps for what outages, front ends and batches reveal about partitions."""

from collections.abc import Callable
from typing import Final

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.sending import send
from busproof.steps.sentences import OTHER
from busproof.steps.wording import Properties

SETTLED: Final[dict[str, Callable[..., v.Command]]] = {
    "completed": v.Complete,
    "abandoned": v.Abandon,
    "deferred": v.Defer,
    "dead-lettered": v.DeadLetter,
    "renewed": v.RenewLock,
}
"""Commands that take a lock token, by the participle in the steps."""


@when("each of their keys is sent again", target_fixture="outcomes")
def sends_keys_again(bus: BusUnderTest, queue: str) -> list[v.Outcome]:
    """Try to send one more message with each PartitionKey used before."""
    keys = [message.partition_key for message in bus.sent]
    return [send(bus, queue, Properties({"PartitionKey": key})) for key in keys]


@then("only keys of the partition that is down are refused")
def only_its_keys(bus: BusUnderTest, down: tuple[str, set[int]], outcomes: list[v.Outcome]) -> None:
    """Check that exactly the messages with keys of the partition that is down are refused."""
    bodies = [message.body for message in bus.sent[: len(outcomes)]]
    at = [bus.partition_of.get(body) for body in bodies]
    refused = [isinstance(outcome, v.Refused) for outcome in outcomes]
    assert [place in down[1] for place in at] == refused, outcomes


@then(parsers.parse("the other one gives exactly {number:d} messages"))
def other_gives(bus: BusUnderTest, other_queue: str, number: int) -> None:
    """Receive from the second queue until it is empty, and check the number of messages."""
    bodies = [view.body for view in bus.received(other_queue)]
    assert len(set(bodies)) == len(bodies) == number, bodies


@when(parsers.parse("all that are held are {settled}, the latest first"), target_fixture="outcomes")
def settles_all(
    bus: BusUnderTest, queue: str, several: list[v.MessageView], settled: str
) -> list[v.Outcome]:
    """Try to settle or renew every lock, the latest first."""
    assert several
    return [bus.do(_settling(settled, queue, view)) for view in reversed(several)]


def _settling(settled: str, queue: str, view: v.MessageView) -> v.Command:
    return SETTLED[settled](queue=queue, lock_token=view.lock_token or "")


@when(
    parsers.parse("{number:d} receives are tried over another connection"),
    target_fixture="received_elsewhere",
)
def tries_several_elsewhere(bus: BusUnderTest, queue: str, number: int) -> list[v.MessageView]:
    """Receive over a second connection, and leave the messages locked."""
    outcomes = [bus.receive(queue, OTHER) for _ in range(number)]
    return [outcome.message for outcome in outcomes if isinstance(outcome, v.Received)]


@then("what is held is not among what they gave")
def holds_apart(several: list[v.MessageView], received_elsewhere: list[v.MessageView]) -> None:
    """Check that no message was delivered to both receivers."""
    bodies = [view.body for view in (*several, *received_elsewhere)]
    assert len(set(bodies)) == len(bodies), bodies
