"""Topics, forwarding, management, sessions, transactions, quotas, Premium and Basic."""

from random import Random
from typing import Any

import pytest
from model_driver import DEFAULT_PROFILE, SECOND, Bus, Commands, profile

from busproof import vocabulary as v
from busproof.model import new_namespace, step, ways
from busproof.model.choices import RoundRobin
from busproof.model.life_cycle import LIFE_CYCLE
from busproof.model.step import HANDLERS

DELETE = v.ReceiveMode.RECEIVE_AND_DELETE


@pytest.fixture
def bus() -> Bus:
    return Bus()


def topic(bus: Bus, **settings: Any) -> str:
    """A topic with one subscription; the path of that."""
    bus.done(v.CreateTopic(topic="t"))
    bus.done(v.CreateSubscription(topic="t", subscription="a", **settings))
    return "t/subscriptions/a"


def test_every_command_has_a_handler() -> None:
    kinds = set(v.Command.__args__) - {v.AdvanceClock}  # type: ignore[attr-defined]
    assert kinds == set(HANDLERS)


def test_life_cycle_names_each_transition_once() -> None:
    assert 19 == len(LIFE_CYCLE)


def test_rules_with_actions_make_copies_of_their_own(bus: Bus) -> None:
    path = topic(bus)
    named = {"topic": "t", "subscription": "a"}
    bus.done(v.AddRule(**named, rule="red", filter=v.TrueFilter(), action="SET colour = 'red'"))
    bus.send("m", queue="t")
    copies = [bus.receive(path), bus.receive(path)]
    assert [{}, {"colour": "red", "RuleName": "red"}] == [dict(each.properties) for each in copies]


@pytest.mark.parametrize(
    ("rule", "wanted", "action"),
    [
        ("r" * 51, v.TrueFilter(), None),
        ("r", v.SqlFilter(expression="colour ="), None),
        ("r", v.TrueFilter(), "SET"),
        ("r", v.TrueFilter(), "SET sys.SessionId = 'a'"),
    ],
)
def test_rule_that_is_wrong_is_refused(
    bus: Bus, rule: str, wanted: v.Filter, action: str | None
) -> None:
    topic(bus)
    command = v.AddRule(topic="t", subscription="a", rule=rule, filter=wanted, action=action)
    assert v.Error.INVALID_OPERATION is bus.refused(command)


def test_rule_of_a_regular_topic_changes_with_the_commit(bus: Bus) -> None:
    bus.done(v.CreateTopic(topic="t", partitioned=False))
    bus.done(v.CreateSubscription(topic="t", subscription="a"))
    named = {"topic": "t", "subscription": "a", "transaction": "x"}
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.AddRule(**named, rule="one", filter=v.FalseFilter()))
    bus.done(v.AddRule(**named, rule="one", filter=v.FalseFilter()))
    listed = v.ListRules(topic="t", subscription="a")
    assert 1 == len(bus.done(listed).rules)  # type: ignore[union-attr]
    bus.done(v.CommitTransaction(transaction="x"))
    assert 2 == len(bus.done(listed).rules)  # type: ignore[union-attr]


def test_message_is_forwarded_four_times_in_a_row(bus: Bus) -> None:
    bus.create("q5")
    for number in (4, 3, 2, 1):
        bus.create(f"q{number}", forward_to=f"q{number + 1}")
    bus.create("q0", forward_to="q1")
    bus.send("near", queue="q1")
    bus.send("far", queue="q0")
    assert ["near"] == bus.bodies("q5")
    assert "MaxTransferHopCountExceeded" == bus.receive("q4" + v.TRANSFERS).dead_letter_reason


@pytest.mark.parametrize(
    ("reading", "suffix"), [("transfer", v.TRANSFERS), ("dead-letter", v.DEAD_LETTERS)]
)
def test_message_whose_destination_is_gone_is_kept_as_read(reading: str, suffix: str) -> None:
    bus = Bus(profile(FORWARD_FAILED=reading))
    bus.create("r")
    bus.create("q", forward_to="r")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.DISABLED))
    bus.send("m1")
    bus.done(v.DeleteQueue(queue="r"))
    bus.send("m2")
    reasons = [bus.receive("q" + suffix).dead_letter_reason for _ in range(2)]
    assert {"DestinationDisabled", "DestinationNotFound"} == set(reasons)


