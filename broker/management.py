"""What an entity's `$management` node answers: requests become commands, outcomes maps."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from proton import Array, Data, Message, timestamp

from busproof.broker.bus import Answer
from busproof.broker.engine import Connection
from busproof.broker.framing import array
from busproof.broker.intake import sending_of
from busproof.broker.messages import Parsed, parse
from busproof.broker.outlet import outgoing, token_of, wire_token
from busproof.broker.refusals import Refusal, refusal_of
from busproof.broker.requests import Reply, said_in
from busproof.broker.subscription_rules import described, filter_of
from busproof.model.commands import (
    Abandon,
    AddRule,
    CancelScheduled,
    Command,
    Complete,
    DeadLetter,
    Defer,
    GetSessionState,
    ListRules,
    ListSessions,
    ReceiveDeferred,
    RemoveRule,
    RenewLock,
    RenewSessionLock,
    Schedule,
    SetSessionState,
)
from busproof.model.entities import SUBSCRIPTIONS
from busproof.model.outcomes import (
    Peeked,
    ReceivedSeveral,
    Renewed,
    RulesListed,
    Scheduled,
    SessionsListed,
    SessionState,
)
from busproof.model.values import MessageView, ReceiveMode

__all__ = ["Management"]

PREFIX: Final = "com.microsoft:"
NO_CONTENT: Final = 204
TEXT: Final = "latin-1"
"""A session's state is bytes to clients and a text to the model: one character for each byte."""


