"""Name of a sequence of commands that a machine found, made from the commands alone.

So the same sequence always has the same name.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.render.phrases import PARTITIONED, PROPERTIES, seconds, show_count

__all__ = ["TIMES", "join_parts", "noun", "sequence_name"]

_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")

_NOUNS: Final = {
    "SendBatch": "batch",
    "ReceiveBatch": "receive of several",
    "DeadLetter": "dead-lettering",
    "RenewLock": "renewal",
    "RenewSessionLock": "renewal of the session",
    "Schedule": "scheduling",
    "CancelScheduled": "cancellation",
    "ReceiveDeferred": "receive by sequence number",
    "AcceptSession": "accepting a session",
    "AcceptNextSession": "accepting the next session",
    "CloseSession": "closing the session",
    "BeginTransaction": "begin of a transaction",
    "CommitTransaction": "commit",
    "RollBackTransaction": "rollback",
    "TakePartitionDown": "outage of a partition",
    "BringPartitionUp": "recovery of a partition",
    "SetSessionState": "setting the session state",
    "GetSessionState": "getting the session state",
    "ListSessions": "listing sessions",
    "ListRules": "listing rules",
    "ListSubscriptions": "listing subscriptions",
    "ListQueues": "listing queues",
    "ListTopics": "listing topics",
    "GetQueue": "description of the entity",
    "GetTopic": "description of the topic",
    "UpdateQueue": "update",
    "UpdateTopic": "update",
    "DeleteQueue": "deletion of the entity",
    "DeleteTopic": "deletion of the topic",
    "AddRule": "adding a rule",
    "RemoveRule": "removing a rule",
    "CreateQueue": "creation of a queue",
    "CreateTopic": "creation of a topic",
    "CreateSubscription": "creation of a subscription",
}
"""Words for an earlier command, by its kind; other kinds are named by their class."""

_VERBS: Final = {
    "Complete": "Complete a message",
    "Abandon": "Abandon a message",
    "Defer": "Defer a message",
    "DeadLetter": "Dead-letter a message",
    "RenewLock": "Renew the lock of a message",
    "RenewSessionLock": "Renew the lock of a session",
    "CancelScheduled": "Cancel a scheduled message",
    "AcceptNextSession": "Accept the next session",
    "SetSessionState": "Set the state of a session",
    "GetSessionState": "Get the state of a session",
    "ListSessions": "List the sessions",
    "ListRules": "List the rules",
    "ListQueues": "List the queues",
    "ListTopics": "List the topics",
    "ListSubscriptions": "List the subscriptions",
    "RollBackTransaction": "Roll a transaction back",
    "TakePartitionDown": "Take down a partition",
    "BringPartitionUp": "Bring up a partition",
    "AdvanceClock": "Wait",
    "Peek": "Peek",
}
"""Words for the last command, by its kind; other kinds are named by their class."""
_CREATES: Final = (v.CreateQueue, v.CreateTopic, v.CreateSubscription, v.RestoreQueue)
_DEFAULTS: Final = {
    "partitioned": "partitioned",
    "requires_session": "requires sessions",
    "duplicate_detection": "detects duplicates",
    "dead_letter_expired": "dead-letters expired messages",
    "forward_to": "forwards",
    "forward_dead_letters_to": "forwards dead letters",
}
"""Settings that are named without their value."""
TIMES: Final = ("lock_duration", "time_to_live", "duplicate_window")


def sequence_name(commands: Sequence[v.Command]) -> str:
    """Return a name: the last command, its entity, and the kinds of commands before it.

    Args:
        commands: the commands, at least one.
    """
    *before, last = commands
    about = _entity_of(last)
    created = [command for command in before if isinstance(command, _CREATES)]
    within = _is_within(last)
    name = f"{_last(last, about, created)}{', in a transaction' * within}"
    past = list(_past(before, about, last))
    if within or any(map(_is_within, before)):
        past = [words for words in past if words != _NOUNS["BeginTransaction"]]
    return f"{name}, after {join_parts(past)}" if past else name


def _last(last: v.Command, about: str, created: Sequence[v.Command]) -> str:
    if isinstance(last, v.UpdateQueue | v.UpdateTopic):
        changes = _changes(last)
        return f"Update {_entity_words(about, created)}" + f" so that it {changes}" * bool(changes)
    if not about or isinstance(last, _CREATES):
        return _request_words(last)
    return f"{_request_words(last)} {_preposition(last)} {_entity_words(about, created)}"


def _is_within(command: v.Command) -> bool:
    """Return whether a command is part of a transaction, other than by beginning or ending it."""
    ends = isinstance(command, v.BeginTransaction | v.CommitTransaction | v.RollBackTransaction)
    return not ends and getattr(command, "transaction", None) is not None


def join_parts(parts: Sequence[str]) -> str:
    """Return the parts as a list in a sentence, such as `a, b and c`."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _past(before: Iterable[v.Command], about: str, last: v.Command) -> Iterator[str]:
    """Yield words for the earlier commands, without the one that created the last one's entity."""
    created = set[str]()
    nouns = []
    for command in before:
        path = _entity_of(command)
        if _creates(command, about, last) and path not in created:
            created.add(path)
        else:
            nouns.append(noun(command))
    for words, several in groupby(nouns):
        times = len(list(several))
        yield f"{words} {'twice' if times == 2 else f'{times} times'}" if times > 1 else words


