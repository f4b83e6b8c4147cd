"""The configuration that Microsoft's emulator takes, and what is added to it here.

Added: `EnablePartitioning` of queues and topics; `Tier`, `Edition`, `Readings`, `Partitions` and
`AuthorizationRules` of the namespace.
"""

from pathlib import Path
from typing import Final

import attrs

from busproof.broker.jsonc import Value, read
from busproof.broker.tokens import RIGHTS, Key
from busproof.model.commands import (
    AddRule,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    RemoveRule,
)
from busproof.model.filters import DEFAULT_RULE, CorrelationFilter, Filter, SqlFilter, TrueFilter
from busproof.model.values import Tier

__all__ = ["DEFAULT_KEYS", "Configuration", "read_configuration"]

Created = CreateQueue | CreateTopic | CreateSubscription | AddRule | RemoveRule

DEFAULT_KEYS: Final = (Key("RootManageSharedAccessKey", "SAS_KEY_VALUE"),)
"""What the emulator's connection string says."""

NOT_APPLIED: Final = {
    "DefaultMessageTimeToLive": "messages live for ever",
    "DeadLetteringOnMessageExpiration": "messages live for ever",
    "ForwardDeadLetteredMessagesTo": "dead letters stay where they are",
    "Action": "rules take messages and change nothing in them",
}
"""What is read and has no effect, and what is so instead."""

LASTING: Final = (
    "DefaultMessageTimeToLive",
    "DuplicateDetectionHistoryTimeWindow",
    "RequiresDuplicateDetection",
)
QUEUE: Final = (
    *LASTING,
    "DeadLetteringOnMessageExpiration",
    "EnablePartitioning",
    "ForwardDeadLetteredMessagesTo",
    "ForwardTo",
    "LockDuration",
    "MaxDeliveryCount",
    "RequiresSession",
)
SUBSCRIPTION: Final = (
    "DeadLetteringOnMessageExpiration",
    "DefaultMessageTimeToLive",
    "ForwardDeadLetteredMessagesTo",
    "ForwardTo",
    "LockDuration",
    "MaxDeliveryCount",
    "RequiresSession",
)
CORRELATION: Final = {
    "ContentType": "content_type",
    "CorrelationId": "correlation_id",
    "Label": "subject",
    "MessageId": "message_id",
    "ReplyTo": "reply_to",
    "ReplyToSessionId": "reply_to_session_id",
    "SessionId": "session_id",
    "To": "to",
}
NAMESPACE: Final = (
    "Name",
    "Queues",
    "Topics",
    "Tier",
    "Edition",
    "Readings",
    "Partitions",
    "AuthorizationRules",
)
LONGEST_LOCK, LONGEST_WINDOW = 300, 604_800


@attrs.define
class Configuration:
    """What a broker begins with.

    `not_applied` names each setting that has no effect, and what is so instead.
    """

    tier: str = Tier.STANDARD
    edition: str | None = None
    partitions: int = 16
    readings: dict[str, str] = attrs.field(factory=dict)
    keys: tuple[Key, ...] = DEFAULT_KEYS
    created: list[Created] = attrs.field(factory=list)
    not_applied: dict[str, str] = attrs.field(factory=dict)


def read_configuration(path: Path) -> Configuration:
    """Read a configuration.

    Raises:
        UsageError: it cannot be read, or says something that is not known; the line is named.
    """
    found = Configuration()
    top = read(path).fields(("UserConfig",))
    if "UserConfig" not in top:
        raise read(path).wrong("an object with the field UserConfig")
    user = top["UserConfig"].fields(("Namespaces", "Logging"))
    namespaces = user["Namespaces"].items() if "Namespaces" in user else []
    if len(namespaces) != 1:
        raise top["UserConfig"].wrong(f"one namespace in Namespaces, not {len(namespaces)}")
    _namespace(namespaces[0], found)
    return found


def _namespace(value: Value, found: Configuration) -> None:
    fields = value.fields(NAMESPACE)
    if "Tier" in fields:
        found.tier = Tier(fields["Tier"].one_of([each.value for each in Tier]))
    if "Edition" in fields:
        found.edition = fields["Edition"].text()
    if "Partitions" in fields:
        found.partitions = fields["Partitions"].number(1, 64)
    if "Readings" in fields:
        found.readings = {name: each.text() for name, each in fields["Readings"].pairs().items()}
    if "AuthorizationRules" in fields:
        found.keys = tuple(_key(each) for each in fields["AuthorizationRules"].items())
        if not found.keys:
            raise fields["AuthorizationRules"].wrong("at least one rule")
    for each in fields["Queues"].items() if "Queues" in fields else ():
        _queue(each, found)
    for each in fields["Topics"].items() if "Topics" in fields else ():
        _topic(each, found)


def _key(value: Value) -> Key:
    fields = value.fields(("KeyName", "PrimaryKey", "Rights"))
    for name in ("KeyName", "PrimaryKey"):
        if name not in fields:
            raise value.wrong(f"a {name}")
    rights = frozenset(RIGHTS)
    if "Rights" in fields:
        rights = frozenset(each.one_of(RIGHTS) for each in fields["Rights"].items())
    return Key(fields["KeyName"].text(), fields["PrimaryKey"].text(), rights)


