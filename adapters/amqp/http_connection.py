"""A connection over HTTP that is kept alive, and known to be another one once it is not."""

import http.client
import select
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import attrs

from busproof.adapters.amqp.failing import Lost, Silent, Unreachable

__all__ = ["HttpAnswer", "HttpConnection"]


@attrs.frozen
class HttpAnswer:
    """An answer over HTTP; `headers` has their names as the server wrote them."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return a header, whatever the case of its name; `None` if there is none."""
        return next((text for known, text in self.headers if known.lower() == name.lower()), None)


class HttpConnection:
    """A connection to a server, opened on first use and again once it has ended.

    Args:
        address: the address of the server, which may have a path.
        timeout: maximum wait for an answer, in seconds.
    """

    def __init__(self, address: str, timeout: float) -> None:
        self._address = urlsplit(address)
        self._timeout = timeout
        self._http: http.client.HTTPConnection | None = None
        self.opened = 0
        """How often it was opened; a server may treat each time as another client."""

    def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def ask(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        wait: float = 0.0,
    ) -> HttpAnswer:
        """Send a request, and return the answer.

        Args:
            method: the method.
            target: the path and the query.
            headers: the headers.
            body: the body.
            wait: how long the server may wait before it answers, in seconds.

        Raises:
            Unreachable: the server cannot be reached, so nothing was requested.
            Silent: no answer comes in time.
            Lost: the connection is lost; the request may have taken effect.
        """
        connection = self._connect()
        seconds = self._timeout + wait
        connection.sock.settimeout(seconds)
        try:
            connection.request(method, self._address.path + target, body, dict(headers))
            answer = connection.getresponse()
            return HttpAnswer(answer.status, tuple(answer.getheaders()), answer.read())
        except TimeoutError:
            self.close()
            raise Silent(f"{method} was not answered within {seconds:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Lost(f"the HTTP connection fails: {error!r}") from None

    def _connect(self) -> http.client.HTTPConnection:
        if self._http is not None and _is_over(self._http):
            self.close()
        if self._http is None:
            url = self._address
            kind: Any = http.client.HTTPConnection
            if url.scheme == "https":
                kind = http.client.HTTPSConnection
            made: http.client.HTTPConnection = kind(url.hostname, url.port, timeout=self._timeout)
            try:
                made.connect()
            except OSError as error:
                raise Unreachable(f"nobody answers at {url.netloc}: {error}") from None
            self._http = made
            self.opened += 1
        return self._http


def _is_over(kept: http.client.HTTPConnection) -> bool:
    """Return whether the server has closed an idle connection: only its end is readable then."""
    return kept.sock is None or bool(select.select([kept.sock], [], [], 0)[0])
