"""The life of a message in the seeded bus, from its arrival until it is settled."""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from busproof.adapters.seeded.ageing import Ageing
from busproof.adapters.seeded.queues import Held, Key, Lock, Queue
from busproof.vocabulary.commands import Receive
from busproof.vocabulary.messages import Message, MessageState, MessageView
from busproof.vocabulary.outcomes import Done, Empty, Outcome, Peeked, Received, Refused, Renewed
from busproof.vocabulary.values import Error, ReceiveMode

__all__ = ["Life"]

_DONE: Final = Done()


class Life(Ageing):
    """Stores messages, hands them out under locks and takes them back; every method is a hook.

    `buried_for` is why the message that is under way was dead-lettered, if it was.
    """

    buried_for: str | None = None

    def store(self, queue: Queue, message: Message, key: Key | None, partition: int) -> None:
        """Put a message into its partition, unless it is a copy of one accepted before."""
        if self.is_copy(queue, message, key):
            return
        if queue.settings.duplicate_detection and message.message_id is not None:
            queue.accepted[key, message.message_id] = self.now
        self.append(queue, message, partition)

    def append(self, queue: Queue, message: Message, partition: int) -> None:
        """Put a message at the end of the queue."""
        queue.arrivals += 1
        held = Held(number=queue.arrivals, partition=partition, message=message)
        held.reason = self.buried_for
        held.dies = self.dies_at(queue, message)
        queue.messages.append(held)

    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        """Whether duplicate detection remembers this MessageId under this key."""
        if not queue.settings.duplicate_detection or message.message_id is None:
            return False
        accepted = queue.accepted.get((key, message.message_id))
        return accepted is not None and self.now - accepted < self.duplicate_window(queue)

    def duplicate_window(self, queue: Queue) -> int:
        """How long a MessageId is remembered."""
        return queue.settings.duplicate_window

    def end_what_is_over(self, queue: Queue) -> None:
        """Let the locks of messages and sessions expire whose time has come."""
        for held in list(queue.messages):
            if held.lock is not None and held.lock.until <= self.now:
                self.expire(queue, held)
        for session_id, hold in list(queue.sessions.items()):
            if hold.until <= self.now:
                del queue.sessions[session_id]
        self.end_what_has_died(queue)

    def receive(self, queue: Queue, command: Receive, connection: str) -> Outcome:
        """Give the first message that can be had, if there is one."""
        session_id = command.session_id
        if queue.settings.requires_session is not (session_id is not None):
            return Refused(error=Error.INVALID_OPERATION)
        if session_id is not None and not self.may_read_session(queue, session_id, connection):
            return Refused(error=Error.SESSION_LOCK_LOST)
        offered = self.offered(queue, session_id, connection)
        if not offered:
            return Empty()
        return self.give(queue, self.first(queue, offered), command)

    def offered(self, queue: Queue, session_id: str | None, connection: str) -> Sequence[Held]:
        """The messages that this receive could be given."""
        return [
            held
            for held in queue.messages
            if self.is_free(held)
            and (session_id is None or held.message.session_id == session_id)
            and self.is_reachable(queue, held, connection)
        ]

    def is_free(self, held: Held) -> bool:
        """Whether nobody has locked the message or set it aside."""
        return held.lock is None and not held.deferred

    def is_reachable(
        self,
        queue: Queue,
        held: Held,
        connection: str,  # noqa: ARG002 - caches, which some faults have, belong to connections
    ) -> bool:
        """Whether the message can be had over this connection."""
        return held.partition not in queue.down

    def first(self, queue: Queue, offered: Sequence[Held]) -> Held:  # noqa: ARG002 - for faults
        """The message to give: the oldest."""
        return offered[0]

    def give(self, queue: Queue, held: Held, command: Receive) -> Received:
        """Hand a message out, locked or for good."""
        held.deliveries += 1
        view = self.view(queue, held)
        if command.mode is ReceiveMode.RECEIVE_AND_DELETE:
            self.delete(queue, held)
            return Received(message=view)
        held.lock = self.lock(queue, held, command.session_id)
        locked = attrs.evolve(
            view,
            delivery_count=held.deliveries,
            lock_token=held.lock.token,
            locked_until=held.lock.until,
        )
        return Received(message=locked)

    def lock(self, queue: Queue, held: Held, session_id: str | None) -> Lock:
        """The lock of a message; in a session it ends with the session's."""
        queue.given += 1
        token = f"{held.sequence_number}/{queue.given}"
        until = self.now + queue.settings.lock_duration
        if session_id in queue.sessions:
            until = queue.sessions[session_id].until
        return Lock(token=token, until=until, session_id=session_id)

    def view(self, queue: Queue, held: Held) -> MessageView:  # noqa: ARG002 - for faults
        """The message as a receiver or a browser sees it."""
        number, reason = held.sequence_number, held.reason
        return MessageView.of(held.message, sequence_number=number, dead_letter_reason=reason)

    def settle(self, queue: Queue, token: str, action: Callable[[Queue, Held], None]) -> Outcome:
        """Complete or abandon the message that is locked under this token."""
        held = self.locked(queue, token)
        if held is None:
            return Refused(error=Error.LOCK_LOST)
        action(queue, held)
        return _DONE

    def renew(self, queue: Queue, token: str) -> Outcome:
        """Let a lock last for a whole duration from now; one of a session lasts as that does."""
        held = self.renewable(queue, token)
        if held is None or held.lock is None:
            return Refused(error=Error.LOCK_LOST)
        if held.lock.session_id is not None:
            return Refused(error=Error.INVALID_OPERATION)
        held.lock = attrs.evolve(held.lock, until=self.renewed_until(queue))
        return Renewed(locked_until=held.lock.until)

    def renewable(self, queue: Queue, token: str) -> Held | None:
        """The message whose lock can be renewed under this token."""
        return self.locked(queue, token)

    def renewed_until(self, queue: Queue) -> int:
        """When a lock ends that is renewed now."""
        return self.now + queue.settings.lock_duration

    def locked(self, queue: Queue, token: str) -> Held | None:
        """The message that is locked under this token, while the lock lasts."""
        for held in queue.messages:
            if held.lock is not None and held.lock.token == token:
                return held
        return None

    def complete(self, queue: Queue, held: Held) -> None:
        """Remove a message that its receiver has completed."""
        queue.messages.remove(held)

    def delete(self, queue: Queue, held: Held) -> None:
        """Remove a message that was received in receive-and-delete mode."""
        queue.messages.remove(held)

    def abandon(self, queue: Queue, held: Held) -> None:
        """Make a message available that its receiver has abandoned."""
        self.give_back(queue, held)

    def expire(self, queue: Queue, held: Held) -> None:
        """Make a message available whose lock has expired."""
        self.give_back(queue, held)

    def give_back(self, queue: Queue, held: Held) -> None:
        """End a lock; after its last permitted delivery the message leaves for the dead letters."""
        held.lock = None
        if held.deferred:
            return
        if queue.dead is not None and self.is_spent(queue, held):
            self.bury(queue, held, self.reason_of_spent())

    def peek(self, queue: Queue, count: int) -> Peeked:
        """Show the oldest messages that are there, locked ones among them."""
        shown = sorted(self.visible(queue), key=lambda held: held.number)[:count]
        return Peeked(messages=tuple(self.browsed(queue, held) for held in shown))

    def peek_on(self, queue: Queue, count: int, start: int) -> Peeked:
        """Show messages from this sequence number on, one partition after another."""
        behind = [held for held in self.visible(queue) if held.sequence_number >= start]
        shown = sorted(behind, key=lambda held: held.sequence_number)[:count]
        return Peeked(messages=tuple(self.browsed(queue, held) for held in shown))

    def visible(self, queue: Queue) -> Sequence[Held]:
        """What a peek can show."""
        return [held for held in queue.messages if held.partition not in queue.down]

    def browsed(self, queue: Queue, held: Held) -> MessageView:
        """The message as a peek shows it: with its state."""
        state = MessageState.DEFERRED if held.deferred else MessageState.ACTIVE
        return attrs.evolve(self.view(queue, held), state=state)

    def holds_session(self, queue: Queue, session_id: str, connection: str) -> bool:
        """Whether this connection holds the session."""
        hold = queue.sessions.get(session_id)
        return hold is not None and hold.connection == connection

    def may_read_session(self, queue: Queue, session_id: str, connection: str) -> bool:
        """Whether this connection may receive from the session: only if it holds it."""
        return self.holds_session(queue, session_id, connection)
