"""Speed of `busproof serve` compared with RabbitMQ's AMQP 1.0, with the same client in one run.

Messages of 256 bytes without a key, pipelined, in memory; the model decides each of ours, in a
queue of 16 partitions. A turn sends messages to a queue that already holds some, and receives and
accepts as many, over one or more connections. The brokers take turns, and the best turn of each
counts. A million messages held take a few more minutes: `--held 1000 1000000`. On a machine with
other work, compare the processor time, which the last lines do.

RabbitMQ is started from Debian's package in a temporary folder, with its AMQP 1.0 plugin. If it is
not installed, the run fails, because there are no ratios.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs
from figures import Figure, at_least, at_most, parser, report
from proton import Delivery, Endpoint, Handler, Message
from proton.reactor import Container

FULL: Final = os.environ.get("BUSPROOF_SIZE") == "full"
CONNECTIONS: Final = (1, 16, 100)
HELD: Final = (1_000, 100_000, 1_000_000) if FULL else (1_000, 100_000)
MESSAGES: Final = 10_000
TURNS: Final = 3
CREDIT: Final = 1_000
LEAST_RATIO: Final = 0.5
LEAST_GROWTH: Final = 0.5
MOST_SECONDS: Final = 1.0
MOST_MB: Final = 100.0
RABBITMQ: Final = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
LOGIN: Final = {"user": "RootManageSharedAccessKey", "password": "SAS_KEY_VALUE"}
GUEST: Final = {"user": "guest", "password": "guest"}
PORTS: Final = ("--port", "0", "--admin-port", "0")
QUEUE: Final = {"Name": "q", "Properties": {"EnablePartitioning": True}}


@attrs.frozen
class Target:
    """A running broker: its name, port, login, queue address and process id."""

    name: str
    port: int
    login: dict[str, str]
    address: str
    process: int


class Turn(Handler):
    """Send or receive a number of messages over some connections, and measure the time."""

    def __init__(
        self, target: Target, count: int, connections: int, *, sends: bool, durable: bool = False
    ) -> None:
        super().__init__()
        self.target = target
        self.count = count
        self.connections = connections
        self.sends = sends
        self.raw = Message(b"x" * 256, inferred=True, durable=durable).encode()
        self.left_to_send = count
        self.left = count
        self.links: list[Any] = []
        self.opened: list[Any] = []
        self.seconds = 0.0

    def on_reactor_init(self, event: Any) -> None:
        """Connect, and attach a link on each connection."""
        for _ in range(self.connections):
            connection = event.container.connect(
                f"amqp://127.0.0.1:{self.target.port}",
                allowed_mechs="PLAIN",
                allow_insecure_mechs=True,
                reconnect=False,
                **self.target.login,
            )
            make = event.container.create_sender if self.sends else event.container.create_receiver
            self.opened.append(connection)
            make(connection, self.target.address, handler=self)

    def on_link_remote_open(self, event: Any) -> None:
        """Begin once all links are attached."""
        self.links.append(event.link)
        if len(self.links) < self.connections:
            return
        self.began = time.perf_counter()
        for link in self.links:
            if self.sends:
                self.on_link_flow(event, link)
            else:
                link.flow(min(CREDIT, self.count))

    def on_link_flow(self, event: Any, link: Any = None) -> None:
        """Send as many messages as there is credit for."""
        link = link or event.link
        if not self.sends or len(self.links) < self.connections:
            return
        while link.credit > 0 and self.left_to_send:
            self.left_to_send -= 1
            link.delivery(str(self.left_to_send))
            link.stream(self.raw)
            link.advance()

    def on_delivery(self, event: Any) -> None:
        """Count accepted messages, or accept received ones."""
        delivery = event.delivery
        if self.sends:
            if not delivery.updated:
                return
            if delivery.remote_state != Delivery.ACCEPTED:
                raise SystemExit(f"{self.target.name} answered {delivery.remote_state}")
            delivery.settle()
            self.counted()
        elif delivery.readable and not delivery.partial:
            link = delivery.link
            link.recv(delivery.pending)
            link.advance()
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()
            self.counted()
            if link.credit < CREDIT // 2 and self.left > CREDIT * self.connections:
                link.flow(CREDIT - link.credit)
            elif not link.credit and self.left:
                link.flow(min(self.left, CREDIT // 4))

    def counted(self) -> None:
        """Count one message; close all connections after the last."""
        self.left -= 1
        if self.left == 0:
            self.seconds = time.perf_counter() - self.began
            for link in self.opened:
                link.close()

    def on_link_remote_close(self, event: Any) -> None:
        """Exit with the error if the broker closes a link early."""
        if event.link.state & Endpoint.LOCAL_ACTIVE and self.left:
            raise SystemExit(f"{self.target.name}: {event.link.remote_condition}")


def turn(
    target: Target, count: int, connections: int, *, sends: bool, durable: bool = False
) -> tuple[float, float]:
    """Return the messages a second, and the broker's processor time for each in microseconds."""
    handler = Turn(target, count, connections, sends=sends, durable=durable)
    before = worked(target.process)
    Container(handler).run()
    return count / handler.seconds, (worked(target.process) - before) / count * 1e6


