"""Selection of a link's node by its address, its direction and the client's rights."""

from functools import partial
from typing import Any, Final

from proton import Described, Link, Message, Terminus, symbol, ulong

from busproof import vocabulary as v
from busproof.broker.amqp.coordinator import Coordinator
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.incoming_links import Intake
from busproof.broker.amqp.management.operations import answerer
from busproof.broker.amqp.nodes import Node
from busproof.broker.amqp.outgoing_links import Outlet
from busproof.broker.amqp.refusals import Refusal, not_found, refuse_unauthorized
from busproof.broker.amqp.request_links import (
    CBS_STATUS,
    MANAGEMENT_STATUS,
    Answerer,
    Replies,
    Reply,
    Requests,
    read_properties,
)
from busproof.broker.amqp.session_links import (
    SESSION_FILTER,
    SessionSeeker,
    accept_session,
    properties_of,
)
from busproof.broker.auth.tokens import MANAGEMENT, TokenError, path_of
from busproof.model.values import EntityKind

__all__ = ["attach"]

CBS: Final = "$cbs"
SETTLED: Final = 1
LONGEST_SESSION_ID: Final = 128
"""Maximum length of a session id in characters, the same as for a MessageId."""
VIA: Final = "com.microsoft:transfer-destination-address"
MAX_BATCH: Final = "com.microsoft:max-message-batch-size"


def attach(connection: Connection, link: Link) -> None:
    """Attach a link to the node at its address, and open it.

    Raises:
        Refusal: there is no node at the address, or the client may not use it.
    """
    # A coordinator is a terminus of another type, without an address (section 4.5.1).
    if link.is_receiver and link.remote_target.type == Terminus.COORDINATOR:
        _coordinate(connection, link)
        return
    address = (link.remote_target if link.is_receiver else link.remote_source).address
    if not address:
        raise Refusal("amqp:invalid-field", "The link names no address.")
    # Python names entities by URI, such as `amqps://host/queue`, and other clients by path.
    path = _bare(address)
    if path == CBS:
        _ask(connection, link, CBS)
    elif path.endswith(MANAGEMENT):
        _ask(connection, link, path.removesuffix(MANAGEMENT))
    elif link.is_receiver:
        _take_in(connection, link, _entity(connection, path))
    else:
        _give_out(connection, link, _entity(connection, path))


def _bare(address: str) -> str:
    """Return the path in an address, in lower case."""
    try:
        return path_of(address)
    except TokenError as error:
        raise Refusal("amqp:invalid-field", str(error)) from None


def _entity(connection: Connection, path: str) -> str:
    """Return an entity's path as the model spells it."""
    bus = connection.hub.bus
    known = bus.path(path)
    # A bus other than the model may have entities that are unknown here, and refuses by itself.
    if bus.is_trusted and bus.entity(known) is None:
        raise not_found(path)
    return known


def _open(connection: Connection, link: Link, node: Node) -> None:
    """Open a link as the client requested it, with the same addresses.

    Of the filters, only the session filter is applied; the client sees in the answer which ones
    are.
    """
    # Python rejects an Attach that lacks one of the addresses, so both are returned unchanged.
    link.source.copy(link.remote_source)
    link.source.filter.clear()
    link.target.copy(link.remote_target)
    link.snd_settle_mode = link.remote_snd_settle_mode
    link.rcv_settle_mode = link.remote_rcv_settle_mode
    connection.attached(link, node)
    link.open()


def _check_right(connection: Connection, right: str, path: str) -> None:
    if not connection.permits(right, path):
        raise refuse_unauthorized(right, path)
    connection.hub.statuses.check(right, path)


