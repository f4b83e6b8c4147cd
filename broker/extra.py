"""What the broker needs beside the base install."""

import importlib.util
from typing import Final

from busproof.errors import UsageError

__all__ = ["need_extra"]

NEEDED: Final = ("proton", "h11", "prometheus_client", "structlog", "wsproto")


def need_extra(what: str) -> None:
    """Insist that the extra is installed, before anything of it is imported.

    Args:
        what: needs it, as the sentence begins.

    Raises:
        UsageError: it is not.
    """
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise UsageError(
            f"{what} needs python-qpid-proton and other packages; install them with "
            "pip install 'busproof[amqp]'"
        )
