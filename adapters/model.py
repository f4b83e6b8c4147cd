"""Adapter for the reference model, with a choice of policies.

`round-robin` is the most regular bus. `random` chooses anything that the documents allow. `hostile`
conforms too, but is the hardest to judge: its choices are the least regular, its timers are wrong
by up to the declared slack, and some of its answers are lost.
"""

import time
import zlib
from random import Random
from typing import Final

import attrs

from busproof import __version__
from busproof import vocabulary as v
from busproof.adapters.hostile import HOSTILE_SLACK, Ask, LostAnswers, WrongTimers
from busproof.errors import UsageError
from busproof.model import Answer, Namespace, new_namespace, step
from busproof.model.choices import Choices, HostileChoices, RandomChoices, RoundRobin
from busproof.model.rules import NO_FAULT, Families

__all__ = ["CAPABILITIES", "HOSTILE_SLACK", "ModelAdapter"]

POLICIES: Final = ("round-robin", "random", "hostile")
CAPABILITIES: Final = frozenset(v.Capability) - {
    v.Capability.AMQP,
    v.Capability.HTTP,
    v.Capability.CLIENT_LIBRARY,
    v.Capability.PREFETCH,
    v.Capability.TIMESTAMPS,
}
"""Capabilities of the model, which speaks no protocol and has no client library."""


class ModelAdapter:
    """Adapter for the model, which conforms under every policy unless a rule is faulty.

    Args:
        policy: one of `POLICIES`.
        seed: seed of the random and the hostile policy.
        clock: `virtual` or `real`.
        library: whether sends pass through a client library that assigns MessageIds (KEY-13).
        amqp: whether it is declared to speak AMQP, so that FEAT-05 to FEAT-17 apply to it.
        http: whether it is declared to be reached over HTTP, so that PART-25 applies to it.
        families: families of rules with a fault.
    """

    def __init__(
        self,
        policy: str = "round-robin",
        seed: int = 0,
        clock: str = v.Clock.VIRTUAL,
        *,
        library: bool = False,
        amqp: bool = False,
        http: bool = False,
        families: Families = NO_FAULT,
    ) -> None:
        if policy not in POLICIES:
            raise UsageError(f"there is no policy {policy!r}; choose one of {', '.join(POLICIES)}")
        self._policy = policy
        self._seed = seed
        self._random = Random(seed)  # noqa: S311 - repeatable choices, not secrets
        self._heard = seed
        """Checksum of the seed and of all commands since the start."""
        self._library = library
        self._amqp = amqp
        self._http = http
        self._families = families
        self._clock = v.Clock(clock)
        self._namespace: Namespace | None = None
        self._choices: Choices = RoundRobin()
        self._ask: Ask = self._step
        self._assigned = 0
        self._read = 0.0

    @property
    def declaration(self) -> v.Declaration:
        """The capabilities of the model, with slack if the policy uses it."""
        more = {
            v.Capability.AMQP: self._amqp,
            v.Capability.HTTP: self._http,
            v.Capability.CLIENT_LIBRARY: self._library,
        }
        return v.Declaration(
            implementation=v.Implementation(
                name=f"busproof model ({self._policy})", version=__version__, language="Python"
            ),
            capabilities=CAPABILITIES | {name for name, declared in more.items() if declared},
            clock=self._clock,
            slack=HOSTILE_SLACK if self._policy == "hostile" else 0,
            several=self._policy == "round-robin" and self._clock is v.Clock.VIRTUAL,
        )

    def start(self, profile: v.Profile) -> None:
        """Begin with an empty namespace."""
        self._namespace = new_namespace(profile, **self._families)
        self._assigned = 0
        self._heard = self._seed
        kind = {"random": RandomChoices, "hostile": HostileChoices}.get(self._policy)
        self._choices = RoundRobin() if kind is None else kind(self._random)
        self._ask = self._step
        if self._policy == "hostile":
            punctual = profile.readings.get("SCHEDULE-DELAY") == "at-once"
            timed = WrongTimers(self._step, self._random, punctual=punctual)
            self._ask = LostAnswers(timed, self._random)
        self._read = time.monotonic()

    def stop(self) -> None:
        """Forget the namespace."""
        self._namespace = None

    def do(self, command: v.Command, connection: str) -> v.Observed:
        """Execute a command; for a send, report the partition that stored the message."""
        if self._policy != "round-robin":
            self._seed_choices(command, connection)
        if self._clock is v.Clock.REAL:
            self._let_time_pass()
        answer = self._ask(self._prepare(command), connection)
        outcome, witness = answer.outcome, None
        sent = isinstance(command, v.Send | v.SendBatch) and isinstance(outcome, v.Done)
        if sent and answer.partition is not None:
            witness = v.Witness(partition=answer.partition)
        return v.Observed(outcome if self._clock is v.Clock.VIRTUAL else timeless(outcome), witness)

    def _seed_choices(self, command: v.Command, connection: str) -> None:
        """Let what is chosen depend on the commands of the scenario alone.

        So a scenario has the same answers when it is repeated, whichever ones the worker that plays
        it has played before.
        """
        # Sorted, because the order of properties differs between processes.
        said = "".join(sorted(f"{connection} {command!r}")).encode(errors="surrogatepass")
        self._heard = zlib.crc32(said, self._heard)
        self._random.seed(self._heard)

    def _step(self, command: v.Command, connection: str) -> Answer:
        if self._namespace is None:
            raise AssertionError("an adapter takes commands only between start and stop")
        return step(self._namespace, command, connection, self._choices)

    def _let_time_pass(self) -> None:
        """Advance the model's clock by the real time that has passed."""
        passed = int((time.monotonic() - self._read) * v.MICROSECONDS)
        self._read += passed / v.MICROSECONDS
        self._step(v.AdvanceClock(duration=passed), "")

    def _prepare(self, command: v.Command) -> v.Command:
        """Return the command as a client library would send it: every message has a MessageId."""
        if self._library and isinstance(command, v.Send | v.Schedule):
            return attrs.evolve(command, message=self._identify(command.message))
        if self._library and isinstance(command, v.SendBatch):
            return attrs.evolve(command, messages=tuple(map(self._identify, command.messages)))
        return command

    def _identify(self, message: v.Message) -> v.Message:
        if message.message_id is None:
            self._assigned += 1
            message = attrs.evolve(message, message_id=f"assigned-{self._assigned}")
        return message


def timeless(outcome: v.Outcome) -> v.Outcome:
    """Return an outcome without the ends of locks, which the model has only on its own clock."""
    if isinstance(outcome, v.Received):
        return v.Received(message=attrs.evolve(outcome.message, locked_until=None))
    if isinstance(outcome, v.ReceivedSeveral):
        views = tuple(attrs.evolve(message, locked_until=None) for message in outcome.messages)
        return v.ReceivedSeveral(messages=views)
    if isinstance(outcome, v.Renewed | v.RenewedSeveral):
        return type(outcome)()
    return outcome
