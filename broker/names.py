"""Which names entities and rules may have."""

from typing import Final

__all__ = ["objection_to"]

FORBIDDEN: Final = frozenset('\\@?#*"<>|')
"""Characters that neither an address nor a path may have."""


def objection_to(name: str, *, what: str = "name", dollar: bool = False) -> str | None:
    """Return the sentence that refuses a name, or `None` if there may be one like that.

    Args:
        name: of an entity, with slashes between its parts; or of a rule.
        what: the name is called in the sentence.
        dollar: whether it may begin with a dollar sign, as the rule that each subscription has.
    """
    said = f"The {what} {name[:80]!r} is not allowed: it"
    parts = name.split("/")
    if "" in parts:
        return f"{said} has an empty part."
    if "." in parts or ".." in parts:
        return f"{said} has a part that is only dots."
    if not name.isprintable() or not FORBIDDEN.isdisjoint(name):
        return f"{said} has characters that a name cannot have."
    if any(part != part.strip() for part in parts):
        return f"{said} has a part that begins or ends with a space."
    if not dollar and any(part.startswith("$") for part in parts):
        return f"{said} has a part that begins with '$', which is kept for parts of entities."
    return None
