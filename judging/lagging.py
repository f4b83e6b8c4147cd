"""Descriptions that are still wrong after a while, under the reading `bounded` of GET-LAG.

A description may show an earlier count or availability, so `accept` allows any earlier one. After
two minutes without a request that changes anything, it must show the current one.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.liveness import BOUND, Overdue
from busproof.oracle.management.counts import counts, surely_aside
from busproof.oracle.management.descriptions import wrongly_told
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.unjudged import is_about_unjudged

__all__ = ["Lag"]

AMBIGUITY: Final = "GET-LAG"
CHANGES_NOTHING: Final = (
    v.AdvanceClock,
    v.GetQueue,
    v.GetTopic,
    v.ListQueues,
    v.ListRules,
    v.ListSessions,
    v.ListSubscriptions,
    v.ListTopics,
    v.Peek,
)
"""Requests that change no description."""
OF_AVAILABILITY: Final = frozenset({"MGMT-21", "MGMT-22"})
"""Rules on availability, which an outage that anybody knows of decides."""


class Lag:
    """Monitor of descriptions in one run of events, from an empty namespace."""

    def __init__(self) -> None:
        self._since = 0
        self._before: Sequence[Namespace] = ()
        self._is_blind = False
        self._was_down = False

    def saw(self, event: v.Event, possible: Sequence[Namespace]) -> Overdue | None:
        """Return what is wrong with a description that had time enough to become right.

        Args:
            event: the last event, which was judged.
            possible: the remaining states.
        """
        if isinstance(event.outcome, v.Indeterminate) or isinstance(event.command, v.RestoreQueue):
            # It may take effect at any time, or in some partitions only.
            self._is_blind = True
        if isinstance(event.command, v.TakePartitionDown):
            # From now on, counts may leave out what some partitions hold.
            self._was_down = True
        if not isinstance(event.command, CHANGES_NOTHING):
            self._since = event.called if event.returned is None else event.returned
            self._before = possible
        if not isinstance(event.outcome, v.Described | v.TopicDescribed):
            return None
        if self._is_blind or event.called - self._since < BOUND:
            return None
        wrong = [_wrong(state, self._before, event) for state in possible]
        if not wrong:
            return None
        if self._was_down:
            wrong = [tuple(rule for rule in rules if rule in OF_AVAILABILITY) for rules in wrong]
        if () in wrong:
            return None
        rules = dict.fromkeys(rule for rules in wrong for rule in rules)
        return Overdue(rules=tuple(rules), why="after two minutes the description is still wrong")


def _wrong(state: Namespace, before: Sequence[Namespace], event: v.Event) -> tuple[v.RuleId, ...]:
    """Return the rules that a description breaks if it has to be up to date; none if it may lag."""
    if state.reading(AMBIGUITY) != "bounded" or not isinstance(
        event.outcome, v.Described | v.TopicDescribed
    ):
        return ()
    description = event.outcome.description
    name = description.topic if isinstance(description, v.TopicDescription) else description.queue
    entity = state.queues.get(name)
    if entity is None or is_about_unjudged(state, event.command):
        return ()
    if not all(_is_steady(name, state, earlier) for earlier in before):
        return ()
    readings = {**state.profile.readings, AMBIGUITY: "at-once"}
    at_once = attrs.evolve(state, profile=attrs.evolve(state.profile, readings=readings))
    return wrongly_told(at_once, entity, description)


def _is_steady(name: str, state: Namespace, earlier: Namespace) -> bool:
    """Return whether an entity surely held as many messages all the time.

    Messages that become due or expire change the count, and it is unknown when a description shows
    that.
    """
    now, before = state.queues[name], earlier.queues.get(name)
    if before is None or before.calendar.entries or now.calendar.entries:
        return False
    return _range(earlier, before) == _range(state, now)


def _range(state: Namespace, entity: Queue) -> tuple[int, int]:
    least, most = counts(entity)
    return least + surely_aside(state, entity), most
