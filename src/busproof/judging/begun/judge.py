"""Judging of the entities of a history that begins in the middle, one by one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.records import Began
from busproof.judging.begun.entities import SWITCHING, Entities
from busproof.judging.begun.fragments import Fragment, fragments
from busproof.judging.begun.narrowing import parts_of
from busproof.judging.begun.reasons import Reason
from busproof.judging.diagnosis.diagnosis import diagnose
from busproof.judging.garbage import seldom_collected
from busproof.judging.linearization.overlap import Judged, judged
from busproof.judging.replay.evidence import independent_parts
from busproof.judging.replay.explanation import Ended, Explanation, explain
from busproof.judging.violation import Violation
from busproof.judging.workload import without_times

__all__ = ["Accused", "Unjudged", "accusations", "judged_begun"]

Unjudged = Counter[tuple[Reason, str]]
"""How many events were not judged, by reason and path of the entity."""

STEPS_AN_EVENT: Final = 5
STEPS_AT_LEAST: Final = 1_000
"""Steps for the events of an entity or a message; a replay that needs more proves nothing.

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
    has_outages = observability.outages or any(
        isinstance(event.command, SWITCHING)
        or getattr(event.outcome, "error", None) is v.Error.UNAVAILABLE
        for event in events
    )
    count = profile.partitions
    for ways in fragments(events, entities, partitions=count, has_outages=has_outages):
        found = [_of_whole(way, profile, observability) for way in ways]
        for way in ways[:1]:
            for reason, count in way.unjudged.items():
                unjudged[reason, way.path] += count
        if found and all(found) and found[0] is not None:
            yield found[0]


def _of_whole(
    fragment: Fragment, profile: v.Profile, observability: v.Observability
) -> Accused | None:
    """Return a violation of a fragment, of all its events or of those about one message or key."""
    together = _without_empty(fragment)
    whole = _judge(together, profile, observability)
    if whole.ended is Ended.EXPLAINED:
        return None
    is_recorded = observability.clock is v.Clock.VIRTUAL
    for part in parts_of(fragment, is_recorded=is_recorded):
        found = _judge(part, profile, observability)
        if found.ended is Ended.IMPOSSIBLE:
            return _accuse(part, found, profile, observability)
    if whole.ended is Ended.IMPOSSIBLE:
        # Only a replay that caches messages at once leaves no way out.
        past = attrs.evolve(together.past, caches_late=False)
        together = attrs.evolve(together, past=past)
        whole = _judge(together, profile, observability)
    if whole.ended is Ended.IMPOSSIBLE:
        return _accuse(together, whole, profile, observability)
    if whole.ended is Ended.GAVE_UP:
        fragment.unjudged[Reason.ORDERS] += len(fragment.events)
    return None


def _without_empty(fragment: Fragment) -> Fragment:
    """Return a fragment without empty answers, if receives are missing that may explain them."""
    if fragment.past.is_whole:
        return fragment
    kept = [
        (index, event)
        for index, event in zip(fragment.indices, fragment.events, strict=True)
        if not isinstance(event.outcome, v.Empty)
    ]
    return attrs.evolve(
        fragment,
        events=tuple(event for _, event in kept),
        indices=tuple(index for index, _ in kept),
    )


def _terms(
    fragment: Fragment, profile: v.Profile, observability: v.Observability
) -> tuple[v.Profile, v.Observability]:
    """Return what a fragment is held to, and what an observer sees of it."""
    held_to = attrs.evolve(profile, silent=profile.silent | {"KEY-14"})
    # A library assigns MessageIds to messages that were sent; where they are left out it does not.
    assigned = observability.assigns_message_ids and fragment.has_message_ids
    return held_to, attrs.evolve(observability, assigns_message_ids=assigned)


def _judge(fragment: Fragment, profile: v.Profile, observability: v.Observability) -> Explanation:
    events = (*fragment.before, *fragment.events)
    held_to, seen = _terms(fragment, profile, observability)
    steps = STEPS_AT_LEAST + STEPS_AN_EVENT * len(events)
    return explain(events, held_to, seen, steps=steps, before=fragment.past)


def _accuse(
    fragment: Fragment,
    explanation: Explanation,
    profile: v.Profile,
    observability: v.Observability,
) -> Accused:
    """Return the violation of a fragment that has no explanation."""
    events = (*fragment.before, *fragment.events)
    held_to, seen = _terms(fragment, profile, observability)
    stuck_at = explanation.stuck_at or 0
    found = diagnose(events, stuck_at, held_to, seen, STEPS_AT_LEAST, before=fragment.past)
    last = max(0, found.index - len(fragment.before))
    return Accused(
        path=fragment.path,
        order=fragment.indices[: last + 1],
        violation=Violation(index=last, rules=found.rules, allowed=found.allowed),
    )
