"""A broker within a program: for tests of code that uses Service Bus.

It listens on two free ports of this machine, in a thread of its own, and is gone in the end. Its
clock stands still until it is moved, and its partitions go down when a test says so.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar, Unpack
from urllib.parse import urlencode

import attrs

from busproof.broker.observability.decisions import GIVEN
from busproof.errors import UsageError
from busproof.extras import need
from busproof.vocabulary.addressing import created_path
from busproof.vocabulary.commands import CreateQueue, CreateSubscription, CreateTopic

if TYPE_CHECKING:
    from busproof.broker.admin.endpoint import Administration
    from busproof.broker.bus import Bus
    from busproof.broker.configuration.emulator import Configuration
    from busproof.broker.core import Hub
    from busproof.broker.server import Broker

__all__ = ["Embedded", "embedded"]

HOST: Final = "127.0.0.1"
PATIENCE: Final = 30.0
"""How long anything may take that is asked of it, in seconds."""
LOG: Final = logging.getLogger("busproof.broker")
Created = CreateQueue | CreateTopic | CreateSubscription
Found = TypeVar("Found")


class Embedded:
    """A broker that runs, and what a test does to it; made by `embedded`.

    Attributes:
        connection_string: what Service Bus clients connect by.
        admin_address: where entities are administered, and `/busproof/` is, over HTTP.
    """

    def __init__(self, configuration: "Configuration", chosen: Mapping[str, Any]) -> None:
        self._configuration = configuration
        self._chosen = chosen
        self._ended = asyncio.Event()
        self._begun: Future[tuple[Broker, Administration]] = Future()
        self._thread = threading.Thread(target=self._run, name="busproof broker", daemon=True)
        self._thread.start()
        try:
            self._broker, self._administration = self._begun.result(PATIENCE)
        except BaseException:
            self._thread.join(PATIENCE)
            raise
        self.connection_string = (
            f"Endpoint=sb://{HOST}:{self._broker.port};SharedAccessKeyName="
            f"{configuration.keys[0].name};SharedAccessKey={configuration.keys[0].key};"
            "UseDevelopmentEmulator=true;"
        )
        self.admin_address = f"http://{HOST}:{self._broker.admin_port}"

    @property
    def port(self) -> int:
        """Where it speaks AMQP."""
        return self._broker.port

    def queue(self, name: str, *, partitioned: bool = True, **settings: Any) -> None:
        """Create a queue.

        Args:
            name: of the queue.
            partitioned: whether it has partitions.
            settings: as `CreateQueue` has them; durations are `timedelta`.

        Raises:
            UsageError: there is no such setting, or the bus refuses.
        """
        self._create(CreateQueue, queue=name, partitioned=partitioned, **settings)

    def topic(self, name: str, *, partitioned: bool = True, **settings: Any) -> None:
        """Create a topic, as `queue` does a queue.

        Raises:
            UsageError: there is no such setting, or the bus refuses.
        """
        self._create(CreateTopic, topic=name, partitioned=partitioned, **settings)

    def subscription(self, topic: str, name: str, **settings: Any) -> None:
        """Create a subscription of a topic, with its partitions.

        Raises:
            UsageError: there is no such setting, or the bus refuses.
        """
        self._create(CreateSubscription, topic=topic, subscription=name, **settings)

    def take_down(self, entity: str, partition: int) -> None:
        """Take a partition down, numbered from 0, with all that it holds.

        Raises:
            UsageError: there is no such entity, or no such partition.
        """
        self._disturb("down", entity, partition)

    def bring_up(self, entity: str, partition: int) -> None:
        """Bring a partition up again.

        Raises:
            UsageError: there is no such entity, or no such partition.
        """
        self._disturb("up", entity, partition)

    @contextmanager
    def outage(self, entity: str, *partitions: int) -> Iterator[None]:
        """Have partitions down for a while: all of the entity if none is named.

        Raises:
            UsageError: there is no such entity, or no such partition.
        """
        down = partitions or self._partitions_of(entity)
        for each in down:
            self.take_down(entity, each)
        try:
            yield
        finally:
            for each in down:
                self.bring_up(entity, each)

    def advance(self, time: timedelta) -> None:
        """Let so much time pass, and a moment: what ends then has ended.

        Raises:
            UsageError: its clock is the machine's, or that is no time to pass.
        """
        self._ask("clock", {"advance": time.total_seconds()})

    def decisions(self, after: int = 0) -> list[dict[str, Any]]:
        """What was decided on each send since decision number `after`, oldest first.

        Each has its `number`, `entity`, `message_id`, `session_id`, `partition_key`, the
        `partition` or by what it was `refused`, and the `rules` by which.
        """
        found = list[dict[str, Any]]()
        while page := self._ask(f"decisions?{urlencode({'after': after})}"):
            found += page
            after = found[-1]["number"]
            if len(page) < GIVEN:
                break
        return found

    def state(self) -> dict[str, Any]:
        """What it is held to, and of each entity what its partitions hold."""
        found: dict[str, Any] = self._ask("state")
        return found

    def begin(self) -> None:
        """Begin again with what was configured, at time 0; all clients are let go."""
        self._ask("namespace", {"configured": True})

    def stop(self) -> None:
        """End it; nobody can connect any more."""
        if self._thread.is_alive():
            self._broker.hub.loop.call_soon_threadsafe(self._ended.set)
            self._thread.join(PATIENCE)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._begun.done():
                LOG.exception("the broker broke off")
            else:
                self._begun.set_exception(error)

    async def _serve(self) -> None:
        from busproof.broker.admin.access import Control  # noqa: PLC0415
        from busproof.broker.admin.endpoint import Administration  # noqa: PLC0415 - needs the extra
        from busproof.broker.admin.http import served  # noqa: PLC0415
        from busproof.broker.auth.tokens import Keys  # noqa: PLC0415
        from busproof.broker.limits import Limits  # noqa: PLC0415
        from busproof.broker.observability.event_log import Logged  # noqa: PLC0415
        from busproof.broker.server import Places, bus_for, started  # noqa: PLC0415

        # Whoever looks for a mistake may stop the program between two requests.
        limits = Limits(idle=0, http_idle=86_400)

        def configured() -> "Bus":
            return bus_for(self._configuration, **self._chosen)

        answering = list[Administration]()

        def http(hub: "Hub") -> Callable[..., Any]:
            hub.configured = configured
            hub.warn = LOG.warning
            hub.journal = Logged(LOG)
            everybody = Control(is_on=True)
            answering.append(Administration(hub, LOG.warning, everybody, everybody))
            return served(answering[0].answer, hub.saved, limits, answering[0].admit)

        keys, places = Keys(self._configuration.keys), Places(HOST, 0, 0)
        broker = await started(configured(), keys, places, http, limits)
        self._begun.set_result((broker, answering[0]))
        await self._ended.wait()
        await broker.stop()

    def _create(self, kind: type[Created], **settings: Any) -> None:
        known = sorted(each.name for each in attrs.fields(kind))
        unknown = sorted(settings.keys() - set(known))
        if unknown:
            raise UsageError(f"{kind.__name__} has no {unknown[0]}; it has {', '.join(known)}")
        given = {name: _in_microseconds(value) for name, value in settings.items()}
        try:
            command = kind(**given)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{kind.__name__} cannot be so: {error}") from None

        def create() -> Any:
            bus = self._broker.hub.bus
            refused = bus.ask(command, "embedding").refused
            if refused is None:
                bus.known_as(created_path(command))
                self._broker.hub.changed()
            return refused

        refused = self._within(create)
        if refused is not None:
            raise UsageError(
                f"the bus refuses to create {created_path(command)!r}: {refused.error.value}"
            )

    def _disturb(self, end: str, entity: str, partition: int) -> None:
        there = self._partitions_of(entity)
        if partition not in there:
            raise UsageError(f"partition is {partition!r}; {entity!r} has 0 to {there[-1]}")
        self._ask(f"partitions/{end}", {"entity": entity, "partition": partition})

    def _partitions_of(self, entity: str) -> range:
        def numbers() -> range | None:
            bus = self._broker.hub.bus
            known = bus.entity(bus.path(entity))
            if known is None:
                return None
            return range(len(known.partitions))

        found = self._within(numbers)
        if found is None:
            raise UsageError(f"there is no entity {entity!r}; create it first")
        return found

    def _ask(self, what: str, body: Mapping[str, Any] | None = None) -> Any:
        """What is answered under `/busproof/`, by way of no socket."""
        from busproof.broker.admin.http import Request  # noqa: PLC0415

        data = b"" if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        request = Request(method, f"/busproof/{what}", {"host": "localhost"}, data, HOST)
        answer = self._within(lambda: self._administration.answer(request))
        told = json.loads(answer.body)
        if answer.status >= 400:
            raise UsageError(told["error"])
        return told

    def _within(self, do: Callable[[], Found]) -> Found:
        """Do something where the broker runs, and wait for it."""
        if not self._thread.is_alive():
            raise UsageError("the broker has ended; whatever is asked of it belongs into its block")

        async def done() -> Found:
            return do()

        return asyncio.run_coroutine_threadsafe(done(), self._broker.hub.loop).result(PATIENCE)


def _in_microseconds(value: Any) -> Any:
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else value


class HeldTo(TypedDict, total=False):
    """What the namespace is held to, in the place of what the configuration says."""

    tier: str
    edition: str
    readings: dict[str, str]
    partitions: int


@contextmanager
def embedded(
    config: Path | None = None,
    *,
    policy: str = "round-robin",
    seed: int = 0,
    clock: str = "virtual",
    **held_to: Unpack[HeldTo],
) -> Iterator[Embedded]:
    """A broker for as long as the block lasts.

    Args:
        config: the JSON of Microsoft's emulator, as `busproof serve --config` takes it.
        policy: how the model chooses where it may: round-robin, random or hostile.
        seed: of its choices.
        clock: virtual, or real.
        held_to: the `tier`, `edition`, `readings` of ambiguities, and how many `partitions` a
            partitioned entity has, where the configuration is not to say.

    Raises:
        UsageError: the extra `busproof[amqp]` is missing, or something cannot be had.
    """
    need("amqp", "an embedded broker")
    from busproof.broker.configuration.emulator import Configuration, read_configuration  # noqa: PLC0415

    unknown = sorted(held_to.keys() - HeldTo.__annotations__.keys())
    if unknown:
        known = ", ".join(HeldTo.__annotations__)
        raise UsageError(f"a broker is held to no {unknown[0]}; it is to {known}")
    configuration = Configuration() if config is None else read_configuration(config)
    found = Embedded(
        attrs.evolve(configuration, **held_to), {"policy": policy, "seed": seed, "clock": clock}
    )
    try:
        yield found
    finally:
        found.stop()
