"""Valid names of entities and subscription rules."""

from typing import Final

from busproof import vocabulary as v

__all__ = ["belongs_to", "objection_to"]

FORBIDDEN: Final = frozenset('\\@?#*"<>|')
"""Characters that are invalid in addresses and paths."""


def objection_to(name: str, *, what: str = "name", dollar: bool = False) -> str | None:
    """Return the sentence that refuses a name, or `None` if the name is valid.

    Args:
        name: the name of an entity, with slashes between its parts, or of a rule.
        what: the word for the name in the sentence.
        dollar: whether it may begin with a dollar sign, like the default rule of a subscription.
    """
    sentence = f"The {what} {name[:80]!r} is not allowed: it"
    parts = name.split("/")
    if "" in parts:
        return f"{sentence} has an empty part."
    # In an HTTP address, such a part would lead to another path.
    if "." in parts or ".." in parts:
        return f"{sentence} has a part that is only dots."
    # XML cannot represent some characters; one of them in a name once made every list unreadable.
    if not name.isprintable() or not FORBIDDEN.isdisjoint(name):
        return f"{sentence} has characters that a name cannot have."
    if any(part != part.strip() for part in parts):
        return f"{sentence} has a part that begins or ends with a space."
    if not dollar and any(part.startswith("$") for part in parts):
        return f"{sentence} has a part that begins with '$', reserved for parts of entities."
    return None


def belongs_to(path: str, entity: str) -> bool:
    """Return whether a path is of an entity, its subscriptions or one of their dead-letter queues.

    An entity whose name merely begins with this entity's name and a slash does not belong to it.
    """
    low, above = path.lower(), entity.lower()
    return low == above or low.startswith((f"{above}{v.SUBSCRIPTIONS}", f"{above}/$"))
