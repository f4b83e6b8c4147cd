"""Messages that are in a queue before the program under test begins."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from proton import Message, symbol
from proton.utils import BlockingConnection

if TYPE_CHECKING:
    from busproof.broker.embedding import Embedded

__all__ = ["send_first"]


def send_first(
    bus: "Embedded",
    entity: str,
    bodies: Iterable[str],
    session: str | None = None,
    key: str | None = None,
) -> None:
    """Send messages with these bodies, which are their MessageIds, too."""
    (name,) = re.findall(r"SharedAccessKeyName=([^;]+)", bus.connection_string)
    (secret,) = re.findall(r"SharedAccessKey=([^;]+)", bus.connection_string)
    connection = BlockingConnection(
        f"amqp://127.0.0.1:{bus.port}",
        user=name,
        password=secret,
        allowed_mechs="PLAIN",
        timeout=60,
    )
    sender = connection.create_sender(entity)
    for body in bodies:
        message = Message(body, id=body, group_id=session)
        message.annotations = None if key is None else {symbol("x-opt-partition-key"): key}
        sender.send(message)
    connection.close()
