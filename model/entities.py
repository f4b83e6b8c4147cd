"""Which entity a command concerns, and where subscriptions are found."""

from typing import Final

from busproof.model.commands import (
    AddRule,
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Creation,
    DeleteTopic,
    GetTopic,
    ListRules,
    ListSubscriptions,
    RemoveRule,
    UpdateTopic,
)

__all__ = [
    "SUBSCRIPTIONS",
    "concerned",
    "created_path",
    "destinations",
    "subscription_path",
]


SUBSCRIPTIONS: Final = "/subscriptions/"
"""What stands between the names of a topic and of its subscription."""


def subscription_path(topic: str, subscription: str) -> str:
    """The address of a subscription, wherever a queue's name can stand."""
    return f"{topic}{SUBSCRIPTIONS}{subscription}"


def created_path(command: Creation) -> str:
    """The address of the entity that is asked for."""
    if isinstance(command, CreateSubscription):
        return subscription_path(command.topic, command.subscription)
    return command.topic if isinstance(command, CreateTopic) else command.queue


def destinations(command: object) -> tuple[str, ...]:
    """Where a command lets an entity forward to: its messages, or its dead letters."""
    named = (getattr(command, field, None) for field in ("forward_to", "forward_dead_letters_to"))
    return tuple(name for name in named if name)


def concerned(command: Command) -> str | None:
    """The entity that has to exist for this command; `None` if none has to."""
    match command:
        case CreateQueue() | CreateTopic():
            return None
        case (
            CreateSubscription() | GetTopic() | UpdateTopic() | DeleteTopic() | ListSubscriptions()
        ):
            return command.topic
        case AddRule() | RemoveRule() | ListRules():
            return subscription_path(command.topic, command.subscription)
        case _:
            return getattr(command, "queue", None)
