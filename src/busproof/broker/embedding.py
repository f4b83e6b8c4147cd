"""A broker inside a program, for tests of code that uses Service Bus.

It listens on two free ports of this machine, in a thread of its own, until its `with` block ends.
Its clock is virtual and advances on request, and a test can take partitions down.
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

from busproof import vocabulary as v
from busproof.broker.observability.decisions import GIVEN
from busproof.errors import AdapterError, UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.broker.admin.endpoint import Administration
    from busproof.broker.bus import Bus
    from busproof.broker.configuration.emulator import Configuration
    from busproof.broker.core import Hub
    from busproof.broker.disturbances import Listener
    from busproof.broker.server import Broker

__all__ = ["Embedded", "embedded"]

HOST: Final = "127.0.0.1"
PATIENCE: Final = 120.0
"""Maximum time for a call to the broker, in seconds; a busy machine may need a minute."""
LOG: Final = logging.getLogger("busproof.broker")
_Created = v.CreateQueue | v.CreateTopic | v.CreateSubscription
Found = TypeVar("Found")


class Embedded:
    """A running broker, with controls for tests; created by `embedded`.

    Attributes:
        connection_string: the connection string for Service Bus clients.
        admin_address: the HTTP address for administration and for `/busproof/`.
    """

    def __init__(
        self, configuration: "Configuration", chosen: Mapping[str, Any], idle: int = 0
    ) -> None:
        self._configuration = configuration
        self._idle = idle
        self._chosen = chosen
        self._ended = asyncio.Event()
        self._begun: Future[tuple[Broker, Administration]] = Future()
        # A daemon thread, so that a test that is interrupted does not keep the process alive.
        self._thread = threading.Thread(target=self._run, name="busproof broker", daemon=True)
        self._thread.start()
        try:
            self._broker, self._administration = _result_of(self._begun)
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
        """The AMQP port."""
        return self._broker.port

    def queue(self, name: str, *, partitioned: bool = True, **settings: Any) -> None:
        """Create a queue.

        Args:
            name: the name of the queue.
            partitioned: whether it is partitioned.
            settings: further fields of `CreateQueue`; durations are `timedelta`.

        Raises:
            UsageError: there is no such setting, or the bus refuses the queue.
        """
        self._create(v.CreateQueue, queue=name, partitioned=partitioned, **settings)

    def topic(self, name: str, *, partitioned: bool = True, **settings: Any) -> None:
        """Create a topic; its arguments are those of `queue`.

        Raises:
            UsageError: there is no such setting, or the bus refuses the topic.
        """
        self._create(v.CreateTopic, topic=name, partitioned=partitioned, **settings)

    def subscription(self, topic: str, name: str, **settings: Any) -> None:
        """Create a subscription of a topic; it has the topic's partitions.

        Raises:
            UsageError: there is no such setting, or the bus refuses the subscription.
        """
        self._create(v.CreateSubscription, topic=topic, subscription=name, **settings)

    def take_down(self, entity: str, partition: int) -> None:
        """Take down a partition with everything in it; partitions are numbered from 0.

        Raises:
            UsageError: there is no such entity, or no such partition.
        """
        self._disturb("down", entity, partition)

    def bring_up(self, entity: str, partition: int) -> None:
        """Bring a partition up again; partitions are numbered from 0.

        Raises:
            UsageError: there is no such entity, or no such partition.
        """
        self._disturb("up", entity, partition)

    @contextmanager
    def outage(self, entity: str, *partitions: int) -> Iterator[None]:
        """Take down partitions during a `with` block; all partitions if none is named.

        Raises:
            UsageError: there is no such entity, or no such partition.
        """
        down = partitions or self._partitions_of(entity)
        for partition in down:
            self.take_down(entity, partition)
        try:
            yield
        finally:
            for partition in down:
                self.bring_up(entity, partition)

    def disturb(self, kind: str, **fields: Any) -> None:
        """Let a fault wait for the next operation that it is for.

        Args:
            kind: a kind of fault, as `POST /busproof/faults` knows it.
            fields: further fields of the fault: `operation`, `entity`, `times`, `skip`,
                `condition`, `seconds`.

        Raises:
            UsageError: there is no such fault or field.
        """
        self._ask("faults", {"kind": kind, **fields})

    def listen(self, listener: "Listener") -> None:
        """Show all bytes of clients, and all bytes for them, to a listener, in another thread."""
        self._broker.hub.disturbances.listener = listener

    def limit_credit(self, credit: int) -> None:
        """Give this credit to links of sending clients that are attached from now on."""
        self._broker.hub.disturbances.credit = credit

    def advance(self, time: timedelta) -> None:
        """Advance the clock by a duration and a moment, so that what ends by then has ended.

        Raises:
            UsageError: the clock is real, or the duration is invalid.
        """
        self._ask("clock", {"advance": time.total_seconds()})

    def decisions(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the decisions on sends after decision number `after`, oldest first.

        Each has its `number`, `entity`, `message_id`, `session_id` and `partition_key`, the
        `partition` or, if it was refused, the error as `refused`, and the `rules` that decided it.
        """
        decisions = list[dict[str, Any]]()
        while page := self._ask(f"decisions?{urlencode({'after': after})}"):
            decisions += page
            after = decisions[-1]["number"]
            if len(page) < GIVEN:
                break
        return decisions

    def state(self) -> dict[str, Any]:
        """Return the profile of the namespace, and the contents of its entities by partition."""
        state: dict[str, Any] = self._ask("state")
        return state

    def begin(self) -> None:
        """Start again at time 0 with the configured entities only; all clients are disconnected."""
        self._ask("namespace", {"configured": True})

    def stop(self) -> None:
        """Stop the broker, and wait for its end."""
        if self._thread.is_alive():
            self._broker.hub.loop.call_soon_threadsafe(self._ended.set)
            self._thread.join(PATIENCE)

    def _run(self) -> None:
        try:
            from busproof.broker.event_loop import run

            run(self._serve())
        except BaseException as error:
            if self._begun.done():
                LOG.exception("the broker stopped because of an error")
            else:
                self._begun.set_exception(error)

    async def _serve(self) -> None:
        from busproof.broker.admin.access import Control
        from busproof.broker.admin.endpoint import Administration  # needs the extra
        from busproof.broker.auth.tokens import AccessPolicies
        from busproof.broker.http_port import serve_http
        from busproof.broker.limits import Limits
        from busproof.broker.observability.event_log import Logged
        from busproof.broker.server import Places, bus_for, start_broker

        # A debugger may stop the program between two requests, so nothing times out unasked.
        limits = Limits(idle=self._idle, http_idle=86_400)

        def configured() -> "Bus":
            return bus_for(self._configuration, **self._chosen)

        answering = list[Administration]()

        def http(hub: "Hub") -> Callable[..., Any]:
            hub.configured = configured
            hub.warn = LOG.warning
            hub.journal = Logged(LOG)
            everybody = Control(is_on=True)
            answering.append(Administration(hub, LOG.warning, everybody, everybody))
            return serve_http(hub, answering[0])

        keys, places = AccessPolicies(self._configuration.keys), Places(HOST, 0, 0)
        broker = await start_broker(configured(), keys, places, http, limits)
        for warning in self._configuration.warnings:
            LOG.warning("%s", warning)
        self._begun.set_result((broker, answering[0]))
        await self._ended.wait()
        await broker.stop()

    def _create(self, kind: type[_Created], **settings: Any) -> None:
        known = sorted(field.name for field in attrs.fields(kind))
        unknown = sorted(settings.keys() - set(known))
        if unknown:
            raise UsageError(f"{kind.__name__} has no {unknown[0]}; it has {', '.join(known)}")
        values = {name: _convert_durations(value) for name, value in settings.items()}
        try:
            command = kind(**values)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{kind.__name__} is invalid: {error}") from None

        def create() -> Any:
            bus = self._broker.hub.bus
            refused = bus.ask(command, "embedding").refused
            if refused is None:
                bus.record_name(v.created_path(command))
                self._broker.hub.schedule_serving()
            return refused

        refused = self._run_in_thread(create)
        if refused is not None:
            raise UsageError(
                f"the bus refuses to create {v.created_path(command)!r}: {refused.error.value}"
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

        partitions = self._run_in_thread(numbers)
        if partitions is None:
            raise UsageError(f"there is no entity {entity!r}; create it first")
        return partitions

    def _ask(self, what: str, body: Mapping[str, Any] | None = None) -> Any:
        """Answer a request under `/busproof/` without using a socket."""
        from busproof.broker.http_requests import Request

        data = b"" if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        request = Request(method, f"/busproof/{what}", {"host": "localhost"}, data, HOST)
        answer = self._run_in_thread(lambda: self._administration.answer(request))
        content = json.loads(answer.body)
        if answer.status >= 400:
            raise UsageError(content["error"])
        return content

    def _run_in_thread(self, do: Callable[[], Found]) -> Found:
        """Run a function in the broker's thread and return its result."""
        if not self._thread.is_alive():
            raise UsageError("the broker has ended; use it inside the `with` block")

        async def done() -> Found:
            return do()

        return _result_of(asyncio.run_coroutine_threadsafe(done(), self._broker.hub.loop))


def _result_of(asked: Future[Found]) -> Found:
    """Return what the broker's thread answers.

    Raises:
        AdapterError: it has not answered in time.
    """
    try:
        return asked.result(PATIENCE)
    except TimeoutError:
        raise AdapterError(
            f"the embedded broker has not answered within {PATIENCE:g} s: the machine may have too "
            "little time for it; start fewer at a time"
        ) from None


def _convert_durations(value: Any) -> Any:
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else value


class HeldTo(TypedDict, total=False):
    """Settings of the namespace that override those of the configuration."""

    tier: str
    edition: str
    readings: dict[str, str]
    partitions: int
    namespace_partitions: int
    messaging_units: int


@contextmanager
def embedded(
    config: Path | None = None,
    *,
    policy: str = "round-robin",
    seed: int = 0,
    clock: str = "virtual",
    idle: int = 0,
    **held_to: Unpack[HeldTo],
) -> Iterator[Embedded]:
    """Run a broker during a `with` block.

    Args:
        config: a configuration file of Microsoft's emulator, as for `busproof serve --config`.
        policy: how the model chooses among permitted behaviours: round-robin, random, hostile.
        seed: the seed of its choices.
        clock: virtual or real.
        idle: seconds of silence after which a connection is ended; 0 for none.
        held_to: the `tier`, the `edition`, the `readings` of ambiguities, the number of
            `partitions` of a partitioned entity, and the `namespace_partitions` and
            `messaging_units` of a Premium namespace; these override the configuration.

    Raises:
        UsageError: the extra `busproof[amqp]` is missing, or a setting is invalid.
    """
    need("amqp", "an embedded broker")
    from busproof.broker.configuration.emulator import Configuration, read_configuration

    unknown = sorted(held_to.keys() - HeldTo.__annotations__.keys())
    if unknown:
        known = ", ".join(HeldTo.__annotations__)
        raise UsageError(f"a broker is held to no {unknown[0]}; it is to {known}")
    configuration = Configuration() if config is None else read_configuration(config)
    broker = Embedded(
        attrs.evolve(configuration, **held_to),
        {"policy": policy, "seed": seed, "clock": clock},
        idle,
    )
    try:
        yield broker
    finally:
        broker.stop()