def test_forwarded_message_goes_where_there_is_room(bus: Bus) -> None:
    bus.create("r")
    bus.create("q", forward_to="r")
    for number in range(3):
        bus.send(f"m{number}", size=2**30, stands_in=True)
    bus.send("m4", size=1)
    bus.send("m5", size=1, session_id="a")
    assert 2 == len(bus.namespace.entities["q" + v.TRANSFERS].messages)
    bus.bodies("r")
    bus.send("large", queue="r", size=2**30, stands_in=True)
    for number in range(3):
        bus.send(f"n{number}", size=1)
    assert 4 == len(bus.bodies("r"))


def test_forwarded_message_waits_for_a_partition_that_is_down(bus: Bus) -> None:
    bus.create("r")
    bus.create("q", forward_to="r")
    for number in range(3):
        bus.down(number, "r")
    bus.send("m")
    assert [] == bus.bodies("r")
    for number in range(3):
        bus.up(number, "r")
    assert ["m"] == bus.bodies("r")


def test_message_id_pins_a_forwarded_message_if_so_read() -> None:
    bus = Bus(profile(FORWARD_MESSAGE_ID="key"))
    bus.create("r")
    bus.create("q", duplicate_detection=True, duplicate_window=20 * SECOND, forward_to="r")
    for number in range(3):
        bus.send(f"m{number}", message_id="i")
        bus.wait(21)
    bus.send("n")
    held = bus.namespace.entities["r"].messages.values()
    assert 1 == len({each.partition for each in held if each.message.message_id == "i"})


def test_dead_letters_that_forward_in_a_circle_stay_in_the_end(bus: Bus) -> None:
    bus.create("q", requires_session=True)
    bus.create("d", forward_dead_letters_to="q", max_delivery_count=1)
    bus.done(v.DeleteQueue(queue="q"))
    bus.create("q", requires_session=True, forward_dead_letters_to="d")
    bus.done(v.DeleteQueue(queue="d"))
    bus.create("d", requires_session=True, forward_dead_letters_to="q")
    bus.create("s", forward_to="d")
    bus.send("m", queue="s")
    assert [1] == [
        len(each.messages)
        for each in bus.namespace.entities.values()
        if each.path.endswith(v.DEAD_LETTERS) and each.messages
    ]


def test_queue_that_requires_sessions_does_not_forward(bus: Bus) -> None:
    bus.create("r")
    command = v.CreateQueue(queue="q", requires_session=True, forward_to="r")
    assert v.Error.INVALID_OPERATION is bus.refused(command)
    bus.create("q", requires_session=True)
    assert v.Error.INVALID_OPERATION is bus.refused(v.UpdateQueue(queue="q", forward_to="r"))


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (v.CreateQueue(queue="q"), v.Error.ALREADY_EXISTS),
        (v.CreateQueue(queue="x" * 261), v.Error.INVALID_OPERATION),
        (v.CreateQueue(queue="x" + v.DEAD_LETTERS), v.Error.INVALID_OPERATION),
        (v.RestoreQueue(queue="q"), v.Error.ALREADY_EXISTS),
        (v.GetQueue(queue="q" + v.DEAD_LETTERS), v.Error.INVALID_OPERATION),
        (v.GetQueue(queue="t"), v.Error.INVALID_OPERATION),
        (v.GetTopic(topic="q"), v.Error.INVALID_OPERATION),
        (v.UpdateQueue(queue="q", partitioned=False), v.Error.INVALID_OPERATION),
        (v.UpdateTopic(topic="t", duplicate_detection=True), v.Error.INVALID_OPERATION),
        (
            v.UpdateTopic(topic="t", status=v.EntityStatus.RECEIVE_DISABLED),
            v.Error.INVALID_OPERATION,
        ),
        (
            v.UpdateQueue(queue="t/subscriptions/a", status=v.EntityStatus.SEND_DISABLED),
            v.Error.INVALID_OPERATION,
        ),
        (v.CreateSubscription(topic="q", subscription="a"), v.Error.NOT_FOUND),
        (v.CreateSubscription(topic="t", subscription="A"), v.Error.ALREADY_EXISTS),
        (v.CreateSubscription(topic="t", subscription="a" * 51), v.Error.INVALID_OPERATION),
        (v.Peek(queue="t/$deadletterqueue"), v.Error.INVALID_OPERATION),
        (v.TakePartitionDown(queue="t/subscriptions/a", partition=0), v.Error.INVALID_OPERATION),
        (v.TakePartitionDown(queue="q", partition=3), v.Error.NOT_FOUND),
        (v.BeginTransaction(transaction="x"), v.Error.ALREADY_EXISTS),
        (v.RollBackTransaction(transaction="y"), v.Error.NOT_FOUND),
        (v.AcceptSession(queue="q", session_id="a"), v.Error.INVALID_OPERATION),
        (v.Receive(queue="q", session_id="a"), v.Error.INVALID_OPERATION),
    ],
)
def test_command_is_refused_with_its_error(bus: Bus, command: v.Command, error: v.Error) -> None:
    bus.create()
    topic(bus)
    bus.done(v.BeginTransaction(transaction="x"))
    assert error is bus.refused(command)


