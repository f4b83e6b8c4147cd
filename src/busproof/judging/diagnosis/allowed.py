"""The answers that would have been allowed, as the bus would have given them."""

from itertools import islice
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.diagnosis.scene import Scene

__all__ = ["allowed_answers", "other_places"]

SHOWN: Final = 8
"""Maximum number of answers that an explanation lists."""


def allowed_answers(scene: Scene) -> tuple[v.Outcome, ...]:
    """Return the answers that the model may give in the state before the event, each once.

    Its numbers and lock tokens mean nothing to a reader. So a message has the bus's number if that
    is known, and no token.
    """
    answers = (_of_the_bus(scene, answer.outcome) for answer in scene.answers)
    return tuple(islice(dict.fromkeys(answers), SHOWN))


def other_places(scene: Scene) -> tuple[int, ...]:
    """Return the other partitions in which the model may give the very answer, in order."""
    event = scene.event
    if event.witness is None:
        return ()
    alike = [answer for answer in scene.answers if answer.outcome == event.outcome]
    places = {answer.partition for answer in alike if answer.partition is not None}
    return tuple(sorted(places - {event.witness.partition}))


def _of_the_bus(scene: Scene, outcome: v.Outcome) -> v.Outcome:
    match outcome:
        case v.Received(message=view):
            return attrs.evolve(outcome, message=_view(scene, view))
        case v.ReceivedSeveral(messages=views) | v.Peeked(messages=views):
            return attrs.evolve(outcome, messages=tuple(_view(scene, view) for view in views))
        case v.Scheduled():
            return attrs.evolve(outcome, sequence_number=None)
    return outcome


def _view(scene: Scene, view: v.MessageView) -> v.MessageView:
    entity = scene.entity
    number = view.sequence_number
    record = None if entity is None or number is None else scene.bindings.made(entity, number)
    known = None if record is None else scene.bindings.number_or_limits(record)
    return attrs.evolve(
        view, lock_token=None, sequence_number=known if isinstance(known, int) else None
    )
