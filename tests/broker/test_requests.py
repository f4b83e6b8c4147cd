"""A request of as many things as it may have takes no more CPU than one turn of a client."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final, cast

import attrs
import pytest
from proton import UNDESCRIBED, Array, Data, Message, int32, symbol, timestamp
from work import TURN, check, count_calls, measure_passes

from busproof import vocabulary as v
from busproof.broker.amqp.dispositions import wire_token
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.management.operations import answerer
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.amqp.request_links import Reply, read_properties
from busproof.broker.amqp.session_links import SessionSeeker
from busproof.broker.amqp.unreadable import decode_completely
from busproof.broker.core import Hub
from busproof.broker.limits import ALL_DEFAULT

from .fuzz import fuzzing
from .inside import hub_of

COUNT: Final = ALL_DEFAULT.at_once
LATE: Final = timestamp(4_000_000_000_000)


QUEUES: Final = (
    v.CreateQueue(queue="q"),
    v.CreateQueue(queue="r", partitioned=False),
    v.CreateQueue(queue="s", requires_session=True),
    v.CreateQueue(queue="u", requires_session=True, partitioned=False),
)


def answered(answer: Reply | Generator[bool, None, Reply]) -> Reply:
    """The reply, once all steps are done."""
    while not isinstance(answer, Reply):
        try:
            next(answer)
        except StopIteration as end:
            return cast(Reply, end.value)
    return answer


@attrs.define
class Asked:
    """A client of a broker without sockets, whose requests are answered and measured."""

    connection: Connection
    passes: float = 0.0

    @property
    def hub(self) -> Hub:
        return self.connection.hub

    def ask(self, operation: str, body: Any, path: str = "q") -> Any:
        """The body that answers a request; decoding and encoding count."""
        properties = {"operation": f"com.microsoft:{operation}"}
        sent = Message(body=body, properties=properties, id="1").encode()
        replies: list[Reply] = []

        def answer() -> None:
            request = Message()
            request.decode(sent)
            replies.append(reply := answered(answerer(self.connection, path)(request, None)))
            Message(body=reply.body, properties={"statusCode": int32(reply.status)}).encode()

        self.passes = measure_passes(answer)
        return replies[0].body

    def hold(self, path: str, count: int, session: bool = False) -> None:
        """Send this many messages, each of another session if sessions are wanted."""
        for number in range(count):
            group = f"s{number:05}" if session else None
            parsed = self.hub.parse_message(Message(b"x", inferred=True, group_id=group).encode())
            self.hub.bus.ask(v.Send(queue=path, message=parsed.message), "c")
            self.hub.contents.keep(parsed.message.body, parsed.content)

    def locked(self, path: str, count: int) -> tuple[list[Any], list[int]]:
        """Lock tokens and sequence numbers of messages that were received."""
        bus, name = self.hub.bus, self.connection.name
        answers = [bus.ask(v.Receive(queue=path), name) for _ in range(count)]
        views = [each.outcome.message for each in answers if isinstance(each.outcome, v.Received)]
        tokens = [wire_token(each.lock_token or "") for each in views]
        return tokens, [each.sequence_number or 0 for each in views]


def asking(act: Callable[[Asked], None]) -> None:
    async def run() -> None:
        hub = hub_of(*QUEUES)
        connection, _ = fuzzing.met(hub, 1)
        connection.permits = lambda *_: True
        act(Asked(connection))
        connection.connection_lost(None)
        hub.close()

    asyncio.run(run())


def several(kind: int, values: Sequence[Any]) -> Array:
    none: Any = UNDESCRIBED
    return Array(none, kind, *values)


def schedule(client: Asked) -> float:
    message = Message(b"x", inferred=True)
    message.annotations = {symbol("x-opt-scheduled-enqueue-time"): LATE}
    raw = message.encode()
    client.ask("schedule-message", {"messages": [{"message": raw}] * COUNT})
    return client.passes


def cancel(client: Asked) -> float:
    message = Message(b"x", inferred=True)
    message.annotations = {symbol("x-opt-scheduled-enqueue-time"): LATE}
    raw = message.encode()
    answer = client.ask("schedule-message", {"messages": [{"message": raw}] * COUNT})
    client.ask("cancel-scheduled-message", {"sequence-numbers": answer["sequence-numbers"]})
    return client.passes


def renew(client: Asked) -> float:
    client.hold("r", COUNT)
    tokens = several(Data.UUID, client.locked("r", COUNT)[0])
    client.ask("renew-lock", {"lock-tokens": tokens}, "r")
    return client.passes


def settle(client: Asked) -> float:
    client.hold("r", COUNT)
    tokens = several(Data.UUID, client.locked("r", COUNT)[0])
    said = {"disposition-status": "suspended", "lock-tokens": tokens}
    client.ask("update-disposition", said, "r")
    return client.passes


def receive(client: Asked) -> float:
    client.hold("r", COUNT)
    tokens, numbers = client.locked("r", COUNT)
    said = {"disposition-status": "defered", "lock-tokens": several(Data.UUID, tokens)}
    client.ask("update-disposition", said, "r")
    said = {"sequence-numbers": several(Data.LONG, numbers), "receiver-settle-mode": 1}
    client.ask("receive-by-sequence-number", said, "r")
    return client.passes


def peek(client: Asked) -> float:
    client.hold("q", COUNT)
    client.ask("peek-message", {"from-sequence-number": 0, "message-count": 2**31 - 1})
    return client.passes


def list_sessions(client: Asked) -> float:
    client.hold("s", COUNT, session=True)
    client.ask("get-message-sessions", {"skip": 0, "top": 2**31 - 1}, "s")
    return client.passes


REQUESTS: Final = (schedule, cancel, renew, settle, receive, peek, list_sessions)


@pytest.mark.slow
@pytest.mark.parametrize("measured", REQUESTS)
def test_request_of_as_many_as_it_may_have_takes_one_turn(
    measured: Callable[[Asked], float],
) -> None:
    def measure() -> float:
        passes: list[float] = []
        asking(lambda client: passes.append(measured(client)))
        return passes[0]

    check(TURN, measure)


def test_request_whose_properties_are_not_a_map_is_refused() -> None:
    """A number, as a client library would not write it."""
    raw = b"\x00\x53\x74\x53\x07\x00\x53\x77\x40"
    with pytest.raises(Refusal, match="not a map"):
        read_properties(decode_completely(raw))


@pytest.mark.parametrize("path", ["r", "u"])
def test_messages_to_delete_are_looked_for_in_slices(path: str) -> None:
    def ask(client: Asked) -> None:
        client.hold(path, 1, session=path == "u")
        now = client.hub.now_ms()
        client.hub.bus.epoch += 10_000_000
        client.hold(path, 10_500, session=path == "u")
        said = {"message-count": 10, "enqueued-time-utc": timestamp(now)}
        request = Message(
            body=said, properties={"operation": "com.microsoft:batch-delete-messages"}, id="1"
        )
        steps = answerer(client.connection, path)(request, None)
        assert not isinstance(steps, Reply)
        assert len([next(steps), next(steps)]) == 2
        assert answered(steps).body == {"message-count": 1}
        assert len(client.hub.bus.find_entity(path).messages) == 10_500

    asking(ask)


def test_link_that_gets_no_session_in_time_is_refused_in_one_pump() -> None:
    async def run() -> int:
        hub = hub_of(*QUEUES)
        client = await fuzzing.seeking(hub, "s", milliseconds=60_000)
        (seeker,) = client.connection.links.values()
        assert isinstance(seeker, SessionSeeker)
        pumps: list[None] = []
        pump = client.connection.pump

        def counted() -> None:
            pumps.append(None)
            pump()

        client.connection.pump = counted
        seeker._give_up()
        assert b"No session became available" in client.wire.said
        client.connection.connection_lost(None)
        hub.close()
        return len(pumps)

    assert asyncio.run(run()) == 1


def test_cleared_session_state_and_deleted_entity_leave_nothing_behind() -> None:
    """However many sessions had a state, nothing is kept of the time at which it was set."""

    def ask(client: Asked) -> None:
        bus = client.hub.bus
        for number in range(3):
            session_id = f"s{number}"
            bus.ask(v.AcceptSession(queue="s", session_id=session_id), client.connection.name)
            said = {"session-id": session_id, "session-state": b"state"}
            client.ask("set-session-state", said, "s")
            if number:
                client.ask("set-session-state", said | {"session-state": None}, "s")
        assert [each[1] for each in client.hub.stated] == ["s0"]
        client.hub.forget("s")
        assert not client.hub.stated

    asking(ask)


def test_properties_added_by_settlements_are_bounded() -> None:
    """A message is deferred again and again, each time with one more property."""

    def ask(client: Asked) -> None:
        client.hold("r", 1)
        (token,), numbers = client.locked("r", 1)
        received = {"sequence-numbers": several(Data.LONG, numbers), "receiver-settle-mode": 1}
        for number in range(10):
            said = {
                "disposition-status": "defered",
                "lock-tokens": several(Data.UUID, [token]),
                "properties-to-modify": {f"k{number}": "x" * 20_000},
            }
            if number == 3:
                with pytest.raises(Refusal, match=r"80,0.. bytes .* at most 65,536"):
                    client.ask("update-disposition", said, "r")
                said["properties-to-modify"] = {"k0": "y" * 20_000}
                client.ask("update-disposition", said, "r")
                return
            client.ask("update-disposition", said, "r")
            token = client.ask("receive-by-sequence-number", received, "r")["messages"][0][
                "lock-token"
            ]

    asking(ask)


@pytest.mark.parametrize("place", [0, 2_500, None])
def test_peek_looks_for_a_session_in_slices(place: int | None) -> None:
    """In a queue without sessions, among many messages of none: 100,000 took longer than a turn."""

    def ask(client: Asked) -> None:
        for number in range(3_500):
            group = "s" if number == place else None
            parsed = client.hub.parse_message(Message(b"x", inferred=True, group_id=group).encode())
            client.hub.bus.ask(v.Send(queue="r", message=parsed.message), "c")
            client.hub.contents.keep(parsed.message.body, parsed.content)
        said = {"from-sequence-number": 0, "message-count": 5, "session-id": "s"}
        request = Message(body=said, properties={"operation": "com.microsoft:peek-message"}, id="1")
        steps = answerer(client.connection, "r")(request, None)
        assert isinstance(steps, Generator)
        slices = []
        reply: list[Reply] = []

        def go_on() -> None:
            try:
                next(steps)
            except StopIteration as end:
                reply.append(end.value)

        while not reply:
            slices.append(count_calls(go_on))
        assert len(slices) >= 2
        assert max(slices) < 5_000
        assert len((reply[0].body or {}).get("messages", ())) == (place is not None)

    asking(ask)
