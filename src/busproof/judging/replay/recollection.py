"""What was there before a history began, recalled when an answer first needs it.

A message that is given and that nobody sent was there before; a session that is used and that
nobody accepted was held. Each is made at that moment, as if it had been there all along, and from
then on it is a message or session like any other. So whatever no past explains stays impossible:
one number for two messages, a message that was settled and is given again, a key in two partitions,
two holders of a session.

What a past may have done is done only when an answer calls for it, because until then nobody can
tell. A message that is never shown again may have expired, so that it gets out of the way; one that
no receiver of the history had may be held by one from before. Where it is unknown how long a lock
lasts, it has ended when its message is given again.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.homes import key_of_home
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.evidence import Evidence, views_of
from busproof.judging.replay.guide import FIRST, Guide, NoWay
from busproof.judging.replay.orders import Order
from busproof.model.life_cycle import ACTIVE, LOCKED_STATES, Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import DIRECT, Key

__all__ = ["Before", "Recollection"]

NAME: Final = "BEGUN"
"""Name of the choices of what was there before."""
FIELDS: Final = tuple(field.name for field in attrs.fields(v.Message))
EVER: Final = 1 << 62
LOW: Final = (1 << v.SEQUENCE_BITS) - 1
PHANTOM: Final = "before"
"""Token of a lock that a receiver from before has."""
RECEIVES: Final = (v.Receive, v.ReceiveBatch)
OF_HOLDERS: Final = (
    *(*RECEIVES, v.ReceiveDeferred),
    *(v.CloseSession, v.RenewSessionLock, v.SetSessionState, v.GetSessionState),
)
ARRIVED: Final = DIRECT._replace(hops=1)
"""How a message from before came: nobody knows, so its number says nothing of the others' order."""


@attrs.frozen(kw_only=True)
class Before:
    """What may have been there before a history of one queue began.

    Attributes:
        queue: the path of the queue.
        bodies: the bodies of messages that may have been there.
        holders: connections, each with a session that it may have held.
        keeps_messages: whether a message that was sent stays until somebody takes it.
        keeps_locks: whether locks surely last as long as the queue's settings say; that of a
            message may have begun in a cache.
        keeps_sessions: the same, for locks of sessions.
        is_whole: whether the history has all receives. Where it has not, front ends may have cached
            any message at any time, so that it comes out of turn.
        caches_late: whether messages are cached only when an answer shows it, which leaves ways out
            but takes fewer steps.
    """

    queue: str
    bodies: frozenset[str]
    holders: frozenset[tuple[str, str]]
    keeps_messages: bool
    keeps_locks: bool
    keeps_sessions: bool
    is_whole: bool
    caches_late: bool = True


