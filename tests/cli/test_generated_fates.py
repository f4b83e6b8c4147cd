"""What becomes of a generated mutant, and mutants that never answer."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.cli.mutation import generated as fates
from busproof.cli.mutation.audit import _run_apart
from busproof.cli.mutation.budget import OutOfTime, within
from busproof.cli.mutation.generated import Terms, fate
from busproof.cli.mutation.recordings import Recording, lines_of
from busproof.cli.mutation.search import Reached, find_broken, play
from busproof.cli.mutation.variants import Material
from busproof.cli.running.child_run import Request
from busproof.history.records import Scenario
from busproof.history.replay import RecordedCommand
from busproof.model import NO_FAULT, Answer, Families
from busproof.model.messages import Messages
from busproof.mutants import MUTANTS
from busproof.mutants.by_machine.made import GeneratedMutant, generate_mutants
from busproof.mutants.by_machine.record import Fate, Result
from busproof.spec import load

PROFILE = v.profile_for(load(), partitions=3)
CREATE = v.CreateQueue(queue="q")
SEND = v.Send(queue="q", message=v.Message(body="m", partition_key="a"))
UNKEYED = v.Send(queue="q", message=v.Message(body="m"))
TAKE = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
TERMS = Terms(tries=0)


def recording(*commands: v.Command, only: str = "features") -> Recording:
    """Ask the model, and note what came and where it ran."""
    bus = ModelAdapter()
    bus.start(PROFILE)
    events = []
    for command in commands:
        answer = bus.do(command, "c1")
        events.append(
            v.Event(
                client="c1",
                connection="c1",
                command=command,
                outcome=answer.outcome,
                witness=answer.witness,
            )
        )
    scenario = Scenario(name="asked", rules=(), events=tuple(events))
    return Recording(
        request=Request(only=only),
        profile=PROFILE,
        scenario=scenario,
        lines=lines_of(PROFILE, scenario),
    )


def mutant_of(function: str, operator: str, before: str) -> GeneratedMutant:
    """Return the mutant of a rule's place; there has to be one."""
    return next(
        mutant
        for mutant in generate_mutants("messages")
        if (mutant.function, mutant.operator, mutant.context) == (function, operator, "")
        and before in mutant.before
    )


def fate_of(mutant: GeneratedMutant, recorded: list[Recording], folder: Path) -> Fate:
    material = Material.of(event.command for each in recorded for event in each.scenario.events)
    return fate(mutant, recorded, material, TERMS, folder)


LOST = mutant_of("enqueue", "effect-dropped", "journal.put")


def test_a_mutant_that_a_scenario_accuses_is_killed(tmp_path):
    found = fate_of(LOST, [recording(CREATE, SEND, TAKE)], tmp_path)
    assert (Result.KILLED, "asked") == (found.result, found.by)


def test_a_mutant_that_only_a_sequence_accuses_is_found(tmp_path):
    found = fate_of(LOST, [recording(CREATE, SEND, TAKE, only="exploration")], tmp_path)
    assert Result.FOUND == found.result


def test_a_mutant_whose_place_never_runs_is_not_run(tmp_path):
    assert Result.NOT_RUN == fate_of(LOST, [recording(CREATE)], tmp_path).result


def test_a_mutant_that_nothing_accuses_is_undecided(tmp_path):
    found = fate_of(LOST, [recording(CREATE, SEND, only="exploration")], tmp_path)
    assert Result.UNDECIDED == found.result


@pytest.mark.parametrize(
    ("context", "commands", "expected"),
    [
        ("dead-letters", (CREATE, SEND), Reached.CONTEXT),
        ("outage", (CREATE, SEND), Reached.CONTEXT),
        ("outage", (CREATE, v.TakePartitionDown(queue="q", partition=0), UNKEYED), Reached.NOTHING),
    ],
)
def test_an_undecided_mutant_says_whether_its_context_arose(
    tmp_path, monkeypatch, context, commands, expected
):
    """The rules of the mutant are those of the model here, so that nothing differs."""
    monkeypatch.setattr(fates, "families_of", lambda _: NO_FAULT)
    mutant = attrs.evolve(LOST, id=f"{LOST.id}@{context}", context=context)
    found = fate_of(mutant, [recording(*commands)], tmp_path)
    assert (Result.UNDECIDED, expected.value) == (found.result, found.why)


