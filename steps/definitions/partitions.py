"""Steps for what outages, front ends and batches reveal about partitions."""

from collections.abc import Callable
from typing import Final

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.sending import send
from busproof.steps.sentences import OTHER, sentence
from busproof.steps.wording import Properties

USED: Final[dict[str, Callable[..., v.Command]]] = {
    "completed": v.Complete,
    "abandoned": v.Abandon,
    "deferred": v.Defer,
    "dead-lettered": v.DeadLetter,
    "renewed": v.RenewLock,
}
"""Commands that take a lock token, by the participle in the steps."""


@then("only the keys of the partition that is down are refused")
def refuses_its_keys(bus: BusUnderTest, queue: str, down: tuple[str, set[int]]) -> None:
    """Check that of messages with the PartitionKeys used before exactly those of it are refused."""
    sent = list(bus.sent)
    keys = [message.partition_key for message in sent]
    outcomes = [send(bus, queue, Properties({"PartitionKey": key})) for key in keys]
    at = [bus.partition_of.get(message.body) for message in sent]
    refused = [isinstance(outcome, v.Refused) for outcome in outcomes]
    assert [place in down[1] for place in at] == refused, outcomes


@then(parsers.parse("the other one gives exactly {number:d} messages"))
def other_gives(bus: BusUnderTest, other_queue: str, number: int) -> None:
    """Receive from the second queue until it is empty, and check the number of messages."""
    bodies = [view.body for view in bus.received(other_queue)]
    assert len(set(bodies)) == len(bodies) == number, bodies


@when(sentence("{which:Locked} is {used:Used}"), target_fixture="outcomes")
def uses_locks(
    bus: BusUnderTest, queue: str, several: list[v.MessageView], which: str, used: str
) -> list[v.Outcome]:
    """Try to settle or renew every lock, one by one; or use the first one, which must succeed."""
    assert several
    if which == "the first of them":
        outcome = bus.do(_use_lock(used, queue, several[0]))
        bus.expect(outcome, v.Renewed if used == "renewed" else v.Done)
        return [outcome]
    ordered = several if which == "each of them" else [*reversed(several)]
    return [bus.do(_use_lock(used, queue, view)) for view in ordered]


def _use_lock(used: str, queue: str, view: v.MessageView) -> v.Command:
    return USED[used](queue=queue, lock_token=view.lock_token or "")


@then(
    sentence(
        "{number:Number} {receives:Receives}{batch:Several?} over another connection "
        "{give:Gives} none of them"
    )
)
def gives_none_of_them(
    bus: BusUnderTest, queue: str, several: list[v.MessageView], number: int, batch: str | None
) -> None:
    """Check that a second receiver gets no message that is locked, and none twice."""
    views = list(several)
    for _ in range(number):
        outcome = (
            bus.do(v.ReceiveBatch(queue=queue, count=5), OTHER)
            if batch
            else bus.receive(queue, OTHER)
        )
        assert isinstance(outcome, v.Empty | v.Received | v.ReceivedSeveral), outcome
        match outcome:
            case v.Received():
                views.append(outcome.message)
            case v.ReceivedSeveral():
                views.extend(outcome.messages)
    bodies = [view.body for view in views]
    assert len(set(bodies)) == len(bodies), bodies
