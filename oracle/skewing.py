"""Timers that go wrong, within bounds: what a hostile bus makes of durations, and tells of them."""

from random import Random
from typing import Any, Final, TypeVar

import attrs

from busproof.oracle.duplicates import LONGEST_WINDOW, SHORTEST_WINDOW
from busproof.vocabulary.addressing import created_path
from busproof.vocabulary.commands import (
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Schedule,
    Send,
    SendBatch,
)
from busproof.vocabulary.outcomes import (
    Outcome,
    QueueDescription,
    Received,
    Renewed,
    TopicDescription,
)
from busproof.vocabulary.values import MICROSECONDS

__all__ = ["HOSTILE_SLACK", "LATE_EFFECTS", "Skew"]

HOSTILE_SLACK: Final = 2 * MICROSECONDS
LATE_EFFECTS: Final = 0.3
"""How often something comes late that nobody says is punctual."""

SKEWED: Final = ("lock_duration", "duplicate_window", "time_to_live")
"""The durations of a queue."""

Created = CreateQueue | CreateTopic | CreateSubscription
Told = TypeVar("Told", CreateQueue, QueueDescription, TopicDescription)
Asked = TypeVar("Asked", CreateQueue, CreateTopic, CreateSubscription)


class Skew:
    """Makes every timer a little shorter or longer than was asked for, and tells what was asked.

    Args:
        random: by which.
        punctual: whether what is scheduled comes within the slack (SCHEDULE-DELAY).
        slack: by how much, in microseconds.
    """

    def __init__(self, random: Random, *, punctual: bool, slack: int = HOSTILE_SLACK) -> None:
        self._random = random
        self._punctual = punctual
        self._slack = slack
        self._asked: dict[tuple[str, str, int | None], int | None] = {}
        self._created: dict[Command, Command] = {}

    def taken(self, command: Command) -> Command:
        """The request as such a bus takes it."""
        if isinstance(command, Send | Schedule):
            life = self._life(command.message.time_to_live)
            message = attrs.evolve(command.message, time_to_live=life)
            command = attrs.evolve(command, message=message)
        if isinstance(command, SendBatch):
            messages = tuple(
                attrs.evolve(each, time_to_live=self._life(each.time_to_live))
                for each in command.messages
            )
            return attrs.evolve(command, messages=messages)
        if isinstance(command, Schedule):
            return attrs.evolve(command, delay=self._delay(command.delay))
        if not isinstance(command, Created):
            return command
        # One that is asked for again, because the first was not answered, is the same to the bus.
        if command not in self._created:
            self._created[command] = self._creation(command)
        return self._created[command]

    def _creation(self, command: Created) -> Created:
        if isinstance(command, CreateQueue):
            return self._queue(command)
        if isinstance(command, CreateTopic):
            window = self._window(command.duplicate_window)
            life = self._life(command.time_to_live)
            topic = attrs.evolve(command, duplicate_window=window, time_to_live=life)
            return self._remembered(command.topic, command, topic)
        lock = self._duration(command.lock_duration)
        life = self._life(command.time_to_live)
        subscription = attrs.evolve(command, lock_duration=lock, time_to_live=life)
        return self._remembered(created_path(command), command, subscription)

    def announced(self, told: Told) -> Told:
        """An entity with the durations that were asked for, whatever the bus makes of them."""
        name = told.topic if isinstance(told, TopicDescription) else told.queue
        changes: dict[str, Any] = {
            each: self._asked.get((name, each, getattr(told, each)), getattr(told, each))
            for each in SKEWED
            if hasattr(told, each)
        }
        return attrs.evolve(told, **changes)

    def seen(self, outcome: Outcome) -> Outcome:
        """The answer, with a lock's end as a clock tells it that goes wrong by up to the slack."""
        if isinstance(outcome, Renewed) and outcome.locked_until is not None:
            return Renewed(locked_until=self.wrong(outcome.locked_until))
        if not isinstance(outcome, Received) or outcome.message.locked_until is None:
            return outcome
        until = self.wrong(outcome.message.locked_until)
        return Received(message=attrs.evolve(outcome.message, locked_until=until))

    def wrong(self, moment: int) -> int:
        """A moment as a clock tells it that goes wrong by up to the slack."""
        return max(0, moment + self._random.randint(-self._slack, self._slack))

    def _queue(self, command: CreateQueue) -> CreateQueue:
        skewed = attrs.evolve(
            command,
            lock_duration=self._duration(command.lock_duration),
            duplicate_window=self._window(command.duplicate_window),
            time_to_live=self._life(command.time_to_live),
        )
        return self._remembered(command.queue, command, skewed)

    def _remembered(self, name: str, asked: Asked, skewed: Asked) -> Asked:
        """The request as such a bus takes it, which will be told as it was asked."""
        for each in SKEWED:
            if hasattr(asked, each):
                self._asked[name, each, getattr(skewed, each)] = getattr(asked, each)
        return skewed

    def _duration(self, duration: int) -> int:
        return max(1, duration + self._random.randint(-self._slack, self._slack))

    def _window(self, asked: int) -> int:
        """DUP-03: one that can be had stays one, and one that cannot is as it was asked for."""
        if not SHORTEST_WINDOW <= asked <= LONGEST_WINDOW:
            return asked
        return min(max(self._duration(asked), SHORTEST_WINDOW), LONGEST_WINDOW)

    def _life(self, life: int | None) -> int | None:
        return None if life is None else self._duration(life)

    def _delay(self, delay: int) -> int:
        """A slow service, now and then: nobody states by when what is due has to come."""
        slow = self._random.random() < LATE_EFFECTS and not self._punctual
        return delay + self._random.randint(-self._slack, self._slack * (5 if slow else 1))
