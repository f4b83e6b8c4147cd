"""Replay check: whether an implementation answers a recorded scenario as recorded.

On a virtual clock the commands of a scenario depend only on its answers. A bus that gives the
recorded answers to the recorded requests would get the same requests to the end, so the scenario
need not be run or judged again.
"""

from busproof import vocabulary as v
from busproof.adapters.base import Adapter, Observed
from busproof.history.records import Scenario

__all__ = ["answers_alike"]


def answers_alike(adapter: Adapter, profile: v.Profile, scenario: Scenario) -> bool:
    """Return whether the adapter repeats the recorded answers and witnesses, in order.

    The cost is that of the adapter's answers.

    Args:
        adapter: the implementation, on a virtual clock.
        profile: the profile of the recording.
        scenario: the requests, which did not overlap, and their answers.

    An adapter that breaks gives no answer, and so a different one.
    """
    if not scenario.events:
        return True
    try:
        adapter.start(profile)
        return all(
            adapter.do(event.command, event.connection) == Observed(event.outcome, event.witness)
            for event in scenario.events
        )
    except Exception:  # noqa: BLE001 - whatever an adapter raises, it does not answer
        return False
