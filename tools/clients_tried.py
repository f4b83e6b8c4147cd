"""Try third-party clients on a broker, and write the table in docs/how-to/serve.md.

Each client and version gets an environment in `.clients/`, made with pip or npm and kept for the
next run; C++ is compiled against the system's libraries. A program in `tools/clients/` runs there
and prints a line for each step. A client that cannot be installed is "not tried", with what it
needs, and counts as failed. Port 5671 must be free, because older Python clients support no other
port for TLS.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs

ROOT: Final = Path(__file__).resolve().parent.parent
HERE, PLACES = ROOT / "tools" / "clients", ROOT / ".clients"
PAGE: Final = ROOT / "docs" / "how-to" / "serve.md"
TABLE: Final = re.compile(r"(?<=<!-- clients -->\n).*(?=<!-- end of clients -->)", re.DOTALL)
LONGEST: Final = 300
"""Maximum time for one client, in seconds."""
HEAD: Final = "| client | version | over | does | does not |\n| --- | --- | --- | --- | --- |\n"
STEPS: Final = {
    "sends_and_receives": "sends and receives",
    "settles": "settles",
    "keeps_sessions": "sessions",
    "schedules": "schedules",
    "subscribes": "topics",
    "administers": "administration",
    "runs_tasks": "tasks",
}
"""Names of the steps, in the programs and in the table."""
NEEDED: Final = {
    ".cpp": "it needs g++ and libqpid-proton-cpp12-dev",
    ".mjs": "it needs node and npm",
    ".py": "it needs pip and a package index",
}
"""Sentence on what must be installed, by the ending of a program's name."""
ENTITIES: Final = {
    "Queues": [
        {"Name": "plain"},
        {"Name": "parted", "Properties": {"EnablePartitioning": True}},
        {"Name": "sessions", "Properties": {"EnablePartitioning": True, "RequiresSession": True}},
    ],
    "Topics": [
        {
            "Name": "topic",
            "Properties": {"EnablePartitioning": True},
            "Subscriptions": [
                {
                    "Name": "some",
                    "Rules": [
                        {
                            "Name": "big",
                            "Properties": {
                                "FilterType": "Sql",
                                "SqlFilter": {"SqlExpression": "size > 3"},
                            },
                        }
                    ],
                },
                {"Name": "all"},
            ],
        }
    ],
}


@attrs.frozen
class TriedClient:
    """A client to try.

    Attributes:
        package: the name in its package index.
        version: version of the package.
        program: program in `tools/clients/` that tries it.
        over: the transport below AMQP, and its library if there are two.
        steps: the steps of the program.
        beside: further packages that the program needs.
    """

    package: str
    version: str
    program: str
    over: str = "TCP"
    steps: tuple[str, ...] = tuple(step for step in STEPS if step != "runs_tasks")
    beside: tuple[str, ...] = ()

    @property
    def place(self) -> Path:
        """Folder of the client's environment."""
        name = f"{self.package.replace('/', '-')}-{self.version.replace(' ', '-')}"
        return PLACES / (f"{name}-with-more" if self.beside else name)


OVER: Final[dict[str, dict[str, str]]] = {
    "TLS": {"BUSPROOF_TLS": "1"},
    "WebSockets": {"BUSPROOF_WEB": "1"},
}
"""Environment variables of the programs, by transport."""
BARE: Final = ("sends_and_receives",)
CLIENTS: Final = (
    *(
        TriedClient("azure-servicebus", version, "azure_servicebus.py", over)
        for version, over in (
            ("7.8.3", "TLS"),
            ("7.11.4", "TLS"),
            ("7.14.3", "TCP"),
            ("7.14.3", "TLS"),
            ("7.15.0", "TCP"),
            ("7.15.0", "TLS"),
        )
    ),
    TriedClient(
        *("azure-servicebus", "7.15.0", "azure_servicebus.py", "WebSockets"),
        beside=("websocket-client",),
    ),
    TriedClient("@azure/service-bus", "7.9.5", "azure_service_bus.mjs"),
    TriedClient("rhea", "3.0.5", "rhea.mjs", steps=BARE),
    TriedClient("python-qpid-proton", "0.40.0", "proton_client.py", steps=BARE),
    TriedClient("libqpid-proton-cpp12-dev", "of the system", "proton_client.cpp", steps=BARE),
    TriedClient(
        *("celery", "5.7.0", "celery_on_kombu.py", "TLS"),
        steps=("sends_and_receives", "runs_tasks"),
        beside=("kombu==5.7.0", "azure-servicebus==7.15.0", "azure-identity"),
    ),
    TriedClient(
        *("faststream-azure-servicebus", "0.2.1", "faststream_client.py"),
        steps=("sends_and_receives", "subscribes"),
        beside=("aiohttp",),
    ),
)


