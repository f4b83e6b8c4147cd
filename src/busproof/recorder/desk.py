"""What all connections of a recording share."""

from itertools import count

import attrs

from busproof import vocabulary as v
from busproof.recorder.messages import Privacy
from busproof.recorder.requests import Requests
from busproof.recorder.tally import Tally

__all__ = ["Desk"]


@attrs.frozen
class Desk:
    """What all connections of a recording share.

    Attributes:
        journal: the requests of the recording.
        privacy: what is kept of messages.
        tally: what was seen and cannot be said in a history.
        receive_wait: how long a service must have had credit for a message before it is taken to
            have none, in microseconds: it may take a moment to look into each partition.
        released: sequence numbers of messages that were given back without being counted as
            delivered, by entity.
    """

    journal: Requests
    privacy: Privacy
    tally: Tally
    receive_wait: int = 1_000_000
    released: dict[str, set[int]] = attrs.field(factory=dict)
    transactions: "count[int]" = attrs.field(factory=lambda: count(1))

    def redact_command(self, command: v.Command) -> v.Command:
        """Return a request as it is written; leave out a topic whose rule reads what is hashed."""
        if not isinstance(command, v.AddRule):
            return command
        rule = self.privacy.rule(command)
        if rule is None:
            self.journal.left_out.leave(command.topic)
            self.tally.count("topics with SQL in rules, as their properties are hashed")
        return rule or command
