"""The configuration file of Microsoft's emulator, with busproof's additions.

The additions are `EnablePartitioning` for queues and topics, and for the namespace `Tier`,
`Edition`, `Readings`, `Partitions`, `NamespacePartitions`, `MessagingUnits` and
`AuthorizationRules`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.broker.auth.policies import DEFAULT_KEYS, rules_in
from busproof.broker.auth.tokens import AccessPolicy
from busproof.broker.configuration.durations import for_ever
from busproof.broker.configuration.jsonc import Value, read
from busproof.broker.configuration.subscription_rules import action_in, filter_in, read_rule
from busproof.broker.configuration.templates import is_parameters, is_template, namespace_in
from busproof.errors import UsageError
from busproof.spec import load

__all__ = ["Configuration", "read_configuration"]

Created = v.CreateQueue | v.CreateTopic | v.CreateSubscription | v.AddRule | v.RemoveRule

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
    "MaxSizeInMegabytes",
    "RequiresSession",
)
TOPIC: Final = (*LASTING, "EnablePartitioning", "MaxSizeInMegabytes")
SUBSCRIPTION: Final = (
    "DeadLetteringOnMessageExpiration",
    "DefaultMessageTimeToLive",
    "ForwardDeadLetteredMessagesTo",
    "ForwardTo",
    "LockDuration",
    "MaxDeliveryCount",
    "RequiresSession",
)
NAMESPACE: Final = (
    "Name",
    "Queues",
    "Topics",
    "Tier",
    "Edition",
    "Readings",
    "Partitions",
    "NamespacePartitions",
    "MessagingUnits",
    "AuthorizationRules",
)
CONNECTIONS: Final = "MaxAllowedConnections"
WITHOUT_EFFECT: Final[dict[str, tuple[str, ...] | None]] = {
    "AutoDeleteOnIdle": ("P10675199DT2H48M5.4775807S",),
    "ClientAffineProperties": (),
    "DeadLetteringOnFilterEvaluationExceptions": ("true",),
    "EnableBatchedOperations": None,
    "EnableExpress": ("false",),
    "IsClientAffine": ("false",),
    "MaxMessageSizeInKilobytes": ("256",),
    "Status": ("Active",),
    "SupportOrdering": None,
    "UserMetadata": None,
}
"""Properties without effect, with the values that need no warning; `None` for any value."""
LONGEST_LOCK, LONGEST_WINDOW, LONGEST_LIFE = 300, 604_800, 922_337_203_686
MB_IN_GB: Final = 1024
ADDRESS: Final = re.compile(r"^(?:sb|https?|amqps?)://[^/]+/", re.IGNORECASE)


@attrs.define
class Configuration:
    """The initial state of a broker.

    `places` has the file and line of each created entity, `warnings` the properties without effect.
    """

    tier: str = v.Tier.STANDARD
    edition: str | None = None
    partitions: int | None = None
    namespace_partitions: int = 1
    messaging_units: int | None = None
    readings: dict[str, str] = attrs.field(factory=dict)
    keys: tuple[AccessPolicy, ...] = DEFAULT_KEYS
    created: list[Created] = attrs.field(factory=list)
    places: dict[Created, str] = attrs.field(factory=dict)
    warnings: list[str] = attrs.field(factory=list)

    def create(self, command: Created, written: Value) -> None:
        """Add an entity or a rule to create, with its place in the file."""
        self.created.append(command)
        self.places[command] = written.place

    def warn_once(self, warning: str) -> None:
        """Add a warning, unless it is there from an earlier bus with the same entities."""
        if warning not in self.warnings:
            self.warnings.append(warning)


def read_configuration(
    path: Path, *, strict: bool = False, parameters: Mapping[str, str] | None = None
) -> Configuration:
    """Read a configuration file: that of the emulator, or a template of Azure Resource Manager.

    Args:
        path: the file.
        strict: whether an unknown field is an error; otherwise it is a warning.
        parameters: the values of a template's parameters, by name.

    Raises:
        UsageError: the file cannot be read, or has an impossible value; the message names the line.
    """
    if path.suffix.startswith(".bicep"):
        raise UsageError(
            f"{path} is Bicep; compile it by `bicep build`, and give the template in JSON"
        )
    configuration = Configuration()
    top = read(path, None if strict else configuration.warnings)
    if is_template(top):
        _namespace(namespace_in(top, parameters or {}, configuration.warnings), configuration)
        return configuration
    if parameters:
        raise UsageError(f"{path} is not a template, and has no parameters")
    if is_parameters(top):
        raise UsageError(
            f"{path} has the parameters of a template; give the template, and each parameter by "
            "--config-parameter NAME=VALUE"
        )
    fields = top.fields(("UserConfig", "$schema"))
    if "UserConfig" not in fields:
        raise top.wrong("an object with the field UserConfig, or a template with resources")
    user = fields["UserConfig"].fields(("Namespaces", "Logging", CONNECTIONS))
    _warn(user, (CONNECTIONS,), configuration)
    namespaces = user["Namespaces"].items() if "Namespaces" in user else []
    if len(namespaces) != 1:
        raise fields["UserConfig"].wrong(f"one namespace in Namespaces, not {len(namespaces)}")
    _namespace(namespaces[0], configuration)
    return configuration


def _namespace(value: Value, configuration: Configuration) -> None:
    fields = value.fields((*NAMESPACE, CONNECTIONS))
    _warn(fields, (CONNECTIONS,), configuration)
    if "Tier" in fields:
        configuration.tier = v.Tier(fields["Tier"].one_of([tier.value for tier in v.Tier]))
    if "Edition" in fields:
        configuration.edition = fields["Edition"].text()
        _place_error(fields["Edition"], lambda: load().edition(configuration.edition or ""))
    if "Partitions" in fields:
        configuration.partitions = fields["Partitions"].number(1, 64)
    if "NamespacePartitions" in fields:
        configuration.namespace_partitions = fields["NamespacePartitions"].number(1, 4)
        if configuration.namespace_partitions not in v.NAMESPACE_PARTITIONS:
            raise fields["NamespacePartitions"].wrong("1 (not partitioned), 2 or 4")
    if "MessagingUnits" in fields:
        configuration.messaging_units = fields["MessagingUnits"].number(1, 64)
    if "Readings" in fields:
        for name, reading in fields["Readings"].pairs().items():
            configuration.readings[name] = reading.text()
            _place_error(reading, lambda: load().readings(configuration.readings))
    if "AuthorizationRules" in fields:
        configuration.keys = rules_in(fields["AuthorizationRules"])
    for queue in fields["Queues"].items() if "Queues" in fields else ():
        _queue(queue, configuration)
    for topic in fields["Topics"].items() if "Topics" in fields else ():
        _topic(topic, configuration)


def _place_error(value: Value, look_up: Callable[[], object]) -> None:
    """Look up a name; an error from `look_up` gets the file and line."""
    try:
        look_up()
    except UsageError as error:
        raise UsageError(f"{value.place}: {error}") from None


def _read_named(value: Value, *others: str) -> tuple[str, dict[str, Value]]:
    fields = value.fields(("Name", "Properties", *others))
    if "Name" not in fields:
        raise value.wrong("a Name")
    name = fields["Name"].text()
    if not name or len(name) > 260 or "$" in name:
        raise fields["Name"].wrong("1 to 260 characters, no '$' among them")
    return name, fields


def _properties(
    fields: dict[str, Value], known: tuple[str, ...], configuration: Configuration
) -> dict[str, Value]:
    if "Properties" not in fields:
        return {}
    others = [name for name in WITHOUT_EFFECT if name not in known]
    properties = fields["Properties"].fields((*known, *others))
    properties = {name: value for name, value in properties.items() if not value.is_null}
    _warn(properties, others, configuration)
    return properties


def _warn(fields: dict[str, Value], names: Iterable[str], configuration: Configuration) -> None:
    """Warn about the properties without effect among `names`."""
    for name in names:
        asks_for_nothing = WITHOUT_EFFECT.get(name, ())
        if name in fields and asks_for_nothing is not None:
            value = fields[name]
            if value.written not in asks_for_nothing:
                configuration.warnings.append(f"{value.place}: {name} has no effect here")


def _queue(value: Value, configuration: Configuration) -> None:
    name, fields = _read_named(value)
    properties = _properties(fields, QUEUE, configuration)
    configuration.create(
        v.CreateQueue(
            queue=name,
            partitioned=_is_partitioned(properties, configuration),
            requires_session=_truth(properties, "RequiresSession"),
            duplicate_detection=_truth(properties, "RequiresDuplicateDetection"),
            duplicate_window=_duration(
                properties, "DuplicateDetectionHistoryTimeWindow", 600, 5, LONGEST_WINDOW
            ),
            lock_duration=_duration(properties, "LockDuration", 60, 1, LONGEST_LOCK),
            max_delivery_count=_count(properties),
            max_size=_size(properties),
            forward_to=_entity(properties, "ForwardTo"),
            time_to_live=_lifetime(properties),
            dead_letter_expired=_truth(properties, "DeadLetteringOnMessageExpiration"),
            forward_dead_letters_to=_entity(properties, "ForwardDeadLetteredMessagesTo"),
        ),
        value,
    )


def _topic(value: Value, configuration: Configuration) -> None:
    name, fields = _read_named(value, "Subscriptions")
    properties = _properties(fields, TOPIC, configuration)
    configuration.create(
        v.CreateTopic(
            topic=name,
            partitioned=_is_partitioned(properties, configuration),
            duplicate_detection=_truth(properties, "RequiresDuplicateDetection"),
            duplicate_window=_duration(
                properties, "DuplicateDetectionHistoryTimeWindow", 600, 5, LONGEST_WINDOW
            ),
            max_size=_size(properties),
            time_to_live=_lifetime(properties),
        ),
        value,
    )
    for subscription in fields["Subscriptions"].items() if "Subscriptions" in fields else ():
        _subscription(subscription, name, configuration)


def _subscription(value: Value, topic: str, configuration: Configuration) -> None:
    name, fields = _read_named(value, "Rules")
    properties = _properties(fields, SUBSCRIPTION, configuration)
    configuration.create(
        v.CreateSubscription(
            topic=topic,
            subscription=name,
            requires_session=_truth(properties, "RequiresSession"),
            lock_duration=_duration(properties, "LockDuration", 60, 1, LONGEST_LOCK),
            max_delivery_count=_count(properties),
            forward_to=_entity(properties, "ForwardTo"),
            time_to_live=_lifetime(properties),
            dead_letter_expired=_truth(properties, "DeadLetteringOnMessageExpiration"),
            forward_dead_letters_to=_entity(properties, "ForwardDeadLetteredMessagesTo"),
        ),
        value,
    )
    rules = fields["Rules"].items() if "Rules" in fields else []
    if rules:
        default = v.RemoveRule(topic=topic, subscription=name, rule=v.DEFAULT_RULE)
        configuration.create(default, fields["Rules"])
    for rule in rules:
        rule_name, parts = read_rule(rule)
        added = v.AddRule(
            topic=topic,
            subscription=name,
            rule=rule_name,
            filter=filter_in(parts, rule_name),
            action=action_in(parts, rule_name),
        )
        configuration.create(added, rule)


def _entity(properties: dict[str, Value], name: str) -> str | None:
    """Return the name of an entity; its address, as clients of administration write it, has it."""
    written = (properties[name].text() or None) if name in properties else None
    return None if written is None else ADDRESS.sub("", written)


def _truth(properties: dict[str, Value], name: str) -> bool:
    return name in properties and properties[name].truth()


def _is_partitioned(properties: dict[str, Value], configuration: Configuration) -> bool:
    """PREM-14: return whether an entity is partitioned; by default it is as its namespace."""
    if configuration.namespace_partitions > 1 and "EnablePartitioning" not in properties:
        return True
    return _truth(properties, "EnablePartitioning")


def _duration(properties: dict[str, Value], name: str, default: int, least: int, most: int) -> int:
    return properties[name].duration(least, most) if name in properties else default * 1_000_000


def _lifetime(properties: dict[str, Value]) -> int | None:
    """Return the time to live in microseconds; `None` if it is unlimited or omitted."""
    if "DefaultMessageTimeToLive" not in properties:
        return None
    duration = properties["DefaultMessageTimeToLive"].duration(1, LONGEST_LIFE)
    return None if for_ever(duration) else duration


def _size(properties: dict[str, Value]) -> int | None:
    """Return the maximum size of an entity in GB, or `None` if it is omitted."""
    if "MaxSizeInMegabytes" not in properties:
        return None
    size, rest = divmod(properties["MaxSizeInMegabytes"].number(MB_IN_GB, 81_920), MB_IN_GB)
    if rest:
        raise properties["MaxSizeInMegabytes"].wrong(f"a multiple of {MB_IN_GB}")
    return size


def _count(properties: dict[str, Value]) -> int:
    return (
        properties["MaxDeliveryCount"].number(1, 2_000) if "MaxDeliveryCount" in properties else 10
    )
