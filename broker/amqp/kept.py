"""What is kept for one client until it goes on: sessions, links, deliveries, transactions."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from busproof.broker.amqp.numbering import ATTACH, BEGIN

__all__ = ["DELIVERY", "Kept"]

OPENED: Final = {BEGIN: 4_096, ATTACH: 2_048}
"""Bytes that a session and a link take beside what their frames have."""
STAGED: Final = 1_024
"""Bytes that are kept of each thing that was asked for in a transaction, beside its own."""
DELIVERY: Final = 1_024
"""Bytes that are kept of a delivery that is not settled, about."""


class Kept:
    """Counts bytes, about.

    Args:
        costs: what the frame of each session and link costs that is opened next.
    """

    def __init__(self, costs: Mapping[int, deque[int]]) -> None:
        self._costs = costs
        self._opened: dict[Any, dict[Any, int]] = {}
        """The costs of each session's links, and of itself."""
        self._staged: dict[str, int] = {}
        self.size = 0

    def open(self, session: Any, link: Any = None) -> None:
        """A session was opened, or a link of it."""
        code = BEGIN if link is None else ATTACH
        costs = self._costs[code]
        cost = OPENED[code] + (costs.popleft() if costs else 0)
        self._opened.setdefault(session, {})[link] = cost
        self.size += cost

    def close(self, session: Any, link: Any = None) -> None:
        """A session has ended with all of its links, or one of them has."""
        if link is None:
            self.size -= sum(self._opened.pop(session, {}).values())
        else:
            self.size -= self._opened.get(session, {}).pop(link, 0)

    def begin(self, transaction: str) -> None:
        """A transaction has begun."""
        self._staged[transaction] = 0
        self.stage(transaction, 0)

    def stage(self, transaction: str, size: int) -> None:
        """Something was asked for in a transaction, and waits for its end."""
        self._staged[transaction] += size + STAGED
        self.size += size + STAGED

    def end(self, transaction: str) -> None:
        """A transaction has ended; what was kept for it is free, or in its entity."""
        self.size -= self._staged.pop(transaction, 0)
