"""Discover the capabilities of a service by trying each once, with entities created for that.

A service lacks what it reports as missing. After any other refusal the capability is declared, and
the features find the fault.
"""

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.failing import Lost, Rejected, Silent
from busproof.adapters.amqp.target import Target
from busproof.adapters.base import Declaration, Implementation
from busproof.errors import AdapterError
from busproof.vocabulary import commands as c
from busproof.vocabulary import outcomes as o
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import SEQUENCE_BITS, Message
from busproof.vocabulary.paths import TRANSFERS
from busproof.vocabulary.profile import NAMESPACE_PARTITIONS
from busproof.vocabulary.subscription_rules import FalseFilter, SqlFilter
from busproof.vocabulary.values import MICROSECONDS, Clock, Disposition, ReceiveMode, Tier

__all__ = ["Discovered", "discovered"]

LACKING: Final = ("amqp:not-implemented", "http:501", "http:405")
LACKING_WORDS: Final = ("not supported", "not implemented", "unsupported", "not available")

PARTITIONED_WORDS: Final = ("subcode=40000", "not allowed in partitioned namespace")
"""How a partitioned namespace refuses an entity that is not partitioned (observed)."""
KEYS_TRIED: Final = 24
"""So many keys miss two of four partitions once in two million times."""

HOUR: Final = 3600 * MICROSECONDS
SLACK: Final = 2 * MICROSECONDS
"""Default for the error of a service's timers."""
TRIES: Final = 5
"""Most receives of a message that has been sent."""

ALWAYS: Final = frozenset(
    {
        Capability.AMQP,
        Capability.DEAD_LETTER,
        Capability.PEEK_LOCK,
        Capability.RECEIVE_BATCHES,
        Capability.SEQUENCE_NUMBERS,
    }
)
"""Capabilities that are part of the dialect and cannot be probed."""

Ask = Callable[[c.Command, str], o.Outcome]


@attrs.frozen(kw_only=True)
class Discovered:
    """Declaration of a service, and what it shows of its namespace.

    Attributes:
        declaration: its declaration.
        tier: the namespace's tier if the service reports it.
        namespace_partitions: partitions of the namespace, 1 if it is not partitioned.
    """

    declaration: Declaration
    tier: str | None
    namespace_partitions: int = 1


