"""Lists of sessions: what they have, in slices between which others have turns."""

from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import attrs
import pytest
from proton import Message, timestamp
from work import TURN, check, measure_passes

from busproof import vocabulary as v
from busproof.broker.amqp.management.operations import answerer
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.amqp.request_links import Reply
from busproof.model.state import Session

from .test_requests import Asked, asking


@attrs.define
class Sliced:
    """An answer, with the most passes that a step of it took and the number of steps."""

    body: Any = None
    dearest: float = 0.0
    count: int = 0

    def run(self, client: Asked, said: dict[str, Any], meanwhile: Callable[[], object]) -> None:
        """Ask for a list of sessions; after each step others have a turn."""
        properties = {"operation": "com.microsoft:get-message-sessions"}
        request = Message(body=said, properties=properties, id="1")
        steps = answerer(client.connection, "s")(request, None)
        assert not isinstance(steps, Reply)
        while self.body is None:
            self.dearest = max(self.dearest, measure_passes(lambda: self._go_on(steps)))
            self.count += 1
            meanwhile()

    def _go_on(self, steps: Iterator[bool]) -> None:
        try:
            next(steps)
        except StopIteration as end:
            self.body = cast(Reply, end.value).body

    @property
    def names(self) -> list[str]:
        return list(self.body["sessions-ids"].elements)


EVERY: Final[dict[str, Any]] = {"skip": 0, "top": 2**31 - 1}
"""The page of all sessions, from the first on."""
SINCE: Final[dict[str, Any]] = {**EVERY, "last-updated-time": timestamp(1)}
"""The page of those whose state was set."""


def hold(client: Asked, names: list[str]) -> dict[str, Session]:
    """The sessions of a queue, each with a message."""
    entity = client.hub.bus.find_entity("s")
    entity.sessions.update({name: Session(entity, name, 0, messages=1) for name in names})
    return entity.sessions


@pytest.mark.parametrize("said", [EVERY, SINCE])
def test_sessions_are_listed_in_slices(said: dict[str, Any]) -> None:
    """Of many, the page has the first in order of their names, also if some leave meanwhile."""

    def ask(client: Asked) -> None:
        client.hub.stated.update({("s", f"s{number:05}"): 2 for number in range(12_000, 0, -1)})
        sessions = hold(client, [f"s{number:05}" for number in range(12_000)])
        answer = Sliced()

        def leave() -> None:
            sessions.pop("s11999", None)
            client.hub.stated.pop(("s", "s12000"), None)

        answer.run(client, {**said, "skip": 9_000}, leave)
        # Two while they are looked at, one in their order.
        assert answer.count > 3
        first = 9_000 + (said is SINCE)
        assert answer.names == [f"s{number:05}" for number in range(first, first + 1_000)]

    asking(ask)


@pytest.mark.slow
@pytest.mark.parametrize("said", [EVERY, SINCE])
def test_no_step_of_a_list_of_many_sessions_is_long(said: dict[str, Any]) -> None:
    """200,000 with names in no order."""

    def ask(client: Asked) -> None:
        names = [f"{number * 7_919 % 200_003:06}" for number in range(200_000)]
        client.hub.stated.update({("s", name): 2 for name in names})
        hold(client, names)

        def measure() -> float:
            answer = Sliced()
            answer.run(client, {**said, "skip": 150_000}, lambda: None)
            assert answer.names[0] == sorted(names)[150_000]
            return answer.dearest

        check(TURN, measure)

    asking(ask)


def test_list_of_sessions_is_refused_as_by_the_model() -> None:
    """Of a queue without sessions, of one that is disabled, of one that is gone."""

    def ask(client: Asked) -> None:
        def condition(path: str) -> str:
            with pytest.raises(Refusal) as refused:
                client.ask("get-message-sessions", EVERY, path)
            return refused.value.condition

        assert condition("q") == "amqp:not-allowed"
        client.hub.bus.ask(v.DeleteQueue(queue="u"), "c")
        assert condition("u") == "amqp:not-found"
        client.hub.bus.ask(v.UpdateQueue(queue="s", status=v.EntityStatus.RECEIVE_DISABLED), "c")
        assert condition("s") == "com.microsoft:entity-disabled"

    asking(ask)


def test_list_of_sessions_has_a_thousand_at_most() -> None:
    def ask(client: Asked) -> None:
        hold(client, [f"s{number:05}" for number in range(1_002)])
        said = {"skip": 0, "top": 2**31 - 1}
        first = client.ask("get-message-sessions", said, "s")
        assert first["skip"] == 1_000
        rest = client.ask("get-message-sessions", said | {"skip": first["skip"]}, "s")
        assert list(rest["sessions-ids"].elements) == ["s01000", "s01001"]

    asking(ask)
