"""Cost of judging a round, by the number of messages, and compared with a bus of plain dicts.

A round sends, receives and completes a message. Every fifth round also abandons, receives again and
peeks; every tenth advances the clock by zero. Witnesses are present.
"""

import gc
import sys
import time
from collections import deque
from collections.abc import Iterator

from figures import at_most, parser, report

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept

PARTITIONS = 16
SIZES = (1_000, 10_000, 100_000, 1_000_000)
ROUNDS = 1_000
REPEATS = 12
GROWTH_BOUND, RATIO_BOUND = 3.0, 60.0
LOCK = 60_000_000


class PlainBus:
    """The same bus as plain dicts and deques: no rules, no alternatives, no history."""

    def __init__(self) -> None:
        self.stores: list[deque[int]] = [deque() for _ in range(PARTITIONS)]
        self.messages: dict[int, v.Message] = {}
        self.locks: dict[str, int] = {}
        self.sent = self.turn = self.now = self.tokens = 0

    def answer(self, command: v.Command) -> tuple[v.Outcome, int | None]:
        """Return the bus's answer, and the partition that stored or delivered a message."""
        match command:
            case v.Send(message=message):
                partition = self.sent % PARTITIONS
                self.sent += 1
                number = (partition << v.SEQUENCE_BITS) + self.sent
                self.messages[number] = message
                self.stores[partition].append(number)
                return v.Done(), partition
            case v.Receive():
                while not self.stores[self.turn]:
                    self.turn = (self.turn + 1) % PARTITIONS
                number = self.stores[self.turn].popleft()
                self.turn = (self.turn + 1) % PARTITIONS
                self.tokens += 1
                token = f"t{self.tokens}"
                self.locks[token] = number
                view = self.view(number, token)
                return v.Received(message=view), number >> v.SEQUENCE_BITS
            case v.Complete(lock_token=token):
                del self.messages[self.locks.pop(token)]
            case v.Abandon(lock_token=token):
                number = self.locks.pop(token)
                self.stores[number >> v.SEQUENCE_BITS].appendleft(number)
            case v.Peek():
                store = next(store for store in self.stores if store)
                here = store[0] >> v.SEQUENCE_BITS
                # A peek also shows locked messages, in order of sequence numbers.
                locked = (lock for lock in self.locks.values() if lock >> v.SEQUENCE_BITS == here)
                return v.Peeked(messages=(self.view(min((store[0], *locked)), None),)), here
            case v.AdvanceClock(duration=duration):
                self.now += duration
        return v.Done(), None

    def view(self, number: int, token: str | None) -> v.MessageView:
        """Return a message as its receiver sees it."""
        message = self.messages[number]
        return v.MessageView(
            body=message.body,
            message_id=message.message_id,
            sequence_number=number,
            lock_token=token,
            locked_until=None if token is None else self.now + LOCK,
        )


def rounds(bus: PlainBus, first: int, count: int) -> Iterator[v.Event]:
    """Yield the events of rounds, with the answers of the plain bus."""

    def event(command: v.Command) -> v.Event:
        outcome, partition = bus.answer(command)
        witness = None if partition is None else v.Witness(partition=partition)
        return v.Event(command=command, outcome=outcome, witness=witness, returned=0)

    def received() -> tuple[v.Event, str]:
        received_event = event(v.Receive(queue="q"))
        assert isinstance(received_event.outcome, v.Received)
        return received_event, received_event.outcome.message.lock_token or ""

    for number in range(first, first + count):
        yield event(
            v.Send(queue="q", message=v.Message(body=f"b{number}", message_id=f"m{number}"))
        )
        receipt, token = received()
        yield receipt
        if number % 5 == 0:
            yield event(v.Abandon(queue="q", lock_token=token))
            receipt, token = received()
            yield receipt
            yield event(v.Peek(queue="q"))
        yield event(v.Complete(queue="q", lock_token=token))
        if number % 10 == 0:
            yield event(v.AdvanceClock(duration=0))


def sends(depth: int) -> Iterator[v.Send]:
    """Yield the sends that fill a bus before the measurement."""
    for number in range(depth):
        yield v.Send(queue="q", message=v.Message(body=f"h{number}", message_id=f"h{number}"))


def filled(depth: int) -> tuple[PlainBus, PlainBus, tuple[Namespace, ...]]:
    """Return two plain buses and the judge's states, each filled with this many messages."""
    bus, other = PlainBus(), PlainBus()
    profile = v.Profile(edition="de-2021-04", partitions=PARTITIONS)
    possible: tuple[Namespace, ...] = (fresh_namespace(profile, v.Observability()),)
    possible = accept(
        possible, v.Event(command=v.CreateQueue(queue="q"), outcome=v.Done())
    ).possible
    for send in sends(depth):
        other.answer(send)
        _, partition = bus.answer(send)
        witness = v.Witness(partition=partition or 0)
        possible = accept(
            possible, v.Event(command=send, outcome=v.Done(), witness=witness)
        ).possible
    return bus, other, possible


def measured(depth: int) -> tuple[float, float]:
    """Return the times of a judged and a plain round in microseconds, the best of several runs."""
    bus, other, possible = filled(depth)
    judged, plain = [], []
    gc.collect()
    gc.freeze()
    for repeat in range(REPEATS):
        events = list(rounds(bus, repeat * ROUNDS, ROUNDS))
        started = time.perf_counter()
        for event in events:
            possible = accept(possible, event).possible
            assert possible, event
        judged.append((time.perf_counter() - started) / ROUNDS * 1e6)
        commands = [event.command for event in events]
        started = time.perf_counter()
        for command in commands:
            other.answer(command)
        plain.append((time.perf_counter() - started) / ROUNDS * 1e6)
    gc.unfreeze()
    return min(judged), min(plain)


def main() -> int:
    """Print the table, or with --json the figures and whether their bounds hold."""
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments = options.parse_args()
    costs = {depth: measured(depth) for depth in arguments.sizes}
    first, last = costs[min(costs)], costs[max(costs)]
    growth = last[0] / first[0]
    ratio = max(judged / plain for judged, plain in costs.values())
    figures = (
        at_most("judged round, growth", growth, GROWTH_BOUND),
        at_most("judged round / plain round", ratio, RATIO_BOUND),
    )
    if not arguments.json:
        for depth, (judged, plain) in costs.items():
            print(
                f"{depth:>9,} held: judged {judged:7.1f} µs, plain {plain:6.2f} µs a round,"
                f" ratio {judged / plain:5.1f}"
            )
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