class Management:
    """Answers what one client asks of one entity's management.

    Args:
        connection: the client's.
        path: of the entity.
    """

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    def answer(self, request: Message) -> Reply:
        """Answer one request.

        Raises:
            Refusal: what was asked is not granted, or not understood.
        """
        asked = str(said_in(request).get("operation", ""))
        right, operation = OPERATIONS.get(asked.removeprefix(PREFIX), ("", None))
        if operation is None:
            raise Refusal("amqp:not-implemented", f"There is no operation {asked!r} here.", 501)
        if not self._connection.permits(right, self._path):
            raise Refusal(
                "amqp:unauthorized-access", f"'{right}' claim is required for {asked}.", 401
            )
        body = request.body if isinstance(request.body, dict) else {}
        try:
            return operation(self, {str(key): value for key, value in body.items()})
        except (KeyError, TypeError, ValueError) as error:
            raise Refusal(
                "com.microsoft:argument-error", f"{asked} cannot be read: {error!r}."
            ) from None

    def _ask(self, command: Command, session_id: str | None = None) -> Answer:
        answer = self._connection.hub.bus.ask(command, self._holder(session_id))
        if (refusal := refusal_of(answer, self._path)) is not None:
            raise refusal
        return answer

    def _ask_all(self, commands: list[Any]) -> list[Answer]:
        answers = self._connection.hub.bus.ask_all(commands, self._connection.name)
        if answers and (refusal := refusal_of(answers[-1], self._path)) is not None:
            raise refusal
        return answers

    def _holder(self, session_id: str | None) -> str:
        """Under which name the model knows the link of this connection that holds a session."""
        own = self._connection.name
        return (
            own
            if session_id is None
            else self._connection.sessions.get((self._path, session_id), own)
        )

    def _peek(self, said: Mapping[str, Any]) -> Reply:
        first, count = int(said["from-sequence-number"]), int(said["message-count"])
        if count < 1:
            raise Refusal("com.microsoft:argument-out-of-range", "message-count is at least 1.")
        bus = self._connection.hub.bus
        answer = bus.browse(self._path, said.get("session-id"), first, count)
        if (refusal := refusal_of(answer, self._path)) is not None:
            raise refusal
        views = answer.outcome.messages if isinstance(answer.outcome, Peeked) else ()
        if not views:
            return Reply({}, NO_CONTENT, "No messages")
        return Reply({"messages": [{"message": self._outgoing(view)} for view in views]})

    def _outgoing(self, view: MessageView) -> bytes:
        return outgoing(self._connection, self._path, view)

    def _receive_deferred(self, said: Mapping[str, Any]) -> Reply:
        settle = int(said.get("receiver-settle-mode") or 0)
        command = ReceiveDeferred(
            queue=self._path,
            sequence_numbers=tuple(int(each) for each in _several(said["sequence-numbers"])),
            mode=ReceiveMode.PEEK_LOCK if settle else ReceiveMode.RECEIVE_AND_DELETE,
            session_id=said.get("session-id"),
        )
        outcome = self._ask(command, command.session_id).outcome
        views = outcome.messages if isinstance(outcome, ReceivedSeveral) else ()
        return Reply({"messages": [self._handed_out(view) for view in views]})

    def _handed_out(self, view: MessageView) -> dict[str, Any]:
        given: dict[str, Any] = {"message": self._outgoing(view)}
        if view.lock_token is not None:
            given["lock-token"] = wire_token(view.lock_token)
        return given

    def _renew_lock(self, said: Mapping[str, Any]) -> Reply:
        tokens = [token_of(_token(each)) for each in _several(said["lock-tokens"])]
        commands = [RenewLock(queue=self._path, lock_token=token) for token in tokens]
        ends = [self._end(answer) for answer in self._ask_all(commands)]
        return Reply({"expirations": array(Data.TIMESTAMP, ends)})

    def _renew_session_lock(self, said: Mapping[str, Any]) -> Reply:
        session_id = str(said["session-id"])
        answer = self._ask(RenewSessionLock(queue=self._path, session_id=session_id), session_id)
        return Reply({"expiration": self._end(answer)})

    def _end(self, answer: Answer) -> timestamp:
        until = answer.outcome.locked_until if isinstance(answer.outcome, Renewed) else None
        return timestamp(self._connection.hub.bus.epoch_ms(until or 0))

    def _settle(self, said: Mapping[str, Any]) -> Reply:
        status = str(said["disposition-status"]).lower()
        commands = [
            self._settlement(status, token_of(_token(each)), said)
            for each in _several(said["lock-tokens"])
        ]
        self._ask_all(commands)
        return Reply({})

    def _settlement(self, status: str, token: str, said: Mapping[str, Any]) -> Command:
        if status == "completed":
            return Complete(queue=self._path, lock_token=token)
        if status == "abandoned":
            return Abandon(queue=self._path, lock_token=token)
        if status in ("defered", "deferred"):
            return Defer(queue=self._path, lock_token=token)
        if status == "suspended":
            reason = str(said.get("deadletter-reason") or "")
            return DeadLetter(queue=self._path, lock_token=token, reason=reason)
        raise Refusal("com.microsoft:argument-error", f"There is no settlement {status!r}.")

    def _schedule(self, said: Mapping[str, Any]) -> Reply:
        hub = self._connection.hub
        parsed = [
            parse(bytes(each["message"]), hub.contents.new_name(), hub.now_ms())
            for each in _several(said["messages"])
        ]
        answers = self._ask_all([self._later(each) for each in parsed])
        for each in parsed:
            hub.contents.keep(each.message.body, each.content_when_due())
        numbers = [
            answer.outcome.sequence_number or 0
            for answer in answers
            if isinstance(answer.outcome, Scheduled)
        ]
        return Reply({"sequence-numbers": array(Data.LONG, numbers)})

    def _later(self, parsed: Parsed) -> Schedule:
        command = sending_of(self._connection, self._path, parsed, None)
        if isinstance(command, Schedule):
            return command
        return Schedule(queue=self._path, message=parsed.message, delay=0)

    def _cancel(self, said: Mapping[str, Any]) -> Reply:
        numbers = [int(each) for each in _several(said["sequence-numbers"])]
        self._ask_all(
            [CancelScheduled(queue=self._path, sequence_number=number) for number in numbers]
        )
        return Reply({})

    def _get_state(self, said: Mapping[str, Any]) -> Reply:
        session_id = str(said["session-id"])
        outcome = self._ask(
            GetSessionState(queue=self._path, session_id=session_id), session_id
        ).outcome
        state = outcome.state if isinstance(outcome, SessionState) else None
        return Reply({"session-state": None if state is None else state.encode(TEXT)})

    def _set_state(self, said: Mapping[str, Any]) -> Reply:
        session_id, state = str(said["session-id"]), said.get("session-state")
        text = None if state is None else bytes(state).decode(TEXT)
        self._ask(SetSessionState(queue=self._path, session_id=session_id, state=text), session_id)
        return Reply({})

    def _list_sessions(self, said: Mapping[str, Any]) -> Reply:
        skip, top = int(said.get("skip") or 0), int(said.get("top") or 100)
        outcome = self._ask(ListSessions(queue=self._path)).outcome
        found = sorted(outcome.session_ids) if isinstance(outcome, SessionsListed) else []
        page = found[skip : skip + top]
        if not page:
            return Reply({}, NO_CONTENT, "No sessions")
        ids = array(Data.STRING, page)
        return Reply({"skip": skip + len(page), "sessions-ids": ids})

    def _add_rule(self, said: Mapping[str, Any]) -> Reply:
        topic, subscription = self._subscription()
        given = {str(key): value for key, value in dict(said["rule-description"]).items()}
        self._ask(
            AddRule(
                topic=topic,
                subscription=subscription,
                rule=str(said["rule-name"]),
                filter=filter_of(given),
            )
        )
        return Reply({})

    def _remove_rule(self, said: Mapping[str, Any]) -> Reply:
        topic, subscription = self._subscription()
        name = str(said["rule-name"])
        self._ask(RemoveRule(topic=topic, subscription=subscription, rule=name))
        return Reply({})

    def _list_rules(self, said: Mapping[str, Any]) -> Reply:
        topic, subscription = self._subscription()
        skip, top = int(said.get("skip") or 0), int(said.get("top") or 100)
        outcome = self._ask(ListRules(topic=topic, subscription=subscription)).outcome
        rules = outcome.rules if isinstance(outcome, RulesListed) else ()
        page = sorted(rules, key=lambda each: each.name)[skip : skip + top]
        if not page:
            return Reply({}, NO_CONTENT, "No rules")
        return Reply({"rules": [{"rule-description": described(each)} for each in page]})

    def _subscription(self) -> tuple[str, str]:
        topic, found, subscription = self._path.partition(SUBSCRIPTIONS)
        if not found:
            raise Refusal(
                "amqp:not-allowed", f"'{self._path}' is no subscription; it has no rules."
            )
        return topic, subscription


Operation = Callable[[Management, Mapping[str, Any]], Reply]

OPERATIONS: Final[dict[str, tuple[str, Operation]]] = {
    "peek-message": ("Listen", Management._peek),
    "receive-by-sequence-number": ("Listen", Management._receive_deferred),
    "renew-lock": ("Listen", Management._renew_lock),
    "renew-session-lock": ("Listen", Management._renew_session_lock),
    "update-disposition": ("Listen", Management._settle),
    "schedule-message": ("Send", Management._schedule),
    "cancel-scheduled-message": ("Send", Management._cancel),
    "get-session-state": ("Listen", Management._get_state),
    "set-session-state": ("Listen", Management._set_state),
    "get-message-sessions": ("Listen", Management._list_sessions),
    "add-rule": ("Listen", Management._add_rule),
    "remove-rule": ("Listen", Management._remove_rule),
    "enumerate-rules": ("Listen", Management._list_rules),
}
"""Each operation, and the right that it takes."""


def _several(value: Any) -> list[Any]:
    """The elements of a list or an array."""
    return list(value.elements) if isinstance(value, Array) else list(value)


def _token(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(str(value))
