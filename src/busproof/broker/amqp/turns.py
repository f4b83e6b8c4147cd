"""Turns between clients, so that no client's requests block the others for long."""

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeVar

__all__ = ["TURN", "Rota", "Turns"]

TURN: Final = 0.03
"""CPU time for a client's requests before the others have a turn, in seconds.

Wall-clock time would make turns shorter on a loaded machine.
"""


Done = TypeVar("Done")


class Rota:
    """The clients that wait for a turn, in their order.

    All turns of an iteration of the event loop together last as long as one: however many clients
    have work, one that has just come waits for no more than that.

    Args:
        loop: the event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[Callable[[], None], None] = {}
        self._ends: float | None = None
        """When the turns of this iteration are over, in CPU time of the thread."""
        self._ending: asyncio.Handle | None = None
        """What begins the time for turns anew in the next iteration."""
        self._called = False

    def left(self) -> float:
        """Return the CPU time that is left for turns in this iteration, in seconds."""
        return self.ends(now := time.thread_time()) - now

    def ends(self, now: float) -> float:
        """Return when the turns of this iteration are over, or were, in the thread's CPU time."""
        if self._ends is None:
            self._ends = now + TURN
        # The time may have passed in several iterations, each of which would cost a callback to end
        # it. So it begins anew in the one after it was used up.
        elif now >= self._ends and self._ending is None:
            self._ending = self._loop.call_soon(self._end_iteration)
        return self._ends

    def is_free(self) -> bool:
        """Return whether nobody waits and there is time left."""
        return not self._waiting and self.left() > 0

    def add(self, turn: Callable[[], None]) -> None:
        """Give a turn after all that wait already."""
        self._waiting[turn] = None
        if not self._called:
            self._called = True
            self._loop.call_soon(self._run)

    def remove(self, turn: Callable[[], None]) -> None:
        """Give a turn no more."""
        self._waiting.pop(turn, None)

    async def take(self, act: Callable[[], Done]) -> Done:
        """Do something in a turn, and return what it returns.

        It is done at once if nobody waits and there is time left.
        """
        if self.is_free():
            return act()
        done = self._loop.create_future()
        turn = partial(_do, act, done)
        self.add(turn)
        try:
            result: Done = await done
            return result
        finally:
            self.remove(turn)
            # An error would refer to this frame, and the frame to the error.
            del done, turn

    def _end_iteration(self) -> None:
        # Called in the next iteration, before it reads what clients have sent. What the turns
        # before have led to is done now, and counts among this iteration's.
        self._ending = None
        self._ends = time.thread_time() + TURN

    def _run(self) -> None:
        self._called = False
        if self._ending is not None:
            self._ending.cancel()
            self._end_iteration()
        # A turn that ends with work left is added behind the others.
        for turn in list(self._waiting):
            if turn in self._waiting:
                del self._waiting[turn]
                turn()
            if self._waiting and self.left() <= 0:
                break
        if self._waiting and not self._called:
            self._called = True
            self._loop.call_soon(self._run)


class Turns:
    """The turns of one client.

    Args:
        rota: the order of the clients' turns.
        go_on: called when the next turn begins.
    """

    def __init__(self, rota: Rota, go_on: Callable[[], None]) -> None:
        self._rota = rota
        self._go_on = go_on
        self._ends: float | None = None
        self._not_before = 0.0
        """Earliest end of the turn on the wall clock, which is cheaper to read than CPU time."""
        self.waits = False
        """Whether work is left for the next turn."""
        self._steps: Iterator[bool] | None = None
        """The steps that are left of a request."""

    def begin(self) -> None:
        """Begin a turn."""
        self.waits = False
        # The thread's own time: an embedded broker shares its process with the program around it.
        now = time.thread_time()
        self._ends = max(now, self._rota.ends(now))
        self._not_before = time.perf_counter() + self._ends - now

    def end(self) -> None:
        """End the turn, even if work is left."""
        self._ends = None

    def work(self, steps: Iterator[bool]) -> None:
        """Carry out a request step by step; what is left when the turn ends waits for the next.

        A step yields whether the next step is long and should wait for a fresh turn.
        """
        self._steps = steps
        self.is_done()

    @property
    def is_idle(self) -> bool:
        """Whether no request is unfinished."""
        return self._steps is None

    def is_done(self) -> bool:
        """Continue an unfinished request; return whether it is done."""
        while self._steps is not None:
            is_next_long = next(self._steps, None)
            if is_next_long is None:
                self._steps = None
            # Outside a turn there is nothing to end early: the long step is carried out at once.
            elif self.is_over() or (is_next_long and self._end()):
                return False
        return True

    def _end(self) -> bool:
        """End the turn early if one is running; return whether work waits for the next turn."""
        if self._ends is not None:
            # The loop first handles what other clients have sent meanwhile.
            self.waits = True
            self._rota.add(self._go_on)
        return self.waits

    def cancel(self) -> None:
        """Cancel the next turn, and drop the steps that are left."""
        self._ends = self._steps = None
        self.waits = False
        self._rota.remove(self._go_on)

    def release(self) -> None:
        """Cancel the turns of a client that has gone, and forget it."""
        self.cancel()
        self._go_on = _go_nowhere

    @property
    def is_between(self) -> bool:
        """Whether other clients have their turns now, while work waits for this client's next."""
        return self.waits and self._ends is None

    def is_over(self) -> bool:
        """Return whether the turn is over; if so, schedule the next one."""
        if self.waits:
            return True
        if self._ends is None or (now := time.perf_counter()) < self._not_before:
            return False
        if (left := self._ends - time.thread_time()) >= 0:
            # CPU time passes no faster than the wall clock, so skip reading it until then.
            self._not_before = now + left
            return False
        return self._end()


def _do(act: Callable[[], object], done: asyncio.Future[Any]) -> None:
    """Do something for a client that waits for its result, if it still does."""
    if done.cancelled():
        return
    try:
        done.set_result(act())
    except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
        done.set_exception(error.with_traceback(None))


def _go_nowhere() -> None:
    """Begin no turn."""
