"""No suffix of a valid history is accused, whatever was before it."""

import os
from collections.abc import Iterator, Sequence
from random import Random

import pytest
import recorded_cases as cases
from distilled_commands import ask_adapter
from exploring import explored

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.records import Began, Oracle
from busproof.judging.begun.judge import judged_begun
from busproof.judging.judge import observability_for
from busproof.judging.replay.timers import Clock
from busproof.model.indexes import Timer
from busproof.steps.distilled import DistilledSequence, distilled_sequences

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
POLICIES = ("round-robin", "random", "hostile")
EVERY = 1 if FULL else 12
CUTS = 4 if FULL else 1
SEQUENCES = 200 if FULL else 15
SEEDS = range(0, 120 if FULL else 10, 1 if FULL else 3)
EDITION = "cs-2020-12"
REAL = v.Observability(clock=v.Clock.REAL, slack=cases.HOSTILE_SLACK)


def known(events: Sequence[v.Event]) -> tuple[v.Command, ...]:
    """Return the settings of the entities that these events create and do not change."""
    made: dict[str, v.Command] = {}
    for event in events:
        command = event.command
        if isinstance(command, v.CreateQueue | v.CreateTopic | v.CreateSubscription):
            if isinstance(event.outcome, v.Done):
                made[v.created_path(command)] = command
        elif isinstance(command, v.UpdateQueue | v.DeleteQueue):
            made.pop(command.queue, None)
        elif isinstance(command, v.DeleteTopic):
            made = {path: one for path, one in made.items() if command.topic not in path}
    return tuple(made.values())


def seen_of(policy: str) -> v.Observability:
    """Return what an observer sees of a bus with this policy."""
    declared = ModelAdapter(policy=policy).declaration
    seen = v.observability_from(declared.clock, declared.slack, declared.capabilities)
    return observability_for(seen, Oracle.STRICT)


def played(policy: str, sequence: DistilledSequence, seed: int) -> list[v.Event]:
    """Return what a bus with this policy answers to a sequence."""
    adapter = ModelAdapter(policy=policy, seed=seed)
    adapter.start(cases.profile())
    return list(ask_adapter(adapter, sequence))


def suffixes(events: Sequence[v.Event], random: Random) -> Iterator[tuple[list[v.Event], Began]]:
    """Yield the events after some moments, and what may be known of those before."""
    for _ in range(CUTS):
        at = random.randrange(1, max(2, len(events)))
        # Whoever begins to record does not know which requests will never be answered.
        pending = [one for one in events[:at] if isinstance(one.outcome, v.Indeterminate)]
        rest = [*pending, *events[at:]]
        yield rest, Began()
        yield rest, Began(settings=known(events[:at]))


def accused_suffixes(
    number: int, events: Sequence[v.Event], profile: v.Profile, seen: v.Observability
) -> Iterator[object]:
    """Yield the suffixes of a history that are accused, and of what."""
    for rest, began in suffixes(events, Random(number)):
        judged, _ = judged_begun(rest, profile, seen, began)
        if judged.violation is not None:
            yield number, len(rest), judged.violation.rules, bool(began.settings)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_no_suffix_of_what_one_client_saw_is_accused(policy: str) -> None:
    seen = seen_of(policy)
    accused: list[object] = []
    for number, sequence in enumerate(distilled_sequences()):
        if number % EVERY == POLICIES.index(policy) % EVERY or FULL:
            events = played(policy, sequence, number)
            accused += accused_suffixes(number, events, cases.profile(), seen)
    assert [] == accused


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_no_suffix_of_an_exploration_is_accused(policy: str) -> None:
    found = explored(ModelAdapter(policy=policy, seed=3), seed=3, sequences=SEQUENCES)
    profile = found.exploration.terms.profile
    accused: list[object] = []
    for number, events in enumerate(found.sequences):
        accused += accused_suffixes(number, events, profile, seen_of(policy))
    assert [] == accused


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_no_suffix_of_overlapping_requests_is_accused(policy: str) -> None:
    accused = []
    for case in cases.clean(policy, SEEDS):
        random = Random(case.name)
        at = random.randrange(1, max(event.called for event in case.events))
        rest = [one for one in case.events if one.returned is None or one.returned > at]
        settings = known([one for one in case.events if one not in rest])
        for began in (Began(), Began(settings=settings)):
            judged, _ = judged_begun(rest, cases.header().profile, REAL, began)
            if judged.violation is not None:
                accused.append((case.name, at, judged.violation.rules))
    assert [] == accused


def test_a_deferred_message_of_a_session_shows_that_the_queue_has_sessions() -> None:
    """Nothing else may say so; it was accused of DEFER-12."""
    message = v.MessageView(body="m", session_id="s", sequence_number=1, lock_token="t")
    command = v.ReceiveDeferred(queue="q", session_id="s", sequence_numbers=(1,))
    received = v.ReceivedSeveral(messages=(message,))
    events = [v.Event(command=command, outcome=received, called=1, returned=2)]
    for seen in (REAL, seen_of("hostile")):
        judged, _ = judged_begun(events, cases.profile(), seen, Began())
        assert judged.violation is None


def test_a_choice_that_fails_sets_no_timer_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each dead end set some timers once more, until a replay had thousands of one."""
    choose = Clock._choose

    def choose_once(clock: Clock, event: v.Event, optional: Sequence[Timer]) -> tuple[Timer, ...]:
        assert len(optional) == len({serial for _, _, _, serial, _, _ in optional})
        return choose(clock, event, optional)

    monkeypatch.setattr(Clock, "_choose", choose_once)
    (case,) = cases.clean("hostile", [128])
    rest = [one for one in case.events if one.returned is None or one.returned > 64_315]
    settings = known([one for one in case.events if one not in rest])
    judged, _ = judged_begun(rest, cases.header().profile, REAL, Began(settings=settings))
    assert judged.violation is None
