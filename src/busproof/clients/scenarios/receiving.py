"""Messages as the client takes them: credit, settlement, locks and sessions."""

import math
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from busproof.clients.scenario import (
    Evidence,
    Finding,
    Scenario,
    break_rule,
    keep_rule,
    miss_deed,
    miss_rule,
)
from busproof.clients.scenarios.requests import judge_requests, operation_of, settlements_asked
from busproof.clients.scenarios.sending import QUEUE
from busproof.clients.seeding import send_first
from busproof.clients.wire import ACCEPTED, MODIFIED, REJECTED, RELEASED, Link, Outcome, Transfer

if TYPE_CHECKING:
    from busproof.broker.embedding import Embedded

__all__ = ["SCENARIOS"]

SETTLED: Final = 1
"""Settle mode of a sending end that settles all that it sends."""
LOCK: Final = timedelta(seconds=8)
IN_TIME: Final = 5.0
"""Seconds within which a client attaches a link again, on a slow machine, too."""
SESSION_FILTER: Final = "com.microsoft:session-filter"
RENEW: Final = "com.microsoft:renew-lock"
WAYS: Final = ("complete", "defer", "dead-letter", "abandon")


def _fill(
    *bodies: str, session: str | None = None, **settings: Any
) -> "Callable[[Embedded], None]":
    """Return what makes a queue with messages in it."""

    def prepare(bus: "Embedded") -> None:
        bus.queue(QUEUE, **settings)
        send_first(bus, QUEUE, bodies, session)

    return prepare


def _receivers(evidence: Evidence) -> list[Link]:
    return evidence.record.of("messages", receives=True, entity=QUEUE)


def _judge_locked(evidence: Evidence) -> Iterator[Finding]:
    links = [link for link in _receivers(evidence) if link.is_confirmed]
    if not links or not evidence.record.given(QUEUE):
        yield miss_rule("CLIENT-12", "no message was received")
        return
    if any(link.send_mode == SETTLED for link in links):
        yield break_rule("CLIENT-12", "to lock messages, a link was attached for settled ones")
    else:
        yield keep_rule("CLIENT-12", "the link leaves it to the receiver to settle")
    yield from _judge_wanted(evidence, links)


def _judge_wanted(evidence: Evidence, links: list[Link]) -> Iterator[Finding]:
    """Find out whether the credit is that of what the application wants."""
    wanted = evidence.parameters["count"]
    most = max((flow.credit for link in links for flow in link.flows if flow.by_client), default=0)
    if most > wanted:
        yield break_rule(
            "CLIENT-11", f"the link got credit for {most}, and the application wants {wanted}"
        )
    else:
        yield keep_rule("CLIENT-11", f"the link got credit for {most} at most, of {wanted} wanted")


def _judge_deleting(evidence: Evidence) -> Iterator[Finding]:
    links = [link for link in _receivers(evidence) if link.is_confirmed]
    if not links or not evidence.record.given(QUEUE):
        yield miss_rule("CLIENT-12", "no message was received")
    elif all(link.send_mode == SETTLED for link in links):
        yield keep_rule("CLIENT-12", "the link was attached for settled messages")
    else:
        modes = [link.send_mode for link in links]
        yield break_rule(
            "CLIENT-12", f"to delete on receipt, a link was attached with settle mode {modes}"
        )


def _judge_settlements(evidence: Evidence) -> Iterator[Finding]:
    given = evidence.record.given(QUEUE)
    asked = settlements_asked(evidence.record)
    wrong, right = [], 0
    for transfer, way in zip(given, WAYS, strict=False):
        own = [outcome for outcome in transfer.outcomes if outcome.by_client]
        requested = asked.get(str(_token_of(transfer)))
        if not own and requested is None:
            continue
        if (own and _is_way(own[-1], way)) or _is_requested(requested, way):
            right += 1
        else:
            seen = f"code {own[-1].code:#x}" if own else repr(requested)
            wrong.append(f"{way} was sent as {seen}")
    if wrong:
        yield break_rule("CLIENT-13", "; ".join(wrong))
    elif right == len(WAYS):
        yield keep_rule("CLIENT-13", f"the outcomes of {', '.join(WAYS)} are those meant for them")
    else:
        yield miss_rule("CLIENT-13", f"{right} of {len(WAYS)} messages were settled")


def _token_of(transfer: Transfer) -> UUID | None:
    """Return the lock token in a delivery's tag."""
    return UUID(bytes_le=transfer.tag) if len(transfer.tag) == 16 else None


