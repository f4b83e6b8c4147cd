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
  those with one MessageId, because a copy is dropped because of an earlier send. Nothing else makes
  a send refused or dropped. A dead letter is the original message, and messages received by number
  stay together.
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
  room nothing is left out; subhistories without all receives are not judged for accepting one.
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
from busproof.judging.judge import Violation
from busproof.judging.linearization.decompose import KNOWN, is_crowded
from busproof.judging.linearization.heuristics import Hints
from busproof.judging.linearization.key_subhistories import Subhistories
from busproof.judging.linearization.search import Ended, Search
from busproof.judging.linearization.subhistory import Subhistory, end_of, given
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import Acceptance, accept

__all__ = ["impossible_subhistory"]

STEPS_AN_EVENT: Final = 50
STEPS_AT_LEAST: Final = 3_000
"""Least budget of search steps for a subhistory; beyond the budget nothing is proved."""

BLAMED_AMONG: Final = 30
"""Maximum number of events of an impossible subhistory tried as the wrong one."""

WHOLE: Final = (v.AcceptNextSession, v.ListSessions, v.Schedule, v.CancelScheduled)
"""Commands about every session of a queue, or with an independent effect in time.

If a history has one of them, no event is left out.
"""

Found = tuple[tuple[int, ...], Violation]


def impossible_subhistory(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    stuck: Collection[int],
) -> Found | None:
    """Return a subhistory without an order: its events in the longest one, and why that ends.

    Args:
        events: the events of a part, on a real clock.
        profile: the rules that apply.
        observability: how much of the bus can be seen.
        stuck: the events at which the search was stuck; their subhistories come first.
    """
    if not _can_be_cut(events):
        return None
    # Taking turns counts every message; some are left out here.
    held_to = attrs.evolve(profile, silent=profile.silent | {"KEY-14"})
    subhistories = Subhistories(events, profile, observability.slack)
    for subhistory in subhistories.subhistories(stuck):
        proof = _proof(subhistory, held_to, observability)
        if proof is not None:
            return proof
    return None


def _can_be_cut(events: Sequence[v.Event]) -> bool:
    """Return whether some of the events can be left out."""
    # Each refusal below is a kind of event that can make leaving another one out unsafe.
    if any(not isinstance(event.command, KNOWN) for event in events):
        return False
    if any(isinstance(event.command, WHOLE) for event in events):
        return False
    if any(v.destinations(event.command) for event in events):
        # Forwarded messages arrive at entities without sends.
        return False
    # Room depends on all messages together, or on all entities.
    return not is_crowded(events) and not any(
        _is_for_lack_of_room(event.outcome) for event in events
    )


def _is_for_lack_of_room(outcome: v.Outcome) -> bool:
    return isinstance(outcome, v.Refused) and outcome.error is v.Error.QUOTA_EXCEEDED


def _proof(
    subhistory: Subhistory, profile: v.Profile, observability: v.Observability
) -> Found | None:
    start = (
        fresh_namespace(
            profile, attrs.evolve(observability, left_out=subhistory.left_out, partial=True)
        ),
    )
    search = _searched(subhistory.events, start)
    # Only a search that tried everything proves something.
    if search is None:
        return None
    end = search.longest_path()
    order, why = end.order, end.why()
    # It takes one search for each suspect, and only makes the explanation better.
    if len(subhistory.events) <= BLAMED_AMONG:
        order, why = _most_to_blame(subhistory.events, start) or (order, why)
    shown = tuple(subhistory.indices[place] for place in order if subhistory.indices[place] >= 0)
    return shown, Violation(index=len(shown) - 1, rules=why.rules, allowed=why.allowed)


def _searched(events: Sequence[v.Event], start: tuple[Namespace, ...]) -> Search | None:
    """Return the search that proves that these events have no order; `None` if it does not."""
    search = Search(events, start, ordered=False)
    steps = STEPS_AT_LEAST + STEPS_AN_EVENT * len(events)
    return search if search.run(steps, steps) is Ended.IMPOSSIBLE else None


def _most_to_blame(
    events: Sequence[v.Event], start: tuple[Namespace, ...]
) -> tuple[tuple[int, ...], Acceptance] | None:
    """Return an event without which the others have an order, where it is not allowed.

    It cannot be proved which event of an impossible subhistory is wrong; the one whose removal
    makes it possible is the best guess, and gives the best explanation. Its settlement goes with a
    delivery.
    """
    # The latest first: most often the last answer is the strange one.
    for suspect in reversed(range(len(events))):
        others = [
            index
            for index, event in enumerate(events)
            if index != suspect and not _settles(event, events[suspect])
        ]
        search = Search([events[index] for index in others], start, ordered=False)
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
    """Place the suspect as late in the others' order as it most likely was."""
    hints = Hints(events)
    possible, before = start, []
    for index in order:
        if events[index].called > end_of(events[suspect]) or hints.follows(index, suspect):
            break
        possible = accept(possible, events[index]).possible
        before.append(index)
    why = accept(possible, events[suspect])
    return None if why.possible else ((*before, suspect), why)


def _settles(event: v.Event, delivery: v.Event) -> bool:
    token = getattr(event.command, "lock_token", None)
    return token is not None and any(view.lock_token == token for view in given(delivery))