def test_topic_and_subscriptions_are_described_listed_and_deleted(bus: Bus) -> None:
    path = topic(bus)
    found = bus.done(v.GetTopic(topic="t"))
    assert isinstance(found, v.TopicDescribed)
    assert 1 == found.description.subscription_count
    bus.done(v.UpdateTopic(topic="t", time_to_live=SECOND))
    bus.send("m", queue="t")
    bus.wait(1)
    assert [] == bus.bodies(path)
    bus.done(v.DeleteQueue(queue=path))
    assert v.Listed() == bus.done(v.ListSubscriptions(topic="t"))
    topic_again = v.CreateSubscription(topic="t", subscription="a")
    bus.done(topic_again)
    bus.done(v.DeleteTopic(topic="t"))
    assert v.Error.NOT_FOUND is bus.refused(v.GetQueue(queue=path))
    assert v.Listed() == bus.done(v.ListTopics())


def test_disabled_subscription_misses_copies_if_so_read() -> None:
    bus = Bus(profile(DISABLED_COPIES="missed"))
    path = topic(bus)
    bus.done(v.UpdateQueue(queue=path, status=v.EntityStatus.DISABLED))
    bus.send("m", queue="t")
    bus.done(v.UpdateQueue(queue=path, status=v.EntityStatus.ACTIVE))
    assert [] == bus.bodies(path)


@pytest.mark.parametrize(("reading", "count"), [("left-out", 2), ("counted", 3), ("refused", None)])
def test_counts_in_an_outage_are_as_read(reading: str, count: int | None) -> None:
    named = {} if reading == "counted" else {"COUNTS_IN_OUTAGE": reading}
    bus = Bus(profile(**named))
    bus.create()
    for number in range(3):
        bus.send(f"m{number}")
    bus.down(0)
    outcomes = [answer.outcome for _, answer in ways(bus.namespace, v.GetQueue(queue="q"), "c1")]
    counts = {
        each.description.message_count if isinstance(each, v.Described) else None
        for each in outcomes
    }
    assert count in counts


def test_state_of_a_session_outlives_its_holder_and_is_limited(bus: Bus) -> None:
    bus.create("s", requires_session=True)
    mine = {"queue": "s", "session_id": "a"}
    bus.done(v.AcceptSession(**mine))
    bus.done(v.SetSessionState(**mine, state="kept"))
    large = v.SetSessionState(**mine, state="x" * 257 * 1024)
    assert v.Error.MESSAGE_TOO_LARGE is bus.refused(large)
    bus.done(v.SetSessionState(**mine, state="x" * 100 * 1024))
    bus.done(v.SetSessionState(**mine, state="kept"))
    bus.done(v.CloseSession(**mine))
    assert v.SessionsListed(session_ids=("a",)) == bus.done(v.ListSessions(queue="s"))
    bus.done(v.AcceptSession(**mine), "c2")
    assert v.SessionState(state="kept") == bus.done(v.GetSessionState(**mine), "c2")
    assert v.Error.SESSION_CANNOT_BE_LOCKED is bus.refused(v.AcceptSession(**mine))
    assert isinstance(bus.done(v.RenewSessionLock(**mine), "c2"), v.Renewed)


