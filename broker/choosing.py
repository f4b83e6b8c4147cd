"""Where the model allows several answers, one of them is taken, by a policy and a seed.

The policies are those of `oracle/choosing.py`, by which the model's own adapter chooses too.
"""

from itertools import islice
from random import Random
from typing import Final

import attrs

from busproof.oracle.choosing import CHOICES_WEIGHED, Turns, checked_policy, one_of
from busproof.oracle.state import Namespace
from busproof.oracle.step import transitions
from busproof.oracle.transition import Transition
from busproof.vocabulary.commands import AcceptNextSession, Command, Peek, Receive
from busproof.vocabulary.outcomes import Empty, Peeked, Received, SessionAccepted

__all__ = ["Chooser"]

WAITED_FOR: Final = Received | SessionAccepted
"""What a request that can wait waits for."""


class Chooser:
    """Takes one of the answers that the model allows.

    Args:
        policy: one of those of `oracle/choosing.py`.
        seed: of the random and the hostile policy.
    """

    def __init__(self, policy: str = "round-robin", seed: int = 0) -> None:
        self._policy = checked_policy(policy)
        self._random = Random(seed)  # noqa: S311 - repeatable choices, not secrets
        self._turns = Turns()

    def chosen(self, namespace: Namespace, command: Command, connection: str) -> Transition:
        """The answer to a request that is answered at once."""
        if self._policy == "round-robin":
            found = self._turns.taken(namespace, command, connection)
            if found is not None:
                return found
        allowed = transitions(namespace, command, connection)
        return self._one_of(list(islice(allowed, self._weighed(command))))

    def waited_for(
        self, namespace: Namespace, command: Receive | AcceptNextSession, connection: str
    ) -> Transition | None:
        """The answer to a request that may wait; `None` while there is nothing to answer."""
        allowed = transitions(namespace, command, connection)
        given: list[Transition] = []
        refused: list[Transition] = []
        may_wait = False
        for each in allowed:
            if isinstance(each.outcome, WAITED_FOR):
                given.append(each)
                if len(given) == self._weighed(command):
                    break
            elif isinstance(each.outcome, Empty):
                may_wait = True
            else:
                refused.append(each)
        if given:
            return self._one_of(given)
        return self._one_of(refused) if refused and not may_wait else None

    def browsed(
        self, namespace: Namespace, command: Peek, connection: str, first: int, count: int
    ) -> Transition:
        """What a peek is shown that begins at a sequence number: of one partition.

        Who goes on from the last number seen comes to the partitions in turn.
        """
        found = list(transitions(namespace, command, connection))
        shown = [
            (views, each)
            for each in found
            if isinstance(each.outcome, Peeked)
            and (views := _from(each.outcome, first, count)).messages
        ]
        if not shown:
            nothing = [each for each in found if not isinstance(each.outcome, Peeked)]
            if nothing:
                return nothing[0]
            return attrs.evolve(found[0], outcome=Peeked())
        lowest = min((each.choice.partition if each.choice else -1) for _, each in shown)
        views, taken = next(
            pair for pair in shown if (pair[1].choice.partition if pair[1].choice else -1) == lowest
        )
        return attrs.evolve(taken, outcome=views)

    def _weighed(self, command: Command) -> int:
        regular = self._policy == "round-robin" or isinstance(command, AcceptNextSession)
        return 1 if regular else CHOICES_WEIGHED

    def _one_of(self, allowed: list[Transition]) -> Transition:
        if self._policy == "round-robin" or len(allowed) == 1:
            return allowed[0]
        return one_of(allowed, self._policy, self._random)


def _from(outcome: Peeked, first: int, count: int) -> Peeked:
    """What of it comes at this sequence number or later in the same partition or a later one."""
    views = (each for each in outcome.messages if (each.sequence_number or 0) >= first)
    return Peeked(messages=tuple(islice(views, count)))
