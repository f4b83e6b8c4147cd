"""Histories of any length, from clients of the reference model."""

import heapq
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.files import HistoryWriter
from busproof.history.records import Ended, Header, ScenarioVerdict, Started
from busproof.judging.workload import without_times, work
from busproof.spec import load as load_catalogue

__all__ = ["long", "overlapping_on_regular", "repeated", "stream_events", "written"]

SENDS: Final = 0.6
"""Share of sends among requests of clients that hold no lock, while there is room."""

A_HISTORY: Final = 500
HELD: Final = 100
KEYS: Final = 40
WRITTEN: Final = 100_000
"""Number of events that are generated; more are written by repeating these."""

LASTS: Final = 20_000
"""Maximum time in microseconds from a call to the effect, and from there to the return."""

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
    is_real = clock is v.Clock.REAL
    with HistoryWriter(path) as writer:
        writer.write(_header(v.profile_for(load_catalogue()), ModelAdapter(), clock))
        if not is_real:
            writer.write(Started(scenario="long"))
        for event in stream_events(events, clock):
            writer.write(event)
        if not is_real:
            writer.write(Ended(verdict=ScenarioVerdict.PASSED))


def stream_events(events: int, clock: v.Clock) -> Iterator[v.Event]:
    """Yield the events of such a history one by one."""
    adapter = ModelAdapter()
    adapter.start(v.profile_for(load_catalogue()))
    is_real = clock is v.Clock.REAL
    now = 0

    def ask(command: v.Command) -> v.Event:
        nonlocal now
        if is_real:
            adapter.do(v.AdvanceClock(duration=APART), "c1")
            now += APART
        observation = adapter.do(command, "c1")
        return v.Event(
            called=now,
            returned=now + APART // 2 if is_real else now,
            command=command,
            outcome=observation.outcome,
            witness=observation.witness,
        )

    yield ask(v.CreateQueue(queue="q"))
    for number in range(HELD + events // 3):
        key = f"k{number % KEYS}"
        yield ask(v.Send(queue="q", message=v.Message(body=f"m{number}", partition_key=key)))
        if number < HELD:
            continue
        received = ask(v.Receive(queue="q"))
        yield received
        outcome = received.outcome
        if isinstance(outcome, v.Received) and outcome.message.lock_token is not None:
            yield ask(v.Complete(queue="q", lock_token=outcome.message.lock_token))


def overlapping_on_regular(
    operations: int,
    clients: int,
    held: int,
    random: Random,
    *,
    burst: int | None = None,
) -> list[v.Event]:
    """Return a history of overlapping requests to one queue without partitions.

    Args:
        operations: the number of requests after the queue is created.
        clients: the number of clients; each sends, receives and completes, one request at a time.
        held: the number of messages above which nobody sends.
        random: the source of all random choices.
        burst: after how many messages nobody sends until all are completed; by default never.
    """
    adapter = ModelAdapter()
    adapter.start(v.profile_for(load_catalogue()))
    create = v.CreateQueue(queue="q", partitioned=False)
    adapter.do(create, "c0")
    events = [v.Event(command=create, outcome=v.Done(), returned=0)]
    tokens: list[list[str]] = [[] for _ in range(clients)]
    # By the moment of their effect: the client, and when its request is called.
    coming = [(random.randrange(2, LASTS), client, 1) for client in range(clients)]
    heapq.heapify(coming)
    now = sent = taken = 0
    completed = 0
    while len(events) <= operations:
        moment, client, called = heapq.heappop(coming)
        adapter.do(v.AdvanceClock(duration=moment - now), "c0")
        now = moment
        command: v.Command = v.Receive(queue="q")
        if tokens[client]:
            command = v.Complete(queue="q", lock_token=tokens[client].pop())
            completed += 1
        elif burst is not None and sent % burst == 0 and completed < sent:
            pass
        elif sent == taken or (sent - taken < held and random.random() < SENDS):
            sent += 1
            command = v.Send(queue="q", message=v.Message(body=f"m{sent}"))
        outcome = adapter.do(command, f"c{client}").outcome
        if isinstance(outcome, v.Received) and outcome.message.lock_token is not None:
            taken += 1
            tokens[client].append(outcome.message.lock_token)
        returned = moment + random.randrange(1, LASTS)
        again = returned + random.randrange(1, APART)
        heapq.heappush(coming, (again + random.randrange(1, LASTS), client, again))
        events.append(
            v.Event(
                client=f"w{client}",
                connection=f"c{client}",
                called=called,
                returned=returned,
                command=command,
                outcome=without_times(outcome),
            )
        )
    return sorted(events, key=lambda event: event.called)


def _header(profile: v.Profile, adapter: ModelAdapter, clock: v.Clock) -> Header:
    capabilities = tuple(sorted(adapter.declaration.capabilities))
    return Header(profile=profile, capabilities=capabilities, clock=clock)
