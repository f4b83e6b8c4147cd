"""Load from four clients on a broker that is killed under it, and what is recorded of it."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters.amqp.clients import Clients
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.scenario import Scenario, Setting
from busproof.adapters.amqp.target import target_of
from busproof.errors import AdapterError

from ..conftest import Served, launched, running

LOCK: Final = 1.0
"""How long a message stays locked, in seconds."""
TIMEOUT: Final = 10.0


SEVERAL_ENTITIES: Final = {
    "UserConfig": {"Namespaces": [{"Readings": {"TXN-ENTITIES": "accepted"}}]}
}
"""One transaction may send to two queues, which a regular broker refuses as the service does."""


class Victim:
    """A broker with a store that is killed and started anew, always on the same ports.

    Args:
        folder: of the store.
        ports: where it speaks AMQP and HTTP.
        launch: starts it with these options.
    """

    def __init__(
        self,
        folder: Path,
        ports: tuple[int, int],
        launch: "Callable[..., subprocess.Popen[str]]" = launched,
    ) -> None:
        config = folder.with_name(f"{folder.name}.json")
        config.write_text(json.dumps(SEVERAL_ENTITIES), encoding="utf-8")
        self._options = (
            *("--config", str(config)),
            *("--port", str(ports[0]), "--admin-port", str(ports[1])),
            *("--message-ids", "as-sent", "--store", str(folder)),
        )
        self._launch = launch
        self.served = self._started()

    def kill(self) -> None:
        """End it without a warning, if it has not ended by itself."""
        self.served.process.send_signal(signal.SIGKILL)
        self.served.process.wait(PATIENCE)

    def start(self, launch: "Callable[..., subprocess.Popen[str]] | None" = None) -> None:
        """Start it anew, on what its store has."""
        self._launch = launch or self._launch
        self.served = self._started()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.served.process.poll() is not None

    def stop(self) -> None:
        """End it."""
        self.served.process.terminate()
        self.served.process.wait(PATIENCE)

    def _started(self) -> Served:
        return running(self._launch(*self._options))


DYING: Final = """
import os, signal, sys
from busproof.broker.storage.write_set import Statement
from busproof.broker.storage.store import Store
from busproof.cli.main import main

finish, left = Store.finish, [int(os.environ["MOVES"])]
PUT_MESSAGE, REASON = Statement.PUT_MESSAGE, 9


def is_dead(row):
    return row[REASON] is not None


def moves(changes):
    places = changes.rows.items()
    came = {place for place, rows in places if any(map(is_dead, rows.get(PUT_MESSAGE, ())))}
    left = {place for place, rows in places if Statement.DROP_MESSAGE in rows}
    return came and left and came.isdisjoint(left)


def cut(store, changes):
    left[0] -= bool(moves(changes))
    if not left[0]:
        for place in changes.left[: int(os.environ["DONE"])]:
            store._databases[place].commit()
        os.kill(os.getpid(), signal.SIGKILL)
    finish(store, changes)


Store.finish = cut
sys.exit(main(["serve", *sys.argv[1:]]))
"""


CHECKPOINTING: Final = """
import os, signal, sys, threading, time
from pathlib import Path
from busproof.broker.storage import store
from busproof.broker.storage.databases import Database
from busproof.cli.main import main

store.LOG = 64 * 1024
checkpoint, left, after = Database.checkpoint, [int(os.environ["NUMBER"])], [0.0]


def die(moment):
    time.sleep(moment)
    os.kill(os.getpid(), signal.SIGKILL)


def cut(database, **how):
    left[0] -= 1
    if not left[0]:
        moment = after[0] * float(os.environ["PART"])
        threading.Thread(target=die, args=(moment,)).start()
    began = time.perf_counter()
    checkpoint(database, **how)
    after[0] = time.perf_counter() - began
    if left[0] <= 0:
        Path(os.environ["ENDED"]).touch()


