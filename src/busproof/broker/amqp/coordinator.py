"""Coordinator links, where a client begins, commits and rolls back transactions."""

from itertools import count
from typing import Any

from proton import Described, Link

from busproof import vocabulary as v
from busproof.broker.amqp import native
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.incoming_links import CREDIT, gather_message, refuse
from busproof.broker.amqp.native import Raw
from busproof.broker.amqp.nodes import Node
from busproof.broker.amqp.refusals import Refusal, insist, refusal_of, too_many_copies_in_all
from busproof.broker.amqp.unreadable import decode_completely

__all__ = ["Coordinator"]

DECLARE, DISCHARGE, DECLARED = 0x31, 0x32, 0x33
# AMQP lets a client write a descriptor as a symbol or as a number.
NAMED = {"amqp:declare:list": DECLARE, "amqp:discharge:list": DISCHARGE}
NUMBERS = count(1)


class Coordinator(Node):
    """A coordinator link, whose messages declare and discharge transactions.

    When it closes, its open transactions are rolled back.
    """

    def __init__(self, connection: Connection, link: Link) -> None:
        self._connection = connection
        self._link = link
        self._parts: dict[Raw, bytearray] = {}
        self._open: set[str] = set()

    def grant(self) -> None:
        """Give the client credit for requests."""
        self._link.flow(CREDIT)

    def on_delivery(self, delivery: Raw, *, batch: bool) -> None:  # noqa: ARG002 - nothing comes in batches here
        """Carry out a request to begin, commit or roll back a transaction."""
        raw = gather_message(self._connection, native.raw(self._link), delivery, self._parts)
        if raw is None:
            return
        self._link.advance()
        # A request uses one credit; give it back, so that the client can always send the next.
        self._link.flow(1)
        try:
            begun = self._carry_out(raw)
        except Refusal as refusal:
            refuse(delivery, refusal)
        else:
            if begun is None:
                native.update(delivery, native.ACCEPTED)
            else:
                whole, data = native.whole(delivery), [begun.encode("latin-1")]
                # AMQP allows further outcomes; Proton passes unknown ones on with their fields.
                whole.local.data = data  # type: ignore[assignment] # Proton calls it a list of numbers
                whole.update(DECLARED)
            native.settle(delivery)
        self._connection.hub.schedule_serving()

    def on_closed(self, *, by_client: bool) -> None:  # noqa: ARG002 - both ends are the same here
        """Roll back the link's open transactions, as AMQP requires (part 4, section 4.2)."""
        # In a fixed order, so that a recorded run can be repeated.
        for name in sorted(self._open):
            self._connection.hub.stage.roll_back(name, self._connection.name)
            self._forget(name)
        self._open.clear()

    def _carry_out(self, raw: bytes) -> str | None:
        """Carry out a request; return the name of the transaction that it has begun, if any."""
        try:
            request = decode_completely(raw)
        except ValueError as error:
            raise Refusal("amqp:decode-error", str(error)) from None
        described = request.body
        if not isinstance(described, Described):
            raise Refusal("amqp:decode-error", "Send declare or discharge to a coordinator.")
        code = NAMED.get(str(described.descriptor), described.descriptor)
        if code == DECLARE:
            return self._begin()
        if code != DISCHARGE:
            raise Refusal("amqp:not-implemented", f"There is no request {described.descriptor!r}.")
        values: Any = described.value
        # A discharge may leave out its last field, which then means a commit.
        fields = [*(values if isinstance(values, list) else ()), None, None]
        # `bytes` of a number would be as many zeros, so other types count as no name.
        name = fields[0] if isinstance(fields[0], bytes | memoryview) else b""
        self._end(bytes(name).decode("latin-1"), failed=bool(fields[1]))
        return None

    def _begin(self) -> str:
        if len(self._open) >= (most := self._connection.hub.limits.transactions):
            raise Refusal(
                "amqp:resource-limit-exceeded",
                f"{most:,} transactions are open here, which is the maximum.",
                403,
            )
        # Unique in the broker, because requests over other connections may name the transaction.
        name = f"{self._connection.name}-{next(NUMBERS)}"
        answer = self._connection.hub.bus.ask(
            v.BeginTransaction(transaction=name), self._connection.name
        )
        insist(answer)
        self._open.add(name)
        # Sends in this transaction over other connections count for the client that began it.
        self._connection.hub.owners[name] = self._connection
        self._connection.kept.begin(name)
        return name

    def _forget(self, name: str) -> None:
        self._connection.hub.owners.pop(name, None)
        self._connection.kept.end(name)

    def _end(self, name: str, *, failed: bool) -> None:
        if name not in self._open:
            # A transaction belongs to the link that began it; no other link can end it.
            raise Refusal("amqp:transaction:unknown-id", "There is no such transaction here.", 404)
        # A commit ends the transaction even if it fails, so nothing more is counted for it.
        self._open.discard(name)
        self._forget(name)
        stage, who = self._connection.hub.stage, self._connection.name
        too_many = None if failed else self._objection(name)
        if failed or too_many is not None:
            answer = stage.roll_back(name, who)
        else:
            answer = stage.commit(name, who)
        if too_many is not None:
            raise Refusal("amqp:transaction:rollback", too_many.description)
        if (refusal := refusal_of(answer)) is not None:
            # AMQP has a separate error for a commit that failed and was rolled back.
            raise Refusal("amqp:transaction:rollback", refusal.description)

    def _objection(self, name: str) -> Refusal | None:
        """Return why a transaction cannot be committed here, if it makes too many copies."""
        hub = self._connection.hub
        transaction = hub.bus.namespace.transactions.get(name)
        sends = () if transaction is None else transaction.sends
        copies = sum(hub.copies.of(send.entity.path) for send in sends if send.scheduled is None)
        if copies > len(sends) and copies > (most := hub.limits.copies):
            return too_many_copies_in_all(copies, most)
        return None
