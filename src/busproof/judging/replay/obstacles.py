"""What makes an answer impossible in the present state, seen without executing the request.

A look costs less than a step. Where the order is open, requests whose answers are impossible now
wait for others; and of the requests without an answer only those are considered that may have
removed what is in the way. These are guesses, which save time: a search that follows them proves
nothing if it fails.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from busproof import vocabulary as v
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.caches import Caches
from busproof.judging.replay.evidence import views_of
from busproof.judging.replay.outlook import Outlook
from busproof.judging.replay.precedences import NEVER
from busproof.model.choices import CONSIDERED
from busproof.model.life_cycle import ACTIVE
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage

__all__ = ["Obstacles"]


class Obstacles:
    """What is in the way of the answers of a replay.

    Args:
        namespace: the model's namespace.
        bindings: the bus's numbers and tokens.
        caches: what front ends may have cached.
        outlook: what the events to come show of a message.

    Attributes:
        outlook: what the events to come show of a message.
    """

    def __init__(
        self, namespace: Namespace, bindings: Bindings, caches: Caches, outlook: Outlook
    ) -> None:
        self._namespace = namespace
        self._bindings = bindings
        self._caches = caches
        self.outlook = outlook

    def block(self, event: v.Event) -> bool:
        """Return whether an answer is impossible now, unless something unseen makes it possible."""
        command, is_refused = event.command, isinstance(event.outcome, v.Refused)
        entity = self._namespace.entities.get(getattr(command, "queue", ""))
        if entity is None:
            return False
        match command:
            case v.Peek():
                return self._shows_others(entity, event)
            case v.AcceptSession():
                session = entity.sessions.get(command.session_id or "")
                is_held = session is not None and session.holder not in (None, event.connection)
                return is_held is not is_refused
            case v.Receive() | v.ReceiveBatch() if not is_refused:
                return self._lacks(entity, event)
            case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer() | v.RenewLock():
                is_known = self._bindings.knows_token(entity, command.lock_token)
                return not is_refused and not is_known
        return False

    def _lacks(self, entity: Entity, event: v.Event) -> bool:
        """Return whether a receive lacks its session or its messages, or sees others."""
        name = getattr(event.command, "session_id", None)
        session = entity.sessions.get(name or "")
        if session is not None and session.holder != event.connection:
            return True
        if isinstance(event.outcome, v.Empty):
            return name is None and any(self._caches.visible(entity, event.connection))
        return not all(
            any(
                queued.state is ACTIVE or queued.cached_by == event.connection
                for queued in self._bindings.candidates(entity.path, view)
            )
            for view in views_of(event.outcome)
        )

    def _shows_others(self, entity: Entity, event: v.Event) -> bool:
        """Return whether a peek would show other messages, or lacks one."""
        views = views_of(event.outcome)
        shown = [next(self._bindings.candidates(entity.path, view), None) for view in views]
        if None in shown or entity.settings.partitioned:
            return None in shown
        first = next(entity.partitions[0].line.behind(entity.messages, 0), None)
        return bool(shown) and first not in shown

    # Requests without an answer ---------------------------------------------------------------

    def before(self, event: v.Event) -> list[QueuedMessage] | None:
        """Return the messages because of which an answer is impossible; `None` if nobody knows."""
        command = event.command
        entity = self._namespace.entities.get(getattr(command, "queue", ""))
        if entity is None or isinstance(event.outcome, v.Refused):
            return None
        shown = [
            queued
            for view in views_of(event.outcome)
            for path in dict.fromkeys((entity.path, v.owner_of(entity.path)))
            for queued in self._bindings.ever(path, view.body)
            if queued.is_there
        ]
        match command:
            case v.Peek():
                return [*shown, *_find_passed_over(entity, shown)]
            case v.Receive() | v.ReceiveBatch() if isinstance(event.outcome, v.Empty):
                return list(self._caches.visible(entity, event.connection))
            case v.Receive() | v.ReceiveBatch():
                return [*shown, *(one for queued in shown for one in self._caches.earlier(queued))]
        return None

    def removed(self, lost: v.Event, found: Sequence[QueuedMessage]) -> list[QueuedMessage]:
        """Return those messages that a request without an answer may have taken or settled."""
        command = lost.command
        if isinstance(command, v.Settlement):
            token = self._bindings.model_token(command.queue, command.lock_token)
            return [queued for queued in found if queued.token == token]
        if not isinstance(command, v.Receive | v.ReceiveBatch):
            return list(found)
        deletes = command.mode is v.ReceiveMode.RECEIVE_AND_DELETE
        since = NEVER if deletes else self._namespace.now
        return [
            queued
            for queued in found
            if queued.entity.path == command.queue
            and queued.state is ACTIVE
            and not self.outlook.is_received_within(queued, since)
        ]


def _find_passed_over(entity: Entity, shown: Sequence[QueuedMessage]) -> Iterator[QueuedMessage]:
    """Yield messages that a peek of an entity ought to have shown."""
    last = {queued.partition: queued.number for queued in shown}
    for partition in entity.partitions:
        until = last.get(partition.number, 0 if shown else NEVER)
        for queued in islice(partition.line.behind(entity.messages, 0), CONSIDERED):
            if queued.number >= until:
                break
            if queued not in shown:
                yield queued
