"""Processor time of one message at a time, of `busproof serve` beside RabbitMQ's AMQP 1.0.

A client sends a message, waits until it is accepted and until another connection of it was given
the message, accepts it there, and only then sends the next. Every SDK works so, and a broker can
put nothing together. The brokers take turns, and the best turn of each counts.

The latencies by the clock mean something only on a machine that does nothing else.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any, Final

from brokers import ours, rabbitmq
from brokers.client import Target, worked
from figures import Figure, at_most, parser, report
from proton import Delivery, Handler, Message
from proton.reactor import Container

TURNS: Final = 3
MESSAGES: Final = 1_000
MOST: Final = 1.6
TARGET: Final = 1.0


class Exchange(Handler):
    """A client that has one message on its way at a time."""

    def __init__(self, target: Target, count: int) -> None:
        super().__init__()
        self.target = target
        self.left = count
        self.raw = Message(b"x" * 256, inferred=True).encode()
        self.opened: list[Any] = []
        self.sender: Any = None
        self.attached = self.waits_for = 0
        self.began = self.work = 0.0
        self.accepted: list[float] = []
        self.received: list[float] = []

    def on_reactor_init(self, event: Any) -> None:
        """Connect twice: once for sending, once for receiving."""
        container = event.container
        for make in (container.create_sender, container.create_receiver):
            connection = container.connect(
                f"amqp://127.0.0.1:{self.target.port}",
                allowed_mechs="PLAIN",
                allow_insecure_mechs=True,
                reconnect=False,
                **self.target.login,
            )
            self.opened.append(connection)
            make(connection, self.target.address, handler=self)

    def on_link_remote_open(self, event: Any) -> None:
        """Give the receiver credit for all messages."""
        if event.link.is_receiver:
            event.link.flow(self.left)

    def on_link_flow(self, event: Any) -> None:
        """Begin once there is credit."""
        if self.sender is None and event.link.is_sender and event.link.credit:
            self.sender = event.link
            # The receiver's credit has come by then.
            event.container.schedule(0.3, self)

    def on_timer_task(self, _: Any) -> None:
        """Send the first message."""
        self.work = worked(self.target.process)
        self.send()

    def send(self) -> None:
        """Send a message."""
        self.waits_for, self.began = 2, time.perf_counter()
        self.sender.delivery(str(self.left))
        self.sender.stream(self.raw)
        self.sender.advance()

    def on_delivery(self, event: Any) -> None:
        """Go on once a message is accepted and received."""
        delivery, waited = event.delivery, time.perf_counter() - self.began
        if event.link.is_sender:
            if not delivery.updated:
                return
            self.accepted.append(waited)
        elif delivery.readable and not delivery.partial:
            event.link.recv(delivery.pending)
            event.link.advance()
            delivery.update(Delivery.ACCEPTED)
            self.received.append(waited)
        else:
            return
        delivery.settle()
        self.waits_for -= 1
        if self.waits_for:
            return
        self.left -= 1
        if self.left:
            self.send()
        else:
            self.work = worked(self.target.process) - self.work
            for connection in self.opened:
                connection.close()


def exchange(target: Target, count: int) -> tuple[float, float, float]:
    """Return microseconds of processor time, and of both latencies' medians."""
    handler = Exchange(target, count)
    Container(handler).run()
    accepted, received = (sorted(each)[count // 2] for each in (handler.accepted, handler.received))
    return handler.work / count * 1e6, accepted * 1e6, received * 1e6


def measured(both: list[Target], count: int, turns: int) -> Iterator[Figure]:
    """Yield the figures."""
    best: dict[str, tuple[float, ...]] = {}
    for _ in range(turns):
        for target in both:
            found = exchange(target, count)
            best[target.name] = tuple(map(min, best.get(target.name, found), found))
    first, other = (best[target.name] for target in both)
    words = "processor time of a message beside RabbitMQ's"
    yield at_most(words, first[0] / other[0], MOST, TARGET)
    for place, what in enumerate(("processor", "to the accept, p50", "to the receiver, p50")):
        yield Figure(f"microseconds {what}", first[place])
        yield Figure(f"microseconds {what}, RabbitMQ", other[place])


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--messages", type=int, default=MESSAGES, metavar="N", help="in each turn")
    options.add_argument("--turns", type=int, default=TURNS, metavar="N")
    args = options.parse_args()
    with rabbitmq() as theirs, ours() as (target, _, _):
        figures = list(measured([target, theirs], args.messages, args.turns))
    return report(figures, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
