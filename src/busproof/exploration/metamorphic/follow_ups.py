"""Send the commands of a source again, with the locks and numbers that it gets this time."""

from collections.abc import Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.cargo import laden, unusual
from busproof.exploration.metamorphic.entities import Ask
from busproof.judging.past import views_of

__all__ = ["SourceSequence", "send_follow_up"]

Place = tuple[int, int]
"""Index of an event, and of a message in its answer."""
LONGER: Final = " żółć 日本 " * 400
"""Text behind each short state of a session, because a bus may cut off long ones."""
SHORT: Final = 100


@attrs.frozen(kw_only=True)
class SourceSequence:
    """The sequence of a scenario, with its name."""

    name: str
    events: tuple[v.Event, ...] = attrs.field(repr=False)


def send_follow_up(events: Sequence[v.Event], ask: Ask) -> None:
    """Send the commands of these events again.

    Lock tokens and sequence numbers are replaced by those that the same message got in the same
    answer this time. A command is left out if a lock that it needs does not exist.

    Args:
        events: the original sequence.
        ask: sends a command, maybe changed, and returns the event that stands for the original one.
    """
    tokens, numbers = _places(events)
    answers: dict[int, v.Outcome] = {}
    is_filtered = any(isinstance(event.command, v.CreateTopic) for event in events)
    for index, event in enumerate(events):
        command = _load(event.command, is_filtered=is_filtered)
        made = _translate(command, tokens, numbers, answers)
        answer = None if made is None else ask(made, event.connection)
        if answer is not None:
            answers[index] = answer.outcome


def _places(events: Sequence[v.Event]) -> tuple[dict[str, Place], dict[int, Place]]:
    """Return where the tokens and the numbers of a sequence first appear."""
    tokens: dict[str, Place] = {}
    numbers: dict[int, Place] = {}
    for index, event in enumerate(events):
        if isinstance(event.outcome, v.Scheduled) and event.outcome.sequence_number is not None:
            numbers.setdefault(event.outcome.sequence_number, (index, 0))
        for position, view in enumerate(views_of(event.outcome)):
            if view.lock_token is not None:
                tokens.setdefault(view.lock_token, (index, position))
            if view.sequence_number is not None:
                numbers.setdefault(view.sequence_number, (index, position))
    return tokens, numbers


def _load(command: v.Command, *, is_filtered: bool) -> v.Command:
    match command:
        case v.Send(message=message) | v.Schedule(message=message):
            return attrs.evolve(command, message=laden(message, is_filtered=is_filtered))
        case v.SendBatch(messages=messages):
            several = tuple(laden(message, is_filtered=is_filtered) for message in messages)
            return attrs.evolve(command, messages=several)
        case v.CreateQueue() | v.CreateTopic() | v.CreateSubscription():
            return unusual(command)
        case v.SetSessionState(state=str(state)) if 0 < len(state) <= SHORT:
            return attrs.evolve(command, state=state + LONGER)
    return command


def _translate(
    command: v.Command,
    tokens: dict[str, Place],
    numbers: dict[int, Place],
    answers: dict[int, v.Outcome],
) -> v.Command | None:
    changed: dict[str, Any] = {}
    for name in ("lock_token", "lock_tokens"):
        named = getattr(command, name, None)
        if named is None:
            continue
        several = [named] if isinstance(named, str) else named
        now = [_token(token, tokens, answers) for token in several]
        if None in now:
            return None
        changed[name] = now[0] if isinstance(named, str) else tuple(now)
    for name in ("sequence_number", "from_sequence_number"):
        number = getattr(command, name, None)
        if number is not None:
            changed[name] = _number(number, numbers, answers)
    if isinstance(command, v.ReceiveDeferred):
        wanted = [_number(number, numbers, answers) for number in command.sequence_numbers]
        changed["sequence_numbers"] = tuple(wanted)
    return attrs.evolve(command, **changed) if changed else command


def _token(token: str, tokens: dict[str, Place], answers: dict[int, v.Outcome]) -> str | None:
    """Return the token that replaces one of the original sequence; others stay as they are."""
    if token not in tokens:
        return token
    index, position = tokens[token]
    views = views_of(answers[index]) if index in answers else ()
    return views[position].lock_token if position < len(views) else None


def _number(number: int, numbers: dict[int, Place], answers: dict[int, v.Outcome]) -> int:
    """Return the number that replaces one of the original sequence, or the one that follows it."""
    for known, more in ((number, 0), (number - 1, 1)):
        index, position = numbers.get(known, (-1, 0))
        outcome = answers.get(index)
        if isinstance(outcome, v.Scheduled):
            return number if outcome.sequence_number is None else outcome.sequence_number + more
        views = () if outcome is None else views_of(outcome)
        if position < len(views) and views[position].sequence_number is not None:
            return (views[position].sequence_number or 0) + more
    return number