class Recollection:
    """The messages and sessions from before of one replay.

    Args:
        before: what may have been there.
        namespace: the model's namespace.
        guide: the policy that chooses whether something was there before.
        bindings: the bus's numbers and tokens.
        evidence: facts about the whole history.
        order: which events are done.
        events: the events of the history.
    """

    def __init__(
        self,
        before: Before,
        namespace: Namespace,
        guide: Guide,
        bindings: Bindings,
        evidence: Evidence,
        order: Order,
        events: Sequence[v.Event],
    ) -> None:
        self._before = before
        self._namespace = namespace
        self._guide = guide
        self._bindings = bindings
        self._evidence = evidence
        self._order = order
        self._recalled: dict[QueuedMessage, bool] = {}
        self._given: dict[QueuedMessage, int] = {}
        self._used: dict[tuple[str, str], bool] = {}
        self._old_locks: dict[str, bool] = {}
        self._accepted: dict[Hashable, bool] = {}
        self._sights: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
        for index, event in enumerate(events):
            for view in views_of(event.outcome):
                self._sights[view.body].append((index, view.sequence_number))

    @property
    def value(self) -> Hashable:
        """What was recalled, as a value that can be compared."""
        return frozenset(self._used), frozenset(self._old_locks), frozenset(self._accepted)

    def recall(self, event: v.Event) -> None:
        """Recall what an answer needs and what was there before.

        Raises:
            NoWay: nothing that may have been there explains the answer.
        """
        command = event.command
        entity = self._namespace.entities.get(self._before.queue)
        if entity is None or getattr(command, "queue", None) != entity.path:
            return
        if isinstance(event.outcome, v.Refused | v.Indeterminate):
            return
        self._recall_holder(entity, event)
        views = self._guide.views
        if isinstance(command, v.Peek):
            for view in views:
                self._note_deferral(self._find(entity, view), view)
        elif isinstance(command, v.ReceiveDeferred):
            for view in views:
                self._defer(entity, view)
        elif isinstance(command, RECEIVES):
            given = [one for view in views if (one := self._find(entity, view)) is not None]
            for queued, view in zip(given, views, strict=False):
                self._free(queued, view, event.connection)
            for queued in self._in_the_way(entity, command, given):
                self._make_way(queued)
            for queued in given:
                self._cache(queued, event.connection)
                self._note_given(queued)

    # Messages ---------------------------------------------------------------------------------

    def _find(self, entity: Entity, view: v.MessageView) -> QueuedMessage | None:
        """Return the message that a view shows, if it is there; one from before is recalled."""
        number = view.sequence_number
        if number is not None and self._bindings.knows_number(entity, number):
            return next(self._bindings.candidates(entity.path, view), None)
        known = next(self._bindings.candidates(entity.path, view), None)
        if not self._may_be_old(entity, view):
            return known
        if known is not None and not self._guide.take(NAME, (False, True), entity.path):
            return known
        return self._recall_message(entity, view)

    def _may_be_old(self, entity: Entity, view: v.MessageView) -> bool:
        """Return whether a view may show a message from before that no answer has shown.

        Without a number, a body tells messages apart.
        """
        if view.body not in self._before.bodies:
            return False
        alike = self._bindings.ever(entity.path, view.body)
        return view.sequence_number is not None or not any(one in self._recalled for one in alike)

    def _recall_message(self, entity: Entity, view: v.MessageView) -> QueuedMessage:
        message = v.Message(**{name: getattr(view, name) for name in FIELDS})
        namespace = self._namespace
        partition = self._partition(entity, message, view.sequence_number)
        counters = entity.partitions[partition]
        namespace.journal.touch(counters)
        arrivals = counters.arrivals
        counters.arrivals = self._position(entity, partition, view.sequence_number) - 1
        self._guide.is_recalling = True
        try:
            queued = namespace.rules.messages.enqueue(entity, message, partition, ARRIVED)
        finally:
            self._guide.is_recalling = False
            counters.arrivals = arrivals
        queued.touched = 0  # it has been there all along
        namespace.journal.put(self._recalled, queued, True)
        self._bindings.note_old(queued)
        self._bindings.bind_number(queued, view.sequence_number)
        if view.state is v.MessageState.DEFERRED:
            queued.state = State.DEFERRED
        return queued

    def _partition(self, entity: Entity, message: v.Message, number: int | None) -> int:
        """Return the partition of a message from before, which its number or its key names."""
        count = len(entity.partitions)
        if count == 1:
            return 0
        keys = self._namespace.rules.keys
        key = keys.effective_key(entity, message)
        if number is None or not self._evidence.numbers_show_partitions:
            if key is not None:
                return keys.home(entity, key)
            ever = self._evidence.ever_down.get(entity.base.path, set()) | entity.base.down
            return next((place for place in range(count) if place not in ever), 0)
        partition = number >> v.SEQUENCE_BITS
        if partition >= count:
            raise NoWay(NAME)
        if key is not None:
            kept = key_of_home(self._namespace, key).value
            if entity.base.homes.get(kept, partition) != partition:
                raise NoWay("KEY-02")
            self._namespace.journal.put(entity.base.homes, kept, partition)
        return partition

    def _position(self, entity: Entity, partition: int, number: int | None) -> int:
        """Return the position of a message from before among those of its partition.

        It comes after those that have smaller numbers, as the history shows them.
        """
        own = 0 if number is None else number & LOW
        below, known = 0, 0
        above = EVER
        for queued in entity.partitions[partition].line.behind(entity.messages, 0):
            place = queued.number & LOW
            other = self._number(queued)
            if other is None or number is None:
                continue
            if other < number:
                below, known = place, other & LOW
            else:
                above = place
                break
        place = own
        if below or own >= min(above, FIRST):
            place = max(below + 1, min(below + own - known, above - 1))
        while (partition << v.SEQUENCE_BITS) + place in entity.messages:
            place += 1
        return place

    def _number(self, queued: QueuedMessage) -> int | None:
        known = self._bindings.number_of(queued)
        if known is not None:
            return known
        return self._evidence.only_number(queued.entity.path, queued.message.body)

    def _defer(self, entity: Entity, view: v.MessageView) -> None:
        """DEFER-02: recall a message that was deferred before, or by a receiver from before."""
        queued = self._find(entity, view)
        if queued is None:
            return
        if self._is_new(queued):
            self._namespace.journal.touch(queued)
            queued.token = None
            queued.state = State.DEFERRED
        self._free(queued, view, "")
        self._note_given(queued)

    def _note_given(self, queued: QueuedMessage) -> None:
        self._namespace.journal.put(self._given, queued, self._given.get(queued, 0) + 1)

    def _is_new(self, queued: QueuedMessage) -> bool:
        """Return whether a message is from before, and no receiver of the history had it yet."""
        return queued in self._recalled and queued not in self._given

    def _note_deferral(self, queued: QueuedMessage | None, view: v.MessageView) -> None:
        """DEFER-09: let a receiver from before have deferred a message that a peek shows."""
        is_deferred = view.state is v.MessageState.DEFERRED
        if queued is not None and is_deferred and self._is_new(queued):
            self._namespace.journal.touch(queued)
            queued.token = None
            queued.state = State.DEFERRED

    def _free(self, queued: QueuedMessage, view: v.MessageView, connection: str) -> None:
        """Let a lock end that has ended, as a message shows that is given."""
        rules = self._namespace.rules
        is_old = queued.token is not None and queued.token.startswith(PHANTOM)
        if queued.state in LOCKED_STATES and queued.cached_by != connection:
            # The lock of a first delivery may have begun in a cache, before the history did.
            is_open = queued in self._recalled and self._given.get(queued) == 1
            is_over = queued.session is None and (is_open or not self._before.keeps_locks)
            if is_old or (is_over and not rules.transactions.holds(queued)):
                is_deferred = queued.state is State.DEFERRED_LOCKED
                rules.locks.unlock(queued, Action.LOCK_ENDS)
                if not is_deferred:
                    queued.line.give_back(queued)
        count = view.delivery_count
        if count is None or count == queued.failed + 1:
            return
        # One in a cache may have been counted before (CACHE-DELIVERY-COUNT).
        is_more = count > queued.failed + 1
        if self._is_new(queued) or (is_more and self._guide.caches.may_have_lapsed(queued)):
            self._namespace.journal.touch(queued)
            queued.failed = count - 1

    def _cache(self, queued: QueuedMessage, connection: str) -> None:
        """PART-09: let a message come out of turn that a front end had cached before."""
        entity = queued.entity
        is_new = self._is_new(queued) and queued.state is ACTIVE
        if not is_new or queued.session is not None or not entity.settings.partitioned:
            return
        if next(iter(self._earlier(entity, queued)), None) is not None:
            mode = v.ReceiveMode.PEEK_LOCK
            self._namespace.rules.partitions.cache(queued, connection, mode)

    def _in_the_way(
        self,
        entity: Entity,
        command: v.Receive | v.ReceiveBatch,
        given: Sequence[QueuedMessage],
    ) -> list[QueuedMessage]:
        """Return the available messages that come before those that are given."""
        blocking: dict[QueuedMessage, None] = {}
        if not self._guide.views:
            session = entity.sessions.get(command.session_id or "")
            lines = entity.partitions if session is None else (session,)
            for one in lines:
                blocking |= dict.fromkeys(one.line.available(entity.messages))
        for queued in given:
            blocking |= dict.fromkeys(self._earlier(entity, queued))
        return [queued for queued in blocking if queued not in given]

    def _earlier(self, entity: Entity, queued: QueuedMessage) -> Iterator[QueuedMessage]:
        """Yield the available messages before one that a receiver ought to get before it."""
        is_by_key = queued.session is None and entity.settings.partitioned
        orders_keys = self._before.is_whole and self._namespace.rules.messages.orders_keys
        key = _key_of(queued)
        if is_by_key and (key is None or not orders_keys):
            return
        for one in queued.line.available(entity.messages):
            if one.number >= queued.number:
                return
            if is_by_key and (_key_of(one) != key or self._bindings.may_overtake(queued, one)):
                continue
            yield one

    def _make_way(self, queued: QueuedMessage) -> None:
        """Let a message be gone, or held by a receiver from before, if that may be."""
        is_old = queued in self._recalled
        if is_old or not self._before.keeps_messages:
            is_shown = self._is_shown_later(queued)
            if is_shown is None:
                is_shown = not self._guide.take(NAME, (False, True), queued.entity.path)
            if not is_shown:
                self._namespace.rules.messages.remove(queued)
                return
        if self._is_new(queued):
            self._namespace.journal.touch(queued)
            queued.state = State.LOCKED
            queued.token = f"{PHANTOM} {queued.number}"
            queued.locked_until = EVER
            if queued.session is not None:
                queued.session.locked[queued.number] = queued

    def _is_shown_later(self, queued: QueuedMessage) -> bool | None:
        """Return whether an answer to come shows a message; `None` if it may be another one."""
        number = self._bindings.number_of(queued)
        later = [
            shown
            for index, shown in self._sights.get(queued.message.body, ())
            if not self._order.is_done(index)
        ]
        if number is not None:
            return number in later or None in later
        unknown = [
            one
            for one in later
            if one is None or not self._bindings.knows_number(queued.entity, one)
        ]
        if not unknown:
            return False
        return None if queued.message.body in self._before.bodies else True

    # Duplicates -------------------------------------------------------------------------------

    def is_dropped(self, message: v.Message, name: Hashable) -> bool:
        """DUP-01: choose whether a message is a copy of one from before.

        Args:
            message: the message, whose MessageId no message of the history had.
            name: the MessageId, with the partition key.
        """
        if name in self._accepted:
            return False
        later = any(not self._order.is_done(at) for at, _ in self._sights.get(message.body, ()))
        options = (False, True) if later else (True, False)
        is_dropped: bool = self._guide.take(NAME, options, self._before.queue)
        if not is_dropped:
            self._namespace.journal.put(self._accepted, name, True)
        return is_dropped

    # Sessions ---------------------------------------------------------------------------------

    def _recall_holder(self, entity: Entity, event: v.Event) -> None:
        """Let a connection hold a session that it uses and did not accept."""
        command: Any = event.command
        name = getattr(command, "session_id", None)
        if name is None or not isinstance(command, (*OF_HOLDERS, v.AcceptSession)):
            return
        connection = event.connection
        session = entity.sessions.get(name)
        holder = None if session is None else session.holder
        if isinstance(command, v.AcceptSession):
            self._lose(session, connection)
            self._use(name, connection)
            return
        if isinstance(command, v.RenewSessionLock) and holder == connection:
            self._know_lock(name)
        pair = (connection, name)
        if holder == connection or pair not in self._before.holders or pair in self._used:
            return
        self._lose(session, connection)
        if session is not None and session.holder is not None:
            return
        rules = self._namespace.rules
        if session is None:
            partition = 0
            if entity.settings.partitioned:
                partition = rules.keys.home(entity, Key("SessionId", name))
            session = rules.sessions.known(entity, name, partition)
        rules.sessions.hold(session, connection)
        self._use(name, connection)
        if not isinstance(command, v.RenewSessionLock):
            self._namespace.journal.put(self._old_locks, name, True)

    def _use(self, name: str, connection: str) -> None:
        self._namespace.journal.put(self._used, (connection, name), True)
        self._know_lock(name)

    def _know_lock(self, name: str) -> None:
        """Note that the lock of a session begins now."""
        if name in self._old_locks:
            self._namespace.journal.drop(self._old_locks, name)

    def _lose(self, session: Session | None, connection: str) -> None:
        """Let the lock of a session have ended that another connection has, if that may be."""
        if session is None or session.holder in (None, connection):
            return
        if not self._before.keeps_sessions or session.name in self._old_locks:
            self._namespace.rules.sessions.release(session, counts=True)


def _key_of(queued: QueuedMessage) -> str | None:
    """KEY-17: return the value by which messages of a partition are given in order."""
    message = queued.message
    key = message.session_id or message.partition_key
    if key is None and queued.entity.base.settings.duplicate_detection:
        return message.message_id
    return key