def _named(value: Value, *others: str) -> tuple[str, dict[str, Value]]:
    fields = value.fields(("Name", "Properties", *others))
    if "Name" not in fields:
        raise value.wrong("a Name")
    name = fields["Name"].text()
    if not name or len(name) > 260 or "$" in name:
        raise fields["Name"].wrong("1 to 260 characters, no '$' among them")
    return name, fields


def _properties(
    fields: dict[str, Value], known: tuple[str, ...], found: Configuration
) -> dict[str, Value]:
    if "Properties" not in fields:
        return {}
    given = fields["Properties"].fields(known)
    for name in NOT_APPLIED.keys() & given.keys():
        value = given[name]
        if not value.is_null and not (
            name == "DeadLetteringOnMessageExpiration" and not value.truth()
        ):
            found.not_applied[name] = NOT_APPLIED[name]
    return {name: value for name, value in given.items() if not value.is_null}


def _queue(value: Value, found: Configuration) -> None:
    name, fields = _named(value)
    given = _properties(fields, QUEUE, found)
    found.created.append(
        CreateQueue(
            queue=name,
            partitioned=_truth(given, "EnablePartitioning"),
            requires_session=_truth(given, "RequiresSession"),
            duplicate_detection=_truth(given, "RequiresDuplicateDetection"),
            duplicate_window=_duration(
                given, "DuplicateDetectionHistoryTimeWindow", 600, 5, LONGEST_WINDOW
            ),
            lock_duration=_duration(given, "LockDuration", 60, 1, LONGEST_LOCK),
            max_delivery_count=_count(given),
            forward_to=given["ForwardTo"].text() if "ForwardTo" in given else None,
        )
    )


def _topic(value: Value, found: Configuration) -> None:
    name, fields = _named(value, "Subscriptions")
    given = _properties(fields, (*LASTING, "EnablePartitioning"), found)
    found.created.append(
        CreateTopic(
            topic=name,
            partitioned=_truth(given, "EnablePartitioning"),
            duplicate_detection=_truth(given, "RequiresDuplicateDetection"),
            duplicate_window=_duration(
                given, "DuplicateDetectionHistoryTimeWindow", 600, 5, LONGEST_WINDOW
            ),
        )
    )
    for each in fields["Subscriptions"].items() if "Subscriptions" in fields else ():
        _subscription(each, name, found)


def _subscription(value: Value, topic: str, found: Configuration) -> None:
    name, fields = _named(value, "Rules")
    given = _properties(fields, SUBSCRIPTION, found)
    found.created.append(
        CreateSubscription(
            topic=topic,
            subscription=name,
            requires_session=_truth(given, "RequiresSession"),
            lock_duration=_duration(given, "LockDuration", 60, 1, LONGEST_LOCK),
            max_delivery_count=_count(given),
            forward_to=given["ForwardTo"].text() if "ForwardTo" in given else None,
        )
    )
    rules = fields["Rules"].items() if "Rules" in fields else []
    if rules:
        default = RemoveRule(topic=topic, subscription=name, rule=DEFAULT_RULE)
        found.created.append(default)
    for rule in rules:
        rule_name, parts = _named_rule(rule)
        chosen = _filter(parts, found)
        found.created.append(AddRule(topic=topic, subscription=name, rule=rule_name, filter=chosen))


def _named_rule(value: Value) -> tuple[str, dict[str, Value]]:
    fields = value.fields(("Name", "Properties"))
    if "Name" not in fields:
        raise value.wrong("a Name")
    known = ("FilterType", "CorrelationFilter", "SqlFilter", "Action")
    return fields["Name"].text(), (
        fields["Properties"].fields(known) if "Properties" in fields else {}
    )


def _filter(parts: dict[str, Value], found: Configuration) -> Filter:
    if "Action" in parts and not parts["Action"].is_null:
        found.not_applied["Action"] = NOT_APPLIED["Action"]
    if "FilterType" not in parts:
        return TrueFilter()
    if parts["FilterType"].one_of(("Correlation", "Sql")) == "Sql":
        if "SqlFilter" not in parts:
            raise parts["FilterType"].wrong("a SqlFilter beside it")
        given = parts["SqlFilter"].fields(("SqlExpression",))
        if "SqlExpression" not in given:
            raise parts["SqlFilter"].wrong("a SqlExpression")
        return SqlFilter(expression=given["SqlExpression"].text())
    if "CorrelationFilter" not in parts:
        raise parts["FilterType"].wrong("a CorrelationFilter beside it")
    given = parts["CorrelationFilter"].fields((*CORRELATION, "Properties"))
    values = {CORRELATION[name]: given[name].text() for name in CORRELATION.keys() & given.keys()}
    free = given["Properties"].pairs() if "Properties" in given else {}
    return CorrelationFilter(
        **values, properties={name: each.scalar() for name, each in free.items()}
    )


def _truth(given: dict[str, Value], name: str) -> bool:
    return name in given and given[name].truth()


def _duration(given: dict[str, Value], name: str, default: int, least: int, most: int) -> int:
    return given[name].duration(least, most) if name in given else default * 1_000_000


def _count(given: dict[str, Value]) -> int:
    return given["MaxDeliveryCount"].number(1, 2_000) if "MaxDeliveryCount" in given else 10
