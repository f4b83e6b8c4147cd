"""The embedded broker as a separate process, and its control over HTTP."""

import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import IO, Any, Final

from busproof import vocabulary as v
from busproof.adapters.amqp.target import Target, target_of
from busproof.errors import AdapterError

__all__ = ["Embedded"]

STARTED_IN: Final = 60.0
"""Maximum time for a broker to start listening, in seconds."""
PAUSE: Final = 0.02
ENDED_IN: Final = 5.0
LIMITS: Final = ("--limit", "idle=0", "--limit", "http-idle=86400")
"""Options that keep idle connections open, because judging may take long between requests."""
LOG_TOLD: Final = 2_000
READY: Final = re.compile(r"HTTP on (?P<admin>\S+:\d+),.*?(?P<endpoint>Endpoint=\S+)", re.DOTALL)


class Embedded:
    """A process that runs the embedded broker.

    Args:
        options: options of `busproof serve` other than its ports.
        timeout: maximum wait for an answer over HTTP, in seconds.

    Raises:
        AdapterError: the broker does not start or does not answer; the message has the end of its
            log.
    """

    def __init__(self, options: tuple[str, ...], timeout: float) -> None:
        self._log: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - open as long as the broker runs
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "busproof", "serve"),
                *("--port", "0", "--admin-port", "0", "--control", *LIMITS, *options),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
        )
        try:
            admin, endpoint = self._listening()
        except BaseException:
            self.stop()
            raise
        self.target: Target = target_of(f"{endpoint};AdminEndpoint=http://{admin}")
        host, _, port = admin.rpartition(":")
        self._http = http.client.HTTPConnection(host, int(port), timeout=timeout)

    def _listening(self) -> tuple[str, str]:
        end = time.monotonic() + STARTED_IN
        while time.monotonic() < end and self._process.poll() is None:
            match = READY.search(self._read_output())
            if match is not None:
                return match["admin"], match["endpoint"].rstrip(";")
            time.sleep(PAUSE)
        raise AdapterError(f"the broker did not start{self.tail()}")

    def _read_output(self) -> str:
        self._log.seek(0)
        return self._log.read()

    def tail(self) -> str:
        """Return the end of the broker's log, to append to a sentence."""
        log = self._read_output().strip()[-LOG_TOLD:]
        return f"\nits log ends with:\n{log}" if log else "; its log is empty"

    @property
    def process(self) -> int:
        """The process id of the broker."""
        return self._process.pid

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(ENDED_IN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def begin(self, profile: v.Profile) -> int:
        """Begin with an empty namespace; return when its time 0 is, in microseconds since 1970."""
        answer = self.ask(
            "namespace",
            {
                "edition": profile.edition,
                "tier": profile.tier.value,
                "readings": dict(profile.readings),
                "partitions": profile.partitions,
                "namespace_partitions": profile.namespace_partitions,
                "messaging_units": profile.messaging_units,
            },
        )
        return int(answer["epoch"])

    def decisions(self, after: int) -> list[dict[str, Any]]:
        """Return the decisions on sends after decision number `after`, oldest first."""
        decisions: list[dict[str, Any]] = self.ask(f"decisions?after={after}")
        return decisions

    def disturb(self, queue: str, partition: int, *, down: bool) -> v.Outcome:
        """Take a partition down or bring it up; refused if the partition does not exist."""
        end = "down" if down else "up"
        body = {"entity": queue, "partition": partition, "planned": True}
        status, answer = self._ask(f"partitions/{end}", body)
        if status >= http.client.BAD_REQUEST:
            return v.Refused(error=v.Error.NOT_FOUND, detail=str(answer.get("error")))
        return v.Done()

    def restore(self, command: v.RestoreQueue) -> v.Outcome:
        """Restore a partitioned queue from a time when the tier still permitted it."""
        body = {
            "entity": command.queue,
            "requires_session": command.requires_session,
            "duplicate_detection": command.duplicate_detection,
            "max_size": command.max_size,
        }
        status, answer = self._ask("entities/restore", body)
        if status >= http.client.BAD_REQUEST:
            return v.Refused(error=v.Error.ALREADY_EXISTS, detail=str(answer.get("error")))
        return v.Done()

    def ask(self, what: str, body: Mapping[str, Any] | None = None) -> Any:
        """Request a resource under `/busproof/`, and return the answer.

        Raises:
            AdapterError: the answer is an error, or no answer comes.
        """
        status, answer = self._ask(what, body)
        if status >= http.client.BAD_REQUEST:
            raise AdapterError(f"the broker refuses {what}: {answer.get('error')}")
        return answer

    def _ask(self, what: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
        try:
            self._http.request(method, f"/busproof/{what}", data)
            answer = self._http.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._http.close()
            raise AdapterError(f"the broker does not answer {what}: {error}{self.tail()}") from None