def test_messages_of_a_session_come_back_when_it_is_closed_or_ends(bus: Bus) -> None:
    bus.create("s", requires_session=True, max_delivery_count=2)
    for body in ("m1", "m2"):
        bus.send(body, queue="s", session_id="a")
    bus.done(v.AcceptNextSession(queue="s"))
    bus.receive("s", session_id="a")
    bus.done(v.CloseSession(queue="s", session_id="a"))
    for count in (1, 2):
        bus.done(v.AcceptSession(queue="s", session_id="a"))
        given = bus.receive("s", session_id="a")
        assert ("m1", count) == (given.body, given.delivery_count)
        bus.wait(60)
    bus.done(v.AcceptNextSession(queue="s"))
    bus.done(v.AcceptSession(queue="s", session_id="a"))
    assert "m2" == bus.receive("s", session_id="a").body


def test_next_session_in_an_outage_may_be_found_or_not(bus: Bus) -> None:
    bus.create("s", requires_session=True)
    for number in range(5):
        bus.send("m", queue="s", session_id=f"s{number}")
    bus.down(0, "s")
    found = {
        type(answer.outcome)
        for _, answer in ways(bus.namespace, v.AcceptNextSession(queue="s"), "c1")
    }
    assert {v.SessionAccepted, v.Empty, v.Refused} == found


def test_transaction_holds_locks_if_so_read() -> None:
    bus = Bus(profile(LOCK_IN_TRANSACTION="lasts"))
    bus.create(lock_duration=SECOND)
    bus.send("m")
    given = bus.receive()
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Complete(queue="q", lock_token=given.lock_token or "", transaction="x"))
    bus.wait(2)
    assert [] == bus.bodies()
    bus.done(v.RollBackTransaction(transaction="x"))
    assert ["m"] == bus.bodies()


def test_settlement_with_a_lost_lock_is_refused_by_the_commit_if_so_read() -> None:
    bus = Bus(profile(SETTLEMENT_REFUSAL="at-commit"))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.DeadLetter(queue="q", lock_token="none", transaction="x"))
    bus.done(v.Complete(queue="q", lock_token="1/1", transaction="x"))
    assert v.Error.LOCK_LOST is bus.refused(v.CommitTransaction(transaction="x"))


def test_settlement_on_another_queue_agrees_with_every_send() -> None:
    bus = Bus(profile(TXN_OTHER_OPERATIONS="all"))
    for queue in ("q", "r"):
        bus.create(queue)
    bus.send("old", "r", partition_key="b")
    given = bus.receive("r")
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Send(queue="q", message=v.Message(body="m", partition_key="a"), transaction="x"))
    settled = v.Complete(queue="r", lock_token=given.lock_token or "", transaction="x")
    bus.done(settled)
    bus.done(v.CommitTransaction(transaction="x"))
    assert ["m"] == bus.bodies()
    assert [] == bus.bodies("r")


def test_commit_of_a_dead_transaction_is_refused() -> None:
    bus = Bus(profile(TXN_REFUSAL="at-commit"))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    for key in ("a", "b"):
        message = v.Message(body=key, partition_key=key)
        bus.done(v.Send(queue="q", message=message, transaction="x"))
    assert v.Error.INVALID_OPERATION is bus.refused(v.CommitTransaction(transaction="x"))
    assert [] == bus.bodies()


def test_message_lives_from_its_send_in_a_transaction_if_so_read() -> None:
    bus = Bus(profile(LIFETIME_IN_TRANSACTION="send"))
    bus.create(time_to_live=5 * SECOND)
    bus.done(v.BeginTransaction(transaction="x"))
    message = v.Message(body="m", partition_key="k")
    bus.done(v.Send(queue="q", message=message, transaction="x"))
    bus.wait(6)
    bus.done(v.CommitTransaction(transaction="x"))
    assert [] == bus.bodies()


