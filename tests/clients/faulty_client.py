"""The client of examples/clients with one fault, which BUSPROOF_FAULT names."""

import importlib.util
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proton import Message

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "clients" / "proton_client.py"


def load_example() -> Any:
    """Import the example."""
    spec = importlib.util.spec_from_file_location("proton_client", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


example = load_example()
FLOW = b"\x00\x53\x13"


def rewrite(address: str, alter: Callable[[bytes, bool], bytes]) -> str:
    """Start a proxy that passes on what `alter` makes of each frame; return its address."""
    host, port = address.split(":")
    listening = socket.create_server(("127.0.0.1", 0))

    def converse() -> None:
        while True:
            client, _ = listening.accept()
            broker = socket.create_connection((host, int(port)))
            for ends, by_client in (((client, broker), True), ((broker, client), False)):
                threading.Thread(
                    target=pass_on, args=(*ends, alter, by_client), daemon=True
                ).start()

    threading.Thread(target=converse, daemon=True).start()
    return f"127.0.0.1:{listening.getsockname()[1]}"


def pass_on(
    source: socket.socket,
    target: socket.socket,
    alter: Callable[[bytes, bool], bytes],
    by_client: bool,
) -> None:
    """Pass on frames in one direction until it ends."""
    received = b""
    while data := source.recv(65_536):
        received += data
        while len(received) >= 8:
            size = 8 if received[:4] == b"AMQP" else int.from_bytes(received[:4], "big")
            if len(received) < size:
                break
            frame, received = received[:size], received[size:]
            target.sendall(frame if frame[:4] == b"AMQP" else alter(frame, by_client))
    target.close()


class SessionAsProperty(example.Client):
    """SessionId goes among the application's properties."""

    def encode(self, fields: dict[str, Any]) -> Message:
        message = super().encode(fields)
        message.properties = {"SessionId": message.group_id}
        message.group_id = None
        return message


class KeyAsProperty(example.Client):
    """PartitionKey goes among the application's properties."""

    def encode(self, fields: dict[str, Any]) -> Message:
        message = super().encode(fields)
        message.annotations = None
        message.properties = {"PartitionKey": fields.get("partition_key")}
        return message


class KeyOfEverything(example.Client):
    """Each message gets a partition key."""

    def encode(self, fields: dict[str, Any]) -> Message:
        message = super().encode(fields)
        message.annotations = {
            example.KEY: fields.get("session_id") or fields.get("partition_key") or "x"
        }
        return message


class Nameless(example.Client):
    """Messages get no MessageId."""

    def encode(self, fields: dict[str, Any]) -> Message:
        message = super().encode(fields)
        message.id = fields.get("message_id")
        return message


class LifeInProperties(example.Client):
    """The time to live goes nowhere."""

    def encode(self, fields: dict[str, Any]) -> Message:
        message = super().encode(fields)
        message.ttl = 0
        return message


class RenamedCopies(example.Client):
    """A message that is sent again gets another MessageId."""

    def transfer(self, entity: str, message: Message) -> None:
        message.id = str(example.uuid.uuid4())
        super().transfer(entity, message)


class Rewriting(example.Client):
    """A client whose frames pass through a proxy that alters some."""

    def connect(self) -> Any:
        if self.connection is None:
            self.address = rewrite(self.address, self.alter)
        return super().connect()

    def alter(self, frame: bytes, by_client: bool) -> bytes:
        """Return what becomes of a frame."""
        raise NotImplementedError


class Greedy(Rewriting):
    """The credit that the service gives is taken for 255."""

    def alter(self, frame: bytes, by_client: bool) -> bytes:
        if not by_client and frame[8:11] == FLOW:
            return frame.replace(b"\x52\x02", b"\x52\xff")
        return frame


class Impatient(example.Client):
    """A busy service is asked again at once."""

    def pause(self, condition: str) -> None:
        """Wait for nothing."""


class Stubborn(example.Client):
    """Every refusal is tried again."""

    def may_retry(self, condition: str) -> bool:
        return True


class Liar(example.Client):
    """Refused messages count as sent."""

    def send(self, entity: str, fields: dict[str, Any]) -> None:
        try:
            super().send(entity, fields)
        except example.Refused:
            return


FAULTS = {
    "session-as-property": SessionAsProperty,
    "key-as-property": KeyAsProperty,
    "key-of-everything": KeyOfEverything,
    "nameless": Nameless,
    "no-time-to-live": LifeInProperties,
    "renamed-copies": RenamedCopies,
    "greedy": Greedy,
    "impatient": Impatient,
    "stubborn": Stubborn,
    "liar": Liar,
}

if __name__ == "__main__":
    example.main(FAULTS[os.environ["BUSPROOF_FAULT"]])
