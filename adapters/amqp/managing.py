"""Commands about entities and subscription rules."""

from typing import Any, Final

from proton import int32

from busproof import vocabulary as v
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.entities import API_VERSION, duration, microseconds
from busproof.adapters.amqp.links import several
from busproof.adapters.amqp.receiving import NO_CONTENT
from busproof.adapters.amqp.rules import rule_of, write_rule
from busproof.adapters.amqp.scenario import Scenario
from busproof.adapters.amqp.table import asks
from busproof.vocabulary import commands as c
from busproof.vocabulary import outcomes as o

__all__ = [
    "DURATIONS",
    "MEGABYTES",
    "NAMES",
    "STATUSES",
    "WORDS",
    "add_rule",
    "create_queue",
    "create_subscription",
    "create_topic",
    "delete_queue",
    "delete_topic",
    "get_queue",
    "get_topic",
    "list_queues",
    "list_rules",
    "list_subscriptions",
    "list_topics",
    "read_queue",
    "read_topic",
    "remove_rule",
    "update_queue",
    "update_topic",
]

PAGE: Final = 100
MEGABYTES: Final = 1024
"""Megabytes in a gigabyte."""

WORDS: Final = {
    "partitioned": "EnablePartitioning",
    "requires_session": "RequiresSession",
    "duplicate_detection": "RequiresDuplicateDetection",
    "duplicate_window": "DuplicateDetectionHistoryTimeWindow",
    "lock_duration": "LockDuration",
    "max_delivery_count": "MaxDeliveryCount",
    "max_size": "MaxSizeInMegabytes",
    "forward_to": "ForwardTo",
    "forward_dead_letters_to": "ForwardDeadLetteredMessagesTo",
    "time_to_live": "DefaultMessageTimeToLive",
    "dead_letter_expired": "DeadLetteringOnMessageExpiration",
    "status": "Status",
}
"""Settings in the vocabulary, and their names in the service."""

OF_TOPICS: Final = (
    "DefaultMessageTimeToLive",
    "MaxSizeInMegabytes",
    "RequiresDuplicateDetection",
    "DuplicateDetectionHistoryTimeWindow",
    "Status",
    "EnablePartitioning",
)
OF_SUBSCRIPTIONS: Final = (
    "LockDuration",
    "RequiresSession",
    "DefaultMessageTimeToLive",
    "DeadLetteringOnMessageExpiration",
    "MaxDeliveryCount",
    "Status",
    "ForwardTo",
    "ForwardDeadLetteredMessagesTo",
)
OF_QUEUES: Final = (
    "LockDuration",
    "MaxSizeInMegabytes",
    "RequiresDuplicateDetection",
    "RequiresSession",
    "DefaultMessageTimeToLive",
    "DeadLetteringOnMessageExpiration",
    "DuplicateDetectionHistoryTimeWindow",
    "MaxDeliveryCount",
    "Status",
    "ForwardTo",
    "EnablePartitioning",
    "ForwardDeadLetteredMessagesTo",
)
ORDERS: Final[dict[str, tuple[str, ...]]] = {
    "QueueDescription": OF_QUEUES,
    "TopicDescription": OF_TOPICS,
    "SubscriptionDescription": OF_SUBSCRIPTIONS,
}
"""Order of the elements in each description; a service may ignore an element out of order."""

STATUSES: Final = {
    v.EntityStatus.ACTIVE: "Active",
    v.EntityStatus.DISABLED: "Disabled",
    v.EntityStatus.SEND_DISABLED: "SendDisabled",
    v.EntityStatus.RECEIVE_DISABLED: "ReceiveDisabled",
}
NAMES: Final = frozenset({"forward_to", "forward_dead_letters_to"})
DURATIONS: Final = frozenset({"duplicate_window", "lock_duration", "time_to_live"})
UNAVAILABLE_NAMES: Final = frozenset({"Limited", "Restoring", "Renaming", "Unknown"})


def _properties(scenario: Scenario, command: Any, kind: str) -> dict[str, str]:
    """Return a command's settings that are not `None`, as the service names and orders them."""
    properties = {}
    for ours, theirs in WORDS.items():
        value = getattr(command, ours, None)
        if value is None:
            continue
        if ours in DURATIONS:
            properties[theirs] = duration(value)
        elif ours == "max_size":
            properties[theirs] = str(value * MEGABYTES)
        elif ours == "status":
            properties[theirs] = STATUSES[value]
        elif ours in NAMES:
            properties[theirs] = scenario.path(value) if value else ""
        else:
            properties[theirs] = str(value).lower() if isinstance(value, bool) else str(value)
    return _order(properties, kind)