def discovered(ask: Ask, entities: Entities, target: Target) -> Discovered:
    """Discover the capabilities of a service.

    Raises:
        AdapterError: the service cannot be reached, or denies access; or its namespace is
            partitioned, and how many partitions it has cannot be seen.
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
    tier = sku if sku in {each.value for each in Tier} else None
    capabilities = ALWAYS | frozenset(_found(ask))
    partitions = 1 if tier not in (None, Tier.PREMIUM) else _namespace_partitions(ask)
    if target.disposable:
        capabilities |= {Capability.DISPOSABLE_NAMESPACE}
    kind = "emulator" if target.emulator else "namespace"
    return Discovered(
        declaration=Declaration(
            implementation=Implementation(name=f"Service Bus {kind}", version=""),
            capabilities=capabilities,
            clock=Clock.REAL,
            slack=SLACK if target.slack is None else target.slack,
        ),
        tier=tier,
        namespace_partitions=partitions,
    )


def _found(ask: Ask) -> Iterator[Capability]:
    for capability, commands in PROBES:
        if all(not _is_lacking(ask(command, "probe")) for command in commands):
            yield capability
    message = ask(c.Receive(queue="probe"), "probe")
    if isinstance(message, o.Received) and message.message.lock_token:
        yield from _of_a_lock(ask, message.message.lock_token)
    if _deletes_batches(ask):
        yield Capability.DELETE_BATCH
    if _assigns_message_ids(ask):
        yield Capability.CLIENT_LIBRARY
    shown = ask(c.GetQueue(queue="probe"), "probe")
    if isinstance(shown, o.Described) and shown.description.availability is not None:
        yield Capability.AVAILABILITY


def _namespace_partitions(ask: Ask) -> int:
    """PREM-15, PREM-16: return how many partitions the namespace has, by trying.

    A partitioned one refuses an entity that is not. How many partitions it has is in the sequence
    numbers of messages with many keys.

    Raises:
        AdapterError: it is partitioned, and the numbers do not show how.
    """
    refused = ask(c.CreateQueue(queue="kind", partitioned=False), "probe")
    if not isinstance(refused, o.Refused) or not _is_for_partitions(refused.detail):
        return 1
    for number in range(KEYS_TRIED):
        key = f"probe-{number}"
        message = Message(body=key, message_id=key, partition_key=key)
        ask(c.Send(queue="probe", message=message), "probe")
    seen: set[int] = set()
    for _ in range(KEYS_TRIED):
        given = ask(c.Receive(queue="probe"), "probe")
        if isinstance(given, o.Received) and given.message.sequence_number is not None:
            seen.add(given.message.sequence_number >> SEQUENCE_BITS)
    for number in NAMESPACE_PARTITIONS:
        if 1 < len(seen) <= number:
            return number
    raise AdapterError(
        f"the namespace is partitioned, and the sequence numbers of {KEYS_TRIED} messages show "
        f"{len(seen)} partitions; a namespace has 2 or 4"
    )


def _is_for_partitions(detail: str) -> bool:
    """PREM-15: return whether a refusal says that the namespace is partitioned."""
    return any(words in detail.lower() for words in PARTITIONED_WORDS)


def _of_a_lock(ask: Ask, token: str) -> Iterator[Capability]:
    if not _is_lacking(ask(c.RenewLock(queue="probe", lock_token=token), "probe")):
        yield Capability.LOCK_RENEWAL
    # One lock, because those of several partitions are refused as not supported.
    if not _is_lacking(ask(c.RenewLocks(queue="probe", lock_tokens=(token,)), "probe")):
        yield Capability.RENEW_LOCKS
    begun = ask(c.BeginTransaction(transaction="settles"), "probe")
    within = c.Abandon(queue="probe", lock_token=token, transaction="settles")
    if isinstance(begun, o.Done) and not _is_lacking(ask(within, "probe")):
        yield Capability.TRANSACTIONAL_SETTLEMENT
    ask(c.RollBackTransaction(transaction="settles"), "probe")
    if not _is_lacking(ask(c.Defer(queue="probe", lock_token=token), "probe")):
        yield Capability.DEFERRAL
    # One lock, because those of several partitions are refused as not supported.
    together = c.SettleBatch(queue="probe", lock_tokens=(token,), disposition=Disposition.COMPLETE)
    if not _is_lacking(ask(together, "probe")):
        yield Capability.SETTLE_BATCHES


def _deletes_batches(ask: Ask) -> bool:
    """BATCH-19: try it on a regular queue, because of a partitioned one nothing may be deleted."""
    created = ask(c.CreateQueue(queue="purged", partitioned=False), "probe")
    if not isinstance(created, o.Done):
        return False
    return not _is_lacking(ask(c.DeleteBatch(queue="purged", count=1), "probe"))


def _assigns_message_ids(ask: Ask) -> bool:
    """Return whether a message that was sent without a MessageId is received with one (KEY-13).

    It is sent again if it does not come at once: on a service that assigns MessageIds, a run that
    does not know would report each message as changed.
    """
    ask(c.CreateQueue(queue="unnamed"), "probe")
    for _ in range(TRIES):
        ask(c.Send(queue="unnamed", message=Message(body="unnamed")), "probe")
        came = ask(c.Receive(queue="unnamed", mode=ReceiveMode.RECEIVE_AND_DELETE), "probe")
        if isinstance(came, o.Received):
            return came.message.message_id is not None
    return False


def _is_lacking(outcome: o.Outcome) -> bool:
    if isinstance(outcome, o.Unsupported):
        return True
    if not isinstance(outcome, o.Refused):
        return False
    said = outcome.detail.lower()
    return said.startswith(LACKING) or any(words in said for words in LACKING_WORDS)


MESSAGE: Final = Message(body="probe", message_id="probe", partition_key="probe")

PROBES: Final[tuple[tuple[Capability, tuple[c.Command, ...]], ...]] = (
    (Capability.REGULAR_QUEUES, (c.CreateQueue(queue="regular", partitioned=False),)),
    (
        Capability.MANAGEMENT,
        (c.CreateQueue(queue="probe"), c.GetQueue(queue="probe"), c.ListQueues()),
    ),
    (Capability.SIZES, (c.CreateQueue(queue="sized", max_size=1),)),
    (Capability.PEEK, (c.Send(queue="probe", message=MESSAGE), c.Peek(queue="probe"))),
    (Capability.BATCHES, (c.SendBatch(queue="probe", messages=(MESSAGE, MESSAGE)),)),
    (Capability.SCHEDULING, (c.Schedule(queue="probe", message=MESSAGE, delay=HOUR),)),
    (
        Capability.TRANSACTIONS,
        (c.BeginTransaction(transaction="t"), c.RollBackTransaction(transaction="t")),
    ),
    (
        Capability.SESSIONS,
        (
            c.CreateQueue(queue="sessions", requires_session=True),
            c.AcceptSession(queue="sessions", session_id="s"),
        ),
    ),
    (Capability.NEXT_SESSION, (c.AcceptNextSession(queue="sessions"),)),
    (
        Capability.SESSION_STATE,
        (c.SetSessionState(queue="sessions", session_id="s", state="probe"),),
    ),
    (Capability.SESSION_LISTING, (c.ListSessions(queue="sessions"),)),
    (
        Capability.DUPLICATE_DETECTION,
        (c.CreateQueue(queue="duplicates", duplicate_detection=True),),
    ),
    (Capability.TIME_TO_LIVE, (c.CreateQueue(queue="mortal", time_to_live=HOUR),)),
    (Capability.FORWARDING, (c.CreateQueue(queue="forwards", forward_to="probe"),)),
    (
        Capability.REDIRECTION,
        (
            c.UpdateQueue(queue="forwards", forward_to=""),
            c.UpdateQueue(queue="forwards", forward_to="probe"),
        ),
    ),
    (
        Capability.DEAD_LETTER_FORWARDING,
        (c.CreateQueue(queue="buries", forward_dead_letters_to="probe"),),
    ),
    (Capability.TRANSFER_DEAD_LETTER, (c.Peek(queue="forwards" + TRANSFERS),)),
    (
        Capability.ENTITY_STATUS,
        (
            c.UpdateQueue(queue="forwards", status=EntityStatus.DISABLED),
            c.UpdateQueue(queue="forwards", status=EntityStatus.ACTIVE),
        ),
    ),
    (
        Capability.TOPICS,
        (c.CreateTopic(topic="topic"), c.CreateSubscription(topic="topic", subscription="s")),
    ),
    (
        Capability.TOPIC_MANAGEMENT,
        (
            c.GetTopic(topic="topic"),
            c.ListTopics(),
            c.ListSubscriptions(topic="topic"),
            c.GetQueue(queue="topic/subscriptions/s"),
        ),
    ),
    (
        Capability.FILTERS,
        (
            c.AddRule(topic="topic", subscription="s", rule="r", filter=FalseFilter()),
            c.ListRules(topic="topic", subscription="s"),
        ),
    ),
    (
        Capability.SQL_FILTERS,
        (
            c.AddRule(
                topic="topic", subscription="s", rule="q", filter=SqlFilter(expression="a = 1")
            ),
        ),
    ),
    (
        Capability.RULE_ACTIONS,
        (
            c.AddRule(
                topic="topic", subscription="s", rule="a", filter=FalseFilter(), action="SET a = 1"
            ),
        ),
    ),
)
"""Commands that probe each capability, in order: later ones use what earlier ones created."""
