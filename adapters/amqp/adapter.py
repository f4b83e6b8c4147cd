"""Adapter for the embedded broker, which it starts as a process and reaches over AMQP or HTTP."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.amqp.clients import Clients
from busproof.adapters.amqp.dialect import OVER_AMQP, Dialect
from busproof.adapters.amqp.embedded import Embedded
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.scenario import Scenario, Setting
from busproof.adapters.hostile import HOSTILE_SLACK
from busproof.errors import AdapterError

__all__ = ["SLACK", "EmbeddedAdapter"]

SLACK: Final = 1000
"""Resolution of times in AMQP, a millisecond; in microseconds."""

RESTARTS: Final = 3
"""Maximum number of times that an ended broker is replaced in a run."""


class EmbeddedAdapter:
    """Adapter for the embedded broker; it also controls the broker's clock and partitions.

    Args:
        policy: how the broker chooses among permitted behaviours.
        seed: seed of the choices.
        timeout: maximum wait for an answer, in seconds.
        fault: the id of a seeded fault to serve in place of the model.
        dialect: the protocol for messages.
    """

    def __init__(
        self,
        policy: str = "round-robin",
        seed: int = 0,
        timeout: float = 10.0,
        fault: str | None = None,
        dialect: Dialect = OVER_AMQP,
    ) -> None:
        self._dialect = dialect
        served = () if fault is None else ("--adapter", f"faulty:{fault}")
        self._options = (
            *("--clock", "virtual", "--message-ids", "as-sent"),
            *("--policy", policy, "--seed", str(seed), *served),
        )
        self._decides = policy if fault is None else f"faulty:{fault}"
        self._policy = policy
        self._timeout = timeout
        self._broker: Embedded | None = None
        self._started = 0
        self._clients: Clients | None = None
        self._scenario: Scenario | None = None
        self._now = 0
        self._decided = 0

    @property
    def declaration(self) -> v.Declaration:
        """All capabilities that the broker serves."""
        return v.Declaration(
            implementation=v.Implementation(
                name=f"busproof serve{self._dialect.suffix} ({self._decides})", language="Python"
            ),
            capabilities=self._dialect.of_broker,
            slack=SLACK + (HOSTILE_SLACK if self._policy == "hostile" else 0),
        )

    def start(self, profile: v.Profile) -> None:
        """Begin with an empty namespace, in a new broker process if the last one has ended."""
        self._let_go()
        broker = self._running()
        epoch = broker.begin(profile)
        self._now = self._decided = 0
        entities = Entities(broker.target, self._timeout)
        self._scenario = self._dialect.begin(
            Setting(entities=entities, epoch=epoch, now=lambda: self._now)
        )
        self._clients = self._dialect.clients(broker.target, self._timeout)

    def do(self, command: v.Command, connection: str) -> v.Observed:
        """Execute a command; those about the clock and outages are for the broker's control."""
        broker, scenario = self._broker, self._scenario
        if broker is None or scenario is None:
            raise AssertionError("an adapter takes commands only between start and stop")
        match command:
            case v.AdvanceClock(duration=duration):
                broker.ask("clock", {"microseconds": duration})
                self._now += duration
                return v.Observed(v.Done())
            case v.TakePartitionDown(queue=queue, partition=partition):
                return v.Observed(broker.disturb(queue, partition, down=True))
            case v.BringPartitionUp(queue=queue, partition=partition):
                return v.Observed(broker.disturb(queue, partition, down=False))
            case v.RestoreQueue():
                return v.Observed(broker.restore(command))
        outcome = self._ask(broker, scenario, command, connection)
        witnessed = isinstance(command, v.Send | v.SendBatch) and isinstance(outcome, v.Done)
        return v.Observed(outcome, self._witness(broker) if witnessed else None)

    def _ask(
        self, broker: Embedded, scenario: Scenario, command: v.Command, connection: str
    ) -> v.Outcome:
        if self._clients is None:
            raise AssertionError("a scenario has clients")
        try:
            outcome = self._clients.ask(scenario, command, connection)
        except AdapterError as error:
            raise AdapterError(f"{error}{broker.tail()}") from None
        if isinstance(outcome, v.Indeterminate) and broker.is_over:
            raise AdapterError(f"the broker has ended: {outcome.detail}{broker.tail()}")
        return outcome

    def _witness(self, broker: Embedded) -> v.Witness | None:
        """Return the partition that stored the message just sent, if the broker chose one."""
        partition = None
        for decision in broker.decisions(self._decided):
            self._decided, partition = decision["number"], decision["partition"]
        return None if partition is None else v.Witness(partition=partition)

    def stop(self) -> None:
        """End the broker process."""
        self._let_go()
        if self._broker is not None:
            self._broker.stop()
            self._broker = None

    def _running(self) -> Embedded:
        if self._broker is not None and self._broker.is_over:
            self._broker.stop()
            self._broker = None
        if self._broker is None:
            if self._started > RESTARTS:
                raise AdapterError(
                    f"the broker ended {self._started} times; it is not started again"
                )
            self._started += 1
            self._broker = Embedded(self._options, self._timeout)
        return self._broker

    def _let_go(self) -> None:
        if self._clients is not None:
            self._clients.close()
            self._clients = None
        if self._scenario is not None:
            self._scenario.setting.entities.close()
            self._scenario = None
