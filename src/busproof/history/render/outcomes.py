"""Rendering of outcomes as text, in the words of the domain, one per line."""

from collections.abc import Iterator
from typing import assert_never

from busproof import vocabulary as v
from busproof.history.render.entities import (
    description_words,
    filter_words,
    topic_description_words,
)
from busproof.history.render.phrases import (
    bracket_detail,
    plain_number,
    properties,
    quote_text,
    seconds,
    show_count,
    show_name,
)

__all__ = ["outcome_words"]


def outcome_words(  # noqa: PLR0911 - one return a case
    outcome: v.Outcome, *, partitioned: bool = True
) -> str:
    """Return the text of an outcome, such as `Refused: invalid-operation`.

    Args:
        outcome: the outcome.
        partitioned: whether the upper bits of sequence numbers name partitions.
    """
    match outcome:
        case v.Done():
            return "Done"
        case v.Received(message=view):
            return f"Received {_view_words(view, partitioned)}"
        case v.ReceivedSeveral(messages=views):
            return _several_words([_view_words(view, partitioned) for view in views])
        case v.Empty():
            return "Empty"
        case v.Peeked(messages=views):
            return _peeked_words([_view_words(view, partitioned) for view in views])
        case v.Scheduled() | v.Deleted():
            return _number_outcome_words(outcome)
        case (
            v.SessionAccepted()
            | v.SessionState()
            | v.SessionsListed()
            | v.Renewed()
            | v.RenewedSeveral()
        ):
            return _session_outcome_words(outcome)
        case v.Described() | v.TopicDescribed() | v.Listed() | v.RulesListed():
            return _management_outcome_words(outcome)
        case v.Refused(error=error, detail=detail):
            return f"Refused: {error.value}{bracket_detail(detail)}"
        case v.Indeterminate(detail=detail):
            return f"Indeterminate: no answer came{bracket_detail(detail)}"
        case v.Unsupported(detail=detail):
            return f"Unsupported{bracket_detail(detail)}"
        case _:
            assert_never(outcome)


def _number_outcome_words(outcome: v.Scheduled | v.Deleted) -> str:
    if isinstance(outcome, v.Deleted):
        return f"Deleted {show_count(outcome.count, 'message')}"
    number = outcome.sequence_number
    return "Scheduled" if number is None else f"Scheduled as {plain_number(number)}"


def _session_outcome_words(
    outcome: v.SessionAccepted | v.SessionState | v.SessionsListed | v.Renewed | v.RenewedSeveral,
) -> str:
    match outcome:
        case v.SessionAccepted(session_id=session):
            return f"Accepted session {quote_text(session)}"
        case v.SessionState(state=state):
            return "No state" if state is None else f"State {quote_text(state)}"
        case v.SessionsListed(session_ids=sessions):
            return (
                f"Listed {', '.join(map(quote_text, sessions))}" if sessions else "Listed nothing"
            )
        case v.Renewed(locked_until=until):
            return "Renewed" if until is None else f"Renewed: locked until {seconds(until)}"
        case v.RenewedSeveral(locked_until=ends):
            expiries = ", ".join("unknown" if end is None else seconds(end) for end in ends)
            return f"Renewed: locked until {expiries}" if expiries else "Renewed"


def _management_outcome_words(
    outcome: v.Described | v.TopicDescribed | v.Listed | v.RulesListed,
) -> str:
    match outcome:
        case v.Described(description=description):
            return f"Described {description_words(description)}"
        case v.TopicDescribed(description=described):
            return f"Described {topic_description_words(described)}"
        case v.Listed(names=names):
            return f"Listed {', '.join(show_name(name) for name in names) or 'nothing'}"
        case v.RulesListed(rules=rules):
            listed = (f"{show_name(rule.name)} ({filter_words(rule.filter)})" for rule in rules)
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


def _view_words(view: v.MessageView, partitioned: bool) -> str:
    parts = ", ".join(_parts_of_view(view, partitioned))
    words = ", ".join([quote_text(view.body), *properties(view)])
    return f"{words} ({parts})" if parts else words


def _parts_of_view(view: v.MessageView, partitioned: bool) -> Iterator[str]:
    if view.sequence_number is not None:
        yield _number_words(view.sequence_number, partitioned)
    if view.delivery_count is not None:
        yield f"delivery count {view.delivery_count}"
    if view.lock_token is not None:
        yield f"lock {show_name(view.lock_token)}"
    if view.locked_until is not None:
        yield f"locked until {seconds(view.locked_until)}"
    if view.state is not None:
        yield view.state.value
    if view.dead_letter_reason is not None:
        yield f"dead-lettered for {quote_text(view.dead_letter_reason)}"


def _number_words(number: int, partitioned: bool) -> str:
    if not partitioned or number < 0:
        return f"sequence number {number}"
    partition, within = divmod(number, 1 << v.SEQUENCE_BITS)
    return f"partition {partition}, sequence number {within}"
