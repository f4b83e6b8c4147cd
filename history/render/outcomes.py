"""Rendering of outcomes in the words of the domain, one per line."""

from collections.abc import Iterator
from typing import assert_never

from busproof.history.render.entities import (
    description_words,
    filter_words,
    topic_description_words,
)
from busproof.history.render.phrases import (
    bracketed,
    counted,
    named,
    plain_number,
    properties,
    quoted,
    seconds,
)
from busproof.vocabulary.messages import SEQUENCE_BITS, MessageView
from busproof.vocabulary.outcomes import (
    Deleted,
    Described,
    Done,
    Empty,
    Indeterminate,
    Listed,
    Outcome,
    Peeked,
    Received,
    ReceivedSeveral,
    Refused,
    Renewed,
    RenewedSeveral,
    RulesListed,
    Scheduled,
    SessionAccepted,
    SessionsListed,
    SessionState,
    TopicDescribed,
    Unsupported,
)

__all__ = ["outcome_words"]


def outcome_words(  # noqa: PLR0911 - one return a case
    outcome: Outcome, *, partitioned: bool = True
) -> str:
    """Return the text of an outcome, such as `Refused: invalid-operation`.

    Args:
        outcome: the outcome.
        partitioned: whether the upper bits of sequence numbers are partitions.
    """
    match outcome:
        case Done():
            return "Done"
        case Received(message=view):
            return f"Received {_view_words(view, partitioned)}"
        case ReceivedSeveral(messages=views):
            return _several_words([_view_words(view, partitioned) for view in views])
        case Empty():
            return "Empty"
        case Peeked(messages=views):
            return _peeked_words([_view_words(view, partitioned) for view in views])
        case Scheduled() | Deleted():
            return _number_outcome_words(outcome)
        case SessionAccepted() | SessionState() | SessionsListed() | Renewed() | RenewedSeveral():
            return _session_outcome_words(outcome)
        case Described() | TopicDescribed() | Listed() | RulesListed():
            return _management_outcome_words(outcome)
        case Refused(error=error, detail=detail):
            return f"Refused: {error.value}{bracketed(detail)}"
        case Indeterminate(detail=detail):
            return f"Indeterminate: no answer came{bracketed(detail)}"
        case Unsupported(detail=detail):
            return f"Unsupported{bracketed(detail)}"
        case _:
            assert_never(outcome)


def _number_outcome_words(outcome: Scheduled | Deleted) -> str:
    if isinstance(outcome, Deleted):
        return f"Deleted {counted(outcome.count, 'message')}"
    number = outcome.sequence_number
    return "Scheduled" if number is None else f"Scheduled as {plain_number(number)}"


def _session_outcome_words(
    outcome: SessionAccepted | SessionState | SessionsListed | Renewed | RenewedSeveral,
) -> str:
    match outcome:
        case SessionAccepted(session_id=session):
            return f"Accepted session {quoted(session)}"
        case SessionState(state=state):
            return "No state" if state is None else f"State {quoted(state)}"
        case SessionsListed(session_ids=sessions):
            return f"Listed {', '.join(map(quoted, sessions))}" if sessions else "Listed nothing"
        case Renewed(locked_until=until):
            return "Renewed" if until is None else f"Renewed: locked until {seconds(until)}"
        case RenewedSeveral(locked_until=ends):
            told = ", ".join("unknown" if end is None else seconds(end) for end in ends)
            return f"Renewed: locked until {told}" if told else "Renewed"


def _management_outcome_words(
    outcome: Described | TopicDescribed | Listed | RulesListed,
) -> str:
    match outcome:
        case Described(description=told):
            return f"Described {description_words(told)}"
        case TopicDescribed(description=described):
            return f"Described {topic_description_words(described)}"
        case Listed(names=names):
            return f"Listed {', '.join(named(each) for each in names) or 'nothing'}"
        case RulesListed(rules=rules):
            listed = (f"{named(each.name)} ({filter_words(each.filter)})" for each in rules)
            return f"Listed rules: {', '.join(listed) or 'none'}"
        case _:
            assert_never(outcome)


def _several_words(views: list[str]) -> str:
    number = f"{len(views)} messages: " if len(views) > 1 else ""
    return f"Received {number}{'; '.join(views)}" if views else "Received nothing"


def _peeked_words(views: list[str]) -> str:
    if not views:
        return "Peeked nothing"
    number = f"{len(views)} messages: " if len(views) > 1 else ""
    return f"Peeked {number}{'; '.join(views)}"


def _view_words(view: MessageView, partitioned: bool) -> str:
    parts = ", ".join(_parts_of_view(view, partitioned))
    words = ", ".join([quoted(view.body), *properties(view)])
    return f"{words} ({parts})" if parts else words


def _parts_of_view(view: MessageView, partitioned: bool) -> Iterator[str]:
    if view.sequence_number is not None:
        yield _number_words(view.sequence_number, partitioned)
    if view.delivery_count is not None:
        yield f"delivery count {view.delivery_count}"
    if view.lock_token is not None:
        yield f"lock {named(view.lock_token)}"
    if view.locked_until is not None:
        yield f"locked until {seconds(view.locked_until)}"
    if view.state is not None:
        yield view.state.value
    if view.dead_letter_reason is not None:
        yield f"dead-lettered for {quoted(view.dead_letter_reason)}"


def _number_words(number: int, partitioned: bool) -> str:
    if not partitioned or number < 0:
        return f"sequence number {number}"
    partition, within = divmod(number, 1 << SEQUENCE_BITS)
    return f"partition {partition}, sequence number {within}"
