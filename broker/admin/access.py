"""Who may use what lies under `/busproof/`: nobody, this machine, or who has a token."""

import hmac
import ipaddress
from typing import Final

import attrs

from busproof.broker.admin.http import Request

__all__ = ["Control", "is_local"]

BEARER: Final = "Bearer "
LOCAL_NAME: Final = "localhost"


@attrs.frozen
class Control:
    """What was asked for when the broker was started: of the control endpoint, or of the metrics.

    Args:
        is_on: whether anybody may use it.
        token: what has to be shown; without one, only this machine's own requests are answered.
        is_seen: whether the page may be looked at, though nothing else is on.
        what: is on or off, for people.
        option: turns it on.
    """

    is_on: bool = False
    token: str | None = attrs.field(default=None, repr=False)
    is_seen: bool = False
    what: str = "control"
    option: str = "--control"

    def objection(self, request: Request, *, looks: bool = False) -> tuple[int, str] | None:
        """Why a request is not answered, with HTTP's number for it; `None` if it is.

        Args:
            request: the request.
            looks: whether it only looks at what the page shows.
        """
        called = f"The {self.what} endpoint"
        if looks and not (self.is_on or self.is_seen):
            return 404, "The page is off; busproof serve --page, or --control, turns it on."
        if not (self.is_on or looks):
            return 404, f"{called} is off; busproof serve {self.option} turns it on."
        if self.token is not None:
            shown = self._shows_token(request)
            return None if shown else (401, f"The {self.what} token is not shown.")
        if not _comes_from_here(request):
            return (
                403,
                f"{called} answers this machine's own programs only; others need a "
                f"token, which busproof serve {self.option}-token asks for.",
            )
        return None

    def _shows_token(self, request: Request) -> bool:
        said = request.headers.get("authorization", "")
        shown = said.removeprefix(BEARER) if said.startswith(BEARER) else ""
        return hmac.compare_digest(shown.encode(), (self.token or "").encode())


def is_local(host: str) -> bool:
    """Whether an address, or the name of this machine for itself, is reached from here only."""
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
    """Whether a program of this machine asks, and no page that a browser of it shows but our own.

    A page says where it is from; one whose name was made to lead here says that name.
    """
    host = request.headers.get("host", "")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    origin = request.headers.get("origin")
    is_ours = origin is None or origin in (f"http://{host}", f"https://{host}")
    return is_local(request.peer) and is_local(name) and is_ours
