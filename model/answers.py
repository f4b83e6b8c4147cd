"""Result of a command: what the client sees, and details that only a test can see.

A client learns only the outcome. The other fields serve the oracle (its witness), the broker's page
of decisions (the rules), and a store (the rows to write).
"""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.journal import Change
from busproof.model.state import QueuedMessage

__all__ = ["DONE", "EMPTY", "Answer", "view_of"]

DONE: Final = v.Done()
EMPTY: Final = v.Empty()


@attrs.define
class Answer:
    """Answer to a command.

    Attributes:
        outcome: what the client sees.
        partition: the partition that took all messages of a send; `None` if there is no such one.
        rules: the rules that decided the answer.
        changes: the changes that the step made to the state, as the journal records them.
    """

    outcome: v.Outcome
    partition: int | None = None
    rules: tuple[v.RuleId, ...] = ()
    changes: Sequence[Change] = attrs.field(default=(), eq=False, repr=False)

    @property
    def refused(self) -> v.Refused | None:
        """Return the outcome if it is a refusal, otherwise `None`."""
        return self.outcome if isinstance(self.outcome, v.Refused) else None


def view_of(
    queued: QueuedMessage, *, locked: bool = False, state: v.MessageState | None = None
) -> v.MessageView:
    """Return a message as a receiver or a peek sees it."""
    # In a session the lock is the session's, so a message shows no end of its own (SESS-14).
    until = (queued.session or queued).locked_until
    return v.MessageView.of(
        queued.message,
        sequence_number=queued.number,
        dead_letter_reason=queued.reason,
        delivery_count=queued.failed if locked else None,
        lock_token=queued.token if locked else None,
        locked_until=until if locked else None,
        state=state,
    )
