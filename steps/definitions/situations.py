"""Steps for combinations of an outage, an update, a refusal and unusual values."""

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.outages_and_clock import need_virtual_clock
from busproof.steps.definitions.sending import READ
from busproof.steps.waiting import waiting
from busproof.steps.wording import Properties, seconds


@when(parsers.parse("its lock is renewed {number:d} times, {gap:d} seconds apart"))
@waiting
def renews_many(bus: BusUnderTest, queue: str, kept: v.MessageView, number: int, gap: int) -> None:
    """Renew the lock of a message many times; each renewal must succeed."""
    need_virtual_clock(bus)
    for _ in range(number):
        bus.pass_only(seconds(gap), bus.settings[queue].lock_duration)
        bus.expect(bus.do(v.RenewLock(queue=queue, lock_token=kept.lock_token or "")), v.Renewed)


@when(
    parsers.parse("{number:d} transactions of a message {carried} are committed one after another"),
    converters=READ,
)
def commits_many(bus: BusUnderTest, queue: str, number: int, carried: Properties) -> None:
    """Send a message in each of this many transactions; every commit must succeed."""
    for place in range(number):
        name = f"many-{place}"
        bus.expect(bus.do(v.BeginTransaction(transaction=name)), v.Done)
        sent = v.Send(queue=queue, message=carried.message(bus), transaction=name)
        bus.expect(bus.send(sent), v.Done)
        bus.expect(bus.do(v.CommitTransaction(transaction=name)), v.Done)


@when(
    parsers.re(
        r'a message(?: of session "(?P<session_id>[^"]*)")? is received (?P<number>\d+) times, '
        r"(?P<how>abandoned|deferred|kept for (?P<kept>\d+) seconds) each time"
    ),
    converters={"number": int},
)
@waiting
def receives_again(
    bus: BusUnderTest,
    queue: str,
    views: list[v.MessageView],
    session_id: str | None,
    number: int,
    how: str,
    kept: str | None,
) -> None:
    """Receive the only message repeatedly, by its number if it was deferred."""
    views.clear()
    for _ in range(number):
        views.append(_given_again(bus, queue, session_id, views if how == "deferred" else []))
        token = views[-1].lock_token or ""
        if kept:
            bus.pass_time(seconds(int(kept)))
        elif how == "deferred":
            bus.expect(bus.do(v.Defer(queue=queue, lock_token=token)), v.Done)
        else:
            bus.expect(bus.do(v.Abandon(queue=queue, lock_token=token)), v.Done)


def _given_again(
    bus: BusUnderTest, queue: str, session_id: str | None, deferred: list[v.MessageView]
) -> v.MessageView:
    outcome: v.Outcome
    if not deferred:
        outcome = bus.do(v.Receive(queue=queue, session_id=session_id))
        bus.expect(outcome, v.Received)
        assert isinstance(outcome, v.Received)
        return outcome.message
    number = deferred[-1].sequence_number
    if number is None:
        raise NotApplicable("sequence numbers: the adapter reports none")
    numbered = v.ReceiveDeferred(queue=queue, sequence_numbers=(number,), session_id=session_id)
    outcome = bus.do(numbered)
    bus.expect(outcome, v.ReceivedSeveral)
    assert isinstance(outcome, v.ReceivedSeveral)
    return outcome.messages[0]


@then(parsers.re(r"each time its delivery count is (?P<how>the same|greater by one)"))
def counts_each_time(bus: BusUnderTest, queue: str, views: list[v.MessageView], how: str) -> None:
    """Check how the delivery count changes from one delivery to the next.

    That of a dead letter may be any number where it need not tell anything (DEAD-LETTER-COUNT).
    """
    reading = bus.profile.readings.get("DEAD-LETTER-COUNT", "either")
    if v.is_dead_letter_queue(queue) and reading == "either":
        return
    counts = [view.delivery_count or 0 for view in views]
    step = 1 if how == "greater by one" else 0
    assert counts == [counts[0] + step * number for number in range(len(counts))], counts