def test_an_argument_of_equivalence_takes_the_place_of_undecided(tmp_path, monkeypatch):
    monkeypatch.setattr(fates, "equivalents", lambda: {LOST.id: "It is the same."})
    found = fate_of(LOST, [recording(CREATE, SEND, only="exploration")], tmp_path)
    assert (Result.EQUIVALENT, "It is the same.") == (found.result, found.why)
    killed = fate_of(LOST, [recording(CREATE, SEND, TAKE)], tmp_path)
    assert Result.KILLED == killed.result


def recorded(*commands: v.Command) -> list[RecordedCommand]:
    """Number commands, as a recording does."""
    return [RecordedCommand(number=n, command=command) for n, command in enumerate(commands, 1)]


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Families:
    """Rules by which a send never returns; each sequence has a fifth of a second."""

    class Endless(Messages):
        begun = 0

        def send(self, *_: object) -> Answer:
            Endless.begun += 1
            while True:
                pass

    families = {"messages": Endless}
    monkeypatch.setattr(fates, "families_of", lambda _: families)
    monkeypatch.setattr(within.__wrapped__, "__defaults__", (0.2,))
    monkeypatch.setattr(play, "__kwdefaults__", {"seconds": 0.2})
    return families


def test_a_mutant_that_never_answers_is_killed_and_does_not_hang_the_audit(tmp_path, endless):
    """It is given its time twice, to be killed and to be confirmed, not at each send."""
    found = fate_of(LOST, [recording(CREATE, SEND, SEND, TAKE)] * 3, tmp_path)
    assert Result.KILLED == found.result
    assert endless["messages"].begun == 2


def test_a_mutant_that_never_answers_breaks_what_is_played(endless: Families):
    assert play(endless, PROFILE, recorded(CREATE, SEND), seconds=0.2).broke


def test_a_mutant_that_gives_a_message_that_is_none_has_broken():
    class GivesNone(Messages):
        def receive(self, *_: object) -> Answer:
            return Answer(v.Received(message=None))

    commands = recorded(CREATE, SEND, TAKE)
    run = play({"messages": GivesNone}, PROFILE, commands)
    assert (True, True, 2) == (run.broke, run.differs, len(run.events))


def test_a_value_of_another_type_is_another_answer():
    """For Python, true equals 1."""
    typed = v.Send(queue="q", message=v.Message(body="m", properties={"flag": True}))
    commands = recorded(CREATE, typed, TAKE)
    assert not play(NO_FAULT, PROFILE, commands).differs
    fault = next(each for each in MUTANTS if each.id == "truth-becomes-a-number")
    run = play(fault.families, PROFILE, commands)
    assert run.differs
    assert "LIFE-01" in find_broken(PROFILE, run)


def test_a_run_apart_that_never_ends_kills_the_mutant(tmp_path, monkeypatch):
    """The scenario's own steps may lead where the recorded commands did not."""

    def never(*_: object) -> tuple[str, ...]:
        raise OutOfTime("no end")

    monkeypatch.setattr(fates, "run_apart", never)
    monkeypatch.setattr(fates, "_find_broken", lambda *_: None)
    found = fate_of(LOST, [recording(CREATE, SEND, TAKE)], tmp_path)
    assert (Result.KILLED, "asked") == (found.result, found.by)


def test_a_budget_that_is_not_used_up_leaves_nothing_behind():
    with within(0.05):
        pass
    assert (0.0, 0.0) == signal.getitimer(signal.ITIMER_VIRTUAL)


def test_a_budget_interrupts_a_loop():
    with pytest.raises(OutOfTime, match=r"no end within 0\.05 s"), within(0.05):
        for _ in endlessly():
            pass


def test_a_budget_does_not_count_what_other_programs_take():
    with within(0.02):
        time.sleep(0.1)


def endlessly() -> Iterator[int]:
    while True:
        yield 1


def test_a_process_apart_that_never_ends_is_killed():
    with pytest.raises(OutOfTime, match="has not ended"):
        _run_apart(time.sleep, "a run", 600, seconds=0.1)
