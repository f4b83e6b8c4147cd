"""Tries clients that others wrote on a broker, and writes the table of docs/how-to/serve.md.

Each client and version gets an environment of its own in `.clients/`, made by pip or npm and kept
for the next time. A program of `tools/clients/` runs in it and prints a line for each step. What
cannot be installed was not tried, and counts as failed. Port 5671 has to be free: older clients of
Python know no other for TLS.
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
import trustme

ROOT: Final = Path(__file__).resolve().parent.parent
HERE, PLACES = ROOT / "tools" / "clients", ROOT / ".clients"
PAGE: Final = ROOT / "docs" / "how-to" / "serve.md"
TABLE: Final = re.compile(r"(?<=<!-- clients -->\n).*(?=<!-- end of clients -->)", re.DOTALL)
LONGEST: Final = 300
"""How many seconds a client may take."""
HEAD: Final = "| client | version | over | does | does not |\n| --- | --- | --- | --- | --- |\n"
STEPS: Final = {
    "sends_and_receives": "sends and receives",
    "settles": "settles",
    "keeps_sessions": "sessions",
    "schedules": "schedules",
    "subscribes": "topics",
    "administers": "administration",
}
"""What programs call their steps, and the table does."""
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
class Client:
    """A client that is tried.

    Attributes:
        package: its name where it is had from.
        version: which one.
        program: what of `tools/clients/` tries it.
        over: what AMQP is spoken over.
        steps: how many the program has.
    """

    package: str
    version: str
    program: str
    over: str = "TCP"
    steps: tuple[str, ...] = tuple(STEPS)

    @property
    def place(self) -> Path:
        """Its environment."""
        return PLACES / f"{self.package.replace('/', '-')}-{self.version}"


BARE: Final = ("sends_and_receives",)
CLIENTS: Final = (
    *(
        Client("azure-servicebus", version, "azure_servicebus.py", over)
        for version, over in (
            ("7.8.3", "TLS"),
            ("7.11.4", "TLS"),
            ("7.14.3", "TCP"),
            ("7.14.3", "TLS"),
            ("7.15.0", "TCP"),
            ("7.15.0", "TLS"),
        )
    ),
    Client("@azure/service-bus", "7.9.5", "azure_service_bus.mjs"),
    Client("rhea", "3.0.5", "rhea.mjs", steps=BARE),
    Client("python-qpid-proton", "0.40.0", "proton_client.py", steps=BARE),
)


def main() -> int:
    """Try all of them; return 1 if one cannot do everything."""
    tried = {}
    for client in CLIENTS:
        with TemporaryDirectory() as folder, served(Path(folder)) as where:
            tried[client] = outcome(client, where)
        print(client.package, client.version, client.over, tried[client], flush=True)
    page = PAGE.read_text(encoding="utf-8")
    rows = "".join(map(row, tried, tried.values()))
    PAGE.write_text(TABLE.sub(lambda _: HEAD + rows, page), encoding="utf-8")
    return int(any(said != "ok" for each in tried.values() for said in each.values()))


def row(client: Client, said: dict[str, str]) -> str:
    """A line of the table."""
    done = [name for step, name in STEPS.items() if said.get(step) == "ok"]
    failed = [name for step, name in STEPS.items() if said.get(step, "ok") != "ok"]
    can, cannot = ", ".join(done) or "-", ", ".join(failed) or "-"
    return f"| {client.package} | {client.version} | {client.over} | {can} | {cannot} |\n"


def outcome(client: Client, where: dict[str, str]) -> dict[str, str]:
    """Each step, and `ok` or what went wrong."""
    said = dict.fromkeys(client.steps, "not tried")
    environment = os.environ | where | ({"BUSPROOF_TLS": "1"} if client.over == "TLS" else {})
    environment.pop("PYTHONPATH", None)
    try:
        command = installed(client)
        ended = subprocess.run(  # noqa: S603 - commands of this file
            command, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST
        )
    except (OSError, subprocess.SubprocessError) as error:
        return dict.fromkeys(said, f"not tried: {error}")
    for line in ended.stdout.splitlines():
        step, _, what = line.partition(" ")
        if step in said:
            said[step] = what
    return said


def installed(client: Client) -> list[str]:
    """Make the environment, if it is not there; returns the command that tries the client."""
    place, wanted = client.place, f"{client.package}=={client.version}"
    if client.program.endswith(".py"):
        python = place / "bin" / "python"
        if not python.exists():
            run(sys.executable, "-m", "venv", str(place))
            run(str(python), "-m", "pip", "install", "-q", wanted, "azure-core", "certifi")
        return [str(python), str(HERE / client.program)]
    place.mkdir(parents=True, exist_ok=True)
    # Node looks for packages beside the program that needs them.
    program = place / client.program
    program.write_text((HERE / client.program).read_text(encoding="utf-8"), encoding="utf-8")
    if not (place / "node_modules").exists():
        wanted = wanted.replace("==", "@")
        run("npm", "install", "--prefix", str(place), "--ignore-scripts", "--no-audit", wanted)
    return ["node", str(program)]


def run(*command: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - commands of this file


@contextmanager
def served(folder: Path) -> Iterator[dict[str, str]]:
    """A broker, and what tells a client where it is."""
    maker = trustme.CA()
    issued = maker.issue_cert("localhost", "127.0.0.1")
    authority, chain, key = (folder / f"{each}.pem" for each in ("authority", "chain", "key"))
    maker.cert_pem.write_to_path(str(authority))
    issued.cert_chain_pems[0].write_to_path(str(chain))
    issued.private_key_pem.write_to_path(str(key))
    key.chmod(0o600)
    config = folder / "Config.json"
    config.write_text(json.dumps({"UserConfig": {"Namespaces": [{"Name": "n", **ENTITIES}]}}))
    tls = ("--tls-cert", str(chain), "--tls-key", str(key))
    ports = ("--port", "0", "--admin-port", "0")
    command = (sys.executable, "-m", "busproof", "serve", "--config", str(config), *tls, *ports)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - as above
    try:
        assert process.stderr is not None  # noqa: S101 - it was asked for
        said = ""
        while "Endpoint=" not in said:
            line = process.stderr.readline()
            if not line:
                raise SystemExit(f"the broker did not start: {said}")
            said += line
        (port,) = re.findall(r"HTTPS on [^ ]+:(\d+)", said)
        yield {
            "BUSPROOF_CONNECTION": said[said.index("Endpoint=") :].strip(),
            "BUSPROOF_ADMIN": f"https://localhost:{port}",
            "BUSPROOF_CA": str(authority),
            "REQUESTS_CA_BUNDLE": str(authority),
            "NODE_EXTRA_CA_CERTS": str(authority),
        }
    finally:
        process.terminate()
        process.wait(20)


if __name__ == "__main__":
    sys.exit(main())
