"""One AMQP connection, as both of its directions show it: requests, and the answers to them."""

from collections.abc import Callable
from itertools import count
from typing import Any, Final

import attrs
from proton import Described

from busproof import vocabulary as v
from busproof.recorder import frames as f
from busproof.recorder import management
from busproof.recorder import outcomes as o
from busproof.recorder.desk import Desk
from busproof.recorder.frames import Frame, Unreadable
from busproof.recorder.links import (
    NEXT,
    AmqpSession,
    Delivery,
    Link,
    deliveries_in,
    outcome_of_settlement,
    read_session_filter,
    settlement_of,
    terminus_of,
    token_of,
)
from busproof.recorder.messages import Content, content_of, inner_messages
from busproof.recorder.names import MANAGEMENT, entity_of
from busproof.recorder.requests import Call

__all__ = ["Conversation"]

SENDS = False
RECEIVES = True
"""Role of a link, as its Attach has it."""
SETTLED: Final = 1
"""Settle mode of a sender whose messages are settled as they are sent."""
BATCH_FORMAT: Final = 0x80013700
NO_SESSION: Final = "com.microsoft:timeout"
COORDINATOR: Final = 0x30
DECLARE: Final = 0x31
DISCHARGE: Final = 0x32
EARLY: Final = 1_000_000
"""How much earlier than we see it a service may have ended a link, in microseconds."""


