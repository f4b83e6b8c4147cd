"""Topics, their subscriptions and the rules of those."""

import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model import ways


def test_rules_with_actions_make_copies_of_their_own(bus: Bus) -> None:
    path = bus.topic()
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
        ("r", v.SqlFilter(expression="sys.Nothing = 1"), None),
        ("r", v.TrueFilter(), "SET"),
        ("r", v.TrueFilter(), "SET sys.Size = 1"),
        ("r", v.TrueFilter(), "SET sys.SessionId = 'a'"),
    ],
)
def test_rule_that_is_wrong_is_refused(rule: str, wanted: v.Filter, action: str | None) -> None:
    bus = Bus(profile(ACTION_KEYS="refused"))
    bus.topic()
    command = v.AddRule(topic="t", subscription="a", rule=rule, filter=wanted, action=action)
    assert v.Error.INVALID_OPERATION is bus.refused(command)


def test_copy_whose_session_an_action_sets_is_in_the_partition_of_that(bus: Bus) -> None:
    """So that a session stays in one partition; a partition key is carried along."""
    path = bus.topic(requires_session=True)
    named = {"topic": "t", "subscription": "a"}
    bus.done(v.RemoveRule(**named, rule=v.DEFAULT_RULE))
    action = "SET sys.SessionId = 's'; REMOVE sys.Label"
    bus.done(v.AddRule(**named, rule="r", filter=v.TrueFilter(), action=action))
    for number in range(3):
        bus.send(f"m{number}", queue="t", subject="x")
    bus.done(v.AcceptSession(queue=path, session_id="s"))
    copies = [bus.receive(path, session_id="s") for _ in range(3)]
    assert {("s", None)} == {(copy.session_id, copy.subject) for copy in copies}
    assert 1 == len({copy.sequence_number >> v.SEQUENCE_BITS for copy in copies})


@pytest.mark.parametrize(
    ("expression", "taken"),
    [
        ("sys.SequenceNumber > 0", 4),
        ("sys.EnqueuedTimeUtc >= 0 AND sys.Size = 2", 4),
        ("sys.TimeToLive = 5000 AND sys.ExpiresAtUtc - sys.EnqueuedTimeUtc = 5000", 1),
        ("sys.TimeToLive > 1000000000000", 3),
        ("sys.ScheduledEnqueueTimeUtc IS NOT NULL AND sys.DeliveryCount = 0", 1),
        ("sys.PartitionKey = 'k'", 3),
    ],
)
def test_filter_reads_what_the_bus_gives_a_message(bus: Bus, expression: str, taken: int) -> None:
    path = bus.topic()
    named = {"topic": "t", "subscription": "a"}
    bus.done(v.RemoveRule(**named, rule=v.DEFAULT_RULE))
    bus.done(v.AddRule(**named, rule="r", filter=v.SqlFilter(expression=expression)))
    # Another rule takes all of them as well, and gives each an id of its own.
    bus.done(v.AddRule(**named, rule="all", filter=v.TrueFilter(), action="SET a = newid()"))
    bus.send("m1", queue="t", partition_key="k")
    bus.send("m2", queue="t", partition_key="k", time_to_live=5 * SECOND)
    bus.send("m3", queue="t", partition_key="k")
    later = v.Schedule(queue="t", message=v.Message(body="m4"), delay=SECOND)
    bus.done(later)
    bus.wait(1)
    copies = [bus.receive(path) for _ in range(4 + taken)]
    assert taken == sum("RuleName" not in copy.properties for copy in copies)
    assert 4 == len({copy.properties["a"] for copy in copies if "RuleName" in copy.properties})


def test_rule_of_a_regular_topic_changes_with_the_commit(bus: Bus) -> None:
    bus.done(v.CreateTopic(topic="t", partitioned=False))
    bus.done(v.CreateSubscription(topic="t", subscription="a"))
    named = {"topic": "t", "subscription": "a", "transaction": "x"}
    bus.done(v.BeginTransaction(transaction="x"))
    bus.done(v.AddRule(**named, rule="one", filter=v.FalseFilter()))
    bus.done(v.AddRule(**named, rule="one", filter=v.FalseFilter()))
    listed = v.ListRules(topic="t", subscription="a")
    assert 1 == len(bus.done(listed).rules)
    bus.done(v.CommitTransaction(transaction="x"))
    assert 2 == len(bus.done(listed).rules)


def test_topic_and_subscriptions_are_described_listed_and_deleted(bus: Bus) -> None:
    path = bus.topic()
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
    path = bus.topic()
    bus.done(v.UpdateQueue(queue=path, status=v.EntityStatus.DISABLED))
    bus.send("m", queue="t")
    bus.done(v.UpdateQueue(queue=path, status=v.EntityStatus.ACTIVE))
    assert [] == bus.bodies(path)


def test_rule_of_a_partitioned_topic_changes_outside_of_transactions_if_so_read() -> None:
    bus = Bus(profile(RULE_IN_TRANSACTION="ignored"))
    bus.topic()
    bus.done(v.BeginTransaction(transaction="x"))
    named = {"topic": "t", "subscription": "a"}
    bus.done(v.AddRule(**named, rule="one", filter=v.FalseFilter(), transaction="x"))
    bus.done(v.RollBackTransaction(transaction="x"))
    assert 2 == len(bus.done(v.ListRules(**named)).rules)
    refusing = Bus()
    refusing.topic()
    refusing.done(v.BeginTransaction(transaction="x"))
    change = v.RemoveRule(**named, rule="$Default", transaction="x")
    assert v.Error.INVALID_OPERATION is refusing.refused(change)


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


def described_topic(bus: Bus) -> v.TopicDescription:
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
    assert whole == described_topic(bus).max_size


def test_topic_of_another_size_is_refused(bus: Bus) -> None:
    assert v.Error.INVALID_OPERATION is bus.refused(v.CreateTopic(topic="t", max_size=6))


def test_topic_that_leaves_the_option_out_is_as_the_reading_has_it() -> None:
    for reading, partitioned in (("regular", False), ("partitioned", True)):
        bus = Bus(profile(PARTITIONING_DEFAULT=reading))
        bus.done(v.CreateTopic(topic="t", partitioned=None))
        assert partitioned is described_topic(bus).partitioned


def test_topic_by_an_old_api_version_may_be_refused_regular_or_partitioned(bus: Bus) -> None:
    command = v.CreateTopic(topic="t", api_version="2012-01")
    found = set()
    for _, answer in ways(bus.namespace, command, "c1"):
        topic = bus.namespace.entities.get("t")
        found.add((type(answer.outcome), topic and topic.settings.partitioned))
    assert {(v.Refused, None), (v.Done, False), (v.Done, True)} == found


@pytest.mark.parametrize(("reading", "taken"), [("sensitive", 1), ("insensitive", 2)])
def test_like_distinguishes_case_as_it_is_read(reading: str, taken: int) -> None:
    """LIKE-CASE."""
    bus = Bus(profile(LIKE_CASE=reading))
    path = bus.topic()
    named = {"topic": "t", "subscription": "a"}
    bus.done(v.RemoveRule(**named, rule=v.DEFAULT_RULE))
    like = v.SqlFilter(expression="sys.Label LIKE 'a%'")
    bus.done(v.AddRule(**named, rule="r", filter=like))
    bus.send("m1", queue="t", subject="abc")
    bus.send("m2", queue="t", subject="ABC")
    description = bus.done(v.GetQueue(queue=path))
    assert isinstance(description, v.Described)
    assert taken == description.description.message_count
