"""Administration of entities over HTTP: create, read, update, list and delete."""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.etree import ElementTree as ET

from immutables import Map

from busproof import vocabulary as v
from busproof.broker.admin import atom
from busproof.broker.admin.descriptions import DEFAULTS, described, kind_of, title
from busproof.broker.admin.entity_requests import (
    APPLIED,
    creation,
    more_settings,
    page_of,
    update,
)
from busproof.broker.admin.http import Answer, Request
from busproof.broker.admin.managed_namespace import ManagedNamespace
from busproof.broker.admin.subscription_rules import (
    SubscriptionRules,
    first_rule_in,
    replacing_default,
)
from busproof.broker.admin.updates import managed, updated
from busproof.broker.amqp.refusals import Refusal, too_many_of
from busproof.broker.auth.tokens import TokenError
from busproof.broker.core import Hub
from busproof.broker.entity_status import STATUSES, status_of
from busproof.broker.names import objection_to
from busproof.model.values import EntityKind

__all__ = ["Entities"]

KEYS: Final = "AuthorizationRules"
XML: Final = "application/atom+xml;type=entry;charset=utf-8"
KINDS: Final = {"QueueDescription", "TopicDescription", "SubscriptionDescription"}
LONGEST_PATH: Final = 260
"""Maximum length of the name of a queue or topic, in characters."""
HARMLESS: Final = {"UserMetadata", "EnableBatchedOperations", "Status", "SupportOrdering"}
READ_ONLY: Final = {
    "AccessedAt",
    "CreatedAt",
    "EntityAvailabilityStatus",
    "MessageCount",
    "SizeInBytes",
    "SubscriptionCount",
    "UpdatedAt",
}
"""Read-only properties, which clients send back when they update an entity."""


