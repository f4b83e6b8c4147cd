"""What befell each message in an execution of the model: its changes, and the event of each.

The journal of a replay has every change since the beginning, and the search knows at which event
each was made. So nothing has to be noted while the model runs.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import attrs

from busproof.judging.replay.bindings import Numbered
from busproof.judging.replay.search import Search
from busproof.model.journal import MISSING
from busproof.model.life_cycle import State
from busproof.model.state import QueuedMessage, ScheduledMessage

__all__ = ["Change", "Lives"]

STATE: Final = {kind: kind.names.index("state") for kind in (QueuedMessage, ScheduledMessage)}
"""Position of the state among the values that the journal saves."""


@attrs.frozen
class Change:
    """A change of a message.

    Attributes:
        index: the event at which it was made.
        before: the state before; `None` if the message arrived.
        after: the state after; `GONE` if it left its entity.
    """

    index: int
    before: State | None
    after: State


class Lives:
    """The changes of every message in the execution that a search has found.

    Args:
        search: the search, which stands at the end of an execution.
    """

    def __init__(self, search: Search) -> None:
        self._arrived: dict[Numbered, int] = {}
        self._left: dict[Numbered, int] = {}
        self._saved: dict[Numbered, list[tuple[int, State]]] = defaultdict(list)
        for index, thing, key, before in search.changes():
            if key is None:
                if isinstance(thing, Numbered):
                    self._saved[thing].append((index, before[STATE[type(thing)]]))
            elif isinstance(before, Numbered):
                self._left[before] = index
            elif before is MISSING and isinstance(arrived := thing.get(key), Numbered):
                self._arrived.setdefault(arrived, index)

    def of(self, record: Numbered) -> Sequence[Change]:
        """Return the changes of a message, the earliest first."""
        saved = self._saved.get(record, [])
        states = [*(before for _, before in saved), record.state]
        first = [Change(self._arrived[record], None, states[0])] if record in self._arrived else []
        later = [
            Change(index, before, after)
            for (index, before), after in zip(saved, states[1:], strict=True)
            if before is not after
        ]
        # A message that leaves after a release, as a dead letter, keeps the state of the release.
        left = self._left.get(record)
        gone = left is not None and record.state is not State.GONE
        return [*first, *later, *([Change(left or 0, record.state, State.GONE)] if gone else [])]

    def everything(self) -> Sequence[Numbered]:
        """Return all messages that ever arrived or were scheduled."""
        return tuple(self._arrived)
