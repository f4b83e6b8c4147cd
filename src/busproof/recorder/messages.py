"""Messages as a recording has them: who they are, and nothing of what they say."""

import hashlib
from typing import Any, Final
from uuid import UUID

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.broker.amqp.encoding import OPAQUE, end_of, items, value_at
from busproof.broker.amqp.sections import (
    ANNOTATIONS,
    APPLICATION,
    DATA,
    DELIVERY,
    FOOTER,
    HEADER,
    PROPERTIES,
    check_properties,
    pairs_of,
    sections_of,
    text_of,
)
from busproof.recorder.frames import Unreadable

__all__ = ["Content", "Privacy", "content_of", "inner_messages"]

MILLISECOND: Final = 1000
KEY: Final = "x-opt-partition-key"
DUE: Final = "x-opt-scheduled-enqueue-time"
NUMBER: Final = "x-opt-sequence-number"
STATE: Final = "x-opt-message-state"
LOCK_TOKEN: Final = "x-opt-lock-token"  # noqa: S105 - the name of an annotation
REASON: Final = "DeadLetterReason"
DESCRIPTION: Final = "DeadLetterErrorDescription"
STATES: Final = {
    0: v.MessageState.ACTIVE,
    1: v.MessageState.DEFERRED,
    2: v.MessageState.SCHEDULED,
}
FOR_EVER_MS: Final = 0xFFFF_FFFF
"""Time to live in a header that means a longer one, in milliseconds."""
MOST_FIELDS: Final = 100
BYTES: Final = 12
"""Length of a hash in a recording; with 96 bits, different bodies hardly ever have the same."""


@attrs.frozen
class Privacy:
    """What a recording keeps of messages.

    Attributes:
        keeps_bodies: whether bodies are written as they are, and not hashed.
        keeps_properties: whether texts in properties are written as they are, and not hashed.
        key: the key of the hashes; without it, guessing a short body would be easy.
    """

    key: bytes = attrs.field(repr=False)
    keeps_bodies: bool = False
    keeps_properties: bool = True

    def hash_bytes(self, data: bytes) -> str:
        """Return the hash of bytes; those of equal bytes are equal."""
        return hashlib.blake2b(data, digest_size=BYTES, key=self.key).hexdigest()

    def body(self, data: bytes) -> str:
        """Return a body as it is written."""
        if self.keeps_bodies:
            return data.decode("utf-8", "replace")
        return self.hash_bytes(data)

    def text(self, text: str | None) -> str | None:
        """Return the text of a property as it is written."""
        if text is None or self.keeps_properties:
            return text
        return self.hash_bytes(text.encode("utf-8", "surrogatepass"))

    def value(self, value: v.PropertyValue) -> v.PropertyValue:
        """Return the value of an application property as it is written; only texts are hashed."""
        return self.text(value) or "" if isinstance(value, str) else value

    def rule(self, rule: v.AddRule) -> v.AddRule | None:
        """Return a rule as it is written; `None` if it reads or writes texts that are hashed."""
        if self.keeps_properties or isinstance(rule.filter, v.TrueFilter | v.FalseFilter):
            return rule if self.keeps_properties or rule.action is None else None
        if rule.action is not None or not isinstance(rule.filter, v.CorrelationFilter):
            return None
        return attrs.evolve(rule, filter=self.correlation(rule.filter))

    def correlation(self, chosen: v.CorrelationFilter) -> v.CorrelationFilter:
        """Return a correlation filter that compares what is written."""
        names = [field.name for field in attrs.fields(v.CorrelationFilter)][:-1]
        texts = {name: self.text(getattr(chosen, name)) for name in names}
        values = {name: self.value(value) for name, value in chosen.properties.items()}
        return v.CorrelationFilter(**texts, properties=values)

    def redact_answer(self, outcome: v.Outcome) -> v.Outcome:
        """Return an answer with the filters of rules as they are written."""
        if self.keeps_properties or not isinstance(outcome, v.RulesListed):
            return outcome
        rules = (
            attrs.evolve(rule, filter=self.correlation(rule.filter))
            if isinstance(rule.filter, v.CorrelationFilter)
            else rule
            for rule in outcome.rules
        )
        return v.RulesListed(rules=tuple(rules))


