"""Growth of the memory of `busproof serve` under continuous load.

Twenty clients send, receive and settle in every way on one partitioned queue. They also receive
the messages rejected to the dead-letter queue, and each client leaves now and then and returns:
half of the times its connection is cut without a word. All messages are new, and the queue always
holds about as many, so lasting growth is a leak. The memory is read every second. The first third
of the time is a warm-up, when memory rises in steps; it needs about ten minutes. With `--store`,
messages are in databases.
"""

import random
import statistics
import sys
import tempfile
import time
from typing import Any, Final

from brokers import LOGIN, memory, ours
from brokers.client import Target
from figures import Figure, at_most, parser, report
from proton import Delivery, Handler, Message
from proton.handlers import MessagingHandler
from proton.reactor import Container

MINUTES: Final = 30.0
CLIENTS: Final = 20
ON_THE_WAY: Final = 20
"""Number of messages that each client sends at first; then it sends one for each it accepts."""
STAYS: Final = 1_000
"""Number of messages that a client accepts before it reconnects."""
MOST_GROWTH: Final = 1.05
MOST_SLOPE: Final = 1.0
"""Maximum growth in MB a minute, for each 10,000 messages that are settled in a minute."""
DEAD: Final = "/$deadletterqueue"


class SoakClient(MessagingHandler):
    """A client that sends one message for each that it accepts."""

    def __init__(self, soak: "Soak", number: int) -> None:
        super().__init__(prefetch=10, auto_accept=False)
        self.soak = soak
        self.chance = random.Random(number)  # noqa: S311 - repeatable choices, not secrets
        self.owed = ON_THE_WAY
        self.settled = 0
        self.connection: Any = None

    def come(self, container: Container) -> None:
        """Connect, and attach all links."""
        target = self.soak.target
        self.connection = container.connect(
            f"amqp://127.0.0.1:{target.port}",
            allowed_mechs="PLAIN",
            allow_insecure_mechs=True,
            reconnect=False,
            handler=self,
            **LOGIN,
        )
        self.sender = container.create_sender(self.connection, target.address)
        for address in (target.address, target.address + DEAD):
            container.create_receiver(self.connection, address)

    def on_sendable(self, _: Any) -> None:
        """Send the messages that are due, because the link got credit."""
        self.send()

    def send(self) -> None:
        """Send the messages that are due, within the credit."""
        while self.owed and self.sender.credit:
            self.owed -= 1
            body = self.chance.randbytes(256)
            self.sender.send(Message(body, inferred=True, id=body[:16].hex()))

    def on_message(self, event: Any) -> None:
        """Accept, release or reject a message; always accept dead letters."""
        ways = (Delivery.ACCEPTED, Delivery.RELEASED, Delivery.REJECTED)
        dead = (event.link.source.address or "").endswith(DEAD)
        how = Delivery.ACCEPTED if dead else self.chance.choices(ways, (8, 1, 1))[0]
        event.delivery.update(how)
        event.delivery.settle()
        if how != Delivery.ACCEPTED:
            return
        self.soak.settled += 1
        self.settled += 1
        self.owed += 1
        if self.soak.is_over:
            self.connection.close()
        elif self.settled % STAYS:
            self.send()
        elif self.chance.random() < 0.5:
            self.connection.close()
        else:
            self.soak.cut += 1
            event.transport.close_tail()
            event.transport.close_head()

    def on_connection_closed(self, event: Any) -> None:
        """Reconnect; messages in transit when the connection closed are not sent again."""
        # Proton tells twice that a connection was cut.
        if not self.soak.is_over and event.connection == self.connection:
            self.come(event.container)

    def on_disconnected(self, event: Any) -> None:
        """Reconnect after the connection was cut."""
        self.on_connection_closed(event)


class Soak(Handler):
    """All clients, and readings of the broker's memory."""

    def __init__(self, target: Target, seconds: float) -> None:
        super().__init__()
        self.target = target
        self.seconds = seconds
        self.settled = 0
        self.cut = 0
        """Number of connections that a client has cut."""
        self.began = time.monotonic()
        self.clients = [SoakClient(self, number) for number in range(CLIENTS)]
        self.looks: list[tuple[float, float]] = []

    @property
    def is_over(self) -> bool:
        """Whether the measuring time has passed."""
        return time.monotonic() - self.began > self.seconds

    def on_reactor_init(self, event: Any) -> None:
        """Connect all clients."""
        for client in self.clients:
            client.come(event.container)
        event.reactor.schedule(1, self)

    def on_timer_task(self, event: Any) -> None:
        """Read the broker's memory."""
        self.looks.append((time.monotonic() - self.began, memory(self.target.process)))
        if self.is_over:
            for client in self.clients:
                client.connection.close()
        else:
            event.reactor.schedule(1, self)


def soaked(minutes: float, *options: str) -> tuple[Soak, float, float]:
    """Return the run, and the maximum memory in each half of its time, in MB."""
    with ours(*options) as (target, _, _):
        soak = Soak(target, minutes * 60)
        Container(soak).run()
    half = soak.seconds / 2
    early = max(size for at, size in soak.looks if at <= half)
    return soak, early, max(size for at, size in soak.looks if at > half)


def slope(soak: Soak) -> float:
    """Return the growth in the last two thirds of the time, in MB a minute."""
    late = [(at / 60, size) for at, size in soak.looks if at > soak.seconds / 3]
    return statistics.linear_regression(*zip(*late, strict=True)).slope


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--minutes", type=float, default=MINUTES, metavar="N")
    options.add_argument("--store", action="store_true", help="keep the messages in databases")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        more = ("--store", f"{folder}/store") if args.store else ()
        soak, early, late = soaked(args.minutes, *more)
    figures = [
        at_most(
            "most memory in the second half of the time ÷ in the first", late / early, MOST_GROWTH
        ),
        at_most(
            "MB a minute in the last two thirds of it, for 10,000 messages settled a minute",
            slope(soak) / (soak.settled / args.minutes / 10_000),
            MOST_SLOPE,
        ),
        Figure("MB in the first half", early),
        Figure("MB after it", late),
        Figure("connections cut", soak.cut),
        Figure("messages settled", soak.settled),
        Figure("messages settled a second", soak.settled / soak.seconds),
    ]
    return report(figures, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
