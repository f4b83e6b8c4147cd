"""Replay check: whether a bus answers a recorded scenario as it is recorded.

On a virtual clock the commands of a scenario depend only on its answers. A bus that gives the
recorded answers would get the same commands to the end, so the scenario need not be run or judged
for it again.
"""

from busproof import vocabulary as v
from busproof.history.records import Scenario

__all__ = ["answers_alike", "same_outcome"]


def answers_alike(adapter: v.Adapter, profile: v.Profile, scenario: Scenario) -> bool:
    """Return whether the adapter repeats the recorded answers and witnesses, in their order.

    This takes no longer than the adapter's answers take.

    Args:
        adapter: the adapter of the bus, on a virtual clock.
        profile: the profile of the recording.
        scenario: the recorded events, which did not overlap.

    An adapter that raises an error does not repeat the answer.
    """
    if not scenario.events:
        return True
    try:
        adapter.start(profile)
        return all(
            _repeats(adapter.do(event.command, event.connection), event)
            for event in scenario.events
        )
    except Exception:  # noqa: BLE001 - whatever an adapter raises, it does not answer
        return False


def same_outcome(one: v.Outcome | None, other: v.Outcome | None) -> bool:
    """Return whether two outcomes are the same, the types of all values in them included."""
    return one == other and repr(one) == repr(other)  # for Python, true equals 1


def _repeats(answer: v.Observed, event: v.Event) -> bool:
    return answer.witness == event.witness and same_outcome(answer.outcome, event.outcome)
