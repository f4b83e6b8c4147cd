"""Judging of a recording while it goes on, by another process."""

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from busproof.history.lines import encode_line

__all__ = ["VIOLATIONS", "LiveJudge", "serve_metrics"]

VIOLATIONS: Final = "violations.jsonl"
"""File in the folder of a recording with a line for each rule that it breaks."""
GROWTH: Final = 1.1
"""How much longer a recording must be to be judged again, so that all judging together costs at
most eleven times what judging the whole once does."""
OVER: Final = 10
SHOWN: Final = 3
"""Maximum number of allowed answers in a sentence."""


class LiveJudge:
    """A judge that reads a recording now and then, and tells of each broken rule once.

    Args:
        folder: the folder of the recording.
        events: returns how many events it has.
        tell: prints a sentence.

    Attributes:
        judged: how many events were judged.
        violations: the broken rules by id, with what is told of each.
    """

    def __init__(
        self, folder: Path, events: Callable[[], int], tell: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._events = events
        self._tell = tell
        self.judged = 0
        self.violations: dict[str, dict[str, Any]] = {}

    async def go_on(self, seconds: float) -> None:
        """Judge whenever so much time has passed and the recording has grown by a tenth."""
        while True:
            await asyncio.sleep(seconds)
            if self._events() > self.judged * GROWTH:
                await self.judge()

    async def judge(self) -> None:
        """Judge all that is recorded so far."""
        events = self._events()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "busproof", "check", str(self._folder), "--format", "json"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            said, error = await process.communicate()
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        try:
            rules = json.loads(said)["rules"]
        except (KeyError, ValueError):
            sentence = error.decode("utf-8", "replace").strip().splitlines()
            self._tell(f"not judged: {sentence[-1] if sentence else 'the judge ended'}")
            return
        self.judged = events
        for rule in rules:
            if rule["verdict"] == "violated" and rule["id"] not in self.violations:
                self._report_violation(rule)

    def _report_violation(self, rule: dict[str, Any]) -> None:
        shown = rule.get("counterexample") or {}
        line = {
            "rule": rule["id"],
            "title": rule["title"],
            "events": self.judged,
            "seen": shown.get("seen", ""),
            "allowed": shown.get("allowed", []),
            "last": (shown.get("events") or [None])[-1],
        }
        self.violations[rule["id"]] = line
        with suppress(OSError), (self._folder / VIOLATIONS).open("ab") as file:
            file.write(encode_line(line))
        allowed = " or ".join(line["allowed"][:SHOWN]) or "something else"
        self._tell(
            f"{rule['id']} is violated ({rule['title']}): seen {line['seen']}, allowed {allowed}"
        )


def serve_metrics(
    host: str, port: int, figures: dict[str, tuple[str, Callable[[], float]]]
) -> Callable[[], None]:
    """Serve gauges in the Prometheus format at `/metrics`; return a function that ends that.

    Args:
        host: the address to listen on.
        port: the port.
        figures: by name, what each gauge is and how to read it.

    Raises:
        OSError: the port is in use.
    """
    from prometheus_client import CollectorRegistry, Gauge, start_http_server

    registry = CollectorRegistry()
    for name, (meaning, read) in figures.items():
        Gauge(f"busproof_record_{name}", meaning, registry=registry).set_function(read)
    server, thread = start_http_server(port, addr=host, registry=registry)

    def end() -> None:
        server.shutdown()
        thread.join()

    return end