def _creates(command: v.Command, about: str, last: v.Command) -> bool:
    if not isinstance(command, _CREATES) or isinstance(last, _CREATES):
        return False
    return f"{v.owner_of(about)}/".startswith(f"{_entity_of(command)}/")


def noun(command: v.Command) -> str:
    """Return a noun for a command, such as `send in a transaction`."""
    if isinstance(command, v.AdvanceClock):
        return f"a wait of {seconds(command.duration)}"
    kind = type(command).__name__
    words = _NOUNS.get(kind, _split_words(kind))
    if isinstance(command, v.UpdateQueue | v.UpdateTopic):
        words = f"{words} to {_changes(command).removeprefix('has ')}".removesuffix(" to ")
    return f"{words} in a transaction" if _is_within(command) else words


def _split_words(kind: str) -> str:
    return _WORD.sub(" ", kind).lower()


def _preposition(command: v.Command) -> str:
    kind = type(command)
    if kind in (v.Send, v.SendBatch, v.Schedule, v.AddRule):
        return "to"
    if kind in (v.Receive, v.ReceiveBatch, v.ReceiveDeferred, v.RemoveRule):
        return "from"
    return "at" if kind is v.Peek else "of"


def _request_words(command: v.Command) -> str:  # noqa: PLR0911 - one return a case
    """Return words for a command with the values that matter, without its entity."""
    match command:
        case v.Send(message=message):
            return f"Send {_message_words(message)}"
        case v.Schedule(message=message, delay=delay):
            return f"Schedule {_message_words(message)} in {seconds(delay)}"
        case v.SendBatch(messages=messages):
            kinds = list(dict.fromkeys(_message_words(message) for message in messages))
            shown = kinds[0] if len(kinds) == 1 else "different messages"
            return f"Send a batch of {len(messages)}: {shown}"
        case v.GetQueue() | v.GetTopic():
            return "Get the description"
        case v.Receive() | v.ReceiveBatch() | v.ReceiveDeferred():
            several = (
                f" up to {show_count(command.count, 'message')}"
                if isinstance(command, v.ReceiveBatch)
                else ""
            )
            numbers = " by sequence number" * isinstance(command, v.ReceiveDeferred)
            within = " in a session" * (command.session_id is not None)
            deletes = " and delete" * (command.mode is v.ReceiveMode.RECEIVE_AND_DELETE)
            return f"Receive{several}{numbers}{within}{deletes}"
        case _ if type(command).__name__ in _VERBS:
            return _VERBS[type(command).__name__]
        case _:
            verb, *rest = _split_words(type(command).__name__).split()
            request = f"{verb.capitalize()} a {' '.join(rest)}" if rest else verb.capitalize()
            changes = _changes(command)
            return f"{request} that {changes}" if changes else request


