"""A certificate for the administration endpoint, made for one run."""

import ssl
from pathlib import Path

from busproof.errors import UsageError

__all__ = ["made"]


def made(host: str, authority: Path) -> ssl.SSLContext:
    """A certificate for this host and the local one; clients have to trust its authority.

    Args:
        host: where the broker listens.
        authority: where the authority's certificate is written, as PEM.

    Raises:
        UsageError: it cannot be written, or what makes certificates is missing.
    """
    try:
        import trustme  # noqa: PLC0415 - needs the extra
    except ImportError:
        raise UsageError(
            "--admin-tls needs trustme; install it with pip install 'busproof[amqp]', or give a "
            "certificate of your own with --admin-cert"
        ) from None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    maker = trustme.CA(organization_name="busproof")
    maker.issue_cert(*{host, "localhost", "127.0.0.1"}).configure_cert(context)
    try:
        maker.cert_pem.write_to_path(str(authority))
    except OSError as error:
        raise UsageError(f"cannot write {authority}: {error.strerror}") from None
    return context
