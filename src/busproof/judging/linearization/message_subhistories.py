"""Subhistories that must have an order if the whole history has one.

If no order of a whole part is found soon, there may be none: some answer in it is wrong. A few
events usually suffice to show that: those of one message, of one key or session, or of one empty
answer and a message that it withheld. Such a subhistory leaves events out and is replayed like a
whole history. If no execution explains it, none explains the whole. This requires that leaving an
event out never forbids what was allowed with it, for these reasons:

* The times stay. An event may take effect at any moment between its call and its return, and with
  fewer events such a window only becomes wider.
* Messages that belong together stay together: those with one body; those of one transaction,
  because a send in it may be refused because of an earlier one; where duplicates are detected,
  those with one MessageId, because an earlier send causes a copy to be dropped. For no other reason
  is a send refused or dropped. A dead letter is the original message, and messages received by
  number stay together.
* Sends with one key reveal its partition without other events, except those in transactions and
  those that may be dropped as copies.
* Outages, and the sessions of a subhistory's messages, are kept whole. The partition of a key is
  known less precisely; everything that depends on it allows more if less is known.
* Receives of other messages put messages into caches. `Observability.left_out` names their
  connections, and the replay then assumes that such a cache may hold any message at any time.
  Beside a single empty answer, those whose caches have surely ended are not named: only locked
  messages end with their locks, and only on clocks that no outage has stopped.
* Such a cache may have counted deliveries that nobody saw (CACHE-DELIVERY-COUNT), even the last
  one. So delivery counts are left out, and a subhistory with dead letters proves nothing.
* An unanswered receive may have taken any one message; it is kept everywhere. Beside one, a lock
  that no answer shows may be that of any message, so that a subhistory with one proves nothing.
* The views of other messages in a peek are left out: fewer were shown, still in order.
* Whether there is room for a message depends on all the others. If one was refused for lack of
  room nothing is left out; in a subhistory that lacks the receives, accepted messages have no size.
* Whether one more entity can be created depends on all the others. If a quota may be reached,
  nothing is left out.
* Messages without a key take turns (KEY-14) only if all of them are seen, so a subhistory is not
  judged by it.

Two subhistories that both have an order prove nothing about the whole.
"""

from collections.abc import Collection, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.decompose import is_crowded
from busproof.judging.diagnosis.diagnosis import diagnosis_of_last
from busproof.judging.linearization.key_subhistories import Subhistories
from busproof.judging.linearization.subhistory import Subhistory, end_of, given
from busproof.judging.liveness import Patience
from busproof.judging.replay.evidence import tokens_of
from busproof.judging.replay.heuristics import Hints
from busproof.judging.replay.search import Ended, Search
from busproof.judging.violation import Violation

__all__ = ["Found", "diagnose_path", "impossible_subhistory", "is_separable", "prove"]

STEPS_AN_EVENT: Final = 50
STEPS_AT_LEAST: Final = 3_000
"""Least number of search steps for a subhistory; a search that needs more proves nothing."""

BLAMED_AMONG: Final = 30
"""Maximum number of events in an impossible subhistory for trying which of them is wrong."""

WHOLE: Final = (v.AcceptNextSession, v.ListSessions, v.Schedule, v.CancelScheduled)
"""Commands about all sessions of a queue, or with an effect at another time than their own.

No event is left out of a history that has one of them.
"""

Found = tuple[tuple[int, ...], Violation]


def impossible_subhistory(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    stuck: Collection[int],
) -> Found | None:
    """Return a subhistory that has no order, and the violation that shows it; `None` without one.

    Args:
        events: the events of one part, on a real clock.
        profile: the terms that the bus is judged by.
        observability: what an observer sees of the bus.
        stuck: the events where the search was stuck; their subhistories are tried first.
    """
    if not is_separable(events):
        return None
    # KEY-14 counts every message in turn, and a subhistory leaves messages out.
    held_to = attrs.evolve(profile, silent=profile.silent | {"KEY-14"})
    subhistories = Subhistories(events, profile, observability.slack)
    for subhistory in subhistories.subhistories(stuck):
        proof = prove(subhistory, held_to, observability)
        if proof is not None:
            return proof
    return None


def is_separable(events: Collection[v.Event]) -> bool:
    """Return whether it is safe to leave out some of the events."""
    # Each of these kinds of events may depend on any other event.
    if any(event.command.extent is not v.Extent.MESSAGES for event in events):
        return False
    if any(isinstance(event.command, WHOLE) for event in events):
        return False
    if any(v.destinations(event.command) for event in events):
        # Forwarded messages arrive at an entity without a send to it.
        return False
    # Whether there is room depends on all messages, or on all entities.
    return not is_crowded(events) and not any(
        _is_for_lack_of_room(event.outcome) for event in events
    )


