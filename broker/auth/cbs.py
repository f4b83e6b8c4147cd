"""What one client has proved, and what ends when it holds no more."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from busproof.broker.amqp.refusals import Refusal
from busproof.broker.auth.tokens import Claim, Keys
from busproof.broker.core import Hub

__all__ = ["TIME_TO_CLAIM", "Claims", "Proving"]

LONG: Final = 86_400.0
"""A day, after which claims are looked at in any case; in seconds, as all times here."""
A_MOMENT: Final = 0.01

TIME_TO_CLAIM: Final = 20.0
"""For how long a connection may last without a claim."""


class Claims:
    """What a client has proved, as far as it still holds: of each path, by each rule, the last.

    Args:
        most: how many claims there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[str, dict[str, Claim]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))

    def add(self, claim: Claim) -> None:
        """Remember a claim in the place of an earlier one for the same path by the same rule.

        Raises:
            Refusal: there are as many as one client may have.
        """
        at_path = self._held.get(claim.path, {})
        if claim.rule not in at_path and len(self) >= self._most:
            raise Refusal(
                "amqp:resource-limit-exceeded",
                f"{self._most:,} tokens are in force, as many as one connection may have.",
                403,
            )
        self._held.setdefault(claim.path, {})[claim.rule] = claim

    def permit(self, right: str, path: str) -> bool:
        """Whether one of them permits this: one for the path, or for one above it."""
        now, low = time.time(), path.lower()
        place = low
        while True:
            if any(each.grants(right, low, now) for each in self._held.get(place, {}).values()):
                return True
            if not place:
                return False
            place = place.rpartition("/")[0]

    def keep(self, still: Callable[[Claim], Claim | None]) -> None:
        """Keep what is left of each."""
        left: dict[str, dict[str, Claim]] = {}
        for at_path in self._held.values():
            for claim in filter(None, map(still, at_path.values())):
                left.setdefault(claim.path, {})[claim.rule] = claim
        self._held = left

    def forget_expired(self) -> None:
        """Keep what has not expired."""
        now = time.time()
        self.keep(lambda claim: claim if claim.until > now else None)

    def time_left(self) -> float:
        """In how many seconds the next of them expires; a long time if none does."""
        every = (claim.until for at_path in self._held.values() for claim in at_path.values())
        return min(LONG, max(0.0, min(every, default=float("inf")) - time.time()) + A_MOMENT)


class Proving:
    """The claims of one connection, looked at when one expires and when the keys are changed.

    Args:
        hub: what all connections share.
        review: ends what needs a claim that is held no more.
        end: ends the connection, whose client has no claim and puts no token.
    """

    def __init__(
        self,
        hub: Hub,
        review: Callable[[], None],
        end: Callable[[Refusal], None],
    ) -> None:
        self._loop = hub.loop
        self._review = review
        self._end = end
        self._claims = Claims(hub.limits.tokens)
        self._timer: asyncio.TimerHandle | None = None
        self.permit = self._claims.permit

    def begin(self) -> None:
        """The client is there, and has proved nothing yet."""
        self._wait(TIME_TO_CLAIM, self._give_up)

    def stop(self) -> None:
        """The client is gone."""
        if self._timer is not None:
            self._timer.cancel()

    def add(self, claim: Claim) -> None:
        """Remember a claim that the client has shown.

        Raises:
            Refusal: it has shown too many.
        """
        self._claims.forget_expired()
        self._claims.add(claim)
        self._wait(self._claims.time_left(), self._look)

    def renew(self, keys: Keys) -> None:
        """The keys are others: what was proved by one that is gone holds no more."""
        if len(self._claims):
            self._claims.keep(keys.renewed)
            self._look()

    def _look(self) -> None:
        self._claims.forget_expired()
        if len(self._claims):
            self._wait(self._claims.time_left(), self._look)
        else:
            self._wait(TIME_TO_CLAIM, self._give_up)
        self._review()

    def _give_up(self) -> None:
        self._end(
            Refusal(
                "amqp:unauthorized-access",
                f"No token was put for {TIME_TO_CLAIM:.0f} seconds, and none is in force.",
                401,
            )
        )

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self.stop()
        self._timer = self._loop.call_later(seconds, then)
