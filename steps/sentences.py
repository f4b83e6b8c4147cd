"""Sentences of steps, and the words and optional parts that many of them share.

A sentence in the past tense says what must have succeeded: `a message without key was sent`. In the
present tense it is a request whose answer later steps look at: `a message without key is sent`.
"""

import re
from collections.abc import Callable
from typing import Final, Self

import attrs
import pytest
from pytest_bdd import parsers

from busproof import vocabulary as v
from busproof.steps.wording import LETTER, Properties, seconds

__all__ = [
    "ENTITY",
    "KIND",
    "OTHER",
    "SOURCE",
    "TOPIC",
    "WORDS",
    "Delay",
    "Fate",
    "Terms",
    "Times",
    "entity_path",
    "name_in",
    "sentence",
    "transaction_of",
]

OTHER: Final = "c2"
"""The second connection of a scenario; the first one is `c1`."""
TOPIC: Final = "news"
SOURCE: Final = "source"
"""The topic of a scenario, and the queue that forwards."""
REASON: Final = "unreadable"
"""Why a message is dead-lettered, if the step does not say it."""
KIND: Final = r"(?P<kind>partitioned|regular)"
"""The kind of a queue or topic, in a regular expression."""


@attrs.frozen
class Word:
    """A word or a part of a sentence: the texts that fit, how it is listed, and what it means.

    Some attributes have the names that the package `parse` gives them.
    """

    pattern: str
    listed: str
    meaning: Callable[[str], object] = str
    regex_group_count: int = 0

    def __call__(self, text: str) -> object:
        """Return what a text means."""
        return self.meaning(text)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 1


@attrs.frozen
class Fate:
    """What becomes of a message that was received: how it is settled, and why."""

    how: str
    reason: str
    within: bool

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the fate that a text names; a dead letter has a reason of its own."""
        how, _, rest = text.partition(" ")
        within = text.endswith(" in the transaction")
        reason = _quoted(rest) if '"' in rest else "" if within else REASON
        return cls(how, reason, within)


@attrs.frozen
class Times:
    """How often a message is received: a number of times, or until its deliveries are spent."""

    number: int | None
    spends: bool


def _times(text: str) -> Times:
    if text.endswith("permitted"):
        return Times(None, spends=True)
    return Times(_only_number(text), spends=text.endswith("by default"))


@attrs.frozen
class Terms:
    """How long a message lives, and how long its sender waits, in microseconds."""

    life: int | None = None
    timeout: int = v.DEFAULT_TIMEOUT


def _terms(text: str) -> Terms:
    duration = seconds(_only_number(text))
    return Terms(timeout=duration) if "timeout" in text else Terms(life=duration)


@attrs.frozen
class Delay:
    """When a scheduled message is due, and how long it lives then, in microseconds."""

    delay: int
    life: int | None = None


def _delay(text: str) -> Delay:
    if text == "for a minute ago":
        return Delay(seconds(-60))
    numbers = [seconds(int(number)) for number in re.findall(r"\d+", text)]
    return Delay(*numbers)


def _keys(text: str) -> list[Properties]:
    """Return the keys that a text names, or as many as it says."""
    name, _, _ = text.partition(" ")
    quoted = re.findall(r'"([^"]+)"', text)
    if quoted:
        return [Properties({name: key}) for key in quoted]
    number, _, name = text.partition(" ")
    return [Properties({name.removesuffix("s"): f"k{key}"}) for key in range(int(number))]


EACH: Final = 0
"""A number of messages that stands for as many as were sent."""


def _how_many(text: str) -> int:
    return EACH if text == "each" else _number(text)


def _only_number(text: str) -> int:
    """Return the number that stands in a text."""
    return int(re.sub(r"\D", "", text))


def _quoted(text: str) -> str:
    """Return the text in quotation marks."""
    return text.split('"')[1]


def _below(text: str) -> str:
    """Return the end of the path of a queue of dead letters."""
    return v.TRANSFERS if text.endswith("of transfers") else v.DEAD_LETTERS


REASONS: Final = {
    "as an invalid operation": v.Error.INVALID_OPERATION,
    "because it is not found": v.Error.NOT_FOUND,
    "because it exists already": v.Error.ALREADY_EXISTS,
    "because it is too large": v.Error.MESSAGE_TOO_LARGE,
    "because the quota is exceeded": v.Error.QUOTA_EXCEEDED,
    "because the entity is disabled": v.Error.ENTITY_DISABLED,
    "because the session's lock is lost": v.Error.SESSION_LOCK_LOST,
}
"""Why a request may be refused, in the words of the features."""


def _errors(text: str) -> frozenset[v.Error]:
    """Return the errors that a text allows: the one that it names, or all."""
    named = [error for reason, error in REASONS.items() if text.endswith(reason)]
    return frozenset(named or v.Error)


FOUND: Final[dict[str, tuple[type[v.Outcome], ...]]] = {
    "finds nothing": (v.Empty,),
    "finds something": (v.Received, v.ReceivedSeveral),
    "may find something": (v.Empty, v.Received, v.ReceivedSeveral),
    "is refused": (v.Refused,),
}
"""What a receive may be answered with."""

_REASON: Final = "|".join(REASONS)


@attrs.frozen
class Answer:
    """What a receive may be answered with, and the errors that a refusal may have."""

    kinds: tuple[type[v.Outcome], ...]
    errors: frozenset[v.Error]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the answer that a text names."""
        kinds = next(kinds for words, kinds in FOUND.items() if text.startswith(words))
        return cls(kinds, _errors(text))

    def fits(self, outcome: v.Outcome) -> bool:
        """Return whether a receive was answered so."""
        refused = isinstance(outcome, v.Refused) and outcome.error not in self.errors
        return isinstance(outcome, self.kinds) and not refused