def test_commit_is_refused_whose_queue_is_gone_down_or_full(bus: Bus) -> None:
    bus.create()
    message = v.Message(body="m", partition_key="k", size=10)
    for name in ("gone", "down", "full"):
        bus.done(v.BeginTransaction(transaction=name))
        partition = bus.ask(v.Send(queue="q", message=message, transaction=name)).partition or 0
    bus.down(partition)
    assert v.Error.UNAVAILABLE is bus.refused(v.CommitTransaction(transaction="down"))
    bus.up(partition)
    bus.send("large", partition_key="k", size=2**30, stands_in=True)
    assert v.Error.QUOTA_EXCEEDED is bus.refused(v.CommitTransaction(transaction="full"))
    bus.done(v.DeleteQueue(queue="q"))
    assert v.Error.NOT_FOUND is bus.refused(v.CommitTransaction(transaction="gone"))


@pytest.mark.parametrize(("reading", "error"), [("one-key", None), ("two-keys", "refused")])
def test_one_value_in_two_properties_is_one_key_or_two(reading: str, error: str | None) -> None:
    bus = Bus(profile(KEY_PROPERTIES=reading))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Send(queue="q", message=v.Message(body="m", session_id="a"), transaction="x"))
    other = v.Send(queue="q", message=v.Message(body="n", partition_key="a"), transaction="x")
    assert (error is not None) is isinstance(bus.ask(other).outcome, v.Refused)


def test_hundred_partitioned_entities_are_the_most(bus: Bus) -> None:
    for number in range(100):
        bus.create(f"q{number}")
    assert v.Error.QUOTA_EXCEEDED is bus.refused(v.CreateQueue(queue="one more"))
    bus.create("regular", partitioned=False)
    topics = [answer.outcome for _, answer in ways(bus.namespace, v.CreateTopic(topic="t"), "c1")]
    assert {v.Done, v.Refused} == {type(outcome) for outcome in topics}


@pytest.mark.parametrize(
    ("readings", "subscription", "queue"),
    [({}, True, False), ({"QUOTA_SUBSCRIPTIONS": "counted"}, False, False)],
)
def test_ten_thousand_entities_are_the_most(
    readings: dict[str, str], *, subscription: bool, queue: bool
) -> None:
    bus = Bus(profile(**readings))
    bus.done(v.CreateTopic(topic="t"))
    bus.namespace.counts.regular = 9_999
    made = bus.ask(v.CreateSubscription(topic="t", subscription="a")).outcome
    assert subscription is (made == v.Done())
    assert queue is (bus.ask(v.CreateQueue(queue="q", partitioned=False)).outcome == v.Done())


def test_each_partition_counts_if_so_read() -> None:
    bus = Bus(profile(QUOTA_WEIGHT="per-partition"))
    bus.namespace.counts.stores = 9_998
    assert v.Error.QUOTA_EXCEEDED is bus.refused(v.CreateQueue(queue="q"))


@pytest.mark.parametrize(
    ("reading", "refusals"), [("ten-thousand", {False}), ("either", {False, True})]
)
def test_a_namespace_may_take_1000_entities_and_no_more_if_so_read(
    reading: str, refusals: set[bool]
) -> None:
    """QUOTA-ENTITIES: the page on quotas gives both numbers; each answer is reachable."""
    bus = Bus(profile(QUOTA_ENTITIES=reading))
    bus.namespace.counts.regular = 1_000
    asked = v.CreateQueue(queue="q", partitioned=False)
    answers = [answer.outcome for _, answer in ways(bus.namespace, asked, "c1")]
    assert refusals == {isinstance(outcome, v.Refused) for outcome in answers}


def test_premium_counts_regular_entities_if_so_read() -> None:
    bus = Bus(profile(tier="premium", QUOTA_PREMIUM="counting"))
    bus.namespace.counts.regular = 10_000
    command = v.CreateQueue(queue="q", partitioned=False)
    assert v.Error.QUOTA_EXCEEDED is bus.refused(command)


