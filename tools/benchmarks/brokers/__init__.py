"""The brokers that benchmarks compare, each run as a process: `busproof serve` and RabbitMQ.

RabbitMQ comes from Debian's package, and runs in a temporary folder with its AMQP 1.0 plugin.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from brokers.client import Target, turn

__all__ = ["GUEST", "LOGIN", "RABBITMQ", "memory", "ours", "rabbitmq"]

RABBITMQ: Final = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
LOGIN: Final[dict[str, Any]] = {"user": "RootManageSharedAccessKey", "password": "SAS_KEY_VALUE"}
GUEST: Final = {"user": "guest", "password": "guest"}
PORTS: Final = ("--port", "0", "--admin-port", "0")
QUEUE: Final = {"Name": "q", "Properties": {"EnablePartitioning": True}}


@contextmanager
def ours(*options: str) -> Iterator[tuple[Target, float, float]]:
    """Run `busproof serve`; yield it, the seconds to its first message, and its memory in MB.

    Args:
        options: further options of the command.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "Config.json")
        config.write_text(json.dumps({"UserConfig": {"Namespaces": [{"Queues": [QUEUE]}]}}))
        began = time.perf_counter()
        process = subprocess.Popen(
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
            port = int(re.search(r"AMQP on \S+:(\d+)", output)[1])  # type: ignore[index]  # it is in the line
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
    """Run RabbitMQ with its AMQP 1.0 plugin; its data is in a temporary folder."""
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
        process = subprocess.Popen(
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


def memory(process: int) -> float:
    """Return the resident memory of a process, in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    match = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(match[1]) / 1024 if match else 0.0


def free_port() -> int:
    """Return a port that is free at the moment."""
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process listens on a port."""
    limit = time.monotonic() + 120
    while time.monotonic() < limit and process.poll() is None:
        with socket.socket() as some:
            if some.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit("RabbitMQ did not start")
