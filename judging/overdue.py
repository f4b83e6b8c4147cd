"""Violations that only the time between allowed answers shows: late messages, old counts.

No single answer is wrong, so the judging of events one by one accepts the history. A run notices
these violations while it explores (`liveness`, `lagging`); this module finds them in any recording.
"""

from collections import Counter
from collections.abc import Sequence

from busproof import vocabulary as v
from busproof.judging.judge import Judge, Violation
from busproof.judging.lagging import CHANGES_NOTHING
from busproof.judging.liveness import BOUND, TRIES

__all__ = ["first_overdue"]


def first_overdue(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Violation | None:
    """Return the first violation that only the time between allowed events shows, if any.

    Args:
        events: all events of a scenario, in an order in which each answer is allowed.
        profile: the profile of the namespace.
        observability: what an observer sees. Only a virtual clock has one order of events, which
            the passing of time needs.
    """
    if observability.clock is not v.Clock.VIRTUAL:
        return None
    # Judging again takes as long as judging, so it is done only if somebody has waited enough.
    if not _has_waited(events):
        return None
    judge = Judge(profile, observability)
    for event in events:
        judge.saw(event)
        if (violation := judge.overdue(event)) is not None:
            return violation
    return None


def _has_waited(events: Sequence[v.Event]) -> bool:
    """Return whether a receiver or a request for a description may have waited long enough."""
    empty: Counter[v.Command] = Counter()
    changed_at = 0
    for event in events:
        command, outcome = event.command, event.outcome
        if isinstance(outcome, v.Described | v.TopicDescribed):
            if event.called - changed_at >= BOUND:
                return True
        elif isinstance(command, v.Receive) and isinstance(outcome, v.Empty):
            empty[command] += 1
            if empty[command] >= TRIES:
                return True
        elif not isinstance(command, v.AdvanceClock):
            empty.clear()
        if not isinstance(command, CHANGES_NOTHING):
            changed_at = event.called if event.returned is None else event.returned
    return False