@attrs.define
class Content:
    """What a recording needs of an encoded message.

    Attributes:
        message: the message as its sender wrote it.
        due: when it is to be enqueued, in milliseconds since 1970; `None` for at once.
        number: the sequence number that the bus gave it.
        deliveries: earlier deliveries, as its header counts them.
        token: the lock token in its annotations.
        state: its state, if a peek shows it.
        reason: why it was dead-lettered.
    """

    message: v.Message
    due: int | None = None
    number: int | None = None
    deliveries: int = 0
    token: UUID | None = None
    state: v.MessageState | None = None
    reason: str | None = None

    def view(self, token: str | None) -> v.MessageView:
        """Return the message as a receiver sees it, locked under a token if there is one."""
        return v.MessageView.of(
            self.message,
            sequence_number=self.number,
            delivery_count=None if token is None else self.deliveries + 1,
            lock_token=token,
            dead_letter_reason=self.reason,
            state=self.state,
        )


def content_of(raw: bytes, privacy: Privacy, *, is_sent: bool = False) -> Content:
    """Read an encoded message; its size and its time to live only as its sender wrote it.

    Raises:
        Unreadable: the bytes are not a message.
    """
    try:
        return _content(raw, privacy, is_sent=is_sent)
    except (IndexError, OverflowError, TypeError, ValueError) as error:
        raise Unreadable(f"a message cannot be read: {error}") from None


def _content(raw: bytes, privacy: Privacy, *, is_sent: bool) -> Content:
    header: list[Any] = []
    properties: list[Any] = []
    notes: dict[str, Any] = {}
    application: dict[str, v.PropertyValue] = {}
    body: list[bytes] = []
    for code, _, begins, end in sections_of(raw):
        if code == DATA:
            body.append(value_at(raw, begins))
        elif code == HEADER:
            header = items(raw, begins, MOST_FIELDS)
        elif code == PROPERTIES:
            properties = items(raw, begins, MOST_FIELDS)
        elif code in (ANNOTATIONS, DELIVERY):
            notes |= {text_of(key): value for key, value, _ in pairs_of(raw, begins, checked=True)}
        elif code == APPLICATION:
            application = {
                text_of(key): value
                for key, value, _ in pairs_of(raw, begins, checked=True)
                if isinstance(value, v.PropertyValue)
            }
        elif code != FOOTER:
            body.append(_value(raw, begins, end))
    reason = application.pop(REASON, None)
    application.pop(DESCRIPTION, None)
    texts = check_properties(properties)
    kept = application
    if not privacy.keeps_properties:
        texts = [privacy.text(text) for text in texts]
        kept = {name: privacy.value(value) for name, value in application.items()}
    whole = body[0] if len(body) == 1 else b"".join(body)
    key = notes.get(KEY)
    message_id, _, to, subject, reply_to, correlation_id, content_type = texts[:7]
    message = v.Message.of(
        privacy.body(whole),
        message_id,
        texts[10],
        None if key is None else privacy.text(text_of(key)),
        correlation_id,
        to,
        reply_to,
        subject,
        texts[12],
        content_type,
        Map(kept) if kept else v.NO_PROPERTIES,
        len(whole) if is_sent else None,
        False,
        _life([*header, None, None, None][2], properties) if is_sent else None,
    )
    return Content(
        message,
        due=notes.get(DUE),
        number=notes.get(NUMBER),
        deliveries=int([*header, None, None, None, None, None][4] or 0),
        token=found if isinstance(found := notes.get(LOCK_TOKEN), UUID) else None,
        state=STATES.get(notes[STATE]) if STATE in notes else None,
        reason=None if reason is None else str(reason),
    )


def _value(raw: bytes, begins: int, end: int) -> bytes:
    """Return the bytes of a body that is a value; a text's do not depend on how it is encoded."""
    value = value_at(raw, begins)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return value if isinstance(value, bytes) else raw[begins:end]


def _life(ttl: int | None, properties: list[Any]) -> int | None:
    """Return the sender's time to live in microseconds; `None` if there is none.

    A time too long for the header is the difference of the expiry and creation times.
    """
    if ttl is not None and ttl != FOR_EVER_MS:
        return max(1, ttl * MILLISECOND)
    expiry, created = properties[8:10] if len(properties) > 9 else (None, None)
    if isinstance(expiry, int) and isinstance(created, int):
        life = (expiry - created) * MILLISECOND
        return None if life >= FOR_EVER_MS * MILLISECOND else max(1, life)
    return None if ttl is None else ttl * MILLISECOND


def inner_messages(raw: bytes) -> list[bytes]:
    """Return the encoded messages of a batch, whose envelope has each in a section of data.

    Raises:
        Unreadable: the bytes are not such an envelope.
    """
    found = []
    try:
        for code, _, begins, _ in sections_of(raw):
            if code == DATA and (inner := value_at(raw, begins)) is not OPAQUE:
                end_of(raw, begins)
                found.append(inner)
    except (IndexError, ValueError) as error:
        raise Unreadable(f"a batch cannot be read: {error}") from None
    return found
