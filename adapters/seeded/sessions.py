"""Sessions in the seeded bus: who holds which, and what is stored with them."""

from typing import Final

import attrs

from busproof.adapters.seeded.life import Life
from busproof.adapters.seeded.queues import Held, Hold, Queue
from busproof.vocabulary.commands import (
    AcceptNextSession,
    AcceptSession,
    CloseSession,
    GetSessionState,
    ListSessions,
    Peek,
    RenewSessionLock,
    SessionCommand,
    SetSessionState,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Done,
    Empty,
    Outcome,
    Peeked,
    Refused,
    Renewed,
    SessionAccepted,
    SessionsListed,
    SessionState,
)
from busproof.vocabulary.values import Error

__all__ = ["Sessions"]

_DONE: Final = Done()
_LOST: Final = Refused(error=Error.SESSION_LOCK_LOST)


class Sessions(Life):
    """Gives sessions to connections and takes them back; every method is a hook."""

    def ask_session(  # noqa: PLR0911 - one closed match over the vocabulary
        self, queue: Queue, command: SessionCommand, connection: str
    ) -> Outcome:
        """Do what concerns sessions and no message."""
        match command:
            case AcceptSession():
                return self.accept_session(queue, command.session_id, connection)
            case AcceptNextSession():
                return self.accept_next(queue, connection)
            case RenewSessionLock():
                return self.renew_session(queue, command.session_id, connection)
            case CloseSession():
                return self.close_session(queue, command.session_id, connection)
            case SetSessionState():
                return self.set_state(queue, command, connection)
            case GetSessionState():
                return self.get_state(queue, command, connection)
            case ListSessions():
                return SessionsListed(session_ids=tuple(sorted(self.sessions_of(queue))))

    def lacks_session(self, queue: Queue, message: Message) -> bool:
        """Whether no receiver of the queue could ever be given the message."""
        return queue.settings.requires_session and message.session_id is None

    def accept_session(self, queue: Queue, session_id: str, connection: str) -> Outcome:
        """Lock a session; whoever holds it may lock it anew, and gives back what it took."""
        if not queue.settings.requires_session:
            return Refused(error=Error.INVALID_OPERATION)
        if not self.is_session_free(queue, session_id, connection):
            return Refused(error=Error.SESSION_CANNOT_BE_LOCKED)
        self.give_session(queue, session_id, connection)
        return _DONE

    def give_session(self, queue: Queue, session_id: str, connection: str) -> None:
        """Let a connection hold a session from now on."""
        self.free_session(queue, session_id)
        until = self.now + queue.settings.lock_duration
        queue.sessions[session_id] = Hold(connection=connection, until=until)

    def accept_next(self, queue: Queue, connection: str) -> Outcome:
        """Lock the session of the oldest message that can be had, if there is one."""
        if not queue.settings.requires_session:
            return Refused(error=Error.INVALID_OPERATION)
        for held in queue.messages:
            session_id = held.message.session_id
            if session_id is None or not self.is_reachable(queue, held, connection):
                continue
            if self.may_be_next(queue, session_id):
                self.give_session(queue, session_id, connection)
                return SessionAccepted(session_id=session_id)
        return Empty()

    def may_be_next(self, queue: Queue, session_id: str) -> bool:
        """Whether nobody holds the session."""
        return session_id not in queue.sessions

    def renew_session(self, queue: Queue, session_id: str, connection: str) -> Outcome:
        """Let the lock of a session and of its messages begin anew."""
        if not self.holds_session(queue, session_id, connection):
            return _LOST
        until = self.now + queue.settings.lock_duration
        queue.sessions[session_id] = Hold(connection=connection, until=until)
        for held in self.locked_in(queue, session_id):
            self.prolong(held, until)
        return Renewed(locked_until=until)

    def prolong(self, held: Held, until: int) -> None:
        """Let a message's lock end with its session's."""
        if held.lock is not None:
            held.lock = attrs.evolve(held.lock, until=until)

    def set_state(self, queue: Queue, command: SetSessionState, connection: str) -> Outcome:
        """Store a text with a session, or remove it."""
        if not self.may_use_state(queue, command.session_id, connection):
            return _LOST
        self.keep_state(queue, command.session_id, command.state)
        return _DONE

    def keep_state(self, queue: Queue, session_id: str, state: str | None) -> None:
        """Store the text in place of the one before."""
        if state is None:
            queue.states.pop(session_id, None)
        else:
            queue.states[session_id] = state

    def get_state(self, queue: Queue, command: GetSessionState, connection: str) -> Outcome:
        """Tell what is stored with a session."""
        if not self.may_use_state(queue, command.session_id, connection):
            return _LOST
        return SessionState(state=self.state_of(queue, command.session_id))

    def state_of(self, queue: Queue, session_id: str) -> str | None:
        """What is stored with a session."""
        return queue.states.get(session_id)

    def may_use_state(self, queue: Queue, session_id: str, connection: str) -> bool:
        """Whether this connection may get and set the session's state: only if it holds it."""
        return self.holds_session(queue, session_id, connection)

    def peek_session(self, queue: Queue, command: Peek) -> Peeked:
        """Show the oldest messages of one session."""
        there = [held for held in queue.messages if held.partition not in queue.down]
        shown = [held for held in there if self.belongs(held, command.session_id)]
        shown = sorted(shown, key=lambda held: held.number)[: command.count]
        return Peeked(messages=tuple(self.view(queue, held) for held in shown))

    def belongs(self, held: Held, session_id: str | None) -> bool:
        """Whether the message is of the session that is peeked at."""
        return held.message.session_id == session_id

    def sessions_of(self, queue: Queue) -> set[str]:
        """The sessions that have messages or a state."""
        with_messages = {held.message.session_id for held in queue.messages}
        return {each for each in (*with_messages, *queue.states) if each is not None}

    def is_session_free(self, queue: Queue, session_id: str, connection: str) -> bool:
        """Whether no other connection holds the session."""
        return session_id not in queue.sessions or self.holds_session(queue, session_id, connection)

    def close_session(self, queue: Queue, session_id: str, connection: str) -> Outcome:
        """Free a session that this connection holds."""
        if not self.holds_session(queue, session_id, connection):
            return _LOST
        for held in self.locked_in(queue, session_id):
            self.uncount(held)
        self.free_session(queue, session_id)
        del queue.sessions[session_id]
        return _DONE

    def uncount(self, held: Held) -> None:
        """Forget a delivery that ended with the closing of its session."""
        held.deliveries -= 1

    def free_session(self, queue: Queue, session_id: str) -> None:
        """Give all messages back that are locked in the session."""
        for held in self.locked_in(queue, session_id):
            self.give_back(queue, held)

    def locked_in(self, queue: Queue, session_id: str) -> list[Held]:
        """The messages that are locked in the session."""
        return [
            held
            for held in queue.messages
            if held.lock is not None and held.lock.session_id == session_id
        ]
