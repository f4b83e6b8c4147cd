"""Judging of the entities of a history that begins in the middle, one by one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.records import Began
from busproof.judging.begun.entities import Entities
from busproof.judging.begun.fragments import Fragment, fragments
from busproof.judging.begun.narrowing import parts_of
from busproof.judging.begun.reasons import Reason
from busproof.judging.garbage import seldom_collected
from busproof.judging.linearization.overlap import Judged, judged
from busproof.judging.linearization.search import Ended, Search
from busproof.judging.replay.evidence import independent_parts
from busproof.judging.second_opinion import STATES_LIMIT
from busproof.judging.violation import Violation
from busproof.judging.workload import without_times
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept

__all__ = ["Accused", "Unjudged", "accusations", "judged_begun"]

Unjudged = Counter[tuple[Reason, str]]
"""How many events were not judged, by reason and path of the entity."""

STEPS_AN_EVENT: Final = 5
STEPS_AT_LEAST: Final = 1_000
"""Search steps for the events of an entity or a message; a search that needs more proves nothing.

Most violations show in the events of one message, which need few.
"""


@attrs.frozen(kw_only=True)
class Accused:
    """A violation that no past explains; `order` has the events that show it, in their order."""

    path: str
    order: tuple[int, ...]
    violation: Violation


@seldom_collected()
def judged_begun(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    began: Began,
) -> tuple[Judged, Unjudged]:
    """Judge events of which some concern entities that existed before.

    Independent parts without such entities are judged as always. Of the others each entity is
    judged by itself, and only what no past explains is a violation; they show no rule.

    Returns:
        The result, and how many events were not judged, by reason and entity.
    """
    if observability.clock is v.Clock.VIRTUAL:
        # Times of a lock's end count from a beginning that nobody knows.
        events = [attrs.evolve(one, outcome=without_times(one.outcome)) for one in events]
    entities = Entities(events, began.settings, began.names, witness=observability.partitions)
    plain: set[int] = set()
    unjudged: Unjudged = Counter()
    shortest: Accused | None = None
    for indices in independent_parts(events):
        part = [events[index] for index in indices]
        if not entities.is_begun(part):
            plain.update(index for index in indices if not _is_of_the_past(events[index]))
            continue
        for accused in accusations(part, entities, profile, observability, unjudged):
            order = tuple(indices[place] for place in accused.order)
            if shortest is None or len(order) < len(shortest.order):
                shortest = attrs.evolve(accused, order=order)
    judged_wholly = sorted(plain)
    result = judged([events[index] for index in judged_wholly], profile, observability)
    result = attrs.evolve(result, order=tuple(judged_wholly[place] for place in result.order))
    if shortest is None or result.violation is not None:
        return result, unjudged
    accused_wholly = Judged(
        evidence=result.evidence,
        decided=[()] * (len(shortest.order) - 1),
        violation=shortest.violation,
        order=shortest.order,
    )
    return accused_wholly, unjudged


def _is_of_the_past(event: v.Event) -> bool:
    """Return whether an answer depends on which entities there were before."""
    is_refused = isinstance(event.command, v.Creation) and isinstance(event.outcome, v.Refused)
    return is_refused or isinstance(event.command, v.ListQueues | v.ListTopics)


def accusations(
    events: Sequence[v.Event],
    entities: Entities,
    profile: v.Profile,
    observability: v.Observability,
    unjudged: Unjudged,
) -> Iterator[Accused]:
    """Yield a violation of each entity of a part that no past explains, if it has one.

    Args:
        events: the events of the part.
        entities: the entities of the history.
        profile: the profile of the namespace.
        observability: what the observer sees.
        unjudged: what is not judged is added here.
    """
    for ways in fragments(events, entities):
        found = [_of_whole(way, profile, observability) for way in ways]
        for way in ways[:1]:
            for reason, count in way.unjudged.items():
                unjudged[reason, way.path] += count
        if found and all(found) and found[0] is not None:
            yield found[0]


def _of_whole(
    fragment: Fragment, profile: v.Profile, observability: v.Observability
) -> Accused | None:
    if observability.clock is v.Clock.REAL:
        for part in parts_of(fragment):
            found = _judged(part, profile, observability)
            if found is not None:
                return found
        if not fragment.is_certain:
            # Where any message may be missing, messages of different keys say nothing together.
            return None
    return _judged(fragment, profile, observability)


def _judged(
    fragment: Fragment, profile: v.Profile, observability: v.Observability
) -> Accused | None:
    held_to = attrs.evolve(profile, silent=profile.silent | {"KEY-14"})
    seen = attrs.evolve(
        observability,
        partial=True,
        begun=True,
        fleeting=not fragment.is_certain,
        left_out=fragment.left_out,
        # A library assigns them to messages that were sent; where they are left out it does not.
        assigns_message_ids=observability.assigns_message_ids and fragment.has_message_ids,
    )
    start: tuple[Namespace, ...] = (fresh_namespace(held_to, seen),)
    for event in fragment.before:
        start = accept(start, event).possible
        if not start:
            fragment.unjudged[Reason.NO_QUEUE] += len(fragment.events)
            return None
    if observability.clock is v.Clock.VIRTUAL:
        return _in_order(fragment, start)
    search = Search(fragment.events, start)
    steps = STEPS_AT_LEAST + STEPS_AN_EVENT * len(fragment.events)
    ended = search.run(steps, steps)
    if ended is Ended.GAVE_UP:
        fragment.unjudged[Reason.ORDERS] += len(fragment.events)
    if ended is not Ended.IMPOSSIBLE:
        return None
    end = search.longest_path()
    why = end.why()
    order = tuple(fragment.indices[place] for place in end.order)
    return Accused(
        path=fragment.path,
        order=order,
        violation=Violation(index=len(order) - 1, rules=why.rules, allowed=why.outcomes),
    )


def _in_order(fragment: Fragment, start: tuple[Namespace, ...]) -> Accused | None:
    possible = start
    for place, event in enumerate(fragment.events):
        accepted = accept(possible, event)
        if not accepted.possible:
            return Accused(
                path=fragment.path,
                order=fragment.indices[: place + 1],
                violation=Violation(index=place, rules=accepted.rules, allowed=accepted.outcomes),
            )
        if len(accepted.possible) > STATES_LIMIT:
            return None
        possible = accepted.possible
    return None