ENTITY: Final = r'it|the queue|the source|the topic|subscription "[^"]+"|"[^"]+"'
"""An entity in a sentence: the one in use, the topic, a subscription, or a queue by its name."""
TIME_UNITS: Final = {"seconds": 1, "hours": 3600}
"""Units of time, in seconds."""
SEEN: Final = {"received": "views", "shown": "peeked", "kept": "several"}
"""How messages were seen, and the fixture that has them."""
STATUSES: Final = {
    "disabled": v.EntityStatus.DISABLED,
    "disabled for senders": v.EntityStatus.SEND_DISABLED,
    "disabled for receivers": v.EntityStatus.RECEIVE_DISABLED,
    "active again": v.EntityStatus.ACTIVE,
}

WORDS: Final = {
    "Tense": Word("is|are|was|were", "{is or was}", lambda text: text in ("was", "were")),
    "Messages": Word("messages?", "messages"),
    "Copies": Word("messages?|copy|copies", "{messages or copies}"),
    "Receives": Word("receives?", "receives"),
    "Gives": Word("gives?", "{give or gives}"),
    "Number": Word(r"a|an|one|another|\d+", "{number}", _number),
    "HowMany": Word(r"a|one|another|each|\d+", "{number or each}", _how_many),
    "Fate": Word(
        r'(?:completed|deleted|dead-lettered(?: because of "[^"]*")?)'
        r"|(?:completed|abandoned|deferred|dead-lettered) in the transaction",
        "{completed or deleted or dead-lettered[ because of {reason}] or "
        "{completed or abandoned or deferred or dead-lettered} in the transaction}",
        Fate.of,
    ),
    "Settled": Word(
        r'(?:completed|abandoned|deferred|dead-lettered)(?: because of "[^"]*")?'
        r"(?: in the transaction)?",
        "{completed or abandoned or deferred or dead-lettered}[ because of {reason}]"
        "[ in the transaction]",
        Fate.of,
    ),
    "Times": Word(
        r", \d+ times by default|, \d+ times|, as often as permitted",
        ", {{number} times[ by default] or as often as permitted}",
        _times,
    ),
    "CommitRefused": Word("the commit is refused and ", "the commit is refused and "),
    "IfItCame": Word(", if it has come", ", if it has come"),
    "IfItComes": Word(", if it comes", ", if it comes"),
    "Succeeds": Word(", which succeeds", ", which succeeds"),
    "IfPossible": Word(", if they can be", ", if they can be"),
    "Age": Word(
        r" from before the last \d+ seconds", " from before the last {number} seconds", _only_number
    ),
    "AndOthers": Word(", and all others were received", ", and all others were received"),
    "OneByOne": Word(", or else one by one", ", or else one by one"),
    "Bound": Word("exactly|at most", "{exactly or at most}"),
    "Elsewhere": Word(" over another connection", " over another connection", lambda _: OTHER),
    "Within": Word(" in the transaction", " in the transaction"),
    "Alone": Word(", each in a transaction of its own", ", each in a transaction of its own"),
    "Session": Word(' (?:of|in) session "[^"]*"', ' of session "{id}"', _quoted),
    "DeadLetters": Word(
        " among its dead letters(?: of transfers)?",
        " among its dead letters[ of transfers]",
        _below,
    ),
    "Reason": Word(' because of "[^"]*"', ' because of "{reason}"', _quoted),
    "Refusal": Word(f" (?:{_REASON})", " because {reason}", _errors),
    "OrRefusal": Word(
        f" or refused|, or refused (?:{_REASON})", ", or refused[ because {reason}]", _errors
    ),
    "To": Word(
        r' to (?:the other one|its dead letters|"[^"]+"|a name of \d+ characters)',
        " to {place}",
        lambda text: text.removeprefix("to "),
    ),
    "Terms": Word(
        r" that lives? for \d+ seconds| with a timeout of \d+ seconds?",
        "[ that lives for {number} seconds][ with a timeout of {number} seconds]",
        _terms,
    ),
    "Delay": Word(
        r"in \d+ seconds?(?:, to live for \d+ seconds)?|for a minute ago",
        "in {number} seconds[, to live for {number} seconds]",
        _delay,
    ),
    "Keys": Word(
        r'\w+ "[^"]+"(?:, "[^"]+")* and "[^"]+"|\d+ \w+',
        '{PartitionKey "a", "b" and "c" or 110 SessionIds}',
        _keys,
    ),
    "Down": Word(
        r"every partition|its only store|one of its partitions|\d+ partitions"
        r"|the partition that took (?:it|the first message)",
        "{every partition or {number} partitions or one of its partitions or its only store "
        "or the partition that took it or the partition that took the first message}",
    ),
    "GoesDown": Word("is|are|goes|go", "{is or goes}"),
    "ForAWhile": Word(" for a while", " for a while"),
    "From": Word(
        r' from (?:subscription "[^"]+"|the subscription with a name of \d+ characters)',
        ' from subscription "{name}"',
    ),
    "Deferred": Word("it|the message kept", "{it or the message kept}"),
    "InTheEnd": Word("in the end ", "in the end "),
    "Has": Word("has|have", "{has or have}"),
    "ByThen": Word(" by then", " by then"),
    "Found": Word("|".join(SEEN), f"{{{' or '.join(SEEN)}}}", SEEN.__getitem__),
    "OrIfRefused": Word(
        r", or \d+ if it was refused", ", or {number} if it was refused", _only_number
    ),
    "Several": Word(" of several", " of several"),
    "Finds": Word(
        rf"{'|'.join(FOUND)}(?: (?:{_REASON}))?",
        f"{{{' or '.join(FOUND)}[ because {{reason}}]}}",
        Answer.of,
    ),
    "UpTo": Word(r"up to \d+ ", "up to {number} ", _only_number),
    "Often": Word(r", \d+ times", ", {number} times", _only_number),
    "Which": Word(
        r"it|one of them|exactly one of them|none of them|each of them|number \d+ of them"
        r"|the message shown|each message shown",
        "{it or one of them or exactly one of them or none of them or each of them "
        "or number {number} of them or the message shown or each message shown}",
    ),
    "Entity": Word(ENTITY, "{entity}"),
    "Part": Word(r"only \d+ of ", "only {number} of ", _only_number),
    "TimeUnit": Word("|".join(TIME_UNITS), "{seconds or hours}", TIME_UNITS.__getitem__),
    "SameOnes": Word(", the same ones? as before", ", the same ones as before"),
    "SameReason": Word(" for the same reason", " for the same reason"),
    "Locked": Word(
        "the first of them|each of them|each of them, the latest first,",
        "{the first of them or each of them or each of them, the latest first,}",
    ),
    "Used": Word(
        "completed|abandoned|deferred|dead-lettered|renewed",
        "{completed or abandoned or deferred or dead-lettered or renewed}",
    ),
    "AndAbandoned": Word(" and abandoned", " and abandoned"),
    "OtherQueue": Word("another queue|a queue to come", "{another queue or a queue to come}"),
    "AskedTo": Word(" requested to be", " requested to be"),
    "Status": Word("|".join(STATUSES), f"{{{' or '.join(STATUSES)}}}", STATUSES.__getitem__),
}
"""The words that sentences share, by the names that stand in braces."""


def sentence(pattern: str) -> parsers.cfparse:
    """Return the parser of a sentence; `{connection:Elsewhere?}` is a part that may be left out."""
    return parsers.cfparse(pattern, extra_types={**WORDS})


def name_in(text: str) -> str:
    """Return the name that a text has in quotation marks, or one of as many characters as it says.

    Such a long name is given for its length only.
    """
    return _quoted(text) if '"' in text else LETTER * _only_number(text)


def transaction_of(request: pytest.FixtureRequest, within: object) -> str | None:
    """Return the transaction of the scenario if a step is about it."""
    return str(request.getfixturevalue("transaction")) if within else None


def entity_path(request: pytest.FixtureRequest, entity: str) -> str:
    """Return the path of an entity: of the one in use, the topic, a subscription or any queue."""
    if entity in ("the topic", "the source"):
        return TOPIC if entity == "the topic" else SOURCE
    if match := re.fullmatch(r'(subscription )?"([^"]+)"', entity):
        return v.subscription_path(TOPIC, match[2]) if match[1] else match[2]
    return str(request.getfixturevalue("queue"))
