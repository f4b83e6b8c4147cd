"""What is served over HTTP: administration, and messages."""

import asyncio
from collections.abc import Awaitable, Callable

from busproof.broker.admin.endpoint import Administration
from busproof.broker.core import Hub
from busproof.broker.http_requests import Answer, Later, Request, Room, make_handler
from busproof.broker.rest.addresses import address_of
from busproof.broker.rest.messages import Messages

__all__ = ["serve_http"]


def serve_http(
    hub: Hub, administration: Administration
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return a callback for `asyncio.start_server` that serves administration and messages.

    The method and the path of a request say which of them it is for.
    """
    messages = Messages(hub)

    def admit(head: Request) -> Answer | Room:
        address = address_of(head.method, head.target)
        return administration.admit(head) if address is None else messages.admit(head, address)

    def answer(request: Request) -> Answer | Awaitable[Answer | Later]:
        address = address_of(request.method, request.target)
        if address is None:
            return administration.answer(request)
        return messages.answer(request, address)

    return make_handler(answer, hub.wait_until_saved, hub.limits, admit, hub.rota.take, hub.budget)
