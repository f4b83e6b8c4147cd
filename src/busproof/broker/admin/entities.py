"""Administration of entities over HTTP: create, read, update, list and delete."""

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.etree import ElementTree as ET

from immutables import Map

from busproof import vocabulary as v
from busproof.broker.admin import atom
from busproof.broker.admin.descriptions import (
    DEFAULTS,
    echo_description,
    kind_of,
)
from busproof.broker.admin.entity_requests import (
    APPLIED,
    FORWARDING,
    creation,
    destination,
    more_settings,
    update,
)
from busproof.broker.admin.managed_namespace import ManagedNamespace
from busproof.broker.admin.subscription_rules import (
    SubscriptionRules,
    first_rule_in,
    replacing_default,
)
from busproof.broker.admin.updates import manage_entity, update_entity
from busproof.broker.admin.written_entities import VERSION, WrittenEntities
from busproof.broker.amqp.refusals import Refusal, too_many_of
from busproof.broker.amqp.subscription_rules import count_rule
from busproof.broker.auth.tokens import TokenError
from busproof.broker.core import Hub
from busproof.broker.entity_status import STATUSES, status_of
from busproof.broker.http_requests import Answer, Request
from busproof.broker.names import objection_to
from busproof.broker.payloads import Counted
from busproof.model.values import EntityKind

__all__ = ["Entities"]

