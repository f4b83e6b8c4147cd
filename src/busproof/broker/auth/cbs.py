"""Claims-based security: the claims of a client, and their expiry."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from busproof.broker.amqp.refusals import Refusal
from busproof.broker.auth.tokens import AccessPolicies, Claim
from busproof.broker.core import Hub

__all__ = ["TIME_TO_CLAIM", "Claims", "Proving"]

LONG: Final = 86_400.0
"""Maximum interval between two checks of the claims, in seconds: a day."""
A_MOMENT: Final = 0.01

TIME_TO_CLAIM: Final = 20.0
"""Maximum time that a connection may last without a claim, in seconds."""


class Claims:
    """The valid claims of a client: the latest for each path and rule.

    Args:
        most: maximum number of claims.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[str, dict[str, Claim]] = {}
        self._known: dict[tuple[str, str], float] = {}
        """For a right and a path that were checked before, until when the claims permit them."""

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))

    def add(self, claim: Claim) -> None:
        """Add a claim; it replaces an earlier one for the same path and rule.

        Raises:
            Refusal: the client has too many claims.
        """
        at_path = self._held.get(claim.path, {})
        if claim.rule not in at_path and len(self) >= self._most:
            raise Refusal(
                "amqp:resource-limit-exceeded",
                f"{self._most:,} tokens are in force, which is the maximum for a connection.",
                403,
            )
        self._held.setdefault(claim.path, {})[claim.rule] = claim
        self._known.clear()

    def permit(self, right: str, path: str) -> bool:
        """Return whether a claim for the path, or for a path above it, grants the right."""
        now = time.time()
        if now < self._known.get((right, path), 0.0):
            return True
        place = low = path.lower()
        while True:
            for claim in self._held.get(place, {}).values():
                if claim.grants(right, low, now):
                    self._known[right, path] = claim.until
                    return True
            if not place:
                return False
            place = place.rpartition("/")[0]

    def keep(self, still: Callable[[Claim], Claim | None]) -> None:
        """Replace each claim by what `still` returns for it; drop it if that is `None`."""
        left: dict[str, dict[str, Claim]] = {}
        for at_path in self._held.values():
            for claim in filter(None, map(still, at_path.values())):
                left.setdefault(claim.path, {})[claim.rule] = claim
        self._held = left
        self._known.clear()

    def forget_expired(self) -> None:
        """Remove expired claims."""
        now = time.time()
        self.keep(lambda claim: claim if claim.until > now else None)

    def time_left(self) -> float:
        """Return the time until the next claim expires, in seconds; at most a day."""
        every = (claim.until for at_path in self._held.values() for claim in at_path.values())
        return min(LONG, max(0.0, min(every, default=float("inf")) - time.time()) + A_MOMENT)


class Proving:
    """The claims of a connection, checked when one expires and when the keys change.

    Args:
        hub: state shared by all connections.
        review: called to end the links whose claims are gone.
        end: called to end a connection that has had no claim for too long.
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
        """Start the time limit for the first claim."""
        self._wait(TIME_TO_CLAIM, self._give_up)

    def stop(self) -> None:
        """Stop checking the claims."""
        if self._timer is not None:
            self._timer.cancel()

    def release(self) -> None:
        """Stop checking the claims of a connection that has ended, and forget it."""
        self.stop()
        del self._review, self._end

    def add(self, claim: Claim) -> None:
        """Add a claim that the client has proved.

        Raises:
            Refusal: the client has too many claims.
        """
        self._claims.forget_expired()
        self._claims.add(claim)
        self._wait(self._claims.time_left(), self._look)

    def renew(self, keys: AccessPolicies) -> None:
        """Apply new keys: drop the claims whose keys were removed."""
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
