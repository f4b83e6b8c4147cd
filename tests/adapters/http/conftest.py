"""The embedded broker, started once for these tests, and asked over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from work import PATIENCE

from busproof.spec import load
from busproof.vocabulary.commands import Command, CreateQueue
from busproof.vocabulary.outcomes import Done, Outcome
from busproof.vocabulary.profile import profile_for

if TYPE_CHECKING:
    from busproof.adapters.amqp.adapter import EmbeddedAdapter

Ask = Callable[..., Outcome]


@pytest.fixture(scope="package")
def broker() -> Iterator[EmbeddedAdapter]:
    """The adapter, its broker running."""
    from busproof.adapters.amqp.adapter import EmbeddedAdapter  # it needs proton
    from busproof.adapters.http.dialect import OVER_HTTP

    adapter = EmbeddedAdapter(timeout=PATIENCE, dialect=OVER_HTTP)
    yield adapter
    adapter.stop()


@pytest.fixture
def adapter(broker: EmbeddedAdapter) -> EmbeddedAdapter:
    """The adapter with an empty namespace."""
    broker.start(profile_for(load()))
    return broker


@pytest.fixture
def ask(adapter: EmbeddedAdapter) -> Ask:
    """What comes of a command, asked over connection c1 or another one."""

    def asked(command: Command, connection: str = "c1") -> Outcome:
        return adapter.do(command, connection).outcome

    return asked


@pytest.fixture
def queue(ask: Ask) -> str:
    """A partitioned queue."""
    assert ask(CreateQueue(queue="q")) == Done()
    return "q"
