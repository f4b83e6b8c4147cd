"""Histories of any length, from clients of the reference model."""

from pathlib import Path
from random import Random
from typing import Final

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.files import HistoryWriter
from busproof.history.records import Ended, Header, ScenarioVerdict, Started
from busproof.judging.workload import work
from busproof.spec import load as load_catalogue

__all__ = ["long", "repeated", "written"]

A_HISTORY: Final = 500
HELD: Final = 100
KEYS: Final = 40
WRITTEN: Final = 100_000
"""Number of events that are generated; more are written by repeating these."""

APART: Final = 10
"""Time between two requests on a real clock, in microseconds; each takes half of it."""


def written(path: Path, events: int) -> None:
    """Record this many events, in histories of equal length."""
    profile = v.profile_for(load_catalogue())
    adapter = ModelAdapter()
    with HistoryWriter(path) as writer:
        writer.write(_header(profile, adapter, v.Clock.VIRTUAL))
        for number in range(events // A_HISTORY):
            writer.write(Started(scenario=f"h{number}"))
            for event in work(adapter, profile, Random(number), A_HISTORY, 1):  # noqa: S311 - repeatable choices, not secrets
                writer.write(event)
            writer.write(Ended(verdict=ScenarioVerdict.PASSED))


def repeated(path: Path, events: int) -> None:
    """Record this many events by writing the same histories repeatedly."""
    some = min(events, WRITTEN)
    written(path, some)
    header, _, histories = path.read_bytes().partition(b"\n")
    with path.open("wb") as file:
        file.write(header + b"\n")
        for _ in range(events // some):
            file.write(histories)


def long(path: Path, events: int, clock: v.Clock = v.Clock.VIRTUAL) -> None:
    """Record one history of a queue that has as many messages at the end as at the beginning.

    On a real clock it is part of a production history, which has no beginning or end.
    """
    profile = v.profile_for(load_catalogue())
    adapter = ModelAdapter()
    adapter.start(profile)
    is_real = clock is v.Clock.REAL
    now = 0
    with HistoryWriter(path) as writer:

        def ask(command: v.Command) -> v.Outcome:
            nonlocal now
            if is_real:
                adapter.do(v.AdvanceClock(duration=APART), "c1")
                now += APART
            observation = adapter.do(command, "c1")
            writer.write(
                v.Event(
                    called=now,
                    returned=now + APART // 2 if is_real else now,
                    command=command,
                    outcome=observation.outcome,
                    witness=observation.witness,
                )
            )
            return observation.outcome

        writer.write(_header(profile, adapter, clock))
        if not is_real:
            writer.write(Started(scenario="long"))
        ask(v.CreateQueue(queue="q"))
        for number in range(HELD + events // 3):
            key = f"k{number % KEYS}"
            ask(v.Send(queue="q", message=v.Message(body=f"m{number}", partition_key=key)))
            if number < HELD:
                continue
            outcome = ask(v.Receive(queue="q"))
            if isinstance(outcome, v.Received) and outcome.message.lock_token is not None:
                ask(v.Complete(queue="q", lock_token=outcome.message.lock_token))
        if not is_real:
            writer.write(Ended(verdict=ScenarioVerdict.PASSED))


def _header(profile: v.Profile, adapter: ModelAdapter, clock: v.Clock) -> Header:
    capabilities = tuple(sorted(adapter.declaration.capabilities))
    return Header(profile=profile, capabilities=capabilities, clock=clock)
