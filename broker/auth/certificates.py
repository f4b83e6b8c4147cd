"""Certificates: those that are given, and one that is made for one run."""

import ssl
from collections.abc import Sequence
from pathlib import Path

import attrs

from busproof.errors import UsageError
from busproof.extras import need

__all__ = ["Certificate", "made"]


@attrs.frozen
class Certificate:
    """A certificate that is given: its chain and its key, as PEM; the key may be in either file.

    Args:
        chain: the certificate, and those between it and its authority.
        key: its key, if it is in a file of its own.
    """

    chain: Path
    key: Path | None

    def context(self) -> ssl.SSLContext:
        """What a server speaks TLS by: 1.2 at least, with the ciphers that Python takes for good.

        Raises:
            UsageError: a file cannot be read, or the two do not belong together.
        """
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.load(context)
        return context

    def load(self, context: ssl.SSLContext) -> None:
        """Read the files, as they are now, for all connections to come.

        Raises:
            UsageError: a file cannot be read, or the two do not belong together.
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
        """A key with a password would have one asked for at the terminal."""
        raise UsageError(
            f"the key {self.key or self.chain} is protected by a password; give one that is not"
        )

    def renew(self, context: ssl.SSLContext) -> None:
        """Read the files again; what does not fit together leaves the context as it was.

        Raises:
            UsageError: a file cannot be read, or the two do not belong together.
        """
        self.context()
        self.load(context)

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


def made(hosts: Sequence[str], authority: Path, *, option: str = "--tls") -> ssl.SSLContext:
    """Make a certificate for these hosts and the local one; clients have to trust its authority.

    Args:
        hosts: by what clients know the broker.
        authority: where the authority's certificate is written, as PEM.
        option: asks for the certificate.

    Raises:
        UsageError: it cannot be written, or what makes certificates is missing.
    """
    need("amqp", option)
    import trustme  # noqa: PLC0415 - needs the extra

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
