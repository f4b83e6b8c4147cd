"""What the seeded bus remembers: queues, the messages they hold, and transactions."""

import attrs

from busproof.vocabulary.commands import AddRule, CreateQueue, RemoveRule, Settlement
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import SEQUENCE_BITS, Message
from busproof.vocabulary.paths import DEAD_LETTERS, TRANSFERS
from busproof.vocabulary.subscription_rules import Filter

__all__ = [
    "Change",
    "Held",
    "Hold",
    "Key",
    "Lock",
    "Planned",
    "Queue",
    "Staged",
    "Transaction",
    "owner_of",
]

Change = AddRule | RemoveRule
Key = tuple[str, str]
"""The property that a partition key was taken from, and its value."""


def owner_of(name: str) -> str:
    """The name of the entity that a path of dead letters, or of its own, belongs to."""
    return name.removesuffix(TRANSFERS).removesuffix(DEAD_LETTERS)


@attrs.frozen(kw_only=True)
class Lock:
    """A receiver's hold on a message; it lasts until the clock reaches `until`."""

    token: str
    until: int
    session_id: str | None = None


@attrs.define(kw_only=True, eq=False)
class Held:
    """A message in a queue; `number` is its place in the order of arrival, from 1.

    `reason` is why it is where it is, in a dead-letter queue; `dies` is when its time to live ends.
    """

    number: int
    partition: int
    message: Message
    deliveries: int = 0
    lock: Lock | None = None
    reason: str | None = None
    deferred: bool = False
    dies: int | None = None

    @property
    def sequence_number(self) -> int:
        """The partition above, the order of arrival below."""
        return (self.partition << SEQUENCE_BITS) + self.number


@attrs.frozen(kw_only=True, eq=False)
class Planned:
    """A scheduled message, under the number that cancels it; `place` is how many came before."""

    number: int
    message: Message
    partition: int
    due: int
    place: int


@attrs.frozen(kw_only=True)
class Hold:
    """A connection's lock on a session; it lasts until the clock reaches `until`."""

    connection: str
    until: int


@attrs.define(kw_only=True, eq=False)
class Queue:
    """A queue; a regular one is a queue with a single partition.

    A topic and its subscriptions are kept as queues too; they share the partitions that are down.

    Attributes:
        settings: what it was created with.
        partitions: how many it has.
        down: those that are unavailable.
        messages: in the order in which they are offered.
        arrivals: how many messages were ever stored.
        given: how many messages were ever handed out under a lock.
        turn: the partition that is next for a message without key.
        accepted: key and MessageId to the time at which such a message was accepted.
        sessions: the sessions that are locked.
        subscriptions: of a topic; `None` of everything else.
        topic: of a subscription.
        rules: of a subscription, by name.
        actions: of those of its rules that have one, by name.
        states: what is stored with sessions.
        planned: what is scheduled and not due.
        numbered: the latest number given to what was scheduled, within a partition.
        dead: its dead-letter queue; a dead-letter queue has none.
        transfers: what it could not forward; a dead-letter queue has none.
        status: whether it is disabled.
    """

    settings: CreateQueue
    partitions: int
    down: set[int] = attrs.field(factory=set)
    messages: list[Held] = attrs.field(factory=list)
    arrivals: int = 0
    given: int = 0
    turn: int = 0
    accepted: dict[tuple[Key | None, str], int] = attrs.field(factory=dict)
    sessions: dict[str, Hold] = attrs.field(factory=dict)
    subscriptions: "list[Queue] | None" = None
    topic: "Queue | None" = None
    rules: dict[str, Filter] = attrs.field(factory=dict)
    actions: dict[str, str] = attrs.field(factory=dict)
    states: dict[str, str] = attrs.field(factory=dict)
    planned: list[Planned] = attrs.field(factory=list)
    numbered: int = 1 << 40
    dead: "Queue | None" = None
    transfers: "Queue | None" = None
    status: EntityStatus = EntityStatus.ACTIVE

    @property
    def name(self) -> str:
        """The name it was created under."""
        return self.settings.queue


@attrs.frozen(kw_only=True)
class Staged:
    """A message that waits for its transaction's commit; `planned` if it is then scheduled."""

    queue: Queue
    message: Message
    key: Key | None
    partition: int
    planned: Planned | None = None


@attrs.define(kw_only=True, eq=False)
class Transaction:
    """A transaction that has begun and not ended.

    `keys` are those of each queue's messages, `changes` those of rules that wait for its commit,
    and `settlements` those of messages.
    """

    changes: "list[tuple[Queue, Change]]" = attrs.field(factory=list)
    staged: list[Staged] = attrs.field(factory=list)
    settlements: list[tuple[Queue, Settlement]] = attrs.field(factory=list)
    keys: dict[str, list[Key]] = attrs.field(factory=dict)
