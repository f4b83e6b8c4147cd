"""Descriptions that are still wrong after a while, under the reading `bounded` of GET-LAG.

A description may show an earlier count or availability, so `accept` allows any earlier one. After
two minutes without a request that changes anything, it must show the current one.

While a partition is down, a description may be refused (COUNTS-IN-OUTAGE). Whoever refuses all of
them for two minutes reports no availability at all, which MGMT-21 requires.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.liveness import BOUND, TRIES, Overdue
from busproof.oracle.management.counts import counts, surely_aside
from busproof.oracle.management.descriptions import wrongly_told
from busproof.oracle.state import Namespace, Queue, everywhere
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
REFUSED_FOR_A_WHILE: Final = frozenset({"either", "left-out"})
"""Readings of COUNTS-IN-OUTAGE under which some description of an outage is given."""
OF_AVAILABILITY: Final = frozenset({"MGMT-21", "MGMT-22"})
"""Rules on availability, which an outage that anybody knows of decides."""


@attrs.frozen
class _Refused:
    """A series of refused descriptions: when it began, and how many there were."""

    since: int
    answers: int = 0


class Lag:
    """Monitor of descriptions in one run of events, from an empty namespace."""

    def __init__(self) -> None:
        self._since = 0
        self._before: Sequence[Namespace] = ()
        self._is_blind = False
        self._was_down = False
        self._refused: dict[v.Command, _Refused] = {}

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
            self._refused = {}
        if isinstance(event.command, v.GetQueue | v.GetTopic):
            late = self._silence(event, event.command, possible)
            if late is not None:
                return late
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

    def _silence(
        self, event: v.Event, command: v.GetQueue | v.GetTopic, possible: Sequence[Namespace]
    ) -> Overdue | None:
        """Return what is wrong if an outage has kept every description away for two minutes."""
        name = command.topic if isinstance(command, v.GetTopic) else command.queue
        must = all(_must_be_told(state, name) for state in possible)
        if self._is_blind or not must or not isinstance(event.outcome, v.Refused):
            self._refused.pop(command, None)
            return None
        before = self._refused.get(command, _Refused(event.called))
        row = self._refused[command] = attrs.evolve(before, answers=before.answers + 1)
        if row.answers < TRIES or event.called - row.since < BOUND:
            return None
        why = f"a partition is down, and {row.answers} descriptions in two minutes were refused"
        return Overdue(rules=("MGMT-21",), why=why)


def _must_be_told(state: Namespace, name: str) -> bool:
    """Return whether a partition of an entity is surely down, and another one surely up."""
    entity = state.queues.get(name)
    if entity is None or state.reading("COUNTS-IN-OUTAGE") not in REFUSED_FOR_A_WHILE:
        return False
    outages, settings = entity.outages, entity.settings
    is_sure = bool(outages.down) and not outages.doubt
    return is_sure and not outages.must_hit(everywhere(state, settings))


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
