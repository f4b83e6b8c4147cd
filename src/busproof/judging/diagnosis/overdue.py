"""Which rules are broken by what comes too late, although each answer was allowed."""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.diagnosis import diagnosis_in
from busproof.judging.diagnosis.origins import of_its_last_change
from busproof.judging.diagnosis.scene import scene_of
from busproof.judging.liveness import Patience
from busproof.judging.violation import Violation
from busproof.model.life_cycle import ACTIVE

__all__ = ["overdue_at"]

OF_ARRIVAL: Final = {
    **dict.fromkeys(("SCHED-02", "SCHED-14"), "SCHEDULE-DELAY"),
    **dict.fromkeys(("FWD-01", "FWD-02", "FWD-03", "FWD-06"), "FORWARD-DELAY"),
    **dict.fromkeys(("FWD-16", "FWD-26", "FWD-30", "FWD-35"), "FORWARD-DELAY"),
    **dict.fromkeys(("DLQ-02", "TTL-07"), "DEAD-LETTER-DELAY"),
}
"""Rules that say that a message arrives some time later, to the ambiguity that says when."""


def overdue_at(
    events: Sequence[v.Event],
    patience: Patience,
    profile: v.Profile,
    observability: v.Observability,
) -> Violation:
    """Return the violation at the last event, before which everything came in time.

    Args:
        events: the events so far; some execution explains them, but in none all comes in time.
        patience: how long somebody waited.
        profile: the profile of the namespace.
        observability: what the observer sees.
    """
    index = len(events) - 1
    refused = patience.refused_until(index)
    if refused is not None:
        why = f"a partition is down, and {refused.answers} descriptions in two minutes were refused"
        return Violation(index=index, rules=("MGMT-21",), allowed=(), why=why)
    full = patience.full_until(index)
    if full is not None:
        why = f"there is room, and {full.answers} sends over {full.seconds:g} seconds were refused"
        return Violation(index=index, rules=("SIZE-12",), allowed=(), why=why)
    received = patience.received_until(index)
    if received is None:
        scene = scene_of(events, profile, observability, is_overdue=True)
        rules = diagnosis_in(scene, index).rules
        why = "after two minutes the description is still wrong"
        return Violation(index=index, rules=rules, allowed=(), why=why)
    rules = of_arrival(events, profile, observability)
    why = (
        f"a message is overdue: {received.answers} empty answers over {received.seconds:g} seconds"
    )
    return Violation(index=index, rules=rules, allowed=(), why=why)


def of_arrival(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> tuple[v.RuleId, ...]:
    """Return the rule by which a message has to be there for the last receive."""
    scene = scene_of(events, profile, observability, is_overdue=True)
    entity = None if scene is None else scene.entity
    if scene is not None and entity is not None:
        session_id = getattr(scene.event.command, "session_id", None)
        for queued in entity.messages.values():
            if queued.state is ACTIVE and session_id in (None, queued.message.session_id):
                for rule in of_its_last_change(scene, queued):
                    if profile.readings.get(OF_ARRIVAL.get(rule, "")) == "bounded":
                        return (rule,)
    return diagnosis_in(scene, len(events) - 1).rules
