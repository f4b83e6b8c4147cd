"""Memory accounting of one client: its sessions, links, deliveries and transactions."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from busproof.broker.amqp.numbering import ATTACH, BEGIN

__all__ = ["DELIVERY", "Kept"]

OPENED: Final = {BEGIN: 4_096, ATTACH: 2_048}
"""Bytes for a session or a link beyond the contents of its frame."""
STAGED: Final = 1_024
"""Bytes of overhead for each request in a transaction."""
DELIVERY: Final = 1_024
"""Approximate bytes for an unsettled delivery."""


class Kept:
    """An approximate count of the bytes kept for a client.

    Args:
        costs: for `BEGIN` and `ATTACH`, the memory of each such frame that is not counted yet.
    """

    def __init__(self, costs: Mapping[int, deque[int]]) -> None:
        self._costs = costs
        self._opened: dict[Any, dict[Any, int]] = {}
        """The cost of each session and of its links."""
        self._staged: dict[str, int] = {}
        self.size = 0

    def open(self, session: Any, link: Any = None) -> None:
        """Count a session, or a link of it, that was opened."""
        code = BEGIN if link is None else ATTACH
        costs = self._costs[code]
        # Frames and the engine's events are in the same order, so the oldest cost is this one's.
        cost = OPENED[code] + (costs.popleft() if costs else 0)
        self._opened.setdefault(session, {})[link] = cost
        self.size += cost

    def close(self, session: Any, link: Any = None) -> None:
        """Stop counting a link, or a session with all its links."""
        if link is None:
            # Links that were refused are among them until their client ends them.
            self.size -= sum(self._opened.pop(session, {}).values())
        else:
            self.size -= self._opened.get(session, {}).pop(link, 0)

    def begin(self, transaction: str) -> None:
        """Count a transaction that has begun."""
        self._staged[transaction] = 0
        # An empty transaction counts, too: a client could begin them without an end.
        self.stage(transaction, 0)

    def stage(self, transaction: str, size: int) -> None:
        """Count a request in a transaction, which is kept until the transaction ends."""
        self._staged[transaction] += size + STAGED
        self.size += size + STAGED

    def end(self, transaction: str) -> None:
        """Stop counting a transaction that has ended: its requests are dropped or stored."""
        self.size -= self._staged.pop(transaction, 0)
