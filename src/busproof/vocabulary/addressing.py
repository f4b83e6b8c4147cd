"""The entities that a command addresses, creates or forwards to."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

from busproof.vocabulary.commands import (
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
from busproof.vocabulary.paths import subscription_path

__all__ = ["concerned", "created_path", "destinations"]


def created_path(command: Creation) -> str:
    """Return the path of the entity that a command creates."""
    if isinstance(command, CreateSubscription):
        return subscription_path(command.topic, command.subscription)
    return command.topic if isinstance(command, CreateTopic) else command.queue


def destinations(command: object) -> tuple[str, ...]:
    """Return the destinations that a command sets for forwarding messages or dead letters."""
    kind: Any = type(command)
    fields = _forwarding_fields(kind)
    if not fields:
        return ()
    return tuple(name for field in fields if (name := getattr(command, field)))


@cache
def _forwarding_fields(kind: type) -> tuple[str, ...]:
    """Return the forwarding fields of a kind of command; cached, because most have none."""
    both = ("forward_to", "forward_dead_letters_to")
    return tuple(field for field in both if hasattr(kind, field))


def concerned(command: Command) -> str | None:
    """Return the path of the entity that has to exist for this command; `None` if none has to."""
    kind: Any = type(command)
    return _how_concerned(kind)(command)


@cache
def _how_concerned(kind: type) -> Callable[[Any], str | None]:
    """Return the function that finds a command's entity; cached, because every request needs it."""
    if issubclass(kind, CreateQueue | CreateTopic):
        return _nobody
    if issubclass(
        kind, CreateSubscription | GetTopic | UpdateTopic | DeleteTopic | ListSubscriptions
    ):
        return attrgetter("topic")
    if issubclass(kind, AddRule | RemoveRule | ListRules):
        return _subscription
    return attrgetter("queue") if hasattr(kind, "queue") else _nobody


def _nobody(_: object) -> None:
    return None


def _subscription(command: AddRule | RemoveRule | ListRules) -> str:
    return subscription_path(command.topic, command.subscription)
