"""A value at a boundary, in whichever field: it is taken or refused, at little cost, and freed."""

import asyncio
import gc
from collections.abc import Iterator
from typing import Final

import pytest
from work import TURN, LoopWatch, watch_loop

from busproof.broker.amqp.management.operations import OPERATIONS
from busproof.broker.core import Hub

from .. import raw
from ..conftest import FULL
from . import fuzzing, meant
from .frames import CLOSE
from .test_fuzz import Trial, served, tried

pytestmark = pytest.mark.slow

EVERY: Final = 1 if FULL else 19
"""Each of so many cases is tried; 19 divides neither the number of boundaries nor of fields."""
MOST_SAID: Final = 65_536
ANEW: Final = 100


async def exchange(hub: Hub, number: int, case: meant.Case) -> tuple[bytes, bool]:
    """What is answered, and whether the client was let go early."""
    connection, wire = fuzzing.met(hub, number)
    sasl, *rest = case.frames
    ended = False
    for frame in (raw.SASL + sasl, raw.AMQP, *rest):
        if ended := wire.is_over:
            break
        connection.data_received(frame)
        await asyncio.sleep(0)
    connection.connection_lost(None)
    await asyncio.sleep(0)
    return bytes(wire.said), ended


def refusals(said: bytes) -> Iterator[bytes]:
    """The frames by which a connection was ended."""
    for frame in fuzzing.frames_of(said):
        if frame[8:11] == bytes((0, 0x53, CLOSE)):
            yield frame


async def tried_one(trial: Trial, case: meant.Case, watch: LoopWatch) -> None:
    """No failure of ours, little work at a time, few bytes, words for an end, and nothing kept."""
    hub = trial.hub
    watch.forget()
    said, ended = await exchange(hub, trial.case, case)
    if watch.iteration > TURN:
        watch.forget()
        await exchange(hub, trial.case + 1_000_000, case)
    wrong = {
        f"{watch.iteration:.0f} passes": watch.iteration > TURN,
        f"{len(said)} bytes": len(said) > MOST_SAID,
        "ended without an error": ended and not words_of_the_end(said, case),
        f"{hub.budget.total} bytes held": hub.budget.total != 0,
        "transactions kept": bool(hub.owners),
        "links wait": bool(hub._waiting),
    }
    for what, is_wrong in wrong.items():
        if is_wrong:
            trial.complain(f"{case}: {what}")


def words_of_the_end(said: bytes, case: meant.Case) -> bool:
    """Whether the client received the reason for the end of its connection."""
    if case.place.startswith("sasl-init"):
        return True
    return any(b"amqp:" in frame for frame in refusals(said))


def test_fields_at_their_boundaries_are_taken_or_refused() -> None:
    async def trying(trial: Trial) -> None:
        gc.freeze()
        with watch_loop() as watch:
            for number, case in enumerate(meant.cases(fuzzing.KEY, EVERY)):
                trial.case = number
                if number % ANEW == 0:
                    gc.collect()
                    await trial.begin()
                await tried_one(trial, case, watch)
        await trial.begin()
        await served(trial)

    tried(trying)


def test_fuzz_knows_every_operation() -> None:
    """So that a new one is tried, too."""
    assert set(OPERATIONS) == set(meant.REQUESTS)


def test_conversation_that_is_changed_is_right_without_a_change() -> None:
    """Each link is attached, the message and the request are accepted, a transaction is begun."""

    async def trying(trial: Trial) -> None:
        await trial.begin()
        frames = tuple(each.encoded() for each in meant.conversation(fuzzing.KEY))
        said, ended = await exchange(trial.hub, 1, meant.Case("nothing", "", frames))
        answers = [frame[10] for frame in fuzzing.frames_of(said) if len(frame) > 10]
        assert not ended
        assert answers.count(0x12) == 5
        assert answers.count(0x15) >= 3
        assert b"kept" in said
        assert b"error" not in said

    tried(trying)
