"""`busproof check --explain`: the execution of the reference model behind a recorded history."""

from typing import TYPE_CHECKING

from busproof.cli.console import busy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from busproof.history.records import History, Oracle, Scenario
    from busproof.judging.scenario_result import Checker

__all__ = ["explanations"]


def explanations(history: "History", oracle: "Oracle | None") -> "Iterator[str]":
    """Yield the lines that explain each scenario of a history, or say that nothing does."""
    from busproof.judging.scenario_result import Checker
    from busproof.spec import load

    checker = Checker(history.header, load(), oracle)
    for scenario in history.scenarios:
        yield from _explain_scenario(checker, scenario)


def _explain_scenario(checker: "Checker", scenario: "Scenario") -> "Iterator[str]":
    from busproof.judging.replay.explanation import Ended
    from busproof.judging.replay.story import execution_story

    with busy(f"Explaining {scenario.name or 'the history'}", lines=True):
        explanation = checker.explanation(scenario)
    yield f"Execution of {scenario.name!r}" if scenario.name else "Execution of the history"
    if explanation.ended is Ended.EXPLAINED:
        for name, reading in sorted(explanation.readings.items()):
            yield f"  the bus reads {name} as {reading}"
        partitions = checker.sees_partitions
        execution = execution_story(scenario.events, explanation, partitions=partitions)
        for number, told in enumerate(execution, start=1):
            yield f"  {number}. {told.event}"
            yield from (f"       {words}" for words in told.choices)
    elif explanation.ended is Ended.IMPOSSIBLE:
        at = (explanation.stuck_at or 0) + 1
        yield f"  none: no execution of the reference model goes on after event {at - 1} of it"
        yield f"  {at}. {execution_story(scenario.events, explanation)[at - 1].event}"
    else:
        yield f"  none was found in {explanation.steps} steps"
    yield ""
