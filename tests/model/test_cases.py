"""What the model answers to a row of requests, as data: `cases/` has a file for each subject.

Each line is one namespace, of which `namespace` has the arguments of `profile_for`, and its events:
a command with the outcome and, where that matters, the partition and the rules that decided it.
`Done` is left out. The first candidate of each choice is taken; with `hostile` choices, from some
event on, the last one. Where a command has no one outcome but `every` outcome that the model can
give, or the `kinds` of them, it is not carried out.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from model_driver import Always, catalogue
from rows import command_of

from busproof import vocabulary as v
from busproof.history.codec import unstructure
from busproof.model import Choices, HostileChoices, RoundRobin, new_namespace, step, ways
from busproof.model.rules import Namespace

CASES: Final = Path(__file__).with_name("cases")
DONE: Final = {"type": "Done"}
ASKED: Final = {"command", "connection", "choices"}


def choices_of(event: dict[str, Any], before: Choices) -> Choices:
    """Return the choices that are made from an event on."""
    named = event.get("choices")
    if named is None:
        return before
    return HostileChoices(Always()) if named == "hostile" else RoundRobin()


def kind(outcome: v.Outcome) -> str:
    """Return the kind of an outcome, and of a refusal the error."""
    refused = isinstance(outcome, v.Refused)
    return f"Refused: {outcome.error.value}" if refused else type(outcome).__name__


def ask_model(namespace: Namespace, event: dict[str, Any], choices: Choices) -> dict[str, Any]:
    """Return what the model answers, in the terms of an event."""
    command = command_of(event["command"])
    connection = event.get("connection", "c1")
    if "kinds" in event:
        every = ways(namespace, command, connection)
        return {"kinds": sorted({kind(answer.outcome) for _, answer in every})}
    if "every" in event:
        every = ways(namespace, command, connection)
        outcomes = {json.dumps(unstructure(answer.outcome), sort_keys=True) for _, answer in every}
        return {"every": [json.loads(outcome) for outcome in sorted(outcomes)]}
    answer = step(namespace, command, connection, choices)
    told = {
        "outcome": unstructure(answer.outcome),
        "partition": answer.partition,
        "rules": list(answer.rules),
    }
    return {name: value for name, value in told.items() if name in event or name == "outcome"}


def expect_answer(event: dict[str, Any]) -> dict[str, Any]:
    """Return what an event says of its answer."""
    told = {name: value for name, value in event.items() if name not in ASKED}
    return told if told.keys() & {"kinds", "every"} else {"outcome": DONE, **told}


def lines() -> Iterator[Any]:
    """Yield each line of each file."""
    for file in sorted(CASES.glob("*.jsonl")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            case = json.loads(line)
            yield pytest.param(case, id=f"{file.stem} {number}: {case['about']}")


@pytest.mark.parametrize("case", list(lines()))
def test_model_answers_as_the_case_says(case: dict[str, Any]) -> None:
    namespace = new_namespace(v.profile_for(catalogue(), **case["namespace"]))
    choices: Choices = RoundRobin()
    for event in case["events"]:
        choices = choices_of(event, choices)
        assert expect_answer(event) == ask_model(namespace, event, choices)