def _take_in(connection: Connection, link: Link, path: str) -> None:
    _check_right(connection, "Send", path)
    if VIA in properties_of(link):
        # This broker cannot transfer via another entity; the message would stay there.
        raise Refusal("amqp:not-implemented", "Sending via another entity is not supported.", 501)
    bus = connection.hub.bus
    entity = bus.entity(path)
    closed = entity is not None and entity.kind is EntityKind.SUBSCRIPTION
    # The model decides single requests, but clients expect this refusal when they attach the link.
    if bus.is_trusted and (closed or v.is_dead_letter_queue(path)):
        rule = "TOPIC-06" if closed else "DLQ-11"
        raise Refusal("amqp:not-allowed", f"Nobody can send to '{path}' ({rule}).")
    node = Intake(connection, link, path)
    link.max_message_size = connection.hub.max_message
    # Without this property, Python makes batches of 1 MiB or 256 KiB, whatever a message may have.
    link.properties = {symbol(MAX_BATCH): ulong(connection.hub.max_message)}
    _open(connection, link, node)
    # AMQP permits credit only on an attached link.
    node.grant()


def _give_out(connection: Connection, link: Link, path: str) -> None:
    _check_right(connection, "Listen", path)
    bus = connection.hub.bus
    entity = bus.entity(path)
    if bus.is_trusted and (entity is None or entity.kind is EntityKind.TOPIC):
        raise Refusal("amqp:not-allowed", f"'{path}' is a topic; receive from a subscription.")
    # A receiver that requests settled transfers is in receive-and-delete mode.
    settled = link.remote_snd_settle_mode == SETTLED
    mode = v.ReceiveMode.RECEIVE_AND_DELETE if settled else v.ReceiveMode.PEEK_LOCK
    filters = _filters(link)
    # A session filter without a value requests the next session, so its presence counts.
    if SESSION_FILTER in filters:
        _session(connection, link, path, mode, filters[SESSION_FILTER])
        return
    # Dead letters are received without sessions, even where the entity requires them.
    needed = (
        entity is not None
        and entity.settings.requires_session
        and not path.endswith(v.DEAD_LETTERS)
    )
    if bus.is_trusted and needed:
        raise Refusal(
            "amqp:not-allowed",
            f"'{path}' requires sessions: it is not possible to receive from it without one "
            "(SESS-02).",
        )
    _open(connection, link, Outlet(connection, link, path, mode, None, connection.name))


def _filters(link: Link) -> dict[str, Any]:
    tree = link.remote_source.filter
    tree.rewind()
    filters = tree.get_object() if tree.next() else None
    return (
        {str(name): value for name, value in filters.items()} if isinstance(filters, dict) else {}
    )


def _session(
    connection: Connection, link: Link, path: str, mode: v.ReceiveMode, session_id: Any
) -> None:
    """Attach a link to the named session, or to the next one that is free and has messages."""
    # Named after the link, so that a client that reattaches it still holds its session.
    holder = f"{connection.name}/{link.name}"

    def opened(taken: str, until: int) -> Outlet:
        node = Outlet(connection, link, path, mode, taken, holder)
        connection.sessions[path, taken] = holder
        # Python records its session only if the address is exactly the one that it sent.
        link.source.copy(link.remote_source)
        link.source.filter.clear()
        # The filter names the session, in the form in which the client asked: JavaScript treats a
        # described one as a session that cannot be locked, and Go reads no other.
        named = taken if described is None else Described(described.descriptor, taken)
        link.source.filter.put_dict({symbol(SESSION_FILTER): named})
        link.target.copy(link.remote_target)
        link.snd_settle_mode = link.remote_snd_settle_mode
        link.rcv_settle_mode = link.remote_rcv_settle_mode
        link.properties = {symbol("com.microsoft:locked-until-utc"): until}
        connection.attached(link, node)
        link.open()
        return node

    described = session_id if isinstance(session_id, Described) else None
    if described is not None:
        session_id = described.value
    # An empty id names a session, too; only null requests the next one.
    if session_id is None:
        SessionSeeker(connection, link, path, holder, opened).begin()
        return
    if not isinstance(session_id, str):
        raise Refusal("amqp:invalid-field", "A session's id has to be a string.")
    if len(session_id) > LONGEST_SESSION_ID:
        sentence = (
            f"A session's id has at most {LONGEST_SESSION_ID} characters, not {len(session_id):,}."
        )
        raise Refusal("amqp:not-allowed", sentence)
    opened(session_id, accept_session(connection, path, session_id, holder))


