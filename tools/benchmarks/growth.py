"""Growth of the cost of judging a round as the state of a namespace grows.

Each situation has a round of events and a number that grows: held messages, sessions with messages,
MessageIds in the duplicate window, scheduled messages, deferred messages, messages sent in
transactions, or messages with one body that are gone. The answers are those of a bus with one list
per partition, and witnesses are present.
"""

import gc
import itertools
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any

import attrs
from figures import at_most, parser, report

from busproof import vocabulary as v
from busproof.judging.replay.search import Ended, Search

PARTITIONS = 16
SIZES = (1_000, 10_000)
ROUNDS, REPEATS = 200, 8
ATTEMPTS = 30
GROWTH_BOUND = 3.0
HOUR = 3_600_000_000
LOCK = 60_000_000

Events = Iterator[v.Event]


@attrs.define
class Story:
    """Events of one queue on a bus that numbers its messages and locks."""

    numbers: Iterator[int] = attrs.field(factory=lambda: itertools.count(1))
    places: Iterator[int] = attrs.field(factory=lambda: itertools.cycle(range(PARTITIONS)))
    tokens: Iterator[int] = attrs.field(factory=lambda: itertools.count(1))

    def sent(self, name: str, **more: Any) -> tuple[v.Event, v.MessageView]:
        """Return the event of a send, and the message as receivers will see it."""
        transaction = more.pop("transaction", None)
        number = next(self.numbers)
        partition = int(more.pop("at", next(self.places))) % PARTITIONS
        message = v.Message(body=name, **({"message_id": name} | more))
        event = event_of(
            v.Send(queue="q", message=message, transaction=transaction), v.Done(), partition
        )
        return event, seen(message, (partition << v.SEQUENCE_BITS) + number)

    def given(self, view: v.MessageView, **more: Any) -> tuple[v.Event, str]:
        """Return the event of a receive of this message, and the lock token."""
        token = f"t{next(self.tokens)}"
        locked = attrs.evolve(view, lock_token=token, locked_until=LOCK)
        if "numbers" in more:
            deferred = v.ReceiveDeferred(queue="q", sequence_numbers=more["numbers"])
            return event_of(deferred, v.ReceivedSeveral(messages=(locked,))), token
        return event_of(v.Receive(queue="q", **more), v.Received(message=locked)), token


def seen(message: v.Message, number: int) -> v.MessageView:
    """Return a message as its receiver sees it."""
    return v.MessageView(
        body=message.body,
        message_id=message.message_id,
        session_id=message.session_id,
        partition_key=message.partition_key,
        sequence_number=number,
    )


def event_of(command: v.Command, outcome: v.Outcome, partition: int | None = None) -> v.Event:
    """Return an event at time zero."""
    witness = None if partition is None else v.Witness(partition=partition)
    return v.Event(command=command, outcome=outcome, witness=witness, returned=0)


def done(command: v.Command) -> v.Event:
    """Return an event of a successful command."""
    return event_of(command, v.Done())


def sessions(story: Story, depth: int) -> tuple[Events, Callable[[int], Events]]:
    """Return events that fill sessions, and a round that completes a message and sends another."""
    waiting: dict[int, v.MessageView] = {}

    def fill() -> Events:
        for place in range(depth):
            event, waiting[place] = story.sent(f"h{place}", session_id=f"s{place}", at=place)
            yield event

    def turn(number: int) -> Events:
        place = number % depth
        session = f"s{place}"
        yield done(v.AcceptSession(queue="q", session_id=session))
        event, token = story.given(waiting[place], session_id=session)
        yield event
        yield done(v.Complete(queue="q", lock_token=token))
        yield done(v.CloseSession(queue="q", session_id=session))
        event, waiting[place] = story.sent(f"b{number}", session_id=session, at=place)
        yield event

    return fill(), turn


def _passed(story: Story, name: str, **more: str) -> Generator[v.Event, None, v.MessageView]:
    """Send, receive and complete a message; return it."""
    event, view = story.sent(name, **more)
    yield event
    event, token = story.given(view)
    yield event
    yield done(v.Complete(queue="q", lock_token=token))
    return view


def held(story: Story, depth: int) -> tuple[Events, Callable[[int], Events]]:
    """Return events that fill a queue, and a round that sends a message and completes another.

    Every fifth round also abandons a message, receives it again and peeks.
    """
    waiting: deque[v.MessageView] = deque()

    def send(name: str) -> v.Event:
        event, view = story.sent(name)
        waiting.append(view)
        return event

    def fill() -> Events:
        for place in range(depth):
            yield send(f"h{place}")

    def turn(number: int) -> Events:
        yield send(f"b{number}")
        view = waiting.popleft()
        event, token = story.given(view)
        yield event
        if number % 5 == 0:
            yield done(v.Abandon(queue="q", lock_token=token))
            event, token = story.given(view)
            yield event
            yield event_of(v.Peek(queue="q"), v.Peeked(messages=(view,)))
        yield done(v.Complete(queue="q", lock_token=token))

    return fill(), turn


