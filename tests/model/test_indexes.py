"""Lines without messages, and time that passes while nothing is due."""

import gc
import weakref

import attrs
from model_driver import DEFAULT_PROFILE, SECOND, Bus

from busproof import vocabulary as v
from busproof.broker.direct_actions import rest
from busproof.model import new_namespace
from busproof.model.indexes import Line
from busproof.model.life_cycle import State
from busproof.model.step import dissolve, step


@attrs.define(eq=False)
class Numbered:
    """An available item of a line."""

    number: int
    state: State = State.ACTIVE


def test_line_without_messages_offers_none() -> None:
    assert [] == list(Line().available({}))


def test_time_that_passes_between_steps_is_not_undone() -> None:
    namespace = new_namespace(DEFAULT_PROFILE)
    rest(namespace, 5 * SECOND)
    assert 5 * SECOND == namespace.now
    assert not namespace.journal.log


def test_lock_ends_by_the_time_that_has_passed_between_steps() -> None:
    bus = Bus()
    bus.create(lock_duration=10 * SECOND)
    bus.send("m")
    bus.receive()
    rest(bus.namespace, 9 * SECOND)
    assert [] == bus.bodies()
    bus.wait(1)
    assert ["m"] == bus.bodies()


def test_a_record_that_comes_again_replaces_the_one_with_its_number() -> None:
    """Each attempt that is undone would leave a stale entry, in an index that nobody tidies."""
    line = Line[Numbered]()
    first = Numbered(1)
    again = Numbered(1)
    line.append(first)
    line.append(again)
    assert [again] == list(line.available({1: again}))
    assert ([again], [again]) == (line.order, list(line.arrived))


def test_a_locked_message_of_a_session_is_locked_there_again_once_a_step_is_undone() -> None:
    """Its holder's next settlement would not find it."""
    bus = Bus()
    bus.create(requires_session=True)
    bus.send("m", session_id="s")
    bus.done(v.AcceptSession(queue="q", session_id="s"))
    bus.done(v.Receive(queue="q", session_id="s"))
    (session,) = bus.namespace.entities["q"].sessions.values()
    (locked,) = session.locked.values()
    complete = v.Complete(queue="q", lock_token=locked.token)
    step(bus.namespace, complete, "c1", bus.choices, keep=True)
    assert not session.locked
    bus.namespace.journal.undo()
    assert [locked] == list(session.locked.values())


def test_a_dissolved_namespace_is_free_at_once() -> None:
    """Without the garbage collector, whatever has happened in it."""
    bus = Bus()
    bus.create(requires_session=True)
    bus.send("m", session_id="s")
    bus.done(v.AcceptSession(queue="q", session_id="s"))
    bus.done(v.Receive(queue="q", session_id="s"))
    seen = [weakref.ref(one) for one in (bus.namespace, *bus.namespace.entities.values())]
    gc.disable()
    try:
        dissolve(bus.namespace)
        del bus
        assert [None] * len(seen) == [each() for each in seen]
    finally:
        gc.enable()