Database.checkpoint = cut
sys.exit(main(["serve", *sys.argv[1:]]))
"""


def dying(moves: int, done: int) -> "Callable[..., subprocess.Popen[str]]":
    """A broker that kills itself while a dead letter goes from one database to another.

    Args:
        moves: which one it is.
        done: in how many databases it is done by then, the namespace's own, which decides, first.
    """
    return _launching(DYING, MOVES=str(moves), DONE=str(done))


def checkpointing(number: int, part: float, ended: Path) -> "Callable[..., subprocess.Popen[str]]":
    """A broker that kills itself while it brings a log into its database.

    Args:
        number: which checkpoint it is; the one before tells how long one takes.
        part: the part of that time after which it dies.
        ended: a file that it makes if the checkpoint has ended before that.
    """
    return _launching(CHECKPOINTING, NUMBER=str(number), PART=str(part), ENDED=str(ended))


def _launching(program: str, **settings: str) -> "Callable[..., subprocess.Popen[str]]":
    def launch(*options: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", program, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | settings,
        )

    return launch


class _Client:
    """One client: what it asks is recorded, unless it never got to ask it."""

    def __init__(self, name: str, load: "Round") -> None:
        self._name = name
        self._load = load
        self._target = target_of(
            f"{load.served.connection_string}AdminEndpoint={load.served.admin}"
        )
        self._entities = Entities(self._target, TIMEOUT)
        setting = Setting(entities=self._entities, epoch=load.epoch, now=load.now, tells_time=False)
        self._scenario = Scenario(setting)
        self._clients = Clients(self._target, TIMEOUT)

    def ask(self, command: v.Command) -> v.Outcome | None:
        """What came of a request; `None` where there was nobody to ask."""
        called = self._load.now()
        try:
            outcome = self._clients.ask(self._scenario, command, self._name)
        except AdapterError:
            return None
        returned = None if isinstance(outcome, v.Indeterminate) else self._load.now()
        event = v.Event(
            client=self._name,
            connection=self._name,
            called=called,
            returned=returned,
            command=command,
            outcome=outcome,
        )
        self._load.events.append(event)
        return outcome

    def close(self) -> None:
        """Let the connection go."""
        with suppress(OSError, AdapterError):
            self._clients.end()
            self._entities.close()


@attrs.define
class Round:
    """One kill: entities of its own, load, the kill, and all that is there afterwards.

    Attributes:
        number: of the round, by which its entities are called.
        queue: a queue.
        graves: a queue to which its dead letters go on, from one store to another.
        begins: a queue that forwards to `ends`.
        topic: a topic with two subscriptions.
        served: the broker.
        events: what was asked and came.
        outcomes: body to what was answered to its send.
        ended: body to what was answered to each request to complete it.
        buried: the same of requests to dead-letter it.
        together: bodies that were sent in one transaction.
        found: entity to the bodies that were found there afterwards.
    """

    number: int
    served: Served
    seed: int
    events: list[v.Event] = attrs.field(factory=list)
    outcomes: dict[str, tuple[str, v.Outcome]] = attrs.field(factory=dict)
    ended: dict[tuple[str, str], v.Outcome] = attrs.field(factory=dict)
    buried: dict[tuple[str, str], v.Outcome] = attrs.field(factory=dict)
    together: list[tuple[str, str]] = attrs.field(factory=list)
    found: dict[str, Counter[str]] = attrs.field(factory=dict)
    epoch: int = attrs.field(factory=lambda: int(time.time() * v.MICROSECONDS))
    queue: str = attrs.field(init=False)
    graves: str = attrs.field(init=False)
    begins: str = attrs.field(init=False)
    ends: str = attrs.field(init=False)
    topic: str = attrs.field(init=False)
    _began: float = attrs.field(factory=time.monotonic)
    _over: threading.Event = attrs.field(factory=threading.Event)

    def __attrs_post_init__(self) -> None:
        self.queue = f"q{self.number}"
        self.graves = f"dead{self.number}"
        self.begins = f"in{self.number}"
        self.ends = f"out{self.number}"
        self.topic = f"t{self.number}"

    def now(self) -> int:
        """The recording's time, in microseconds."""
        return int((time.monotonic() - self._began) * v.MICROSECONDS)

    def subscription(self, name: str) -> str:
        """The path of a subscription."""
        return f"{self.topic}/subscriptions/{name}"

    def create(self) -> None:
        """Have the entities."""
        lock = int(LOCK * v.MICROSECONDS)
        maker = _Client("maker", self)
        for command in (
            v.CreateQueue(queue=self.graves),
            v.CreateQueue(
                queue=self.queue, lock_duration=lock, forward_dead_letters_to=self.graves
            ),
            v.CreateQueue(queue=self.ends, lock_duration=lock),
            v.CreateQueue(queue=self.begins, forward_to=self.ends),
            v.CreateTopic(topic=self.topic),
            *(
                v.CreateSubscription(topic=self.topic, subscription=name, lock_duration=lock)
                for name in "ab"
            ),
        ):
            assert isinstance(maker.ask(command), v.Done), command
        maker.close()

    def run(self, kill: Callable[[], None], after: int) -> None:
        """Ask from four clients, and kill the broker once so many answers have come."""
        asking = (self._send_plain, self._send_on, self._receive_plain, self._receive_on)
        threads = [threading.Thread(target=each) for each in asking]
        for each in threads:
            each.start()
        asked, until = len(self.events), time.monotonic() + PATIENCE
        while len(self.events) - asked < after and time.monotonic() < until:
            time.sleep(0.001)
        kill()
        self._over.set()
        for each in threads:
            each.join(PATIENCE)
            assert not each.is_alive()

    def look(self) -> None:
        """Take all that there is, once what was locked is free again."""
        time.sleep(LOCK)
        looker = _Client("looker", self)
        places = (self.queue, self.ends, self.subscription("a"), self.subscription("b"))
        for path in (
            *places,
            *(each + v.DEAD_LETTERS for each in places),
            self.begins,
            self.graves,
        ):
            self.found[path] = Counter(self._taken(looker, path))
        # A namespace has 100 partitioned queues, and topics, at most, however often it is killed.
        for queue in (self.begins, self.queue, self.ends, self.graves):
            assert isinstance(looker.ask(v.DeleteQueue(queue=queue)), v.Done), queue
        assert isinstance(looker.ask(v.DeleteTopic(topic=self.topic)), v.Done)
        looker.close()

    def _taken(self, client: _Client, path: str) -> Iterator[str]:
        take = v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
        while isinstance(outcome := client.ask(take), v.Received):
            yield outcome.message.body

    def _send_plain(self) -> None:
        client = _Client("c1", self)
        self._go_on(lambda n: self._send(client, self.queue, f"{self.number}-p{n}"))
        client.close()

    def _send_on(self) -> None:
        client = _Client("c2", self)

        def send(number: int) -> bool:
            if number % 6 == 5:
                return self._send_together(client, f"{self.number}-t{number}")
            path = self.topic if number % 3 == 0 else self.begins
            return self._send(client, path, f"{self.number}-o{number}")

        self._go_on(send)
        client.close()

    def _send(self, client: _Client, path: str, body: str) -> bool:
        key = f"k{len(self.outcomes) % 5}" if len(body) % 2 else None
        outcome = client.ask(v.Send(queue=path, message=v.Message(body=body, partition_key=key)))
        if outcome is not None:
            self.outcomes[body] = path, outcome
        return isinstance(outcome, v.Done)

    def _send_together(self, client: _Client, name: str) -> bool:
        """Send two messages in a transaction, to two queues; whether it was committed."""
        bodies = f"{name}a", f"{name}b"
        self.together.append(bodies)
        asked: list[v.Command] = [v.BeginTransaction(transaction=name)]
        for path, body in zip((self.queue, self.ends), bodies, strict=True):
            message = v.Message(body=body, partition_key="k1")
            asked.append(v.Send(queue=path, message=message, transaction=name))
        for command in asked:
            if not isinstance(client.ask(command), v.Done):
                return False
        ended = client.ask(v.CommitTransaction(transaction=name)) or v.Indeterminate()
        self.outcomes |= {bodies[0]: (self.queue, ended), bodies[1]: (self.ends, ended)}
        return isinstance(ended, v.Done)

    @property
    def outcomes_together(self) -> list[tuple[str, str]]:
        """Those of `together` of which it was asked to commit them."""
        return [bodies for bodies in self.together if bodies[0] in self.outcomes]

    def _receive_plain(self) -> None:
        client = _Client("c3", self)
        self._go_on(lambda n: self._receive(client, self.queue, n))
        client.close()

    def _receive_on(self) -> None:
        client = _Client("c4", self)

        def receive(number: int) -> bool:
            return self._receive(
                client, self.ends if number % 2 else self.subscription("a"), number
            )

        self._go_on(receive)
        client.close()

    def _receive(self, client: _Client, path: str, number: int) -> bool:
        """Receive a message and do one thing or another to it; whether there was an answer."""
        outcome = client.ask(v.Receive(queue=path, mode=v.ReceiveMode.PEEK_LOCK))
        if not isinstance(outcome, v.Received):
            time.sleep(0.005)
            return outcome is not None and not isinstance(outcome, v.Indeterminate)
        body, token = outcome.message.body, outcome.message.lock_token or ""
        if number % 7 == 3:
            settled = client.ask(v.Abandon(queue=path, lock_token=token))
        elif number % 5 == 2:
            settled = client.ask(v.DeadLetter(queue=path, lock_token=token, reason="why"))
            self.buried[path, body] = settled or v.Indeterminate()
        elif number % 4 == 1:
            return True
        else:
            settled = client.ask(v.Complete(queue=path, lock_token=token))
            self.ended[path, body] = settled or v.Indeterminate()
        return isinstance(settled, v.Done)

    def _go_on(self, ask: Callable[[int], bool]) -> None:
        number = 0
        while not self._over.is_set() and ask(number):
            number += 1


def moments(seed: int, count: int) -> Iterator[int]:
    """When to kill, in answers since the load has begun: so much is done on a slow machine too."""
    chance = random.Random(seed)
    return (chance.randint(20, 400) for _ in range(count))
