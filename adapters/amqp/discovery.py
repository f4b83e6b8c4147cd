"""Discovery of a service's capabilities: each is tried once, on entities made for that.

A service lacks a capability if it answers that the operation is unknown. After any other refusal
the capability is declared, and the features find the fault.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.amqp.dialect import OVER_AMQP, Ask, Dialect
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.failing import Lost, Rejected, Silent
from busproof.adapters.amqp.target import Target
from busproof.errors import AdapterError
from busproof.vocabulary import commands as c
from busproof.vocabulary import outcomes as o

__all__ = ["Discovered", "discover"]

LACKING: Final = ("amqp:not-implemented", "http:501", "http:405")
LACKING_WORDS: Final = ("not supported", "not implemented", "unsupported", "not available")

PARTITIONED_WORDS: Final = ("subcode=40000", "not allowed in partitioned namespace")
"""Parts of the refusal by a partitioned namespace of an unpartitioned entity (observed)."""
KEYS_TRIED: Final = 24
"""Number of keys to try; they miss two of four partitions once in two million times."""

HOUR: Final = 3600 * v.MICROSECONDS
SLACK: Final = 2 * v.MICROSECONDS
"""Default error of a service's timers, in microseconds."""
TRIES: Final = 5
"""Maximum number of attempts to receive a message that was sent."""


@attrs.frozen(kw_only=True)
class Discovered:
    """The declaration of a service, and properties of its namespace.

    Attributes:
        declaration: the declaration.
        tier: the tier of the namespace, if the service reports it.
        namespace_partitions: number of partitions of the namespace; 1 if it is not partitioned.
    """

    declaration: v.Declaration
    tier: str | None
    namespace_partitions: int = 1


def discover(
    ask: Ask, entities: Entities, target: Target, dialect: Dialect = OVER_AMQP
) -> Discovered:
    """Discover the capabilities of a service, beside those that all with its dialect have.

    Raises:
        AdapterError: the service cannot be reached or denies access, or its namespace is
            partitioned but the number of partitions cannot be found.
    """
    try:
        namespace = entities.get("$namespaceinfo")
    except Rejected as rejected:
        if rejected.condition in ("http:401", "http:403"):
            raise AdapterError(
                f"the service does not let us in: {rejected.condition}; is the key right, and "
                "does it have Manage, Send and Listen?"
            ) from None
        namespace = {}
    except (Lost, Silent) as failed:
        raise AdapterError(f"the service's administration cannot be reached: {failed}") from None
    sku = namespace.get("MessagingSKU", "").lower()
    tier = sku if sku in {known.value for known in v.Tier} else None
    found = frozenset(_find_capabilities(ask))
    wanting = {one for one, holds in dialect.check.items() if one in found and not holds(ask)}
    capabilities = dialect.of_all | (found - wanting)
    partitions = 1 if tier not in (None, v.Tier.PREMIUM) else _namespace_partitions(ask)
    if target.disposable and dialect.fills:
        capabilities |= {v.Capability.DISPOSABLE_NAMESPACE}
    kind = "emulator" if target.emulator else "namespace"
    return Discovered(
        declaration=v.Declaration(
            implementation=v.Implementation(name=f"Service Bus {kind}", version=""),
            capabilities=capabilities,
            clock=v.Clock.REAL,
            slack=SLACK if target.slack is None else target.slack,
        ),
        tier=tier,
        namespace_partitions=partitions,
    )


def _find_capabilities(ask: Ask) -> Iterator[v.Capability]:
    for capability, commands in PROBES:
        if all(not _is_lacking(ask(command, "probe")) for command in commands):
            yield capability
    message = ask(c.Receive(queue="probe"), "probe")
    if isinstance(message, o.Received) and message.message.lock_token:
        yield from _try_lock(ask, message.message.lock_token)
    if _deletes_batches(ask):
        yield v.Capability.DELETE_BATCH
    if _assigns_message_ids(ask):
        yield v.Capability.CLIENT_LIBRARY
    shown = ask(c.GetQueue(queue="probe"), "probe")
    if isinstance(shown, o.Described) and shown.description.availability is not None:
        yield v.Capability.AVAILABILITY