@pytest.mark.parametrize(
    ("held_to", "asked", "partitioned"),
    [
        ({"PARTITIONING_DEFAULT": "partitioned"}, None, True),
        ({"tier": "basic", "BASIC_REGULAR": "never"}, False, True),
        ({"tier": "premium", "PREMIUM_CHECKBOX": "no-effect"}, True, False),
        ({"tier": "premium", "PREMIUM_CHECKBOX": "always-on"}, False, True),
        ({"tier": "premium", "edition": "fr-2016-09", "PREMIUM_OLDEST": "supported"}, True, True),
    ],
)
def test_entity_is_partitioned_as_its_tier_says(
    held_to: dict[str, str], asked: bool | None, partitioned: bool
) -> None:
    bus = Bus(profile(**held_to))  # type: ignore[arg-type]
    bus.create(partitioned=asked)
    assert partitioned is bus.namespace.entities["q"].settings.partitioned


def test_old_api_version_may_refuse_ignore_or_know_the_option(bus: Bus) -> None:
    command = v.CreateQueue(queue="q", api_version="2012-01")
    found = set()
    for _, answer in ways(bus.namespace, command, "c1"):
        queue = bus.namespace.entities.get("q")
        found.add((type(answer.outcome), queue and queue.settings.partitioned))
    assert {(v.Refused, None), (v.Done, False), (v.Done, True)} == found


@pytest.mark.parametrize("version", ["2013-9", "2014-13", "abc", "v2014-01", "2014-01 "])
def test_malformed_api_version_may_be_refused_ignored_or_heeded(bus: Bus, version: str) -> None:
    command = v.CreateQueue(queue="q", api_version=version)
    found = set()
    for _, answer in ways(bus.namespace, command, "c1"):
        queue = bus.namespace.entities.get("q")
        found.add((type(answer.outcome), queue and queue.settings.partitioned))
    assert {(v.Refused, None), (v.Done, False), (v.Done, True)} == found


@pytest.mark.parametrize("tier", ["standard", "premium"])
@pytest.mark.parametrize("partitioned", [True, False, None])
def test_malformed_api_version_is_refused_where_it_is_read_so(
    tier: str, partitioned: bool | None
) -> None:
    bus = Bus(profile(tier=tier, API_VERSION_FORM="refused"))
    command = v.CreateQueue(queue="q", api_version="2014-1", partitioned=partitioned)
    assert v.Error.INVALID_OPERATION is bus.refused(command)


@pytest.mark.parametrize("version", ["2013-10", "2013-11", "2021-05"])
def test_later_api_version_knows_the_option(bus: Bus, version: str) -> None:
    bus.create(api_version=version)
    assert bus.namespace.entities["q"].settings.partitioned


def test_restored_queue_is_partitioned_in_premium() -> None:
    bus = Bus(profile(tier="premium"))
    bus.done(v.RestoreQueue(queue="q"))
    bus.create("r")
    assert [3, 1] == [len(bus.namespace.entities[path].partitions) for path in "qr"]


def test_basic_refuses_features_if_so_read() -> None:
    bus = Bus(profile(tier="basic", BASIC_FEATURES="refused"))
    assert v.Error.INVALID_OPERATION is bus.refused(v.CreateTopic(topic="t"))


def test_management_fails_in_an_outage_if_so_read() -> None:
    bus = Bus(profile(MANAGEMENT_IN_OUTAGE="fails"))
    bus.down(1)
    assert v.Error.UNAVAILABLE is bus.refused(v.CreateQueue(queue="q"))
    bus.up(1)
    bus.create()


def test_partitions_count_the_messages_of_their_entity() -> None:
    random = Random(3)
    namespace = new_namespace(DEFAULT_PROFILE)
    commands = Commands(random, namespace)
    for command in commands.setup():
        step(namespace, command, "c1", RoundRobin())
    for _ in range(3_000):
        command, connection = commands.any()
        step(namespace, command, connection, RoundRobin())
    for entity in namespace.entities.values():
        assert len(entity.messages) == sum(each.messages for each in entity.partitions)


