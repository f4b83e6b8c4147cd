"""Runs of scenarios, several side by side, each with a broker and a process of the program."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final

from busproof.broker.embedding import embedded
from busproof.clients.program import Ended, run_program
from busproof.clients.scenario import Evidence, Scenario
from busproof.clients.verdicts import Result
from busproof.clients.wire import Overheard

__all__ = ["VARIABLES", "run_scenario", "run_scenarios"]

VARIABLES: Final = {
    "BUSPROOF_TASK": "the name of the task",
    "BUSPROOF_PARAMETERS": "the parameters of the task, a JSON object",
    "BUSPROOF_CONNECTION_STRING": "the connection string of the namespace",
    "BUSPROOF_TRANSPORT": "tcp, or websocket for AMQP over WebSockets without TLS",
    "BUSPROOF_ADMIN": "the HTTP address for administration",
}
"""The environment variables that every program gets."""


def run_scenarios(
    scenarios: Sequence[Scenario], words: Sequence[str], limit: float, jobs: int
) -> Iterator[Result]:
    """Run scenarios, and yield their results as they end.

    Programs that run side by side may be too slow for a rule about time. So what breaks a rule then
    is run once more by itself, and that run counts.

    Args:
        scenarios: the scenarios.
        words: the command that starts the program.
        limit: maximum time for a program, in seconds.
        jobs: number of scenarios to run at a time.

    Raises:
        UsageError: the program cannot be started.
    """
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        running = [pool.submit(run_scenario, one, words, limit, stop) for one in scenarios]
        broken = []
        try:
            for done in as_completed(running):
                result = done.result()
                if jobs > 1 and result.broken_rules:
                    broken.append(result)
                else:
                    yield result
            for result in broken:
                again = run_scenario(result.scenario, words, limit, stop)
                yield again.after(result)
        finally:
            # After an error or Ctrl-C, no program goes on.
            stop.set()
            for one in running:
                one.cancel()


def run_scenario(
    scenario: Scenario, words: Sequence[str], limit: float, stop: threading.Event | None = None
) -> Result:
    """Run a scenario; once `stop` is set, its program is ended.

    Raises:
        UsageError: the program cannot be started, or the broker cannot listen.
    """
    with embedded(clock="real", idle=scenario.idle) as bus:
        overheard = Overheard()
        scenario.prepare(bus)
        # What prepares a queue may send to it.
        bus.listen(overheard)
        address = bus.connection_string
        if scenario.is_web:
            # At this port, AMQP is spoken over WebSockets alone.
            web = bus.admin_address.rpartition(":")[2]
            address = address.replace(f":{bus.port};", f":{web};")
        values: Mapping[str, str] = {
            "BUSPROOF_TASK": scenario.task,
            "BUSPROOF_PARAMETERS": json.dumps(scenario.parameters),
            "BUSPROOF_CONNECTION_STRING": address,
            "BUSPROOF_TRANSPORT": "websocket" if scenario.is_web else "tcp",
            "BUSPROOF_ADMIN": bus.admin_address,
            **scenario.variables,
        }
        ended = run_program(words, values, limit, stop or threading.Event())
    return _judge(scenario, Evidence(overheard.record(), ended, scenario.parameters), limit)


def _judge(scenario: Scenario, evidence: Evidence, limit: float) -> Result:
    ended = evidence.ended
    if ended.unsupported is not None:
        return Result(scenario=scenario, unsupported=ended.unsupported, seconds=ended.seconds)
    gave_up = ""
    if ended.code is None:
        gave_up = f"the program had not ended after {limit:g} s (see --timeout)"
    errored = "" if gave_up else _failure_of(ended)
    is_whole = not gave_up and not errored
    return Result(
        scenario=scenario,
        findings=tuple(one for one in scenario.judge(evidence) if is_whole or not one.is_by_lack),
        gave_up=gave_up,
        errored=errored,
        seconds=ended.seconds,
    )


def _failure_of(ended: Ended) -> str:
    """Return how a program failed; empty if it did not."""
    last = f": {ended.errors[-1]}" if ended.errors else ""
    if ended.code:
        return f"the program ended with exit code {ended.code}{last}"
    if ended.is_done:
        return ""
    if ended.strange:
        return f"the program printed {ended.strange[:80]!r}, which is no report in JSON"
    return f"the program ended and reported neither 'done' nor 'unsupported'{last}"
