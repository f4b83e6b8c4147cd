"""Which rules an event breaks that no execution of the model explains.

The model names the rules of its own answers. If it refuses and the bus did not, those say it all.
If a message came that ought not to, the rule is that of the last change of this message; if one
did not come, that of how it got where it is; if one came altered, that of the field.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.diagnosis.allowed import allowed_answers, other_places
from busproof.judging.diagnosis.answers import (
    wrong_session,
    wrong_state,
    wrongly_deleted,
    wrongly_listed,
    wrongly_placed,
    wrongly_renewed,
)
from busproof.judging.diagnosis.concerned import concerned
from busproof.judging.diagnosis.descriptions import wrongly_described
from busproof.judging.diagnosis.given import (
    wrongly_given,
    wrongly_given_together,
    wrongly_shown,
)
from busproof.judging.diagnosis.refusals import not_refused
from busproof.judging.diagnosis.scene import Scene, scene_of
from busproof.judging.diagnosis.withheld import withheld
from busproof.judging.diagnosis.wrongly_refused import wrongly_refused
from busproof.judging.replay.explanation import explain
from busproof.judging.replay.recollection import Before

__all__ = ["Diagnosis", "diagnose", "diagnosis_in", "diagnosis_of_last"]

AT_LEAST: Final = "LIFE-01"
"""Rule that is charged if nothing more is known."""


@attrs.frozen(kw_only=True)
class Diagnosis:
    """What is wrong with an event that fits nowhere.

    Attributes:
        index: its index in the history.
        rules: the rules that it breaks, the most relevant first; there is at least one.
        allowed: the answers that would have been allowed.
        places: the partitions in which the very answer would have been allowed, if only its
            partition is wrong.
    """

    index: int
    rules: tuple[v.RuleId, ...]
    allowed: tuple[v.Outcome, ...]
    places: tuple[int, ...] = ()


def diagnose(
    events: Sequence[v.Event],
    stuck_at: int,
    profile: v.Profile,
    observability: v.Observability,
    steps: int | None = None,
    before: Before | None = None,
) -> Diagnosis:
    """Return what is wrong with the event at which a replay got stuck.

    Args:
        events: the events of the history.
        stuck_at: the index of the event that fitted nowhere after the longest path.
        profile: the profile of the namespace.
        observability: what the observer sees.
        steps: the budget of each search; by default it grows with the events.
        before: what may have been there before, if the history begins in the middle.
    """
    index = violation_at(events, stuck_at, profile, observability, steps, before)
    return diagnosis_of_last(events[: index + 1], profile, observability, before)


def diagnosis_of_last(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    before: Before | None = None,
) -> Diagnosis:
    """Return what is wrong with the last event, before which an execution explains all."""
    return diagnosis_in(scene_of(events, profile, observability, before), len(events) - 1)


def diagnosis_in(scene: Scene | None, index: int) -> Diagnosis:
    """Return what is wrong with the event at this index, whose scene may be unknown."""
    if scene is None:
        return Diagnosis(index=index, rules=(AT_LEAST,), allowed=())
    rules = tuple(dict.fromkeys(broken(scene))) or (AT_LEAST,)
    return Diagnosis(
        index=index, rules=rules, allowed=allowed_answers(scene), places=other_places(scene)
    )


def violation_at(
    events: Sequence[v.Event],
    stuck_at: int,
    profile: v.Profile,
    observability: v.Observability,
    steps: int | None,
    before: Before | None,
) -> int:
    """Return the index of the first event at which no execution explains the events so far.

    That is where the longest execution ended, unless only later events contradict it: a number
    that a later message shows may say that an earlier one was somewhere else.
    """

    def is_explained(index: int) -> bool:
        """Return whether an execution explains the events up to this one."""
        some = events[: index + 1]
        return explain(some, profile, observability, steps=steps, before=before).is_found

    least = stuck_at
    most = len(events) - 1
    if not is_explained(least):
        return least
    while least + 1 < most:
        middle = (least + most) // 2
        if is_explained(middle):
            least = middle
        else:
            most = middle
    return most


def broken(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that the event breaks, the most relevant first."""
    refused = isinstance(scene.event.outcome, v.Refused)
    if scene.is_refused_anyway:
        yield from not_refused(scene)
    elif refused:
        yield from wrongly_refused(scene)
    else:
        yield from OF_ANSWERS.get(type(scene.event.outcome), of_the_model)(scene)
    yield from concerned(scene)


def of_the_model(scene: Scene) -> Iterable[v.RuleId]:
    """Return the rules of the model's answers."""
    return scene.rules_of_answers


def _rules_of_receive(scene: Scene) -> Iterator[v.RuleId]:
    outcome: Any = scene.event.outcome
    yield from wrongly_given(scene, outcome.message)


def _rules_of_several(scene: Scene) -> Iterator[v.RuleId]:
    outcome: Any = scene.event.outcome
    yield from wrongly_given_together(scene, outcome.messages)


OF_ANSWERS: Final[dict[type[v.Outcome], Callable[[Scene], Iterable[v.RuleId]]]] = {
    v.Empty: withheld,
    v.Received: _rules_of_receive,
    v.ReceivedSeveral: _rules_of_several,
    v.Peeked: wrongly_shown,
    v.Deleted: wrongly_deleted,
    v.Described: wrongly_described,
    v.Done: wrongly_placed,
    v.Listed: wrongly_listed,
    v.Renewed: wrongly_renewed,
    v.RulesListed: wrongly_listed,
    v.Scheduled: wrongly_placed,
    v.SessionAccepted: wrong_session,
    v.SessionState: wrong_state,
    v.SessionsListed: wrongly_listed,
    v.TopicDescribed: wrongly_described,
}
"""Kind of the recorded answer to what finds the rules it breaks."""
