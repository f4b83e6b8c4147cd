"""TLS, for AMQP and for HTTP: who speaks it, what is refused, and certificates that do not fit."""

import os
import re
import signal
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
import trustme
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus._pyamqp import _connection as connection_module
from azure.servicebus.exceptions import ServiceBusError
from cryptography.hazmat.primitives import serialization
from proton import Message, SSLDomain
from proton.utils import BlockingConnection
from work import PATIENCE

from busproof.broker.auth.certificates import Certificate
from busproof.errors import UsageError

from .. import raw
from ..conftest import SETTINGS, Served, serving


@attrs.frozen
class Files:
    """A certificate for this machine in files, and that of its authority."""

    authority: Path
    chain: Path
    key: Path

    def written(self) -> "Files":
        """With a new certificate, of another authority."""
        maker = trustme.CA()
        issued = maker.issue_cert("localhost", "127.0.0.1")
        maker.cert_pem.write_to_path(str(self.authority))
        issued.cert_chain_pems[0].write_to_path(str(self.chain))
        issued.private_key_pem.write_to_path(str(self.key))
        self.key.chmod(0o600)
        return self


def files_in(folder: Path) -> Files:
    folder.mkdir(exist_ok=True)
    return Files(folder / "authority.pem", folder / "chain.pem", folder / "key.pem").written()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_in(tmp_path_factory.mktemp("tls"))


@attrs.frozen
class Secured:
    """A broker that speaks TLS."""

    served: Served
    port: int


def begun(files: Files, config: Path, *more: str) -> Iterator[Secured]:
    own = ("--tls-cert", str(files.chain), "--tls-key", str(files.key))
    ports = ("--tls-port", "0", "--admin-port", "0")
    with serving(*own, *more, "--config", str(config), ports=ports) as served:
        yield Secured(served, served.port)


@pytest.fixture(scope="module")
def secured(files: Files, config: Path) -> Iterator[Secured]:
    yield from begun(files, config)


@pytest.mark.slow
def test_the_official_client_speaks_tls(secured: Secured, files: Files, monkeypatch) -> None:
    """With a certificate that it trusts; and without that, not at all.

    It always asks the one port that AMQP over TLS has, which is all that is changed of it.
    """
    monkeypatch.setattr(connection_module, "SECURE_PORT", secured.port)
    text = (
        "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE"
    )
    for trusted, comes in ((str(files.authority), True), (None, False)):
        client = ServiceBusClient.from_connection_string(
            text, connection_verify=trusted, **SETTINGS
        )
        sending = client.get_queue_sender("plain")
        if not comes:
            with pytest.raises(ServiceBusError, match=r"(?i)certificate verify failed"):
                sending.send_messages(ServiceBusMessage("never"))
            continue
        with client, sending as sender:
            sender.send_messages(ServiceBusMessage("by TLS"))
            with client.get_queue_receiver("plain") as receiver:
                (came,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
                assert "by TLS" == str(came)
                receiver.complete_message(came)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["localhost", "local.servicebus.windows.net"])
def test_a_certificate_is_made_for_everything_that_speaks_tls(tmp_path: Path, name: str) -> None:
    """AMQP, AMQP over WebSockets and HTTPS; for names that are asked for, too."""
    authority = tmp_path / "authority.pem"
    ports = ("--tls-port", "0", "--admin-port", "0", "--websocket-port", "0")
    made = ("--tls", str(authority), "--tls-name", "*.servicebus.windows.net")
    with serving(*made, ports=ports) as served:
        found = re.search(r"AMQP over WebSockets and TLS on [^ ]+:(\d+)", served.said)
        assert found is not None, served.said
        assert "AMQP on" not in served.said
        trusting = ssl.create_default_context(cafile=str(authority))
        for port in (served.port, int(found[1]), int(served.admin.rpartition(":")[2])):
            with (
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain,
                trusting.wrap_socket(plain, server_hostname=name),
            ):
                pass
        with (
            socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as plain,
            pytest.raises(ssl.SSLCertVerificationError),
        ):
            trusting.wrap_socket(plain, server_hostname="elsewhere.example")


@pytest.mark.slow
def test_another_client_logs_in_by_tls(secured: Secured, files: Files) -> None:
    domain = SSLDomain(SSLDomain.MODE_CLIENT)
    domain.set_trusted_ca_db(str(files.authority))
    domain.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
    connection = BlockingConnection(
        f"amqps://localhost:{secured.port}",
        timeout=PATIENCE,
        ssl_domain=domain,
        user="RootManageSharedAccessKey",
        password="SAS_KEY_VALUE",
        allowed_mechs="PLAIN",
    )
    connection.create_sender("plain").send(Message("by TLS"))
    assert "by TLS" == connection.create_receiver("plain").receive(timeout=PATIENCE).body
    connection.close()


