"""Steps for combinations of an outage, an update, a refusal and unusual values."""

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.dead_letters import spend_deliveries
from busproof.steps.definitions.outages_and_clock import need_virtual_clock
from busproof.steps.waiting import waiting
from busproof.steps.wording import seconds


@when(parsers.parse("its lock is renewed {number:d} times, {gap:d} seconds apart"))
@waiting
def renews_many(bus: BusUnderTest, queue: str, kept: v.MessageView, number: int, gap: int) -> None:
    """Renew the lock of a message many times; each renewal must succeed."""
    need_virtual_clock(bus)
    for _ in range(number):
        bus.pass_only(seconds(gap), bus.settings[queue].lock_duration)
        bus.expect(bus.do(v.RenewLock(queue=queue, lock_token=kept.lock_token or "")), v.Renewed)


@when(
    parsers.re(
        r'a message(?: of session "(?P<session_id>[^"]*)")? is received '
        r"(?P<times>\d+ times|as often as permitted), "
        r"(?P<how>abandoned|deferred|kept for (?P<kept>\d+) seconds) each time"
    )
)
@waiting
def receives_again(
    bus: BusUnderTest,
    queue: str,
    views: list[v.MessageView],
    session_id: str | None,
    times: str,
    how: str,
    kept: str | None,
) -> None:
    """Receive the only message repeatedly, by its number if it was deferred."""
    views.clear()
    if times == "as often as permitted":
        number = bus.deliveries[queue]
        pause = int(kept) if kept else None
        spend_deliveries(bus, queue, number, expiring_after=pause, session_id=session_id)
        return
    for _ in range(int(times.removesuffix(" times"))):
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
