"""Whether an implementation answers a recorded scenario as the one that was recorded.

On a virtual clock a scenario asks what follows from the answers that it got. So a bus that gives
the recorded answers to the recorded requests would be asked nothing else, and the scenario would
end on it as it did; nothing of it has to be run or judged again.
"""

from busproof.adapters.base import Adapter, Observed
from busproof.history.records import Scenario
from busproof.vocabulary.profile import Profile

__all__ = ["answers_alike"]


def answers_alike(adapter: Adapter, profile: Profile, scenario: Scenario) -> bool:
    """Whether the adapter gives the recorded answers and witnesses, asked one after the other.

    What it costs is the adapter's answers, as many as were recorded.

    Args:
        adapter: the implementation, on a virtual clock.
        profile: what the recorded one was held to.
        scenario: the requests, none of which overlapped another, and what came.

    An adapter that breaks gives no answer, and so another one.
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
