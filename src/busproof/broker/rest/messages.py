"""Message operations over HTTP: send, receive, settle and renew."""

from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import quote

from busproof import vocabulary as v
from busproof.broker.amqp.dispositions import token_of
from busproof.broker.amqp.incoming_links import PARSED_AT_ONCE, sending_of, take_batch, take_one
from busproof.broker.amqp.refusals import Refusal, insist, not_found, too_large
from busproof.broker.auth.tokens import TokenError
from busproof.broker.bounds import number_in
from busproof.broker.core import Hub
from busproof.broker.direct_actions import find_locked
from busproof.broker.http_requests import Answer, Later, Request, Room
from busproof.broker.rest.addresses import Address, Operation
from busproof.broker.rest.errors import UNAUTHORIZED, answer_refusal
from busproof.broker.rest.polls import Poll, Polls, answer_of
from busproof.broker.rest.received_messages import write_date
from busproof.broker.rest.sent_messages import BATCH, read_batch, read_message

__all__ = ["Messages"]

WAIT: Final = "60"
"""How long a receive waits for a message if it does not say, in seconds."""
SENT: Final = Answer(201)
SETTLED: Final = Answer(200)
LOST: Final = "com.microsoft:message-lock-lost"
SHARE_OF_POLLS: Final = 2
"""Receives may wait on one of so many HTTP connections."""
FAILED: Final = 400

Done = TypeVar("Done")


