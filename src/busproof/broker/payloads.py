"""Contents of messages, attached to the names that the model has in their place.

The model knows a message by its `body`, which is a name here, and returns the very object that it
was given. So a content is freed with the last record that has its name, without any cleanup.
"""

from collections.abc import Mapping
from typing import Final

from busproof import vocabulary as v
from busproof.broker.amqp.dispositions import REASON
from busproof.broker.amqp.encoding import string_of
from busproof.broker.amqp.messages import Content
from busproof.broker.storage.payload_codec import unpack

__all__ = ["OF_STATE", "Contents", "Counted", "Name"]

NOTHING: Final[Mapping[str, bytes]] = {}


class Name(str):
    """The name of a message, with its content attached.

    Attributes:
        packed: the content, perhaps still encoded; `None` until the message is accepted.
        more: path of an entity to the properties that settlements added to the message there.
    """

    __slots__ = ("more", "packed")
    packed: Content | bytes | None
    more: dict[str, Mapping[str, bytes]] | None

    def __new__(cls, text: str) -> "Name":
        """Return a name without a content."""
        made = super().__new__(cls, text)
        made.packed = made.more = None
        return made

    @property
    def content(self) -> Content | None:
        """The content of the message."""
        if isinstance(self.packed, bytes):
            # Decode it only when needed: starting with a million stored messages decodes none.
            self.packed = unpack(self.packed)
        return self.packed


class Ledger:
    """The bytes that are kept besides messages: states of sessions, properties, rules.

    They are freed with the last record that has them, and leave the ledger by that alone.
    """

    def __init__(self) -> None:
        self.total = 0


OF_STATE: Final = 1_024
"""Memory of a state besides its bytes: a session stays as long as it has one, even if empty."""


class Counted(str):
    """A text that is counted in a ledger for as long as anything refers to it.

    It is the state of a session, or the name of a rule, which stays as long as the rule does.
    """

    __slots__ = ("_ledger", "_size")
    _ledger: Ledger
    _size: int

    def __new__(cls, text: str, ledger: Ledger, size: int) -> "Counted":
        """Count so many bytes for a text."""
        made = super().__new__(cls, text)
        made._ledger = ledger
        made._size = size
        ledger.total += size
        return made

    def __del__(self) -> None:
        self._ledger.total -= self._size


class Added(dict[str, bytes]):
    """Properties of a message, counted in a ledger for as long as anything refers to them."""

    __slots__ = ("_ledger", "_size")

    def __init__(self, properties: Mapping[str, bytes], ledger: Ledger) -> None:
        super().__init__(properties)
        self._ledger, self._size = ledger, _size_of(properties)
        ledger.total += self._size

    def __del__(self) -> None:
        self._ledger.total -= self._size


class Contents:
    """Names for messages, and the contents that belong to them.

    Args:
        era: prefix of names, which differs in each run of a broker with a store.
        lasting: whether the bus returns equal strings instead of the same objects; then all names
            are kept here for ever.
    """

    def __init__(self, era: str = "", *, lasting: bool = False) -> None:
        self._era = era
        self._lasting: dict[str, Name] | None = {} if lasting else None
        self._named = 0
        self.ledger = Ledger()

    def new_name(self) -> Name:
        """Return a new name for a message."""
        self._named += 1
        return Name(f"m{self._era}{self._named}")

    def keep(self, body: str, content: Content) -> None:
        """Attach the content of a message to its name."""
        if isinstance(body, Name):
            body.packed = content
            if self._lasting is not None:
                self._lasting[body] = body

    def get(self, body: str) -> Content | None:
        """Return the content of a message, or `None` if it is unknown."""
        name = self._name(body)
        return None if name is None else name.content

    def size(self, body: str) -> int:
        """Return the approximate size of a message on delivery, in bytes; 0 if it is unknown."""
        name = self._name(body)
        if name is None or (content := name.content) is None:
            return 0
        added = 0 if name.more is None else sum(map(_size_of, name.more.values()))
        return content.size + added

    def add(self, path: str, body: str, more: Mapping[str, bytes]) -> None:
        """Attach the properties that a settlement added to a message in an entity."""
        name = self._name(body)
        if name is not None:
            # Store them by entity: copies of a message share its name, but are settled separately.
            by_path = name.more = name.more or {}
            by_path[path] = Added({**self.more(path, name), **more}, self.ledger)

    def more(self, path: str, body: str, reason: str | None = None) -> Mapping[str, bytes]:
        """Return the properties that settlements added to a message here and where it came from.

        A message that has a dead-letter reason outside a dead-letter queue was forwarded from one,
        and keeps the properties added there. Copies share a name, so the reason identifies that
        queue.
        """
        name = self._name(body)
        if name is None or name.more is None:
            return NOTHING
        own = name.more.get(path, NOTHING)
        # Properties added in the source queue, such as by an abandon, move along with the message.
        if v.is_dead_letter_queue(path):
            return {**name.more.get(v.owner_of(path), NOTHING), **own}
        if reason:
            for source, known in name.more.items():
                if v.is_dead_letter_queue(source) and known.get(REASON) == string_of(reason):
                    return {**self.more(source, name), **own}
        return own

    def _name(self, body: str) -> Name | None:
        if isinstance(body, Name):
            return body
        return None if self._lasting is None else self._lasting.get(body)


def _size_of(properties: Mapping[str, bytes]) -> int:
    return sum(len(name) + len(value) for name, value in properties.items())
