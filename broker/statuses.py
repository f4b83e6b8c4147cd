"""Which entities are disabled: for who sends, for who receives, or for both.

The model knows nothing of it: what is disabled never gets to it.
"""

from collections.abc import Mapping
from typing import Final

from busproof.broker.refusals import Refusal, disabled

__all__ = ["STATUSES", "Statuses"]

STATUSES: Final[Mapping[str, frozenset[str]]] = {
    "Active": frozenset(),
    "Disabled": frozenset({"Send", "Listen"}),
    "SendDisabled": frozenset({"Send"}),
    "ReceiveDisabled": frozenset({"Listen"}),
}
"""What an entity's status may be, and what nobody can do with it then."""


class Statuses:
    """The status of each entity that was given one."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def say(self, path: str, status: str) -> None:
        """Give an entity a status, which is one of `STATUSES`."""
        self._said[path] = status

    def forget(self, path: str) -> None:
        """Forget an entity that is gone."""
        self._said.pop(path, None)

    def refusal(self, right: str, path: str) -> Refusal | None:
        """What a client is told who sends to an entity, or receives from it, that is disabled."""
        status = self._said.get(path, "Active")
        return disabled(path, status) if right in STATUSES[status] else None

    def check(self, right: str, path: str) -> None:
        """Insist that an entity is not disabled.

        Raises:
            Refusal: it is.
        """
        if (refusal := self.refusal(right, path)) is not None:
            raise refusal
