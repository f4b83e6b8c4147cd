"""Mutants of LIMIT: limits on lengths, sizes and counts in one request."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.rules import Namespace
from busproof.model.values import DIRECT, Refusal
from busproof.mutants.mutant import beside, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import QUEUE, Run, create, receive, schedule, send
from busproof.mutants.wrappers import (
    asks,
    instead_of,
    only_where,
    refuses,
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


Messages = tuple[v.Message, ...]


LARGE_IN_TRANSACTION: Final = send("m", partition_key="a", size=TOO_LARGE, within="t")


CHECK_KEY: Final = "limits.check_key"


CHECK_SIZE: Final = "limits.check_size"


def several(number: int) -> Run:
    """Return a run that sends this many messages in one transaction."""
    sent = (send(f"m{place}", partition_key="a", within="t") for place in range(number))
    return (create(), BEGIN, *sent)


def stored(size: int) -> Run:
    """Return a run that stores a session state of this size."""
    state = v.SetSessionState(queue=QUEUE, session_id="a", state="x" * size)
    accept = v.AcceptSession(queue=QUEUE, session_id="a")
    return (create(requires_session=True), accept, state)


@mutant("LIMIT-01", CHECK_SIZE, how=refuses("LIMIT-01", v.Error.MESSAGE_TOO_LARGE))
@run(create(), send("m", size=246 * KB))
def small_messages_only(size: int) -> bool:
    """A message of more than 64 KB is refused."""
    return size > 64 * KB


@mutant("LIMIT-02", "limits.check_size", TOO_LARGE_SENT, only_where)
def any_message_size(namespace: Namespace) -> bool:
    """A message of more than 256 KB is accepted."""
    return namespace.profile.tier is v.Tier.PREMIUM


@mutant("LIMIT-02", "limits.check_size", TOO_LARGE_SENT, refuses_as(v.Error.QUOTA_EXCEEDED))
def too_large_called_full() -> None:
    """A message that is too large is refused with the error of the quota."""


@mutant("LIMIT-02", "messages.send", how=refuses_yet(v.Error.MESSAGE_TOO_LARGE))
@run(*TOO_LARGE_SENT, receive())
def too_large_is_kept(namespace: Namespace, command: v.Send) -> None:
    """A message that is too large is refused, but arrives."""
    entity = namespace.rules.topics.addressed(command.queue)
    namespace.rules.messages.arrive(entity, command.message, 0, DIRECT)


@mutant("LIMIT-03", CHECK_SIZE, how=refuses("LIMIT-03", v.Error.MESSAGE_TOO_LARGE))
@run(REGULAR, send("m", size=995_904))
def premium_limit_of_standard(size: int) -> bool:
    """In Premium a message of more than 256 KB is refused."""
    return size > 256 * KB


@mutant("LIMIT-04", "limits.check_size", (REGULAR, send("m", size=100 * KB * KB + 1)), only_where)
def any_message_size_in_premium(namespace: Namespace) -> bool:
    """In Premium a message of any size is accepted."""
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


@beside("scheduling.schedule_in", with_other("message"))
def _schedule_any(namespace: Namespace, message: v.Message) -> v.Message:
    return _of_any_size(namespace, message)


@mutant("LIMIT-21", "transactions.send", how=with_other("messages"), also=_schedule_any)
@run(create(), BEGIN, LARGE_IN_TRANSACTION)
def too_large_in_transaction(namespace: Namespace, messages: Messages) -> Messages:
    """A message of any size is accepted in a transaction."""
    return tuple(_of_any_size(namespace, message) for message in messages)


@mutant("LIMIT-07", CHECK_KEY, (create(), send("m", message_id=LONGEST)), refuses("LIMIT-08"))
def short_message_ids_only(key: str, rule: v.RuleId) -> bool:
    """A MessageId of more than 64 characters is refused."""
    return rule == "LIMIT-08" and len(key) > 64


@mutant("LIMIT-09", CHECK_KEY, (create(), send("m", session_id=LONGEST)), refuses("LIMIT-10"))
def short_session_ids_only(key: str, rule: v.RuleId) -> bool:
    """A SessionId of more than 64 characters is refused."""
    return rule == "LIMIT-10" and len(key) > 64


@mutant("LIMIT-11", CHECK_KEY, (create(), send("m", partition_key=LONGEST)), refuses("LIMIT-12"))
def short_partition_keys_only(key: str, rule: v.RuleId) -> bool:
    """A PartitionKey of more than 64 characters is refused."""
    return rule == "LIMIT-12" and len(key) > 64


@mutant("LIMIT-08", CHECK_KEY, (create(), send("m", message_id=LONG)), only_where)
def any_message_id(rule: v.RuleId) -> bool:
    """A MessageId of more than 128 characters is accepted."""
    return rule != "LIMIT-08"


@mutant("LIMIT-10", CHECK_KEY, (create(), send("m", session_id=LONG)), only_where)
def any_session_id(rule: v.RuleId) -> bool:
    """A SessionId of more than 128 characters is accepted."""
    return rule != "LIMIT-10"


@mutant("LIMIT-12", CHECK_KEY, (create(), send("m", partition_key=LONG)), only_where)
def any_partition_key(rule: v.RuleId) -> bool:
    """A PartitionKey of more than 128 characters is accepted."""
    return rule != "LIMIT-12"


@mutant("LIMIT-13", PROPERTIES, (create(), LARGE_PROPERTY), instead_of("LIMIT-13"))
def any_property() -> None:
    """A property of more than 32 KB is accepted."""


@mutant("LIMIT-14", PROPERTIES, (create(), THREE_PROPERTIES), instead_of("LIMIT-14"))
def any_properties() -> None:
    """Properties of more than 64 KB together are accepted."""


@mutant("LIMIT-15", "limits.check_count", several(100), refuses("LIMIT-15"))
def small_transactions_only(count: int) -> bool:
    """A transaction accepts only 64 messages."""
    return count >= 64


@mutant("LIMIT-16", "limits.check_count", several(101))
def any_transaction() -> None:
    """A transaction accepts any number of messages."""


@mutant("LIMIT-17", "limits.check_name", (create(queue="x" * 260),), refuses("LIMIT-17"))
def short_names_only(name: str) -> bool:
    """A name of more than 50 characters is refused."""
    return len(name) > 50


@mutant("LIMIT-18", "limits.check_name", (create(queue="x" * 261),))
def any_name() -> None:
    """A name of more than 260 characters is accepted."""


@mutant("LIMIT-19", "limits.check_state", how=refuses("LIMIT-19", v.Error.MESSAGE_TOO_LARGE))
@run(*stored(62_000))
def small_states_only(state: str | None) -> bool:
    """A session state of more than 32 KB is refused."""
    return len((state or "").encode()) > 32 * KB


@mutant("LIMIT-20", "limits.check_state", stored(256 * KB + 1))
def any_state() -> None:
    """A session state of more than 256 KB is accepted."""