def worked(process: int) -> float:
    """Return the seconds of processor time of a process and its descendants."""
    ticks, children = {}, dict[int, list[int]]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        ticks[number] = int(fields[11]) + int(fields[12])
        children.setdefault(int(fields[1]), []).append(number)
    ticks_used, waiting = 0, [process]
    while waiting:
        number = waiting.pop()
        ticks_used += ticks.get(number, 0)
        waiting += children.get(number, [])
    return ticks_used / os.sysconf("SC_CLK_TCK")


@contextmanager
def ours(*options: str) -> Iterator[tuple[Target, float, float]]:
    """Run `busproof serve`; yield it with the seconds to its first message and its memory in MB.

    Args:
        options: further options of the command.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "Config.json")
        config.write_text(json.dumps({"UserConfig": {"Namespaces": [{"Queues": [QUEUE]}]}}))
        began = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            [sys.executable, "-m", "busproof", "serve", *PORTS, "--config", str(config), *options],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            output = ""
            while "Endpoint=" not in output:
                line = process.stderr.readline() if process.stderr else ""
                if not line:
                    raise SystemExit(f"busproof serve did not start: {output}")
                output += line
            port = int(re.search(r"AMQP on \S+:(\d+)", output)[1])  # type: ignore[index]
            target = Target("busproof serve", port, LOGIN, "q", process.pid)
            turn(target, 1, 1, sends=True)
            took = time.perf_counter() - began
            turn(target, 1, 1, sends=False)
            yield target, took, memory(process.pid)
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def rabbitmq() -> Iterator[Target]:
    """Run RabbitMQ with its AMQP 1.0 plugin, with its data in a temporary folder."""
    if not RABBITMQ.exists():
        raise SystemExit(
            "RabbitMQ is missing, beside which we measure; install it "
            "(Debian, Ubuntu: apt-get install rabbitmq-server)"
        )
    with tempfile.TemporaryDirectory() as folder:
        port, distribution = free_port(), free_port()
        Path(folder, "plugins").write_text("[rabbitmq_amqp1_0].\n")
        Path(folder, "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{port}\n")
        settings = {
            "HOME": folder,
            "RABBITMQ_NODENAME": f"busproof{port}@localhost",
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_MNESIA_BASE": f"{folder}/mnesia",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
        }
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            [str(RABBITMQ)],
            env=os.environ | settings,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(port, process)
            yield Target("RabbitMQ", port, GUEST, "/queue/q", process.pid)
        finally:
            process.terminate()
            process.wait(60)


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process listens on the port."""
    limit = time.monotonic() + 120
    while time.monotonic() < limit and process.poll() is None:
        with socket.socket() as some:
            if some.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit("RabbitMQ did not start")


def memory(process: int) -> float:
    """Return the resident memory of a process, in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    match = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(match[1]) / 1024 if match else 0.0


@attrs.frozen(kw_only=True)
class Row:
    """Messages a second of both brokers, ours first.

    `efforts` is the processor time for a message, in microseconds: for sends, ours and theirs, and
    for receives with accept.
    """

    depth: int
    connections: int
    sends: tuple[float, float]
    receives: tuple[float, float]
    efforts: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, float]:
        """Ratio of our rate to theirs, for sends and for receives."""
        return self.sends[0] / self.sends[1], self.receives[0] / self.receives[1]


def row(both: list[Target], depth: int, messages: int, connections: int) -> Row:
    """Return the best turns of both brokers, whose queues hold this many messages."""
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
    """Yield the results of every size with every number of connections."""
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
    """Yield the change of our rates with the messages held, and with the connections."""
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
    """Yield the rates and efforts, without bounds, because they depend on the machine."""
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
    """Yield RabbitMQ's processor time for a message by ours; more than 1 means that ours is less.

    Without bounds: beside other work the brokers suffer differently.
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
