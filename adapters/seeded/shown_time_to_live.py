"""The shortest runs in which the faults of the time to live show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import (
    DEAD,
    QUEUE,
    Run,
    abandon,
    complete,
    create,
    dead_letter,
    defer,
    home,
    receive,
    schedule,
    send,
    wait,
)
from busproof.vocabulary.commands import (
    AcceptSession,
    BringPartitionUp,
    CreateSubscription,
    CreateTopic,
    TakePartitionDown,
)
from busproof.vocabulary.values import MICROSECONDS

__all__ = ["READINGS", "SHOWN"]

_SHORT: Final = 5 * MICROSECONDS
_LONG: Final = 60 * MICROSECONDS
_LETTERS: Final = create(dead_letter_expired=True)


def _mortal(life: int = _SHORT, **properties: Any) -> Any:
    return send("m1", time_to_live=life, **properties)


_KEPT: Final[Run] = (create(), _mortal(), receive(), wait(6))

SHOWN: Final[Mapping[str, Run]] = {
    "expired-given": (create(), _mortal(), wait(6), receive()),
    "expired-given-in-session": (
        create(requires_session=True),
        _mortal(session_id="a"),
        AcceptSession(queue=QUEUE, session_id="a"),
        wait(6),
        receive("a"),
    ),
    "dies-early": (create(), _mortal(_LONG), wait(40), receive()),
    "dies-with-its-lock": (create(), _mortal(_LONG), receive(), abandon(0), receive()),
    "dead-lettered-early": (_LETTERS, _mortal(_LONG), wait(40), receive(queue=DEAD)),
    "entity-lifetime-ignored": (create(time_to_live=_SHORT), send("m1"), wait(6), receive()),
    "subscription-lifetime-ignored": (
        CreateTopic(topic="t"),
        CreateSubscription(topic="t", subscription="s", time_to_live=_SHORT),
        send("m1", queue="t"),
        wait(6),
        receive(queue="t/subscriptions/s"),
    ),
    "longer-lifetime-wins": (create(time_to_live=_SHORT), _mortal(_LONG), wait(6), receive()),
    "shorter-lifetime-ignored": (create(time_to_live=_LONG), _mortal(), wait(6), receive()),
    "expired-not-settled": (*_KEPT, complete(0)),
    "expired-not-dead-lettered-by-hand": (*_KEPT, dead_letter(0)),
    "expired-comes-back": (*_KEPT, abandon(0), receive()),
    "expired-comes-back-by-itself": (*_KEPT, wait(60), receive()),
    "expired-is-dropped": (_LETTERS, _mortal(), wait(6), receive(), receive(queue=DEAD)),
    "expired-for-another-reason": (_LETTERS, _mortal(), wait(6), receive(queue=DEAD)),
    "expired-is-dead-lettered": (create(), _mortal(), wait(6), receive(queue=DEAD)),
    "deferred-expires": (_LETTERS, _mortal(), receive(), defer(0), wait(6), receive(queue=DEAD)),
    "scheduled-ages": (create(), schedule("m1", 9, time_to_live=_SHORT), wait(10), receive()),
    "outage-stops-the-clock": (
        create(),
        _mortal(partition_key="a"),
        TakePartitionDown(queue=QUEUE, partition=home("a")),
        wait(6),
        BringPartitionUp(queue=QUEUE, partition=home("a")),
        receive(),
    ),
}

READINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "outage-stops-the-clock": {"OUTAGE-CLOCK": "runs"}
}
"""Faults that break their rule by another reading than the default one."""