def _order(properties: dict[str, str], kind: str) -> dict[str, str]:
    return {name: properties[name] for name in ORDERS[kind] if name in properties}


@asks(c.CreateQueue)
def create_queue(scenario: Scenario, command: c.CreateQueue, client: AmqpClient) -> o.Outcome:
    """Create a queue."""
    return _create(scenario, command.queue, command, "QueueDescription")


@asks(c.CreateTopic)
def create_topic(scenario: Scenario, command: c.CreateTopic, client: AmqpClient) -> o.Outcome:
    """Create a topic."""
    return _create(scenario, command.topic, command, "TopicDescription")


def _create(
    scenario: Scenario, name: str, command: c.CreateQueue | c.CreateTopic, kind: str
) -> o.Outcome:
    version = API_VERSION if command.api_version is None else command.api_version
    properties = _properties(scenario, command, kind)
    scenario.setting.entities.put(scenario.made(name), kind, properties, version=version)
    return o.Done()


@asks(c.CreateSubscription)
def create_subscription(
    scenario: Scenario, command: c.CreateSubscription, client: AmqpClient
) -> o.Outcome:
    """Create a subscription."""
    path = scenario.path(v.subscription_path(command.topic, command.subscription))
    properties = _properties(scenario, command, "SubscriptionDescription")
    scenario.setting.entities.put(path, "SubscriptionDescription", properties)
    return o.Done()


@asks(c.UpdateQueue)
def update_queue(scenario: Scenario, command: c.UpdateQueue, client: AmqpClient) -> o.Outcome:
    """Update a queue or a subscription."""
    kind = "SubscriptionDescription" if v.SUBSCRIPTIONS in command.queue else "QueueDescription"
    return _update(scenario, command.queue, command, kind)


@asks(c.UpdateTopic)
def update_topic(scenario: Scenario, command: c.UpdateTopic, client: AmqpClient) -> o.Outcome:
    """Update a topic."""
    return _update(scenario, command.topic, command, "TopicDescription")


def _update(
    scenario: Scenario, name: str, command: c.UpdateQueue | c.UpdateTopic, kind: str
) -> o.Outcome:
    """Update an entity by sending its current description with the changes."""
    entities, path = scenario.setting.entities, scenario.path(name)
    properties = entities.get(path) | _properties(scenario, command, kind)
    # A description without ForwardTo ends forwarding.
    changed = {name: text for name, text in properties.items() if name != "ForwardTo" or text}
    entities.put(path, kind, _order(changed, kind), change=True)
    return o.Done()


@asks(c.DeleteQueue)
def delete_queue(scenario: Scenario, command: c.DeleteQueue, client: AmqpClient) -> o.Outcome:
    """Delete a queue or a subscription."""
    scenario.setting.entities.delete(scenario.path(command.queue))
    return o.Done()


@asks(c.DeleteTopic)
def delete_topic(scenario: Scenario, command: c.DeleteTopic, client: AmqpClient) -> o.Outcome:
    """Delete a topic."""
    scenario.setting.entities.delete(scenario.path(command.topic))
    return o.Done()


@asks(c.GetTopic)
def get_topic(scenario: Scenario, command: c.GetTopic, client: AmqpClient) -> o.Outcome:
    """Return the description of a topic."""
    entry = scenario.setting.entities.get(scenario.path(command.topic))
    return o.TopicDescribed(description=read_topic(command.topic, entry))


def read_topic(topic: str, entry: dict[str, str]) -> o.TopicDescription:
    """Return the description of a topic from its texts by name."""
    return o.TopicDescription(
        topic=topic,
        partitioned=_truth(entry.get("EnablePartitioning")),
        duplicate_detection=_truth(entry.get("RequiresDuplicateDetection")),
        duplicate_window=_time(entry.get("DuplicateDetectionHistoryTimeWindow")),
        time_to_live=_time(entry.get("DefaultMessageTimeToLive")),
        max_size=_gigabytes(entry.get("MaxSizeInMegabytes")),
        subscription_count=_whole(entry.get("SubscriptionCount")),
        availability=_availability(entry.get("EntityAvailabilityStatus")),
    )


@asks(c.GetQueue)
def get_queue(scenario: Scenario, command: c.GetQueue, client: AmqpClient) -> o.Outcome:
    """Return the description of a queue or a subscription."""
    entry = scenario.setting.entities.get(scenario.path(command.queue))
    return o.Described(description=read_queue(command.queue, entry))


