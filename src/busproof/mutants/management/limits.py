"""Mutants of LIMIT: limits on lengths, sizes and counts in one request."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.limits import Limits
from busproof.model.messages import Messages
from busproof.model.rules import Namespace
from busproof.model.scheduling import Scheduling
from busproof.model.transactions import Transactions
from busproof.model.values import DIRECT, Refusal
from busproof.mutants.mutant import mutant, run
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


Several = tuple[v.Message, ...]


LARGE_IN_TRANSACTION: Final = send("m", partition_key="a", size=TOO_LARGE, within="t")


CHECK_KEY: Final = "limits.check_key"


CHECK_SIZE: Final = "limits.check_size"


def several(number: int) -> Run:
    """Return a run that sends this many messages in one transaction."""
    sent = (send(f"m{place}", partition_key="a", within="t") for place in range(number))
    return (create(), BEGIN, *sent)


def store_state(size: int) -> Run:
    """Return a run that stores a session state of this size."""
    state = v.SetSessionState(queue=QUEUE, session_id="a", state="x" * size)
    accept = v.AcceptSession(queue=QUEUE, session_id="a")
    return (create(requires_session=True), accept, state)


@mutant("LIMIT-01")
@run(create(), send("m", size=246 * KB))
class SmallMessagesOnly(Limits):
    """A message of more than 64 KB is refused."""

    @refuses("LIMIT-01", v.Error.MESSAGE_TOO_LARGE)
    def check_size(self, size: int) -> bool:
        return size > 64 * KB


@mutant("LIMIT-02", TOO_LARGE_SENT)
class AnyMessageSize(Limits):
    """A message of more than 256 KB is accepted."""

    @only_where
    def check_size(self) -> bool:
        return self.namespace.profile.tier is v.Tier.PREMIUM


@mutant("LIMIT-02", TOO_LARGE_SENT)
class TooLargeCalledFull(Limits):
    """A message that is too large is refused with the error of the quota."""

    @refuses_as(v.Error.QUOTA_EXCEEDED)
    def check_size(self) -> None:
        pass


@mutant("LIMIT-02")
@run(*TOO_LARGE_SENT, receive())
class TooLargeIsKept(Messages):
    """A message that is too large is refused, but arrives."""

    @refuses_yet(v.Error.MESSAGE_TOO_LARGE)
    def send(self, command: v.Send) -> None:
        entity = self.rules.topics.addressed(command.queue)
        self.arrive(entity, command.message, 0, DIRECT)


@mutant("LIMIT-03")
@run(REGULAR, send("m", size=995_904))
class PremiumLimitOfStandard(Limits):
    """In Premium a message of more than 256 KB is refused."""

    @refuses("LIMIT-03", v.Error.MESSAGE_TOO_LARGE)
    def check_size(self, size: int) -> bool:
        return size > 256 * KB


@mutant("LIMIT-04", (REGULAR, send("m", size=100 * KB * KB + 1)))
class AnyMessageSizeInPremium(Limits):
    """In Premium a message of any size is accepted."""

    @only_where
    def check_size(self) -> bool:
        return self.namespace.profile.tier is not v.Tier.PREMIUM


def _of_any_size(namespace: Namespace, message: v.Message) -> v.Message:
    """Return a message that skips the check of its size."""
    try:
        Limits.check_message(namespace.rules.limits, message)
    except Refusal as refusal:
        if refusal.error is v.Error.MESSAGE_TOO_LARGE:
            return attrs.evolve(message, stands_in=True)
    return message


@mutant("LIMIT-06", (create(), schedule("m", 1, size=TOO_LARGE)))
class TooLargeWhenScheduled(Scheduling):
    """A message of any size can be scheduled."""

    @asks
    def schedule(self, command: v.Schedule) -> v.Schedule:
        return attrs.evolve(command, message=_of_any_size(self.rules.namespace, command.message))


class _ScheduleAny(Scheduling):
    @with_other("message")
    def schedule_in(self, message: v.Message) -> v.Message:
        return _of_any_size(self.rules.namespace, message)


@mutant("LIMIT-21", also=(_ScheduleAny,))
@run(create(), BEGIN, LARGE_IN_TRANSACTION)
class TooLargeInTransaction(Transactions):
    """A message of any size is accepted in a transaction."""

    @with_other("messages")
    def send(self, messages: Several) -> Several:
        return tuple(_of_any_size(self.rules.namespace, message) for message in messages)


@mutant("LIMIT-07", (create(), send("m", message_id=LONGEST)))
class ShortMessageIdsOnly(Limits):
    """A MessageId of more than 64 characters is refused."""

    @refuses("LIMIT-08")
    def check_key(self, key: str, rule: v.RuleId) -> bool:
        return rule == "LIMIT-08" and len(key) > 64


@mutant("LIMIT-09", (create(), send("m", session_id=LONGEST)))
class ShortSessionIdsOnly(Limits):
    """A SessionId of more than 64 characters is refused."""

    @refuses("LIMIT-10")
    def check_key(self, key: str, rule: v.RuleId) -> bool:
        return rule == "LIMIT-10" and len(key) > 64


@mutant("LIMIT-11", (create(), send("m", partition_key=LONGEST)))
class ShortPartitionKeysOnly(Limits):
    """A PartitionKey of more than 64 characters is refused."""

    @refuses("LIMIT-12")
    def check_key(self, key: str, rule: v.RuleId) -> bool:
        return rule == "LIMIT-12" and len(key) > 64


@mutant("LIMIT-08", (create(), send("m", message_id=LONG)))
class AnyMessageId(Limits):
    """A MessageId of more than 128 characters is accepted."""

    @only_where
    def check_key(self, rule: v.RuleId) -> bool:
        return rule != "LIMIT-08"


@mutant("LIMIT-10", (create(), send("m", session_id=LONG)))
class AnySessionId(Limits):
    """A SessionId of more than 128 characters is accepted."""

    @only_where
    def check_key(self, rule: v.RuleId) -> bool:
        return rule != "LIMIT-10"


@mutant("LIMIT-12", (create(), send("m", partition_key=LONG)))
class AnyPartitionKey(Limits):
    """A PartitionKey of more than 128 characters is accepted."""

    @only_where
    def check_key(self, rule: v.RuleId) -> bool:
        return rule != "LIMIT-12"


@mutant("LIMIT-13", (create(), LARGE_PROPERTY))
class AnyProperty(Limits):
    """A property of more than 32 KB is accepted."""

    @instead_of("LIMIT-13")
    def check_properties(self) -> None:
        pass


@mutant("LIMIT-14", (create(), THREE_PROPERTIES))
class AnyProperties(Limits):
    """Properties of more than 64 KB together are accepted."""

    @instead_of("LIMIT-14")
    def check_properties(self) -> None:
        pass


@mutant("LIMIT-15", several(100))
class SmallTransactionsOnly(Limits):
    """A transaction accepts only 64 messages."""

    @refuses("LIMIT-15")
    def check_count(self, count: int) -> bool:
        return count >= 64


@mutant("LIMIT-16", several(101))
class AnyTransaction(Limits):
    """A transaction accepts any number of messages."""

    def check_count(self, count: int) -> None:
        pass


@mutant("LIMIT-17", (create(queue="x" * 260),))
class ShortNamesOnly(Limits):
    """A name of more than 50 characters is refused."""

    @refuses("LIMIT-17")
    def check_name(self, name: str) -> bool:
        return len(name) > 50


@mutant("LIMIT-18", (create(queue="x" * 261),))
class AnyName(Limits):
    """A name of more than 260 characters is accepted."""

    def check_name(self, name: str) -> None:
        pass


@mutant("LIMIT-19")
@run(*store_state(62_000))
class SmallStatesOnly(Limits):
    """A session state of more than 32 KB is refused."""

    @refuses("LIMIT-19", v.Error.MESSAGE_TOO_LARGE)
    def check_state(self, state: str | None) -> bool:
        return len((state or "").encode()) > 32 * KB


@mutant("LIMIT-20", store_state(256 * KB + 1))
class AnyState(Limits):
    """A session state of more than 256 KB is accepted."""

    def check_state(self, state: str | None) -> None:
        pass
