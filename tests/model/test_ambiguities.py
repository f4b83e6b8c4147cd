"""The readings of the model are those of the register of ambiguities."""

from random import Random

import attrs
import pytest
from model_driver import Bus, catalogue, profile

from busproof import vocabulary as v
from busproof.model import HostileChoices, RandomChoices, ambiguities, ways
from busproof.model.ambiguities import (
    ActionKeys,
    DeferredExpiry,
    EmptyKey,
    ForwardLifetime,
    QuotaEntities,
    QuotaExisting,
    Reading,
    ScheduledCopies,
    Settled,
    ShortTimeout,
)

KINDS = [
    kind
    for kind in vars(ambiguities).values()
    if isinstance(kind, type) and issubclass(kind, Reading) and len(kind)
]
REGISTER = {ambiguity.id: set(ambiguity.choices) for ambiguity in catalogue().ambiguities}
UNNAMED = {
    ActionKeys: {ActionKeys.ADDED},
    DeferredExpiry: {DeferredExpiry.DEAD_LETTERED},
    ForwardLifetime: {ForwardLifetime.KEPT},
    QuotaEntities: {QuotaEntities.THOUSAND},
    QuotaExisting: {QuotaExisting.COUNTED},
    ScheduledCopies: set(ScheduledCopies),
}
"""Readings that a profile cannot name, but a bus may follow if the profile says `either`."""


def test_there_are_readings_of_both_kinds() -> None:
    assert {True, False} == {issubclass(kind, Settled) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.entry)
def test_readings_are_those_of_the_register(kind: type[Reading]) -> None:
    registered = REGISTER[kind.entry]
    left_open = {"either"} if issubclass(kind, Settled) else set()
    assert set(kind) - UNNAMED.get(kind, set()) == registered - left_open


def test_reading_of_the_profile_is_followed() -> None:
    bus = Bus(profile(EMPTY_KEY="unset"), HostileChoices(None))
    assert EmptyKey.UNSET is bus.namespace.reading(EmptyKey)
    assert {} == bus.namespace.readings


def test_settled_reading_is_chosen_once_and_open_one_never() -> None:
    bus = Bus(profile(EMPTY_KEY="either"))
    assert EmptyKey.SET is bus.namespace.reading(EmptyKey)
    assert {"EMPTY-KEY": "set"} == bus.namespace.readings
    assert ShortTimeout.MAY_FAIL is bus.namespace.reading(ShortTimeout)
    assert {"EMPTY-KEY": "set"} == bus.namespace.readings


def test_open_reading_that_the_profile_leaves_out_leaves_the_bus_free() -> None:
    bus = Bus(attrs.evolve(profile(), readings={}))
    assert ShortTimeout.MAY_FAIL is bus.namespace.reading(ShortTimeout)


def test_chosen_reading_may_come_as_text_from_a_store() -> None:
    bus = Bus(profile(EMPTY_KEY="either"))
    bus.namespace.readings["EMPTY-KEY"] = "unset"
    assert EmptyKey.UNSET is bus.namespace.reading(EmptyKey)


def test_name_of_a_class_spells_the_id() -> None:
    assert "SHORT-TIMEOUT" == ShortTimeout.entry
    assert ShortTimeout.named("neither") is None
    assert v.profile_for(catalogue()).readings.get(ShortTimeout.entry) in tuple(ShortTimeout)


def answers(bus: Bus, command: v.Command) -> set[str]:
    """Return the kinds of answers that the model can give to a command."""
    return {type(answer.outcome).__name__ for _, answer in ways(bus.namespace, command, "c1")}


def test_size_that_a_tier_lacks_may_be_replaced_by_any_other() -> None:
    bus = Bus()
    wanted = v.CreateQueue(queue="q", max_size=7)
    assert {"Done", "Refused"} == answers(bus, wanted)
    granted = [
        bus.namespace.entities["q"].settings.max_size
        for _, answer in ways(bus.namespace, wanted, "c1")
        if isinstance(answer.outcome, v.Done)
    ]
    assert [5, 4, 3, 2, 1] == granted