def test_rule_of_a_partitioned_topic_changes_outside_of_transactions_if_so_read() -> None:
    bus = Bus(profile(RULE_IN_TRANSACTION="ignored"))
    topic(bus)
    bus.done(v.BeginTransaction(transaction="x"))
    named = {"topic": "t", "subscription": "a"}
    bus.done(v.AddRule(**named, rule="one", filter=v.FalseFilter(), transaction="x"))
    bus.done(v.RollBackTransaction(transaction="x"))
    assert 2 == len(bus.done(v.ListRules(**named)).rules)  # type: ignore[union-attr]
    refusing = Bus()
    topic(refusing)
    refusing.done(v.BeginTransaction(transaction="x"))
    change = v.RemoveRule(**named, rule="$Default", transaction="x")
    assert v.Error.INVALID_OPERATION is refusing.refused(change)


@pytest.mark.parametrize(("reading", "partitions"), [("when-scheduled", 2), ("when-due", 3)])
def test_partition_of_a_scheduled_message_is_chosen_as_read(reading: str, partitions: int) -> None:
    bus = Bus(profile(SCHEDULE_PLACE=reading))
    bus.create()
    bus.down(0)
    places = set()
    for number in range(6):
        message = v.Message(body=f"m{number}", size=1)
        places.add(bus.ask(v.Schedule(queue="q", message=message, delay=SECOND)).partition)
    assert partitions == len(places)
    keyed = [v.Message(body="k", partition_key=f"k{number}") for number in range(9)]
    outcomes = {
        type(bus.ask(v.Schedule(queue="q", message=each, delay=SECOND)).outcome) for each in keyed
    }
    assert (reading == "when-scheduled") is (v.Refused in outcomes)
    bus.wait(1)
    bus.up(0)
    assert {f"m{number}" for number in range(6)} <= set(bus.bodies())


def test_other_operations_need_the_key_of_the_transaction_if_so_read() -> None:
    bus = Bus(profile(TXN_OTHER_OPERATIONS="all"))
    bus.create("q")
    bus.create("r")
    bus.send("m", partition_key="b")
    bus.send("n", partition_key="a")
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.Send(queue="q", message=v.Message(body="o", partition_key="a"), transaction="x"))
    outcomes = []
    for _ in range(2):
        given = bus.receive()
        complete = v.Complete(queue="q", lock_token=given.lock_token or "", transaction="x")
        outcomes.append((given.body, type(bus.ask(complete).outcome)))
    assert {("m", v.Refused), ("n", v.Done)} == set(outcomes)
    for queue, key, kind in (("q", "a", v.Scheduled), ("q", "b", v.Refused), ("r", "a", v.Refused)):
        message = v.Message(body="p", partition_key=key)
        later = v.Schedule(queue=queue, message=message, delay=SECOND, transaction="x")
        assert isinstance(bus.ask(later).outcome, kind)


@pytest.mark.parametrize(
    ("reading", "kind"), [("always", v.Done), ("with-duplicate-detection", v.Refused)]
)
def test_message_id_is_a_key_in_transactions_as_read(reading: str, kind: type) -> None:
    bus = Bus(profile(TXN_MESSAGE_ID=reading))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    command = v.Send(queue="q", message=v.Message(body="m", message_id="i"), transaction="x")
    assert isinstance(bus.ask(command).outcome, kind)


def test_second_entity_in_a_transaction_is_refused_if_so_read() -> None:
    bus = Bus(profile(TXN_ENTITIES="refused"))
    bus.create("q")
    bus.create("r")
    bus.done(v.BeginTransaction(transaction="x"))
    message = v.Message(body="m", partition_key="a")
    bus.done(v.Send(queue="q", message=message, transaction="x"))
    second = v.Send(queue="r", message=message, transaction="x")
    assert v.Error.INVALID_OPERATION is bus.refused(second)


