"""Cost of `busproof record`: the processor time of a message through it, by that of a direct one.

The path is the client, the recording and `busproof serve`, each a process. The official Python
client sends messages of 256 bytes one by one and receives and completes them, as applications do; a
client of Proton pipelines them. A message one by one passes four sockets more than a direct one, so
a relay that copies bytes and reads nothing of them is measured, too: what it costs is the system's.
The ways are measured by turns, and the least processor time of each counts.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from brokers import LOGIN, memory, ours
from brokers.client import Target, turn, worked
from figures import Figure, at_most, parser, report

MESSAGES: Final = 1_000
TURNS: Final = 3
MOST: Final = {("pipelined", True): 1.6, ("pipelined", False): 2.2}
"""Maximum ratio by how messages are sent, and whether they are; by default `MOST_ONE_BY_ONE`."""
MOST_ONE_BY_ONE: Final = 2.5
TARGET: Final = 1.6
MOST_RELAYED: Final = 2.0
"""Maximum of a recorded message's processor time by that of one that a relay copies."""
MOST_MB: Final = 120.0
KEY: Final = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE"


RELAY: Final = """
import asyncio, sys
class End(asyncio.Protocol):
    def __init__(self, other=None): self.other, self.held = other, []
    def connection_made(self, transport):
        self.transport = transport
        if self.other is None:
            self.other = End(self)
            place = "127.0.0.1", int(sys.argv[1])
            loop.create_task(loop.create_connection(lambda: self.other, *place))
        else:
            for data in self.other.held: transport.write(data)
    def data_received(self, data):
        if hasattr(self.other, "transport"): self.other.transport.write(data)
        else: self.held.append(data)
    def connection_lost(self, _):
        if hasattr(self.other, "transport"): self.other.transport.close()
async def main():
    global loop
    loop = asyncio.get_running_loop()
    server = await loop.create_server(End, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
"""A relay of bytes, by the same event loop as the recording's."""


@contextmanager
def relay(broker: Target) -> Iterator[Target]:
    """Run a relay before a broker; yield it as the broker that clients see."""
    words = [sys.executable, "-c", RELAY, str(broker.port)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        yield Target("relay", int(line), LOGIN, "q", process.pid)
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def recording(broker: Target) -> Iterator[Target]:
    """Run `busproof record` before a broker; yield it as the broker that clients see."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "busproof", "record", "--listen", "0"),
                *("--to", f"amqp://127.0.0.1:{broker.port}", "--out", str(Path(folder, "out"))),
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            line = process.stderr.readline() if process.stderr else ""
            found = re.search(r"AMQP on \S+?:(\d+)", line)
            if found is None:
                raise SystemExit(f"busproof record did not start: {line}")
            yield Target("busproof record", int(found[1]), LOGIN, "q", process.pid)
        finally:
            process.terminate()
            process.wait(60)


@attrs.frozen
class Way:
    """A way to the broker, and the processes on it.

    Attributes:
        target: what clients connect to.
        processes: the processes that work for a message, besides the client.
    """

    target: Target
    processes: tuple[int, ...]

    def spent(self) -> float:
        """Return the processor time of all that work on the path so far, in seconds."""
        return time.process_time() + sum(worked(process) for process in self.processes)


def official(target: Target, count: int, *, sends: bool) -> None:
    """Send messages by the official client, or receive and complete them."""
    text = f"Endpoint=sb://127.0.0.1:{target.port};{KEY};UseDevelopmentEmulator=true;"
    with ServiceBusClient.from_connection_string(text) as client:
        if sends:
            with client.get_queue_sender("q") as sender:
                for _ in range(count):
                    sender.send_messages(ServiceBusMessage(b"x" * 256))
            return
        left = count
        with client.get_queue_receiver("q") as receiver:
            while left:
                for message in receiver.receive_messages(min(left, 50), max_wait_time=60):
                    receiver.complete_message(message)
                    left -= 1


def pipelined(target: Target, count: int, *, sends: bool) -> None:
    """Send messages by Proton without waiting for answers, or receive and accept them."""
    turn(target, count, 1, sends=sends)


def measured(
    paths: list[Way], do: Callable[..., None], messages: int
) -> dict[tuple[int, bool], float]:
    """Return the least microseconds of a message, by the index of the path and whether it sends."""
    best: dict[tuple[int, bool], float] = {}
    for _ in range(TURNS):
        for index, path in enumerate(paths):
            for sends in (True, False):
                before = path.spent()
                do(path.target, messages, sends=sends)
                took = (path.spent() - before) / messages * 1e6
                best[index, sends] = min(took, best.get((index, sends), took))
    return best


def figures(messages: int) -> Iterator[Figure]:
    """Measure both clients on both paths."""
    with ours() as (broker, _, _), relay(broker) as relayed, recording(broker) as recorder:
        copied = Way(relayed, (broker.process, relayed.process))
        direct = Way(broker, (broker.process,))
        through = Way(recorder, (broker.process, recorder.process))
        for who, how, do, number in (
            ("the official client", "one by one", official, messages),
            ("Proton, pipelined", "pipelined", pipelined, 5 * messages),
        ):
            best = measured([direct, through, copied], do, number)
            for sends, what in ((True, "send"), (False, "receive with settlement")):
                near, far, bare = (best[place, sends] for place in range(3))
                yield Figure(f"microseconds of CPU for a {what}, {who}, direct", near)
                yield Figure(f"microseconds of CPU for a {what}, {who}, recorded", far)
                yield Figure(f"microseconds of CPU for a {what}, {who}, relayed", bare)
                words = f"processor time of a recorded {what} by a relayed one, {who}"
                yield at_most(words, far / bare, MOST_RELAYED)
                words = f"processor time of a recorded {what} by a direct one, {who}"
                most = MOST.get((how, sends), MOST_ONE_BY_ONE)
                yield at_most(words, far / near, most, None if most == TARGET else TARGET)
        yield at_most("MB of memory of the recording", memory(recorder.process), MOST_MB)


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--messages", type=int, default=MESSAGES, metavar="N", help="in each turn")
    args = options.parse_args()
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    return report(figures(args.messages), as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
