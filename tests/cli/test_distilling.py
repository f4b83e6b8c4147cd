"""Sequences that are asked three times in one namespace, and a family's file under regeneration."""

import json
import runpy
from pathlib import Path

import pytest

from busproof import vocabulary as v
from busproof.cli.mutation.distilling import distil_in_contexts, kills
from busproof.cli.mutation.pairs import pairs_of
from busproof.cli.mutation.reaching import make_contexts, repeat_thrice
from busproof.cli.mutation.recordings import Recording, lines_of
from busproof.cli.mutation.search import play
from busproof.cli.running.child_run import Request
from busproof.history.records import Scenario
from busproof.history.replay import RecordedCommand, join_commands
from busproof.model import NO_FAULT
from busproof.mutants.by_machine.made import families_of
from busproof.spec import load

PROFILE = v.profile_for(load(), edition="cs-2020-12")
TOOL = Path(__file__).parent.parent.parent / "tools" / "distil.py"


def asked(*commands: v.Command) -> tuple[RecordedCommand, ...]:
    return tuple(
        RecordedCommand(number=number, command=each) for number, each in enumerate(commands, 1)
    )


TAKEN = asked(
    v.CreateQueue(queue="q"),
    v.Send(queue="q", message=v.Message(body="m", partition_key="a")),
    v.Receive(queue="q"),
    v.Complete(queue="q", lock_token="@3"),
    v.Receive(queue="q"),
)
REFUSED = asked(
    v.CreateQueue(queue="q"),
    v.Send(queue="q", message=v.Message(body="m", partition_key="a" * 129)),
)


def recording(commands: tuple[RecordedCommand, ...]) -> Recording:
    """Return what the model answers, as a scenario of the suite."""
    events = play(NO_FAULT, PROFILE, commands).events
    scenario = Scenario(name=f"asked {len(commands)}", rules=(), events=events)
    return Recording(
        request=Request(only="features"),
        profile=PROFILE,
        scenario=scenario,
        lines=lines_of(PROFILE, scenario),
    )


def test_parts_that_are_joined_keep_their_own_locks():
    both = join_commands(TAKEN, TAKEN)
    tokens = [each.command.lock_token for each in both if isinstance(each.command, v.Complete)]
    assert (["@3", "@8"], [*range(1, 11)]) == (tokens, [each.number for each in both])


def test_commands_beside_a_context_are_answered_as_ever():
    usual = [event.outcome for event in play(NO_FAULT, PROFILE, TAKEN).events]
    for contexts in (["outage"], ["recovered"], ["transaction"], ["outage", "transaction"]):
        events = play(NO_FAULT, PROFILE, make_contexts(contexts, TAKEN)).events[-len(TAKEN) :]
        assert [type(each) for each in usual] == [type(event.outcome) for event in events]


def test_what_is_asked_three_times_reaches_each_context():
    pairs = pairs_of(repeat_thrice(REFUSED), PROFILE)
    contexts = {context for rule, context in pairs if rule == "LIMIT-12"}
    assert {"no context", "outage", "recovered", "transaction"} <= contexts


@pytest.mark.slow
def test_each_sequence_in_contexts_kills_its_mutants_and_not_the_model():
    found = list(distil_in_contexts("limits", [recording(REFUSED), recording(TAKEN)]))
    assert {"outage", "recovered", "transaction", "second"} == {
        mutant.context for each in found for mutant in each.mutants
    }
    for each in found:
        assert kills(NO_FAULT, each.profile, each.commands) is None
        for mutant in each.mutants:
            assert each.rule in (kills(families_of(mutant), each.profile, each.commands) or ())


@pytest.mark.slow
def test_a_family_distilled_again_gives_the_same_bytes(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """Another family between leaves its sequences as they are, and may only lengthen names."""
    tool = runpy.run_path(str(TOOL))
    recorded = [recording(REFUSED)]
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "features" / "distilled"
    folder.parent.mkdir()
    terms = tool["Terms"](sample=6, tries=5)
    scope = tool["distil"].__globals__
    monkeypatch.setitem(scope, "recordings", lambda _: recorded)
    files = []
    for family in ("limits", "messages", "limits"):
        tool["distil"]([family], terms)
        files.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert files[1] == files[2]
    assert {"limits.jsonl", "messages.jsonl"} == set(files[2])
    first, later = (
        [json.loads(line)["commands"] for line in each["limits.jsonl"].splitlines()]
        for each in files[:2]
    )
    assert first == later != []
