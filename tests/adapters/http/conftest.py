"""The embedded broker, started once for these tests, and asked over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from work import PATIENCE

from ..amqp.conftest import Ask, adapter, ask, queue

if TYPE_CHECKING:
    from busproof.adapters.amqp.adapter import EmbeddedAdapter

__all__ = ["Ask", "adapter", "ask", "broker", "queue"]


@pytest.fixture(scope="package")
def broker() -> Iterator[EmbeddedAdapter]:
    """The adapter, its broker running."""
    from busproof.adapters.amqp.adapter import EmbeddedAdapter  # it needs proton
    from busproof.adapters.http.dialect import OVER_HTTP

    speaking = EmbeddedAdapter(timeout=PATIENCE, dialect=OVER_HTTP)
    yield speaking
    speaking.stop()
