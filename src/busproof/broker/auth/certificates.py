"""TLS certificates: given ones, and one made for a single run."""

import ssl
from collections.abc import Sequence
from pathlib import Path

import attrs

from busproof.errors import UsageError
from busproof.extras import need

__all__ = ["Certificate", "make_context"]


@attrs.frozen
class Certificate:
    """A given certificate chain and its private key, as PEM; one file may have both.

    Args:
        chain: the certificate and the intermediate certificates.
        key: the key, if it is in a separate file.
    """

    chain: Path
    key: Path | None

    def context(self) -> ssl.SSLContext:
        """Return a TLS context for a server: TLS 1.2 or later, with Python's default ciphers.

        Raises:
            UsageError: a file cannot be read, or the key does not match.
        """
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.load(context)
        return context

    def load(self, context: ssl.SSLContext) -> None:
        """Load the files, as they are now, for later connections.

        Raises:
            UsageError: a file cannot be read, or the key does not match.
        """
        for path in (self.chain, self.key):
            if path is not None:
                _check_readable(path)
        try:
            context.load_cert_chain(self.chain, self.key, password=self._refuse_to_ask)
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                raise UsageError(
                    f"the key {self.key or self.chain} does not belong to the certificate "
                    f"{self.chain}"
                ) from None
            raise UsageError(f"cannot use {self._named()}: {_reason(error)}") from None

    def _refuse_to_ask(self) -> str:
        """Refuse an encrypted key, because OpenSSL would prompt for its password."""
        raise UsageError(
            f"the key {self.key or self.chain} is protected by a password; give one that is not"
        )

    def _named(self) -> str:
        own = f"the certificate {self.chain}"
        return own if self.key is None else f"{own} with the key {self.key}"


def _check_readable(path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or "it has no certificate, or no key, as PEM").replace("_", " ")


def make_context(hosts: Sequence[str], authority: Path, *, option: str = "--tls") -> ssl.SSLContext:
    """Make a certificate for the given hosts and localhost; clients have to trust its authority.

    Args:
        hosts: the names that clients use for the broker.
        authority: the file to write the authority's certificate to, as PEM.
        option: the option that requests the certificate, for errors.

    Raises:
        UsageError: the file cannot be written, or the extra for certificates is missing.
    """
    need("amqp", option)
    import trustme  # needs the extra

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    maker = trustme.CA(organization_name="busproof")
    names = {*hosts, "localhost", "127.0.0.1"}
    try:
        maker.issue_cert(*sorted(names)).configure_cert(context)
    except ValueError as error:
        raise UsageError(f"{option} makes no certificate for {', '.join(hosts)}: {error}") from None
    try:
        maker.cert_pem.write_to_path(str(authority))
    except OSError as error:
        raise UsageError(f"cannot write {authority}: {error.strerror}") from None
    return context