class Messages:
    """The messages of entities, as clients over HTTP send and receive them.

    Args:
        hub: the broker's core.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._polls = Polls(hub.limits.http_connections // SHARE_OF_POLLS)

    def admit(self, head: Request, address: Address) -> Answer | Room:
        """Refuse a request by its head, or return the room for its body."""
        try:
            self._check(head, address)
        except Refusal as refusal:
            return self._refuse(head, refusal)
        if address.operation is not Operation.SEND:
            sentence = f"A request to {address.operation.value[0]} has no body."
            return Room(0, answer_refusal(Refusal("amqp:not-allowed", sentence, 413)))
        most = self._hub.max_message
        length = int(head.headers.get("content-length", "0"))
        return Room(most, answer_refusal(too_large(max(length, most + 1), most)))

    async def answer(self, request: Request, address: Address) -> Answer | Later:
        """Answer a request for a message operation."""
        try:
            path = self._check(request, address)
            return await self._answer_about(request, address, path)
        except Refusal as refusal:
            return self._refuse(request, refusal)
        except Exception as error:  # noqa: BLE001 - a failing request must not affect other clients
            self._hub.complain("a request over HTTP", error)
            return answer_refusal(
                Refusal("amqp:internal-error", "The broker failed on this request.", 500)
            )

    def _refuse(self, request: Request, refusal: Refusal) -> Answer:
        """Return the answer to a refused request, and log it."""
        # The frames of the traceback refer to the refusal.
        refusal.__traceback__ = None
        answer = answer_refusal(refusal)
        self._hub.journal.info(
            "http",
            peer=request.peer,
            method=request.method,
            path=request.target.partition("?")[0],
            status=answer.status,
        )
        return answer

    def _check(self, request: Request, address: Address) -> str:
        """Return the path of the entity, once the request is permitted.

        Raises:
            Refusal: the token does not permit it, or the entity does not exist or is disabled.
        """
        hub, right, wanted = self._hub, address.operation.right, address.path.lower()
        try:
            claim = hub.keys.claim(request.headers.get("authorization", ""), wanted, hub.wall())
        except TokenError as error:
            raise Refusal(UNAUTHORIZED, str(error), 401) from None
        if not claim.grants(right, claim.path, hub.wall()):
            sentence = f"The {right} claim is required for this operation on '{wanted}'."
            raise Refusal(UNAUTHORIZED, sentence, 401)
        path = hub.bus.path(address.path)
        # A bus other than the model may have entities that are unknown here, and refuses by itself.
        if hub.bus.is_trusted and hub.bus.entity(path) is None:
            raise not_found(path)
        hub.statuses.check(right, path)
        return path

    async def _answer_about(self, request: Request, address: Address, path: str) -> Answer | Later:
        client = f"http-{self._hub.era}{request.connection}"
        if address.operation is Operation.SEND:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            send = self._send_batch if kind == BATCH else self._send
            await self._carry_out(send(request, path, client))
            return SENT
        if address.operation in (Operation.PEEK_LOCK, Operation.RECEIVE_AND_DELETE):
            return await self._receive(request, address, path, client)
        settle = partial(self._settle, address, path, client)
        return await self._take(settle)

    async def _take(self, act: Callable[[], Done]) -> Done:
        """Do something in a turn, after which links and receives that wait are served."""
        done: Awaitable[Done] = self._hub.rota.take(act)
        result = await done
        self._hub.schedule_serving()
        return result

    async def _carry_out(self, steps: Generator[bool, None, None]) -> None:
        """Carry out a request step by step, with turns of others in between."""
        while await self._take(lambda: next(steps, None)) is not None:
            pass

    def _send(self, request: Request, path: str, client: str) -> Generator[bool, None, None]:
        hub = self._hub
        self._take_message(read_message(request, hub.now_ms()), path, client)
        yield from ()

    def _take_message(self, raw: bytes, path: str, client: str) -> None:
        hub = self._hub
        self._check_size(raw)
        hub.check_room()
        take_one(hub, path, self._parse(raw), client)

    def _send_batch(self, request: Request, path: str, client: str) -> Generator[bool, None, None]:
        hub = self._hub
        raws = yield from read_batch(request.body, hub.limits.batch, hub.now_ms())
        contents, commands = [], []
        for raw in raws:
            self._check_size(raw)
            parsed = self._parse(raw)
            contents.append(parsed.content_when_due())
            commands.append(sending_of(hub, path, parsed))
            if len(contents) % PARSED_AT_ONCE == 0:
                yield False
        # While it was read, others had turns.
        hub.statuses.check("Send", path)
        hub.check_room()
        take_batch(hub, path, commands, contents, client)

    def _check_size(self, raw: bytes) -> None:
        if len(raw) > (most := self._hub.max_message):
            raise too_large(len(raw), most)

    def _parse(self, raw: bytes) -> Any:
        try:
            return self._hub.parse_message(raw)
        except ValueError as error:
            raise Refusal("com.microsoft:argument-error", f"{error}.") from None

    async def _receive(
        self, request: Request, address: Address, path: str, client: str
    ) -> Answer | Later:
        seconds = self._seconds(address)
        locks = address.operation is Operation.PEEK_LOCK
        mode = v.ReceiveMode.PEEK_LOCK if locks else v.ReceiveMode.RECEIVE_AND_DELETE
        command = v.Receive(queue=path, mode=mode)
        # A header has ASCII only, and the client's name of this host may have anything.
        base = request.base if request.base.isascii() else ""
        messages = f"{base}/{quote(path, safe='/$')}/messages"
        if seconds == 0:
            return await self._take(partial(self._receive_now, command, client, messages))
        poll = Poll(self._hub, command, client, messages)
        if await self._take(poll.serve):
            self._polls.check_room()
            self._polls.begin(poll, seconds)
        return Later(poll.answer)

    def _receive_now(self, command: v.Receive, client: str, messages: str) -> Answer:
        hub = self._hub
        return answer_of(hub, hub.bus.ask(command, client), command.queue, messages)

    def _seconds(self, address: Address) -> int:
        try:
            return number_in("timeout", address.query.get("timeout", WAIT))
        except ValueError as error:
            raise Refusal("com.microsoft:argument-error", f"{error}.") from None

    def _settle(self, address: Address, path: str, client: str) -> Answer:
        """Complete or unlock a locked message, or renew its lock."""
        if address.token is None:
            raise AssertionError("the address of a locked message has a lock token")
        hub, token = self._hub, token_of(address.token)
        queued = find_locked(hub.bus.entity(path), token) if hub.bus.is_trusted else None
        if queued is not None:
            known = {str(queued.number), queued.message.message_id}
            if address.message not in known:
                sentence = f"The lock is not of a message {address.message[:80]!r}."
                raise Refusal(LOST, sentence, 404)
        if address.operation is Operation.RENEW:
            return self._renew(v.RenewLock(queue=path, lock_token=token), client)
        kind = v.Complete if address.operation is Operation.COMPLETE else v.Abandon
        insist(hub.bus.ask(kind(queue=path, lock_token=token), client), path)
        return SETTLED

    def _renew(self, command: v.RenewLock, client: str) -> Answer:
        bus = self._hub.bus
        answer = bus.ask(command, client)
        insist(answer, command.queue)
        outcome = answer.outcome
        if not isinstance(outcome, v.Renewed) or outcome.locked_until is None:
            return SETTLED
        until = write_date(bus.epoch_ms(outcome.locked_until))
        said = f'{{"LockedUntilUtc": "{until}"}}'
        return Answer(200, headers=(("BrokerProperties", said),))
