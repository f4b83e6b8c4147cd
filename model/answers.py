"""The result of a command: the client's view, and the details that only a test can see.

The outcome is all that a client learns. Partition, rules and changes serve comparisons, pages and
stores: the oracle's witness, the broker's page of decisions, and the rows to write.
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
    """The answer to a command.

    Attributes:
        outcome: the result that the client sees.
        partition: the partition that took all sent messages, if there is one.
        rules: the rules that decided the answer.
        changes: the changes of the step, as the journal keeps them.
    """

    outcome: v.Outcome
    partition: int | None = None
    rules: tuple[v.RuleId, ...] = ()
    changes: Sequence[Change] = attrs.field(default=(), eq=False, repr=False)

    @property
    def refused(self) -> v.Refused | None:
        """Return the refusal, if the answer is one."""
        return self.outcome if isinstance(self.outcome, v.Refused) else None


def view_of(
    queued: QueuedMessage, *, locked: bool = False, state: v.MessageState | None = None
) -> v.MessageView:
    """Return a message as a receiver or a peek sees it."""
    # In a session there is one lock, that of the session (SESS-14).
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
