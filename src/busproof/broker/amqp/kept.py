"""Memory accounting for one client: its sessions, links, deliveries and transactions."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from busproof.broker.amqp.numbering import ATTACH, BEGIN

__all__ = ["DELIVERY", "Kept"]

OPENED: Final = {BEGIN: 4_096, ATTACH: 2_048}
"""Memory of a session or a link beyond the contents of the frame that opened it, in bytes."""
STAGED: Final = 1_024
"""Overhead of each request in a transaction, in bytes."""
DELIVERY: Final = 1_024
"""Approximate memory of an unsettled delivery, in bytes."""


class Kept:
    """The approximate memory that is kept for a client, in bytes.

    Args:
        costs: by `BEGIN` and `ATTACH`, the memory of each such frame that is not counted yet.
    """

    def __init__(self, costs: Mapping[int, deque[int]]) -> None:
        self._costs = costs
        self._opened: dict[Any, dict[Any, int]] = {}
        """For each session, the memory of the session and of each of its links."""
        self._staged: dict[str, int] = {}
        self.size = 0

    def open(self, session: Any, link: Any = None) -> None:
        """Count a session that was opened, or a link of it."""
        code = BEGIN if link is None else ATTACH
        costs = self._costs[code]
        # Frames and the engine's events have one order, so the oldest cost is this one's.
        cost = OPENED[code] + (costs.popleft() if costs else 0)
        self._opened.setdefault(session, {})[link] = cost
        self.size += cost

    def close(self, session: Any, link: Any = None) -> None:
        """Stop counting a link, or a session and all its links."""
        if link is None:
            # Refused links are counted with their session until the client detaches them.
            self.size -= sum(self._opened.pop(session, {}).values())
        else:
            self.size -= self._opened.get(session, {}).pop(link, 0)

    def begin(self, transaction: str) -> None:
        """Count a transaction that has begun."""
        self._staged[transaction] = 0
        # An empty transaction counts too, because a client could begin any number of them.
        self.stage(transaction, 0)

    def stage(self, transaction: str, size: int) -> None:
        """Count a request in a transaction, which is kept until the transaction ends."""
        self._staged[transaction] += size + STAGED
        self.size += size + STAGED

    def end(self, transaction: str) -> None:
        """Stop counting the requests of a transaction that has ended."""
        self.size -= self._staged.pop(transaction, 0)
