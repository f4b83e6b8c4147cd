"""What no past explains is accused, although nobody knows what was there before."""

import os
from collections import Counter
from collections.abc import Iterator

import pytest
import recorded_cases as cases
from corrupting import CORRUPTIONS

from busproof import vocabulary as v
from busproof.history.records import Began
from busproof.judging.begun.judge import judged_begun

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
TRIES = 8 if FULL else 2
REAL = v.Observability(clock=v.Clock.REAL, slack=cases.HOSTILE_SLACK)
BY_TWO = {"given before commit", "session given twice", "locked again"}
EXPLAINED = {"never sent", "settled by a wrong token"}
"""What a message or a lock from before explains."""
BY_SETTINGS = {"duplicate given", "session out of order", "session given twice", "withheld"}
"""What is wrong only on a queue with certain settings."""
CREATED = tuple(
    v.CreateQueue(
        queue=name,
        requires_session=name == "sessions",
        duplicate_detection=name == "detecting",
    )
    for name in ("keyed", "sessions", "detecting")
)


def cut(kind: str) -> Iterator[list[v.Event]]:
    """Yield histories with one event changed, without the creation of the queues."""
    for case in cases.corrupted(kind, 4 if kind in BY_TWO else 1, TRIES):
        yield [event for event in case.events if event.called]


def accuses(events: list[v.Event], settings: tuple[v.Command, ...]) -> bool:
    began = Began(settings=settings)
    judged, _ = judged_begun(events, cases.header().profile, REAL, began)
    return judged.violation is not None


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in CORRUPTIONS if kind not in EXPLAINED])
def test_changed_events_are_accused_if_the_settings_are_known(kind: str) -> None:
    found = [accuses(events, CREATED) for events in cut(kind)]
    assert found
    assert all(found)


@pytest.mark.slow
def test_changed_events_are_accused_if_nothing_is_known() -> None:
    kinds = [kind for kind in CORRUPTIONS if kind not in EXPLAINED | BY_SETTINGS]
    missed = Counter(kind for kind in kinds for events in cut(kind) if not accuses(events, ()))
    assert not missed


@pytest.mark.slow
def test_a_session_given_twice_is_accused_among_overlapping_requests() -> None:
    """Its part was judged as if caches could end the lock of a session, too."""
    found = [
        accuses([event for event in case.events if event.called], CREATED)
        for case in cases.corrupted("session given twice", 4, 6)
    ]
    assert found
    assert all(found)
