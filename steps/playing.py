"""Execution of a scenario's steps by their definitions, without pytest."""

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any, Final

import attrs

from busproof.history.records import StepResult
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.any_command import Asking
from busproof.steps.definitions.storage_quota import Filled
from busproof.steps.stage import verdict_on
from busproof.steps.waiting import lets_time_pass
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Outcome

__all__ = ["Definition", "Player"]


@attrs.frozen(kw_only=True)
class Definition:
    """A step definition.

    Attributes:
        kind: `given`, `when` or `then`; `None` for all of them.
        parser: the parser of the step's text.
        function: the function that executes the step.
        converters: the converters of parsed arguments, by name.
        target: the name that later steps use for the result; `None` if there is none.
    """

    kind: str | None
    parser: Any
    function: Callable[..., object]
    converters: dict[str, Callable[[Any], object]]
    target: str | None
    parameters: dict[str, bool] = attrs.field(init=False)
    """Each parameter of the function, with whether it must be passed."""

    @parameters.default
    def _parameters_of_function(self) -> dict[str, bool]:
        return {
            name: parameter.default is Parameter.empty
            for name, parameter in signature(self.function).parameters.items()
        }


_Found = tuple[Definition, dict[str, Any]]


ASKS_TO_WAIT: Final = " asks: Advance clock"
"""What a step says that asks for any command, if that lets time pass."""


class Player:
    """A player of scenarios, which remembers the definition of each step by its text.

    Args:
        definitions: the step definitions.
    """

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self._definitions: Final = definitions
        self._known: dict[tuple[str, str], _Found] = {}

    def play(
        self, bus: BusUnderTest, steps: Sequence[tuple[str, str, str]], results: list[StepResult]
    ) -> None:
        """Execute the steps one after another; an exception of a step ends the scenario.

        Args:
            bus: the bus of the scenario.
            steps: type, keyword and text of each step.
            results: list to which each step is added with its result.
        """
        values = _Values(bus)
        for kind, keyword, text in steps:
            try:
                self._execute(kind, text, values)
            except Exception as error:
                verdict, _ = verdict_on(error)
                results.append(StepResult(keyword=keyword, text=text, result=verdict.value))
                raise
            results.append(StepResult(keyword=keyword, text=text, result="passed"))

    def waits(self, steps: Sequence[tuple[str, str, str]]) -> bool:
        """Return whether a step lets time pass."""
        found = (self._found(kind, text)[0] for kind, _, text in steps)
        return any(lets_time_pass(definition.function) for definition in found) or any(
            ASKS_TO_WAIT in text for _, _, text in steps
        )

    def asking(self, bus: BusUnderTest) -> Asking:
        """Return a sequence of arbitrary commands on a bus."""
        return Asking(bus)

    def _execute(self, kind: str, text: str, values: "_Values") -> None:
        definition, parsed = self._found(kind, text)
        arguments = {
            name: definition.converters.get(name, _same)(value) for name, value in parsed.items()
        }
        for name, is_needed in definition.parameters.items():
            if is_needed and name not in arguments:
                arguments[name] = values.getfixturevalue(name)
        result = definition.function(**arguments)
        if definition.target is not None:
            values.known[definition.target] = result

    def _found(self, kind: str, text: str) -> _Found:
        if (kind, text) not in self._known:
            fitting = [
                definition
                for definition in self._definitions
                if definition.kind in (None, kind) and definition.parser.is_matching(text)
            ]
            if not fitting:
                raise AssertionError(f"no step definition fits {kind} {text!r}")
            definition = fitting[-1]
            parsed = definition.parser.parse_arguments(text) or {}
            wanted = {name: parsed[name] for name in definition.parameters if name in parsed}
            self._known[kind, text] = definition, wanted
        return self._known[kind, text]


class _Values:
    """The values that the steps of a scenario share, as fixtures do under pytest."""

    def __init__(self, bus: BusUnderTest) -> None:
        self._bus = bus
        self.known: dict[str, object] = {"bus": bus, "request": self}

    def getfixturevalue(self, name: str) -> object:
        """Return what an earlier step made, or what each scenario begins with."""
        if name not in self.known:
            begins: dict[str, Callable[[], object]] = {
                "views": list[MessageView],
                "past": list[object],
                "scheduled": list[Outcome],
                "filled": Filled,
                "asking": lambda: Asking(self._bus),
            }
            self.known[name] = begins[name]()
        return self.known[name]


def _same(value: object) -> object:
    return value
