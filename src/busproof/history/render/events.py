"""Rendering of events as text, in the words of the domain, one per line."""

from collections.abc import Iterable, Iterator

import attrs

from busproof import vocabulary as v
from busproof.history.render.commands import command_words
from busproof.history.render.outcomes import outcome_words
from busproof.history.render.phrases import seconds, show_name

__all__ = ["EventWords", "event_words", "story"]


@attrs.frozen(kw_only=True)
class EventWords:
    """One event as text: client and time where they matter, the command and the outcome."""

    who: str = ""
    request: str
    answer: str

    def __str__(self) -> str:
        words = f"{self.who}: {self.request}" if self.who else self.request
        return f"{words} -> {self.answer}"


def event_words(event: v.Event) -> str:
    """Return the text of an event without client and time; `story` adds those."""
    return str(_words_of(event, who="", partitioned=True))


def story(events: Iterable[v.Event]) -> tuple[EventWords, ...]:
    """Return the events as text, in order; clients and times are named where they differ."""
    return tuple(_story(list(events)))


def _story(events: list[v.Event]) -> Iterator[EventWords]:
    several = len({(event.client, event.connection) for event in events}) > 1
    timed = any(event.called or event.returned for event in events)
    regular: set[str] = set()
    for event in events:
        if isinstance(event.command, v.CreateQueue) and not event.command.partitioned:
            regular.add(event.command.queue)
        if isinstance(event.command, v.CreateTopic) and not event.command.partitioned:
            regular.add(event.command.topic)
        parts = [_client(event)] * several + [_times(event)] * timed
        queue = str(getattr(event.command, "queue", "")).removesuffix(v.DEAD_LETTERS)
        partitioned = queue.partition("/subscriptions/")[0] not in regular
        yield _words_of(event, who=" ".join(parts), partitioned=partitioned)


def _words_of(event: v.Event, *, who: str, partitioned: bool) -> EventWords:
    answer = outcome_words(event.outcome, partitioned=partitioned)
    if event.witness is not None:
        answer += f" (partition {event.witness.partition})"
    return EventWords(who=who, request=command_words(event.command), answer=answer)


def _client(event: v.Event) -> str:
    client = show_name(event.client)
    connection = show_name(event.connection)
    return client if client == connection else f"{client} over {connection}"


def _times(event: v.Event) -> str:
    if event.returned is None or event.returned == event.called:
        return f"at {seconds(event.called)}"
    return f"at {seconds(event.called)} to {seconds(event.returned)}"
