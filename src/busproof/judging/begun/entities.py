"""The entities of a history that begins in the middle: which existed before, and their settings."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import attrs

from busproof import vocabulary as v
from busproof.judging.replay.evidence import base_path, views_of

__all__ = ["Entities", "is_successful"]

SESSIONS = (
    *(v.AcceptSession, v.AcceptNextSession, v.CloseSession, v.RenewSessionLock),
    *(v.SetSessionState, v.GetSessionState),
)
SWITCHING = (v.TakePartitionDown, v.BringPartitionUp)

Settings = v.CreateQueue | v.CreateTopic | v.CreateSubscription


def is_successful(outcome: v.Outcome) -> bool:
    """Return whether an answer arrived, and is no refusal."""
    return not isinstance(outcome, v.Refused | v.Indeterminate | v.Unsupported)


def path_of(command: v.Command) -> str | None:
    """Return the path of the entity that a command is about; `None` if it names none."""
    if isinstance(command, v.Creation):
        return v.created_path(command)
    if isinstance(command, v.AddRule | v.RemoveRule | v.ListRules):
        return v.subscription_path(command.topic, command.subscription)
    path: str | None = getattr(command, "queue", None) or getattr(command, "topic", None)
    return path


def _entities_of(command: v.Command) -> dict[str, None]:
    """Return the entities that have to exist for a command, or that it creates."""
    names = [v.owner_of(name) for name in v.destinations(command)]
    path = path_of(command)
    if path is not None:
        names += (v.owner_of(path), base_path(path))
    return dict.fromkeys(names)


@attrs.define
class Seen:
    """What a history shows of an entity that it does not create."""

    partitions: set[int] = attrs.field(factory=set)
    sessions: bool | None = None
    mismatched: bool = False


class Entities:
    """The entities that a history names.

    Args:
        events: the events.
        known: commands that would create entities which existed before, with their settings.
        names: the queues and topics that existed before; empty for all that are used first.
        witness: whether the top 16 bits of a sequence number name a partition.

    Attributes:
        before: the paths of entities that existed before, without dead-letter queues.
        proven: those of which an answer shows that they existed before.
        settings: path of an entity to its settings, as far as they are known.
    """

    def __init__(
        self,
        events: Sequence[v.Event],
        known: Iterable[v.Command] = (),
        names: Collection[str] = (),
        *,
        witness: bool,
    ) -> None:
        self.settings: dict[str, Settings] = {
            v.created_path(one): one for one in known if isinstance(one, Settings)
        }
        self.before: set[str] = set()
        self._witness = witness
        self._seen: dict[str, Seen] = defaultdict(Seen)
        self._decided: set[str] = set()
        self._named: set[str] = set()
        for event in events:
            self._note(event)
        self.proven = frozenset(self.before)
        self.before |= self._named - self._decided
        if names:
            self.before = {path for path in self.before if base_path(path) in names}

    def _note(self, event: v.Event) -> None:
        path = path_of(event.command)
        if path is None:
            return
        if not isinstance(event.command, SWITCHING):
            for name in _entities_of(event.command):
                if name not in self._decided:
                    self._decide(name, event)
        if is_successful(event.outcome):
            self._look(path, event)

    def _decide(self, owner: str, event: v.Event) -> None:
        """Decide whether an entity existed before, if the event shows that."""
        command = event.command
        outcome = event.outcome
        self._named.add(owner)
        is_own = path_of(command) == owner
        if is_own and isinstance(command, v.Creation) and isinstance(outcome, v.Done):
            self._decided.add(owner)
            if not isinstance(command, v.RestoreQueue):
                self.settings[owner] = command
            return
        if is_successful(outcome) or outcome == v.Refused(error=v.Error.ALREADY_EXISTS):
            self._decided.add(owner)
            self.before.add(owner)

    def _look(self, path: str, event: v.Event) -> None:
        command = event.command
        seen = self._seen[path]
        is_within = isinstance(command, v.ReceiveDeferred) and command.session_id is not None
        if isinstance(command, SESSIONS) or is_within:
            seen.sessions = True
        elif isinstance(command, v.Receive | v.ReceiveBatch) and views_of(event.outcome):
            seen.sessions = command.session_id is not None
        base = self._seen[base_path(path)]
        if event.witness is not None:
            base.partitions.add(event.witness.partition)
        if self._witness:
            for view in views_of(event.outcome):
                if view.sequence_number is not None:
                    base.partitions.add(view.sequence_number >> v.SEQUENCE_BITS)
        if isinstance(command, v.Send):
            keys = {command.message.session_id, command.message.partition_key}
            base.mismatched |= len(keys - {None}) > 1

    def is_begun(self, events: Iterable[v.Event]) -> bool:
        """Return whether events depend on what was before: an entity, or a transaction."""
        begun: set[str] = set()
        for event in events:
            command = event.command
            if self.before.intersection(_entities_of(command)):
                return True
            transaction = getattr(command, "transaction", None)
            if isinstance(command, v.BeginTransaction):
                begun.add(command.transaction)
            elif transaction is not None and transaction not in begun:
                return True
        return False

    def partitionings(self, path: str) -> Iterator[bool]:
        """Yield whether an entity is partitioned: the only answer, or those that are possible."""
        known = self.settings.get(base_path(path))
        if isinstance(known, v.CreateQueue | v.CreateTopic):
            yield known.partitioned is not False
            return
        seen = self._seen[base_path(path)]
        if not seen.mismatched:
            yield True
        if not any(seen.partitions):
            yield False

    def requires_session(self, path: str) -> bool:
        """Return whether an entity requires sessions, as far as the history shows."""
        if v.is_dead_letter_queue(path):
            return False
        known = self.settings.get(path)
        if isinstance(known, v.CreateQueue | v.CreateSubscription):
            return known.requires_session
        return bool(self._seen[path].sessions)
