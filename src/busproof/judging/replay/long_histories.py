"""Search of a long history piece by piece, in memory that does not grow with its length.

A piece is searched when the next one is known, which shows what became of its messages.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from busproof import vocabulary as v
from busproof.judging.liveness import Patience
from busproof.judging.replay.search import Ended, Search

__all__ = ["KEEPS", "LONG", "search_piecewise", "too_far_back"]

KEEPS: Final = 5_000
"""Number of steps that can be undone; each takes about 4 KB."""
PIECE: Final = 5_000
LONG: Final = KEEPS + 2 * PIECE
"""Number of events up to which a history is searched at once."""
STEPS_AN_EVENT: Final = 10
"""Budget of the search of a piece, for each event that is kept."""


def search_piecewise(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    forgiven: int | None,
) -> tuple[Search, Ended]:
    """Search a long history; return the search, and how it ended.

    Args:
        events: the events of the history.
        profile: the profile of the namespace.
        observability: what the observer sees.
        forgiven: the index of the first event at which nothing is overdue, however late.
    """
    patience = Patience(forgiven=forgiven)
    search = Search((), profile, observability, patience=patience, keeps=KEEPS)
    coming = iter(events)
    known = 0
    while known < len(events):
        piece = list(islice(coming, PIECE))
        known += len(piece)
        search.extend(piece, PIECE if known < len(events) else 0)
        ended = search.run(STEPS_AN_EVENT * len(search.kept))
        if ended is not Ended.EXPLAINED:
            break
    return search, ended


def too_far_back(search: Search) -> str:
    """Return why there is no verdict on a long history that a search could not go on with."""
    return (
        f"no execution of the model was found that goes on after {search.trail.length:,} events; "
        f"one may differ before the last {len(search.kept):,}, "
        "and a search of a long history cannot go back so far"
    )
