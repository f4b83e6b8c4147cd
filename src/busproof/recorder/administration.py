"""Requests about entities over HTTP, as commands and outcomes."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.etree import ElementTree as ET

import attrs

from busproof import vocabulary as v
from busproof.adapters.amqp import entities as e
from busproof.adapters.amqp import managing as m
from busproof.broker.admin.atom import Description, Unreadable, read_description
from busproof.broker.admin.rule_descriptions import action_of, filter_of
from busproof.recorder.names import entity_of, subscription_of
from busproof.recorder.outcomes import classify_error

__all__ = ["READS", "Said", "command_of", "outcome_of", "resolve_command"]

PARTITIONS: Final = 16
"""How many partitions an entity of Standard has."""
READS: Final = (
    v.GetQueue,
    v.GetTopic,
    v.ListQueues,
    v.ListTopics,
    v.ListSubscriptions,
    v.ListRules,
)
"""Requests that change nothing."""
RULES: Final = "/rules"
LISTS: Final[dict[str, v.Command]] = {
    "$resources/queues": v.ListQueues(),
    "$resources/topics": v.ListTopics(),
}
PAGE: Final = 100
TODAY: Final = "2015"
"""First api-version of current clients; a history names earlier ones (MGMT-06)."""


@attrs.frozen
class Said:
    """A request of HTTP: its method, its target, its headers in lower case, and its body."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path of the entity that it is about."""
        return entity_of(unquote(urlsplit(self.target).path))

    @property
    def query(self) -> dict[str, str]:
        """The parameters of its target."""
        return dict(parse_qsl(urlsplit(self.target).query))


def command_of(said: Said, topics: "set[str]") -> v.Command | None:
    """Return the command that a request is; `None` if no history can say it.

    Args:
        said: the request.
        topics: the topics that are known, which a request to delete one does not tell from
            queues.
    """
    path = said.path
    if said.method == "GET":
        return _parse_get(path, said.query)
    if RULES + "/" in path:
        return _parse_rule_request(said, path)
    if said.method == "DELETE" and path and not path.startswith("$"):
        return v.DeleteTopic(topic=path) if path in topics else v.DeleteQueue(queue=path)
    if said.method == "PUT":
        return _parse_put(said, path)
    return None


def _parse_get(path: str, query: Mapping[str, str]) -> v.Command | None:
    if query.get("$skip", "0") != "0":
        return None
    if path in LISTS:
        return LISTS[path]
    if path.endswith(RULES):
        topic, subscription = subscription_of(path.removesuffix(RULES))
        return v.ListRules(topic=topic, subscription=subscription)
    if path.endswith("/subscriptions"):
        return v.ListSubscriptions(topic=path.removesuffix("/subscriptions"))
    if not path or "$" in path or RULES + "/" in path:
        return None
    return v.GetQueue(queue=path)


def _parse_rule_request(said: Said, path: str) -> v.Command | None:
    place, _, rule = path.partition(RULES + "/")
    topic, subscription = subscription_of(place)
    # The name of a rule keeps its case.
    name = unquote(urlsplit(said.target).path).rstrip("/").rpartition("/")[2]
    of: dict[str, Any] = {"topic": topic, "subscription": subscription, "rule": name or rule}
    if said.method == "DELETE":
        return v.RemoveRule(**of)
    if said.method != "PUT" or "if-match" in said.headers:
        return None
    try:
        description = read_description(said.body)
        element = description.element
        return v.AddRule(**of, filter=filter_of(element), action=action_of(element))
    except Unreadable:
        return None


KINDS: Final[dict[str, tuple[type[Any], type[Any]]]] = {
    "QueueDescription": (v.CreateQueue, v.UpdateQueue),
    "TopicDescription": (v.CreateTopic, v.UpdateTopic),
    "SubscriptionDescription": (v.CreateSubscription, v.UpdateQueue),
}


def _parse_put(said: Said, path: str) -> v.Command | None:
    try:
        description = read_description(said.body)
        if description.kind not in KINDS:
            return None
        create, update = KINDS[description.kind]
        is_update = "if-match" in said.headers
        kind = update if is_update else create
        settings = _read_settings(kind, description)
        version = said.query.get("api-version")
        if not is_update and version and version < TODAY and hasattr(kind, "api_version"):
            settings["api_version"] = version
        if kind is v.CreateQueue or kind is v.CreateTopic:
            settings.setdefault("partitioned", None)
        if is_update and "max_size" in settings:
            settings["max_size"] = _size_of_each(settings["max_size"], description)
        if is_update and kind is v.UpdateQueue:
            settings.setdefault("forward_to", "")
        return kind(**_split_path(kind, path), **settings)  # type: ignore[no-any-return] # one of six classes
    except (TypeError, Unreadable, ValueError):
        return None