def _namespace_partitions(ask: Ask) -> int:
    """PREM-15, PREM-16: return the number of partitions of the namespace, by trying.

    A partitioned namespace refuses an unpartitioned entity. The sequence numbers of messages with
    many keys then show how many partitions there are.

    Raises:
        AdapterError: the namespace is partitioned, but the sequence numbers do not show how many
            partitions it has.
    """
    refused = ask(c.CreateQueue(queue="kind", partitioned=False), "probe")
    if not isinstance(refused, o.Refused) or not _is_for_partitions(refused.detail):
        return 1
    for number in range(KEYS_TRIED):
        key = f"probe-{number}"
        message = v.Message(body=key, message_id=key, partition_key=key)
        ask(c.Send(queue="probe", message=message), "probe")
    partitions: set[int] = set()
    for _ in range(KEYS_TRIED):
        outcome = ask(c.Receive(queue="probe"), "probe")
        if isinstance(outcome, o.Received) and outcome.message.sequence_number is not None:
            partitions.add(outcome.message.sequence_number >> v.SEQUENCE_BITS)
    for number in v.NAMESPACE_PARTITIONS:
        if 1 < len(partitions) <= number:
            return number
    raise AdapterError(
        f"the namespace is partitioned, and the sequence numbers of {KEYS_TRIED} messages show "
        f"{len(partitions)} partitions; a namespace has 2 or 4"
    )


def _is_for_partitions(detail: str) -> bool:
    """PREM-15: return whether a refusal says that the namespace is partitioned."""
    return any(words in detail.lower() for words in PARTITIONED_WORDS)


def _try_lock(ask: Ask, token: str) -> Iterator[v.Capability]:
    if not _is_lacking(ask(c.RenewLock(queue="probe", lock_token=token), "probe")):
        yield v.Capability.LOCK_RENEWAL
    # Renew a single lock, because a service may refuse those of several partitions.
    if not _is_lacking(ask(c.RenewLocks(queue="probe", lock_tokens=(token,)), "probe")):
        yield v.Capability.RENEW_LOCKS
    begun = ask(c.BeginTransaction(transaction="settles"), "probe")
    within = c.Abandon(queue="probe", lock_token=token, transaction="settles")
    if isinstance(begun, o.Done) and not _is_lacking(ask(within, "probe")):
        yield v.Capability.TRANSACTIONAL_SETTLEMENT
    ask(c.RollBackTransaction(transaction="settles"), "probe")
    if not _is_lacking(ask(c.Defer(queue="probe", lock_token=token), "probe")):
        yield v.Capability.DEFERRAL
    # Settle with a single lock, because a service may refuse those of several partitions.
    together = c.SettleBatch(
        queue="probe", lock_tokens=(token,), disposition=v.Disposition.COMPLETE
    )
    if not _is_lacking(ask(together, "probe")):
        yield v.Capability.SETTLE_BATCHES


def _deletes_batches(ask: Ask) -> bool:
    """BATCH-19: try a batch deletion on a regular queue, as partitioned ones may not support it."""
    created = ask(c.CreateQueue(queue="purged", partitioned=False), "probe")
    if not isinstance(created, o.Done):
        return False
    return not _is_lacking(ask(c.DeleteBatch(queue="purged", count=1), "probe"))


def _assigns_message_ids(ask: Ask) -> bool:
    """KEY-13: return whether a message sent without a MessageId is received with one.

    The message is sent again if it does not arrive at once. On a service that assigns MessageIds, a
    run without this knowledge would report each message as changed.
    """
    ask(c.CreateQueue(queue="unnamed"), "probe")
    for _ in range(TRIES):
        ask(c.Send(queue="unnamed", message=v.Message(body="unnamed")), "probe")
        came = ask(c.Receive(queue="unnamed", mode=v.ReceiveMode.RECEIVE_AND_DELETE), "probe")
        if isinstance(came, o.Received):
            return came.message.message_id is not None
    return False


def _is_lacking(outcome: o.Outcome) -> bool:
    if isinstance(outcome, o.Unsupported):
        return True
    if not isinstance(outcome, o.Refused):
        return False
    detail = outcome.detail.lower()
    return detail.startswith(LACKING) or any(words in detail for words in LACKING_WORDS)