def _changes(command: v.Command) -> str:
    known = (*_DEFAULTS, *TIMES, "max_size", "max_delivery_count", "status", "api_version")
    name = _entity_of(command).rpartition("/")[2]
    long = [f"has a name of {len(name)} characters"] if len(name) > _LONG else []
    return join_parts([*_settings(command, known), *long])


def _settings(command: Any, names: Iterable[str]) -> Iterator[str]:
    """Yield words for the settings in a command that differ from the defaults."""
    for name in names:
        field = attrs.fields_dict(type(command)).get(name)
        value: Any = getattr(command, name, None)
        if field is None or value == field.default:
            continue
        if name == "partitioned":
            yield "leaves partitioning open" if value is None else f"is {PARTITIONED[value]}"
        elif name in _DEFAULTS:
            yield _DEFAULTS[name] if value else f"no longer {_DEFAULTS[name]}"
        else:
            shown = seconds(value) if name in TIMES else getattr(value, "value", value)
            unit = " GB" if name == "max_size" else ""
            yield f"has {name.replace('_', ' ')} {shown}{unit}"


def _message_words(message: v.Message) -> str:
    """Return words for what is special about a message: its keys, its size, its time to live."""
    parts = list(_key_words(message))
    others = [name for name, field in PROPERTIES.items() if getattr(message, field) is not None]
    keys = ("MessageId", "SessionId", "PartitionKey")
    parts += [
        _long(name, getattr(message, PROPERTIES[name])) for name in others if name not in keys
    ]
    parts += ["properties"] if message.properties else []
    parts += [show_count(message.size, "byte")] if message.size is not None else []
    life = message.time_to_live
    parts += [f"time to live {seconds(life)}"] if life is not None else []
    return f"a message with {join_parts(parts)}" if parts else "a message"


def _key_words(message: v.Message) -> Iterator[str]:
    session = message.session_id
    key = message.partition_key
    if message.message_id is not None:
        yield _long("MessageId", message.message_id)
    if session is not None and key is not None:
        yield "SessionId and the same PartitionKey" * (session == key) or (
            "SessionId and another PartitionKey"
        )
    elif session is not None or key is not None:
        name = "PartitionKey" if session is None else "SessionId"
        yield _long(name, str(key if session is None else session))


def _long(name: str, value: str) -> str:
    """Return the name of a property, with a remark if its value is empty or long."""
    if not value:
        return f"empty {name}"
    return f"{name} of {len(value)} characters" if len(value) > _LONG else name


_LONG: Final = 40


def _entity_of(command: v.Command) -> str:
    """Return the path of the entity in a command; empty if there is none."""
    topic = getattr(command, "topic", None)
    subscription = getattr(command, "subscription", None)
    if topic is not None:
        return topic if subscription is None else f"{topic}{v.SUBSCRIPTIONS}{subscription}"
    return str(getattr(command, "queue", ""))


def _entity_words(path: str, created: Sequence[v.Command]) -> str:
    """Return words for an entity: its kind, and the settings that it was created with."""
    owner = v.owner_of(path)
    requests = [command for command in created if f"{owner}/".startswith(f"{_entity_of(command)}/")]
    kind = "subscription" if v.SUBSCRIPTIONS in owner else "queue"
    if any(isinstance(request, v.CreateTopic) for request in requests) and kind == "queue":
        kind = "topic"
    traits = [text for request in requests for text in _settings(request, (*_DEFAULTS, *TIMES))]
    named = f"a {kind} that {join_parts(list(dict.fromkeys(traits)))}" if traits else f"a {kind}"
    if path.endswith(v.TRANSFERS):
        return f"the transfer dead-letter queue of {named}"
    if path.endswith(v.DEAD_LETTERS):
        return f"the dead-letter queue of {named}"
    return named if requests else f"a {kind} that does not exist"
