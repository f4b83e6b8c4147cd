"""Who is answered under `/busproof/`: nobody, programs of this machine, or who has a token."""

import base64
import hashlib
import http.client
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import attrs
import pytest
from work import PATIENCE

from busproof.broker.admin.access import Control, is_local
from busproof.broker.http_requests import Request

from ..conftest import Served, serving


def asked(served: Served, path: str, **headers: str) -> int:
    """The number that a request is answered with."""
    host = urlsplit(served.admin)
    connection = http.client.HTTPConnection(host.hostname or "", host.port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.fixture
def closed() -> Iterator[Served]:
    with serving() as served:
        yield served


@pytest.fixture
def local() -> Iterator[Served]:
    with serving("--control") as served:
        yield served


@pytest.fixture
def token(tmp_path: Path) -> Iterator[Served]:
    path = tmp_path / "token"
    path.write_text("open-sesame\n", encoding="utf-8")
    path.chmod(0o600)
    with serving("--control-token", str(path)) as served:
        yield served


@pytest.mark.slow
def test_control_endpoint_is_off_by_default(closed: Served) -> None:
    for path in ("/busproof/state", "/busproof/clock", "/%62usproof/state", "/busproof/"):
        assert 404 == asked(closed, path)
    assert 200 == asked(closed, "/health")


@pytest.mark.slow
def test_control_endpoint_answers_local_programs_but_no_web_page(local: Served) -> None:
    """A page that a browser shows says where it is from, or by which name it was asked."""
    assert 200 == asked(local, "/busproof/state")
    assert 200 == asked(local, "/busproof/state", Host="localhost:1")
    assert 403 == asked(local, "/busproof/state", Origin="http://localhost")
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", ""):
        assert 403 == asked(local, "/busproof/state", Host=host)


@pytest.mark.slow
def test_its_own_page_is_answered_and_shown_in_no_other(local: Served) -> None:
    """A page of the same host and port is its own; one of another port is not."""
    host = urlsplit(local.admin).netloc
    assert 200 == asked(local, "/busproof/overview", Origin=f"http://{host}")
    for origin in ("http://127.0.0.1", f"http://localhost:{host.split(':')[1]}", "null", "file://"):
        assert 403 == asked(local, "/busproof/overview", Origin=origin)
    with urllib.request.urlopen(f"{local.admin}/busproof/", timeout=PATIENCE) as answer:
        policy, text = answer.headers["Content-Security-Policy"], answer.read().decode()
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    for name in ("script", "style"):
        inner = text.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize(
    ("control", "seen", "used"),
    [
        (Control(), 404, 404),
        (Control(is_seen=True), None, 404),
        (Control(is_on=True), None, None),
        (Control(is_on=True, token="word"), 401, 401),
        (Control(token="word", is_seen=True), 401, 404),
    ],
)
def test_read_access_allows_no_changes(
    control: Control, seen: int | None, used: int | None
) -> None:
    request = Request("GET", "/busproof/overview", {"host": "localhost"}, b"", "127.0.0.1")
    elsewhere = attrs.evolve(request, peer="10.0.0.7")
    for looks, status in ((True, seen), (False, used)):
        objection = control.objection(request, looks=looks)
        assert status == (objection[0] if objection else None)
        assert control.objection(elsewhere, looks=looks) is not None


@pytest.mark.slow
def test_control_endpoint_requires_the_token(token: Served) -> None:
    """And nobody else, from wherever he asks."""
    assert 200 == asked(token, "/busproof/state", Authorization="Bearer open-sesame")
    for shown in ("Bearer open-sesam", "Bearer open-sesame2", "open-sesame", "Bearer ", "Basic x"):
        assert 401 == asked(token, "/busproof/state", Authorization=shown)
    assert 401 == asked(token, "/busproof/state")
    token.process.terminate()
    assert "open-sesame" not in token.said + token.process.communicate(timeout=PATIENCE)[1]


@pytest.mark.parametrize(
    ("peer", "status"),
    [("127.0.0.1", None), ("::1", None), ("::ffff:127.0.0.1", None), ("10.0.0.7", 403), ("", 403)],
)
def test_without_a_token_others_are_not_answered(peer: str, status: int | None) -> None:
    request = Request("GET", "/busproof/state", {"host": "localhost:5300"}, b"", peer)
    objection = Control(is_on=True).objection(request)
    assert status == (objection[0] if objection else None)
    shown = Request("GET", "/", {"authorization": "Bearer word"}, b"", peer)
    assert Control(is_on=True, token="word").objection(shown) is None
    assert "word" not in repr(Control(is_on=True, token="word"))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("127.0.0.53", True),
        ("[::1]", True),
        ("0.0.0.0", False),  # noqa: S104 - what the test is about
        ("::", False),
        ("192.168.0.1", False),
        ("localhost.example", False),
    ],
)
def test_an_address_is_reached_from_here_only_or_not(host: str, local: bool) -> None:
    assert local == is_local(host)
