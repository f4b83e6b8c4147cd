"""Small topics of a history, each of which must have an order if the whole has one.

Where no order of a whole part is found soon, there may be none: something in it is wrong. What is
wrong can mostly be told from a few events: those of one message, of one key or session, or of one
empty answer and a message that it withheld. Such a topic leaves events out, and is judged by the
same model. If it has no order in which its answers are allowed, neither has the whole. For that,
leaving an event out must never forbid what was allowed with it, and this is why it does not:

* The times stay. Between its call and its return an event may take effect at any moment, and a
  window that fewer events narrow down is only wider.
* Which messages go together: those with one body; those of one transaction, because a send in it
  may be refused for what was sent before; where duplicates are detected, those with one MessageId,
  because a copy is dropped for what was sent before. Nothing else makes a send refused or dropped.
  A dead letter is the message that it was, and what is received by number goes together.
* Sends with one key say by themselves where it leads, those in transactions and those that may be
  dropped for a copy left aside.
* Outages, and the sessions that a topic's messages are in, are kept whole. Less is known of where
  a key leads; everything that depends on it allows more the less is known.
* Receives of other messages put messages into caches. `Observability.left_out` names the
  connections that they came over, and the model then takes it that such a cache may hold any
  message at any time.
* A receive by number that was never answered may have taken what it names; it is kept everywhere.
  Any other receive that was never answered may have taken any one message. One such receive right
  after the queue was created stands for all of them: it allows every empty answer, and every order.
* What a peek showed of other messages is left out: less was shown, still in order.
* Whether there is room for a message depends on all the others. Where one was refused for want of
  it nothing is left out; that one had to be refused is said of no topic that leaves receives out.
* Whether one more entity can be created depends on all the others. Where there may be so many that
  it is refused, nothing is left out.
* Messages without a key take turns (KEY-14) only where all of them are seen, so that a topic does
  not hold the bus to it.

Two topics of a history that both have an order prove nothing of the whole.
"""

from collections.abc import Collection, Sequence
from typing import Final

import attrs

from busproof.judging.judge import Violation
from busproof.judging.linearization.decompose import KNOWN, is_crowded
from busproof.judging.linearization.heuristics import Hints
from busproof.judging.linearization.key_subhistories import Cutting, Topic, end_of, given
from busproof.judging.linearization.search import Ended, Search
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import Acceptance, accept
from busproof.vocabulary.addressing import destinations
from busproof.vocabulary.commands import AcceptNextSession, CancelScheduled, ListSessions, Schedule
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Event, Outcome, Refused
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["impossible_topic"]

STEPS_AN_EVENT: Final = 50
STEPS_AT_LEAST: Final = 3_000
"""How many steps the search for an order of a topic may take; beyond them it proves nothing."""

BLAMED_AMONG: Final = 30
"""Up to how many events of an impossible topic are tried for the one to blame."""

WHOLE: Final = (AcceptNextSession, ListSessions, Schedule, CancelScheduled)
"""Commands that look at every session of a queue, or act at a time of their own: where they occur,
nothing is left out."""

Found = tuple[tuple[int, ...], Violation]


def impossible_topic(
    events: Sequence[Event], profile: Profile, observability: Observability, stuck: Collection[int]
) -> Found | None:
    """A topic that has no order: its events in the longest one, and why that ends.

    Args:
        events: of a part of a history, on a real clock.
        profile: what the bus is held to.
        observability: what is seen of it.
        stuck: the events at which no order was found to go on; what they are about comes first.
    """
    if not _can_be_cut(events):
        return None
    held_to = attrs.evolve(profile, silent=profile.silent | {"KEY-14"})
    cutting = Cutting(events, observability.slack)
    for topic in cutting.topics(stuck):
        found = _proof(topic, held_to, observability)
        if found is not None:
            return found
    return None


def _can_be_cut(events: Sequence[Event]) -> bool:
    """Return whether some of the events can be left out."""
    if any(not isinstance(event.command, KNOWN) for event in events):
        return False
    if any(isinstance(event.command, WHOLE) for event in events):
        return False
    if any(destinations(event.command) for event in events):
        # What is forwarded arrives where nobody sent it.
        return False
    # Whether there is room depends on all messages together, or on all entities.
    return not is_crowded(events) and not any(_is_for_want_of_room(each.outcome) for each in events)


def _is_for_want_of_room(outcome: Outcome) -> bool:
    return isinstance(outcome, Refused) and outcome.error is Error.QUOTA_EXCEEDED


def _proof(topic: Topic, profile: Profile, observability: Observability) -> Found | None:
    start = (
        fresh_namespace(
            profile, attrs.evolve(observability, left_out=topic.left_out, partial=True)
        ),
    )
    search = _searched(topic.events, start)
    if search is None:
        return None
    end = search.told()
    order, why = end.order, end.why()
    if len(topic.events) <= BLAMED_AMONG:
        order, why = _most_to_blame(topic.events, start) or (order, why)
    told = tuple(topic.indices[each] for each in order if topic.indices[each] >= 0)
    return told, Violation(index=len(told) - 1, rules=why.rules, allowed=why.allowed)


def _searched(events: Sequence[Event], start: tuple[Namespace, ...]) -> Search | None:
    """The search that proves that these events have no order; `None` where it does not."""
    search = Search(events, start, ordered=False)
    steps = STEPS_AT_LEAST + STEPS_AN_EVENT * len(events)
    return search if search.run(steps, steps) is Ended.IMPOSSIBLE else None


def _most_to_blame(
    events: Sequence[Event], start: tuple[Namespace, ...]
) -> tuple[tuple[int, ...], Acceptance] | None:
    """An event without which the others have an order, put where it is not allowed in it.

    Which event of an impossible topic is wrong cannot be proved; the one without which all is well
    is the best guess, and what is said of it is told best. Its settlement goes with a delivery.
    """
    for suspect in reversed(range(len(events))):
        others = [
            index
            for index, event in enumerate(events)
            if index != suspect and not _settles(event, events[suspect])
        ]
        search = Search([events[index] for index in others], start, ordered=False)
        if search.run(STEPS_AT_LEAST, STEPS_AT_LEAST) is not Ended.FOUND:
            continue
        order = [others[each] for each in search.order]
        found = _placed(events, start, order, suspect)
        if found is not None:
            return found
    return None


def _placed(
    events: Sequence[Event], start: tuple[Namespace, ...], order: Sequence[int], suspect: int
) -> tuple[tuple[int, ...], Acceptance] | None:
    """The suspect as late in the others' order as it most likely was, if it is wrong there."""
    hints = Hints(events)
    possible, before = start, []
    for index in order:
        if events[index].called > end_of(events[suspect]) or hints.follows(index, suspect):
            break
        possible = accept(possible, events[index]).possible
        before.append(index)
    why = accept(possible, events[suspect])
    return None if why.possible else ((*before, suspect), why)


def _settles(event: Event, delivery: Event) -> bool:
    token = getattr(event.command, "lock_token", None)
    return token is not None and any(view.lock_token == token for view in given(delivery))
