"""The administration of entities over HTTP: created, told, changed, listed and deleted."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.etree import ElementTree as ET

from busproof.broker import atom
from busproof.broker.bus import Answer as Decided
from busproof.broker.http import Answer, Request
from busproof.broker.hub import Hub
from busproof.broker.refusals import refusal_of
from busproof.broker.tokens import TokenError
from busproof.model.commands import (
    AddRule,
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    ListRules,
    RemoveRule,
    UpdateQueue,
)
from busproof.model.dead_letters import SUFFIX
from busproof.model.entities import SUBSCRIPTIONS
from busproof.model.filters import DEFAULT_RULE, SubscriptionRule
from busproof.model.outcomes import RulesListed
from busproof.model.state import Queue, Subscription, Topic

__all__ = ["Entities"]

XML: Final = "application/atom+xml;type=entry;charset=utf-8"
KINDS: Final = {"QueueDescription", "TopicDescription", "SubscriptionDescription"}
FOR_EVER: Final = "P10675199DT2H48M5.4775807S"
DEFAULTS: Final = {
    "DefaultMessageTimeToLive": FOR_EVER,
    "AutoDeleteOnIdle": FOR_EVER,
    "DeadLetteringOnMessageExpiration": "false",
    "EnableBatchedOperations": "true",
    "Status": "Active",
    "MaxSizeInMegabytes": "1024",
    "SupportOrdering": "true",
    "EnableExpress": "false",
    "EntityAvailabilityStatus": "Available",
}
"""What is told of each entity and does not come from the model."""

APPLIED: Final = {
    "LockDuration",
    "RequiresSession",
    "RequiresDuplicateDetection",
    "DuplicateDetectionHistoryTimeWindow",
    "MaxDeliveryCount",
    "EnablePartitioning",
    "ForwardTo",
    "Name",
}
HARMLESS: Final = {"UserMetadata", "EnableBatchedOperations", "SupportOrdering", "CreatedAt"}


class Entities:
    """Answers what administration clients ask.

    Args:
        hub: the broker's inside.
        warn: is told of what a client asks for that has no effect.
    """

    def __init__(self, hub: Hub, warn: Callable[[str], None]) -> None:
        self._hub = hub
        self._warn = warn
        self._said: dict[str, dict[str, str]] = {}
        """Path to what was written of an entity and is not the model's."""

    def answer(self, request: Request) -> Answer:
        """Answer one request."""
        url = urlsplit(request.target)
        path = unquote(url.path).strip("/")
        try:
            self._authorize(request, path)
            status, body = self._answered(request, path, dict(parse_qsl(url.query)))
        except atom.Unreadable as problem:
            status, body = problem.status, atom.error(problem.status, problem.sentence)
        return Answer(status, body, XML)

    def _authorize(self, request: Request, path: str) -> None:
        hub = self._hub
        try:
            claim = hub.keys.claim(request.headers.get("authorization", ""), path, hub.wall())
        except TokenError as error:
            raise atom.Unreadable(str(error), 401) from None
        if "Manage" not in claim.rights:
            raise atom.Unreadable("The Manage claim is required for this operation.", 401)

    def _answered(self, request: Request, path: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        parts = path.split("/")
        low = [each.lower() for each in parts]
        if len(parts) > 2 and low[-2] == "rules":
            return self._rule(request, "/".join(parts[:-2]), parts[-1])
        if request.method == "PUT":
            return self._put(request, path)
        if request.method == "GET":
            return 200, self._told(path, query)
        if request.method == "DELETE":
            return self._deleted(self._known(path))
        raise atom.Unreadable(f"{request.method} is not understood here.", 405)

    def _told(self, path: str, query: Mapping[str, str]) -> bytes:
        above, _, last = path.rpartition("/")
        kind = last.lower()
        if not above and kind == "$namespaceinfo":
            return self._namespace()
        if above.lower() == "$resources":
            return self._listed(kind, query)
        if above and kind == "rules":
            return self._rules(above, query)
        if above and kind == "subscriptions":
            return self._subscriptions(above, query)
        return self._entry(self._known(path))

    def _known(self, path: str) -> str:
        known = self._hub.bus.path(path)
        if self._hub.bus.entity(known) is None or known.endswith(SUFFIX):
            raise atom.Unreadable(f"Entity '{path}' was not found.", 404)
        return known

    def _ask(self, command: Command) -> Decided:
        answer = self._hub.bus.ask(command, "administration")
        if (refusal := refusal_of(answer)) is not None:
            raise atom.Unreadable(refusal.description, refusal.status)
        self._hub.changed()
        return answer

    def _put(self, request: Request, path: str) -> tuple[int, bytes]:
        description = atom.read_description(request.body)
        if description.kind not in KINDS:
            raise atom.Unreadable(f"There is no {description.kind!r} to be had here.")
        said = description.said()
        if "if-match" in request.headers:
            return self._updated(self._known(path), description.kind, said)
        command = _creation(path, description.kind, said)
        self._ask(command)
        self._hub.bus.known_as(path)
        self._remember(path, said)
        rule = description.child("DefaultRuleDescription")
        if isinstance(command, CreateSubscription) and rule is not None and len(rule):
            self._replace_default(command, rule)
        return 201, self._entry(path)

    def _replace_default(self, command: CreateSubscription, rule: ET.Element) -> None:
        name = rule.findtext(f"{{{atom.SB}}}Name") or DEFAULT_RULE
        topic, subscription = command.topic, command.subscription
        self._ask(RemoveRule(topic=topic, subscription=subscription, rule=DEFAULT_RULE))
        chosen = atom.filter_of(rule)
        self._ask(AddRule(topic=topic, subscription=subscription, rule=name, filter=chosen))

    def _remember(self, path: str, said: Mapping[str, str]) -> None:
        kept = {name: text for name, text in said.items() if name not in APPLIED}
        self._said[path] = kept
        idle = {
            name
            for name, text in kept.items()
            if name not in HARMLESS and text != DEFAULTS.get(name) and not text.startswith("P1067")
        }
        if idle:
            self._warn(f"{', '.join(sorted(idle))} of '{path}' has no effect here")

    def _updated(self, path: str, kind: str, said: Mapping[str, str]) -> tuple[int, bytes]:
        if kind != "QueueDescription":
            raise atom.Unreadable("Only queues can be changed here.", 501)
        lock, count = said.get("LockDuration"), said.get("MaxDeliveryCount")
        self._ask(
            UpdateQueue(
                queue=path,
                partitioned=_truth_or_none(said, "EnablePartitioning"),
                requires_session=_truth_or_none(said, "RequiresSession"),
                duplicate_detection=_truth_or_none(said, "RequiresDuplicateDetection"),
                lock_duration=None if lock is None else atom.microseconds(lock, "LockDuration"),
                max_delivery_count=None if count is None else _whole(count, "MaxDeliveryCount"),
            )
        )
        self._remember(path, said)
        return 200, self._entry(path)

    def _deleted(self, path: str) -> tuple[int, bytes]:
        queue = self._hub.bus.namespace.queues[path]
        if queue.role is not None:
            raise atom.Unreadable("Topics and subscriptions cannot be deleted here.", 501)
        self._ask(DeleteQueue(queue=path))
        self._hub.bus.forget(path)
        self._said.pop(path, None)
        return 200, b""

    def _entry(self, path: str) -> bytes:
        description = self._description(path)
        return atom.entry(_title(path), f"/{path}", self._moment(), description)

    def _description(self, path: str) -> ET.Element:
        queues = self._hub.bus.namespace.queues
        queue, dead = queues[path], queues.get(path + SUFFIX)
        kind = "Queue"
        if queue.role is not None:
            kind = "Topic" if isinstance(queue.role, Topic) else "Subscription"
        held = len(queue.messages) + (0 if dead is None else len(dead.messages))
        later = len(queue.calendar.entries)
        counts = {
            "ActiveMessageCount": len(queue.messages),
            "DeadLetterMessageCount": 0 if dead is None else len(dead.messages),
            "ScheduledMessageCount": later,
            "TransferMessageCount": 0,
            "TransferDeadLetterMessageCount": 0,
        }
        said = self._properties(path, queue) | {"MessageCount": str(held + later)}
        if kind == "Topic":
            role = queue.role
            subscriptions = role.subscriptions if isinstance(role, Topic) else ()
            said["SubscriptionCount"] = str(len(subscriptions))
        return atom.written(f"{kind}Description", said, counts)

    def _properties(self, path: str, queue: Queue) -> dict[str, str]:
        settings, told = queue.settings, dict(DEFAULTS)
        told |= self._said.get(path, {})
        told |= {
            "LockDuration": _written(settings.lock_duration),
            "RequiresSession": _word(settings.requires_session),
            "RequiresDuplicateDetection": _word(settings.duplicate_detection),
            "DuplicateDetectionHistoryTimeWindow": _written(settings.duplicate_window),
            "MaxDeliveryCount": str(settings.max_delivery_count),
            "EnablePartitioning": _word(bool(settings.partitioned)),
            "SizeInBytes": "0",
        }
        if settings.forward_to is not None:
            told["ForwardTo"] = settings.forward_to
        if queue.outages.down:
            told["EntityAvailabilityStatus"] = "Limited"
        moment = self._moment()
        return told | {"CreatedAt": moment, "UpdatedAt": moment, "AccessedAt": moment}

    def _listed(self, what: str, query: Mapping[str, str]) -> bytes:
        queues = self._hub.bus.namespace.queues
        if what not in ("queues", "topics"):
            raise atom.Unreadable(f"There is no list of {what!r}.", 404)
        wanted = Topic if what == "topics" else type(None)
        names = [name for name in self._hub.bus.names() if isinstance(queues[name].role, wanted)]
        return self._feed(what, names, query)

    def _subscriptions(self, path: str, query: Mapping[str, str]) -> bytes:
        role = self._hub.bus.namespace.queues[self._known(path)].role
        names = sorted(role.subscriptions) if isinstance(role, Topic) else []
        return self._feed("subscriptions", names, query)

    def _feed(self, title: str, names: list[str], query: Mapping[str, str]) -> bytes:
        page = _page(names, query)
        found = [(_title(name), f"/{name}", self._description(name)) for name in page]
        return atom.feed(title, f"/{title}", self._moment(), found)

    def _rules(self, path: str, query: Mapping[str, str]) -> bytes:
        rules = {each.name: each for each in self._found_rules(path)}
        page = _page(sorted(rules), query)
        moment = self._moment()
        found = [
            (name, f"/{path}/rules/{name}", atom.rule_element(rules[name], moment)) for name in page
        ]
        return atom.feed("rules", f"/{path}/rules", moment, found)

    def _found_rules(self, path: str) -> tuple[SubscriptionRule, ...]:
        topic, subscription = self._subscription(path)
        outcome = self._ask(ListRules(topic=topic, subscription=subscription)).outcome
        return outcome.rules if isinstance(outcome, RulesListed) else ()

    def _subscription(self, path: str) -> tuple[str, str]:
        known = self._known(path)
        if not isinstance(self._hub.bus.namespace.queues[known].role, Subscription):
            raise atom.Unreadable(f"Entity '{path}' is no subscription.", 404)
        topic, _, subscription = known.partition(SUBSCRIPTIONS)
        return topic, subscription

    def _rule(self, request: Request, path: str, name: str) -> tuple[int, bytes]:
        topic, subscription = self._subscription(path)
        known = {each.name: each for each in self._found_rules(path)}
        if request.method == "PUT":
            if "if-match" in request.headers:
                raise atom.Unreadable("Rules cannot be changed here; add another one.", 501)
            chosen = atom.filter_of(atom.read_description(request.body).element)
            self._ask(AddRule(topic=topic, subscription=subscription, rule=name, filter=chosen))
            made = SubscriptionRule(name=name, filter=chosen)
            return 201, self._rule_entry(path, made)
        if name not in known:
            raise atom.Unreadable(f"Rule '{name}' of '{path}' was not found.", 404)
        if request.method == "DELETE":
            self._ask(RemoveRule(topic=topic, subscription=subscription, rule=name))
            return 200, b""
        return 200, self._rule_entry(path, known[name])

    def _rule_entry(self, path: str, rule: SubscriptionRule) -> bytes:
        moment = self._moment()
        element = atom.rule_element(rule, moment)
        return atom.entry(rule.name, f"/{path}/rules/{rule.name}", moment, element)

    def _namespace(self) -> bytes:
        tier = self._hub.bus.namespace.profile.tier.value.capitalize()
        moment = self._moment()
        said = {
            "CreatedTime": moment,
            "MessagingSKU": tier,
            "ModifiedTime": moment,
            "Name": "sbemulatorns",
            "NamespaceType": "Messaging",
        }
        if tier == "Premium":
            said["MessagingUnits"] = "1"
        return atom.entry(
            "sbemulatorns", "/$namespaceinfo", moment, atom.written("NamespaceInfo", said, None)
        )

    def _moment(self) -> str:
        now = self._hub.now_ms() / 1000
        return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _title(path: str) -> str:
    return path.partition(SUBSCRIPTIONS)[2] or path


def _page(names: list[str], query: Mapping[str, str]) -> list[str]:
    skip, top = _whole(query.get("$skip", "0"), "$skip"), _whole(query.get("$top", "100"), "$top")
    return names[skip : skip + top]


def _whole(text: str, name: str) -> int:
    if not text.isdecimal():
        raise atom.Unreadable(f"{name} is {text!r}; it has to be a whole number.")
    return int(text)


def _truth_or_none(said: Mapping[str, str], name: str) -> bool | None:
    return _truth(said, name) if name in said else None


def _truth(said: Mapping[str, str], name: str) -> bool:
    text = said.get(name, "false").lower()
    if text not in ("true", "false"):
        raise atom.Unreadable(f"{name} is {text!r}; it has to be true or false.")
    return text == "true"


def _word(truth: bool) -> str:
    return "true" if truth else "false"


def _written(duration: int) -> str:
    seconds, rest = divmod(duration, 1_000_000)
    return f"PT{seconds}S" if not rest else f"PT{seconds}.{rest:06}S"


def _creation(
    path: str, kind: str, said: Mapping[str, str]
) -> CreateQueue | CreateTopic | CreateSubscription:
    window = atom.microseconds(
        said.get("DuplicateDetectionHistoryTimeWindow", "PT10M"),
        "DuplicateDetectionHistoryTimeWindow",
    )
    lock = atom.microseconds(said.get("LockDuration", "PT1M"), "LockDuration")
    count = _whole(said.get("MaxDeliveryCount", "10"), "MaxDeliveryCount")
    if lock < 1 or count < 1 or window < 1:
        raise atom.Unreadable("LockDuration, MaxDeliveryCount and the window are more than 0.")
    if kind == "TopicDescription":
        return CreateTopic(
            topic=path,
            partitioned=_truth(said, "EnablePartitioning"),
            duplicate_detection=_truth(said, "RequiresDuplicateDetection"),
            duplicate_window=window,
        )
    if kind == "SubscriptionDescription":
        topic, _, subscription = path.partition(SUBSCRIPTIONS)
        if not subscription:
            raise atom.Unreadable(f"'{path}' is no address of a subscription.")
        return CreateSubscription(
            topic=topic,
            subscription=subscription,
            requires_session=_truth(said, "RequiresSession"),
            lock_duration=lock,
            max_delivery_count=count,
            forward_to=said.get("ForwardTo"),
        )
    return CreateQueue(
        queue=path,
        partitioned=_truth(said, "EnablePartitioning") if "EnablePartitioning" in said else None,
        requires_session=_truth(said, "RequiresSession"),
        duplicate_detection=_truth(said, "RequiresDuplicateDetection"),
        duplicate_window=window,
        lock_duration=lock,
        max_delivery_count=count,
        forward_to=said.get("ForwardTo"),
    )