def read_queue(queue: str, entry: dict[str, str]) -> o.QueueDescription:
    """Return the description of a queue or subscription from its texts by name."""
    return o.QueueDescription(
        queue=queue,
        partitioned=_truth(entry.get("EnablePartitioning")),
        requires_session=_truth(entry.get("RequiresSession")),
        duplicate_detection=_truth(entry.get("RequiresDuplicateDetection")),
        duplicate_window=_time(entry.get("DuplicateDetectionHistoryTimeWindow")),
        lock_duration=_time(entry.get("LockDuration")),
        max_delivery_count=_whole(entry.get("MaxDeliveryCount")),
        time_to_live=_time(entry.get("DefaultMessageTimeToLive")),
        max_size=_gigabytes(entry.get("MaxSizeInMegabytes")),
        message_count=_count_messages(entry),
        size=_whole(entry.get("SizeInBytes")),
        availability=_availability(entry.get("EntityAvailabilityStatus")),
        transfer_dead_letters=_whole(entry.get("TransferDeadLetterMessageCount")),
    )


def _count_messages(entry: dict[str, str]) -> int | None:
    """Return the number of messages of an entity, not counting its dead letters."""
    whole, dead = _whole(entry.get("MessageCount")), _whole(entry.get("DeadLetterMessageCount"))
    return None if whole is None else whole - (dead or 0)


def _availability(text: str | None) -> v.Availability | None:
    if text is None:
        return None
    return v.Availability.LIMITED if text in UNAVAILABLE_NAMES else v.Availability.AVAILABLE


def _truth(text: str | None) -> bool | None:
    return None if text is None else text.lower() == "true"


def _whole(text: str | None) -> int | None:
    return None if text is None or not text.isdecimal() else int(text)


def _time(text: str | None) -> int | None:
    return None if text is None else microseconds(text)


def _gigabytes(text: str | None) -> int | None:
    megabytes = _whole(text)
    return None if megabytes is None or megabytes % MEGABYTES else megabytes // MEGABYTES


@asks(c.ListQueues)
def list_queues(scenario: Scenario, command: c.ListQueues, client: AmqpClient) -> o.Outcome:
    """Return the names of the queues that this scenario created."""
    return _ours(scenario, "queues")


@asks(c.ListTopics)
def list_topics(scenario: Scenario, command: c.ListTopics, client: AmqpClient) -> o.Outcome:
    """Return the names of the topics that this scenario created."""
    return _ours(scenario, "topics")


def _ours(scenario: Scenario, kind: str) -> o.Outcome:
    prefix = scenario.setting.prefix
    names = scenario.setting.entities.names(f"$Resources/{kind}")
    ours = (name.removeprefix(prefix) for name in names if name.startswith(prefix))
    return o.Listed(names=tuple(ours))


@asks(c.ListSubscriptions)
def list_subscriptions(
    scenario: Scenario, command: c.ListSubscriptions, client: AmqpClient
) -> o.Outcome:
    """Return the names of a topic's subscriptions."""
    path = scenario.path(command.topic)
    names = scenario.setting.entities.names(f"{path}/subscriptions")
    return o.Listed(names=tuple(names))


@asks(c.AddRule)
def add_rule(scenario: Scenario, command: c.AddRule, client: AmqpClient) -> o.Outcome:
    """Add a rule to a subscription."""
    asker, transaction = scenario.part_of(command.transaction, client)
    description = write_rule(command.filter, command.action)
    body = {"rule-name": command.rule, "rule-description": description}
    asker.request(_subscription(scenario, command), "add-rule", body, transaction)
    return o.Done()


@asks(c.RemoveRule)
def remove_rule(scenario: Scenario, command: c.RemoveRule, client: AmqpClient) -> o.Outcome:
    """Remove a rule from a subscription."""
    asker, transaction = scenario.part_of(command.transaction, client)
    body = {"rule-name": command.rule}
    asker.request(_subscription(scenario, command), "remove-rule", body, transaction)
    return o.Done()


@asks(c.ListRules)
def list_rules(scenario: Scenario, command: c.ListRules, client: AmqpClient) -> o.Outcome:
    """Return the rules of a subscription."""
    path = _subscription(scenario, command)
    rules: list[v.SubscriptionRule] = []
    while True:
        body = {"top": int32(PAGE), "skip": int32(len(rules))}
        status, answer = client.request(path, "enumerate-rules", body)
        page = [] if status == NO_CONTENT else several(answer.get("rules"))
        rules += [rule_of(entry["rule-description"]) for entry in page]
        if len(page) < PAGE:
            return o.RulesListed(rules=tuple(rules))


def _subscription(scenario: Scenario, command: c.AddRule | c.RemoveRule | c.ListRules) -> str:
    return scenario.path(v.subscription_path(command.topic, command.subscription))