class Entities:
    """The entities of the namespace, as administration clients manage them.

    Args:
        hub: the broker's core.
        warn: called with a warning about properties that have no effect.
    """

    def __init__(self, hub: Hub, warn: Callable[[str], None]) -> None:
        self._hub = hub
        self._warn = warn
        self._namespace = ManagedNamespace(hub)
        self._rules = SubscriptionRules(self._namespace)
        self._begun = self._namespace.moment()

    def answer(self, request: Request) -> Answer:
        """Answer a request about entities or subscription rules."""
        url = urlsplit(request.target)
        path, self._namespace.base = unquote(url.path).strip("/"), request.base
        if (refused := self.admit(request)) is not None:
            return refused
        try:
            status, body = self._answered(request, path, dict(parse_qsl(url.query)))
        except Refusal as refusal:
            status, body = refusal.status, atom.error(refusal.status, refusal.description)
        except atom.Unreadable as problem:
            status, body = problem.status, atom.error(problem.status, problem.sentence)
        return Answer(status, body, XML)

    def admit(self, head: Request) -> Answer | None:
        """Refuse a request without a token that permits it; return `None` if the token does."""
        try:
            self._authorize(head, unquote(urlsplit(head.target).path).strip("/"))
        except atom.Unreadable as problem:
            return Answer(problem.status, atom.error(problem.status, problem.sentence), XML)
        return None

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
        low = [part.lower() for part in parts]
        if len(parts) > 2 and low[-2] == "rules":
            return self._rules.answer(request, "/".join(parts[:-2]), parts[-1])
        if request.method == "PUT":
            return self._put(request, path, query.get("api-version"))
        if request.method == "GET":
            return 200, self._told(path, query)
        if request.method == "DELETE":
            return self._deleted(self._namespace.known(path))
        raise atom.Unreadable(f"{request.method} is not supported here.", 405)

    def _told(self, path: str, query: Mapping[str, str]) -> bytes:
        above, _, last = path.rpartition("/")
        kind = last.lower()
        if not above and kind == "$namespaceinfo":
            return self._namespace_info()
        if above.lower() == "$resources":
            return self._listed(kind, query)
        if above and kind == "rules":
            return self._rules.listed(above, query)
        if above and kind == "subscriptions":
            return self._subscriptions(above, query)
        return self._entry(self._namespace.known(path))

    def _put(self, request: Request, path: str, version: str | None) -> tuple[int, bytes]:
        description = atom.read_description(request.body)
        if description.kind not in KINDS:
            raise atom.Unreadable(f"There is no {description.kind!r} here.")
        properties = description.said()
        if properties.get("Status", "Active") not in STATUSES:
            raise atom.Unreadable(
                f"Status is {properties['Status']!r}; it has to be {' or '.join(STATUSES)}."
            )
        path = self._as_known(path)
        if (objection := objection_to(path)) is not None:
            raise atom.Unreadable(objection)
        name = path.partition(v.SUBSCRIPTIONS)[0]
        if len(name) > LONGEST_PATH:
            raise atom.Unreadable(
                f"A name of {len(name)} characters is too long; at most {LONGEST_PATH} are allowed."
            )
        if (v.SUBSCRIPTIONS in path.lower()) != (description.kind == "SubscriptionDescription"):
            raise atom.Unreadable(f"'{path}' is not the address of a {description.kind}.")
        if "if-match" in request.headers:
            return self._updated(self._namespace.known(path), description)
        self._check_room(path)
        command = creation(self._hub.bus, path, description.kind, properties, version)
        # Create the subscription and its first rule together, so that a refusal leaves neither.
        element, rule = description.child("DefaultRuleDescription"), None
        if isinstance(command, v.CreateSubscription) and element is not None and len(element):
            rule = first_rule_in(element)
            self._namespace.ask(command, *replacing_default(command, rule))
        else:
            self._namespace.ask(command)
        self._hub.bus.known_as(path)
        moment = self._namespace.moment()
        self._hub.descriptions.change(path, created=moment, updated=moment)
        status = status_of(self._hub.bus.known(path), properties.get("Status", "Active"))
        if status not in (None, v.EntityStatus.ACTIVE):
            self._manage(v.UpdateQueue(queue=path, status=status))
        self._remember(path, description)
        if element is not None and rule is not None:
            self._rules.describe(path, rule, element)
        return 201, self._entry(path)

    def _check_room(self, path: str) -> None:
        """Check that the topic of a new subscription may have another subscription."""
        topic, most = path.partition(v.SUBSCRIPTIONS)[0], self._hub.limits.subscriptions
        entity = None if topic == path else self._hub.bus.entity(topic)
        if entity is not None and len(entity.subscriptions or ()) >= most:
            raise too_many_of("subscriptions", topic, most)

    def _as_known(self, path: str) -> str:
        """Return a path in the case that the entity, or the topic above it, was created with."""
        place = path.lower().find(v.SUBSCRIPTIONS)
        if place < 0:
            return self._hub.bus.path(path)
        topic, subscription = path[:place], path[place + len(v.SUBSCRIPTIONS) :]
        return self._hub.bus.path(f"{self._hub.bus.path(topic)}{v.SUBSCRIPTIONS}{subscription}")

    def _remember(self, path: str, description: atom.Description) -> None:
        properties = description.said()
        ours = APPLIED[kind_of(self._hub.bus.known(path))] | READ_ONLY
        kept = {name: text for name, text in properties.items() if name not in ours}
        keys = description.child(KEYS)
        text = "" if keys is None or not len(keys) else ET.tostring(keys, "unicode")
        self._hub.descriptions.change(path, said=Map(kept), keys=text)
        if "Status" in kept:
            self._hub.say_status(path, kept["Status"])
        idle = {
            name
            for name, text in kept.items()
            if name not in HARMLESS and text != DEFAULTS.get(name) and not text.startswith("P1067")
        }
        if text:
            idle.add(KEYS)
        if idle:
            self._warn(f"{', '.join(sorted(idle))} of '{path}' has no effect here")

    def _updated(self, path: str, description: atom.Description) -> tuple[int, bytes]:
        kind, properties = description.kind, description.said()
        if kind != f"{kind_of(self._hub.bus.known(path))}Description":
            raise atom.Unreadable(f"'{path}' is not what a {kind} describes.")
        bus = self._hub.bus
        command, more = update(bus, path, properties), more_settings(bus, path, properties)
        self._namespace.insist(updated(bus, command, more), path)
        self._hub.descriptions.change(path, updated=self._namespace.moment())
        self._remember(path, description)
        return 200, self._entry(path)

    def _deleted(self, path: str) -> tuple[int, bytes]:
        self._manage(v.DeleteQueue(queue=path))
        self._hub.bus.forget(path)
        self._hub.forget(path)
        return 200, b""

    def _manage(self, command: v.UpdateQueue | v.DeleteQueue) -> None:
        self._namespace.insist(managed(self._hub.bus, command), command.queue)

    def _entry(self, path: str) -> bytes:
        description = self._description(path)
        return atom.entry(
            title(path), self._namespace.url(path), self._namespace.moment(), description
        )

    def _description(self, path: str) -> ET.Element:
        known = self._hub.descriptions.get(path)
        times = {
            "CreatedAt": known.created or self._begun,
            "UpdatedAt": known.updated or self._begun,
            "AccessedAt": self._namespace.moment(),
        }
        host = urlsplit(self._namespace.base).netloc
        element = described(self._hub.bus, path, known.said, times, host)
        if known.keys:
            element.append(atom.as_written(atom.element_of(known.keys)))
        return element

    def _listed(self, what: str, query: Mapping[str, str]) -> bytes:
        bus = self._hub.bus
        if what == "topics":
            return self._feed(what, bus.topics(), query)
        if what != "queues":
            raise atom.Unreadable(f"There is no list of {what!r}.", 404)
        known = ((name, bus.entity(name)) for name in bus.names())
        names = [name for name, entity in known if entity and entity.kind is EntityKind.QUEUE]
        return self._feed(what, names, query)

    def _subscriptions(self, path: str, query: Mapping[str, str]) -> bytes:
        known = self._namespace.known(path)
        if self._hub.bus.known(known).kind is not EntityKind.TOPIC:
            raise atom.Unreadable(f"Entity '{path}' is not a topic.", 404)
        names = self._hub.bus.subscriptions(known)
        return self._feed(f"{path}/Subscriptions", names, query)

    def _feed(self, what: str, names: list[str], query: Mapping[str, str]) -> bytes:
        url, (page, following) = f"{self._namespace.base}/{quote(what)}", page_of(names, query)
        entries = [
            (title(name), self._namespace.url(name), self._description(name)) for name in page
        ]
        return atom.feed(
            what, url, self._namespace.moment(), entries, following and f"{url}?{following}"
        )

    def _namespace_info(self) -> bytes:
        tier = self._hub.bus.namespace.profile.tier.value.capitalize()
        moment = self._namespace.moment()
        properties = {
            "CreatedTime": moment,
            "MessagingSKU": tier,
            "ModifiedTime": moment,
            "Name": "sbemulatorns",
            "NamespaceType": "Messaging",
        }
        if tier == "Premium":
            properties["MessagingUnits"] = str(self._hub.bus.namespace.profile.messaging_units)
        info = atom.written("NamespaceInfo", properties, None)
        return atom.entry("sbemulatorns", self._namespace.url("$namespaceinfo"), moment, info)