def _coordinate(connection: Connection, link: Link) -> None:
    # Beginning a transaction needs no right, because each request in it is checked.
    node = Coordinator(connection, link)
    _open(connection, link, node)
    node.grant()


def _ask(connection: Connection, link: Link, path: str) -> None:
    """Attach a link for requests or replies, to `$cbs` or an entity's `$management`."""
    if path == CBS:
        # Clients without a token have to reach `$cbs`, where they put one.
        needs: tuple[str, str] | None = None
        answer: Answerer = partial(_put_token, connection)
    else:
        entity = _entity(connection, path)
        needs = _right_to_manage(connection, entity)
        answer = answerer(connection, entity)
    if link.is_sender:
        _reply(connection, link, path, needs)
        return
    # The two nodes name the status differently, and clients accept no other spelling.
    names = CBS_STATUS if path == CBS else MANAGEMENT_STATUS
    node = Requests(connection, link, path, answer, names)
    node.needs = needs
    _open(connection, link, node)
    node.grant()


def _right_to_manage(connection: Connection, entity: str) -> tuple[str, str]:
    """Return the right that lets a client attach to an entity's `$management`."""
    path = entity + MANAGEMENT
    # A client that may only send can schedule and cancel; each operation checks its right.
    if connection.permits("Send", path) and not connection.permits("Listen", path):
        return "Send", path
    _check_right(connection, "Listen", path)
    return "Listen", path


def _reply(connection: Connection, link: Link, path: str, needs: tuple[str, str] | None) -> None:
    """Attach the link that sends replies to a client."""
    # Reply addresses differ by client: Python names none in a request to `$cbs`, JavaScript
    # attaches with an empty target, and Java uses one address for all connections.
    wanted = {link.remote_target.address or "", link.remote_source.address or "", ""}
    node = Replies(connection, link, path, wanted)
    node.needs = needs
    _open(connection, link, node)
    # Python rejects an Attach whose target address is null.
    if not link.target.address:
        link.target.address = link.remote_target.address or path


def _put_token(connection: Connection, request: Message, _: str | None) -> Reply:
    """Record the claim of a token that a client has put to `$cbs`."""
    properties = read_properties(request)
    if properties.get("operation") != "put-token":
        raise Refusal(
            "amqp:not-implemented", f"$cbs knows no {properties.get('operation')!r}.", 501
        )
    token = request.body
    # Some clients send strings as bytes.
    text = (
        bytes(token).decode("utf-8", "replace")
        if isinstance(token, bytes | memoryview)
        else str(token)
    )
    hub = connection.hub
    try:
        # The name is the address that the token is for; Python writes it as a URI with the host.
        claim = hub.keys.claim(text, str(properties.get("name", "")), hub.wall())
    except TokenError as error:
        hub.journal.warning("token-refused", connection=connection.name, said=str(error))
        raise Refusal("amqp:unauthorized-access", str(error), 401) from None
    try:
        _check_there(connection, claim.path)
    except Refusal as refusal:
        hub.journal.info("token-refused", connection=connection.name, said=str(refusal))
        raise
    connection.prove(claim)
    hub.journal.info(
        "token-taken",
        connection=connection.name,
        rule=claim.rule,
        path=claim.path,
        seconds=round(claim.until - hub.wall()),
    )
    return Reply(status=202, description="Accepted")


def _check_there(connection: Connection, path: str) -> None:
    """Check that the entity of a token exists, as the service does.

    The token is validated first, so that only clients with a valid rule learn which entities exist.

    Raises:
        Refusal: the entity does not exist.
    """
    # Tokens for the whole namespace, and for `$cbs` itself, name no entity.
    entity = path.removesuffix(MANAGEMENT)
    if entity not in ("", CBS):
        _entity(connection, entity)
