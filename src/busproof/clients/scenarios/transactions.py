"""Transactions: how they are declared, what belongs to them, and how they end."""

from collections.abc import Iterator
from typing import Any, Final

from proton import Described

from busproof.clients.scenario import (
    Evidence,
    Finding,
    Scenario,
    break_rule,
    keep_rule,
    miss_deed,
    miss_rule,
)
from busproof.clients.scenarios.sending import QUEUE, make_queue
from busproof.clients.wire import Transfer, code_of, fields_of

__all__ = ["SCENARIOS"]

DECLARED, TRANSACTIONAL = 0x33, 0x34
RULE: Final = "CLIENT-27"


def _judge(evidence: Evidence) -> Iterator[Finding]:
    record = evidence.record
    control = [one for link in record.of("transactions", receives=False) for one in link.transfers]
    declared = [
        bytes(outcome.fields[0])
        for one in control
        for outcome in one.outcomes
        if outcome.code == DECLARED and outcome.fields
    ]
    sent = record.sent(QUEUE)
    if not declared or not sent:
        yield miss_rule(RULE, "no transaction was declared, or nothing was sent")
        return
    flaws = []
    outside = [one for one in sent if _transaction_of(one) != declared[0]]
    if outside:
        flaws.append(f"{len(outside)} of {len(sent)} messages were not sent in the transaction")
    ends = [_discharge_in(one) for one in control]
    fails = [bool(fields[1]) for fields in ends if fields and bytes(fields[0]) == declared[0]]
    wanted = not evidence.parameters["commit"]
    if fails != [wanted]:
        flaws.append(f"it was ended with fail={fails}; the task wants fail={wanted}")
    if any(one.is_settled for one in control):
        flaws.append("a message to the coordinator was sent settled")
    if fails != [wanted] and not outside:
        yield (break_rule if fails else miss_deed)(RULE, "; ".join(flaws))
    elif flaws:
        yield break_rule(RULE, "; ".join(flaws))
    else:
        end = "rolled back" if wanted else "committed"
        yield keep_rule(RULE, f"{len(sent)} messages were sent in a transaction, and {end}")


def _transaction_of(transfer: Transfer) -> bytes | None:
    state = transfer.state
    if state is None or code_of(state) != TRANSACTIONAL or not fields_of(state):
        return None
    return bytes(fields_of(state)[0])


def _discharge_in(transfer: Transfer) -> list[Any]:
    """Return the fields of a discharge: the transaction, and whether it fails; else nothing."""
    body = transfer.body
    fields = fields_of(body) if isinstance(body, Described) else []
    if not fields or not isinstance(fields[0], bytes):
        return []
    return [*fields, False][:2]


SCENARIOS: Final = tuple(
    Scenario(
        name=name,
        about=f"Two messages with one key are sent in a transaction, which is {end}.",
        rules=(RULE,),
        prepare=make_queue,
        task="transaction",
        parameters={
            "entity": QUEUE,
            "messages": [{"body": body, "partition_key": "k1"} for body in ("a", "b")],
            "commit": commit,
        },
        judge=_judge,
    )
    for name, end, commit in (("commit", "committed", True), ("roll-back", "rolled back", False))
)