def main() -> int:
    """Try all clients; return 1 if one fails a step."""
    tried = {}
    for client in CLIENTS:
        with TemporaryDirectory() as folder, served(Path(folder)) as where:
            tried[client] = outcome(client, where)
        print(client.package, client.version, client.over, tried[client], flush=True)
    page = PAGE.read_text(encoding="utf-8")
    rows = "".join(map(row, tried, tried.values()))
    PAGE.write_text(TABLE.sub(lambda _: HEAD + rows, page), encoding="utf-8")
    return int(any(result != "ok" for results in tried.values() for result in results.values()))


def row(client: TriedClient, results: dict[str, str]) -> str:
    """Return the row of a client in the table."""
    done = [name for step, name in STEPS.items() if results.get(step) == "ok"]
    failed = [name for step, name in STEPS.items() if results.get(step, "ok") != "ok"]
    can, cannot = ", ".join(done) or "-", ", ".join(failed) or "-"
    return f"| {client.package} | {client.version} | {client.over} | {can} | {cannot} |\n"


def outcome(client: TriedClient, where: dict[str, str]) -> dict[str, str]:
    """Run the steps of a client; return `ok` or the error for each."""
    results = dict.fromkeys(client.steps, "not tried")
    environment = os.environ | where | OVER.get(client.over, {})
    environment.pop("PYTHONPATH", None)
    try:
        command = install(client)
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST
        )
    except (OSError, subprocess.SubprocessError) as error:
        needed = NEEDED[Path(client.program).suffix]
        return dict.fromkeys(results, f"not tried: {needed} ({error})")
    for line in ended.stdout.splitlines():
        step, _, what = line.partition(" ")
        if step in results:
            results[step] = what
    return results


def install(client: TriedClient) -> list[str]:
    """Make the client's environment if it is missing; return the command for its program."""
    place, wanted = client.place, f"{client.package}=={client.version}"
    if client.program.endswith(".py"):
        python = place / "bin" / "python"
        if not python.exists():
            run(sys.executable, "-m", "venv", str(place))
            beside = ("azure-core", "certifi", *client.beside)
            run(str(python), "-m", "pip", "install", "-q", wanted, *beside)
        return [str(python), str(HERE / client.program)]
    place.mkdir(parents=True, exist_ok=True)
    if client.program.endswith(".cpp"):
        made, source = place / "client", HERE / client.program
        run("g++", "-std=c++11", "-o", str(made), str(source), "-lqpid-proton-cpp")
        return [str(made)]
    # Node.js looks for packages in the folder of the program.
    program = place / client.program
    program.write_text((HERE / client.program).read_text(encoding="utf-8"), encoding="utf-8")
    if not (place / "node_modules").exists():
        wanted = wanted.replace("==", "@")
        run("npm", "install", "--prefix", str(place), "--ignore-scripts", "--no-audit", wanted)
    return ["node", str(program)]


def run(*command: str) -> None:
    """Run a command that must succeed."""
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def served(folder: Path) -> Iterator[dict[str, str]]:
    """Run a broker; yield environment variables with its addresses and certificates."""
    authority = folder / "authority.pem"
    config = folder / "Config.json"
    config.write_text(json.dumps({"UserConfig": {"Namespaces": [{"Name": "n", **ENTITIES}]}}))
    tls = ("--tls", str(authority), "--tls-name", "*.servicebus.windows.net")
    ports = ("--port", "0", "--admin-port", "0", "--websocket-port", "0")
    command = (sys.executable, "-m", "busproof", "serve", "--config", str(config), *tls, *ports)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None  # noqa: S101 - a pipe was requested
        output = ""
        while "Endpoint=" not in output:
            line = process.stderr.readline()
            if not line:
                raise SystemExit(f"the broker did not start: {output}")
            output += line
        port, secure, web = (
            re.findall(rf"{name} on [^ ]+:(\d+)", output)[0]
            for name in ("HTTPS", "AMQP over TLS", "AMQP over WebSockets and TLS")
        )
        yield {
            "BUSPROOF_CONNECTION": output[output.index("Endpoint=") :].strip(),
            "BUSPROOF_ADMIN": f"https://localhost:{port}",
            "BUSPROOF_ADMIN_PORT": port,
            "BUSPROOF_TLS_PORT": secure,
            "BUSPROOF_WEB_PORT": web,
            "BUSPROOF_CA": str(authority),
            "REQUESTS_CA_BUNDLE": str(authority),
            "NODE_EXTRA_CA_CERTS": str(authority),
        }
    finally:
        process.terminate()
        process.wait(20)


if __name__ == "__main__":
    sys.exit(main())