def test_what_premium_has_from_before_may_count() -> None:
    """QUOTA-EXISTING: beside 999 queues, one more from before may be the thousandth."""
    bus = Bus(profile(tier="premium", QUOTA_PREMIUM="per-unit"))
    bus.done(v.RestoreQueue(queue="old"))
    for number in range(999):
        bus.create(f"q{number}", partitioned=False)
    wanted = v.CreateQueue(queue="r", partitioned=False)
    assert {"Done", "Refused"} == answers(bus, wanted)


def test_dead_letter_of_a_transfer_may_be_dropped_but_not_one_of_the_queue() -> None:
    bus = Bus(profile(FORWARD_FAILED="transfer"))
    bus.create("d")
    bus.create("q", forward_to="d")
    bus.done(v.DeleteQueue(queue="d"))
    bus.send("m", queue="q")
    path = f"q{v.TRANSFERS}"
    token = bus.receive(queue=path).lock_token or ""
    letter = v.DeadLetter(queue=path, lock_token=token)
    assert {"Done", "Refused"} == answers(bus, letter)
    for _, answer in ways(bus.namespace, letter, "c1"):
        is_there = bool(bus.namespace.entities[path].messages)
        assert is_there is isinstance(answer.outcome, v.Refused)


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        (v.CloseSession(queue="s", session_id="a"), {"Done", "Refused"}),
        (v.CancelScheduled(queue="q", sequence_number=7), {"Done", "Refused"}),
        (v.Receive(queue="q", session_id="a"), {"Empty", "Refused"}),
        (v.Receive(queue="t"), {"Empty", "Refused"}),
        (v.Receive(queue=f"t{v.DEAD_LETTERS}"), {"Empty", "Refused"}),
        (v.ListSessions(queue="q"), {"SessionsListed", "Refused"}),
        (v.Send(queue="s", message=v.Message(body="m")), {"Done", "Refused"}),
        (v.TakePartitionDown(queue="none", partition=0), {"Done", "Refused"}),
    ],
)
def test_silence_of_the_documents_is_a_choice(command: v.Command, kinds: set[str]) -> None:
    bus = Bus()
    bus.create("q")
    bus.create("s", requires_session=True)
    bus.done(v.CreateTopic(topic="t"))
    assert kinds == answers(bus, command)
    assert bus.ask(command).outcome.__class__.__name__ in kinds


def test_outage_of_what_is_not_there_may_be_out_of_reach() -> None:
    """PART-05: an adapter may be unable to begin or to end one."""
    bus = Bus(profile())
    for kind in (v.TakePartitionDown, v.BringPartitionUp):
        assert {"Done", "Refused"} == answers(bus, kind(queue="none", partition=0))


OBJECTIONABLE = v.Message(body="m", session_id="a", partition_key="b")


@pytest.mark.parametrize(
    ("command", "errors"),
    [
        (v.Send(queue="q", message=v.Message(body="m")), {v.Error.ENTITY_DISABLED}),
        (
            v.Send(queue="q", message=OBJECTIONABLE),
            {v.Error.ENTITY_DISABLED, v.Error.INVALID_OPERATION},
        ),
        (
            v.SendBatch(queue="q", messages=(OBJECTIONABLE,)),
            {v.Error.ENTITY_DISABLED, v.Error.INVALID_OPERATION},
        ),
        (
            v.Schedule(queue="q", message=OBJECTIONABLE, delay=1),
            {v.Error.ENTITY_DISABLED, v.Error.INVALID_OPERATION},
        ),
        (
            v.Send(queue="q", message=OBJECTIONABLE, transaction="x"),
            {v.Error.ENTITY_DISABLED, v.Error.INVALID_OPERATION},
        ),
    ],
)
def test_disabled_entity_refuses_what_is_sent_for_any_reason_there_is(
    command: v.Command, errors: set[v.Error]
) -> None:
    """MGMT-26: which of several reasons is named, the documents do not say."""
    bus = Bus(profile(TXN_REFUSAL="at-send"))
    bus.create("q", partitioned=True)
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.UpdateQueue(queue="q", status=v.EntityStatus.SEND_DISABLED))
    found = {answer.refused for _, answer in ways(bus.namespace, command, "c1")}
    assert errors == {refused and refused.error for refused in found}


