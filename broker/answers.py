"""What a bus has decided of one request."""

import attrs

from busproof.vocabulary.outcomes import Outcome, Refused

__all__ = ["Answer"]


@attrs.frozen
class Answer:
    """What the bus decided: the outcome, the rules by which, and the partition it chose, if any."""

    outcome: Outcome
    rules: tuple[str, ...] = ()
    partition: int | None = None

    @property
    def refused(self) -> Refused | None:
        """The refusal, if it is one."""
        return self.outcome if isinstance(self.outcome, Refused) else None
