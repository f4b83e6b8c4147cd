"""Table of the functions that request a command over AMQP or HTTP."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from busproof import vocabulary as v
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.scenario import Scenario
from busproof.vocabulary import commands as c

__all__ = ["HANDLERS", "asks"]

Handler = Callable[[Scenario, Any, AmqpClient], v.Outcome]
AnyHandler = TypeVar("AnyHandler", bound=Handler)

HANDLERS: Final[dict[type[c.Command], Handler]] = {}
"""Functions by type of command; clients cannot control the clock or outages, so these have none."""


def asks(*kinds: type[c.Command]) -> Callable[[AnyHandler], AnyHandler]:
    """Enter a function into the table, for commands of these types."""

    def enter(handler: AnyHandler) -> AnyHandler:
        HANDLERS.update(dict.fromkeys(kinds, handler))
        return handler

    return enter
