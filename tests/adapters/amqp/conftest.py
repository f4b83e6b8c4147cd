"""The embedded broker, started once for these tests, and asked by the adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from work import PATIENCE

from busproof import vocabulary as v
from busproof.spec import load

if TYPE_CHECKING:
    # At run time only where a test asks for it: pytest reads this file without proton, too.
    from busproof.adapters.amqp.adapter import EmbeddedAdapter

Ask = Callable[..., v.Outcome]


@pytest.fixture(scope="package")
def broker() -> Iterator[EmbeddedAdapter]:
    """The adapter, its broker running."""
    from busproof.adapters.amqp.adapter import EmbeddedAdapter  # it needs proton

    adapter = EmbeddedAdapter(timeout=PATIENCE)
    yield adapter
    adapter.stop()


@pytest.fixture
def adapter(broker: EmbeddedAdapter) -> EmbeddedAdapter:
    """The adapter with an empty namespace."""
    broker.start(v.profile_for(load()))
    return broker


@pytest.fixture
def ask(adapter: EmbeddedAdapter) -> Ask:
    """What comes of a command, asked over connection c1 or another one."""

    def asked(command: v.Command, connection: str = "c1") -> v.Outcome:
        return adapter.do(command, connection).outcome

    return asked


@pytest.fixture
def queue(ask: Ask) -> str:
    """A partitioned queue."""
    assert ask(v.CreateQueue(queue="q")) == v.Done()
    return "q"
