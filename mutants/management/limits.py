"""Mutants of LIMIT: limits of lengths, sizes and counts in one request."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace
from busproof.model.values import DIRECT, Refusal
from busproof.mutants.mutant import mutant
from busproof.mutants.runs import QUEUE, Run, create, receive, schedule, send
from busproof.mutants.wrappers import (
    asks,
    instead_of,
    only_where,
    refuses_as,
    refuses_yet,
    with_other,
)

KB: Final = 1024
REGULAR: Final = create(partitioned=False)
TOO_LARGE: Final = 256 * KB + 1
TOO_LARGE_SENT: Final[Run] = (create(), send("m", size=TOO_LARGE))
LONGEST: Final = "x" * 128
LONG: Final = "x" * 129
LARGE_PROPERTY: Final = send("m", properties={"p": "x" * 32 * KB})
THREE_PROPERTIES: Final = send("m", properties={f"p{number}": "x" * 22_000 for number in range(3)})
PROPERTIES: Final = "limits.check_properties"
BEGIN: Final = v.BeginTransaction(transaction="t")


def several(number: int) -> Run:
    """Send this many messages in one transaction."""
    sent = (send(f"m{place}", partition_key="a", within="t") for place in range(number))
    return (create(), BEGIN, *sent)


def stored(size: int) -> Run:
    """Store a session state of this size."""
    state = v.SetSessionState(queue=QUEUE, session_id="a", state="x" * size)
    accept = v.AcceptSession(queue=QUEUE, session_id="a")
    return (create(requires_session=True), accept, state)


@mutant("LIMIT-01", "limits.check_size", (create(), send("m", size=246 * KB)))
def small_messages_only(size: int) -> None:
    """A message of more than 64 KB is refused."""
    if size > 64 * KB:
        raise Refusal(v.Error.MESSAGE_TOO_LARGE, "LIMIT-01")


@mutant("LIMIT-02", "limits.check_size", TOO_LARGE_SENT, only_where)
def any_message_size(namespace: Namespace) -> bool:
    """A message of more than 256 KB is taken."""
    return namespace.profile.tier is v.Tier.PREMIUM


@mutant("LIMIT-02", "limits.check_size", TOO_LARGE_SENT, refuses_as(v.Error.QUOTA_EXCEEDED))
def too_large_called_full() -> None:
    """A message that is too large is refused with the error of the quota."""


@mutant(
    "LIMIT-02",
    "messages.send",
    (*TOO_LARGE_SENT, receive()),
    refuses_yet(v.Error.MESSAGE_TOO_LARGE),
)
def too_large_is_kept(namespace: Namespace, command: v.Send) -> None:
    """A message that is too large is refused, and kept."""
    entity = namespace.rules.topics.addressed(namespace, command.queue)
    namespace.rules.messages.arrive(namespace, entity, command.message, 0, DIRECT)


@mutant("LIMIT-03", "limits.check_size", (REGULAR, send("m", size=995_904)))
def premium_limit_of_standard(size: int) -> None:
    """Premium takes no message of more than 256 KB."""
    if size > 256 * KB:
        raise Refusal(v.Error.MESSAGE_TOO_LARGE, "LIMIT-03")


@mutant("LIMIT-04", "limits.check_size", (REGULAR, send("m", size=100 * KB * KB + 1)), only_where)
def any_message_size_in_premium(namespace: Namespace) -> bool:
    """Premium takes messages of any size."""
    return namespace.profile.tier is not v.Tier.PREMIUM


def _of_any_size(namespace: Namespace, message: v.Message) -> v.Message:
    """Return a message that skips the check of its size."""
    try:
        RULES.limits.check_message(namespace, message)
    except Refusal as refusal:
        if refusal.error is v.Error.MESSAGE_TOO_LARGE:
            return attrs.evolve(message, stands_in=True)
    return message


@mutant("LIMIT-06", "scheduling.schedule", (create(), schedule("m", 1, size=TOO_LARGE)), asks)
def too_large_when_scheduled(namespace: Namespace, command: v.Schedule) -> v.Schedule:
    """A message of any size can be scheduled."""
    return attrs.evolve(command, message=_of_any_size(namespace, command.message))


def _schedule_any(namespace: Namespace, entity: Entity, message: v.Message, *rest: Any) -> Answer:
    message = _of_any_size(namespace, message)
    return RULES.scheduling.schedule_in(namespace, entity, message, *rest)


@mutant(
    "LIMIT-21",
    "transactions.send",
    (create(), BEGIN, send("m", partition_key="a", size=TOO_LARGE, within="t")),
    with_other("messages"),
    also={"scheduling.schedule_in": _schedule_any},
)
def too_large_in_transaction(
    namespace: Namespace, messages: tuple[v.Message, ...]
) -> tuple[v.Message, ...]:
    """A message of any size is taken in a transaction."""
    return tuple(_of_any_size(namespace, message) for message in messages)


def _short(key: str, rule: v.RuleId, beyond: v.RuleId) -> None:
    """Take no key of more than 64 characters in the property that has this limit."""
    if rule == beyond and len(key) > 64:
        raise Refusal(v.Error.INVALID_OPERATION, rule)
    RULES.limits.check_key(key, rule)


@mutant("LIMIT-07", "limits.check_key", (create(), send("m", message_id=LONGEST)))
def short_message_ids_only(key: str, rule: v.RuleId) -> None:
    """A MessageId of more than 64 characters is refused."""
    _short(key, rule, "LIMIT-08")


@mutant("LIMIT-09", "limits.check_key", (create(), send("m", session_id=LONGEST)))
def short_session_ids_only(key: str, rule: v.RuleId) -> None:
    """A SessionId of more than 64 characters is refused."""
    _short(key, rule, "LIMIT-10")


@mutant("LIMIT-11", "limits.check_key", (create(), send("m", partition_key=LONGEST)))
def short_partition_keys_only(key: str, rule: v.RuleId) -> None:
    """A PartitionKey of more than 64 characters is refused."""
    _short(key, rule, "LIMIT-12")


def _unlimited(key: str, rule: v.RuleId, beyond: v.RuleId) -> None:
    """Take a key of any length in the property that has this limit."""
    if rule != beyond:
        RULES.limits.check_key(key, rule)


@mutant("LIMIT-08", "limits.check_key", (create(), send("m", message_id=LONG)))
def any_message_id(key: str, rule: v.RuleId) -> None:
    """A MessageId of more than 128 characters is taken."""
    _unlimited(key, rule, "LIMIT-08")


@mutant("LIMIT-10", "limits.check_key", (create(), send("m", session_id=LONG)))
def any_session_id(key: str, rule: v.RuleId) -> None:
    """A SessionId of more than 128 characters is taken."""
    _unlimited(key, rule, "LIMIT-10")


@mutant("LIMIT-12", "limits.check_key", (create(), send("m", partition_key=LONG)))
def any_partition_key(key: str, rule: v.RuleId) -> None:
    """A PartitionKey of more than 128 characters is taken."""
    _unlimited(key, rule, "LIMIT-12")


@mutant("LIMIT-13", PROPERTIES, (create(), LARGE_PROPERTY), instead_of("LIMIT-13"))
def any_property() -> None:
    """A property of more than 32 KB is taken."""


@mutant("LIMIT-14", PROPERTIES, (create(), THREE_PROPERTIES), instead_of("LIMIT-14"))
def any_properties() -> None:
    """Properties of more than 64 KB together are taken."""


@mutant("LIMIT-15", "limits.check_count", several(100))
def small_transactions_only(count: int) -> None:
    """A transaction takes 64 messages."""
    if count >= 64:
        raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-15")


@mutant("LIMIT-16", "limits.check_count", several(101))
def any_transaction() -> None:
    """A transaction takes any number of messages."""


@mutant("LIMIT-17", "limits.check_name", (create(queue="x" * 260),))
def short_names_only(name: str) -> None:
    """A name of more than 50 characters is refused."""
    if len(name) > 50:
        raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-17")


@mutant("LIMIT-18", "limits.check_name", (create(queue="x" * 261),))
def any_name() -> None:
    """A name of more than 260 characters is taken."""


@mutant("LIMIT-19", "limits.check_state", stored(62_000))
def small_states_only(state: str | None) -> None:
    """A session's state of more than 32 KB is refused."""
    if len((state or "").encode()) > 32 * KB:
        raise Refusal(v.Error.MESSAGE_TOO_LARGE, "LIMIT-19")


@mutant("LIMIT-20", "limits.check_state", stored(256 * KB + 1))
def any_state() -> None:
    """A session's state of more than 256 KB is taken."""
