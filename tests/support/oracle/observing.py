"""An observer of one namespace, for tests of the oracle."""

from typing import Any

from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import Acceptance, accept, step
from busproof.oracle.transition import Transition
from busproof.vocabulary.commands import (
    AdvanceClock,
    BringPartitionUp,
    CreateQueue,
    Receive,
    Send,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.messages import SEQUENCE_BITS, Message, MessageView
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import (
    Described,
    Done,
    Event,
    Indeterminate,
    Outcome,
    QueueDescription,
    Received,
    Refused,
    Witness,
)
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error, Tier

DONE = Done()
INVALID = Refused(error=Error.INVALID_OPERATION)
GONE = Refused(error=Error.UNAVAILABLE)
OTHER = Refused(error=Error.OTHER)
MISSING = Refused(error=Error.NOT_FOUND)
LOST = Indeterminate()
SECOND = 1_000_000


class Observer:
    """What was seen of a namespace so far, and what it leaves possible."""

    def __init__(self, profile: Profile, observability: Observability) -> None:
        self.possible: tuple[Namespace, ...] = (fresh_namespace(profile, observability),)
        self.bodies = 0

    def saw(
        self,
        command: object,
        outcome: Outcome = DONE,
        partition: int | None = None,
        connection: str = "c1",
        at: tuple[int, int | None] = (0, 0),
    ) -> Acceptance:
        """Judge an event; what it rules out is forgotten, unless it is a violation."""
        witness = None if partition is None else Witness(partition=partition)
        event = Event(
            client=connection,
            connection=connection,
            called=at[0],
            returned=at[1],
            command=command,
            outcome=outcome,
            witness=witness,
        )
        found = accept(self.possible, event)
        if found.possible:
            self.possible = found.possible
        return found

    def has(self, command: object, outcome: Outcome = DONE, **options: object) -> None:
        """Judge an event that must be allowed."""
        assert self.saw(command, outcome, **options).possible, (command, outcome)

    def queue(self, **settings: object) -> str:
        self.has(CreateQueue(queue="q", **settings))
        return "q"

    def message(self, **properties: object) -> Message:
        self.bodies += 1
        return Message(**{"body": f"m{self.bodies}", **properties})

    def send(
        self,
        outcome: Outcome = DONE,
        partition: int | None = None,
        timeout: int = 60_000_000,
        transaction: str | None = None,
        **properties: object,
    ) -> Acceptance:
        """A send of a new message to the queue q, and what the judge says."""
        command = Send(
            queue="q",
            message=self.message(**properties),
            timeout=timeout,
            transaction=transaction,
        )
        return self.saw(command, outcome, partition)

    def step(self, command: object, connection: str = "c1") -> tuple[Transition, ...]:
        return step(self.possible[0], command, connection)


def refuses(observer: Observer, command: object, outcome: Outcome, *blamed: str) -> None:
    """An answer that nothing allows, and the rules that it breaks, the first one first."""
    found = observer.saw(command, outcome)
    assert not found.possible, (command, outcome)
    assert blamed == found.rules[: len(blamed)], found.rules


def shows(observer: Observer, command: object, outcome: Outcome, *rules: str) -> None:
    """An answer that is allowed and shows these rules, among others."""
    found = observer.saw(command, outcome)
    assert found.possible, (command, outcome, found.rules)
    assert set(rules) <= set(found.rules), found.rules


def is_allowed(observer: Observer, command: object, outcome: Outcome, **options: object) -> bool:
    """Whether this may be answered now; the answer is forgotten."""
    before = observer.possible
    found = bool(observer.saw(command, outcome, **options).possible)
    observer.possible = before
    return found


def passes(observer: Observer, seconds: float) -> None:
    """So many seconds pass on the virtual clock."""
    observer.has(AdvanceClock(duration=int(seconds * SECOND)))


def down(partition: int) -> TakePartitionDown:
    return TakePartitionDown(queue="q", partition=partition)


def up(partition: int) -> BringPartitionUp:
    return BringPartitionUp(queue="q", partition=partition)


def update(**changes: Any) -> UpdateQueue:
    return UpdateQueue(queue="q", **changes)


def described_as(**fields: Any) -> Described:
    """The description of the queue q."""
    return Described(description=QueueDescription(queue="q", **fields))


def view(body: str, partition: int = 0, number: int = 1, **seen: object) -> MessageView:
    """A message as received: from this partition, with this number in it."""
    return MessageView(
        **{"body": body, "sequence_number": (partition << SEQUENCE_BITS) + number, **seen}
    )


def received(body: str, partition: int = 0, number: int = 1, **seen: object) -> Received:
    return Received(message=view(body, partition, number, **seen))


def knows_nothing_of(observer: Observer, name: str) -> None:
    """This entity is no longer judged."""
    observer.has(Receive(queue=name), received("never sent"))
    observer.has(Receive(queue=name), MISSING)


def knows(observer: Observer, name: str) -> None:
    """What this entity gives is held against the bus."""
    assert not observer.saw(Receive(queue=name), received("never sent")).possible


def locked(
    observer: Observer, token: str = "l", until: int | None = 60 * SECOND, **settings: object
) -> Observer:
    """A queue with one message, which is locked."""
    observer.queue(**settings)
    observer.send(partition=1)
    observer.has(Receive(queue="q"), received("m1", 1, lock_token=token, locked_until=until))
    return observer


def observing(
    readings: dict[str, str] | None = None,
    tier: Tier = Tier.STANDARD,
    partitions: int = 4,
    silent: frozenset[str] = frozenset(),
    namespace_partitions: int = 1,
    messaging_units: int = 1,
    **observability: object,
) -> Observer:
    """A fresh namespace with these readings; what is left over is of the observability."""
    profile = Profile(
        edition="de-2021-04",
        tier=tier,
        readings=readings or {},
        partitions=partitions if namespace_partitions == 1 else namespace_partitions,
        silent=silent,
        namespace_partitions=namespace_partitions,
        messaging_units=messaging_units,
    )
    return Observer(profile, Observability(**observability))
