"""Judging of events one by one, by one of the two oracles.

Where the oracle accuses the bus, or cannot go on, the reference model decides: if one of its
executions gives the recorded answers, nothing was violated (`replay`). From then on the execution
is continued event by event, and no rule is credited any more.
"""

from collections import Counter
from collections.abc import Sequence

import attrs

from busproof import vocabulary as v
from busproof.history.records import Oracle
from busproof.judging.decided import Decided
from busproof.judging.diagnosis.diagnosis import diagnose
from busproof.judging.lagging import Lag
from busproof.judging.liveness import Patience
from busproof.judging.replay.explanation import (
    Continued,
    Ended,
    is_doubtful,
    is_replayed,
    is_worth_a_replay,
    too_many_alike,
)
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept

__all__ = ["STATES_LIMIT", "Judge", "Violation", "observability_for", "too_many_states"]

STATES_LIMIT = 512
"""Maximum number of possible states; with more the verdict is `inconclusive`, never a pass."""


@attrs.frozen(kw_only=True)
class Violation:
    """An event that the documents do not allow.

    Attributes:
        index: its index among the judged events.
        rules: the rules that it breaks, the most relevant first.
        allowed: the answers that would have been allowed; empty if none can be compared.
        why: an explanation, if more than this one event is wrong.
    """

    index: int
    rules: tuple[v.RuleId, ...]
    allowed: tuple[v.Outcome, ...]
    why: str = ""


def observability_for(observability: v.Observability, oracle: Oracle) -> v.Observability:
    """Return the observability that an oracle assumes: the client oracle sees no partitions."""
    if oracle is Oracle.STRICT:
        return observability
    return attrs.evolve(observability, partitions=False)


class Judge:
    """Judge of events in their order, from an empty namespace on; each event is judged once.

    Args:
        profile: the profile of the namespace.
        observability: what the observer sees.
        history: the events that will be judged, if somebody has them already; otherwise the judge
            keeps those that it saw, for a replay.

    Attributes:
        decided: for each event that was allowed, the rules that decided it.
        violation: the first event that is not allowed; no later event is judged.
        overdue: the first event at which a message or a right description was overdue, although
            each answer was allowed.
        exhausted: why judging stopped without a verdict; empty if it did not.
        explained: the rules that the oracle would have charged, if an execution explains the event.
    """

    def __init__(
        self,
        profile: v.Profile,
        observability: v.Observability,
        history: Sequence[v.Event] | None = None,
    ) -> None:
        self._profile = profile
        self._observability = observability
        self._history = history
        self._seen: list[v.Event] = []
        self._replay: Continued | None = None
        self.explained: tuple[v.RuleId, ...] = ()
        self._possible: tuple[Namespace, ...] = (fresh_namespace(profile, observability),)
        self._patience = Patience()
        self._lag = Lag()
        self.decided = Decided()
        self.violation: Violation | None = None
        self.overdue: Violation | None = None
        self.exhausted = ""

    @property
    def evidence(self) -> Counter[v.RuleId]:
        """Rule to the number of events that it decided."""
        return self.decided.evidence()

    def saw(self, event: v.Event) -> Violation | None:
        """Judge the next event; return the violation if the event is one."""
        if self.violation is not None or self.exhausted:
            return None
        if self._history is None:
            self._seen.append(event)
        if self._replay is not None:
            self._continue(self._replay, event)
            return self.violation
        accepted = accept(self._possible, event)
        index = len(self.decided)
        if not accepted.possible:
            accused = Violation(index=index, rules=accepted.rules, allowed=accepted.outcomes)
            self._reconsider(accused, "")
        elif len(accepted.possible) > STATES_LIMIT:
            self._reconsider(None, too_many_states(index + 1))
        else:
            self.decided.append(accepted.rules)
            self._possible = accepted.possible
            self._look_for_overdue(event, index)
        return self.violation

    def _reconsider(self, accused: Violation | None, exhausted: str) -> None:
        """Let the replay decide an event that the oracle does not allow, or cannot judge."""
        rules = () if accused is None else accused.rules
        judged = len(self.decided) + 1
        events = self._judged(judged)
        if is_replayed(self._observability, judged) and is_worth_a_replay(events):
            replay = Continued(events, self._profile, self._observability)
            if replay.explanation.is_found:
                self._replay = replay
                self.explained = rules[:1]
                self.decided.append(())
                return
            if accused is not None and is_doubtful(replay.explanation, events):
                accused, exhausted = None, too_many_alike(replay.explanation)
        self.violation, self.exhausted = accused, exhausted

    def _judged(self, count: int) -> Sequence[v.Event]:
        """Return the first events that were judged."""
        return self._seen if self._history is None else self._history[:count]

    def _continue(self, replay: Continued, event: v.Event) -> None:
        ended = replay.saw(event)
        if ended is Ended.EXPLAINED:
            self.decided.append(())
        elif ended is Ended.GAVE_UP:
            self.exhausted = too_many_alike(replay.explanation)
        else:
            self.violation = self._diagnosed(replay)

    def _diagnosed(self, replay: Continued) -> Violation:
        """Return the violation that only the replay has found."""
        index = len(self.decided)
        stuck_at = replay.explanation.stuck_at
        events = self._judged(index + 1)
        found = diagnose(
            events, index if stuck_at is None else stuck_at, self._profile, self._observability
        )
        return Violation(index=index, rules=found.rules, allowed=found.allowed)

    def _look_for_overdue(self, event: v.Event, index: int) -> None:
        if self.overdue is not None:
            return
        waited = self._patience.saw(event, self._possible)
        late = self._lag.saw(event, self._possible) or waited
        if late is not None:
            self.overdue = Violation(index=index, rules=late.rules, allowed=(), why=late.why)


def too_many_states(event: int) -> str:
    """Return why there is no verdict after the event of this number, counted from 1."""
    return (
        f"more than {STATES_LIMIT} states remained possible after event {event}; "
        "a witness, or a --reading, would distinguish them"
    )
