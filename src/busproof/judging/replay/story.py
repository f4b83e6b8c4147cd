"""An execution in words: each event, and what the bus chose where nobody could see it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.render.events import story
from busproof.judging.replay.caches import Fill
from busproof.judging.replay.choices_made import Choice
from busproof.judging.replay.explanation import Explanation

__all__ = ["Told", "execution_story"]


@attrs.frozen(kw_only=True)
class Told:
    """One event of an execution.

    Attributes:
        event: the event in words, with its answer.
        choices: what the bus chose at this event, in words, with the rule or ambiguity that
            leaves it free.
    """

    event: str
    choices: tuple[str, ...] = ()


def execution_story(
    events: Sequence[v.Event], explanation: Explanation, *, partitions: bool = True
) -> tuple[Told, ...]:
    """Return the events of an explained history in words, in the order of their recording.

    Args:
        events: the events of the history.
        explanation: its explanation; without an execution no event has choices.
        partitions: whether the observer sees partitions; otherwise those of the execution are only
            a device, and other ones would explain the answers as well.
    """
    chosen: dict[int, list[str]] = defaultdict(list)
    # A later answer shows what was cached, but it happened at a receive before.
    cached = Counter(
        choice.value.index
        for step in explanation.execution
        for choice in step.choices
        if isinstance(choice.value, Fill)
    )
    for step in explanation.execution:
        words = chosen[step.index]
        told = [one for one in step.choices if partitions or one.name not in OF_PARTITIONS]
        words += (one for one in _words(told) if one not in words)
    for index, count in cached.items():
        chosen[index].append(_say_cached(count))
    return tuple(
        Told(event=str(words), choices=tuple(chosen[index]))
        for index, words in enumerate(story(events))
    )


def _words(choices: Sequence[Choice]) -> Iterator[str]:
    cached = sum(choice.value == "one-more" for choice in choices)
    if cached:
        yield _say_cached(cached)
    for choice in choices:
        told = WORDS.get(choice.name, _as_read)(choice)
        if told:
            yield f"{told} ({choice.name})"


def _say_cached(count: int) -> str:
    return f"the front end caches {count} more message{'s' * (count > 1)} (LIFE-08)"


def _as_read(choice: Choice) -> str:
    """Return the words of a reading, or of one answer of several."""
    return str(choice.value) if choice.count > 1 else ""


def _partition(choice: Choice) -> str:
    return f"goes to partition {choice.value}"


def _origin(choice: Choice) -> str:
    return f"comes from partition {choice.value}" if choice.count > 1 else ""


def _message(choice: Choice) -> str:
    record: Any = choice.value
    if choice.count < 2:
        return ""
    return f"it is message {record.number % (1 << v.SEQUENCE_BITS)} of its partition"


def _nothing(_: Choice) -> str:
    return ""


def _slack(choice: Choice) -> str:
    return "its time has come" if choice.value else "its time has not come yet"


def _from_cache(_: Choice) -> str:
    return "from the front end's cache"


def _session(choice: Choice) -> str:
    session: Any = choice.value
    return f"session {session.name!r}" if choice.count > 1 else ""


def _say_fired(choice: Choice) -> str:
    """Return which of the timers that may have fired did."""
    timers: Any = choice.value
    names = [_timer(rule, thing) for *_, rule, thing in timers]
    return f"before it: {', '.join(names)}" if names else ""


def _timer(rule: str, thing: Any) -> str:
    if rule == "sessions.end":
        return f"the lock of session {thing.name!r} ends"
    if rule == "duplicates.forget":
        return f"MessageId {thing.name[1]!r} is forgotten"
    return TIMERS[rule].format(repr(thing.message.body))


TIMERS: Final = {
    "dead_letters.move": "{} becomes a dead letter",
    "expiry.end": "{} expires",
    "forwarding.go_on": "{} is forwarded",
    "forwarding.go_too": "{} is forwarded",
    "forwarding.try_again": "dead letter {} is tried again",
    "locks.end": "the lock of {} ends",
    "scheduling.activate": "scheduled {} is enqueued",
    "transactions.lapse": "the transaction of {} is over",
}
"""Words for each timer of a message, with its body."""


def _say_lost(choice: Choice) -> str:
    return "takes effect at once" if choice.value == "now" else "does not take effect yet"


def _late(choice: Choice) -> str:
    if choice.value is None or not isinstance(choice.value, int):
        return ""
    return f"before it: request {choice.value + 1} takes effect"


OF_PARTITIONS: Final = frozenset(("KEY-02", "KEY-14", "KEY-16", "LIFE-07", "LIFE-09"))

WORDS: Final[dict[str, Callable[[Choice], str]]] = {
    "ANSWER-LATE": _late,
    "ANSWER-LOST": _say_lost,
    "KEY-02": _partition,
    "KEY-14": _partition,
    "KEY-16": _message,
    "LIFE-07": _message,
    "LIFE-08": _nothing,
    "LIFE-09": _origin,
    "PART-09": _from_cache,
    "SCHEDULE-DELAY": _say_fired,
    "SESS-06": _session,
    "SLACK": _slack,
}
"""Name of a choice to its words; any other is told as it is, if there was more than one answer."""
