"""MANAGEMENT-IN-OUTAGE: what a request that fails in an outage may have done in some partitions.

A creation, update or deletion that an outage refuses, or that is not answered then, may have acted
on the partitions that were up, and the documents do not say what the entity then is. So no answer
about it can be wrong, nor one about an entity that shares messages or transactions with it, until
the request is repeated with every partition up.
"""

from collections.abc import Hashable
from typing import Final

from busproof import vocabulary as v
from busproof.judging.replay.evidence import Evidence, base_path
from busproof.judging.replay.guide import Guide, NoWay
from busproof.judging.replay.open_answers import OpenAnswers
from busproof.model.rules import Namespace

__all__ = ["PartlyDone"]

HARMLESS: Final = (v.GetQueue, v.GetTopic, v.Peek, v.ListSubscriptions, v.ListRules, v.ListSessions)
"""Requests that leave an entity as it is."""
LEFT_BEHIND: Final = (v.Error.ALREADY_EXISTS, v.Error.NOT_FOUND)
"""Errors that what was created or deleted in part may give to the repeated request."""
SWITCHING: Final = (v.TakePartitionDown, v.BringPartitionUp)


class PartlyDone:
    """The entities that a refused request may have changed in some partitions only.

    Args:
        namespace: the model's namespace.
        guide: the policy that chooses whether it did.
        evidence: the independent parts of the history.
        answers: the answers that are open.
    """

    def __init__(
        self, namespace: Namespace, guide: Guide, evidence: Evidence, answers: OpenAnswers
    ) -> None:
        self._namespace = namespace
        self._guide = guide
        self._evidence = evidence
        self._answers = answers
        # By entity: the requests that may make it whole again, and whether it was used meanwhile.
        self._refused: dict[str, tuple[type[v.Command], bool]] = {}

    @property
    def value(self) -> Hashable:
        """What is changed in part, as a value."""
        return frozenset(self._refused.items())

    def begins(self, event: v.Event) -> bool:
        """Return whether a request is taken to have acted on some partitions only."""
        command = event.command
        if not isinstance(
            event.outcome, v.Refused | v.Indeterminate
        ) or not self._answers.may_have_worked(command):
            return False
        path = base_path(concerned_path(command))
        if not self._guide.take("MANAGEMENT-IN-OUTAGE", (False, True), path):
            return False
        self._put(path, (type(command), False))
        return True

    def covers(self, index: int, event: v.Event) -> bool:
        """Return whether an event is about something of which nothing is known any more.

        Raises:
            NoWay: the repeated request is refused, although every partition is up (MGMT-19).
        """
        if not self._refused:
            return False
        part = self._evidence.part_of_event(index)
        paths = [path for path in self._refused if self._evidence.part_of_path(path) == part]
        if not paths or isinstance(event.command, (*SWITCHING, v.AdvanceClock)):
            return False
        if any(self._is_denied(path, event) for path in paths):
            raise NoWay("MGMT-19")
        if len(paths) == 1 and self._is_whole_again(paths[0], event):
            self._namespace.journal.drop(self._refused, paths[0])
            return False
        for path in paths:
            kind, is_used = self._refused[path]
            if not is_used and not self._is_harmless(event):
                self._put(path, (kind, True))
        return True

    def _is_denied(self, path: str, event: v.Event) -> bool:
        """MGMT-19: return whether a repeated request is refused, although every partition is up."""
        kind, _ = self._refused[path]
        is_repeated = isinstance(event.command, kind) and concerned_path(event.command) == path
        error = getattr(event.outcome, "error", None)
        is_up = not self._namespace.down.get(path)
        return is_repeated and is_up and error not in (None, *LEFT_BEHIND)

    def _is_whole_again(self, path: str, event: v.Event) -> bool:
        """Return whether a request makes an entity whole, so that all of it is known again."""
        command = event.command
        kind, is_used = self._refused[path]
        is_repeated = isinstance(command, kind) and concerned_path(command) == path
        is_done = isinstance(event.outcome, v.Done) and not self._namespace.down.get(path)
        if not is_repeated or not is_done:
            return False
        part = self._evidence.part_of_path(path)
        others = (base_path(other) for other in self._namespace.entities)
        is_alone = all(
            other == path or self._evidence.part_of_path(other) != part for other in others
        )
        is_deletion = isinstance(command, v.DeleteQueue | v.DeleteTopic)
        return not is_used or (is_deletion and is_alone)

    @staticmethod
    def _is_harmless(event: v.Event) -> bool:
        return isinstance(event.command, HARMLESS) or isinstance(event.outcome, v.Refused | v.Empty)

    def _put(self, path: str, entry: tuple[type[v.Command], bool]) -> None:
        self._namespace.journal.put(self._refused, path, entry)


def concerned_path(command: v.Command) -> str:
    """Return the path of the entity that a request is about, or that it creates."""
    if isinstance(command, v.CreateQueue | v.CreateTopic | v.CreateSubscription):
        return v.created_path(command)
    return v.concerned(command) or ""
