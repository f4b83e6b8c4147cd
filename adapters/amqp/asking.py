"""Dispatch of commands to the functions that request them over AMQP or HTTP."""

from busproof import vocabulary as v
from busproof.adapters.amqp import managing, receiving, sending, sessions  # noqa: F401 - they fill it
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.scenario import Scenario
from busproof.adapters.amqp.table import HANDLERS
from busproof.vocabulary import commands as c

__all__ = ["ask"]


def ask(scenario: Scenario, command: c.Command, client: AmqpClient) -> v.Outcome:
    """Execute a command and return its outcome.

    Raises:
        Rejected: the service refuses it.
        Silent: no answer came in time.
        Lost: the connection is lost.
    """
    handler = HANDLERS.get(type(command))
    if handler is None:
        return v.Unsupported(detail=f"{type(command).__name__} cannot be sent over AMQP")
    return handler(scenario, command, client)
