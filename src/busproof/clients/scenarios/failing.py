"""Refusals and lost answers of sends: what is tried again, when, and what is reported."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from busproof.clients.scenario import (
    Evidence,
    Finding,
    Scenario,
    break_rule,
    keep_rule,
    miss_deed,
    miss_rule,
)
from busproof.clients.scenarios.sending import QUEUE, accepted, make_queue
from busproof.clients.seeding import send_first

if TYPE_CHECKING:
    from busproof.broker.embedding import Embedded

__all__ = ["SCENARIOS"]

ONE: Final = {"entity": QUEUE, "messages": [{"body": "once"}]}
KEYED: Final = "k1"
PAUSE: Final = 10.0
"""Seconds for which a client leaves a busy service alone."""


def _make_fault(kind: str, **fields: object) -> "Callable[[Embedded], None]":
    """Return what prepares the queue, and a fault that waits for a send to it."""

    def prepare(bus: "Embedded") -> None:
        make_queue(bus)
        bus.disturb(kind, **{"operation": "send", "entity": QUEUE, **fields})

    return prepare


def _judge_busy(evidence: Evidence) -> Iterator[Finding]:
    sent = evidence.record.sent(QUEUE)
    refused = next((one for one in sent if not one.is_accepted and one.outcomes), None)
    if refused is None:
        yield miss_rule("CLIENT-17", "no send was refused")
        return
    told = refused.outcomes[0].at
    again = next((one for one in sent if one.at > told), None)
    if again is None:
        yield miss_rule(
            "CLIENT-17", "the client did not try again; the application was told of the refusal"
        )
    elif (waited := again.at - told) < PAUSE:
        yield break_rule(
            "CLIENT-17", f"the message was sent again {waited:.1f} s after the service was busy"
        )
    else:
        yield keep_rule("CLIENT-17", f"the message was sent again after {waited:.1f} s")


def _judge_hopeless(evidence: Evidence) -> Iterator[Finding]:
    sent = evidence.record.sent(QUEUE)
    refused = [one for one in sent if not one.is_accepted and one.outcomes]
    if not refused:
        yield miss_rule("CLIENT-18", "no send was refused")
        return
    if len(sent) > 1:
        condition = refused[0].outcomes[0].condition
        yield break_rule(
            "CLIENT-18", f"the message was sent {len(sent)} times after {condition} refused it"
        )
    else:
        yield keep_rule("CLIENT-18", "the message was sent once")
    if evidence.ended.of("sent") and not accepted(sent):
        yield break_rule("CLIENT-19", "the program was told that a refused message was sent")
    elif evidence.ended.of("failed"):
        error = str(evidence.ended.of("failed")[0].fields.get("error", ""))[:80]
        yield keep_rule("CLIENT-19", f"the program was told of the refusal: {error}")
    else:
        yield miss_rule("CLIENT-19", "the program reported neither success nor failure")


def _judge_lost_answer(evidence: Evidence) -> Iterator[Finding]:
    sent = evidence.record.sent(QUEUE)
    if len(sent) < 2:
        yield miss_rule("CLIENT-06", f"the message was sent {len(sent)} times")
        return
    names = [one.message.id for one in sent]
    if len(set(map(str, names))) > 1 or names[0] is None:
        yield break_rule("CLIENT-06", f"sent again, the message had the message-ids {names!r}")
    else:
        yield keep_rule("CLIENT-06", f"sent {len(sent)} times, the message kept {names[0]!r}")


def _judge_drain(evidence: Evidence) -> Iterator[Finding]:
    rule = "CLIENT-10"
    for link in evidence.record.of("messages", receives=False, entity=QUEUE):
        asked = next((flow for flow in link.flows if flow.is_drain and not flow.by_client), None)
        if asked is None:
            continue
        limit = (asked.count or 0) + asked.credit
        answers = [flow for flow in link.flows if flow.by_client and flow.at >= asked.at]
        used_up = [flow for flow in answers if flow.credit == 0 or flow.count == limit]
        if used_up or len(link.transfers) >= limit - link.first:
            yield keep_rule(rule, f"credit for {asked.credit} that was asked back was given back")
        else:
            yield miss_deed(
                rule,
                f"credit for {asked.credit} was asked back, and the client answered "
                f"{len(answers)} times without giving it back",
            )
        return
    yield miss_rule(rule, "no credit was asked back")


def _overload(bus: "Embedded") -> None:
    """Let the partition of a key fail all that is sent there."""
    make_queue(bus)
    send_first(bus, QUEUE, ["before"], key=KEYED)
    bus.take_down(QUEUE, bus.decisions()[-1]["partition"])


def _judge_overload(evidence: Evidence) -> Iterator[Finding]:
    rule = "CLIENT-30"
    sent = [int(one.fields.get("index", -1)) for one in evidence.ended.of("sent")]
    failed = [int(one.fields.get("index", -1)) for one in evidence.ended.of("failed")]
    others = range(1, len(evidence.parameters["messages"]))
    refused = [one for one in evidence.record.sent(QUEUE) if one.outcomes and not one.is_accepted]
    if not refused:
        yield miss_rule(rule, "the partition refused nothing")
    elif 0 in sent:
        yield break_rule(rule, "the program was told that a message was sent that was refused")
    elif hit := sorted(set(others) & set(failed)):
        yield break_rule(rule, f"with the message of the failing partition, others failed: {hit}")
    elif set(others) <= set(sent) and 0 in failed:
        yield keep_rule(
            rule,
            f"the message with the key was refused {len(refused)} times, the others were sent",
        )
    else:
        yield miss_rule(rule, f"sent: {sent}; failed: {failed}")


SCENARIOS: Final = (
    Scenario(
        name="asked-back",
        about="After a message, the service asks back the credit that is left.",
        rules=("CLIENT-10",),
        prepare=_make_fault("drain"),
        task="send",
        parameters={
            "entity": QUEUE,
            "messages": [{"body": "first"}, {"body": "second"}],
            "pause_seconds": 2,
        },
        judge=_judge_drain,
    ),
    Scenario(
        name="failing-partition",
        about="The partition of a key is overloaded; a message with it and three without are sent.",
        rules=("CLIENT-30",),
        prepare=_overload,
        task="send",
        parameters={
            "entity": QUEUE,
            "messages": [{"body": "keyed", "partition_key": KEYED}]
            + [{"body": f"free-{number}"} for number in range(3)],
        },
        judge=_judge_overload,
    ),
    Scenario(
        name="busy",
        about="The service says that it is busy; then it takes the message.",
        rules=("CLIENT-17",),
        prepare=_make_fault("refuse", condition="server-busy"),
        task="send",
        parameters=ONE,
        judge=_judge_busy,
    ),
    Scenario(
        name="not-allowed",
        about="The service refuses every send as an operation that is not allowed.",
        rules=("CLIENT-18", "CLIENT-19"),
        prepare=_make_fault("refuse", condition="not-allowed", times=50),
        task="send",
        parameters=ONE,
        judge=_judge_hopeless,
    ),
    Scenario(
        name="lost-answer",
        about="The connection breaks after the message was taken, before the answer.",
        rules=("CLIENT-06",),
        prepare=_make_fault("lose"),
        task="send",
        parameters=ONE,
        judge=_judge_lost_answer,
    ),
)
