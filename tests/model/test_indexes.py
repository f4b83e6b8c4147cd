"""Lines without messages, and time that passes while nothing is due."""

from model_driver import DEFAULT_PROFILE, SECOND, Bus

from busproof.broker.direct_actions import rest
from busproof.model import new_namespace
from busproof.model.indexes import Line


def test_line_without_messages_offers_none() -> None:
    assert [] == list(Line().available({}))


def test_time_that_passes_between_steps_is_not_undone() -> None:
    namespace = new_namespace(DEFAULT_PROFILE)
    rest(namespace, 5 * SECOND)
    assert 5 * SECOND == namespace.now
    assert not namespace.journal.log


def test_lock_ends_by_the_time_that_has_passed_between_steps() -> None:
    bus = Bus()
    bus.create(lock_duration=10 * SECOND)
    bus.send("m")
    bus.receive()
    rest(bus.namespace, 9 * SECOND)
    assert [] == bus.bodies()
    bus.wait(1)
    assert ["m"] == bus.bodies()
