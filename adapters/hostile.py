"""Wrappers that make a conforming bus hard to judge: inaccurate timers and lost answers.

The bus inside is unaware of them. Timers are wrong by up to the slack that the adapter declares. A
request without an answer may have taken effect, may take effect much later, or never.
"""

import sys
from collections.abc import Callable, Collection
from random import Random
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model import Answer

__all__ = ["HOSTILE_SLACK", "Ask", "LostAnswers", "WrongTimers"]

HOSTILE_SLACK: Final = 2 * v.MICROSECONDS
LATE: Final = 0.3
"""Probability that a late request takes effect now, and that a schedule is slow."""
LOST: Final = 0.04
"""Probability that an answer is lost, unless the bus is calm."""
CALM: Final = 0.5
"""Probability that no answer is lost until the next start, so that long scenarios can complete."""

DURATIONS: Final = {
    "lock_duration": (1, 5 * 60 * v.MICROSECONDS),
    "duplicate_window": (20 * v.MICROSECONDS, 7 * 86_400 * v.MICROSECONDS),
    "time_to_live": (1, sys.maxsize),
}
"""Minimum and maximum of each duration of an entity; skewed durations stay within them.

LOCK-03, DUP-03.
"""

LOSABLE: Final = (
    v.Settlement
    | v.SettleBatch
    | v.RenewLocks
    | v.DeleteBatch
    | (v.Send | v.Schedule | v.CancelScheduled | v.Receive | v.ReceiveDeferred | v.RenewLock)
    | (v.AcceptNextSession | v.RenewSessionLock | v.SetSessionState)
    | (v.CommitTransaction | v.RollBackTransaction | v.AddRule | v.RemoveRule)
    | (v.CreateQueue | v.CreateSubscription | v.UpdateQueue | v.UpdateTopic)
    | (v.DeleteQueue | v.DeleteTopic)
)
"""Commands whose answers may be lost, because an observer can judge both cases."""

Creation = v.CreateQueue | v.CreateTopic | v.CreateSubscription

Ask = Callable[[v.Command, str], Answer]
"""A bus, as a function from a command and a connection to an answer."""


class LostAnswers:
    """A bus that loses some answers."""

    def __init__(self, ask: Ask, random: Random) -> None:
        self._ask = ask
        self._random = random
        self._late: list[tuple[v.Command, str]] = []
        self._calm: bool | None = None

    def __call__(self, command: v.Command, connection: str) -> Answer:
        """Execute a command, or lose its answer; an earlier lost request may take effect first."""
        if self._late and self._random.random() < LATE:
            self._ask(*self._late.pop(0))
        losable = isinstance(command, LOSABLE) and not self._calm
        if not losable or self._random.random() >= LOST:
            return self._ask(command, connection)
        if self._calm is None:
            # Chosen as late as possible, because a seed begins many scenarios alike.
            self._calm = self._random.random() < CALM
        if self._calm:
            return self._ask(command, connection)
        fate = self._random.choice(("now", "later", "never"))
        if fate == "now":
            self._ask(command, connection)
        elif fate == "later":
            self._late.append((command, connection))
        return Answer(v.Indeterminate(detail="no answer came in time"))


class WrongTimers:
    """A bus with inaccurate timers that reports the requested durations.

    Args:
        ask: the bus.
        random: source of randomness.
        punctual: whether scheduled messages are enqueued within the slack (SCHEDULE-DELAY).
    """

    def __init__(self, ask: Ask, random: Random, *, punctual: bool) -> None:
        self._ask = ask
        self._random = random
        self._punctual = punctual
        self._asked: dict[tuple[str, str, int | None], int | None] = {}
        self._created: dict[Creation, v.Command] = {}

    def __call__(self, command: v.Command, connection: str) -> Answer:
        """Execute a command with skewed durations, and report the requested ones."""
        answer = self._ask(self._skew(command), connection)
        answer.outcome = self._restore(answer.outcome)
        return answer

    def _skew(self, command: v.Command) -> v.Command:
        """Return the command with skewed durations for the bus inside."""
        if isinstance(command, v.Send | v.Schedule):
            message = self._mortal(command.message)
            command = attrs.evolve(command, message=message)
        if isinstance(command, v.SendBatch):
            return attrs.evolve(command, messages=tuple(map(self._mortal, command.messages)))
        if isinstance(command, v.Schedule):
            return attrs.evolve(command, delay=self._delay(command.delay))
        if not isinstance(command, Creation):
            return command
        # The bus must see a creation repeated after a lost answer as the same.
        if command not in self._created:
            self._created[command] = self._creation(command)
        return self._created[command]

    def _restore(self, outcome: v.Outcome) -> v.Outcome:
        """Return the outcome with the requested durations and skewed lock ends."""
        if isinstance(outcome, v.Described | v.TopicDescribed):
            return attrs.evolve(outcome, description=self._restore_description(outcome.description))
        if isinstance(outcome, v.Renewed) and outcome.locked_until is not None:
            return v.Renewed(locked_until=self._moment(outcome.locked_until))
        if isinstance(outcome, v.RenewedSeveral):
            ends = (None if end is None else self._moment(end) for end in outcome.locked_until)
            return v.RenewedSeveral(locked_until=tuple(ends))
        if isinstance(outcome, v.Received) and outcome.message.locked_until is not None:
            until = self._moment(outcome.message.locked_until)
            return v.Received(message=attrs.evolve(outcome.message, locked_until=until))
        return outcome

    def _creation(self, command: Creation) -> Any:
        changes: dict[str, int | None] = {}
        for name in DURATIONS:
            if hasattr(command, name):
                requested: int | None = getattr(command, name)
                changes[name] = self._duration(requested, name)
                self._asked[v.created_path(command), name, changes[name]] = requested
        return attrs.evolve(command, **changes)  # type: ignore[arg-type]  # only fields it has

    def _restore_description(self, description: Any) -> Any:
        """Return a description with the requested durations in place of the skewed ones."""
        path = (
            description.topic if isinstance(description, v.TopicDescription) else description.queue
        )
        return attrs.evolve(description, **self.asked(path, description))

    def asked(self, path: str, taken: Any) -> dict[str, Any]:
        """Return the requested durations of an entity that has skewed ones."""
        named = [name for name in DURATIONS if hasattr(taken, name)]
        durations = {name: self._asked.get((path, name, getattr(taken, name))) for name in named}
        return {name: requested for name, requested in durations.items() if requested}

    def forget(self, paths: Collection[str]) -> None:
        """Forget the durations of deleted entities."""
        for known in [known for known in self._asked if known[0] in paths]:
            del self._asked[known]
        for command in [made for made in self._created if v.created_path(made) in paths]:
            del self._created[command]

    def _mortal(self, message: v.Message) -> v.Message:
        life = self._duration(message.time_to_live, "time_to_live")
        return attrs.evolve(message, time_to_live=life)

    def _duration(self, requested: int | None, name: str) -> int | None:
        shortest, longest = DURATIONS[name]
        if requested is None or not shortest <= requested <= longest:
            return requested
        return min(max(self._moment(requested), shortest), longest)

    def _delay(self, delay: int) -> int:
        """Return a delay, lengthened at random as by a service that is sometimes slow."""
        slow = self._random.random() < LATE and not self._punctual
        return delay + self._random.randint(-HOSTILE_SLACK, HOSTILE_SLACK * (5 if slow else 1))

    def _moment(self, moment: int) -> int:
        return max(0, moment + self._random.randint(-HOSTILE_SLACK, HOSTILE_SLACK))
