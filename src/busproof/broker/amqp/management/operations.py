"""The `$management` node of an entity: requests become commands, outcomes become replies."""

from collections.abc import Generator
from typing import Final

from proton import Message

from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.management import message_operations as messages
from busproof.broker.amqp.management import rule_operations as rules
from busproof.broker.amqp.management import session_operations as sessions
from busproof.broker.amqp.management.requests import Asking, Operation
from busproof.broker.amqp.refusals import Refusal, refuse_unauthorized
from busproof.broker.amqp.request_links import Answerer, Reply, read_properties
from busproof.broker.auth.tokens import MANAGEMENT

__all__ = ["answerer"]

UNREADABLE: Final = (AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""Errors that Python raises when a field has an unexpected type."""

PREFIX: Final = "com.microsoft:"

OPERATIONS: Final[dict[str, tuple[str, Operation]]] = {
    "peek-message": ("Listen", messages.peek),
    "receive-by-sequence-number": ("Listen", messages.receive_deferred),
    "renew-lock": ("Listen", messages.renew_lock),
    "update-disposition": ("Listen", messages.settle),
    "schedule-message": ("Send", messages.schedule),
    "cancel-scheduled-message": ("Send", messages.cancel),
    "batch-delete-messages": ("Listen", messages.delete_batch),
    "renew-session-lock": ("Listen", sessions.renew_session_lock),
    "get-session-state": ("Listen", sessions.get_state),
    "set-session-state": ("Listen", sessions.set_state),
    "get-message-sessions": ("Listen", sessions.list_sessions),
    "add-rule": ("Listen", rules.add_rule),
    "remove-rule": ("Listen", rules.remove_rule),
    "enumerate-rules": ("Listen", rules.list_rules),
}
"""Each operation with the right that it requires."""


def answerer(connection: Connection, path: str) -> Answerer:
    """Return the function that answers a client's requests to an entity's `$management` node."""

    def answer(request: Message, transaction: str | None) -> Generator[bool, None, Reply]:
        requested = str(read_properties(request).get("operation", ""))
        right, operation = OPERATIONS.get(requested.removeprefix(PREFIX), ("", None))
        if operation is None:
            raise Refusal("amqp:not-implemented", f"There is no operation {requested!r} here.", 501)
        # Attaching a link to `$management` needs either right; each request needs its operation's.
        if not connection.permits(right, path + MANAGEMENT):
            raise refuse_unauthorized(right, path)
        # Check for each request: since the link was attached, the entity may have been disabled.
        connection.hub.statuses.check(right, path)
        # Without a map there are no fields, and the operation reports the first one that it misses.
        body = request.body if isinstance(request.body, dict) else {}
        fields = {str(key): value for key, value in body.items()}
        try:
            reply = operation(Asking(connection, path, transaction), fields)
            return reply if isinstance(reply, Reply) else (yield from reply)
        # A field of another type fails where it is used. Report any such error to the client.
        except UNREADABLE as error:
            raise Refusal(
                "com.microsoft:argument-error", f"{requested[:80]} cannot be read: {error!r}."[:500]
            ) from None

    return answer