@pytest.mark.slow
def test_nothing_is_spoken_without_it(secured: Secured, files: Files) -> None:
    """Neither AMQP nor HTTP; and by HTTPS what HTTP would say."""
    assert "AMQP on" not in secured.served.said
    assert "UseDevelopmentEmulator" not in secured.served.connection_string
    with socket.create_connection(("127.0.0.1", secured.port), timeout=PATIENCE) as plain:
        plain.sendall(b"AMQP\x03\x01\x00\x00")
        assert not plain.recv(100).startswith(b"AMQP")
    port = secured.served.admin.rpartition(":")[2]
    with pytest.raises((urllib.error.URLError, OSError)):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=PATIENCE)
    context = ssl.create_default_context(cafile=str(files.authority))
    with urllib.request.urlopen(
        f"https://localhost:{port}/health", timeout=PATIENCE, context=context
    ) as answer:
        assert 200 == answer.status


@pytest.mark.slow
def test_addresses_of_entities_begin_as_the_client_asked(secured: Secured, files: Files) -> None:
    port = secured.served.admin.rpartition(":")[2]
    token = raw.token(f"https://localhost:{port}/", "RootManageSharedAccessKey", "SAS_KEY_VALUE")
    request = urllib.request.Request(
        f"https://localhost:{port}/plain", headers={"Authorization": token}
    )
    context = ssl.create_default_context(cafile=str(files.authority))
    with urllib.request.urlopen(request, timeout=PATIENCE, context=context) as answer:
        assert f"<id>https://localhost:{port}/plain</id>" in answer.read().decode()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1:DeprecationWarning")
@pytest.mark.parametrize(
    ("version", "comes"), [(ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True)]
)
def test_tls_below_1_2_is_refused(
    secured: Secured, files: Files, version: ssl.TLSVersion, comes: bool
) -> None:
    """Even if the client would take it with its weakest ciphers."""
    context = ssl.create_default_context(cafile=str(files.authority))
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    with socket.create_connection(("localhost", secured.port), timeout=PATIENCE) as plain:
        if not comes:
            with pytest.raises(ssl.SSLError, match=r"(?i)version|alert|protocol"):
                context.wrap_socket(plain, server_hostname="localhost")
            return
        with context.wrap_socket(plain, server_hostname="localhost") as spoken:
            spoken.sendall(b"AMQP\x03\x01\x00\x00")
            assert spoken.recv(8).startswith(b"AMQP\x03")


@pytest.mark.slow
def test_a_certificate_is_renewed_while_it_runs(config: Path, tmp_path: Path) -> None:
    """New connections get the new one; a pair that does not fit leaves all as they are."""
    files, other = files_in(tmp_path / "own"), files_in(tmp_path / "other")
    old = files.authority.read_text()
    https = ("--admin-cert", str(other.chain), "--admin-key", str(other.key))
    for secured in begun(files, config, *https):

        def trusts(authority: str, port: int = secured.port) -> bool:
            context = ssl.create_default_context(cadata=authority)
            try:
                with socket.create_connection(("localhost", port), timeout=PATIENCE) as plain:
                    context.wrap_socket(plain, server_hostname="localhost").close()
            except ssl.SSLCertVerificationError:
                return False
            return True

        process = secured.served.process
        assert trusts(old)
        key = files.key.read_text()
        files.written()
        files.key.write_text(key)
        os.kill(process.pid, signal.SIGHUP)
        assert process.stderr is not None
        assert "does not belong to" in process.stderr.readline()
        assert trusts(old)
        files.written()
        other.chain.write_text(old)
        os.kill(process.pid, signal.SIGHUP)
        assert str(other.chain) in process.stderr.readline()
        assert trusts(old)
        other.written()
        os.kill(process.pid, signal.SIGHUP)
        assert "read again" in process.stderr.readline()
        assert trusts(files.authority.read_text())
        assert not trusts(old)


def test_a_certificate_that_cannot_be_used_is_named(files: Files, tmp_path: Path) -> None:
    """With the file, and without a question; the same pair that fits is taken."""
    other = files_in(tmp_path / "other")
    junk, missing = tmp_path / "junk.pem", tmp_path / "missing.pem"
    junk.write_text("no certificate")
    key = serialization.load_pem_private_key(files.key.read_bytes(), None)
    sealed = tmp_path / "sealed.pem"
    sealed.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"word"),
        )
    )
    for chain, own, said in (
        (files.chain, other.key, f"the key {other.key} does not belong to the certificate"),
        (files.chain, junk, "no key, as PEM"),
        (files.chain, None, "no key, as PEM"),
        (junk, files.key, "no certificate"),
        (missing, files.key, f"cannot read {missing}: No such file"),
        (files.chain, missing, f"cannot read {missing}: No such file"),
        (files.chain, tmp_path, f"cannot read {tmp_path}: Is a directory"),
        (files.chain, sealed, f"the key {sealed} is protected by a password"),
    ):
        with pytest.raises(UsageError) as raised:
            Certificate(chain, own).context()
        assert said in str(raised.value)
        assert "Enter" not in str(raised.value)
    context = Certificate(files.chain, files.key).context()
    assert ssl.TLSVersion.TLSv1_2 == context.minimum_version
    together = tmp_path / "together.pem"
    together.write_text(files.chain.read_text() + files.key.read_text())
    Certificate(together, None).context()
