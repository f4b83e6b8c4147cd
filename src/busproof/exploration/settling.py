"""Settling of a failure: shrink it, and replay it three more times with a record.

Hypothesis's shrinker works on the choices it drew, and a command is a small part of those: it took
ten to thirty times as long to reach failures of the same size. So each failure is shrunk here, one
rule at a time, by replaying fewer and simpler commands. These replays are not recorded.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.sizes import Size
from busproof.exploration.trials import Trial, Trials
from busproof.history.records import AGAIN, Record, Started
from busproof.history.replay import RecordedCommand, commands_of, numbered
from busproof.judging.applicability import Terms
from busproof.judging.judge import Judge
from busproof.judging.shrinking import minimised, off_the_wire
from busproof.judging.simplifying import Spent, simplified

__all__ = ["TIMES", "Found", "settle_failure"]

TIMES: Final = 3
"""Replays of a shrunk failure, to see whether it repeats."""
LONG: Final = 1_000
"""Number of commands from which on a failure is replayed once: a full namespace takes minutes."""


@attrs.frozen(kw_only=True)
class Found:
    """A broken rule, the commands of its shrunk failure, and how many replays broke it again."""

    rule: v.RuleId
    commands: tuple[RecordedCommand, ...]
    times: int
    again: int

    @property
    def repeats(self) -> bool:
        """Whether every replay broke the rule."""
        return self.again == self.times


def settle_failure(
    adapter: v.Adapter,
    terms: Terms,
    size: Size,
    rule: v.RuleId,
    events: Sequence[v.Event],
    *,
    write: Callable[[Record], None],
    judges: Callable[[Judge], None] | None = None,
) -> Found:
    """Shrink a failure, replay it, and return what became of it.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the limits of shrinking.
        rule: the rule that the failure breaks.
        events: the events from an empty namespace up to the violation.
        write: receives the records of the replays.
        judges: takes the judge of each recorded replay.
    """
    commands = _shrunk(adapter, terms, size, rule, events)
    times = TIMES if len(commands) < LONG else 1
    again = 0
    for time_ in range(1, times + 1):
        name = f"{rule}, broken by few commands ({time_} of {times})"
        write(Started(scenario=name, rules=(rule,), feature=AGAIN))
        trial = Trial(adapter, terms, rule, write)
        trial.judges = judges
        again += trial.breaks(commands)
        write(trial.ended)
    return Found(rule=rule, commands=commands, times=times, again=again)


def _shrunk(
    adapter: v.Adapter, terms: Terms, size: Size, rule: v.RuleId, events: Sequence[v.Event]
) -> tuple[RecordedCommand, ...]:
    observability = adapter.declaration.observability
    real = observability.clock is v.Clock.REAL
    is_dear = size.dear or real or isinstance(adapter, v.Hearing)
    trials = Trials(
        Trial(adapter, terms, rule),
        replays=size.replays if is_dear else None,
        commands=size.shrinking,
    )
    if is_dear:
        needed = off_the_wire(events, rule, terms.profile, observability, terms.oracle)
        guess = commands_of(needed, observability.clock)
        with suppress(Spent):
            if trials.fails(guess):
                return numbered(guess)
    commands = minimised(commands_of(events, observability.clock), trials.fails)
    if not trials.allow(commands):
        return numbered(commands)
    commands = simplified(numbered(commands), trials.fails)
    # Simpler values may make further commands unnecessary.
    return numbered(minimised(commands, trials.fails))