@pytest.mark.parametrize(
    ("readings", "sent", "committed"),
    [
        ({"TXN_REFUSAL": "at-commit"}, v.Done, v.Refused),
        ({"TXN_AFTER_REFUSAL": "dead"}, v.Refused, v.Refused),
        ({"TXN_AFTER_REFUSAL": "continues"}, v.Refused, v.Done),
    ],
)
def test_wrong_message_dooms_its_transaction_as_read(
    readings: dict[str, str], sent: type, committed: type
) -> None:
    bus = Bus(profile(**readings))
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    wrong = v.Send(queue="q", message=v.Message(body="m"), transaction="x")
    assert isinstance(bus.ask(wrong).outcome, sent)
    right = v.Send(queue="q", message=v.Message(body="n", partition_key="k"), transaction="x")
    outcome = bus.ask(right).outcome
    assert isinstance(outcome, v.Refused) is (committed is sent is v.Refused)
    assert isinstance(bus.ask(v.CommitTransaction(transaction="x")).outcome, committed)


def test_message_without_key_is_forwarded_to_any_partition(bus: Bus) -> None:
    bus.create("r")
    bus.create("q", forward_to="r")
    for number in range(3):
        bus.send(f"m{number}", message_id="i")
    held = bus.namespace.entities["r"].messages.values()
    assert 3 == len({each.partition for each in held})


def test_settled_and_undone_messages_of_a_session_do_not_come_back(bus: Bus) -> None:
    bus.create("s", requires_session=True)
    bus.send("m", queue="s", session_id="a")
    bus.done(v.AcceptSession(queue="s", session_id="a"))
    namespace, session = bus.namespace, bus.namespace.entities["s"].sessions["a"]
    receive = v.Receive(queue="s", session_id="a")
    for _ in ways(namespace, receive, "c1"):
        pass
    assert 1 == len(session.locked)
    bus.done(v.CloseSession(queue="s", session_id="a"))
    assert [1] == [each.failed + 1 for each in namespace.entities["s"].messages.values()]


@pytest.mark.parametrize("setting", ["partitioned", "duplicate_detection"])
def test_update_of_subscription_with_a_setting_of_its_topic_is_refused_if_read_so(
    setting: str,
) -> None:
    for reading, refused in (("refused", True), ("either", False)):
        bus = Bus(profile(ROLE_STATUS=reading))
        bus.done(v.CreateTopic(topic="t", partitioned=False))
        bus.done(v.CreateSubscription(topic="t", subscription="s"))
        update = v.UpdateQueue(queue="t/subscriptions/s", **{setting: False})
        assert refused is isinstance(bus.ask(update).outcome, v.Refused)


def told_of_topic(bus: Bus) -> v.TopicDescription:
    outcome = bus.done(v.GetTopic(topic="t"))
    assert isinstance(outcome, v.TopicDescribed)
    return outcome.description


@pytest.mark.parametrize(
    ("asked", "partitioned", "whole"),
    [(5, True, 15), (None, True, 3), (5, False, 5), (None, False, 1), (5, None, 5)],
)
def test_topic_has_the_size_that_was_asked_for(
    bus: Bus, asked: int | None, partitioned: bool | None, whole: int
) -> None:
    bus.done(v.CreateTopic(topic="t", max_size=asked, partitioned=partitioned))
    assert whole == told_of_topic(bus).max_size


def test_topic_of_another_size_is_refused(bus: Bus) -> None:
    assert v.Error.INVALID_OPERATION is bus.refused(v.CreateTopic(topic="t", max_size=6))


def test_topic_that_leaves_the_option_out_is_as_the_reading_has_it() -> None:
    for reading, partitioned in (("regular", False), ("partitioned", True)):
        bus = Bus(profile(PARTITIONING_DEFAULT=reading))
        bus.done(v.CreateTopic(topic="t", partitioned=None))
        assert partitioned is told_of_topic(bus).partitioned


def test_topic_by_an_old_api_version_may_be_refused_regular_or_partitioned(bus: Bus) -> None:
    command = v.CreateTopic(topic="t", api_version="2012-01")
    found = set()
    for _, answer in ways(bus.namespace, command, "c1"):
        topic = bus.namespace.entities.get("t")
        found.add((type(answer.outcome), topic and topic.settings.partitioned))
    assert {(v.Refused, None), (v.Done, False), (v.Done, True)} == found
