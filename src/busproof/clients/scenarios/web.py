"""HTTP: requests for WebSockets, and for administration."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from busproof.broker.amqp.websocket import PATH, SUBPROTOCOLS, is_path
from busproof.clients.scenario import Evidence, Finding, Scenario, break_rule, keep_rule, miss_rule
from busproof.clients.scenarios.sending import QUEUE, accepted, make_queue

if TYPE_CHECKING:
    from busproof.broker.embedding import Embedded

__all__ = ["SCENARIOS"]

FIRST: Final = "2013-10"
"""The first api-version that knows partitioned entities."""
COUNT: Final = 4


def _judge_websocket(evidence: Evidence) -> Iterator[Finding]:
    rule = "CLIENT-26"
    upgrades = [one for one in evidence.record.http if one.is_upgrade]
    if not upgrades:
        yield miss_rule(rule, "no WebSocket was asked for")
        return
    flaws = []
    for one in upgrades:
        spoken = one.headers.get("subprotocols") or one.headers.get("sec-websocket-protocol", "")
        if not is_path(one.target):
            flaws.append(f"a WebSocket was asked for at {one.target!r} and not at {PATH!r}")
        elif not set(re.split(r",\s*", spoken)) & set(SUBPROTOCOLS):
            flaws.append(f"a WebSocket was asked for with the subprotocol {spoken!r}")
    if flaws:
        yield break_rule(rule, "; ".join(dict.fromkeys(flaws)))
    elif accepted(evidence.record.sent(QUEUE)):
        yield keep_rule(rule, f"a message was sent over a WebSocket at {upgrades[0].target!r}")
    else:
        yield miss_rule(rule, "a WebSocket was opened, and no message was sent")


def _judge_versions(evidence: Evidence) -> Iterator[Finding]:
    made = [one for one in evidence.record.http if one.method == "PUT"]
    if not made:
        yield miss_rule("CLIENT-29", "no queue was created over HTTP")
        return
    versions = [parse_qs(urlsplit(one.target).query).get("api-version", [""])[0] for one in made]
    old = sorted({version for version in versions if version < FIRST})
    if old:
        yield break_rule("CLIENT-29", f"a partitioned queue was asked for by api-version {old}")
    else:
        yield keep_rule("CLIENT-29", f"api-version {versions[0]} created partitioned queues")
    connections = {one.connection for one in evidence.record.http if not one.is_upgrade}
    if len(made) < COUNT:
        yield miss_rule("CLIENT-31", f"{len(made)} of {COUNT} queues were created")
    elif len(connections) < len(made):
        yield keep_rule(
            "CLIENT-31", f"{len(made)} requests were sent over {len(connections)} connections"
        )
    else:
        yield break_rule("CLIENT-31", f"{len(made)} requests were sent over as many connections")


def _make_nothing(_: "Embedded") -> None:
    """Leave the namespace empty."""


SCENARIOS: Final = (
    Scenario(
        name="websocket",
        about="A message is sent by AMQP over WebSockets.",
        rules=("CLIENT-26",),
        prepare=make_queue,
        task="send",
        parameters={"entity": QUEUE, "messages": [{"body": "over the web"}]},
        judge=_judge_websocket,
        is_web=True,
    ),
    Scenario(
        name="administration",
        about=f"{COUNT} partitioned queues are created over HTTP.",
        rules=("CLIENT-29", "CLIENT-31"),
        prepare=_make_nothing,
        task="create-queues",
        parameters={"entities": [f"queue-{number}" for number in range(COUNT)]},
        judge=_judge_versions,
    ),
)
