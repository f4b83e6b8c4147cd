"""Small values of the model: refusals, keys, messages in transit, settings of entities.

They never change, so the journal does not record them: a changed value is a new one. A refusal is
an exception, because any check, at any depth, may end the request; its changes are then undone.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, Final, NamedTuple

import attrs

from busproof import vocabulary as v

__all__ = ["DIRECT", "EntityKind", "EntitySettings", "InTransit", "Key", "Refusal", "stated_again"]


class Refusal(Exception):
    """Refusal of a request with this error; raising it undoes the request's changes (`step`)."""

    def __init__(self, error: v.Error, *rules: v.RuleId) -> None:
        super().__init__(error, *rules)
        self.error, self.rules = error, rules


@contextmanager
def stated_again(rules: Mapping[v.RuleId, v.RuleId]) -> Iterator[None]:
    """Add to a refusal the rules that state its rules once more, for one kind of request.

    Args:
        rules: a rule that refuses to the one that says the same of this request.
    """
    try:
        yield
    except Refusal as refusal:
        others = (rules[rule] for rule in refusal.rules if rule in rules)
        raise Refusal(refusal.error, *refusal.rules, *others) from None


class Key(NamedTuple):
    """A partition key: the property that it was taken from, and its value."""

    source: str
    value: str


class InTransit(NamedTuple):
    """Values that a message brings with it from another entity.

    Attributes:
        hops: how often in a row it was forwarded.
        dead_letters: how often it was forwarded from a dead-letter queue.
        reason: why it was dead-lettered; `None` if it was not.
        lifetime: the time to live of the topic that it was sent to, in microseconds.
        since: when its time to live started; `None` for now.
        failed: the delivery count that it has as a dead letter, before it is delivered there.
        due: when it was to arrive, if it was scheduled here.
    """

    hops: int = 0
    dead_letters: int = 0
    reason: str | None = None
    lifetime: int | None = None
    since: int | None = None
    failed: int = 0
    due: int | None = None


DIRECT: Final = InTransit()
"""Values of a message that its sender sent to this entity directly."""


class EntityKind(Enum):
    """Kind of an entity."""

    QUEUE = "queue"
    TOPIC = "topic"
    SUBSCRIPTION = "subscription"
    DEAD_LETTERS = "dead-letter queue"
    TRANSFERS = "transfer dead-letter queue"


@attrs.frozen(kw_only=True)
class EntitySettings:
    """Settings of an entity from its creation or updates; durations are in microseconds.

    `max_size` is in GB: per partition, or of the whole entity if it is not partitioned.
    """

    partitioned: bool = False
    requires_session: bool = False
    duplicate_detection: bool = False
    duplicate_window: int = 600 * v.MICROSECONDS
    lock_duration: int = 60 * v.MICROSECONDS
    max_delivery_count: int = 10
    max_size: int = 1
    time_to_live: int | None = None
    dead_letter_expired: bool = False
    forward_to: str | None = None
    forward_dead_letters_to: str | None = None

    @classmethod
    def of(cls, command: v.Creation, **decided: Any) -> "EntitySettings":
        """Return the settings in a creation, replaced by those that the service has decided."""
        settings = {name: getattr(command, name) for name in SETTINGS if hasattr(command, name)}
        return cls(**settings | decided)


SETTINGS: Final = tuple(field.name for field in attrs.fields(EntitySettings))
