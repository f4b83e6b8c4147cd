"""Connections: logins, slow and quiet ones, and the timeouts of the client."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from busproof.clients.scenario import (
    Evidence,
    Finding,
    Scenario,
    break_rule,
    exempt_rule,
    keep_rule,
    miss_deed,
    miss_rule,
)
from busproof.clients.scenarios.requests import operation_of, properties_of
from busproof.clients.scenarios.sending import QUEUE, accepted, make_queue

if TYPE_CHECKING:
    from busproof.broker.embedding import Embedded

__all__ = ["SCENARIOS"]

SHORT: Final = 15.0
"""A timeout that is too short for another partition to be tried, in seconds."""
SLOW: Final = 18.0
TOKEN: Final = 24
"""Seconds for which a token of the program is valid."""
QUIET: Final = 6
"""Seconds of silence after which the service ends a connection."""
TWO: Final[list[dict[str, Any]]] = [{"body": "first"}, {"body": "second"}]
KINDS: Final = ("servicebus.windows.net:sastoken", "jwt", "amqp:jwt", "amqp:swt")


def _judge_login(evidence: Evidence) -> Iterator[Finding]:
    record = evidence.record
    puts = record.requests("login")
    senders = record.of("messages", receives=False, entity=QUEUE)
    if not senders:
        yield miss_rule("CLIENT-24", "no link to the queue was attached")
    elif not puts:
        yield exempt_rule("CLIENT-24", "the client logs in by SASL and puts no token")
    else:
        wrong = [flaw for _, put in puts for flaw in _login_flaws(put.message)]
        if puts[0][1].at > senders[0].at:
            wrong.append("the link to the queue was attached before a token was put")
        if wrong:
            yield break_rule("CLIENT-24", "; ".join(dict.fromkeys(wrong)))
        else:
            yield keep_rule("CLIENT-24", f"{len(puts)} tokens were put, the first before the link")


def _login_flaws(message: Any) -> Iterator[str]:
    properties = properties_of(message)
    if operation_of(message) != "put-token":
        yield f"a request to $cbs has the operation {operation_of(message)!r}"
    if str(properties.get("type")) not in KINDS:
        yield f"a token has the type {properties.get('type')!r}"
    if QUEUE not in str(properties.get("name", "")).lower():
        yield f"a token is for {properties.get('name')!r}, and the link is to {QUEUE!r}"


def _judge_token_renewal(evidence: Evidence) -> Iterator[Finding]:
    puts = [put for _, put in evidence.record.requests("login")]
    if not puts:
        yield exempt_rule("CLIENT-25", "the client logs in by SASL and puts no token")
        return
    (first, *later), waited = puts, evidence.ended.seconds
    in_time = [put for put in later if put.at < first.at + TOKEN]
    if in_time:
        yield keep_rule(
            "CLIENT-25",
            f"a token of {TOKEN} s was replaced after {in_time[0].at - first.at:.0f} s",
        )
    elif waited < TOKEN:
        yield miss_rule("CLIENT-25", f"the program ended after {waited:.0f} s")
    else:
        yield miss_deed("CLIENT-25", f"a token of {TOKEN} s was not replaced before it had expired")


def _stall(bus: "Embedded") -> None:
    make_queue(bus)
    bus.disturb("stall", entity=QUEUE, seconds=SLOW)


def _judge_patience(evidence: Evidence) -> Iterator[Finding]:
    sent = evidence.record.sent(QUEUE)
    if not sent:
        yield miss_rule("CLIENT-22", "no message was sent")
        return
    begun = sent[0].at
    given_up = [one.at - begun for one in evidence.ended.of("failed")]
    given_up += [one.at - begun for one in sent[1:]]
    if (first := min(given_up, default=SLOW)) <= SHORT:
        yield break_rule("CLIENT-22", f"the send was given up after {first:.1f} s")
    elif accepted(sent):
        yield keep_rule("CLIENT-22", f"an answer that took {SLOW:g} s was waited for")
    else:
        yield miss_rule("CLIENT-22", "the send was neither answered nor given up")


def _judge_quiet(evidence: Evidence) -> Iterator[Finding]:
    reports = evidence.ended.of("sent")
    connections = len(evidence.record.connections)
    bodies = len(accepted(evidence.record.sent(QUEUE)))
    if len(reports) == len(TWO) == bodies:
        how = "was kept alive" if connections == 1 else "was made again"
        yield keep_rule("CLIENT-28", f"a connection that was quiet for {2 * QUIET} s {how}")
    elif failed := [one for one in evidence.ended.of("failed") if one.fields.get("index") == 1]:
        error = str(failed[0].fields.get("error", ""))[:80]
        yield break_rule("CLIENT-28", f"after a pause of {2 * QUIET} s, a send failed: {error}")
    else:
        yield miss_rule("CLIENT-28", f"{len(reports)} of {len(TWO)} messages were sent")


SCENARIOS: Final = (
    Scenario(
        name="login",
        about="A message is sent, which needs a login.",
        rules=("CLIENT-24",),
        prepare=make_queue,
        task="send",
        parameters={"entity": QUEUE, "messages": TWO[:1]},
        judge=_judge_login,
    ),
    Scenario(
        name="short-token",
        about=f"The client waits for a message longer than its token is valid, {TOKEN} s.",
        rules=("CLIENT-25",),
        prepare=make_queue,
        task="receive",
        parameters={"entity": QUEUE, "count": 1, "wait_seconds": TOKEN + 6, "token_seconds": TOKEN},
        judge=_judge_token_renewal,
    ),
    Scenario(
        name="slow-answer",
        about=f"The answer to a send takes {SLOW:g} s.",
        rules=("CLIENT-22",),
        prepare=_stall,
        task="send",
        parameters={"entity": QUEUE, "messages": TWO[:1]},
        judge=_judge_patience,
    ),
    Scenario(
        name="quiet",
        about=f"Between two sends, the client is idle for {2 * QUIET} s.",
        rules=("CLIENT-28",),
        prepare=make_queue,
        task="send",
        parameters={"entity": QUEUE, "messages": TWO, "pause_seconds": 2 * QUIET},
        judge=_judge_quiet,
        idle=QUIET,
    ),
)