def _size_of_each(size: int, description: Description) -> int:
    """Return the size in GB that an update names, of each partition if the entity has several.

    Clients send back the description that they got, which has the size of all partitions.
    """
    partitioned = description.said().get("EnablePartitioning", "").lower() == "true"
    return size // PARTITIONS if partitioned and size >= PARTITIONS else max(size, 1)


def _split_path(kind: type[Any], path: str) -> dict[str, str]:
    if kind is v.CreateSubscription:
        topic, subscription = subscription_of(path)
        return {"topic": topic, "subscription": subscription}
    return {"topic" if kind in (v.CreateTopic, v.UpdateTopic) else "queue": path}


def _read_settings(kind: type[Any], description: Description) -> dict[str, Any]:
    """Return the settings in a description that a command has."""
    texts = description.said()
    names = {field.name for field in attrs.fields(kind)}
    found: dict[str, Any] = {}
    for ours, theirs in m.WORDS.items():
        if ours not in names or theirs not in texts:
            continue
        text = texts[theirs]
        if ours in m.DURATIONS:
            value: Any = e.microseconds(text)
            if value is None:
                continue
        elif ours == "max_size":
            value = int(text) // m.MEGABYTES
        elif ours == "max_delivery_count":
            value = int(text)
        elif ours == "status":
            value = {name.lower(): status for status, name in m.STATUSES.items()}[text.lower()]
        elif ours in m.NAMES:
            value = entity_of(text)
        else:
            value = text.lower() == "true"
        found[ours] = value
    return found


def resolve_command(command: v.Command, body: bytes) -> v.Command:
    """Return the command that was meant: only the answer tells a topic from a queue."""
    if not isinstance(command, v.GetQueue):
        return command
    top = e.parse_answer(body)
    content = None if top is None else top.find(f"{{{e.ATOM}}}content")
    if content is None or not len(content) or not content[0].tag.endswith("TopicDescription"):
        return command
    return v.GetTopic(topic=command.queue)


def outcome_of(  # noqa: PLR0911 - one case for each kind of answer
    command: v.Command, status: int, body: bytes
) -> v.Outcome:
    """Return the outcome of a command, from the answer to its request.

    `Unsupported` means that no history can say what was answered; its detail says what that is.
    """
    top = e.parse_answer(body)
    if status >= 400:
        return classify_error(f"http:{status}", e.detail_of(body))
    if top is not None and top.findtext(f"{{{e.ATOM}}}title") == e.NOTHING_THERE:
        return classify_error("http:404", "there is nothing at this path")
    match command:
        case v.GetQueue(queue=path):
            return v.Described(description=m.read_queue(path, e.read_fields(top)))
        case v.GetTopic(topic=path):
            return v.TopicDescribed(description=m.read_topic(path, e.read_fields(top)))
        case v.ListQueues() | v.ListTopics() | v.ListSubscriptions():
            return _read_names(top)
        case v.ListRules():
            return _read_rules(top)
    return v.Done()


def _read_names(top: ET.Element | None) -> v.Outcome:
    names = [entry.findtext(f"{{{e.ATOM}}}title") or "" for entry in e.entries_of(top)]
    if len(names) >= PAGE:
        return v.Unsupported(detail="lists of entities of several pages")
    return v.Listed(names=tuple(entity_of(name) for name in names))


def _read_rules(top: ET.Element | None) -> v.Outcome:
    entries = e.entries_of(top)
    if len(entries) >= PAGE:
        return v.Unsupported(detail="lists of rules of several pages")
    rules = []
    for entry in entries:
        content = entry.find(f"{{{e.ATOM}}}content")
        if content is None or not len(content):
            return v.Unsupported(detail="lists of rules without descriptions")
        rules.append(
            v.SubscriptionRule(
                name=entry.findtext(f"{{{e.ATOM}}}title") or "",
                filter=filter_of(content[0]),
                action=action_of(content[0]),
            )
        )
    return v.RulesListed(rules=tuple(rules))
