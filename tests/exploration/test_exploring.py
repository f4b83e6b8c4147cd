"""Exploring: what is repeatable, what is a violation and what is not, what becomes of a failure."""

import itertools
import subprocess
import sys

import attrs
import pytest
from exploring import Spoiled, explored
from hypothesis import Phase, settings

from busproof import vocabulary as v
from busproof.adapters.faults import make
from busproof.adapters.model import ModelAdapter
from busproof.errors import AdapterError, UsageError
from busproof.exploration.machine import machine_for
from busproof.exploration.sizes import size_named
from busproof.history.records import AGAIN, ScenarioVerdict, Started
from busproof.judging.verdicts import conformance
from busproof.spec import load


def test_a_seed_repeats_the_exploration() -> None:
    """And another one does not."""
    first, again, other = (explored(ModelAdapter(), seed=seed, sequences=8) for seed in (5, 5, 6))
    assert first.events == again.events
    assert first.events != other.events


def test_as_many_sequences_are_made_up_as_were_asked_for() -> None:
    """Each from an empty namespace; hardly any is made up twice."""
    found = explored(ModelAdapter(), sequences=25)
    assert 25 == len(found.sequences)
    assert len({tuple(each) for each in found.sequences}) > 20
    assert ["passed"] == sorted({each.verdict.value for each in found.endings})


def test_the_machine_is_a_test_of_its_own() -> None:
    """Whoever has an adapter can put it into a test module."""
    machine = machine_for(make("property-lost"))
    few = settings(machine.TestCase.settings, phases=[Phase.generate], max_examples=20)
    machine.TestCase.settings = settings(few, database=None)
    with pytest.raises(AssertionError, match="asked and came"):
        machine.TestCase("runTest").runTest()


