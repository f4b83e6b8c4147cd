"""Receives over HTTP that wait for a message."""

import asyncio
from typing import Final
from uuid import UUID

from busproof import vocabulary as v
from busproof.broker.amqp.outgoing_links import outgoing
from busproof.broker.amqp.refusals import Refusal, refusal_of
from busproof.broker.core import Hub
from busproof.broker.http_requests import Answer
from busproof.broker.rest.errors import answer_refusal
from busproof.broker.rest.received_messages import answer_message
from busproof.model import Answer as Decided

__all__ = ["Poll", "Polls", "answer_of"]

NOTHING: Final = Answer(204)


def answer_of(hub: Hub, decided: Decided, path: str, address: str) -> Answer:
    """Return the answer to a receive that the bus has decided."""
    if (refusal := refusal_of(decided, path)) is not None:
        return answer_refusal(refusal)
    if not isinstance(decided.outcome, v.Received):
        return NOTHING
    view = decided.outcome.message
    message, token = outgoing(hub, path, view)
    return answer_message(message, None if token is None else UUID(bytes=token), address)


class Polls:
    """The receives that wait.

    Args:
        most: how many may wait at once. The others leave connections for all else that HTTP does.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0

    def check_room(self) -> None:
        """Check that another receive may wait.

        Raises:
            Refusal: as many wait as may.
        """
        if self._count >= self._most:
            sentence = f"{self._most:,} receives wait, and no more may: try again later."
            raise Refusal("com.microsoft:server-busy", sentence, 503)

    def begin(self, poll: "Poll", seconds: float) -> None:
        """Have a receive wait for so long."""
        self._count += 1
        poll.hub.wait(poll)
        timer = poll.hub.loop.call_later(seconds, poll.give_up)

        def end(_: asyncio.Future[Answer]) -> None:
            self._count -= 1
            timer.cancel()
            poll.hub.leave(poll)

        poll.answer.add_done_callback(end)


class Poll:
    """A receive over HTTP that waits for a message.

    Args:
        hub: the broker's core.
        command: the receive.
        client: the model's name for the client's connection.
        address: the address of the entity's messages.
    """

    def __init__(self, hub: Hub, command: v.Receive, client: str, address: str) -> None:
        self.hub = hub
        self.answer: asyncio.Future[Answer] = hub.loop.create_future()
        """The answer; cancelled if the client goes."""
        self._command = command
        self._client = client
        self._address = address

    @property
    def place(self) -> tuple[str, str | None]:
        """The entity whose messages the receive waits for, without a session."""
        return self._command.queue, None

    def serve(self) -> bool:
        """Take a message if there is one; return whether to go on waiting."""
        if self.answer.done():
            return False
        answers = self.hub.bus.receive_messages(self._command, 1, self._client)
        self.hub.note()
        for decided in answers:
            self.answer.set_result(answer_of(self.hub, decided, self._command.queue, self._address))
        return not answers

    def give_up(self) -> None:
        """Answer that no message came in time."""
        if not self.answer.done():
            self.answer.set_result(NOTHING)
