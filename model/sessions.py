"""SESS: sessions, each held by one connection at a time.

On an entity that requires sessions, all messages of one SessionId go to the session's holder, in
order. A connection holds a session from `AcceptSession` or `AcceptNextSession` on, until it closes
the session or the lock ends. The lock is on the whole session: the messages that its holder
receives stay locked as long as the session, and renewing the session's lock is renewing theirs.

When the holder is gone, the messages that it has not settled are available again, in order. Whether
these deliveries count as failed depends on why: if the lock ended they do (SESS-10), if the holder
closed the session they do not (SESS-09). A session can have a state, a text that stays when its
holders and messages are gone.

A session needs no creation. It is there while it has messages, a holder or a state (SESS-22), and
`let_go` removes it when it has lost the last of the three. All its messages are in one partition,
that of its SessionId (KEY-04), so an outage of this partition is one of the session.

The documents are silent on several points. Each is a choice, named after the rule that it limits:

- closing a session that is not held: done or refused (SESS-08);
- the next session where none is free: empty or refused (SESS-07);
- a receive with a session where there are none: empty or refused (SESS-02);
- the list of sessions where there are none: empty or refused (FEAT-16);
- requests about a session whose partition is down: done or refused (SESS-25), and for the next
  session, found, empty or refused (NEXT-IN-OUTAGE);
- requests about sessions of a disabled entity: done or refused (MGMT-27).
"""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.model.ambiguities import NextInOutage
from busproof.model.answers import DONE, EMPTY, Answer
from busproof.model.family import Family, handles
from busproof.model.keys import SESSION_ID
from busproof.model.life_cycle import Action
from busproof.model.state import Entity, Session
from busproof.model.values import EntityKind, Key, Refusal, stated_again

__all__ = ["Sessions"]

OfHolder = v.CloseSession | v.RenewSessionLock | v.SetSessionState | v.GetSessionState