KEYS: Final = "AuthorizationRules"
NOT_FOUND: Final = 404
ENTRY: Final = "application/atom+xml;type=entry;charset=utf-8"
FEED: Final = "application/atom+xml;type=feed;charset=utf-8"
ERROR: Final = "application/xml;charset=utf-8"
PHRASES: Final = {400: "Bad Request.", 403: "Forbidden.", 404: "Not Found.", 409: "Conflict."}
"""Statuses of refusals that have a sub-code, which clients search for, and what follows it."""
LONGEST_VALUE: Final = 80
"""Maximum length of a property's value in a refusal, in characters."""
KINDS: Final = {"QueueDescription", "TopicDescription", "SubscriptionDescription"}
SUB_PATH: Final = re.compile(r"/subscriptions(?:/|$)|/\$deadletterqueue$", re.IGNORECASE)
"""Where the path of a queue or topic ends in that of a part of it."""
LONGEST_PATH: Final = 260
"""Maximum length of the name of a queue or topic, in characters."""
HARMLESS: Final = {
    "EnableBatchedOperations",
    "MaxMessageSizeInKilobytes",
    "Status",
    "SupportOrdering",
    "UserMetadata",
}
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
        self._written = WrittenEntities(self._namespace)

    def answer(self, request: Request) -> Answer:
        """Answer a request about entities or subscription rules."""
        url = urlsplit(request.target)
        path = unquote(url.path).strip("/")
        self._namespace.base, self._namespace.query = request.base, url.query
        if (refused := self.admit(request)) is not None:
            return refused
        try:
            return self._answer(request, path, dict(parse_qsl(url.query)))
        except Refusal as refusal:
            return self._refuse(request, path, refusal.status, refusal.description)
        except atom.Unreadable as problem:
            return self._refuse(request, path, problem.status, problem.sentence)

    def _refuse(self, request: Request, path: str, status: int, sentence: str) -> Answer:
        """Return a refusal; those to create or update queues and topics have a sub-code."""
        of_whole = request.method == "PUT" and v.SUBSCRIPTIONS not in path.lower()
        if of_whole and status in PHRASES:
            sentence = f"SubCode={status}00. {PHRASES[status]} {sentence}"
        if request.method == "DELETE" and status == NOT_FOUND:
            sentence = f"No service is hosted at the specified address. {sentence}"
        return Answer(status, atom.error(status, sentence), ERROR)

    def admit(self, head: Request) -> Answer | None:
        """Refuse a request without a token that permits it; return `None` if the token does."""
        try:
            self._authorize(head, unquote(urlsplit(head.target).path).strip("/"))
        except atom.Unreadable as problem:
            return Answer(problem.status, atom.error(problem.status, problem.sentence), ERROR)
        return None

    def _authorize(self, request: Request, path: str) -> None:
        hub = self._hub
        try:
            claim = hub.keys.claim(request.headers.get("authorization", ""), path, hub.wall())
        except TokenError as error:
            raise atom.Unreadable(str(error), 401) from None
        if "Manage" not in claim.rights:
            raise atom.Unreadable("The Manage claim is required for this operation.", 401)

    def _answer(self, request: Request, path: str, query: Mapping[str, str]) -> Answer:
        parts = path.split("/")
        low = [part.lower() for part in parts]
        if request.method == "GET" and self._is_vacant(path):
            return Answer(200, atom.public_feed(self._namespace.second()), FEED)
        if len(parts) > 2 and low[-2] == "rules":
            return _entry(*self._rules.answer(request, "/".join(parts[:-2]), parts[-1]))
        if request.method == "PUT":
            return _entry(*self._put(request, path, query.get(VERSION)))
        if request.method == "GET":
            return self._describe(path, query)
        if request.method == "DELETE":
            return _entry(*self._delete(self._namespace.find_path(path)))
        raise atom.Unreadable(f"{request.method} is not supported here.", 405)

    def _is_vacant(self, path: str) -> bool:
        """Return whether neither the queue nor the topic exists to which the path belongs."""
        name, bus = SUB_PATH.split(path, maxsplit=1)[0], self._hub.bus
        return not name.startswith("$") and bus.entity(bus.path(name)) is None

    def _describe(self, path: str, query: Mapping[str, str]) -> Answer:
        above, _, last = path.rpartition("/")
        kind = last.lower()
        if not above and kind == "$namespaceinfo":
            return _entry(200, self._written.namespace())
        if above.lower() == "$resources":
            return Answer(200, self._list(kind, query), FEED)
        if above and kind == "rules":
            return Answer(200, self._rules.listed(above, query), FEED)
        if above and kind == "subscriptions":
            return Answer(200, self._subscriptions(above, query), FEED)
        if path.lower().endswith(v.DEAD_LETTERS):
            raise atom.Unreadable("The specified HTTP verb (GET) is not valid.")
        known = self._namespace.find_path(path)
        return _entry(
            200, self._written.entry(known, self._written.description(known, query.get(VERSION)))
        )

    def _put(self, request: Request, path: str, version: str | None) -> tuple[int, bytes]:
        description = atom.read_description(request.body)
        if description.kind not in KINDS:
            raise atom.Unreadable(f"There is no {description.kind!r} here.")
        properties = description.said()
        if properties.get("Status", "Active") not in STATUSES:
            raise atom.Unreadable(
                f"Status is {properties['Status']!r}; it has to be {' or '.join(STATUSES)}."
            )
        path = self._find_path(path)
        if (objection := objection_to(path)) is not None:
            raise atom.Unreadable(objection)
        name = path.partition(v.SUBSCRIPTIONS)[0]
        if len(name) > LONGEST_PATH:
            raise atom.Unreadable(
                f"A name of {len(name)} characters is too long; at most {LONGEST_PATH} are allowed."
            )
        if (v.SUBSCRIPTIONS in path.lower()) != (description.kind == "SubscriptionDescription"):
            raise atom.Unreadable(f"'{path}' is not the address of a {description.kind}.")
        # What the model does not have is kept as it was written.
        self._hub.check_added(len(request.body))
        if "if-match" in request.headers:
            return 200, self._update(self._existing(path), description, version)
        self._check_room(path)
        command = creation(self._hub.bus, path, description.kind, properties, version)
        # Create the subscription and its first rule together, so that a refusal leaves neither.
        element, rule = description.child("DefaultRuleDescription"), None
        commands: tuple[v.Command, ...]
        if isinstance(command, v.CreateSubscription) and element is not None and len(element):
            rule = count_rule(self._hub, first_rule_in(element), len(request.body))
            commands = (command, *replacing_default(command, rule))
        else:
            commands = (command,)
        self._namespace.ask(*commands, given=_list_properties(properties))
        self._hub.bus.record_name(path)
        moment = self._namespace.moment()
        self._hub.descriptions.change(path, created=moment, updated=moment)
        status = status_of(self._hub.bus.find_entity(path), properties.get("Status", "Active"))
        if status not in (None, v.EntityStatus.ACTIVE):
            self._manage(v.UpdateQueue(queue=path, status=status))
        self._remember(path, description)
        if element is not None and rule is not None:
            self._rules.describe(path, rule, element)
        return 201, self._written.entry(
            path, self._written.description(path, version, counted=False)
        )

    def _existing(self, path: str) -> str:
        """Return the path of an entity to update.

        Raises:
            Unreadable: there is no such entity (status 404).
        """
        if v.SUBSCRIPTIONS in path and self._is_vacant(path):
            raise atom.Unreadable(
                f"The incoming request is not recognized as a namespace policy put request: there "
                f"is no topic of '{path}'.",
                404,
            )
        return self._namespace.find_path(path)

    def _check_room(self, path: str) -> None:
        """Check that the topic of a new subscription may have another subscription."""
        topic, most = path.partition(v.SUBSCRIPTIONS)[0], self._hub.limits.subscriptions
        entity = None if topic == path else self._hub.bus.entity(topic)
        if entity is not None and len(entity.subscriptions or ()) >= most:
            raise too_many_of("subscriptions", topic, most)

    def _find_path(self, path: str) -> str:
        """Return a path in the case that the entity, or the topic above it, was created with."""
        place = path.lower().find(v.SUBSCRIPTIONS)
        if place < 0:
            return self._hub.bus.path(path)
        topic, subscription = path[:place], path[place + len(v.SUBSCRIPTIONS) :]
        return self._hub.bus.path(f"{self._hub.bus.path(topic)}{v.SUBSCRIPTIONS}{subscription}")

    def _remember(self, path: str, description: atom.Description) -> None:
        properties = description.said()
        ours = APPLIED[kind_of(self._hub.bus.find_entity(path))] | READ_ONLY
        kept = {name: text for name, text in properties.items() if name not in ours}
        entity = self._hub.bus.find_entity(path)
        if entity.settings.requires_session and FORWARDING in properties:
            kept[FORWARDING] = destination(self._hub.bus, properties, FORWARDING) or ""
        keys = description.child(KEYS)
        text = "" if keys is None or not len(keys) else ET.tostring(keys, "unicode")
        size = len(text) + sum(len(name) + len(value) for name, value in kept.items())
        counted = Counted(text, self._hub.contents.ledger, size)
        self._hub.descriptions.change(path, said=Map(kept), keys=counted)
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

    def _update(self, path: str, description: atom.Description, version: str | None) -> bytes:
        kind, properties = description.kind, description.said()
        entity = self._hub.bus.find_entity(path)
        if kind != f"{kind_of(entity)}Description":
            raise atom.Unreadable(f"'{path}' is not what a {kind} describes.")
        bus = self._hub.bus
        command = update(bus, path, properties, version)
        more = more_settings(bus, path, properties)
        self._namespace.insist(
            update_entity(bus, command, more), path, _list_properties(properties)
        )
        self._hub.descriptions.change(path, updated=self._namespace.moment())
        self._remember(path, description)
        if entity.kind is EntityKind.SUBSCRIPTION:
            return self._written.entry(
                path, self._written.description(path, version, counted=False)
            )
        known = self._hub.descriptions.get(path)
        return self._written.entry(
            path, echo_description(entity, description, known, version), published=False
        )

    def _delete(self, path: str) -> tuple[int, bytes]:
        self._manage(v.DeleteQueue(queue=path))
        self._hub.bus.forget(path)
        self._hub.forget(path)
        return 200, b""

    def _manage(self, command: v.UpdateQueue | v.DeleteQueue) -> None:
        self._namespace.insist(manage_entity(self._hub.bus, command), command.queue)

    def _list(self, what: str, query: Mapping[str, str]) -> bytes:
        bus = self._hub.bus
        if what == "topics":
            return self._written.page(f"$Resources/{what}", bus.topics(), query)
        if what != "queues":
            raise atom.Unreadable(f"There is no list of {what!r}.", 404)
        known = ((name, bus.entity(name)) for name in bus.names())
        names = [name for name, entity in known if entity and entity.kind is EntityKind.QUEUE]
        return self._written.page(f"$Resources/{what}", names, query)

    def _subscriptions(self, path: str, query: Mapping[str, str]) -> bytes:
        known = self._namespace.find_path(path)
        if self._hub.bus.find_entity(known).kind is not EntityKind.TOPIC:
            raise atom.Unreadable(f"Entity '{path}' is not a topic.", 404)
        names = self._hub.bus.subscriptions(known)
        return self._written.page(f"{path}/Subscriptions", names, query)


def _entry(status: int, body: bytes) -> Answer:
    return Answer(status, body, ENTRY)


def _list_properties(properties: Mapping[str, str]) -> str:
    """Return the properties that a client wrote, for the text of a refusal."""
    texts = (f"{name}={text[:LONGEST_VALUE]}" for name, text in properties.items())
    return f" Given: {', '.join(texts)}." if properties else ""
