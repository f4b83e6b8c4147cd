"""Entities as Atom: single entries, pages of lists, and the description of the namespace."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from busproof import vocabulary as v
from busproof.broker.admin import atom
from busproof.broker.admin.descriptions import describe_entity, title
from busproof.broker.admin.entity_requests import page_of
from busproof.broker.admin.managed_namespace import NAMESPACE, ManagedNamespace, to_seconds

__all__ = ["VERSION", "WrittenEntities"]

VERSION: Final = "api-version"
"""The part of a query that says which properties the client knows."""


class WrittenEntities:
    """Writes entities as the bodies of answers to the namespace's current request.

    Args:
        namespace: the namespace, for administration.
    """

    def __init__(self, namespace: ManagedNamespace) -> None:
        self._namespace = namespace
        self._begun = namespace.moment()

    def entry(self, path: str, description: ET.Element, *, published: bool = True) -> bytes:
        """Return an entity with this description as the body of an answer."""
        url = self._namespace.url(path, self._namespace.query)
        return self._part(path, description, url, url, published=published).body()

    def page(self, what: str, names: Sequence[str], query: Mapping[str, str]) -> bytes:
        """Return the page of a list of entities that a query selects.

        Args:
            what: the path of the list.
            names: the paths of all entities in it.
            query: the query of the request.
        """
        page, following = page_of(names, query)
        namespace, version = self._namespace, query.get(VERSION)
        entries = [
            self._part(
                name,
                self.description(name, version),
                namespace.url(name, namespace.version),
                namespace.link(name, namespace.version),
            )
            for name in page
        ]
        heading = what.rpartition("/")[2].capitalize()
        return namespace.feed(heading, what, entries, following)

    def description(self, path: str, version: str | None, *, counted: bool = True) -> ET.Element:
        """Return the description of an entity for an api-version.

        `counted` is whether the client reads the entity, and is told how many messages it has.
        """
        hub = self._namespace.hub
        known = hub.descriptions.get(path)
        times = {
            "CreatedAt": known.created or self._begun,
            "UpdatedAt": known.updated or self._begun,
            "AccessedAt": self._namespace.moment(),
        }
        host = urlsplit(self._namespace.base).netloc
        return describe_entity(hub.bus, path, known, times, host, version=version, counted=counted)

    def _part(
        self, path: str, description: ET.Element, url: str, link: str, *, published: bool = True
    ) -> atom.Entry:
        known = self._namespace.hub.descriptions.get(path)
        created, changed = known.created or self._begun, known.updated or self._begun
        return atom.Entry(
            title=title(path),
            url=url,
            link=link,
            published=to_seconds(created) if published else None,
            updated=to_seconds(changed),
            author=None if v.SUBSCRIPTIONS in path else NAMESPACE,
            description=description,
        )

    def namespace(self) -> bytes:
        """Return the description of the namespace as the body of an answer."""
        profile = self._namespace.hub.bus.namespace.profile
        moment, tier = self._namespace.moment(), profile.tier.value.capitalize()
        units = {"MessagingUnits": str(profile.messaging_units)}
        properties: dict[str, str | ET.Element] = {
            "CreatedTime": moment,
            "MessagingSKU": tier,
            **(units if profile.tier is v.Tier.PREMIUM else {}),
            "ModifiedTime": moment,
            "Name": NAMESPACE,
            "NamespaceType": "Messaging",
        }
        url = self._namespace.url("$namespaceinfo", self._namespace.query)
        entry = atom.Entry(
            title=NAMESPACE,
            url=url,
            link=url,
            updated=to_seconds(moment),
            author=NAMESPACE,
            description=atom.write_description("NamespaceInfo", properties),
        )
        return entry.body()
