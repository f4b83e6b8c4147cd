"""What was answered over HTTP is there after a kill."""

from pathlib import Path

import pytest
from work import PATIENCE

from ..conftest import launched, running
from .speaking import speaker

pytestmark = pytest.mark.slow

FREE = ("--port", "0", "--admin-port", "0", "--control")


def test_messages_and_locks_outlast_a_kill(tmp_path: Path, config: Path) -> None:
    options = (*FREE, "--store", str(tmp_path / "store"), "--config", str(config))
    first = launched(*options)
    try:
        with speaker(running(first).admin) as http:
            for body in ("kept", "locked", "gone"):
                assert 201 == http.send("plain", body, {"MessageId": body}, Size="3").status
            assert b"kept" == http.lock("plain").body
            locked = http.lock("plain")
            assert b"gone" == http.take("plain").body
    finally:
        first.kill()
        first.wait(PATIENCE)
    second = launched(*options)
    try:
        with speaker(running(second).admin) as http:
            assert 204 == http.take("plain").status
            assert 200 == http.ask("PUT", locked.place).status
            again = http.take("plain")
            assert (b"locked", "3", "locked") == (
                again.body,
                again.headers["Size"],
                again.broker["MessageId"],
            )
    finally:
        second.kill()
        second.wait(PATIENCE)