def _is_way(outcome: Outcome, way: str) -> bool:
    """Return whether an outcome is that of a way to settle."""
    is_undeliverable = len(outcome.fields) > 1 and outcome.fields[1] is True
    if way == "abandon":
        modified = outcome.code == MODIFIED and not is_undeliverable
        return modified or outcome.code == RELEASED
    if way == "defer":
        return outcome.code == MODIFIED and is_undeliverable
    return outcome.code == (ACCEPTED if way == "complete" else REJECTED)


def _is_requested(status: str | None, way: str) -> bool:
    """Return whether a request's disposition status is that of a way to settle."""
    meant = {
        "complete": "completed",
        "abandon": "abandoned",
        "defer": "defered",
        "dead-letter": "suspended",
    }
    return status == meant[way]


def _judge_renewal(evidence: Evidence) -> Iterator[Finding]:
    yield from judge_requests(evidence.record)
    given = evidence.record.given(QUEUE)
    if not given:
        yield miss_rule("CLIENT-14", "no message was received")
        return
    renewals, lock = _renewals(evidence), LOCK.total_seconds()
    until = _renewed_last(given[0].at, renewals)
    settled = _settled_at(given[0])
    if settled is None:
        yield miss_rule("CLIENT-14", "the message was not settled")
    elif settled > until + lock:
        late = settled - until - lock
        yield break_rule(
            "CLIENT-14",
            f"{len(renewals)} renewals of a lock of {lock:g} s; it was settled {late:.1f} s after "
            "the lock had ended",
        )
    else:
        yield keep_rule(
            "CLIENT-14",
            f"{len(renewals)} renewals kept a lock of {lock:g} s for {settled - given[0].at:.1f} s",
        )


def _renewals(evidence: Evidence) -> list[float]:
    """Return when the client asked for renewals of locks."""
    return [
        transfer.at
        for _, transfer in evidence.record.requests()
        if operation_of(transfer.message) == RENEW
    ]


def _renewed_last(begun: float, renewals: list[float]) -> float:
    """Return from when a lock runs that was renewed in time, if it was."""
    for at in renewals:
        if at > begun + LOCK.total_seconds():
            break
        begun = at
    return begun


def _settled_at(transfer: Transfer) -> float | None:
    return next((outcome.at for outcome in transfer.outcomes if outcome.by_client), None)


def _judge_lost_lock(evidence: Evidence) -> Iterator[Finding]:
    given = evidence.record.given(QUEUE)
    if not given:
        yield miss_rule("CLIENT-15", "no message was received")
        return
    reports = [*evidence.ended.of("settled"), *evidence.ended.of("failed")]
    until = _renewed_last(given[0].at, _renewals(evidence)) + LOCK.total_seconds()
    late = [one for one in reports if one.at > until]
    if reports and not late:
        yield miss_rule("CLIENT-15", "the client had kept the lock of the message")
    elif not late:
        yield miss_rule("CLIENT-15", "the program reported nothing of its settlement")
    elif late[0].event == "settled":
        yield break_rule(
            "CLIENT-15", "the program was told that a message was settled whose lock had ended"
        )
    else:
        error = str(late[0].fields.get("error", ""))[:80]
        yield keep_rule("CLIENT-15", f"the program was told: {error}")


def _judge_session(evidence: Evidence) -> Iterator[Finding]:
    wanted = evidence.parameters["session"]
    links = [link for link in _receivers(evidence) if link.is_confirmed]
    if not links:
        yield miss_rule("CLIENT-16", "no session was accepted")
        return
    filters = links[0].filters
    if SESSION_FILTER in filters and filters[SESSION_FILTER] == wanted:
        yield keep_rule("CLIENT-16", f"the link's session filter is {wanted!r}")
    else:
        yield break_rule("CLIENT-16", f"the link's filters are {filters}, for session {wanted!r}")


def _break_delivery(kind: str, **fields: Any) -> "Callable[[Embedded], None]":
    """Return what makes a queue with two messages, and a fault at the first delivery."""
    # What is lost with a connection is locked, and comes again when the lock has ended.
    fill = _fill("first", "second", lock_duration=LOCK)

    def prepare(bus: "Embedded") -> None:
        fill(bus)
        bus.disturb(kind, operation="deliver", entity=QUEUE, **fields)

    return prepare


