"""Speed of `busproof serve --store` compared with RabbitMQ's durable queue, and time to recover.

Durable messages of 256 bytes, pipelined by the client of `serving.py`; the brokers take turns, and
the best turn of each counts. Our queue has 16 partitions, each with its own database; RabbitMQ's
queue is durable, and both brokers answer once a message is written. Then the queue is filled and
the broker killed, to measure the time until it listens again and delivers the first message.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from figures import Figure, at_least, at_most, parser, tell
from serving import Target, memory, ours, rabbitmq, turn

FULL: Final = os.environ.get("BUSPROOF_SIZE") == "full"
MESSAGES: Final = 10_000
RECOVERED: Final = 1_000_000 if FULL else 100_000
TURNS: Final = 3
LEAST_RATIO: Final = 0.3
MOST_SECONDS: Final = 20.0
"""For a million messages; fewer messages get a proportional share."""


def rates(targets: list[Target], messages: int) -> dict[tuple[str, bool], float]:
    """Return the messages a second that each target sends and receives, the best of its turns."""
    best: dict[tuple[str, bool], float] = {}
    for _ in range(TURNS):
        for target in targets:
            for sends in (True, False):
                rate, _ = turn(target, messages, 1, sends=sends, durable=True)
                best[target.name, sends] = max(best.get((target.name, sends), 0.0), rate)
    return best


def side_by_side(messages: int, *options: str) -> tuple[dict[tuple[str, bool], float], float]:
    """Return the rates of both brokers, and the send rate of ours without a store."""
    with tempfile.TemporaryDirectory() as folder, rabbitmq() as theirs:
        with ours("--store", f"{folder}/store", *options) as (target, _, _):
            found = rates([target, theirs], messages)
        with ours() as (target, _, _):
            return found, rates([target], messages)[target.name, True]


def recovery(messages: int) -> tuple[float, float]:
    """Return the seconds until this many messages are served again, and the memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder, "store"))
        with ours("--store", store) as (target, _, _):
            turn(target, messages, 1, sends=True, durable=True)
            os.kill(target.process, 9)
        began = time.perf_counter()
        with ours("--store", store) as (target, _, _):
            return time.perf_counter() - began, memory(target.process)


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--messages", type=int, default=MESSAGES, metavar="N", help="in each turn")
    options.add_argument("--recovered", type=int, default=RECOVERED, metavar="N", help="messages")
    options.add_argument("--power", action="store_true", help="with --durable-power")
    args = options.parse_args()
    more = ("--durable-power",) if args.power else ()
    found, alone = side_by_side(args.messages, *more)
    mine, theirs = "busproof serve", "RabbitMQ"
    seconds, megabytes = recovery(args.recovered)
    figures = [
        at_least(
            "durable sends beside RabbitMQ's", found[mine, True] / found[theirs, True], LEAST_RATIO
        ),
        Figure("receives with accept beside RabbitMQ's", found[mine, False] / found[theirs, False]),
        Figure("durable sends beside our own in memory", found[mine, True] / alone),
        Figure("durable sends a second", found[mine, True]),
        Figure("receives with accept a second", found[mine, False]),
        Figure("RabbitMQ's durable sends a second", found[theirs, True]),
        at_most(
            f"seconds until {args.recovered:,} messages are served again, for each million",
            seconds / args.recovered * 1_000_000,
            MOST_SECONDS,
        ),
        Figure("MB in memory then", megabytes),
    ]
    return tell(figures, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