def duplicates(story: Story, depth: int) -> tuple[Events, Callable[[int], Events]]:
    """Return events that fill the duplicate window, and a round that sends a MessageId twice."""

    def fill() -> Events:
        for place in range(depth):
            yield from _passed(story, f"h{place}")

    def turn(number: int) -> Events:
        view = yield from _passed(story, f"b{number}")
        copy = v.Send(queue="q", message=v.Message(body=f"c{number}", message_id=f"b{number}"))
        yield event_of(copy, v.Done(), (view.sequence_number or 0) >> v.SEQUENCE_BITS)

    return fill(), turn


def scheduled(story: Story, depth: int) -> tuple[Events, Callable[[int], Events]]:
    """Return events that schedule messages, and a round that schedules and cancels one.

    The round also sends, receives and completes another message.
    """

    def planned(name: str) -> tuple[v.Event, int]:
        number = next(story.numbers)
        told_number = (number % PARTITIONS << v.SEQUENCE_BITS) + number
        command = v.Schedule(queue="q", message=v.Message(body=name, message_id=name), delay=HOUR)
        return event_of(command, v.Scheduled(sequence_number=told_number)), told_number

    def fill() -> Events:
        for place in range(depth):
            yield planned(f"h{place}")[0]

    def turn(number: int) -> Events:
        event, told_number = planned(f"p{number}")
        yield event
        yield done(v.CancelScheduled(queue="q", sequence_number=told_number))
        yield from _passed(story, f"b{number}")

    return fill(), turn


def deferred(story: Story, depth: int) -> tuple[Events, Callable[[int], Events]]:
    """Return events that defer messages, and a round that defers, receives and completes one."""

    def aside(name: str) -> tuple[tuple[v.Event, ...], v.MessageView]:
        sent, view = story.sent(name)
        received, token = story.given(view)
        return (sent, received, done(v.Defer(queue="q", lock_token=token))), view

    def fill() -> Events:
        for place in range(depth):
            yield from aside(f"h{place}")[0]

    def turn(number: int) -> Events:
        events, view = aside(f"b{number}")
        yield from events
        event, token = story.given(view, numbers=(view.sequence_number or 0,))
        yield event
        yield done(v.Complete(queue="q", lock_token=token))

    return fill(), turn


def transactions(story: Story, depth: int) -> tuple[Events, Callable[[int], Events]]:
    """Return events that send pairs in transactions, and a round that commits another pair."""

    def committed(name: str, key: int) -> Events:
        yield done(v.BeginTransaction(transaction=name))
        for half in "ab":
            more = {"partition_key": f"k{key}", "transaction": name, "at": key}
            yield story.sent(name + half, **more)[0]
        yield done(v.CommitTransaction(transaction=name))

    def fill() -> Events:
        for place in range(depth // 2):
            yield from committed(f"h{place}", place)

    def turn(number: int) -> Events:
        yield from committed(f"b{number}", number)

    return fill(), turn


def equal_bodies(story: Story, depth: int) -> tuple[Events, Callable[[int], Events]]:
    """Return events that pass messages with one body, and a round that passes another."""

    def fill() -> Events:
        for place in range(depth):
            yield from _passed(story, "same", message_id=f"h{place}")

    def turn(number: int) -> Events:
        yield from _passed(story, "same", message_id=f"b{number}")

    return fill(), turn


SITUATIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "held messages": (held, {}),
    "sessions with messages": (sessions, {"requires_session": True}),
    "MessageIds in the window": (duplicates, {"duplicate_detection": True}),
    "scheduled messages": (scheduled, {}),
    "deferred messages": (deferred, {}),
    "messages of transactions": (transactions, {}),
    "messages with one body": (equal_bodies, {}),
}


def judge(search: Search, event: v.Event) -> None:
    """Go on with the execution."""
    search.add(event)
    assert search.run(ATTEMPTS) is Ended.EXPLAINED, event


def measured(name: str, depth: int) -> float:
    """Return the time of a judged round in microseconds, the best of several runs."""
    situation, settings = SITUATIONS[name]
    fill, turn = situation(Story(), depth)
    profile = v.Profile(edition="de-2021-04", partitions=PARTITIONS)
    search = Search((), profile, v.Observability())
    created = done(v.CreateQueue(queue="q", lock_duration=LOCK, **settings))
    for event in itertools.chain((created,), fill):
        judge(search, event)
    gc.collect()
    gc.freeze()
    best = float("inf")
    for repeat in range(REPEATS):
        numbers = range(repeat * ROUNDS, (repeat + 1) * ROUNDS)
        events = [event for number in numbers for event in turn(number)]
        started = time.perf_counter()
        for event in events:
            judge(search, event)
        best = min(best, (time.perf_counter() - started) / ROUNDS * 1e6)
    gc.unfreeze()
    return best


def main() -> int:
    """Print the table, or with --json the figures and whether their bounds hold."""
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments = options.parse_args()
    figures = []
    for name in SITUATIONS:
        costs = {depth: measured(name, depth) for depth in sorted(arguments.sizes)}
        growth = costs[max(costs)] / costs[min(costs)]
        figures.append(at_most(f"{name}, growth", growth, GROWTH_BOUND))
        if not arguments.json:
            row = ", ".join(f"{depth:,}: {cost:.0f} µs" for depth, cost in costs.items())
            print(f"{name}: a round at {row}")
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
