"""Generators of large messages, and of messages beyond a limit."""

from collections.abc import Iterator
from typing import Any, Final

import attrs
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import GENERAL, Scope, World
from busproof.exploration.strategies.row import QUEUES, Generator

__all__ = ["rows_of_sizes"]

_SHAPE: Final = st.integers(0, 3)
_TIMES: Final = st.sampled_from((1, 1, 1, 2, 6, 40))
_LARGE: Final = (100_000_000, 100_000_000, 330_000_000)
"""Sizes in bytes: the largest that any tier accepts, and one that only busproof's buses accept.

Two messages of the second size, or four of the first, exceed 10^9 bytes but not 2^30 bytes, so
whether they fill a GB depends on its definition.
"""
_KEYS: Final = ("message_id", "session_id", "partition_key")
_CARRIED: Final[tuple[dict[str, Any], ...]] = (
    *({name: "k" * 129} for name in _KEYS),
    *({name: "k" * 128} for name in _KEYS),
    {"properties": {"p": "v" * 32_768}},
    {"properties": {"p": "v" * 7_000}},
)
"""Properties of messages just beyond a limit, or just within it."""


def rows_of_sizes(scope: Scope) -> Iterator[Generator]:
    """Yield the rows for messages that fill a partition, and for messages at limits."""
    if v.Capability.DISPOSABLE_NAMESPACE in scope.capabilities:
        yield Generator(
            kind=v.Send,
            draws={"queue": QUEUES, "shape": _SHAPE, "size": st.sampled_from(_LARGE)},
            make=_large,
            times=_TIMES,
            themes=GENERAL,
            name="fill",
        )
    if v.Capability.LIMITS in scope.capabilities:
        yield Generator(
            kind=v.Send,
            draws={"queue": QUEUES, "shape": _SHAPE, "limit": st.integers(0, len(_CARRIED) - 1)},
            make=_send_at_limit,
            themes=GENERAL,
            name="exceed",
        )


def _large(world: World, queue: v.CreateQueue, shape: int, size: int) -> v.Send:
    """Send a message so large that a few fill a partition; some tiers refuse it as too large."""
    message = attrs.evolve(world.message(queue, shape), size=size, stands_in=True)
    return v.Send(queue=world.sent_to(queue), message=message)


def _send_at_limit(world: World, queue: v.CreateQueue, shape: int, limit: int) -> v.Send:
    """Send a message with a key or properties at a limit, or beyond it."""
    message = attrs.evolve(world.message(queue, shape), **_CARRIED[limit])
    return v.Send(queue=world.sent_to(queue), message=message)
