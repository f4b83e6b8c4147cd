"""The client of examples/clients with one fault, whose class its argument names."""

import contextlib
import importlib.util
import os
import socket
import sys
import threading
import urllib.error
import urllib.request
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
        """Return what becomes of a frame; each fault says what."""
        return frame


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


class OneByOne(example.Client):
    """A batch is sent message by message."""

    def send_batch(self, entity: str, messages: list[dict[str, Any]]) -> None:
        for fields in messages:
            self.send(entity, fields)


class AtOnce(example.Client):
    """Scheduled messages are sent for now."""

    def encode(self, fields: dict[str, Any]) -> Message:
        return super().encode({name: value for name, value in fields.items() if name != "due"})


class Keeping(example.Client):
    """Credit that is asked back is kept."""

    def is_asked_back(self) -> bool:
        return False


class Hoarder(example.Client):
    """Links get credit for a hundred messages."""

    def receiver(self, parameters: dict[str, Any]) -> Any:
        receiver = super().receiver(parameters)
        receiver.link.flow(100)
        return receiver


class Locking(example.Client):
    """Messages are locked in every mode."""

    def receiver(self, parameters: dict[str, Any]) -> Any:
        return super().receiver({**parameters, "mode": "peek-lock"})


class Releasing(example.Client):
    """Deferred messages are released."""

    def settle(self, receiver: Any, delivery: Any, way: str) -> None:
        super().settle(receiver, delivery, "abandon" if way == "defer" else way)


class Forgetful(example.Client):
    """No lock is renewed."""

    def renew(self, entity: str, delivery: Any) -> None:
        """Renew nothing."""


class Optimist(example.Client):
    """Every settlement counts as done."""

    def settle(self, receiver: Any, delivery: Any, way: str) -> None:
        try:
            super().settle(receiver, delivery, way)
        except example.Refused:
            return


class AnySession(example.Client):
    """Whatever session is wanted, the next one is asked for."""

    def receiver(self, parameters: dict[str, Any]) -> Any:
        return super().receiver({**parameters, "session": None})


class Careless(example.Client):
    """A link that is attached again has another mode."""

    was_attached = False

    def receiver(self, parameters: dict[str, Any]) -> Any:
        mode = "receive-and-delete" if self.was_attached else "peek-lock"
        self.was_attached = True
        return super().receiver({**parameters, "mode": mode})


class Quitter(example.Client):
    """A lost connection stays lost."""

    was_connected = False

    def connect(self) -> Any:
        if self.was_connected and self.connection is None:
            example.time.sleep(1)
            raise ConnectionError("the connection was lost")
        self.was_connected = True
        return super().connect()


class Hasty(example.Client):
    """Answers are waited for five seconds."""

    def connect(self) -> Any:
        example.TIMEOUT = 5
        return super().connect()


class Anonymous(example.Client):
    """Requests have no message-id."""

    def ask(self, entity: str, operation: str, body: dict[str, Any]) -> Message:
        request = super().ask(entity, operation, body)
        request.id = None
        return request


class TokenPutter(example.Client):
    """A client that puts tokens, which says what is wrong with them."""

    kind = "servicebus.windows.net:sastoken"

    def put_token(self, entity: str) -> None:
        """Put a token, which need not be a valid one."""
        request = Message("SharedAccessSignature x", id="1")
        request.properties = {"operation": "put-token", "type": self.kind, "name": entity}
        self.request("$cbs", request)


class WrongToken(TokenPutter):
    """The type of a token is misspelt."""

    kind = "sastoken"

    def sender(self, entity: str) -> Any:
        if entity == "orders" and entity not in self.senders:
            self.put_token(entity)
        return super().sender(entity)


class OneToken(TokenPutter):
    """One token is put, and never another."""

    def use_tokens(self, entity: str, seconds: int) -> None:
        self.put_token(entity)


class Committer(example.Client):
    """Transactions are always committed."""

    def transact(self, entity: str, messages: list[dict[str, Any]], *, commits: bool) -> None:
        super().transact(entity, messages, commits=True)


class Sleeper(example.Client):
    """While the application is idle, so is the client, and a lost connection stays lost."""

    def idle(self, seconds: float) -> None:
        example.time.sleep(seconds)
        example.TRIES = 1


class Despairing(example.Client):
    """After a refusal, nothing is sent any more."""

    has_failed = False

    def send(self, entity: str, fields: dict[str, Any]) -> None:
        if self.has_failed:
            raise example.Refused("given up")
        try:
            super().send(entity, fields)
        except example.Refused:
            self.has_failed = True
            raise


class WrongPath(example.Client):
    """A WebSocket is asked for at another path."""

    def open_websocket(self) -> None:
        host, port = self.address.split(":")
        with socket.create_connection((host, int(port))) as web:
            web.sendall(
                b"GET /websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
                b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                b"Sec-WebSocket-Protocol: amqp\r\n\r\n"
            )
            web.recv(1000)
        raise example.Refused("no WebSocket")


class Administrator(example.Client):
    """A client that creates queues by requests of its own, each over a new connection."""

    version = "2017-04"

    def create_queue(self, entity: str) -> None:
        url = f"{os.environ['BUSPROOF_ADMIN']}/{entity}?api-version={self.version}"
        request = urllib.request.Request(url, b"", method="PUT")
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(request).close()


class Antique(Administrator):
    """The api-version is of a time before partitions."""

    version = "2012-08"


if __name__ == "__main__":
    example.main(globals()[sys.argv[1]])
