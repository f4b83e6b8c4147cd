"""Which entity a command concerns, and where subscriptions are found."""

from busproof.model.commands import (
    AddRule,
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    ListRules,
    RemoveRule,
)

__all__ = ["concerned", "subscription_path"]


def subscription_path(topic: str, subscription: str) -> str:
    """The address of a subscription, wherever a queue's name can stand."""
    return f"{topic}/subscriptions/{subscription}"


def concerned(command: Command) -> str | None:
    """The entity that has to exist for this command; `None` if none has to."""
    match command:
        case CreateQueue() | CreateTopic():
            return None
        case CreateSubscription(topic=topic):
            return topic
        case AddRule() | RemoveRule() | ListRules():
            return subscription_path(command.topic, command.subscription)
        case _:
            return getattr(command, "queue", None)
