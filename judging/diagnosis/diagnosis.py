"""Which rules an event breaks that no execution of the model explains.

The model names the rules of its own answers. If it refuses and the bus did not, those say it all.
If a message came that ought not to, the rule is that of the last change of this message; if one
did not come, that of how it got where it is; if one came altered, that of the field.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
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

__all__ = ["Diagnosis", "diagnose"]

AT_LEAST: Final = "LIFE-01"
"""Rule that is charged if nothing more is known."""


@attrs.frozen(kw_only=True)
class Diagnosis:
    """What is wrong with an event that fits nowhere.

    Attributes:
        index: its index in the history.
        rules: the rules that it breaks, the most relevant first; there is at least one.
        allowed: the answers that would have been allowed.
    """

    index: int
    rules: tuple[v.RuleId, ...]
    allowed: tuple[v.Outcome, ...]


def diagnose(
    events: Sequence[v.Event], stuck_at: int, profile: v.Profile, observability: v.Observability
) -> Diagnosis:
    """Return what is wrong with the event at which a replay got stuck.

    Args:
        events: the events of the history.
        stuck_at: the index of the event that fitted nowhere after the longest path.
        profile: the profile of the namespace.
        observability: what the observer sees.
    """
    scene = scene_of(events[: stuck_at + 1], profile, observability)
    if scene is None:
        return Diagnosis(index=stuck_at, rules=(AT_LEAST,), allowed=())
    rules = tuple(dict.fromkeys(broken(scene))) or (AT_LEAST,)
    allowed = tuple(dict.fromkeys(answer.outcome for answer in scene.answers))
    return Diagnosis(index=stuck_at, rules=rules, allowed=allowed)


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


def _received(scene: Scene) -> Iterator[v.RuleId]:
    outcome: Any = scene.event.outcome
    yield from wrongly_given(scene, outcome.message)


def _received_several(scene: Scene) -> Iterator[v.RuleId]:
    outcome: Any = scene.event.outcome
    yield from wrongly_given_together(scene, outcome.messages)


OF_ANSWERS: Final[dict[type[v.Outcome], Callable[[Scene], Iterable[v.RuleId]]]] = {
    v.Empty: withheld,
    v.Received: _received,
    v.ReceivedSeveral: _received_several,
    v.Peeked: wrongly_shown,
    v.Described: wrongly_described,
    v.TopicDescribed: wrongly_described,
}
"""Kind of the recorded answer to what finds the rules it breaks."""