def test_scheduled_message_may_be_cancelled_at_a_disabled_entity() -> None:
    """MGMT-26: it is said what such an entity takes, and not what it gives back."""
    bus = Bus()
    bus.create("q")
    planned = bus.done(v.Schedule(queue="q", message=v.Message(body="m"), delay=1))
    assert isinstance(planned, v.Scheduled)
    bus.done(v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    cancel = v.CancelScheduled(queue="q", sequence_number=planned.sequence_number or 0)
    assert {"Done", "Refused"} == answers(bus, cancel)


DEAD = f"q{v.DEAD_LETTERS}"
ONE_LOCK = v.Complete(queue="q", lock_token="1/1")


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        (v.Receive(queue="q"), set()),
        (v.Receive(queue=DEAD), {"Empty"}),
        (v.ReceiveBatch(queue=DEAD, count=2), {"Empty"}),
        (v.DeleteBatch(queue=DEAD, count=2), {"Deleted"}),
        (v.DeleteBatch(queue="q", count=2), {"Deleted"}),
        (v.ReceiveDeferred(queue="q", sequence_numbers=(2,)), {"ReceivedSeveral"}),
        (v.Peek(queue="q"), {"Peeked"}),
        (ONE_LOCK, {"Done"}),
        (attrs.evolve(ONE_LOCK, transaction="x"), {"Done"}),
        (v.CommitTransaction(transaction="y"), {"Done"}),
        (v.RenewLock(queue="q", lock_token="1/1"), {"Renewed"}),
        (v.RenewLocks(queue="q", lock_tokens=("1/1",)), {"RenewedSeveral"}),
        (
            v.SettleBatch(queue="q", lock_tokens=("1/1",), disposition=v.Disposition.ABANDON),
            {"Done"},
        ),
    ],
)
def test_disabled_entity_may_refuse_all_and_must_refuse_only_to_give_its_messages(
    command: v.Command, kinds: set[str]
) -> None:
    """MGMT-27: a dead-letter queue has no status, and of other requests nothing is said."""
    bus = Bus(profile())
    bus.create("q", partitioned=False)
    for body in "abcd":
        bus.send(body)
    bus.receive()
    bus.done(v.Defer(queue="q", lock_token=bus.receive().lock_token or ""))
    for name in "xy":
        bus.done(v.BeginTransaction(transaction=name))
    third = bus.receive().lock_token or ""
    bus.done(v.Complete(queue="q", lock_token=third, transaction="y"))
    bus.done(v.UpdateQueue(queue="q", status=v.EntityStatus.RECEIVE_DISABLED))
    assert {"Refused", *kinds} == answers(bus, command)


@pytest.mark.parametrize("times", [0, 2])
def test_request_for_no_lock_or_for_one_twice_may_be_refused(times: int) -> None:
    """LOCK-16: the documents speak of several locks."""
    bus = Bus()
    bus.create("q")
    bus.send("m")
    tokens = times * (bus.receive().lock_token or "",)
    assert {"RenewedSeveral", "Refused"} == answers(
        bus, v.RenewLocks(queue="q", lock_tokens=tokens)
    )


def test_deferred_and_scheduled_messages_may_be_deleted_with_others() -> None:
    """BATCH-15: only of locked messages it is said that they stay (BATCH-16)."""
    bus = Bus()
    bus.create("q", partitioned=False)
    for body in ("available", "deferred", "locked"):
        bus.send(body)
    bus.receive()
    bus.done(v.Defer(queue="q", lock_token=bus.receive().lock_token or ""))
    bus.receive()
    bus.done(v.Abandon(queue="q", lock_token="1/1"))
    bus.done(v.Schedule(queue="q", message=v.Message(body="scheduled"), delay=1))
    queue = bus.namespace.entities["q"]
    left = {
        frozenset(one.message.body for one in (*queue.messages.values(), *queue.scheduled.values()))
        for _, answer in ways(bus.namespace, v.DeleteBatch(queue="q", count=3), "c1")
        if answer.outcome == v.Deleted(count=3)
    }
    assert {frozenset({"locked"})} == left
    bus.done(v.DeleteBatch(queue="q", count=3))
    kept = {one.message.body for one in queue.messages.values()}
    assert ({"deferred", "locked"}, 1) == (kept, len(queue.scheduled))


