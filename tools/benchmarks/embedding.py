"""Time that a test waits for a fresh namespace of the embedded broker.

This measures what the fixture `bus` does before each test, with a queue of every kind configured,
after a test that has left messages, an outage and an advanced clock.
"""

import json
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Final

from brokers import LOGIN
from figures import Figure, at_most, parser, report
from proton import Message
from proton.utils import BlockingConnection

from busproof.broker.embedding import Embedded, embedded

NAMESPACES: Final = 200
MOST_MS: Final = 20.0
QUEUES: Final = [
    {"Name": f"q{number}", "Properties": {"EnablePartitioning": True, kind: True}}
    for number, kind in enumerate(
        ("RequiresSession", "RequiresDuplicateDetection", "EnablePartitioning")
    )
]
CONFIGURATION: Final = {
    "UserConfig": {
        "Namespaces": [
            {
                "Name": "n",
                "Queues": QUEUES,
                "Topics": [
                    {
                        "Name": "t",
                        "Properties": {"EnablePartitioning": True},
                        "Subscriptions": [{"Name": "a"}, {"Name": "b"}],
                    }
                ],
            }
        ]
    }
}


def left_behind(broker: Embedded) -> None:
    """Leave behind what a test may leave: a client, messages, an outage, an advanced clock."""
    connection = BlockingConnection(
        f"amqp://127.0.0.1:{broker.port}",
        allowed_mechs="PLAIN",
        allow_insecure_mechs=True,
        **LOGIN,
    )
    sender = connection.create_sender("t")
    for _ in range(10):
        sender.send(Message(b"left", inferred=True))
    broker.take_down("t", 3)
    broker.advance(timedelta(seconds=5))


def measured(config: Path, namespaces: int) -> list[float]:
    """Return the time for each of this many namespaces, in milliseconds."""
    took = []
    with embedded(config) as broker:
        for _ in range(namespaces):
            left_behind(broker)
            began = time.perf_counter()
            broker.begin()
            took.append((time.perf_counter() - began) * 1_000)
    return took


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--namespaces", type=int, default=NAMESPACES, metavar="N")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "Config.json")
        config.write_text(json.dumps(CONFIGURATION), encoding="utf-8")
        took = measured(config, args.namespaces)
    took.sort()
    figures = [
        at_most("ms until a namespace is fresh, the median", statistics.median(took), MOST_MS),
        Figure("ms, 95 of 100", took[int(len(took) * 0.95)]),
    ]
    return report(figures, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
