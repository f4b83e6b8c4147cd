"""A client of the service over HTTP: its requests have one connection, as long as it is kept."""

import json
import math
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from busproof.adapters.amqp.entities import detail_of
from busproof.adapters.amqp.failing import Rejected, Silent
from busproof.adapters.amqp.http_connection import HttpAnswer, HttpConnection
from busproof.adapters.amqp.target import Target

__all__ = ["HttpClient"]

EMPTY: Final = 204
BAD_REQUEST: Final = 400
GONE: Final = (404, 410)
TOO_LARGE: Final = 413
LOCK_LOST: Final = "com.microsoft:message-lock-lost"
NOT_FOUND: Final = "amqp:not-found"
MESSAGE_TOO_LARGE: Final = "amqp:link:message-size-exceeded"
OF_SIZE: Final = ("too large", "larger than", "message size", "size of the message", "message has")
"""Words by which a status of 403 speaks of a message, and not of an entity without room."""
OF_ENTITY: Final = ("40400", "entity", "endpoint", "queue", "topic", "subscription")
"""Words by which a status of 404 speaks of an entity."""


class HttpClient:
    """A client over HTTP.

    Args:
        target: the service.
        timeout: maximum wait for an answer, in seconds.
    """

    def __init__(self, target: Target, timeout: float) -> None:
        self._target = target
        self._http = HttpConnection(target.admin, timeout)
        self._met: dict[str, int] = {}
        """For each entity, the number of the connection that first received from it."""

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def beat(self) -> None:
        """Do nothing: HTTP has no heartbeats."""

    def send(self, path: str, headers: Mapping[str, str], body: bytes) -> None:
        """Send a message, or a batch.

        Raises:
            Rejected: the service refuses it.
        """
        self._ask("POST", path, f"/{quote(path, safe='/$')}/messages", headers, body)

    def receive(self, path: str, *, locks: bool, wait: float) -> HttpAnswer | None:
        """Receive a message, or `None` if none comes while the service waits.

        Args:
            path: the path of the entity.
            locks: whether to lock the message, or to delete it.
            wait: maximum wait for a message, in seconds.

        Raises:
            Rejected: the service refuses.
            Silent: nothing came, but perhaps only as the server has not kept the connection.
        """
        seconds = math.ceil(wait)
        target = f"/{quote(path, safe='/$')}/messages/head?timeout={seconds}"
        answer = self._ask("POST" if locks else "DELETE", path, target, wait=seconds)
        opened = self._http.opened
        if self._met.setdefault(path, opened) != opened and answer.status == EMPTY:
            # The front end of the connection before may have the messages in its cache (LIFE-08).
            raise Silent(
                "nothing was received on a new connection; the last one was not kept alive"
            )
        return None if answer.status == EMPTY else answer

    def settle(self, method: str, path: str, place: str) -> HttpAnswer:
        """Complete or unlock a locked message, or renew its lock.

        Args:
            method: `DELETE`, `PUT` or `POST`.
            path: the path of the entity.
            place: the path of the locked message.

        Raises:
            Rejected: the service refuses.
        """
        return self._ask(method, path, place, is_of_lock=True)

    def place_in(self, answer: HttpAnswer) -> str | None:
        """Return the path of a locked message that an answer names; `None` if it names none."""
        location = answer.header("Location")
        if location is None:
            return None
        base = urlsplit(self._target.admin).path
        return urlsplit(location).path.removeprefix(base)

    def _ask(
        self,
        method: str,
        path: str,
        target: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        wait: float = 0.0,
        *,
        is_of_lock: bool = False,
    ) -> HttpAnswer:
        token = {"Authorization": self._target.token(path), "Content-Length": str(len(body or b""))}
        answer = self._http.ask(method, target, token | dict(headers or {}), body, wait)
        if answer.status >= BAD_REQUEST:
            raise _read_refusal(answer, is_of_lock=is_of_lock)
        return answer


def _read_refusal(answer: HttpAnswer, *, is_of_lock: bool) -> Rejected:
    """Return what a refusal means, by its status and its words."""
    status = answer.status
    detail = _read_detail(answer)
    words = detail.lower()
    if status in GONE:
        is_lock = "lock" in words or not any(word in words for word in OF_ENTITY)
        return Rejected(LOCK_LOST if is_of_lock and is_lock else NOT_FOUND, detail)
    if status == TOO_LARGE or (status == 403 and any(word in words for word in OF_SIZE)):
        return Rejected(MESSAGE_TOO_LARGE, detail)
    if "disabled" in words:
        return Rejected("com.microsoft:entity-disabled", detail)
    if status == 429:
        return Rejected("com.microsoft:server-busy", detail)
    return Rejected(f"http:{status}", detail)


def _read_detail(answer: HttpAnswer) -> str:
    """Return the sentence of a refusal, which may be in XML, in JSON, or plain."""
    detail = detail_of(answer.body)
    try:
        said = json.loads(answer.body)
    except ValueError:
        return detail
    return json.dumps(said)[:200]