class Conversation:
    """A recorder of one connection.

    Args:
        desk: what all connections share.
        name: the connection's name in the history.
    """

    def __init__(self, desk: Desk, name: str) -> None:
        self._desk = desk
        self._journal = desk.journal
        self._name = name
        self._asked = f.Splitter()
        self._answered = f.Splitter()
        self._ours: dict[int, AmqpSession] = {}
        self._theirs: dict[int, AmqpSession] = {}
        self._links = count(1)
        self._transactions: dict[bytes, str] = {}
        self._requests: dict[Any, management.Request] = {}
        self.is_closing = False
        """Whether the client has said that it closes the connection."""
        self._is_over = False
        self._ask: dict[int, Callable[[Frame], None]] = {
            f.BEGIN: self._note_begin_of_client,
            f.ATTACH: self._note_attach_of_client,
            f.FLOW: self._note_flow_of_client,
            f.TRANSFER: self._note_transfer_of_client,
            f.DISPOSITION: self._note_disposition_of_client,
            f.DETACH: self._note_detach_of_client,
            f.CLOSE: self._note_close_of_client,
        }
        self._answer: dict[int, Callable[[Frame], None]] = {
            f.BEGIN: self._note_begin_of_service,
            f.ATTACH: self._note_attach_of_service,
            f.FLOW: self._note_flow_of_service,
            f.TRANSFER: self._note_transfer_of_service,
            f.DISPOSITION: self._note_disposition_of_service,
            f.DETACH: self._note_detach_of_service,
            f.END: self._note_end_of_service,
            f.CLOSE: self._note_close_of_service,
        }

    def take_from_client(self, data: bytes) -> None:
        """Take bytes of the client, before they are passed on.

        Raises:
            Unreadable: they are not AMQP.
        """
        for frame in self._asked.feed(data):
            self.take(frame, by_client=True)

    def take_from_service(self, data: bytes) -> None:
        """Take bytes of the service, before they are passed on.

        Raises:
            Unreadable: they are not AMQP.
        """
        for frame in self._answered.feed(data):
            self.take(frame, by_client=False)

    def take(self, frame: Frame, *, by_client: bool) -> None:
        """Take a frame, of the client or of the service.

        Raises:
            Unreadable: its values make no sense here.
        """
        handler = (self._ask if by_client else self._answer).get(frame.code)
        if handler is None:
            return
        try:
            handler(frame)
        except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise Unreadable(f"a frame has unexpected values: {error!r}") from None

    def end(self) -> None:
        """Note that the connection is over; what was not answered never will be."""
        if self._is_over:
            return
        self._is_over = True
        for session in self._ours.values():
            for link in session.names.values():
                self._lose_link(link)
            self._lose_session(session)
        for request in self._requests.values():
            self._lose_calls(request.calls)
        self._requests.clear()

    # Sessions of AMQP.

    def _note_begin_of_client(self, frame: Frame) -> None:
        self._ours[frame.channel] = AmqpSession()

    def _note_begin_of_service(self, frame: Frame) -> None:
        session = self._ours.get(frame.fields[0])
        if session is not None:
            self._theirs[frame.channel] = session

    def _note_end_of_service(self, frame: Frame) -> None:
        session = self._theirs.pop(frame.channel, None)
        if session is None:
            return
        for link in session.names.values():
            self._end_link(link, None, by_client=link.closing is not None)
        self._lose_session(session)
        self._ours = {channel: one for channel, one in self._ours.items() if one is not session}

    def _note_close_of_client(self, _: Frame) -> None:
        self.is_closing = True
        for session in self._ours.values():
            for link in session.names.values():
                self._close(link)

    def _note_close_of_service(self, frame: Frame) -> None:
        for channel in list(self._theirs):
            self._note_end_of_service(_move_frame(frame, channel))

    def _lose_session(self, session: AmqpSession) -> None:
        for calls in session.sent.values():
            self._lose_calls(calls)
        for call, _, _ in session.settling.values():
            self._lose_calls([call])
        session.sent.clear()
        session.settling.clear()

    def _lose_calls(self, calls: list[Call]) -> None:
        for call in calls:
            self._journal.end(call, v.Indeterminate(detail="no answer before the connection ended"))

    # Links.

    def _note_attach_of_client(self, frame: Frame) -> None:
        session = self._ours[frame.channel]
        name = frame.fields[0]
        handle = frame.fields[1]
        role = frame.fields[2]
        link = self._make_link(name, role, frame.fields)
        session.ours[handle] = session.names[name, role] = link
        if link.kind != "messages" or link.role is SENDS:
            return
        if link.session is NEXT:
            command: v.Command = v.AcceptNextSession(queue=link.path)
        elif link.session is not None:
            command = v.AcceptSession(queue=link.path, session_id=link.session)
        else:
            return
        link.accepting = self._journal.begin(link.client, self._name, command)

    def _make_link(self, name: str, role: bool, fields: list[Any]) -> Link:
        source = terminus_of(fields[5])
        target = terminus_of(fields[6])
        client = f"{self._name}.{next(self._links)}"
        now = self._journal.now()
        if target is not None and target.descriptor == COORDINATOR:
            return Link(name, role, "", "transactions", client, attached_at=now)
        node = source if role is RECEIVES else target
        values: Any = [] if node is None else node.value
        address = values[0] if values else None
        path = entity_of(str(address or ""))
        if path.startswith("$cbs"):
            return Link(name, role, path, "login", client, attached_at=now)
        if path.endswith(MANAGEMENT):
            path = path.removesuffix(MANAGEMENT)
            return Link(name, role, path, "management", client, attached_at=now)
        if not path or path.startswith("$"):
            self._desk.tally.count(f"links to {path or 'no entity'}")
            return Link(name, role, path, "other", client, attached_at=now)
        mode = v.ReceiveMode.RECEIVE_AND_DELETE if fields[3] == SETTLED else v.ReceiveMode.PEEK_LOCK
        session = read_session_filter(values, self._desk.privacy) if role is RECEIVES else None
        return Link(
            name, role, path, "messages", client, mode=mode, session=session, attached_at=now
        )

    def _note_attach_of_service(self, frame: Frame) -> None:
        session = self._theirs[frame.channel]
        name = frame.fields[0]
        handle = frame.fields[1]
        role = frame.fields[2]
        link = session.names[name, not role]
        session.theirs[handle] = link
        own = terminus_of(frame.fields[5] if link.role is RECEIVES else frame.fields[6])
        # A service that refuses a link attaches it without a terminus, and detaches it at once.
        if own is None:
            return
        link.is_open = True
        # The service counts the messages that it sends from a number of its own.
        link.first = frame.fields[9] or 0 if link.role is RECEIVES else 0
        if link.accepting is None:
            return
        call = link.accepting
        link.accepting = None
        if link.session is not NEXT:
            self._journal.end(call, v.Done())
            return
        values: Any = own.value
        accepted = read_session_filter(values, self._desk.privacy)
        if isinstance(accepted, str):
            link.session = accepted
            self._journal.end(call, v.SessionAccepted(session_id=accepted))
        else:
            link.session = None
            self._desk.tally.count("accepted sessions that were not named")
            self._journal.end(call, v.Indeterminate(detail="the service did not name the session"))

    def _note_detach_of_client(self, frame: Frame) -> None:
        session = self._ours[frame.channel]
        link = session.ours.pop(frame.fields[0], None)
        if link is None:
            return
        if link.is_ended:
            session.names.pop((link.name, link.role), None)
        else:
            self._close(link)

    def _close(self, link: Link) -> None:
        """Begin the request that closes a session's link."""
        if link.closing is None and link.session_id is not None and link.is_open:
            command = v.CloseSession(queue=link.path, session_id=link.session_id)
            link.closing = self._journal.begin(link.client, self._name, command)

    def _note_detach_of_service(self, frame: Frame) -> None:
        session = self._theirs[frame.channel]
        link = session.theirs.pop(frame.fields[0], None)
        if link is None:
            return
        closed = link not in session.ours.values()
        self._end_link(link, frame.fields[2], by_client=closed)
        if closed:
            session.names.pop((link.name, link.role), None)
        for number, calls in list(session.sent.items()):
            if calls and calls[0].base == link.client:
                self._lose_calls(session.sent.pop(number))
        for number, delivery in list(session.got.items()):
            if delivery.link is link:
                del session.got[number]
                settling = session.settling.pop(number, None)
                if settling is not None:
                    self._lose_calls([settling[0]])

    def _end_link(self, link: Link, error: Any, *, by_client: bool) -> None:
        """Note that the service has ended a link, and sends nothing more on it."""
        if link.is_ended:
            return
        link.is_ended = True
        outcome = None if error is None else o.error_outcome(error)
        if not link.is_open:
            self._stop_waiting(link)
            self._write_refusal(link, outcome)
            return
        self._write_empty_receive(link)
        self._stop_waiting(link)
        if link.closing is not None:
            call = link.closing
            link.closing = None
            self._journal.end(call, v.Done() if by_client else v.Indeterminate())
        elif link.session_id is not None:
            self._let_go(link)

    def _let_go(self, link: Link) -> None:
        """Write that a session may have been released, which happened before we see it."""
        if link.session_id is None:
            return
        called = max(link.attached_at, self._journal.now() - EARLY)
        command = v.CloseSession(queue=link.path, session_id=link.session_id)
        detail = "the link of the session has ended"
        # A client of its own: it may have come before or after what the link still got.
        self._journal.record(
            f"{link.client}.end", self._name, called, command, v.Indeterminate(detail=detail)
        )

    def _write_refusal(self, link: Link, outcome: v.Outcome | None) -> None:
        """Write that a link was refused, as the answer to what it was for."""
        if isinstance(outcome, v.Refused) and outcome.detail == o.UNAUTHORIZED:
            self._desk.tally.count("requests without the right for them")
            if link.accepting is not None:
                self._journal.drop(link.accepting)
                link.accepting = None
            return
        if link.accepting is not None:
            call = link.accepting
            link.accepting = None
            if isinstance(call.command, v.AcceptNextSession) and _found_none(outcome):
                outcome = v.Empty()
            self._journal.end(call, outcome or v.Indeterminate(detail="the link was not opened"))
        elif link.kind == "messages" and link.role is RECEIVES and isinstance(outcome, v.Refused):
            command = v.Receive(queue=link.path, mode=link.mode)
            self._journal.record(link.client, self._name, link.attached_at, command, outcome)
        elif outcome is not None:
            self._desk.tally.count("refused links of senders")

    def _lose_link(self, link: Link) -> None:
        """Note that a link is lost: messages may have been given that nobody got."""
        if link.is_ended:
            return
        link.is_ended = True
        if link.accepting is not None:
            self._lose_calls([link.accepting])
        if link.waits is not None:
            self._lose_calls([link.waits])
        if link.closing is not None:
            self._lose_calls([link.closing])
        elif link.is_open:
            self._let_go(link)

    # Credit.

    def _note_flow_of_client(self, frame: Frame) -> None:
        handle, given, credit, drain = (frame.fields[place] for place in (4, 5, 6, 8))
        if handle is None:
            return
        link = self._ours[frame.channel].ours.get(handle)
        if link is None or link.kind != "messages" or link.role is SENDS:
            return
        now = self._journal.now()
        link.drains = bool(drain)
        # Count the deliveries from the first of the link, as the service's numbers do.
        done = link.given if given is None else (given - link.first) % 2**32
        limit = done + (credit or 0)
        if limit > (link.grants[-1][0] if link.grants else link.given):
            if not link.credit:
                link.grants.clear()
            link.grants.append((limit, now))
            self._wait(link)

    def _wait(self, link: Link) -> None:
        """Note the receive that stands for a link's unused credit, in case the proxy is killed."""
        self._stop_waiting(link)
        self._skip_used(link)
        if link.credit:
            command = self._receive(link, link.credit)
            link.waits = self._journal.begin(
                f"{link.client}.credit", self._name, command, called=link.grants[0][1]
            )

    def _stop_waiting(self, link: Link) -> None:
        if link.waits is not None:
            self._journal.drop(link.waits)
            link.waits = None

    def _receive(self, link: Link, number: int) -> v.Receive | v.ReceiveBatch:
        if number == 1:
            return v.Receive(queue=link.path, mode=link.mode, session_id=link.session_id)
        return v.ReceiveBatch(
            queue=link.path, count=number, mode=link.mode, session_id=link.session_id
        )

    def _skip_used(self, link: Link) -> None:
        while link.grants and link.grants[0][0] <= link.given:
            link.grants.popleft()

    def _note_flow_of_service(self, frame: Frame) -> None:
        handle, given, credit = (frame.fields[place] for place in (4, 5, 6))
        if handle is None:
            return
        link = self._theirs[frame.channel].theirs.get(handle)
        if link is None or link.kind != "messages" or link.role is SENDS or not link.drains:
            return
        # A service that has drained a link says that it has used up the credit.
        if credit == 0 and given is not None:
            self._write_empty_receive(link)
            self._stop_waiting(link)
            link.given = max(link.given, (given - link.first) % 2**32)
            link.grants.clear()
            link.drains = False

    def _write_empty_receive(self, link: Link) -> None:
        """Write a receive that came back empty, if the service had time enough to find something.

        Its time is all of that in which the credit was there, so it is enough for it to be true
        that there was nothing at one moment.
        """
        self._skip_used(link)
        if link.kind != "messages" or not link.credit:
            return
        since = max(link.grants[0][1], link.since)
        if self._journal.now() - since >= self._desk.receive_wait:
            command = self._receive(link, 1)
            self._journal.record(link.client, self._name, since, command, v.Empty())

    # Messages of the client.

    def _note_transfer_of_client(self, frame: Frame) -> None:
        session = self._ours[frame.channel]
        link = session.ours[frame.fields[0]]
        whole = self._join_parts(link, frame)
        if whole is None:
            return
        fields, raw = whole
        number = fields[1]
        form = fields[3]
        settled = bool(fields[4] or frame.fields[4])
        within = o.state_of(fields[7])
        transaction = self._transaction(within)
        if link.kind == "messages":
            calls = self._begin_sends(link, raw, form, transaction)
        elif link.kind == "transactions":
            calls = self._begin_control(link, raw)
        elif link.kind == "management":
            calls = []
            self._manage(link, raw, transaction)
        else:
            return
        if settled:
            self._lose_calls(calls)
        elif calls:
            session.sent[number] = calls

    def _join_parts(self, link: Link, frame: Frame) -> tuple[list[Any], bytes] | None:
        """Return the first fields and the payload of a message, once all of it has come."""
        fields = frame.fields
        more = frame.fields[5]
        aborted = frame.fields[9]
        if link.part is not None:
            first, payload = link.part
            payload += frame.payload
            if more:
                return None
            link.part = None
            return None if aborted else (first, bytes(payload))
        if more:
            link.part = fields, bytearray(frame.payload)
            return None
        return None if aborted else (fields, frame.payload)

    def _begin_sends(
        self, link: Link, raw: bytes, form: int | None, transaction: str | None
    ) -> list[Call]:
        privacy = self._desk.privacy
        if form == BATCH_FORMAT:
            contents = [content_of(one, privacy, is_sent=True) for one in inner_messages(raw)]
            if any(content.due is not None for content in contents):
                self._desk.tally.count("batches with scheduled messages")
            command: v.Command = v.SendBatch(
                queue=link.path,
                messages=tuple(content.message for content in contents),
                transaction=transaction,
            )
        else:
            content = content_of(raw, privacy, is_sent=True)
            command = v.Send(queue=link.path, message=content.message, transaction=transaction)
            if content.due is not None:
                command = self.schedule(link.path, content, transaction)
        return [self._journal.begin(link.client, self._name, command)]

    def schedule(self, path: str, content: Content, transaction: str | None) -> v.Schedule:
        """Return the command that schedules a message, by its time on the recording's clock."""
        moment = (content.due or 0) * 1000 - self._journal.epoch
        return v.Schedule(
            queue=path,
            message=content.message,
            delay=moment - self._journal.now(),
            transaction=transaction,
        )

    def age_of(self, moment: int) -> int | None:
        """Return how long ago a time is, in microseconds; `None` for one that is not past."""
        age = self._journal.now() + self._journal.epoch - moment * 1000
        return age if age > 0 else None

    def _begin_control(self, link: Link, raw: bytes) -> list[Call]:
        """Begin the request that declares or discharges a transaction."""
        described: Any = management.body_of(raw)
        if not isinstance(described, Described):
            raise Unreadable("a coordinator was sent what is neither declare nor discharge")
        code = {"amqp:declare:list": DECLARE, "amqp:discharge:list": DISCHARGE}.get(
            str(described.descriptor), described.descriptor
        )
        if code == DECLARE:
            name = f"t{next(self._desk.transactions)}"
            command: v.Command = v.BeginTransaction(transaction=name)
        else:
            fields: Any = described.value
            identity, failed = [*fields, None, None][:2]
            name = self._transactions.pop(bytes(identity), "") or self._unknown_transaction()
            command = (
                v.RollBackTransaction(transaction=name)
                if failed
                else v.CommitTransaction(transaction=name)
            )
        return [self._journal.begin(link.client, self._name, command)]

    def _transaction(self, state: o.State | None) -> str | None:
        """Return the name of the transaction that a state is part of."""
        if state is None or state.code != o.TRANSACTIONAL:
            return None
        return self._transactions.get(bytes(state.fields[0])) or self._unknown_transaction()

    def _unknown_transaction(self) -> str:
        return f"unknown{next(self._desk.transactions)}"

    def _note_disposition_of_service(self, frame: Frame) -> None:
        role, first, last, _, value = frame.fields[:5]
        session = self._theirs[frame.channel]
        state = o.state_of(value)
        for number in deliveries_in(first, last):
            if role is RECEIVES:
                calls = session.sent.get(number)
                if calls is not None and (state is None or state.code != o.RECEIVED):
                    del session.sent[number]
                    for call in calls:
                        self._journal.end(call, self._outcome_of_send(call, state))
            elif (settling := session.settling.pop(number, None)) is not None:
                call, command, asked = settling
                # Within a transaction it takes effect later, or never, and then can be tried again.
                if command.transaction is None:
                    session.got.pop(number, None)
                self._journal.end(call, outcome_of_settlement(asked, state))

    def _outcome_of_send(self, call: Call, state: o.State | None) -> v.Outcome:
        if state is None:
            return v.Indeterminate(detail="settled without an outcome")
        if state.code == o.DECLARED and isinstance(call.command, v.BeginTransaction):
            self._transactions[bytes(state.fields[0])] = call.command.transaction
            return v.Done()
        if state.code == o.TRANSACTIONAL:
            state = o.state_of(state.fields[1]) or state
        if state.code in (o.ACCEPTED, o.TRANSACTIONAL):
            return v.Scheduled() if isinstance(call.command, v.Schedule) else v.Done()
        return o.refusal(state)

    # Messages of the service.

    def _note_transfer_of_service(self, frame: Frame) -> None:
        session = self._theirs[frame.channel]
        link = session.theirs[frame.fields[0]]
        whole = self._join_parts(link, frame)
        if whole is None:
            return
        fields, raw = whole
        if link.kind == "management":
            self._take_reply(raw)
        elif link.kind == "messages" and link.role is RECEIVES:
            self._write_delivery(session, link, fields, raw)

    def _write_delivery(
        self, session: AmqpSession, link: Link, fields: list[Any], raw: bytes
    ) -> None:
        content = content_of(raw, self._desk.privacy)
        locked = link.mode is v.ReceiveMode.PEEK_LOCK
        token = token_of(content, fields[2]) if locked else None
        view = content.view(token)
        if content.number in self._desk.released.get(link.path, ()):
            # It was given before, and that did not count.
            view = attrs.evolve(view, delivery_count=None)
        self._skip_used(link)
        called = link.grants[0][1] if link.grants else link.attached_at
        link.given += 1
        link.since = self._journal.now()
        command = v.Receive(queue=link.path, mode=link.mode, session_id=link.session_id)
        self._journal.record(
            self._line(link, content), self._name, called, command, v.Received(message=view)
        )
        if token is not None:
            session.got[fields[1]] = Delivery(link, token, content.number)
        if not link.credit:
            self._stop_waiting(link)

    def _line(self, link: Link, content: Content) -> str:
        """Return the client of a delivery: those of one partition were given in their order."""
        if link.session is not None or content.number is None:
            return link.client
        partition = content.number >> v.SEQUENCE_BITS
        return f"{link.client}.p{partition}" if partition else link.client

    def _note_disposition_of_client(self, frame: Frame) -> None:
        role, first, last, settled, value = frame.fields[:5]
        if role is SENDS:
            return
        session = self._ours[frame.channel]
        state = o.state_of(value)
        transaction = self._transaction(state)
        if state is not None and state.code == o.TRANSACTIONAL:
            state = o.state_of(state.fields[1])
        for number in deliveries_in(first, last):
            delivery = session.got.get(number)
            if delivery is not None and state is not None:
                self._settle(session, number, delivery, state, transaction, settled=bool(settled))

    def _settle(
        self,
        session: AmqpSession,
        number: int,
        delivery: Delivery,
        state: o.State,
        transaction: str | None,
        *,
        settled: bool,
    ) -> None:
        if state.code == o.ACCEPTED_OR_RELEASED:
            del session.got[number]
            self._settle_either_way(delivery)
            return
        command = settlement_of(delivery, state, transaction)
        if command is None:
            if state.code == o.RELEASED and delivery.number is not None:
                self._desk.released.setdefault(delivery.link.path, set()).add(delivery.number)
            self._desk.tally.count("messages that were released")
            command = v.Abandon(queue=delivery.link.path, lock_token=delivery.token)
            settled = True
        call = self._journal.begin(f"{delivery.link.client}.settle", self._name, command)
        if settled:
            detail = "the client asked for no answer"
            self._journal.end(call, v.Indeterminate(detail=detail))
            if transaction is None:
                del session.got[number]
        else:
            session.settling[number] = call, command, state.code

    def _settle_either_way(self, delivery: Delivery) -> None:
        """Write a settlement of unknown kind as a completion and an abandonment without answers."""
        where: Any = {"queue": delivery.link.path, "lock_token": delivery.token}
        if delivery.number is not None:
            self._desk.released.setdefault(delivery.link.path, set()).add(delivery.number)
        commands: list[v.Command] = [v.Complete(**where), v.Abandon(**where)]
        client = f"{delivery.link.client}.settle"
        calls = [self._journal.begin(client, self._name, command) for command in commands]
        for call in calls:
            self._journal.end(call, v.Indeterminate(detail="the log does not say which it was"))

    # Management.

    def _manage(self, link: Link, raw: bytes, transaction: str | None) -> None:
        request = management.request_of(raw, link.path, transaction, self._desk.privacy, self)
        if request is None:
            return
        if not request.commands:
            self._desk.tally.count(f"requests {request.operation or 'without an operation'}")
            return
        request.calls = [
            self._journal.begin(
                f"{link.client}.manage",
                self._name,
                self._desk.redact_command(command),
                is_noted=not isinstance(command, management.READS),
            )
            for command in request.commands
        ]
        self._requests[request.number] = request

    def _take_reply(self, raw: bytes) -> None:
        reply = management.reply_of(raw)
        request = self._requests.pop(reply.number, None)
        if request is None:
            return
        outcomes = management.outcomes_of(request, reply, self._desk.privacy, self._desk.released)
        for call, said in zip(request.calls, outcomes, strict=True):
            outcome = self._desk.privacy.redact_answer(said)
            if isinstance(outcome, v.Unsupported):
                self._desk.tally.count(outcome.detail)
                self._journal.drop(call)
            elif isinstance(outcome, v.Refused) and outcome.detail == o.UNAUTHORIZED:
                self._desk.tally.count("requests without the right for them")
                self._journal.drop(call)
            else:
                self._journal.end(call, outcome)


def _move_frame(frame: Frame, channel: int) -> Frame:
    frame.channel = channel
    return frame


def _found_none(outcome: v.Outcome | None) -> bool:
    return isinstance(outcome, v.Indeterminate) and outcome.detail.startswith(NO_SESSION)