MESSAGE: Final = v.Message(body="probe", message_id="probe", partition_key="probe")

PROBES: Final[tuple[tuple[v.Capability, tuple[c.Command, ...]], ...]] = (
    (v.Capability.REGULAR_QUEUES, (c.CreateQueue(queue="regular", partitioned=False),)),
    (
        v.Capability.MANAGEMENT,
        (c.CreateQueue(queue="probe"), c.GetQueue(queue="probe"), c.ListQueues()),
    ),
    (v.Capability.SIZES, (c.CreateQueue(queue="sized", max_size=1),)),
    (v.Capability.SIZE_UPDATES, (c.UpdateQueue(queue="sized", max_size=2),)),
    (v.Capability.PEEK, (c.Send(queue="probe", message=MESSAGE), c.Peek(queue="probe"))),
    (v.Capability.BATCHES, (c.SendBatch(queue="probe", messages=(MESSAGE, MESSAGE)),)),
    (v.Capability.SCHEDULING, (c.Schedule(queue="probe", message=MESSAGE, delay=HOUR),)),
    (
        v.Capability.TRANSACTIONS,
        (c.BeginTransaction(transaction="t"), c.RollBackTransaction(transaction="t")),
    ),
    (
        v.Capability.SESSIONS,
        (
            c.CreateQueue(queue="sessions", requires_session=True),
            c.AcceptSession(queue="sessions", session_id="s"),
        ),
    ),
    (v.Capability.NEXT_SESSION, (c.AcceptNextSession(queue="sessions"),)),
    (
        v.Capability.SESSION_STATE,
        (c.SetSessionState(queue="sessions", session_id="s", state="probe"),),
    ),
    (v.Capability.SESSION_LISTING, (c.ListSessions(queue="sessions"),)),
    (
        v.Capability.DUPLICATE_DETECTION,
        (c.CreateQueue(queue="duplicates", duplicate_detection=True),),
    ),
    (v.Capability.TIME_TO_LIVE, (c.CreateQueue(queue="mortal", time_to_live=HOUR),)),
    (v.Capability.FORWARDING, (c.CreateQueue(queue="forwards", forward_to="probe"),)),
    (
        v.Capability.REDIRECTION,
        (
            c.UpdateQueue(queue="forwards", forward_to=""),
            c.UpdateQueue(queue="forwards", forward_to="probe"),
        ),
    ),
    (
        v.Capability.DEAD_LETTER_FORWARDING,
        (c.CreateQueue(queue="buries", forward_dead_letters_to="probe"),),
    ),
    (v.Capability.TRANSFER_DEAD_LETTER, (c.Peek(queue="forwards" + v.TRANSFERS),)),
    (
        v.Capability.ENTITY_STATUS,
        (
            c.UpdateQueue(queue="forwards", status=v.EntityStatus.DISABLED),
            c.UpdateQueue(queue="forwards", status=v.EntityStatus.ACTIVE),
        ),
    ),
    (
        v.Capability.TOPICS,
        (c.CreateTopic(topic="topic"), c.CreateSubscription(topic="topic", subscription="s")),
    ),
    (
        v.Capability.TOPIC_MANAGEMENT,
        (
            c.GetTopic(topic="topic"),
            c.ListTopics(),
            c.ListSubscriptions(topic="topic"),
            c.GetQueue(queue="topic/subscriptions/s"),
        ),
    ),
    (
        v.Capability.FILTERS,
        (
            c.AddRule(topic="topic", subscription="s", rule="r", filter=v.FalseFilter()),
            c.ListRules(topic="topic", subscription="s"),
        ),
    ),
    (
        v.Capability.SQL_FILTERS,
        (
            c.AddRule(
                topic="topic", subscription="s", rule="q", filter=v.SqlFilter(expression="a = 1")
            ),
        ),
    ),
    (
        v.Capability.RULE_ACTIONS,
        (
            c.AddRule(
                topic="topic",
                subscription="s",
                rule="a",
                filter=v.FalseFilter(),
                action="SET a = 1",
            ),
        ),
    ),
)
"""Commands that probe each capability, in order: later ones use what earlier ones created."""
