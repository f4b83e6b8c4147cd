"""Speed of `busproof serve` compared with RabbitMQ's AMQP 1.0, by the same client in one run.

Messages of 256 bytes without a key are pipelined and kept in memory; busproof's model decides each,
in a queue of 16 partitions. A turn sends messages to a queue that already holds some, and receives
and accepts as many, over one or more connections. The brokers take turns, and the best turn of each
counts. `--held 1000 1000000` also measures a million messages, in a few more minutes. On a busy
machine, compare the processor time, which the last lines show.

If RabbitMQ is not installed, the run fails, because there are no ratios.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs
from brokers import memory, ours, rabbitmq
from brokers.client import Target, turn, worked
from figures import Figure, at_least, at_most, parser, report

FULL: Final = os.environ.get("BUSPROOF_SIZE") == "full"
CONNECTIONS: Final = (1, 16, 100)
HELD: Final = (1_000, 100_000, 1_000_000) if FULL else (1_000, 100_000)
MESSAGES: Final = 10_000
TURNS: Final = 3
LEAST_RATIO: Final = 0.5
LEAST_GROWTH: Final = 0.5
MOST_SECONDS: Final = 1.0
MOST_MB: Final = 100.0


@attrs.frozen(kw_only=True)
class Row:
    """Messages per second of both brokers; busproof's is first.

    `efforts` has the processor time per message in microseconds: busproof's and RabbitMQ's for
    sends, then for receives with accept.
    """

    depth: int
    connections: int
    sends: tuple[float, float]
    receives: tuple[float, float]
    efforts: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, float]:
        """Ratio of busproof's rate to RabbitMQ's, for sends and for receives."""
        return self.sends[0] / self.sends[1], self.receives[0] / self.receives[1]


def row(both: list[Target], depth: int, messages: int, connections: int) -> Row:
    """Return the best of several measurements of each broker, with this many messages queued."""
    best = {(target.name, sends): 0.0 for target in both for sends in (True, False)}
    work = {(target.name, sends): float("inf") for target in both for sends in (True, False)}
    for _ in range(TURNS):
        for target in both:
            for sends in (True, False):
                rate, micro = turn(target, messages, connections, sends=sends)
                best[target.name, sends] = max(best[target.name, sends], rate)
                work[target.name, sends] = min(work[target.name, sends], micro)
    sent, received = (
        (best[both[0].name, sends], best[both[1].name, sends]) for sends in (True, False)
    )
    efforts = tuple(work[target.name, sends] for sends in (True, False) for target in both)
    return Row(depth=depth, connections=connections, sends=sent, receives=received, efforts=efforts)


def measured(
    both: list[Target],
    sizes: Sequence[int],
    numbers: Sequence[int],
    messages: int,
    show: Callable[[Row], None],
) -> Iterator[Row]:
    """Yield the results for every size, with every number of connections."""
    there = 0
    for depth in sizes:
        for target in both:
            turn(target, depth - there, 1, sends=True)
        there = depth
        for connections in numbers:
            one = row(both, depth, messages, connections)
            show(one)
            yield one


def grown(rows: list[Row]) -> Iterator[Figure]:
    """Yield how busproof's rates change with the messages held, and with the connections."""
    first = rows[0]
    most = next(row for row in rows if row.depth == rows[-1].depth)
    widest = [row for row in rows if row.depth == first.depth][-1]
    for other, words in (
        (most, f"at {most.depth:,} held, beside {first.depth:,}"),
        (widest, f"over {widest.connections} connections, beside {first.connections}"),
    ):
        if other is first:
            continue
        yield at_least(f"sends {words}", other.sends[0] / first.sends[0], LEAST_GROWTH)
        yield at_least(f"receives {words}", other.receives[0] / first.receives[0], LEAST_GROWTH)
        for place, what in ((0, "send"), (2, "receive")):
            ratio = first.efforts[place] / other.efforts[place]
            yield Figure(f"speed of a {what} in processor time {words}", ratio)


def rates(rows: list[Row]) -> Iterator[Figure]:
    """Yield the rates and processor times, without bounds, because they depend on the machine."""
    kinds = [(what, who) for what in ("send", "receive") for who in ("ours", "RabbitMQ's")]
    for one in rows:
        for (what, who), micro in zip(kinds, one.efforts, strict=True):
            words = f"{who}, {one.depth:,} held, connections: {one.connections}"
            yield Figure(f"microseconds of CPU for a {what}, {words}", micro)
        for what, both in (("sends", one.sends), ("receives", one.receives)):
            for who, rate in zip(("ours", "RabbitMQ's"), both, strict=True):
                words = f"{who}, {one.depth:,} held, connections: {one.connections}"
                yield Figure(f"{what} a second, {words}", rate)


def efforts(rows: list[Row]) -> Iterator[Figure]:
    """Yield RabbitMQ's processor time per message by busproof's; above 1, busproof's is less.

    There are no bounds, because other load affects the brokers differently.
    """
    for one in rows:
        for place, what in ((0, "send"), (2, "receive")):
            ours, theirs = one.efforts[place : place + 2]
            words = f"{one.depth:,} held, connections: {one.connections}"
            yield Figure(f"RabbitMQ's processor time for a {what} by ours, {words}", theirs / ours)


def show(one: Row) -> None:
    """Print a row of the table."""
    sent, received = one.ratios
    print(
        f"{one.depth:9,}  {one.connections:11}  {one.sends[0]:7,.0f}  {one.sends[1]:7,.0f}  "
        f"{sent:5.2f}  {one.receives[0]:7,.0f}  {one.receives[1]:7,.0f}  {received:5.2f}  "
        + "  ".join(f"{effort:5.0f}" for effort in one.efforts),
        flush=True,
    )


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--held", type=int, nargs="+", default=HELD, metavar="N")
    options.add_argument("--connections", type=int, nargs="+", default=CONNECTIONS, metavar="N")
    options.add_argument("--messages", type=int, default=MESSAGES, metavar="N", help="in each turn")
    args = options.parse_args()
    heading = "     held  connections  sent/s   theirs  ratio  taken/s   theirs  ratio  "
    heading += "µs sent, theirs, taken, theirs"
    with rabbitmq() as theirs, ours() as (target, seconds, megabytes):
        if not args.json:
            print(heading)
        quiet: Callable[[Row], None] = (lambda _: None) if args.json else show
        began = worked(target.process)
        rows = list(measured([target, theirs], args.held, args.connections, args.messages, quiet))
        after = memory(target.process)
    figures = [
        at_least("sends beside RabbitMQ's", rows[0].ratios[0], LEAST_RATIO),
        at_least("receives with accept beside RabbitMQ's", rows[0].ratios[1], LEAST_RATIO),
        *grown(rows),
        *efforts(rows),
        at_most("seconds to the first message", seconds, MOST_SECONDS),
        Figure("seconds of processor time to the first message", began),
        at_most("MB after the first message", megabytes, MOST_MB),
        Figure("MB in the end", after),
        *(rates(rows) if args.json else ()),
    ]
    return report(figures, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
