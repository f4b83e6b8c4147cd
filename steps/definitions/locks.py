"""Steps for message locks."""

from collections.abc import Iterable
from typing import Final

import pytest
from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import OTHER, sentence

HOW: Final = r"(?P<how>completed|abandoned|dead-lettered|deferred|renewed)"
DISPOSITIONS: Final = {
    "completed": v.Disposition.COMPLETE,
    "abandoned": v.Disposition.ABANDON,
    "dead-lettered": v.Disposition.DEAD_LETTER,
    "deferred": v.Disposition.DEFER,
}


@when(sentence("the lock of the message kept is renewed{must:Succeeds?}"), target_fixture="outcome")
def renews_kept(bus: BusUnderTest, queue: str, kept: v.MessageView, must: str | None) -> v.Outcome:
    """Renew the lock, which may have to succeed."""
    outcome = bus.do(v.RenewLock(queue=queue, lock_token=kept.lock_token or ""))
    if must:
        bus.expect(outcome, v.Renewed)
    return outcome


@when(
    parsers.re(
        rf'all of them are {HOW}(?: because of "(?P<reason>[^"]*)")?(?P<twice> twice)?'
        " in one request(?P<singly>, or else one by one)?"
    ),
    target_fixture="outcome",
)
def uses_together(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    queue: str,
    how: str,
    reason: str | None,
    twice: str | None,
    singly: str | None,
) -> v.Outcome:
    """Try to settle or renew all locked messages at once or, if that is refused, one by one."""
    tokens = [view.lock_token or "" for view in request.getfixturevalue("several")]

    def use(those: Iterable[str]) -> v.Outcome:
        if how == "renewed":
            return bus.do(v.RenewLocks(queue=queue, lock_tokens=tuple(those)))
        together = v.SettleBatch(
            queue=queue,
            lock_tokens=tuple(those),
            disposition=DISPOSITIONS[how],
            reason=reason or "",
        )
        return bus.do(together)

    outcome = use(tokens * 2 if twice else tokens)
    if singly and isinstance(outcome, v.Refused):
        for token in tokens:
            outcome = use([token])
            bus.expect(outcome, v.RenewedSeveral if how == "renewed" else v.Done)
    return outcome


@when(
    sentence("it is received over another connection{maybe:IfItComes?}"),
    target_fixture="kept_elsewhere",
)
def receives_elsewhere(bus: BusUnderTest, queue: str, maybe: str | None) -> v.MessageView | None:
    """Receive a message over a second connection and leave it locked; it may not come."""
    outcome = bus.do(v.Receive(queue=queue), OTHER)
    if not maybe:
        bus.expect(outcome, v.Received)
    return outcome.message if isinstance(outcome, v.Received) else None


@then(sentence("{commit:CommitRefused?}the other receiver can complete it{maybe:IfItCame?}"))
def can_complete_elsewhere(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    queue: str,
    kept_elsewhere: v.MessageView | None,
    commit: str | None,
    maybe: str | None,
) -> None:
    """Check that the lock of the other receiver, which is later, is still valid.

    It is also after a commit that would have settled the message, and that has to be refused.
    """
    if commit:
        transaction = str(request.getfixturevalue("transaction"))
        outcome = bus.do(v.CommitTransaction(transaction=transaction))
    if maybe and kept_elsewhere is None:
        return
    assert kept_elsewhere is not None, "the other receiver has no message"
    if commit:
        assert isinstance(outcome, v.Refused), outcome
    token = kept_elsewhere.lock_token or ""
    completed = bus.do(v.Complete(queue=queue, lock_token=token), OTHER)
    assert isinstance(completed, v.Done), completed
