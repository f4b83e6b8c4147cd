"""Histories of requests and their answers, and whether the replay explains them."""

from busproof import vocabulary as v
from busproof.judging.replay.explanation import explain
from busproof.spec import load

__all__ = ["DONE", "Told"]

DONE = v.Done()


class Told:
    """Events one after another, on one connection and at the present moment.

    Args:
        edition: id of an edition; the default one if none is given.
        tier: the tier of the namespace.
        readings: ambiguity, with underscores, to reading.
    """

    def __init__(
        self, edition: str | None = None, tier: v.Tier = v.Tier.STANDARD, **readings: str
    ) -> None:
        chosen = {name.replace("_", "-"): reading for name, reading in readings.items()}
        self.profile = v.profile_for(load(), edition=edition, tier=tier, readings=chosen)
        self.events: list[v.Event] = []
        self.now = 0

    def of(self, command: v.Command, outcome: v.Outcome = DONE) -> "Told":
        """Add a request with its answer."""
        called = self.now
        if isinstance(command, v.AdvanceClock):
            self.now += command.duration
        returned = None if isinstance(outcome, v.Indeterminate) else self.now
        self.events.append(
            v.Event(
                client="c1",
                connection="c1",
                called=called,
                returned=returned,
                command=command,
                outcome=outcome,
            )
        )
        return self

    def lost(self, command: v.Command) -> "Told":
        """Add a request whose answer never came."""
        return self.of(command, v.Indeterminate())

    def waited(self, seconds: int) -> "Told":
        """Add an advance of the clock."""
        return self.of(v.AdvanceClock(duration=seconds * v.MICROSECONDS))

    def may_be(self, command: v.Command, outcome: v.Outcome = DONE) -> bool:
        """Return whether this may be the next answer; the history stays as it is."""
        before, now = list(self.events), self.now
        self.of(command, outcome)
        explained = self.is_explained
        self.events, self.now = before, now
        return explained

    @property
    def is_explained(self) -> bool:
        """Whether an execution of the model gives these answers."""
        return explain(self.events, self.profile, v.Observability()).is_found
