"""Subhistories that must have an order if the whole history has one.

If no order of a whole part is found soon, there may be none: some answer in it is wrong. A few
events usually suffice to show that: those of one message, of one key or session, or of one empty
answer and a message that it withheld. Such a subhistory leaves events out and is judged by the same
oracle. If it has no order in which its answers are allowed, neither has the whole. This requires
that leaving an event out never forbids what was allowed with it, for these reasons:

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
  connections, and the oracle then assumes that such a cache may hold any message at any time.
  Beside a single empty answer, those whose caches have surely ended are not named: only locked
  messages end with their locks, and only on clocks that no outage has stopped.
* An unanswered receive by number may have taken the messages that it names; it is kept everywhere.
  Any other unanswered receive may have taken any one message. One such receive immediately after
  the creation of the queue represents all of them: it allows every empty answer, and every order.
* The views of other messages in a peek are left out: fewer were shown, still in order.
* Whether there is room for a message depends on all the others. If one was refused for lack of
  room nothing is left out; a subhistory that lacks some receives is not judged on accepting one.
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
from busproof.judging.decompose import KNOWN, is_crowded
from busproof.judging.linearization.key_subhistories import Subhistories
from busproof.judging.linearization.search import Ended, Search
from busproof.judging.linearization.subhistory import Subhistory, end_of, given
from busproof.judging.replay.heuristics import Hints
from busproof.judging.violation import Violation
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import Acceptance, accept

__all__ = ["impossible_subhistory"]

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
    if not _can_be_cut(events):
        return None
    # KEY-14 counts every message in turn, and a subhistory leaves messages out.
    held_to = attrs.evolve(profile, silent=profile.silent | {"KEY-14"})
    subhistories = Subhistories(events, profile, observability.slack)
    for subhistory in subhistories.subhistories(stuck):
        proof = _proof(subhistory, held_to, observability)
        if proof is not None:
            return proof
    return None


def _can_be_cut(events: Sequence[v.Event]) -> bool:
    """Return whether it is safe to leave out some of the events."""
    # Each of these kinds of events may depend on any other event.
    if any(not isinstance(event.command, KNOWN) for event in events):
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


def _proof(
    subhistory: Subhistory, profile: v.Profile, observability: v.Observability
) -> Found | None:
    # The oracle must know that events are missing: it then allows whatever they may have caused.
    start = (
        fresh_namespace(
            profile, attrs.evolve(observability, left_out=subhistory.left_out, partial=True)
        ),
    )
    search = _searched(subhistory.events, start)
    # A search that ended early for its budget proves nothing.
    if search is None:
        return None
    end = search.longest_path()
    order, why = end.order, end.why()
    # This takes a search for each suspect, and only improves the explanation.
    if len(subhistory.events) <= BLAMED_AMONG:
        order, why = _most_to_blame(subhistory.events, start) or (order, why)
    shown = tuple(subhistory.indices[place] for place in order if subhistory.indices[place] >= 0)
    return shown, Violation(index=len(shown) - 1, rules=why.rules, allowed=why.outcomes)


def _searched(events: Sequence[v.Event], start: tuple[Namespace, ...]) -> Search | None:
    """Return the search if it proves that the events have no order; otherwise `None`."""
    search = Search(events, start)
    steps = STEPS_AT_LEAST + STEPS_AN_EVENT * len(events)
    return search if search.run(steps, steps) is Ended.IMPOSSIBLE else None


def _most_to_blame(
    events: Sequence[v.Event], start: tuple[Namespace, ...]
) -> tuple[tuple[int, ...], Acceptance] | None:
    """Return a likely wrong event after those that came before it, and why it is not allowed.

    Which event of an impossible subhistory is wrong cannot be proved. One whose removal makes the
    others possible is the best guess, and gives the best explanation. The settlements of a delivery
    are removed with it.
    """
    # The latest event comes first, because most often the last answer is the wrong one.
    for suspect in reversed(range(len(events))):
        others = [
            index
            for index, event in enumerate(events)
            if index != suspect and not _settles(event, events[suspect])
        ]
        search = Search([events[index] for index in others], start)
        if search.run(STEPS_AT_LEAST, STEPS_AT_LEAST) is not Ended.FOUND:
            continue
        order = [others[place] for place in search.order]
        placed = _placed(events, start, order, suspect)
        if placed is not None:
            return placed
    return None


def _placed(
    events: Sequence[v.Event], start: tuple[Namespace, ...], order: Sequence[int], suspect: int
) -> tuple[tuple[int, ...], Acceptance] | None:
    """Return the order up to the suspect, and why the suspect is not allowed there.

    The suspect is placed where it most likely took effect.
    """
    hints = Hints(events)
    possible, before = start, []
    for index in order:
        # Events that were called after the suspect had returned cannot come before it.
        if events[index].called > end_of(events[suspect]) or hints.follows(index, suspect):
            break
        possible = accept(possible, events[index]).possible
        before.append(index)
    why = accept(possible, events[suspect])
    return None if why.possible else ((*before, suspect), why)


def _settles(event: v.Event, delivery: v.Event) -> bool:
    token = getattr(event.command, "lock_token", None)
    return token is not None and any(view.lock_token == token for view in given(delivery))
