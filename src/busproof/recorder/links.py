"""Links of a connection: what they carry, whose they are, and what is open on them."""

from collections import deque
from typing import Any, Final
from uuid import UUID

import attrs
from proton import Described

from busproof import vocabulary as v
from busproof.recorder import outcomes as o
from busproof.recorder.frames import Nested, Unreadable, decode_value
from busproof.recorder.messages import Content, Privacy
from busproof.recorder.requests import Call

__all__ = [
    "NEXT",
    "AmqpSession",
    "Delivery",
    "Link",
    "deliveries_in",
    "outcome_of_settlement",
    "read_session_filter",
    "settlement_of",
    "terminus_of",
    "token_of",
]

SESSION_FILTER: Final = "com.microsoft:session-filter"
REASON: Final = "DeadLetterReason"
MOST_DISPOSED: Final = 100_000
"""Maximum number of deliveries that a disposition names; more are taken for a wrong frame."""
NEXT: Final = object()
"""In place of a session id: any session."""


@attrs.define(eq=False)
class Link:
    """A link of the client.

    Attributes:
        name: its name.
        role: whether the client receives on it.
        path: the entity; empty if there is none, as for a coordinator.
        kind: what it carries: messages, requests to a management node, transactions, or nothing
            that is recorded.
        client: the client in the history.
        mode: the receive mode.
        session: the session id, `NEXT`, or `None` if it has no session.
        accepting: the request that accepts the session, until it is answered.
        closing: the request that closes the session, until it is answered.
        attached_at: when the client asked for it.
        is_open: whether the service has confirmed it.
        grants: the credit that is not used up: up to which delivery, and since when.
        given: number of deliveries so far.
        waits: the receive that stands for the unused credit, noted as open.
        part: the first frame of a message that comes in several, and its payload so far.
    """

    name: str
    role: bool
    path: str
    kind: str
    client: str
    mode: v.ReceiveMode = v.ReceiveMode.PEEK_LOCK
    session: Any = None
    accepting: Call | None = None
    closing: Call | None = None
    attached_at: int = 0
    is_open: bool = False
    grants: deque[tuple[int, int]] = attrs.field(factory=deque)
    since: int = 0
    given: int = 0
    first: int = 0
    drains: bool = False
    is_ended: bool = False
    waits: Call | None = None
    part: tuple[list[Any], bytearray] | None = None

    @property
    def session_id(self) -> str | None:
        """The id of its session, if it has one."""
        return self.session if isinstance(self.session, str) else None

    @property
    def credit(self) -> int:
        """The number of messages that the service may still send."""
        return max(0, self.grants[-1][0] - self.given) if self.grants else 0


@attrs.define(eq=False)
class Delivery:
    """A message that the client got and has not settled."""

    link: Link
    token: str
    number: int | None


@attrs.define(eq=False)
class AmqpSession:
    """A session of AMQP, which is a pair of channels."""

    ours: dict[int, Link] = attrs.field(factory=dict)
    """Links by the client's handle."""
    theirs: dict[int, Link] = attrs.field(factory=dict)
    """Links by the service's handle."""
    names: dict[tuple[str, bool], Link] = attrs.field(factory=dict)
    sent: dict[int, list[Call]] = attrs.field(factory=dict)
    """Requests by the delivery-id of the client's message; several for a batch of them."""
    got: dict[int, Delivery] = attrs.field(factory=dict)
    """Deliveries that the client has not settled, by the service's delivery-id."""
    settling: dict[int, tuple[Call, v.Settlement, int]] = attrs.field(factory=dict)
    """Settlements that await an answer, with the code of their outcome."""


def terminus_of(value: Any) -> Described | None:
    """Return the source or target of an Attach; `None` if it has none."""
    described = decode_value(value) if isinstance(value, Nested) else value
    return described if isinstance(described, Described) else None


def read_session_filter(values: Any, privacy: Privacy) -> Any:
    """Return the session in the filter of a source: its id, `NEXT`, or `None` without a filter."""
    filters = [*values, *[None] * 8][7]
    if not isinstance(filters, dict):
        return None
    for name, value in filters.items():
        if str(name).lower() == SESSION_FILTER:
            inner = value.value if isinstance(value, Described) else value
            return NEXT if inner is None else privacy.text(str(inner))
    return None


def token_of(content: Content, tag: Any) -> str:
    """Return a lock token: an annotation of the message, or the tag of its delivery."""
    if content.token is not None:
        return str(content.token)
    return (
        str(UUID(bytes_le=tag)) if isinstance(tag, bytes) and len(tag) == 16 else bytes(tag).hex()
    )


def deliveries_in(first: int, last: int | None) -> range:
    """Return the numbers of the deliveries that a disposition names.

    Raises:
        Unreadable: it names too many.
    """
    count = 1 if last is None else (last - first) % 2**32 + 1
    if count > MOST_DISPOSED:
        raise Unreadable(f"a disposition names {count:,} deliveries")
    return range(first, first + count)


def settlement_of(
    delivery: Delivery, state: o.State, transaction: str | None
) -> v.Settlement | None:
    """Return the settlement that a client asks for; `None` for one that no command says."""
    where: Any = {
        "queue": delivery.link.path,
        "lock_token": delivery.token,
        "transaction": transaction,
    }
    if state.code == o.ACCEPTED:
        return v.Complete(**where)
    if state.code == o.REJECTED:
        return v.DeadLetter(**where, reason=_reason(state.fields[0]))
    if state.code == o.MODIFIED:
        return v.Defer(**where) if state.fields[1] else v.Abandon(**where)
    return None


def _reason(error: Any) -> str:
    """Return the reason of a dead letter, which is in the info of an error."""
    values: Any = error.value if isinstance(error, Described) else []
    info = [*(values or []), None, None, None][2]
    if not isinstance(info, dict):
        return ""
    return str({str(name): text for name, text in info.items()}.get(REASON) or "")


def outcome_of_settlement(asked: int, state: o.State | None) -> v.Outcome:
    """Return the outcome of a settlement: the service answers with the one that was asked for."""
    if state is not None and state.code == o.TRANSACTIONAL:
        state = o.state_of(state.fields[1]) or o.State(asked, [])
    if state is None:
        return v.Indeterminate(detail="settled without an outcome")
    if state.code == asked and not (state.code == o.REJECTED and state.fields[0] is not None):
        return v.Done()
    if state.code == o.REJECTED:
        return o.error_outcome(state.fields[0])
    return v.Indeterminate(detail=f"answered with state {state.code:#04x}")
