"""Names of entities in addresses, in the one spelling that a recording has for each."""

from typing import Final
from urllib.parse import unquote

from busproof import vocabulary as v

__all__ = ["MANAGEMENT", "entity_of", "subscription_of"]

MANAGEMENT: Final = "/$management"


def entity_of(address: str) -> str:
    """Return the path of the entity in an address, in lower case: the service ignores case."""
    if "://" in address:
        address = unquote(address.partition("://")[2].partition("/")[2])
    return address.strip("/").lower()


def subscription_of(path: str) -> tuple[str, str]:
    """Return the topic and the name of a subscription; the name is empty if it is none."""
    topic, _, name = path.partition(v.SUBSCRIPTIONS)
    return topic, name
