"""Access to the paths under `/busproof/`: off, from this machine only, or with a token."""

import hmac
import ipaddress
from typing import Final

import attrs

from busproof.broker.http_requests import Request

__all__ = ["Control", "is_local"]

BEARER: Final = "Bearer "
LOCAL_NAME: Final = "localhost"


@attrs.frozen
class Control:
    """Access to an endpoint, either the control endpoint or the metrics.

    Args:
        is_on: whether the endpoint is on.
        token: the token that requests must carry; without one, only this machine has access.
        is_seen: whether the status page may be viewed while the endpoint is off.
        what: the name of the endpoint, for messages.
        option: the command-line option that turns the endpoint on.
    """

    is_on: bool = False
    token: str | None = attrs.field(default=None, repr=False)
    is_seen: bool = False
    what: str = "control"
    option: str = "--control"

    def objection(self, request: Request, *, looks: bool = False) -> tuple[int, str] | None:
        """Return the HTTP status and the reason for refusing a request; `None` if it is permitted.

        Args:
            request: the request.
            looks: whether the request only reads what the status page shows.
        """
        called = f"The {self.what} endpoint"
        if looks and not (self.is_on or self.is_seen):
            return 404, "The page is off; busproof serve --page, or --control, turns it on."
        if not (self.is_on or looks):
            return 404, f"{called} is off; busproof serve {self.option} turns it on."
        if self.token is not None:
            shown = self._shows_token(request)
            return None if shown else (401, f"The request does not carry the {self.what} token.")
        if not _comes_from_here(request):
            return (
                403,
                f"{called} answers this machine's own programs only; others need a "
                f"token, which busproof serve {self.option}-token asks for.",
            )
        return None

    def _shows_token(self, request: Request) -> bool:
        header = request.headers.get("authorization", "")
        shown = header.removeprefix(BEARER) if header.startswith(BEARER) else ""
        return hmac.compare_digest(shown.encode(), (self.token or "").encode())


def is_local(host: str) -> bool:
    """Return whether an address is a loopback address or the name `localhost`."""
    bare = host.removeprefix("[").removesuffix("]")
    if bare.lower() == LOCAL_NAME:
        return True
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _comes_from_here(request: Request) -> bool:
    """Return whether the request is from a program on this machine, not from another host's page.

    A browser states the page's origin in its requests. After DNS rebinding, a page of another host
    reaches this machine, but its requests still state that host's name.
    """
    host = request.headers.get("host", "")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    origin = request.headers.get("origin")
    is_ours = origin is None or origin in (f"http://{host}", f"https://{host}")
    return is_local(request.peer) and is_local(name) and is_ours
