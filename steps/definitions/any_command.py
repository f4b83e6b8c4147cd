"""Steps for arbitrary commands, as in scenarios that an exploration has written."""

import attrs
from pytest_bdd import parsers, step, then

from busproof import vocabulary as v
from busproof.exploration.cargo import laden
from busproof.history.render.gherkin import ASKS, VERDICT, request_of
from busproof.history.replay import resolved
from busproof.judging.scenario_outcome import Inconclusive, NotApplicable
from busproof.steps.bus import BusUnderTest

__all__ = ["Asking"]


class Asking:
    """A sequence of commands; `@5` refers to the lock that the fifth command received."""

    def __init__(self, bus: BusUnderTest) -> None:
        self._bus = bus
        self._tokens: dict[int, str] = {}
        self._is_filtered = False
        self.count = 0

    @property
    def clock(self) -> v.Clock:
        """The clock of the implementation."""
        return self._bus.clock

    def insist(self, tier: v.Tier) -> None:
        """Require that the run is about this tier.

        Raises:
            NotApplicable: the run is about another tier.
        """
        profile = self._bus.profile
        if profile.tier is not tier or profile.is_partitioned:
            raise NotApplicable(f"tier: {profile.kind} is not {tier.value}")

    def ask(self, connection: str, request: str, *, with_cargo: bool = False) -> None:
        """Send the command that a sentence states; skip it if a lock that it needs is missing.

        With cargo, messages without properties get some that no rule reads.
        """
        self.count += 1
        command = resolved(request_of(request), self._tokens)
        if with_cargo and v.Capability.FILTERS in self._bus.capabilities:
            command = self._loaded(command)
        if isinstance(command, v.AdvanceClock) and self._bus.clock is v.Clock.REAL:
            self._bus.pass_time(command.duration)
        elif command is not None:
            outcome = self._bus.do(command, connection)
            if isinstance(outcome, v.Received) and outcome.message.lock_token:
                self._tokens[self.count] = outcome.message.lock_token

    def _loaded(self, command: v.Command | None) -> v.Command | None:
        self._is_filtered |= isinstance(command, v.CreateTopic)
        match command:
            case v.Send(message=message) | v.Schedule(message=message):
                message = laden(message, is_filtered=self._is_filtered)
                return attrs.evolve(command, message=message)
            case v.SendBatch(messages=messages):
                several = [laden(message, is_filtered=self._is_filtered) for message in messages]
                return attrs.evolve(command, messages=tuple(several))
        return command

    def conclude(self) -> None:
        """Check that all answers were judged; a violation would have ended the scenario before.

        Raises:
            Inconclusive: the judge has given up.
        """
        assert self.count
        if self._bus.exhausted:
            raise Inconclusive(self._bus.exhausted)


@step(parsers.re(ASKS))
def asks(asking: Asking, connection: str, request: str) -> None:
    """Try one command."""
    asking.ask(connection, request)


@then(VERDICT)
def all_allowed(asking: Asking) -> None:
    """Check that the judge, which sees each answer as it arrives, allowed all of them."""
    asking.conclude()
