"""`check-adapter` passes what keeps to the protocol, and catches each thing that does not."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters.checking.checking import CHECKS, check_adapter, lessons
from busproof.adapters.checking.findings import Finding, Result, Wrong
from busproof.adapters.checking.talk import Talk
from busproof.adapters.finding import find
from busproof.cli.main import main
from busproof.errors import UsageError
from busproof.spec import load

CHILD = Path(__file__).parent / "children" / "line.py"
NODE = Path(__file__).parent.parent.parent / "examples" / "node-adapter" / "adapter.js"


def findings(name: str, timeout: float = PATIENCE) -> dict[str, Finding]:
    found = list(check_adapter(name, v.profile_for(load()), timeout))
    assert [each.id for each in lessons(name)] == [each.lesson.id for each in found]
    return {each.lesson.id: each for each in found}


def failed(found: dict[str, Finding]) -> set[str]:
    return {name for name, each in found.items() if each.result is Result.FAILED}


def said_by(check: str, name: str) -> str:
    """What one check says of an adapter that fails it."""
    (one,) = (each for each in CHECKS if each.lesson.id == check)
    adapter = find(name, timeout=PATIENCE)
    talk = Talk(adapter, adapter.declaration, v.profile_for(load()), full=False)
    with pytest.raises(Wrong) as wrong:
        one.run(talk)
    return str(wrong.value)


def child(*arguments: str) -> str:
    return "exec:" + shlex.join([sys.executable, str(CHILD), *arguments])


FAKES = {
    "DeclaresText": ("declaration", "it declares 'a bus', and must declare a Declaration"),
    "DeclaresRaising": ("declaration", "its declaration raises RuntimeError: no bus here"),
    "DeclaresUnknown": ("declaration", "capabilities has 'teleport', and may have only witness"),
    "DeclaresAnew": ("declaration", "it declares something else after start than before"),
    "fails": ("made", "fails failed to make an adapter: OSError: the port is taken"),
    "RefusesNames": ("create", "CreateQueue is to be answered with Done here"),
    "Forgets": ("send-receive", "Receive is to be answered with Received here"),
    "LosesProperties": ("properties", "message_id came back as None, and was sent as 'id 1'"),
    "SetsSessions": ("send-receive", "session_id came back as 'default', and was never set"),
    "ForgetsLabels": ("filters", "subject came back as None, and was sent as 'label'"),
    "WritesFractions": ("filters", "properties came back as {"),
    "SpeaksAscii": ("text", "body came back as '? ?"),
    "CutsBodies": ("long-text", "body came back as 'long long"),
    "RefusesLongOnes": ("long-text", 'refuses it with the error "message-too-large" or'),
    "RefusesWhenEmpty": ("empty", "is to be answered with Empty here, and came back as Refused"),
    "NeverDeletes": ("receive-and-delete", "is to be answered with Empty here"),
    "RaisesForRefusals": ("refusal", "it raised an exception, KeyError: 'no such queue'"),
    "KnowsOneConnection": ("connections", "it raised an exception, ValueError: no connection"),
    "KeepsEverything": ("start", "CreateQueue is to be answered with Done here"),
    "StandsStill": ("clock", "AdvanceClock is unsupported"),
    "GivesNoTokens": ("peek-lock", "the message came without the lock_token"),
    "ReusesTokens": ("lock-token", "two messages are locked under the same lock_token"),
    "CompletesAnything": ("lock-token", "Complete is to be answered with Refused here"),
    "TellsCalendarTime": ("locked-until", "locked_until is 1700000000000000 right after start"),
    "PeeksEmpty": ("peek", "Peek is to be answered with Peeked here, and came back as Empty"),
    "PeeksWithoutEnd": ("peek", "a peek for one message shows 2"),
    "SharesSessions": ("sessions", "AcceptSession is to be answered with Refused here"),
    "RefusesDuplicates": ("duplicate-detection", "Send is to be answered with Done here"),
    "CommitsUnknown": ("transactions", "CommitTransaction is to be answered with Refused here"),
    "HasFewPartitions": ("outages", "BringPartitionUp is to be answered with Done here"),
    "TellsNoPartition": ("witness", "neither a witness of the send nor a sequence number names"),
    "CountsPartitionsFromOne": ("witness", "and sequence number"),
    "RoundsNumbers": ("witness", "sequence_number is 9007199254740992.0, and must be a whole"),
    "HasNoRegularQueues": ("regular-queues", "CreateQueue is unsupported"),
    "ClaimsALibrary": ("client-library", "the message came back without message_id"),
    "StopsOnce": ("stop", "it raised an exception, RuntimeError: stopped already"),
    "AnswersNothing": ("create", "do() must return an Observed"),
    "Breaks": ("create", "the adapter broke: the network is gone"),
}
"""Fake to the check that must catch it, and what it must say."""

BLUNT = {
    *("AnswersNothing", "Breaks", "CompletesAnything", "Forgets", "GivesNoTokens"),
    *("HasNoRegularQueues", "KeepsEverything", "KnowsOneConnection", "LosesProperties"),
    *("NeverDeletes", "RaisesForRefusals", "RefusesWhenEmpty", "ReusesTokens", "RoundsNumbers"),
    *("SetsSessions", "SharesSessions", "StandsStill", "TellsNoPartition"),
}
"""Fakes whose fault shows in several checks; that of all others in one."""


REFUSED = {
    "transactions": ("BeginTransaction",),
    "batches": ("SendBatch",),
    "scheduling": ("Schedule", "CancelScheduled"),
    "time-to-live": ("CreateQueue_time_to_live",),
    "disposable-namespace": ("Send_message",),
    "transactional-settlement": ("Complete_transaction",),
    "peek-lock": ("Abandon", "Complete"),
    "lock-renewal": ("RenewLock",),
    "settle-batches": ("SettleBatch",),
    "renew-locks": ("RenewLocks",),
    "dead-letter": ("DeadLetter",),
    "dead-letter-reasons": ("DeadLetter",),
    "transfer-dead-letter": ("Receive",),
    "deferral": ("Defer", "ReceiveDeferred"),
    "receive-batches": ("ReceiveBatch",),
    "peek": ("Peek",),
    "peek-from": ("Peek_from_sequence_number",),
    "sessions": ("AcceptSession", "CloseSession"),
    "next-session": ("AcceptNextSession",),
    "session-state": ("SetSessionState", "GetSessionState"),
    "session-lock": ("RenewSessionLock",),
    "session-listing": ("ListSessions",),
    "outages": ("TakePartitionDown",),
    "management": ("GetQueue", "ListQueues", "UpdateQueue", "DeleteQueue"),
    "sizes": ("CreateQueue_max_size",),
    "api-versions": ("CreateQueue_api_version",),
    "entity-status": ("UpdateQueue_status",),
    "topics": ("CreateTopic", "CreateSubscription"),
    "topic-management": ("GetTopic", "ListTopics", "UpdateTopic", "DeleteTopic"),
    "rules": ("AddRule", "RemoveRule", "ListRules"),
    "sql-filters": ("AddRule",),
    "rule-actions": ("AddRule_action",),
    "forwarding": ("CreateQueue_forward_to",),
    "redirection": ("UpdateQueue_forward_to",),
    "size-updates": ("UpdateQueue_max_size",),
    "dead-letter-forwarding": ("CreateQueue_forward_dead_letters_to",),
}
"""Check to the requests that it needs, perhaps only with a certain setting."""

MISREPORTED = {
    "RepeatsTheFirst": ("batches", "of a batch of 'm1' and 'm2' came ['m1', 'm1']"),
    "NumbersNothingScheduled": ("scheduling", "came back without the sequence_number that"),
    "CountsFromZero": ("dead-letter", "delivery_count is 0 the first time, and must be 1"),
    "KnowsNoReasons": ("dead-letter-reasons", "came back as None, and was 'a reason'"),
    "GivesTwice": ("deferral", "one deferred message was asked for, and 2 came back"),
    "GivesUnknown": ("receive-batches", "'?' was received, and never sent"),
    "TellsOneTime": ("renew-locks", "2 locks were renewed, and 1 times came back"),
    "DeletesMore": ("delete-batch", "DeleteBatch of one message came back as"),
    "NumbersNothing": ("sequence-numbers", "the message came without its sequence_number"),
    "NumbersAllAlike": ("sequence-numbers", "two messages of one partition have the same number"),
    "PeeksFromTheBeginning": ("peek-from", "on shows the message"),
    "AcceptsUnknown": ("next-session", "is 'default', and only 's' has messages"),
    "KeepsNoNull": ("session-state", "state came back as '', and was set to None"),
    "ListsNoSessions": ("session-listing", "the list has the sessions (), and not 's'"),
    "DescribesUnderItsOwnName": ("management", "the description of 'q' is that of 'queue-1'"),
    "ListsItsOwnNames": ("topic-management", "the list has the topics ('queue-1',), and not 't'"),
    "DescribesTopicsUnderItsOwnName": ("topic-management", "of 't' is that of 'topic-1'"),
    "TellsNoAvailability": ("availability", "the description has no availability"),
    "ListsNoRules": ("rules", "the list has the rules []"),
    "MakesTextOfFilters": ("rules", '"properties":{"n":"1","yes":"True"}}, and was {'),
}
"""As `FAKES`, of adapters that report one kind of answer wrongly."""

UNCHECKED = {"prefetch", "timestamps", "legacy-entities", "limits", "amqp", "http"}
"""Capabilities without a request of their own, or whose requests only the suite can judge."""


def test_every_capability_that_has_a_request_has_a_check() -> None:
    assert set(v.Capability) - UNCHECKED == {each.needs[0] for each in CHECKS if each.needs}


@pytest.mark.parametrize(
    ("check", "command"), [(check, each) for check, some in REFUSED.items() for each in some]
)
def test_declared_capability_whose_request_is_refused_fails_its_check(
    check: str, command: str
) -> None:
    said = said_by(check, f"misreporting:Refuses_{command}")
    assert f"{command.partition('_')[0]} is to be answered with" in said
    assert "and came back as Refused: other" in said


@pytest.mark.parametrize("fake", MISREPORTED)
def test_wrong_report_is_found_by_its_own_check(fake: str) -> None:
    check, said = MISREPORTED[fake]
    assert said in said_by(check, f"misreporting:{fake}")


@pytest.mark.parametrize("fake", FAKES)
def test_mistake_of_an_adapter_is_reported_by_its_own_check(fake: str) -> None:
    check, said = FAKES[fake]
    found = findings(f"misbehaving:{fake}")
    assert check in failed(found)
    assert said in found[check].detail
    assert found[check].lesson.advice
    if fake not in BLUNT:
        assert {check} == failed(found)


def test_the_failing_exchange_is_the_last_one_shown() -> None:
    exchange = findings("misbehaving:RefusesNames")["create"].exchanges[-1]
    assert '{"type":"CreateQueue","queue":"another queue"} on c1' == exchange.sent
    assert '{"type":"Refused","error":"other"}' == exchange.came


SOUND = [
    *("model", "model?policy=random&seed=1", "model?library=true"),
    *(pytest.param(name, marks=pytest.mark.needs("proton")) for name in ("amqp", "http")),
]


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_adapter_passes_everything(name: str) -> None:
    found = findings(name)
    results = {each.result for each in found.values()}
    assert {Result.PASSED, Result.NOT_APPLICABLE} >= results


@pytest.mark.slow
def test_a_conforming_adapter_is_failed_by_nothing_however_hostile() -> None:
    for seed in range(20):
        found = findings(f"model?policy=hostile&seed={seed}")
        assert set() == failed(found), seed


@pytest.mark.needs("node")
def test_the_adapter_in_javascript_passes_everything() -> None:
    assert set() == failed(findings(f"exec:node {NODE}"))


def test_an_answer_that_never_comes_is_inconclusive() -> None:
    found = findings("misbehaving:IsSilent")
    assert set() == failed(found)
    assert Result.INCONCLUSIVE is found["send-receive"].result
    assert "no answer came to Receive" == found["send-receive"].detail


def test_an_adapter_that_keeps_breaking_is_not_asked_for_ever() -> None:
    found = findings("misbehaving:Breaks")
    assert 4 == sum(each.detail.startswith("the adapter broke") for each in found.values())
    assert Result.NOT_TRIED is found["witness"].result


def test_undeclared_capability_is_not_tried() -> None:
    found = findings(child("sound"))
    assert Result.NOT_APPLICABLE is found["sessions"].result
    assert "sessions is not declared" == found["sessions"].detail


LINES = {
    "silent": ("hello", "did not answer hello within 1 s: it must flush each answer"),
    "gone": ("hello", "ended with exit code 3 before it answered hello\nits log ends with:"),
    "no-json": ("hello", "the line must be JSON, and is not"),
    "field-twice": ("hello", 'an object has the field "id" twice'),
    "not-a-number": ("hello", "NaN is not a JSON number"),
    "start-as-ok": ("started", 'the answer to start is {"id": …, "started": {}}'),
    "chatty": ("one-answer", "wrote a line that nobody asked for"),
    "counts-itself": ("ids", "id is 3, and must be 7 as in the request"),
    "needs-all": ("defaults", "ended with exit code 1 before it answered command"),
    "ignorant": ("unknown-command", "was not answered with Unsupported"),
    "clueless": ("unknown-command", "ended with exit code 1 before it answered command"),
    "lingers": ("bye", "answered bye and went on running"),
    "bye-as-ok": ("bye", 'the answer to bye is {"id": …, "bye": {}}'),
    "bye-needs-start": ("bye-early", "ended with exit code 1 before it answered bye"),
    "moody": ("same-declaration", "two children of the same command declare different things"),
}
"""How a child gets its lines wrong, to the check that must catch it and what it must say."""


@pytest.mark.slow
@pytest.mark.parametrize("how", LINES)
def test_mistake_of_a_process_is_reported_by_its_own_check(how: str, tmp_path) -> None:
    check, said = LINES[how]
    timeout = 1.0 if how == "silent" else PATIENCE
    found = findings(child(how, str(tmp_path / "state")), timeout)
    assert check == next(iter(name for name in found if name in failed(found)))
    assert said in found[check].detail
    assert all(each.sent for each in found[check].exchanges)


def test_a_sound_process_passes_everything() -> None:
    assert set() == failed(findings(child("sound")))


def test_a_program_that_cannot_be_started_is_reported() -> None:
    found = findings("exec:/no/such/program")
    assert "it cannot be started: /no/such/program was not found" in found["hello"].detail
    assert {Result.FAILED, Result.NOT_TRIED} == {each.result for each in found.values()}


def test_every_check_has_caught_a_fake() -> None:
    """So that none of them is there for nothing."""
    caught = (*FAKES.values(), *MISREPORTED.values(), *LINES.values())
    known = {check for check, _ in caught} | set(REFUSED)
    assert [] == [each.id for each in lessons("exec:x") if each.id not in known]


@pytest.mark.parametrize("name", ["modle", "exec:", "misbehaving:Nobody", "amqp://host"])
def test_an_adapter_that_does_not_exist_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError):
        list(check_adapter(name, v.profile_for(load()), PATIENCE))


@pytest.mark.parametrize(
    ("name", "code"), [("model", 0), ("misbehaving:Forgets", 1), ("misbehaving:IsSilent", 3)]
)
def test_the_exit_code_distinguishes_failed_from_untried(name: str, code: int, capsys) -> None:
    assert code == main(["check-adapter", name])
    out = capsys.readouterr().out
    assert "passed" in out.splitlines()[-1]
    if code == 1:
        section = out.partition("send-receive failed")[2]
        for label in ("wrong", "sent", "came", "protocol", "do "):
            assert f"\n  {label}" in section


def test_what_is_not_declared_is_told_in_a_sentence(capsys) -> None:
    assert 0 == main(["check-adapter", "model"])
    out = capsys.readouterr().out
    assert "Not applicable, because a capability is not declared: client-library" in out
    assert 1 == out.count("client-library")
    assert out.endswith("passed, 1 not applicable\n")


def test_the_findings_are_to_be_had_as_json(capsys) -> None:
    assert 1 == main(["check-adapter", "misbehaving:Forgets", "--format", "json"])
    checks = json.loads(capsys.readouterr().out)["checks"]
    wrong = next(each for each in checks if each["check"] == "send-receive")
    assert "failed" == wrong["result"]
    assert {"sent", "came"} == set(wrong["exchanges"][0])


@pytest.mark.parametrize(
    ("name", "check", "raised"),
    [
        ("misbehaving:fails", "made", "OSError: the port is taken"),
        ("misbehaving:DeclaresRaising", "declaration", "RuntimeError: no bus here"),
        ("misbehaving:RaisesForRefusals", "refusal", "KeyError: 'no such queue'"),
    ],
)
def test_traceback_of_an_adapter_is_kept(
    name: str,
    check: str,
    raised: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """In the file that `busproof run` uses for that, which the finding names."""
    monkeypatch.chdir(tmp_path)
    assert 1 == main(["check-adapter", name, "--format", "json"])
    checks = json.loads(capsys.readouterr().out)["checks"]
    (found,) = [each for each in checks if each["check"] == check]
    kept = Path("reports") / "adapter-error.txt"
    assert found["said"].endswith(f"; {kept} has its traceback")
    text = kept.read_text(encoding="utf-8")
    assert f"{check}:\nTraceback (most recent call last):" in text
    assert raised in text


def test_no_file_is_written_for_an_adapter_that_raises_nothing(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert 1 == main(["check-adapter", "misbehaving:Forgets"])
    assert not Path("reports").exists()


def test_a_timeout_that_makes_no_sense_is_a_usage_error(capsys) -> None:
    assert 2 == main(["check-adapter", "model", "--timeout", "0"])
    assert "the timeout is 0.0 s" in capsys.readouterr().err
