"""An observer of one namespace that judges by replays, for tests of the diagnosis."""

from collections.abc import Sequence
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.judging.diagnosis.diagnosis import diagnose
from busproof.judging.replay.explanation import explain
from busproof.spec import load

DONE = v.Done()


@attrs.frozen
class Found:
    """What a replay makes of an event: whether it is possible, or else the rules it breaks."""

    possible: bool
    rules: tuple[v.RuleId, ...] = ()
    allowed: Sequence[Any] = ()


class Observer:
    """What was seen of a namespace so far."""

    def __init__(self, profile: v.Profile, observability: v.Observability) -> None:
        self.profile = profile
        self.observability = observability
        self.events: list[v.Event] = []
        self.bodies = 0

    def saw(
        self,
        command: Any,
        outcome: v.Outcome = DONE,
        partition: int | None = None,
        connection: str = "c1",
        at: tuple[int, int | None] = (0, 0),
    ) -> Found:
        """Judge an event; it is forgotten if it is a violation."""
        witness = None if partition is None else v.Witness(partition=partition)
        event = v.Event(
            client=connection,
            connection=connection,
            called=at[0],
            returned=at[1],
            command=command,
            outcome=outcome,
            witness=witness,
        )
        events = [*self.events, event]
        explanation = explain(events, self.profile, self.observability)
        if explanation.is_found:
            self.events = events
            return Found(possible=True)
        assert explanation.stuck_at is not None
        found = diagnose(events, explanation.stuck_at, self.profile, self.observability)
        assert found.index == len(events) - 1
        return Found(possible=False, rules=found.rules, allowed=found.allowed)

    def has(self, command: Any, outcome: v.Outcome = DONE, **options: Any) -> None:
        """Add an event that must be possible."""
        assert self.saw(command, outcome, **options).possible, (command, outcome)

    def queue(self, **settings: Any) -> None:
        """Create the queue q."""
        self.has(v.CreateQueue(queue="q", **settings))

    def send(self, partition: int | None = None, **properties: Any) -> None:
        """Send a new message to the queue q."""
        self.bodies += 1
        transaction = properties.pop("transaction", None)
        message = v.Message(**{"body": f"m{self.bodies}", **properties})
        self.has(v.Send(queue="q", message=message, transaction=transaction), partition=partition)

    def passes(self, seconds: float) -> None:
        """Let time pass on the virtual clock."""
        self.has(v.AdvanceClock(duration=int(seconds * 1_000_000)))


def replaying(
    readings: dict[str, str] | None = None,
    tier: v.Tier = v.Tier.STANDARD,
    partitions: int = 4,
    **observability: Any,
) -> Observer:
    """Return an observer of a fresh namespace; what is left over is of the observability."""
    profile = v.profile_for(load(), tier=tier, readings=readings or {}, partitions=partitions)
    return Observer(profile, v.Observability(**observability))


def view(body: str, partition: int = 0, number: int = 1, **seen: Any) -> v.MessageView:
    """Return a message as received: from this partition, with this number in it."""
    return v.MessageView(
        **{"body": body, "sequence_number": (partition << v.SEQUENCE_BITS) + number, **seen}
    )


def received(body: str, partition: int = 0, number: int = 1, **seen: Any) -> v.Received:
    """Return the answer that gives such a message."""
    return v.Received(message=view(body, partition, number, **seen))
