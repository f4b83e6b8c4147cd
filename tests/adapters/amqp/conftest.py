"""The embedded broker, started once for these tests, and asked by the adapter."""

from collections.abc import Callable, Iterator

import pytest

from busproof.adapters.amqp.adapter import EmbeddedAdapter
from busproof.spec import load
from busproof.vocabulary.commands import Command
from busproof.vocabulary.outcomes import Outcome
from busproof.vocabulary.profile import profile_for

Ask = Callable[..., Outcome]


@pytest.fixture(scope="package")
def broker() -> Iterator[EmbeddedAdapter]:
    """The adapter, its broker running."""
    adapter = EmbeddedAdapter(timeout=30)
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
