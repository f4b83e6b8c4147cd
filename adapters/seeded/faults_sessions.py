"""Faults of sessions: the SESS rules."""

from collections.abc import Sequence

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.placing import SESSION_ID
from busproof.adapters.seeded.queues import Held, Queue, Staged, Transaction
from busproof.vocabulary.commands import BringPartitionUp, Receive, TakePartitionDown
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Empty, Outcome, Refused, Renewed
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("sessionless-given", "SESS-01", "A message without SessionId is given to every session.")
class _SessionlessGiven(SeededBus):
    def lacks_session(self, queue: Queue, message: Message) -> bool:  # noqa: ARG002 - never
        return False

    def offered(self, queue: Queue, session_id: str | None, connection: str) -> Sequence[Held]:
        strays = [
            held
            for held in queue.messages
            if held.message.session_id is None and self.is_free(held) and session_id is not None
        ]
        return [*strays, *super().offered(queue, session_id, connection)]


@faulty("received-in-no-session", "SESS-02", "A receive without session finds nothing, politely.")
class _ReceivedInNoSession(SeededBus):
    def receive(self, queue: Queue, command: Receive, connection: str) -> Outcome:
        if queue.settings.requires_session and command.session_id is None:
            return Empty()
        return super().receive(queue, command, connection)


@faulty("empty-session-refused", "SESS-03", "A session without messages cannot be accepted.")
class _EmptySessionRefused(SeededBus):
    def is_session_free(self, queue: Queue, session_id: str, connection: str) -> bool:
        there = any(held.message.session_id == session_id for held in queue.messages)
        return there and super().is_session_free(queue, session_id, connection)


