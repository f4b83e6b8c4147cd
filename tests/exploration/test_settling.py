"""What becomes of a failure: it is shrunk for the rule that it broke."""

import pytest

from busproof import vocabulary as v
from busproof.adapters.faults import make
from busproof.exploration import settling
from busproof.exploration.machine import terms_of
from busproof.exploration.settling import Found, settle_failure
from busproof.exploration.sizes import SIZES
from busproof.history.records import Record, Started
from busproof.spec import load

PROFILE = v.profile_for(load(), edition="cs-2020-12")


def ask(bus: v.Adapter, events: list[v.Event], command: v.Command) -> None:
    outcome = bus.do(command, "c1").outcome
    events.append(
        v.Event(
            client="c1", connection="c1", called=0, returned=0, command=command, outcome=outcome
        )
    )


def failure_of_renewals(bus: v.Adapter) -> list[v.Event]:
    """Return events up to a renewal in the second partition, which is refused."""
    events: list[v.Event] = []
    bus.start(PROFILE)
    ask(bus, events, v.CreateQueue(queue="orders", partitioned=True))
    for number in range(3):
        ask(bus, events, v.Send(queue="orders", message=v.Message(body=f"m{number}", subject="x")))
        ask(bus, events, v.Peek(queue="orders"))
    for _ in range(3):
        ask(bus, events, v.Receive(queue="orders"))
    locks = [
        event.outcome.message.lock_token or ""
        for event in events
        if isinstance(event.outcome, v.Received)
    ]
    for lock in locks[:2]:
        ask(bus, events, v.RenewLock(queue="orders", lock_token=lock))
    return events


def settle() -> tuple[Found, int]:
    """Return what became of the failure, and how many replays were recorded."""
    bus = make("locks-of-first-partition-renewed")
    events = failure_of_renewals(bus)
    records: list[Record] = []
    found = settle_failure(
        bus, terms_of(bus, PROFILE), SIZES["quick"], "FEAT-10", events, write=records.append
    )
    return found, sum(isinstance(record, Started) for record in records)


def test_failure_is_shrunk_although_each_replay_breaks_more_general_rules_first() -> None:
    """FEAT-10 is broken together with LOCK-04, which alone would be charged without a scenario."""
    found, replays = settle()
    assert found.repeats
    assert 3 == replays
    assert 6 == len(found.commands)
    kinds = [type(recorded.command) for recorded in found.commands]
    assert [v.CreateQueue, v.Send, v.Send, v.Receive, v.Receive, v.RenewLock] == kinds


def test_failure_of_many_commands_is_replayed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each replay of a full namespace takes seconds."""
    monkeypatch.setattr(settling, "LONG", 6)
    found, replays = settle()
    assert found.repeats
    assert 1 == replays
