"""The emulator's configuration: what it gives, and how it complains."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from busproof import vocabulary as v
from busproof.broker.configuration.emulator import Configuration, read_configuration
from busproof.broker.server import bus_for
from busproof.errors import UsageError

SAMPLE = """{
  // as the emulator's own sample is written
  "UserConfig": {
    "Namespaces": [
      {
        "Name": "sbemulatorns",
        "Queues": [
          {
            "Name": "queue.1", /* a queue */
            "Properties": {
              "DeadLetteringOnMessageExpiration": false,
              "DefaultMessageTimeToLive": "PT1H",
              "DuplicateDetectionHistoryTimeWindow": "PT20S",
              "ForwardDeadLetteredMessagesTo": "",
              "ForwardTo": "",
              "LockDuration": "PT1M",
              "MaxDeliveryCount": 3,
              "RequiresDuplicateDetection": false,
              "RequiresSession": false
            }
          },
          {"Name": "first", "Properties": {"ForwardTo": "last", "EnablePartitioning": true}},
          {"Name": "last", "Properties": {"EnablePartitioning": true}}
        ],
        "Topics": [
          {
            "Name": "topic.1",
            "Properties": {
              "DefaultMessageTimeToLive": "PT1H",
              "DuplicateDetectionHistoryTimeWindow": "PT20S",
              "RequiresDuplicateDetection": false
            },
            "Subscriptions": [
              {
                "Name": "subscription.1",
                "Properties": {"LockDuration": "PT1M", "MaxDeliveryCount": 3},
                "Rules": [
                  {
                    "Name": "app-prop-filter-1",
                    "Properties": {
                      "FilterType": "Correlation",
                      "CorrelationFilter": {
                        "ContentType": "application/json",
                        "Label": "subject1",
                        "Properties": {"prop1": "value1", "whole": 2, "truth": true}
                      }
                    }
                  },
                  {
                    "Name": "sql",
                    "Properties": {
                      "FilterType": "Sql",
                      "SqlFilter": {"SqlExpression": "a = 'http://x' AND b > 1"},
                      "Action": {"SqlExpression": "SET sys.To = 'Entity'"}
                    }
                  }
                ]
              }
            ]
          }
        ]
      }
    ],
    "Logging": {"Type": "File"}
  }
}
"""
HOUR = 3_600_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "Config.json"


def configured(path: Path, text: str) -> Configuration:
    path.write_text(text, encoding="utf-8")
    return read_configuration(path)


def with_queue(**properties: Any) -> str:
    queue = {"Name": "q", "Properties": properties}
    return json.dumps({"UserConfig": {"Namespaces": [{"Queues": [queue]}]}}, indent=1)


def test_the_emulators_sample_is_taken(path: Path) -> None:
    found = configured(path, SAMPLE)
    queue, first, last, topic, subscription, default, correlation, sql = found.created
    assert queue == v.CreateQueue(
        queue="queue.1",
        partitioned=False,
        max_delivery_count=3,
        duplicate_window=20_000_000,
        time_to_live=HOUR,
    )
    assert first == v.CreateQueue(queue="first", partitioned=True, forward_to="last")
    assert last == v.CreateQueue(queue="last", partitioned=True)
    assert topic == v.CreateTopic(
        topic="topic.1", partitioned=False, duplicate_window=20_000_000, time_to_live=HOUR
    )
    assert subscription == v.CreateSubscription(
        topic="topic.1", subscription="subscription.1", max_delivery_count=3
    )
    place = {"topic": "topic.1", "subscription": "subscription.1"}
    assert default == v.RemoveRule(rule="$Default", **place)
    assert correlation == v.AddRule(
        rule="app-prop-filter-1",
        filter=v.CorrelationFilter(
            content_type="application/json",
            subject="subject1",
            properties={"prop1": "value1", "whole": 2, "truth": True},
        ),
        **place,
    )
    assert sql == v.AddRule(
        rule="sql",
        filter=v.SqlFilter(expression="a = 'http://x' AND b > 1"),
        action="SET sys.To = 'Entity'",
        **place,
    )


def test_a_queue_says_how_long_messages_live_and_how_many_fit_in(path: Path) -> None:
    """The longest time is for ever; sizes are added to what the emulator takes."""
    properties = {
        "DefaultMessageTimeToLive": "PT10S",
        "DeadLetteringOnMessageExpiration": True,
        "MaxSizeInMegabytes": 2048,
    }
    (queue,) = configured(path, with_queue(**properties)).created
    assert isinstance(queue, v.CreateQueue)
    assert (10_000_000, True, 2) == (queue.time_to_live, queue.dead_letter_expired, queue.max_size)
    longest = {"DefaultMessageTimeToLive": "P10675199DT2H48M5.4775807S"}
    (queue,) = configured(path, with_queue(**longest)).created
    assert isinstance(queue, v.CreateQueue)
    assert queue.time_to_live is None


def test_known_keys_without_effect_are_accepted_and_named(path: Path) -> None:
    """With its line, as .NET Aspire and public configurations of the emulator have it."""
    text = """{"$schema": "https://example.org/schema.json", "UserConfig": {"Namespaces": [{
      "MaxAllowedConnections": 20,
      "Queues": [{"Name": "q", "Properties": {
        "AutoDeleteOnIdle": "P10675199DT2H48M5.4775807S", "EnableBatchedOperations": false,
        "EnableExpress": false, "MaxMessageSizeInKilobytes": 256, "Status": "Active",
        "UserMetadata": "mine", "ForwardTo": null}}],
      "Topics": [{"Name": "t", "Properties": {
        "AutoDeleteOnIdle": "PT5M",
        "EnableExpress": true,
        "Status": "Disabled"}, "Subscriptions": [{"Name": "s", "Properties": {
          "ClientAffineProperties": {"ClientId": "c", "IsDurable": true},
          "MaxMessageSizeInKilobytes": 1024}}]}]}]}}"""
    found = configured(path, text)
    assert [v.CreateQueue, v.CreateTopic, v.CreateSubscription] == [
        type(each) for each in found.created
    ]
    assert [
        f"{path}:2: MaxAllowedConnections has no effect here",
        f"{path}:8: AutoDeleteOnIdle has no effect here",
        f"{path}:9: EnableExpress has no effect here",
        f"{path}:10: Status has no effect here",
        f"{path}:11: ClientAffineProperties has no effect here",
        f"{path}:12: MaxMessageSizeInKilobytes has no effect here",
    ] == found.warnings


def test_keys_that_aspire_writes_are_taken(path: Path) -> None:
    """Of rules, too; a topic has a size, and a filter without a type is that filter."""
    correlation = {"Label": "l", "Properties": {"p": "v"}, "RequiresPreprocessing": False}
    expression = {"SqlExpression": "a = 1", "CompatibilityLevel": 20}
    sql = {**expression, "RequiresPreprocessing": True}
    rules = [
        {"FilterType": "Correlation", "CorrelationFilter": correlation},
        {"FilterType": "Sql", "SqlFilter": sql, "Action": {**sql, "SqlExpression": "SET b = 1"}},
        {"SqlFilter": expression},
    ]
    named = [{"Name": f"r{number}", "Properties": rule} for number, rule in enumerate(rules)]
    topic = {
        "Name": "t",
        "Properties": {"MaxSizeInMegabytes": 2048},
        "Subscriptions": [{"Name": "s", "Rules": named}],
    }
    text = json.dumps({"UserConfig": {"Namespaces": [{"Topics": [topic]}]}})
    found = configured(path, text)
    assert [] == found.warnings
    (made,) = [each for each in found.created if isinstance(each, v.CreateTopic)]
    assert 2 == made.max_size
    added = [each for each in found.created if isinstance(each, v.AddRule)]
    assert [
        v.CorrelationFilter(subject="l", properties={"p": "v"}),
        v.SqlFilter(expression="a = 1"),
        v.SqlFilter(expression="a = 1"),
    ] == [each.filter for each in added]
    assert [None, "SET b = 1", None] == [each.action for each in added]


def test_a_bus_has_all_of_it(path: Path) -> None:
    bus = bus_for(configured(path, SAMPLE))
    assert bus.names() == [
        "first",
        "last",
        "queue.1",
        "topic.1",
        "topic.1/subscriptions/subscription.1",
    ]


def test_a_namespace_says_what_it_is_held_to(path: Path) -> None:
    text = """{"UserConfig": {"Namespaces": [{
        "Tier": "premium", "Partitions": 4, "Readings": {"KEY-ORDER": "sessions-only"},
        "AuthorizationRules": [{"KeyName": "k", "PrimaryKey": "p", "Rights": ["Send"]}]
    }]}}"""
    found = configured(path, text)
    assert ("premium", 4) == (found.tier, found.partitions)
    assert {"KEY-ORDER": "sessions-only"} == found.readings
    assert [("k", "p", {"Send"})] == [
        (each.name, each.key, set(each.rights)) for each in found.keys
    ]
    profile = bus_for(found).namespace.profile
    assert ("premium", 4, "sessions-only") == (
        profile.tier.value,
        profile.partitions,
        profile.readings["KEY-ORDER"],
    )


def test_every_entity_of_a_partitioned_namespace_is_partitioned(path: Path) -> None:
    """Without the option too; the edition is one that has such namespaces."""
    text = """{"UserConfig": {"Namespaces": [{
        "Tier": "premium", "NamespacePartitions": 2, "MessagingUnits": 4,
        "Queues": [{"Name": "q"}], "Topics": [{"Name": "t", "Properties": {}}]
    }]}}"""
    found = configured(path, text)
    bus = bus_for(found)
    assert (2, 4) == (found.namespace_partitions, found.messaging_units)
    assert ("partitioned-premium", 4) == (
        bus.namespace.profile.kind,
        bus.namespace.profile.messaging_units,
    )
    assert [2, 2] == [len(bus.find_entity(name).partitions) for name in ("q", "t")]


def test_a_regular_entity_of_a_partitioned_namespace_is_refused(path: Path) -> None:
    text = """{"UserConfig": {"Namespaces": [{
        "Tier": "premium", "NamespacePartitions": 2,
        "Queues": [{"Name": "q", "Properties": {"EnablePartitioning": false}}]
    }]}}"""
    with pytest.raises(UsageError, match="refuses to create 'q'"):
        bus_for(configured(path, text))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ('"NamespacePartitions": 2', "tier standard cannot have 2 partitions"),
        ('"Tier": "premium", "NamespacePartitions": 4, "MessagingUnits": 6', "a multiple of 4"),
        ('"Tier": "premium", "NamespacePartitions": 2, "Partitions": 16', "leave the number"),
    ],
)
def test_a_namespace_that_cannot_be_is_refused(path: Path, fields: str, said: str) -> None:
    found = configured(path, f'{{"UserConfig": {{"Namespaces": [{{{fields}}}]}}}}')
    with pytest.raises(UsageError, match=said):
        bus_for(found)


def with_rule(**parts: object) -> str:
    """A file with a rule `red` on its second line."""
    rule = {"Name": "red", "Properties": parts}
    topic = {"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [rule]}]}
    text = json.dumps({"UserConfig": {"Namespaces": [{"Topics": [topic]}]}})
    return text.replace('"SqlExpression"', '\n"SqlExpression"')


WRONG = {
    "filter": (
        with_rule(SqlFilter={"SqlExpression": "x = = 'mail@home'"}),
        2,
        "the SQL of the filter of rule 'red': '=' stands at character 5; expected a value",
    ),
    "property": (
        with_rule(SqlFilter={"SqlExpression": "sys.Nope = 1"}),
        2,
        "the filter of rule 'red': 'sys.Nope' is no property that messages have",
    ),
    "action": (
        with_rule(Action={"SqlExpression": "SET a = 1;;"}),
        2,
        "the SQL of the action of rule 'red': ';' stands at character 11",
    ),
    "namespace": (
        '{"UserConfig": {"Namespaces": [\n{"NamespacePartitions": 3}]}}',
        2,
        "1 (not partitioned), 2 or 4",
    ),
    "comma": ('{"UserConfig": {\n "Namespaces": [,]}}', 2, "not JSON"),
    "top": ('\n{"Namespaces": []}', 2, "UserConfig, or a template"),
    "no namespace": ('{"UserConfig": {}}', 1, "one namespace"),
    "truth": (with_queue(EnablePartitioning="yes"), 9, "true or false"),
    "duration": (with_queue(LockDuration="1 minute"), 9, "PT1M"),
    "too long": (with_queue(LockDuration="PT6M"), 9, "300"),
    "number": (with_queue(MaxDeliveryCount="3.5"), 9, "whole number"),
    "nameless": ('{"UserConfig": {"Namespaces": [{"Queues": [\n{}]}]}}', 2, "a Name"),
    "keyless": (
        '{"UserConfig": {"Namespaces": [\n{"AuthorizationRules": []}]}}',
        2,
        "at least one rule",
    ),
    "tier": ('{"UserConfig": {"Namespaces": [\n{"Tier": "gold"}]}}', 2, "premium"),
    "size": (with_queue(MaxSizeInMegabytes=1500), 9, "a multiple of 1024"),
    "edition": ('{"UserConfig": {"Namespaces": [\n{"Edition": "no-such"}]}}', 2, "fr-2016-09"),
    "ambiguity": (
        '{"UserConfig": {"Namespaces": [{"Readings": {\n"NO-SUCH": "x"}}]}}',
        2,
        "rules --ambiguities",
    ),
    "reading": (
        '{"UserConfig": {"Namespaces": [{"Readings": {\n"KEY-ORDER": "x"}}]}}',
        2,
        "sessions-only",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_complaint_names_the_line_and_what_was_expected(path: Path, case: str) -> None:
    text, line, expected = WRONG[case]
    with pytest.raises(UsageError, match=re.escape(expected)) as raised:
        configured(path, text)
    assert f"{path}:{line}: " in str(raised.value)
    assert "\n" not in str(raised.value)


def test_unknown_field_is_a_warning(path: Path) -> None:
    found = configured(path, with_queue(EnablePartioning=True, Colour="red"))
    assert found.warnings == [
        f"{path}:9: a field of the file.UserConfig.Namespaces[0].Queues[0].Properties, "
        "'EnablePartioning', is unknown and has no effect; did you mean 'EnablePartitioning'?",
        f"{path}:10: a field of the file.UserConfig.Namespaces[0].Queues[0].Properties, "
        "'Colour', is unknown and has no effect",
    ]
    assert found.created == [v.CreateQueue(queue="q", partitioned=False)]


def test_null_stands_for_what_is_left_out(path: Path) -> None:
    """As serializers write what their objects lack."""
    rule = {"FilterType": "Sql", "CorrelationFilter": None, "SqlFilter": {"SqlExpression": "a=1"}}
    subscription = {"Name": "s", "Properties": None, "Rules": [{"Name": "r", "Properties": rule}]}
    namespace = {
        "Name": None,
        "Queues": [{"Name": "q", "Properties": None}],
        "Topics": [{"Name": "t", "Properties": None, "Subscriptions": [subscription]}],
    }
    found = configured(
        path,
        json.dumps({"$schema": None, "UserConfig": {"Namespaces": [namespace], "Logging": None}}),
    )
    assert [v.CreateQueue(queue="q", partitioned=False), []] == [found.created[0], found.warnings]
    assert found.created[-1].filter == v.SqlFilter(expression="a=1")


def test_partitioning_of_an_entity_in_premium_has_no_effect(path: Path) -> None:
    """And says so: a Premium namespace is partitioned as a whole, or not at all."""
    queue = {"Name": "q", "Properties": {"EnablePartitioning": True}}
    namespace = {"Tier": "premium", "Queues": [queue], "Topics": [queue | {"Name": "t"}]}
    for readings in ({}, {"PREMIUM-CHECKBOX": "refused"}, {"PREMIUM-CHECKBOX": "no-effect"}):
        text = {"UserConfig": {"Namespaces": [namespace | {"Readings": readings}]}}
        found = configured(path, json.dumps(text))
        for _ in range(2):
            bus = bus_for(found)
        assert {False} == {bus.find_entity(name).settings.partitioned for name in ("q", "t")}
        first, second = found.warnings
        assert "EnablePartitioning of 'q' has no effect" in first
        assert "EnablePartitioning of 't' has no effect" in second


SQL = {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a ="}}
SUBSCRIPTION = {"Name": "s", "Rules": [{"Name": "r", "Properties": SQL}]}
IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "forwarding": (
        {"Queues": [{"Name": "q", "Properties": {"ForwardTo": "gone"}}]},
        "'q' is to forward to 'gone'",
    ),
    "twice": ({"Queues": [{"Name": "q"}, {"Name": "q"}]}, "'q': already-exists"),
    "filter": ({"Topics": [{"Name": "t", "Subscriptions": [SUBSCRIPTION]}]}, "rule 'r'"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_setting_that_the_model_refuses_is_named_with_its_line(path: Path, case: str) -> None:
    namespace, said = IMPOSSIBLE[case]
    text = json.dumps({"UserConfig": {"Namespaces": [namespace]}}, indent=1)
    with pytest.raises(UsageError, match=re.escape(said)) as raised:
        bus_for(configured(path, text))
    assert re.match(rf"{re.escape(str(path))}:\d+: ", str(raised.value))
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(UsageError, match=r"Config\.json"):
        read_configuration(path)
