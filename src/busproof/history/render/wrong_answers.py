"""Rendering of a wrong answer as a clause, compared with a right one."""

from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.history.render.outcomes import outcome_words
from busproof.history.render.phrases import plain_number, quote_text, seconds
from busproof.history.render.sequence_names import TIMES, join_parts, noun

__all__ = ["what_is_wrong"]


def what_is_wrong(wrong: v.Event, right: v.Event, *, last: bool) -> str:
    """Return a clause about a wrong answer, such as `it is refused as not-found`.

    Args:
        wrong: the event with the wrong answer.
        right: the same command with an answer that the documents allow.
        last: whether the command is the last one of its sequence.
    """
    subject = "it" if last else f"the earlier {noun(wrong.command)}"
    usual = right.outcome
    sentence = f"{subject} {_answer_words(wrong, usual)}"
    if isinstance(usual, v.Refused) and not isinstance(wrong.outcome, v.Refused):
        return f"{sentence} instead of a refusal as {usual.error.value}"
    return sentence


def _answer_words(wrong: v.Event, usual: v.Outcome) -> str:  # noqa: PLR0911 - one return a case
    if wrong.outcome == usual:
        return "goes to another partition"
    match wrong.outcome:
        case v.Done() | v.Scheduled() | v.Renewed() | v.RenewedSeveral():
            sends = isinstance(wrong.command, v.Send | v.SendBatch | v.Schedule)
            return "is accepted" if sends else "succeeds"
        case v.Refused(error=error):
            instead = f" instead of {usual.error.value}" if isinstance(usual, v.Refused) else ""
            return f"is refused as {error.value}{instead}"
        case v.Described() | v.TopicDescribed() if isinstance(usual, type(wrong.outcome)):
            return f"shows {_differences(wrong.outcome.description, usual.description)}"
        case v.Empty():
            return "delivers no message"
        case v.Received() | v.ReceivedSeveral():
            return f"delivers {_views_words(wrong.outcome, usual)}"
        case v.Peeked():
            return f"shows {_views_words(wrong.outcome, usual)}"
        case _:
            return f"returns: {outcome_words(wrong.outcome)}"


def _views_words(wrong: v.Outcome, usual: v.Outcome) -> str:
    """Return words for the messages of a wrong answer, or for values if the messages are right."""
    views = _views_of(wrong)
    right = _views_of(usual)
    bodies = [quote_text(view.body) for view in views]
    if bodies and bodies == [quote_text(view.body) for view in right]:
        pairs = zip(views, right, strict=True)
        wrong_view, other = next(((a, b) for a, b in pairs if a != b), (views[0], right[0]))
        return f"{quote_text(wrong_view.body)} with {_differences(wrong_view, other)}"
    return join_parts(bodies) if bodies else "no message"


def _views_of(outcome: v.Outcome) -> tuple[v.MessageView, ...]:
    match outcome:
        case v.Received(message=view):
            return (view,)
        case v.ReceivedSeveral(messages=views) | v.Peeked(messages=views):
            return views
        case _:
            return ()


def _differences(wrong: Any, usual: Any) -> str:
    names = [field.name for field in attrs.fields(type(wrong))]
    return join_parts(
        [
            f"{name.replace('_', ' ')} {_value(name, getattr(wrong, name))}"
            f" instead of {_value(name, getattr(usual, name))}"
            for name in names
            if getattr(wrong, name) != getattr(usual, name)
        ]
    )


def _value(name: str, value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if name in (*TIMES, "locked_until"):
        return seconds(value)
    if name == "sequence_number":
        return plain_number(value)
    return quote_text(value) if type(value) is str else str(getattr(value, "value", value))