def test_messages_of_sessions_may_be_deleted() -> None:
    """BATCH-15: of an entity that requires sessions nothing is said."""
    bus = Bus()
    bus.create("s", partitioned=False, requires_session=True)
    bus.send("m", queue="s", session_id="a")
    deletion = v.DeleteBatch(queue="s", count=5)
    found = {answer.outcome for _, answer in ways(bus.namespace, deletion, "c1")}
    refused = v.Refused(error=v.Error.INVALID_OPERATION)
    assert {v.Deleted(count=0), v.Deleted(count=1), refused} == found


def test_subscription_describes_no_size_which_is_its_topics() -> None:
    """MGMT-11, TOPIC-24: a topic has a size, and shares it with its subscriptions."""
    bus = Bus()
    bus.done(v.CreateTopic(topic="t"))
    bus.done(v.CreateSubscription(topic="t", subscription="s"))
    bus.create("q", partitioned=False)
    for path, size in ((v.subscription_path("t", "s"), None), ("q", 1)):
        told = bus.done(v.GetQueue(queue=path))
        assert isinstance(told, v.Described)
        assert size == told.description.max_size


def test_regular_entity_that_detects_duplicates_may_refuse_a_message_without_id() -> None:
    """DUP-12: it is said of partitioned entities, and of regular ones nothing is."""
    bus = Bus(profile())
    bus.create("q", partitioned=False, duplicate_detection=True)
    sent = v.Send(queue="q", message=v.Message(body="m"))
    assert {"Done", "Refused"} == answers(bus, sent)


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        (v.Peek(queue="s"), {"Peeked", "Refused"}),
        (v.ListSessions(queue="s"), {"SessionsListed", "Refused"}),
    ],
)
def test_peeks_and_lists_in_an_outage_may_be_refused(command: v.Command, kinds: set[str]) -> None:
    bus = Bus()
    bus.create("s", requires_session=True)
    bus.done(v.TakePartitionDown(queue="s", partition=0))
    assert kinds == answers(bus, command)


def test_random_policies_leave_gaps_in_sequence_numbers_unless_the_profile_forbids_it() -> None:
    for reading, gaps in (("either", True), ("gap-free", False)):
        bus = Bus(profile(partitions=1, SEQUENCE_GAPS=reading), RandomChoices(Random(1)))
        bus.create("q", partitioned=False)
        for number in range(60):
            bus.send(f"m{number}")
        numbers = sorted(bus.namespace.entities["q"].messages)
        assert gaps is (numbers[-1] > 60)


@pytest.mark.parametrize(
    ("edition", "tier", "command", "kinds"),
    [
        ("de-2021-04", "standard", v.CreateQueue(queue="n", max_size=7), {"Done", "Refused"}),
        (
            "de-2021-04",
            "standard",
            v.CreateQueue(queue="n", partitioned=True, api_version="2020-01"),
            {"Done", "Refused"},
        ),
        (
            "cs-2020-12",
            "standard",
            v.CreateQueue(queue="n", partitioned=True, api_version="2020-01"),
            {"Done"},
        ),
    ],
)
def test_edition_that_does_not_state_a_rule_leaves_the_bus_free(
    edition: str, tier: str, command: v.Command, kinds: set[str]
) -> None:
    assert kinds == answers(Bus(profile(edition=edition, tier=tier)), command)


def test_rule_change_in_a_transaction_is_free_where_the_edition_is_silent() -> None:
    for edition, kinds in (("de-2021-04", {"Done", "Refused"}), ("cs-2020-12", {"Refused"})):
        bus = Bus(profile(edition=edition, RULE_IN_TRANSACTION="refused"))
        bus.done(v.CreateTopic(topic="t", partitioned=True))
        bus.done(v.CreateSubscription(topic="t", subscription="s"))
        bus.done(v.BeginTransaction(transaction="x"))
        added = v.AddRule(
            topic="t", subscription="s", rule="r", filter=v.TrueFilter(), transaction="x"
        )
        assert kinds == answers(bus, added)


def test_order_of_a_key_is_free_where_the_edition_is_silent() -> None:
    for edition, bodies in (("fr-2016-09", {"m0", "m1"}), ("cs-2020-12", {"m0"})):
        bus = Bus(profile(edition=edition))
        bus.create()
        for number in range(2):
            bus.send(f"m{number}", partition_key="a")
        received = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
        given = (answer.outcome.message.body for _, answer in ways(bus.namespace, received, "c1"))
        assert bodies == set(given)
