"""Messages over HTTP as a dialect of the adapters for services and for the embedded broker."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.amqp.dialect import Ask, Dialect
from busproof.adapters.http.asking import ask
from busproof.adapters.http.client import HttpClient
from busproof.adapters.http.scenario import HttpScenario

__all__ = ["OVER_HTTP"]

TRIES: Final = 5
"""Maximum number of attempts to receive a message that was sent."""

OF_ALL: Final = frozenset(
    {
        v.Capability.HTTP,
        v.Capability.PEEK_LOCK,
        v.Capability.SEQUENCE_NUMBERS,
    }
)
"""Capabilities that every service with this interface has and that cannot be probed."""

OF_BROKER: Final = OF_ALL | {
    v.Capability.API_VERSIONS,
    v.Capability.AVAILABILITY,
    v.Capability.BATCHES,
    v.Capability.DEAD_LETTER_FORWARDING,
    v.Capability.DISPOSABLE_NAMESPACE,
    v.Capability.DUPLICATE_DETECTION,
    v.Capability.ENTITY_STATUS,
    v.Capability.FILTERS,
    v.Capability.FORWARDING,
    v.Capability.LEGACY_ENTITIES,
    v.Capability.LIMITS,
    v.Capability.LOCK_RENEWAL,
    v.Capability.MANAGEMENT,
    v.Capability.OUTAGES,
    v.Capability.REDIRECTION,
    v.Capability.REGULAR_QUEUES,
    v.Capability.RULE_ACTIONS,
    v.Capability.SIZES,
    v.Capability.SIZE_UPDATES,
    v.Capability.SQL_FILTERS,
    v.Capability.TIME_TO_LIVE,
    v.Capability.TOPICS,
    v.Capability.TOPIC_MANAGEMENT,
    v.Capability.WITNESS,
}
"""Capabilities of the embedded broker over HTTP.

HTTP has no sessions, transactions, deferral, peek, dead-lettering by a receiver, or batches of
received messages. It can schedule a message, but gives no number by which to cancel it.
"""


def _keep_content_types(ask: Ask) -> bool:
    """Return whether messages of a batch keep their content types, which they may have."""
    queue = "typed"
    kind = "text/probe"
    message = v.Message(body="typed", message_id="typed", content_type=kind)
    ask(v.CreateQueue(queue=queue), "probe")
    ask(v.SendBatch(queue=queue, messages=(message,)), "probe")
    for _ in range(TRIES):
        mode = v.ReceiveMode.RECEIVE_AND_DELETE
        came = ask(v.Receive(queue=queue, mode=mode), "probe")
        if isinstance(came, v.Received):
            return came.message.content_type == kind
    return False


OVER_HTTP: Final = Dialect(
    suffix=" over HTTP",
    fills=False,
    of_all=OF_ALL,
    of_broker=OF_BROKER,
    ask=ask,
    connect=HttpClient,
    begin=HttpScenario,
    check={v.Capability.BATCHES: _keep_content_types},
)
