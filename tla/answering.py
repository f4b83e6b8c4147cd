"""What the model answers a spec's commands, asked once in states that answer alike.

A graph leads to the same state of the model on many ways. Each state is kept once, by its key, and
has a number; what it answers to a command is kept too. That states with one key do answer alike is
what `sameness` claims, and it is tried: now and then a state that is known already is asked
everything again, as it was reached this time.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from busproof.errors import TlcError
from busproof.tla.manifest import Setting
from busproof.tla.replies import Reply
from busproof.tla.twin import Answer, Twin
from busproof.vocabulary.values import RuleId

__all__ = ["Answered", "Answers"]

_TRIED_EVERY: Final = 200
"""Of the states that were reached again, how many are asked again: that costs some percent."""


@attrs.frozen
class Answered:
    """One thing that the model answers.

    Attributes:
        replies: the spec's replies that it stands for; several where it leaves the error open.
        after: number of the model's state after it.
        rules: the rules that decided it.
    """

    replies: tuple[Reply, ...]
    after: int
    rules: tuple[RuleId, ...]


class Answers:
    """The model's states by number, and what each answers.

    Args:
        commands: the spec's commands, by number.
        setting: how the model is asked.
        alone: whether one connection alone ever asks.
        every: one in so many of the states that are reached again is asked again.
    """

    def __init__(
        self,
        commands: Sequence[Mapping[str, object]],
        setting: Setting,
        *,
        alone: bool,
        every: int = _TRIED_EVERY,
    ) -> None:
        self._commands = commands
        self._asked = [spoken for spoken in commands if spoken["op"] not in setting.silent]
        self._setting = setting
        self._alone = alone
        self._every = every
        self._again = 0
        self._twins: list[Twin] = []
        self._numbers: dict[object, int] = {}
        self._offered: dict[tuple[int, int], tuple[Answered, ...]] = {}
        self._admitted: dict[tuple[int, int, Reply], tuple[Answered, ...]] = {}

    def number(self, twin: Twin) -> int:
        """The number of this state, a new one if it is new.

        Raises:
            TlcError: it is known, and answers something else than when it was first reached.
        """
        known = self._numbers.setdefault(twin.key(alone=self._alone), len(self._twins))
        if known == len(self._twins):
            self._twins.append(twin)
            return known
        self._again += 1
        if self._again % self._every == 0:
            self._try_again(twin, known)
        return known

    def offers(self, number: int, command: int) -> tuple[Answered, ...]:
        """All that the model's `step` answers in this state; nothing where it cannot be asked."""
        place = (number, command)
        found = self._offered.get(place)
        if found is None:
            spoken = self._commands[command]
            found = self._kept(self._twins[number].offers(spoken, self._setting) or ())
            self._offered[place] = found
        return found

    def admits(self, number: int, command: int, reply: Reply) -> tuple[Answered, ...]:
        """What the model makes of this reply in this state; nothing if it forbids it."""
        place = (number, command, reply)
        found = self._admitted.get(place)
        if found is None:
            spoken = self._commands[command]
            found = self._kept(self._twins[number].admits(spoken, self._setting, reply))
            self._admitted[place] = found
        return found

    def _kept(self, answers: Sequence[Answer]) -> tuple[Answered, ...]:
        return tuple(Answered(each.replies, self.number(each.twin), each.rules) for each in answers)

    def _try_again(self, twin: Twin, known: int) -> None:
        """Ask a state that was reached again for everything, beside what is kept of it."""
        for spoken in self._asked:
            first = self._all_that(self._twins[known], spoken)
            now = self._all_that(twin, spoken)
            if first != now:
                raise TlcError(
                    f"two ways to one state of the model differ in what it answers to "
                    f"{dict(spoken)}: {_told(first - now)} on the first way only, "
                    f"{_told(now - first)} on the other only; what tells them apart is missing in "
                    "busproof.tla.same"
                )

    def _all_that(
        self, twin: Twin, spoken: Mapping[str, object]
    ) -> frozenset[tuple[tuple[Reply, ...], object]]:
        return frozenset(
            (each.replies, each.twin.key(alone=self._alone))
            for each in twin.offers(spoken, self._setting) or ()
        )


def _told(answers: frozenset[tuple[tuple[Reply, ...], object]]) -> str:
    return ", ".join(sorted({str(replies[0]) for replies, _ in answers})) or "nothing"