def _judge_recreation(evidence: Evidence) -> Iterator[Finding]:
    links = _receivers(evidence)
    ended = [link for link in links if link.ended and not link.ended[1]]
    if not ended or ended[0].ended is None:
        yield miss_rule("CLIENT-20", "no link was ended by the service")
        return
    later = [link for link in links if link.at > ended[0].at and link.is_confirmed]
    if not later:
        done = evidence.ended.of("done")
        left = done[0].at - ended[0].ended[0] if done else math.inf
        if left < IN_TIME:
            yield miss_rule("CLIENT-20", f"the link ended {left:.1f} s before the program did")
        else:
            yield miss_deed("CLIENT-20", "the link was not attached again")
        return
    before, after = ended[0], later[0]
    same = before.address == after.address and before.filters == after.filters
    if same and before.send_mode == after.send_mode:
        yield keep_rule("CLIENT-20", f"a link to {after.address!r} was attached again as it was")
    else:
        yield break_rule(
            "CLIENT-20",
            f"a link to {before.address!r} with filters {before.filters} was attached again as "
            f"{after.address!r} with {after.filters}",
        )


def _judge_cut(evidence: Evidence) -> Iterator[Finding]:
    received = [str(one.fields.get("message_id")) for one in evidence.ended.of("received")]
    connections = [one for one in evidence.record.connections if one.links]
    if len(connections) < 2:
        yield miss_deed(
            "CLIENT-21",
            f"the connection broke, and no link was attached on another; received: {received}",
        )
    elif set(received) == {"first", "second"}:
        yield keep_rule("CLIENT-21", f"{len(connections)} connections; both messages came")
    else:
        yield miss_rule("CLIENT-21", f"the connection was made again; received: {received}")


SCENARIOS: Final = (
    Scenario(
        name="locked",
        about="Three messages are received with locks, and completed.",
        rules=("CLIENT-11", "CLIENT-12"),
        prepare=_fill("a", "b", "c"),
        task="receive",
        parameters={"entity": QUEUE, "count": 3, "settlements": ["complete"]},
        judge=_judge_locked,
    ),
    Scenario(
        name="deleting",
        about="A message is received in the mode that deletes it at once.",
        rules=("CLIENT-12",),
        prepare=_fill("a"),
        task="receive",
        parameters={"entity": QUEUE, "count": 1, "mode": "receive-and-delete"},
        judge=_judge_deleting,
    ),
    Scenario(
        name="settlements",
        about="Four messages are completed, deferred, dead-lettered and abandoned.",
        rules=("CLIENT-13",),
        prepare=_fill("a", "b", "c", "d", partitioned=False),
        task="receive",
        parameters={"entity": QUEUE, "count": 4, "settlements": list(WAYS)},
        judge=_judge_settlements,
    ),
    Scenario(
        name="renewal",
        about="A message is held for two and a half times its lock, which the client keeps.",
        rules=("CLIENT-14", "CLIENT-23"),
        prepare=_fill("a", lock_duration=LOCK),
        task="receive",
        parameters={
            "entity": QUEUE,
            "count": 1,
            "settlements": ["complete"],
            "hold_seconds": 2.5 * LOCK.total_seconds(),
            "renew": True,
        },
        judge=_judge_renewal,
    ),
    Scenario(
        name="lost-lock",
        about="A message is completed after its lock has ended.",
        rules=("CLIENT-15",),
        prepare=_fill("a", lock_duration=LOCK),
        task="receive",
        parameters={
            "entity": QUEUE,
            "count": 1,
            "settlements": ["complete"],
            "hold_seconds": LOCK.total_seconds() + 2,
        },
        judge=_judge_lost_lock,
    ),
    *(
        Scenario(
            name=name,
            about=f"A message of {which} is received.",
            rules=("CLIENT-16",),
            prepare=_fill("a", session="s1", requires_session=True),
            task="receive",
            parameters={
                "entity": QUEUE,
                "count": 1,
                "settlements": ["complete"],
                "session": session,
            },
            judge=_judge_session,
        )
        for name, which, session in (
            ("session", "a session by its name", "s1"),
            ("next-session", "the next session that has one", None),
        )
    ),
    Scenario(
        name="ended-link",
        about="The service ends the link while the client waits for a third message.",
        rules=("CLIENT-20",),
        prepare=_break_delivery("detach", condition="detach-forced"),
        task="receive",
        parameters={"entity": QUEUE, "count": 3, "settlements": ["complete"], "wait_seconds": 10},
        judge=_judge_recreation,
    ),
    Scenario(
        name="cut-delivery",
        about="The connection breaks in the middle of a message.",
        rules=("CLIENT-21",),
        prepare=_break_delivery("cut"),
        task="receive",
        parameters={"entity": QUEUE, "count": 2, "settlements": ["complete"]},
        judge=_judge_cut,
    ),
)