def _is_for_lack_of_room(outcome: v.Outcome) -> bool:
    return isinstance(outcome, v.Refused) and outcome.error is v.Error.QUOTA_EXCEEDED


def prove(
    subhistory: Subhistory, profile: v.Profile, observability: v.Observability
) -> Found | None:
    """Return the proof that a subhistory has no order; `None` if there is none.

    Args:
        subhistory: the events.
        profile: the terms that the bus is judged by, without KEY-14.
        observability: what an observer sees of the whole history.
    """
    events = subhistory.events
    if not _is_self_contained(events):
        return None
    if subhistory.left_out:
        if any(v.is_dead_letter_queue(v.concerned(event.command) or "") for event in events):
            return None
        events = [attrs.evolve(event, outcome=_without_counts(event.outcome)) for event in events]
    # The replay must know that events are missing: it then allows whatever they may have caused.
    partial = attrs.evolve(observability, left_out=subhistory.left_out, partial=True)
    search = _search(events, profile, partial)
    # A search that ended early for its budget proves nothing.
    if search.run(STEPS_AT_LEAST + STEPS_AN_EVENT * len(events)) is not Ended.IMPOSSIBLE:
        return None
    order = (*search.longest_path, search.waiting[0])
    # This takes a search for each suspect, and only improves the explanation.
    if len(events) <= BLAMED_AMONG:
        order = _most_to_blame(events, profile, partial) or order
    violation = diagnose_path(events, order, profile, partial)
    return tuple(subhistory.indices[place] for place in order), violation


def _is_self_contained(events: Sequence[v.Event]) -> bool:
    """Return whether no request uses a lock that an answer may have shown which was lost.

    The message of such a lock may be any, so that the subhistory may lack it.
    """
    if not any(isinstance(event.outcome, v.Indeterminate) for event in events):
        return True
    shown = {view.lock_token for event in events for view in given(event)}
    return all(token in shown for event in events for token in tokens_of(event.command))


def _search(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Search:
    """Return a search in which nothing is overdue: other requests came in between."""
    return Search(events, profile, observability, patience=Patience(events, forgiven=0))


def _without_counts(outcome: v.Outcome) -> v.Outcome:
    match outcome:
        case v.Received(message=view):
            return v.Received(message=attrs.evolve(view, delivery_count=None))
        case v.ReceivedSeveral(messages=views):
            hidden = tuple(attrs.evolve(view, delivery_count=None) for view in views)
            return v.ReceivedSeveral(messages=hidden)
        case _:
            return outcome


def diagnose_path(
    events: Sequence[v.Event],
    order: Sequence[int],
    profile: v.Profile,
    observability: v.Observability,
) -> Violation:
    """Return the violation that the last event of an order is, after all others of it."""
    *before, wrong = order
    shown = [events[index] for index in (*sorted(before), wrong)]
    found = diagnosis_of_last(shown, profile, observability)
    return Violation(index=len(shown) - 1, rules=found.rules, allowed=found.allowed)


def _most_to_blame(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> tuple[int, ...] | None:
    """Return a likely wrong event after those that came before it.

    Which event of an impossible subhistory is wrong cannot be proved. One whose removal makes the
    others possible is the best guess, and gives the best explanation. The settlements of a delivery
    are removed with it.
    """
    hints = Hints(events)
    # The latest event comes first, because most often the last answer is the wrong one.
    for suspect in reversed(range(len(events))):
        others = [
            index
            for index, event in enumerate(events)
            if index != suspect and not _settles(event, events[suspect])
        ]
        search = _search([events[index] for index in others], profile, observability)
        if search.run(STEPS_AT_LEAST) is not Ended.EXPLAINED:
            continue
        before = []
        for index in (others[one.index] for one in search.execution):
            # Events that were called after the suspect had returned cannot come before it.
            if events[index].called > end_of(events[suspect]) or hints.follows(index, suspect):
                break
            before.append(index)
        # Placed earlier, it may be possible: then it is not to blame.
        some = [events[index] for index in sorted((*before, suspect))]
        if _search(some, profile, observability).run(STEPS_AT_LEAST) is Ended.IMPOSSIBLE:
            return (*before, suspect)
    return None


def _settles(event: v.Event, delivery: v.Event) -> bool:
    token = getattr(event.command, "lock_token", None)
    return token is not None and any(view.lock_token == token for view in given(delivery))