@faulty(
    "session-closed-to-others", "SESS-03", "A session belongs to its first connection for ever."
)
class _SessionClosedToOthers(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.owners: dict[tuple[str, str], str] = {}

    def is_session_free(self, queue: Queue, session_id: str, connection: str) -> bool:
        owner = self.owners.setdefault((queue.name, session_id), connection)
        return owner == connection and super().is_session_free(queue, session_id, connection)


@faulty("other-session-given", "SESS-04", "A receiver is given the oldest message of any session.")
class _OtherSessionGiven(SeededBus):
    def offered(self, queue: Queue, session_id: str | None, connection: str) -> Sequence[Held]:
        return super().offered(queue, None if len(queue.sessions) > 1 else session_id, connection)


@faulty("later-messages-held-back", "SESS-05", "A holder is given what was there when it came.")
class _LaterMessagesHeldBack(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.seen: dict[tuple[str, str], int] = {}

    def give_session(self, queue: Queue, session_id: str, connection: str) -> None:
        super().give_session(queue, session_id, connection)
        self.seen[queue.name, session_id] = queue.arrivals

    def offered(self, queue: Queue, session_id: str | None, connection: str) -> Sequence[Held]:
        found = super().offered(queue, session_id, connection)
        if session_id is None:
            return found
        return [held for held in found if held.number <= self.seen[queue.name, session_id]]


@faulty("next-session-missed", "SESS-06", "The next session is none while any session is held.")
class _NextSessionMissed(SeededBus):
    def accept_next(self, queue: Queue, connection: str) -> Outcome:
        return Empty() if queue.sessions else super().accept_next(queue, connection)


@faulty("next-session-held", "SESS-07", "The next session may be one that another holds.")
class _NextSessionHeld(SeededBus):
    def may_be_next(self, queue: Queue, session_id: str) -> bool:  # noqa: ARG002 - held or not
        return True


@faulty("closing-keeps-locks", "SESS-08", "Messages stay locked when their session is closed.")
class _ClosingKeepsLocks(SeededBus):
    def free_session(self, queue: Queue, session_id: str) -> None:
        """Nothing is given back."""


@faulty("closing-reorders", "SESS-08", "What a closed session gives back comes last.", deep=True)
class _ClosingReorders(SeededBus):
    def free_session(self, queue: Queue, session_id: str) -> None:
        locked = self.locked_in(queue, session_id)
        super().free_session(queue, session_id)
        for held in locked:
            if held in queue.messages:
                queue.messages.remove(held)
                queue.messages.append(held)


@faulty("closing-counts", "SESS-09", "A delivery that ends with a closed session counts.")
class _ClosingCounts(SeededBus):
    def uncount(self, held: Held) -> None:
        """It stays counted."""


@faulty("expiry-not-counted", "SESS-10", "A delivery that ends with a session's lock is forgotten.")
class _ExpiryNotCounted(SeededBus):
    def expire(self, queue: Queue, held: Held) -> None:
        if held.lock is not None and held.lock.session_id is not None:
            held.deliveries -= 1
        super().expire(queue, held)


@faulty("session-never-expires", "SESS-11", "A session's lock lasts until it is closed.")
class _SessionNeverExpires(SeededBus):
    def end_what_is_over(self, queue: Queue) -> None:
        for session_id, hold in list(queue.sessions.items()):
            queue.sessions[session_id] = attrs.evolve(hold, until=self.now + 1)
            for held in self.locked_in(queue, session_id):
                self.prolong(held, self.now + 1)
        super().end_what_is_over(queue)


@faulty("lost-session-read", "SESS-12", "A receiver reads on after its session's lock has expired.")
class _LostSessionRead(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.latest: dict[tuple[str, str], str] = {}

    def give_session(self, queue: Queue, session_id: str, connection: str) -> None:
        super().give_session(queue, session_id, connection)
        self.latest[queue.name, session_id] = connection

    def may_read_session(self, queue: Queue, session_id: str, connection: str) -> bool:
        lost = session_id not in queue.sessions
        mine = self.latest.get((queue.name, session_id)) == connection
        return (lost and mine) or super().may_read_session(queue, session_id, connection)


@faulty(
    "lost-session-other-error", "SESS-12", "A renewal that comes too late is an invalid operation."
)
class _LostSessionOtherError(SeededBus):
    def renew_session(self, queue: Queue, session_id: str, connection: str) -> Outcome:
        if not self.holds_session(queue, session_id, connection):
            return Refused(error=Error.INVALID_OPERATION)
        return super().renew_session(queue, session_id, connection)


@faulty("renewal-ignored", "SESS-13", "A renewal is accepted and changes nothing.")
class _RenewalIgnored(SeededBus):
    def renew_session(self, queue: Queue, session_id: str, connection: str) -> Outcome:
        if not self.holds_session(queue, session_id, connection):
            return super().renew_session(queue, session_id, connection)
        return Renewed(locked_until=self.now + queue.settings.lock_duration)


@faulty(
    "renewal-forgets-messages", "SESS-14", "A renewal keeps the session and loses its messages."
)
class _RenewalForgetsMessages(SeededBus):
    def prolong(self, held: Held, until: int) -> None:
        """The message's lock ends as it would have."""


@faulty("abandoned-comes-last", "SESS-15", "An abandoned message comes behind the others.")
class _AbandonedComesLast(SeededBus):
    def abandon(self, queue: Queue, held: Held) -> None:
        super().abandon(queue, held)
        if held in queue.messages:
            queue.messages.remove(held)
            queue.messages.append(held)


@faulty("state-empty-text", "SESS-16", "A session without state has an empty text for one.")
class _StateEmptyText(SeededBus):
    def state_of(self, queue: Queue, session_id: str) -> str | None:
        return queue.states.get(session_id, "")


@faulty("state-of-first", "SESS-17", "The first state that is set stays.")
class _StateOfFirst(SeededBus):
    def keep_state(self, queue: Queue, session_id: str, state: str | None) -> None:
        if state is None or session_id not in queue.states:
            super().keep_state(queue, session_id, state)


@faulty("state-not-cleared", "SESS-18", "Setting nothing leaves the state as it is.")
class _StateNotCleared(SeededBus):
    def keep_state(self, queue: Queue, session_id: str, state: str | None) -> None:
        if state is not None:
            super().keep_state(queue, session_id, state)


@faulty("state-dies-with-session", "SESS-19", "Closing a session removes its state.")
class _StateDiesWithSession(SeededBus):
    def close_session(self, queue: Queue, session_id: str, connection: str) -> Outcome:
        outcome = super().close_session(queue, session_id, connection)
        if isinstance(outcome, Done):
            queue.states.pop(session_id, None)
        return outcome


@faulty("state-lost-in-outage", "SESS-19", "An outage loses the states of its sessions.", deep=True)
class _StateLostInOutage(SeededBus):
    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        queue.states = {
            session_id: state
            for session_id, state in queue.states.items()
            if self.place_with_key(queue, (SESSION_ID, session_id)) != command.partition
        }
        return super().switch(queue, command)


@faulty("state-shared", "SESS-20", "All sessions of a queue share one state.")
class _StateShared(SeededBus):
    def keep_state(self, queue: Queue, session_id: str, state: str | None) -> None:
        for each in {session_id, *queue.sessions}:
            super().keep_state(queue, each, state)


@faulty("state-for-everybody", "SESS-21", "Any connection gets and sets the state.")
class _StateForEverybody(SeededBus):
    def may_use_state(self, queue: Queue, session_id: str, connection: str) -> bool:
        return session_id in queue.sessions or super().may_use_state(queue, session_id, connection)


@faulty("list-forgets-states", "SESS-22", "The list names sessions with messages only.")
class _ListForgetsStates(SeededBus):
    def sessions_of(self, queue: Queue) -> set[str]:
        return {each for each in super().sessions_of(queue) if each not in queue.states}


@faulty("list-remembers-all", "SESS-22", "The list names sessions that were ever held.")
class _ListRemembersAll(SeededBus):
    def sessions_of(self, queue: Queue) -> set[str]:
        return super().sessions_of(queue) | set(queue.sessions)


@faulty("peek-ignores-session", "SESS-23", "A peek in a session shows every session.")
class _PeekIgnoresSession(SeededBus):
    def belongs(self, held: Held, session_id: str | None) -> bool:  # noqa: ARG002 - any session
        return True


@faulty("outage-stops-sessions", "SESS-24", "While any partition is down, no session is given.")
class _OutageStopsSessions(SeededBus):
    def accept_session(self, queue: Queue, session_id: str, connection: str) -> Outcome:
        if queue.down:
            return Refused(error=Error.UNAVAILABLE)
        return super().accept_session(queue, session_id, connection)


@faulty("one-session-committed", "SESS-26", "A commit keeps the messages of its first session.")
class _OneSessionCommitted(SeededBus):
    def committed(self, transaction: Transaction) -> list[Staged]:
        staged = super().committed(transaction)
        return [each for each in staged if each.message.session_id == staged[0].message.session_id]


FAULTS = faulty.all()
