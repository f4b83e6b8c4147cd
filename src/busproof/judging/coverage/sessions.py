"""SESS: sessions, their holders and their states."""

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage, Delivery, coverage_of
from busproof.model.answers import Answer
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, Session

__all__ = [
    "SeenSessions",
    "has_lost",
    "of_accepted",
    "of_delivery",
    "of_got_state",
    "of_none_accepted",
    "of_refusal",
]


class SeenSessions(Sessions):
    """Observer of sessions."""

    def hold(self, session: Session, connection: str) -> None:
        """SESS-05: note since when a session is held."""
        coverage = coverage_of(self)
        notes = coverage.at(session.entity)
        renewed = ("renewed", session.name)
        held = notes.sessions.get(session.name)
        coverage.noted["held before"] = held
        super().hold(session, connection)
        coverage.journal.put(notes.sessions, session.name, (connection, notes.arrivals))
        if renewed in notes.sessions:
            coverage.journal.drop(notes.sessions, renewed)

    def release(self, session: Session, *, counts: bool) -> None:
        """SESS-19: note that a session's state has survived its holder."""
        coverage = coverage_of(self)
        notes = coverage.at(session.entity)
        super().release(session, counts=counts)
        if not counts and session.name in notes.sessions:
            coverage.journal.drop(notes.sessions, session.name)
        if session.state is not None:
            coverage.journal.put(notes.sessions, ("kept", session.name), True)

    def give_back(self, session: Session, *, counts: bool) -> None:
        """SESS-08, SESS-11: tell why messages are released."""
        noted = coverage_of(self).noted
        noted["release"] = "SESS-11" if counts else "SESS-08"
        super().give_back(session, counts=counts)
        del noted["release"]

    def renew(self, command: v.RenewSessionLock, connection: str) -> Answer:
        """SESS-13: note that a session's lock was renewed."""
        answer = super().renew(command, connection)
        coverage = coverage_of(self)
        entity = self.namespace.entities[command.queue]
        notes = coverage.at(entity)
        coverage.journal.put(notes.sessions, ("renewed", command.session_id), True)
        return answer

    def set_state(self, command: v.SetSessionState, connection: str) -> Answer:
        """SESS-16: note that a state was set, and has not survived anything yet."""
        answer = super().set_state(command, connection)
        coverage = coverage_of(self)
        notes = coverage.at(self.namespace.entities[command.queue])
        coverage.journal.put(notes.sessions, ("set", command.session_id), True)
        coverage.journal.put(notes.sessions, ("kept", command.session_id), False)
        return answer


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """SESS-04, SESS-05, SESS-09, SESS-10, SESS-15, SESS-24: show the rules on a delivery."""
    session, entity, released = one.queued.session, one.entity, one.notes.released
    if session is None:
        return
    others = any(other.holder not in (None, session.holder) for other in entity.sessions.values())
    held = one.of_entity.sessions.get(session.name)
    fresh = held is not None and one.notes.place >= held[1] and released is None
    counted = one.again and one.queued.token is not None
    coverage.show_if(
        (one.dark and session.partition not in entity.base.down, "SESS-24"),
        (released == "LIFE-04", "SESS-15"),
        (others, "SESS-04"),
        (fresh and coverage.event.connection == session.holder, "SESS-05"),
        (counted and released == "SESS-08", "SESS-09"),
        (counted and released == "SESS-11", "SESS-10"),
    )


def of_accepted(coverage: Coverage, entity: Entity, name: str) -> None:
    """SESS-03, SESS-11, SESS-24, SESS-25, LIFE-10: show the rules on an accepted session."""
    session = entity.sessions.get(name)
    down = entity.base.down
    before = coverage.noted.get("held before")
    passed_on = before is not None and before[0] != coverage.event.connection
    coverage.show_if(
        (down and session is not None and session.partition in down, "SESS-25"),
        (down and session is not None and session.partition not in down, "SESS-24"),
        (before is None, "SESS-03"),
        (passed_on, "SESS-11"),
        (passed_on, "LIFE-10"),
    )


def of_none_accepted(coverage: Coverage, entity: Entity) -> None:
    """SESS-07, SCHED-13: show the rules on an answer that no session is free."""
    waits = any(
        one.message.session_id is not None and one.due > coverage.now
        for one in entity.scheduled.values()
    )
    coverage.show_if((waits, "SCHED-13"))


def has_lost(coverage: Coverage) -> bool:
    """SESS-12: return whether the connection held the session of its request, and lost it."""
    name = getattr(coverage.command, "session_id", None)
    entity = coverage.entity
    if name is None or entity is None or isinstance(coverage.command, v.CloseSession):
        return False
    held = coverage.at(entity).sessions.get(name)
    return held is not None and bool(held[0] == coverage.event.connection)


def of_refusal(coverage: Coverage, entity: Entity, command: v.AcceptSession) -> None:
    """SESS-13: show that a renewed lock of a session lasts."""
    renewed = coverage.at(entity).sessions.get(("renewed", command.session_id))
    coverage.show_if((renewed, "SESS-13"))


def of_got_state(coverage: Coverage, entity: Entity, name: str, state: str | None) -> None:
    """SESS-16 to SESS-20: show the rules on the state of a session."""
    notes = coverage.at(entity)
    was_set = notes.sessions.get(("set", name))
    others = any(one.state for other, one in entity.sessions.items() if other != name)
    coverage.show_if(
        (was_set and notes.sessions.get(("kept", name)), "SESS-19"),
        (others, "SESS-20"),
        (not was_set, "SESS-16"),
        (was_set and state is None, "SESS-18"),
        (was_set and state is not None, "SESS-17"),
    )
