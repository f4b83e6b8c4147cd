"""Steps for messages with a time to live."""

from collections.abc import Callable

from pytest_bdd import when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.wording import properties

READ: dict[str, Callable[[str], object]] = {"carried": properties}


@when("the message kept is deferred", target_fixture="outcome")
def defers_kept(bus: Bus, queue: str, kept: v.MessageView) -> v.Outcome:
    """Try to defer the locked message."""
    return bus.do(v.Defer(queue=queue, lock_token=kept.lock_token or ""))
