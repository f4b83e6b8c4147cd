"""Speed of `busproof serve --store` compared with RabbitMQ's durable queue, and recovery time.

The same client pipelines durable messages of 256 bytes. The brokers take turns, and the best turn
of each counts. busproof's queue has 16 partitions, each with a database; RabbitMQ's queue is
durable; both answer once a message is written. Then the queue is filled and the broker killed, to
measure the time until it listens again and delivers the first message.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from brokers import memory, ours, rabbitmq
from brokers.client import Target, turn, worked
from figures import Figure, at_least, at_most, parser, report

FULL: Final = os.environ.get("BUSPROOF_SIZE") == "full"
MESSAGES: Final = 10_000
RECOVERED: Final = 1_000_000 if FULL else 100_000
TURNS: Final = 3
LEAST_RATIO: Final = 0.3
MOST_SECONDS: Final = 20.0
"""Maximum time to recover a million messages, in seconds; proportionally less for fewer."""


Rates = dict[tuple[str, bool], tuple[float, float]]
"""Messages per second, and processor time per message in microseconds, by target and direction."""


def rates(targets: list[Target], messages: int) -> Rates:
    """Return the rates of sending and receiving of each target, the best of its turns."""
    best: Rates = {}
    for _ in range(TURNS):
        for target in targets:
            for sends in (True, False):
                rate, micro = turn(target, messages, 1, sends=sends, durable=True)
                most, least = best.get((target.name, sends), (rate, micro))
                best[target.name, sends] = max(most, rate), min(least, micro)
    return best


def side_by_side(messages: int, *options: str) -> tuple[Rates, float]:
    """Return the rates of both brokers, and busproof's send rate without a store."""
    with tempfile.TemporaryDirectory() as folder, rabbitmq() as theirs:
        with ours("--store", f"{folder}/store", *options) as (target, _, _):
            measured = rates([target, theirs], messages)
        with ours() as (target, _, _):
            return measured, rates([target], messages)[target.name, True][0]


def recovery(messages: int) -> tuple[float, float, float]:
    """Return the time until this many messages are served again, and the memory in MB.

    The time is in seconds on the clock, and in seconds of processor time.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder, "store"))
        with ours("--store", store) as (target, _, _):
            turn(target, messages, 1, sends=True, durable=True)
            os.kill(target.process, 9)
        began = time.perf_counter()
        with ours("--store", store) as (target, _, _):
            seconds = time.perf_counter() - began
            return seconds, worked(target.process), memory(target.process)


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--messages", type=int, default=MESSAGES, metavar="N", help="in each turn")
    options.add_argument("--recovered", type=int, default=RECOVERED, metavar="N", help="messages")
    options.add_argument("--power", action="store_true", help="with --durable-power")
    args = options.parse_args()
    more = ("--durable-power",) if args.power else ()
    measured, alone = side_by_side(args.messages, *more)
    mine, theirs = "busproof serve", "RabbitMQ"
    seconds, worked_for, megabytes = recovery(args.recovered)
    mine_sent, their_sent = measured[mine, True], measured[theirs, True]
    mine_taken, their_taken = measured[mine, False], measured[theirs, False]
    figures = [
        at_least("durable sends beside RabbitMQ's", mine_sent[0] / their_sent[0], LEAST_RATIO),
        Figure("receives with accept beside RabbitMQ's", mine_taken[0] / their_taken[0]),
        Figure("durable sends beside our own in memory", mine_sent[0] / alone),
        Figure("durable sends a second", mine_sent[0]),
        Figure("receives with accept a second", mine_taken[0]),
        Figure("RabbitMQ's durable sends a second", their_sent[0]),
        Figure(
            "RabbitMQ's processor time for a durable send by ours", their_sent[1] / mine_sent[1]
        ),
        Figure("the same for a receive with accept", their_taken[1] / mine_taken[1]),
        Figure("microseconds of processor time for a durable send", mine_sent[1]),
        Figure("seconds of processor time until the messages are served again", worked_for),
        at_most(
            f"seconds until {args.recovered:,} messages are served again, for each million",
            seconds / args.recovered * 1_000_000,
            MOST_SECONDS,
        ),
        Figure("MB in memory then", megabytes),
    ]
    return report(figures, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
