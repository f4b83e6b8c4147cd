"""A violation: an event that the documents do not allow."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.render.outcomes import outcome_words

__all__ = ["Violation", "compare_answers"]

FEW: Final = 3
"""Maximum number of partitions that are named."""


@attrs.frozen(kw_only=True)
class Violation:
    """An event that the documents do not allow.

    Attributes:
        index: its index among the judged events.
        rules: the rules that it breaks, the most relevant first.
        allowed: the answers that would have been allowed; empty if none can be compared.
        why: an explanation, if more than this one event is wrong.
        places: the partitions in which this very answer would have been allowed, if only its
            partition is wrong.
    """

    index: int
    rules: tuple[v.RuleId, ...]
    allowed: tuple[v.Outcome, ...]
    why: str = ""
    places: tuple[int, ...] = ()


def compare_answers(violation: Violation, event: v.Event) -> tuple[str, tuple[str, ...]]:
    """Return in words what was seen, and what would have been allowed, each once.

    An answer that is wrong only so long afterwards, or in its partition, is among those allowed;
    then the words say what differs.
    """
    seen = outcome_words(event.outcome)
    if violation.places and event.witness is not None:
        where = event.witness.partition
        named = " or ".join(map(str, violation.places))
        instead = (
            f"in partition {named}" if len(violation.places) <= FEW else "in another partition"
        )
        return f"{seen}, in partition {where}", (f"{seen}, {instead}",)
    words = tuple(dict.fromkeys(map(outcome_words, violation.allowed)))
    return seen, words or ((violation.why,) if violation.why else ())
