"""What is kept of messages beside what the model is told: it hangs on the name of each.

The model knows a message by its `body`, which is a name here, and hands the very name back that it
was given. So what is kept of a message is freed with the last record that has its name, and nobody
has to look for what is not needed any more.
"""

from collections.abc import Mapping
from typing import Final

from busproof import vocabulary as v
from busproof.broker.amqp.messages import Content
from busproof.broker.storage.payload_codec import unpacked

__all__ = ["Contents", "Name"]

NOTHING: Final[Mapping[str, bytes]] = {}


class Name(str):
    """The name of a message, with what is kept of it.

    Attributes:
        packed: what is kept, perhaps as bytes; `None` as long as the message is not accepted.
        more: path of an entity to the properties that the message was given there.
    """

    __slots__ = ("more", "packed")
    packed: Content | bytes | None
    more: dict[str, dict[str, bytes]] | None

    def __new__(cls, text: str) -> "Name":
        """Return a name that nothing is kept of."""
        made = super().__new__(cls, text)
        made.packed = made.more = None
        return made

    @property
    def content(self) -> Content | None:
        """What is kept of the message."""
        if isinstance(self.packed, bytes):
            self.packed = unpacked(self.packed)
        return self.packed


class Contents:
    """Gives names to messages, and finds what is kept of them.

    Args:
        era: tells names of this run of a store from those of earlier ones.
        lasting: whether the bus hands back other texts than it was given; then names are kept here,
            for good.
    """

    def __init__(self, era: str = "", *, lasting: bool = False) -> None:
        self._era = era
        self._lasting: dict[str, Name] | None = {} if lasting else None
        self._named = 0

    def new_name(self) -> Name:
        """Return a name that no message has had."""
        self._named += 1
        return Name(f"m{self._era}{self._named}")

    def keep(self, body: str, content: Content) -> None:
        """Keep what the model is not told of a message."""
        if isinstance(body, Name):
            body.packed = content
            if self._lasting is not None:
                self._lasting[body] = body

    def get(self, body: str) -> Content | None:
        """Return what is kept of a message."""
        name = self._name(body)
        return None if name is None else name.content

    def add(self, path: str, body: str, more: Mapping[str, bytes]) -> None:
        """Keep properties that a message of an entity was given by its settlement."""
        name = self._name(body)
        if name is not None:
            given = name.more = name.more or {}
            given[path] = {**self.more(path, name), **more}

    def more(self, path: str, body: str) -> Mapping[str, bytes]:
        """Return the properties that it was given; a dead letter has those from before, too."""
        name = self._name(body)
        if name is None or name.more is None:
            return NOTHING
        given = name.more.get(path, NOTHING)
        if not v.is_dead_letter_queue(path):
            return given
        return {**name.more.get(v.owner_of(path), NOTHING), **given}

    def _name(self, body: str) -> Name | None:
        if isinstance(body, Name):
            return body
        return None if self._lasting is None else self._lasting.get(body)
