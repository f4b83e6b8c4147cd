"""Steps that settle messages in transactions."""

from typing import Final

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import OTHER

KINDS: Final[dict[str, type[v.Settlement]]] = {
    "completed": v.Complete,
    "abandoned": v.Abandon,
    "dead-lettered": v.DeadLetter,
    "deferred": v.Defer,
}
NEEDED: Final = {"dead-lettered": v.Capability.DEAD_LETTER, "deferred": v.Capability.DEFERRAL}
HOW = r"(?P<how>completed|abandoned|dead-lettered|deferred)"


def _settle(bus: Bus, queue: str, view: v.MessageView, how: str, transaction: str) -> v.Outcome:
    if how in NEEDED:
        bus.need(NEEDED[how])
    token = view.lock_token or ""
    return bus.do(KINDS[how](queue=queue, lock_token=token, transaction=transaction))


@when(parsers.re(rf"the message kept is {HOW} in the transaction"), target_fixture="outcome")
def settles_within(
    bus: Bus, queue: str, kept: v.MessageView, how: str, transaction: str
) -> v.Outcome:
    """Try to settle the locked message in the transaction."""
    return _settle(bus, queue, kept, how, transaction)


@when(
    parsers.re(rf"(?P<number>\d+) messages are received and {HOW} in the transaction"),
    converters={"number": int},
)
def settles_several_within(bus: Bus, queue: str, number: int, how: str, transaction: str) -> None:
    """Receive this many messages, and settle each in the transaction; all must be accepted."""
    for _ in range(number):
        received = bus.do(v.Receive(queue=queue))
        bus.expect(received, v.Received)
        assert isinstance(received, v.Received)
        bus.expect(_settle(bus, queue, received.message, how, transaction), v.Done)


@when("it is received over another connection, if it comes", target_fixture="kept_elsewhere")
def receive_elsewhere_if_it_comes(bus: Bus, queue: str) -> v.MessageView | None:
    """Try to receive over a second connection; a commit may be needed to release the message."""
    outcome = bus.do(v.Receive(queue=queue), OTHER)
    return outcome.message if isinstance(outcome, v.Received) else None


@then("the commit is refused if it has come, and the other receiver can complete it")
def refuses_for_another(
    bus: Bus, queue: str, transaction: str, kept_elsewhere: v.MessageView | None
) -> None:
    """Check that the commit does not settle a message that another receiver has locked."""
    outcome = bus.do(v.CommitTransaction(transaction=transaction))
    if kept_elsewhere is None:
        return
    assert isinstance(outcome, v.Refused), outcome
    token = kept_elsewhere.lock_token or ""
    completed = bus.do(v.Complete(queue=queue, lock_token=token), OTHER)
    assert isinstance(completed, v.Done), completed