def test_statistics_of_hypothesis_name_the_rules_and_the_goals(tmp_path) -> None:
    """`pytest --hypothesis-show-statistics` is a report of what happened."""
    (tmp_path / "test_mine.py").write_text(
        "from hypothesis import settings\n"
        "from busproof.adapters.model import ModelAdapter\n"
        "from busproof.exploration.machine import machine_for\n"
        "TestMine = machine_for(ModelAdapter()).TestCase\n"
        "TestMine.settings = settings(TestMine.settings, max_examples=15, database=None)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    ended = subprocess.run(
        [*command, "--hypothesis-show-statistics", str(tmp_path / "test_mine.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "rule KEY-01" in ended.stdout, ended.stdout
    assert "goal: " in ended.stdout


def test_a_failure_is_made_small_and_asked_three_times_more() -> None:
    """All three are recorded, as is the sequence that began it."""
    found = explored(make("abandoned-is-lost"), sequences=40, rules=1, seed=0)
    (failure,) = found.exploration.found
    assert failure.repeats
    assert len(failure.commands) <= 8
    again = [r for r in found.records if isinstance(r, Started) and r.feature == AGAIN]
    assert [(failure.rule,)] * 3 == [each.rules for each in again]
    assert 4 == sum(each.verdict is ScenarioVerdict.FAILED for each in found.endings)


def test_a_bus_with_several_faults_is_found_out_rule_by_rule() -> None:
    """Each rule once; what was found before is not hunted again."""
    found = explored(make("copy-in-second-partition"), sequences=60, rules=3).exploration.found
    assert len({each.rule for each in found}) == len(found) > 1


def test_failure_is_shrunk_off_the_wire_where_requests_are_dear() -> None:
    """And replayed no more often than it may be, besides the three times at the end."""
    bus = Spoiled(make("abandoned-is-lost"), lambda _command, _asked, observed: observed)
    found = explored(bus, sequences=200, rules=1, seed=5, dear=True).exploration
    (failure,) = found.found
    assert failure.repeats
    assert len(failure.commands) <= 8
    assert bus.starts <= found.sequences + size_named("quick").replays + 3


def test_a_failure_stays_as_it_is_where_no_replay_is_left() -> None:
    """Making it small off the wire may take all the time that there is for replays."""
    bus = make("abandoned-is-lost")
    found = explored(bus, sequences=40, rules=1, seed=0, dear=True, shrinking=-1).exploration.found
    (failure,) = found
    assert failure.repeats


def test_an_answer_on_a_real_clock_is_dear() -> None:
    """Nothing is shrunk where time has to pass for it."""
    bus = ModelAdapter(clock=v.Clock.REAL)
    found = explored(bus, sequences=3, steps=15, lock=20_000, waiting=0.2)
    assert found.ended is not None
    assert found.ended.verdict is ScenarioVerdict.PASSED
    assert not [event for event in found.events if isinstance(event.command, v.AdvanceClock)]


class Once:
    """Gives a message that nobody sent, at the tenth receive that finds one, and never again."""

    def __init__(self) -> None:
        self.received = 0

    def __call__(self, _command: v.Command, _asked: int, observed: v.Observed) -> v.Observed:
        outcome = observed.outcome
        if isinstance(outcome, v.Received):
            self.received += 1
            if self.received == 10:
                invented = attrs.evolve(outcome.message, body="never sent")
                return v.Observed(v.Received(message=invented))
        return observed


def test_a_failure_that_does_not_repeat_is_reported_as_flaky(tmp_path) -> None:
    """It stays a violation, for it was seen."""
    found = explored(Spoiled(ModelAdapter(), Once()), sequences=20)
    (failure,) = found.exploration.found
    assert 0 == failure.again
    report = conformance(found.history(tmp_path), load())
    (rule,) = [each for each in report.rules if each.id == failure.rule]
    assert "violated" == rule.verdict.value
    assert rule.cause.endswith("flaky: 0 of 3 replays broke it again")


@pytest.mark.usefixtures("impatient")
def test_answers_that_never_come_end_nothing() -> None:
    """And are no violation."""

    def lose(command: v.Command, asked: int, observed: v.Observed) -> v.Observed:
        lost = isinstance(command, v.Send | v.Receive) and asked % 5 == 0
        return v.Observed(v.Indeterminate()) if lost else observed

    found = explored(Spoiled(ModelAdapter(), lose), sequences=10)
    assert [] == found.exploration.found
    assert [event for event in found.events if isinstance(event.outcome, v.Indeterminate)]
    assert max(len(each) for each in found.sequences) > 30


@pytest.mark.usefixtures("impatient")
def test_a_hostile_model_is_never_accused() -> None:
    """Nor is Hypothesis confused by answers that differ each time."""
    found = explored(ModelAdapter(policy="hostile", seed=1), seed=1, sequences=20)
    assert [] == found.exploration.found
    assert found.ended is not None
    assert found.ended.verdict is ScenarioVerdict.PASSED


def test_an_adapter_that_breaks_is_errored_and_not_accused() -> None:
    """A few times; then the rest is left."""

    def crash(_command: v.Command, asked: int, observed: v.Observed) -> v.Observed:
        if asked % 50 == 0:
            raise AdapterError("the child has ended")
        return observed

    found = explored(Spoiled(ModelAdapter(), crash), sequences=40)
    assert [] == found.exploration.found
    errored = [each for each in found.endings if each.verdict is ScenarioVerdict.ERRORED]
    assert ["the child has ended"] * 3 == [each.detail for each in errored]
    assert found.ended is not None
    assert found.ended.verdict is ScenarioVerdict.ERRORED


def test_declared_but_unsupported_capability_is_errored() -> None:
    """As it is in a scenario."""

    def unsupported(command: v.Command, _asked: int, observed: v.Observed) -> v.Observed:
        return v.Observed(v.Unsupported()) if isinstance(command, v.Send) else observed

    found = explored(Spoiled(ModelAdapter(), unsupported), sequences=40)
    assert [] == found.exploration.found
    assert any("declared, yet unsupported" in each.detail for each in found.endings)


def test_an_interrupted_sequence_keeps_what_was_recorded() -> None:
    """And has no end."""

    def interrupt(_command: v.Command, asked: int, observed: v.Observed) -> v.Observed:
        if asked == 40:
            raise KeyboardInterrupt
        return observed

    found = explored(Spoiled(ModelAdapter(), interrupt))
    assert found.ended is None
    assert 39 == len(found.events)
    assert len(found.endings) == len(found.sequences) - 1


def test_an_adapter_that_raises_anything_is_to_blame_itself() -> None:
    """In the exploration as in a scenario."""

    def fail(_command: v.Command, _asked: int, _observed: v.Observed) -> v.Observed:
        raise KeyError("orders")

    found = explored(Spoiled(ModelAdapter(), fail))
    assert "the adapter raised KeyError: 'orders'" == found.endings[0].detail


@pytest.mark.parametrize(
    ("name", "minutes", "said"),
    [
        (
            "huge",
            None,
            "there is no profile 'huge'; choose one of smoke, quick, ci, thorough, network, soak",
        ),
        ("ci", "5", "--minutes is for --profile soak, and the profile is ci"),
        ("soak", "none", "--minutes is 'none'; give a number above 0"),
        ("soak", "0", "--minutes is '0'; give a number above 0"),
    ],
)
def test_a_size_that_makes_no_sense_is_refused(name: str, minutes: str | None, said: str) -> None:
    """With what was allowed."""
    with pytest.raises(UsageError, match=said):
        size_named(name, minutes)


def test_slow_machine_sends_the_same_commands_as_a_fast_one(monkeypatch) -> None:
    """The limits of an exploration are numbers; only a soak ends by the clock."""
    commands = [event.command for event in explored(ModelAdapter()).events]
    hours = itertools.count(0, 3_600)
    monkeypatch.setattr("time.monotonic", lambda: float(next(hours)))
    assert commands == [event.command for event in explored(ModelAdapter()).events]


def test_a_soak_keeps_what_is_worth_keeping(monkeypatch) -> None:
    """The first sequences, and all that did not pass; a night of passes fills no disk."""
    monkeypatch.setattr("busproof.exploration.search.KEPT", 2)
    found = explored(ModelAdapter(), size="soak", minutes=0.05, sequences=None)
    assert 2 == len(found.sequences) < found.exploration.sequences
    broken = explored(make("property-lost"), size="soak", minutes=2, sequences=None, rules=1)
    assert broken.exploration.found
    assert ScenarioVerdict.FAILED in {each.verdict for each in broken.endings}
    assert len(broken.sequences) <= 3


def test_a_soak_ends_when_its_time_is_over() -> None:
    """However many sequences that were."""
    assert 1.5 == size_named("soak", "1.5").minutes
    found = explored(ModelAdapter(), size="soak", minutes=0.01, sequences=None)
    assert found.ended is not None
    assert found.ended.verdict is ScenarioVerdict.PASSED
    assert size_named("soak").sequences is None


def test_time_passes_by_commands_where_the_clock_is_virtual() -> None:
    """And is recorded."""
    times = [
        e.command.duration
        for e in explored(ModelAdapter(), sequences=10).events
        if isinstance(e.command, v.AdvanceClock)
    ]
    assert max(times) > 30 * v.MICROSECONDS