class Sessions(Family):
    """The rules of SESS."""

    def known(self, entity: Entity, name: str, partition: int) -> Session:
        """Return the session of this id, creating it if necessary."""
        session = entity.sessions.get(name)
        if session is None:
            session = Session(entity, name, partition)
            self.namespace.journal.put(entity.sessions, name, session)
        return session

    def let_go(self, session: Session) -> None:
        """SESS-22: remove a session that has no messages, no state and no holder."""
        if session.messages or session.state is not None or session.holder is not None:
            return
        # The release of its last message may have dead-lettered the message and removed the
        # session.
        if session.entity.sessions.get(session.name) is session:
            self.namespace.journal.drop(session.entity.sessions, session.name)
            # Otherwise only a receiver of the next session would drop it, who may never come.
            session.entity.free_sessions.pop(session, None)

    def of_receive(self, entity: Entity, name: str | None, connection: str) -> Session | None:
        """SESS-02, SESS-04, SESS-12: return the session of a receive, if it needs one."""
        if entity.settings.requires_session is not (name is not None):
            raise Refusal(v.Error.INVALID_OPERATION, "SESS-02")
        if name is None:
            return None
        return self.held(entity, name, connection)

    def looks_empty(self, entity: Entity, name: str | None, connection: str) -> bool:
        """SESS-02: return whether a receiver of the other kind finds nothing, instead of an error.

        The documents do not say what a receiver of a session is answered where there are none, nor
        one without a session whose connection holds one.
        """
        holds = any(session.holder == connection for session in entity.sessions.values())
        if name is None and not holds:
            return False
        return self.namespace.prefers("SESS-02", "empty", to="refused")

    def held(self, entity: Entity, name: str, connection: str) -> Session:
        """SESS-12, SESS-21: return the session of this name, if the connection holds it."""
        session = entity.sessions.get(name)
        if session is None or session.holder != connection:
            raise Refusal(v.Error.SESSION_LOCK_LOST, "SESS-12")
        return session

    @handles(v.AcceptSession)
    def accept(self, command: v.AcceptSession, connection: str) -> Answer:
        """SESS-03, LIFE-10: lock a session that no other connection holds, even an empty one."""
        entity = self.requiring_sessions(command.queue)
        session = entity.sessions.get(command.session_id)
        if session is not None and session.holder not in (None, connection):
            raise Refusal(v.Error.SESSION_CANNOT_BE_LOCKED, "LIFE-10")
        if session is None:
            partition = 0
            if entity.settings.partitioned:
                partition = self.rules.keys.home(entity, Key(SESSION_ID, command.session_id))
            session = self.known(entity, command.session_id, partition)
        self.rules.partitions.check_up(entity, session.partition, "SESS-25")
        self.hold(session, connection)
        of_topic = entity.kind is EntityKind.SUBSCRIPTION
        return Answer(DONE, rules=("SESS-03", "TOPIC-13") if of_topic else ("SESS-03",))

    def requiring_sessions(self, path: str) -> Entity:
        """SESS-02: return the entity with this path, which has to require sessions."""
        entity = self.rules.topics.usable(path)
        if not entity.settings.requires_session:
            raise Refusal(v.Error.INVALID_OPERATION, "SESS-02")
        return entity

    @handles(v.AcceptNextSession)
    def accept_next(self, command: v.AcceptNextSession, connection: str) -> Answer:
        """SESS-06, SESS-07: lock any session that has no holder and an available message.

        If there is none, the answer may be empty or a refusal. The documents do not say whether a
        session must be found in an outage (NEXT-IN-OUTAGE).
        """
        entity = self.requiring_sessions(command.queue)
        if entity.base.down:
            answers = ("found", "empty")
            if self.rules.partitions.answer_of(NextInOutage, "SESS-24", *answers) == "empty":
                return Answer(EMPTY, rules=("SESS-24",))
        if next(self.free(entity), None) is None:
            if self.namespace.prefers("SESS-07", "refused", to="empty"):
                raise Refusal(v.Error.SESSION_CANNOT_BE_LOCKED, "SESS-07")
            return Answer(EMPTY, rules=("SESS-07",))
        session = self.namespace.choices.pick("SESS-06", self.free(entity))
        self.hold(session, connection)
        return Answer(v.SessionAccepted(session_id=session.name), rules=("SESS-06",))

    def free(self, entity: Entity) -> Iterator[Session]:
        """SESS-06, SCHED-13: yield the sessions that have no holder and an available message."""
        down, index = entity.base.down, entity.free_sessions
        for _ in range(len(index)):
            session = next(iter(index))
            is_known = entity.sessions.get(session.name) is session
            if (
                not is_known
                or session.holder is not None
                or not session.line.first(entity.messages)
            ):
                del index[session]
                continue
            index.move_to_end(session)
            if session.partition not in down:
                yield session

    def hold(self, session: Session, connection: str) -> None:
        """SESS-03, SESS-11: lock a session for a connection, and release its earlier messages."""
        if session.holder is not None:
            # Its holder accepts it once more, which nothing is said of: the lock before has ended.
            self.give_back(session, counts=True)
        self.namespace.journal.touch(session)
        session.holder = connection
        self.prolong(session)

    def prolong(self, session: Session) -> None:
        """SESS-13: extend a session's lock to a full lock duration from now."""
        self.namespace.journal.touch(session)
        session.locked_until = self.namespace.now + session.entity.settings.lock_duration
        session.entity.look_at("sessions.end", session.locked_until, session, 0, session.name)

    def release(self, session: Session, *, counts: bool) -> None:
        """SESS-08, SESS-09, SESS-11: end the lock of a session, and release its messages."""
        self.namespace.journal.touch(session)
        session.holder = None
        self.give_back(session, counts=counts)
        session.entity.free_sessions[session] = None
        self.let_go(session)

    def give_back(self, session: Session, *, counts: bool) -> None:
        """SESS-08 to SESS-10: release all locked messages of a session, in order.

        `counts` is false if closing the session ends the deliveries, which then do not count.
        """
        for number in sorted(session.locked):
            queued = session.locked[number]
            if queued.token is None or not queued.is_there:
                # The entry is stale: the message was settled, or its lock undone.
                continue
            if not counts:
                self.namespace.journal.touch(queued)
                queued.failed -= 1
            self.rules.locks.release(queued, Action.LOCK_ENDS)
        session.locked.clear()

    def end(self, session: Session) -> None:
        """SESS-10, SESS-11: release a session whose lock has expired."""
        is_known = session.entity.sessions.get(session.name) is session
        if (
            is_known
            and session.holder is not None
            and self.namespace.has_passed(session.locked_until)
        ):
            self.release(session, counts=True)

    @handles(v.CloseSession)
    def close(self, command: v.CloseSession, connection: str) -> Answer:
        """SESS-08, SESS-09: release a session at its holder's request."""
        entity = self.rules.topics.usable(command.queue)
        session = entity.sessions.get(command.session_id)
        # Nothing is said of closing a session that is not held: it is closed already.
        held = session is not None and session.holder == connection
        if not held and self.namespace.prefers("SESS-08", "done", to="refused"):
            return Answer(DONE)
        session = self.held(entity, command.session_id, connection)
        self.rules.partitions.check_up(entity, session.partition, "SESS-25")
        self.release(session, counts=False)
        return Answer(DONE, rules=("SESS-08",))

    @handles(v.RenewSessionLock)
    def renew(self, command: v.RenewSessionLock, connection: str) -> Answer:
        """SESS-13: renew the lock of a session, and of the messages received in it."""
        session = self.own(command, connection)
        self.prolong(session)
        return Answer(v.Renewed(locked_until=session.locked_until), rules=("SESS-13",))

    @handles(v.SetSessionState)
    def set_state(self, command: v.SetSessionState, connection: str) -> Answer:
        """SESS-17, SESS-18, SESS-20, SIZE-13: set the state of a session, or remove it."""
        state = command.state
        session = self.own(command, connection)
        self.rules.limits.check_state(state)
        more = len(state or "") - len(session.state or "")
        if more:
            self.rules.sizes.charge(session.entity, session.partition, more)
        self.namespace.journal.touch(session)
        session.state = state
        return Answer(DONE, rules=("SESS-18" if state is None else "SESS-17",))

    @handles(v.GetSessionState)
    def get_state(self, command: v.GetSessionState, connection: str) -> Answer:
        """SESS-16, SESS-17, SESS-19: return the state of a session."""
        session = self.own(command, connection)
        rule = "SESS-16" if session.state is None else "SESS-17"
        return Answer(v.SessionState(state=session.state), rules=(rule,))

    def own(self, command: OfHolder, connection: str) -> Session:
        """SESS-12, SESS-21, SESS-25: return a session that the connection holds."""
        entity = self.rules.topics.usable(command.queue)
        is_of_state = isinstance(command, v.SetSessionState | v.GetSessionState)
        with stated_again({"SESS-12": "SESS-21"} if is_of_state else {}):
            session = self.held(entity, command.session_id, connection)
        self.rules.partitions.check_up(entity, session.partition, "SESS-25")
        return session

    @handles(v.ListSessions)
    def list_sessions(self, command: v.ListSessions, connection: str) -> Answer:
        """SESS-22, FEAT-16: return the names of sessions that have messages or a state."""
        entity = self.rules.topics.usable(command.queue)
        if not entity.settings.requires_session:
            # Nothing is said of an entity that requires no sessions: it has none, whatever its
            # messages name.
            if self.namespace.prefers("FEAT-16", "none", to="refused"):
                return Answer(v.SessionsListed(session_ids=()), rules=("FEAT-16",))
            raise Refusal(v.Error.INVALID_OPERATION, "SESS-02")
        if entity.base.down and self.namespace.prefers("LIFE-11", "refused", to="shown"):
            raise self.rules.partitions.outage("LIFE-11")
        named = entity.sessions.items()
        names = sorted(name for name, one in named if one.messages or one.state is not None)
        return Answer(v.SessionsListed(session_ids=tuple(names)), rules=("SESS-22",))
