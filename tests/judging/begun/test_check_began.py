"""`busproof check --began`: a log of production, of queues that were there before."""

import json
from pathlib import Path
from typing import Any

import pytest

from busproof import vocabulary as v
from busproof.cli.main import main
from busproof.history.files import HistoryWriter
from busproof.history.records import Began, Header
from busproof.judging.begun.judge import judged_begun
from busproof.judging.begun.reasons import Reason
from busproof.judging.verdicts import NEVER_JUDGED
from busproof.reports import conformance as reports
from busproof.spec import load

CONFIG = {
    "UserConfig": {
        "Namespaces": [
            {
                "Name": "ns",
                "Queues": [
                    {"Name": "orders", "Properties": {"EnablePartitioning": True}},
                ],
            }
        ]
    }
}


def seen(body: str, token: str, number: int = 7) -> v.Received:
    """Return a message that a receive gives."""
    view = v.MessageView(body=body, sequence_number=number, lock_token=token, delivery_count=3)
    return v.Received(message=view)


GIVEN_AGAIN: list[tuple[v.Command, v.Outcome]] = [
    (v.Receive(queue="orders"), seen("old", "t1")),
    (v.Complete(queue="orders", lock_token="t1"), v.Done()),
    (v.Receive(queue="orders"), seen("old", "t2")),
]
NUMBER_TWICE: list[tuple[v.Command, v.Outcome]] = [
    (v.Receive(queue="orders"), seen("old", "t1", 7)),
    (v.Receive(queue="orders"), seen("another", "t2", 7)),
]
LEFT_OUT: list[tuple[v.Command, v.Outcome]] = [
    (v.Receive(queue="orders"), v.Empty()),
    (v.Send(queue="orders", message=v.Message(body="new")), v.Done()),
    (v.Receive(queue="orders"), v.Empty()),
]
"""Whatever was under way at the beginning is over by the first answer."""
FROM_BEFORE: list[tuple[v.Command, v.Outcome]] = [
    (v.Complete(queue="orders", lock_token="unseen"), v.Done()),
    (v.Receive(queue="orders"), seen("old", "t1")),
    (v.Abandon(queue="orders", lock_token="t1"), v.Done()),
    (v.Receive(queue="orders"), seen("older", "t2", 3)),
]


CAPABILITIES = ("peek-lock", "sequence-numbers", "witness")


def write(
    folder: Path,
    exchanges: list[tuple[v.Command, v.Outcome]],
    began: Began | None = None,
    capabilities: tuple[str, ...] = CAPABILITIES,
) -> str:
    """Write a history of one client on a real clock; return its path."""
    header = Header(
        profile=v.profile_for(load()),
        clock=v.Clock.REAL,
        capabilities=capabilities,
        began=began,
    )
    path = folder / "history.jsonl"
    with HistoryWriter(path) as writer:
        writer.write(header)
        for index, (command, outcome) in enumerate(exchanges):
            moment = 1_000_000 + 1_000 * index
            writer.write(
                v.Event(called=moment, returned=moment + 500, command=command, outcome=outcome)
            )
    return str(path)


def violated_rules(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the rules that the report in JSON calls violated."""
    rules = json.loads(capsys.readouterr().out)["rules"]
    return [rule["id"] for rule in rules if rule["verdict"] == "violated"]


@pytest.mark.parametrize(
    ("events", "code", "rules"),
    [
        (GIVEN_AGAIN, 1, ["LIFE-03"]),
        (NUMBER_TWICE, 1, ["SEQ-03"]),
        (FROM_BEFORE, 3, []),
    ],
    ids=["settled and given again", "a number of two messages", "there before"],
)
def test_only_what_no_past_explains_is_accused(events, code, rules, tmp_path, capsys) -> None:
    history = write(tmp_path, events)
    assert code == main(["check", history, "--began", "unknown", "--format", "json"])
    assert rules == violated_rules(capsys)


def test_a_dead_letter_of_a_client_library_may_have_been_there(tmp_path, capsys) -> None:
    """What a library assigned is not known there; it was taken for a MessageId that was lost."""
    name = "orders/$deadletterqueue"
    view = v.MessageView(body="old", message_id="m", sequence_number=1, lock_token="t")
    exchanges: list[tuple[v.Command, v.Outcome]] = [
        (v.Receive(queue=name), v.Received(message=view)),
        (v.Complete(queue=name, lock_token="t"), v.Done()),
    ]
    history = write(tmp_path, exchanges, Began(), (*CAPABILITIES, "client-library", "dead-letter"))
    assert 3 == main(["check", history, "--format", "json"])
    assert [] == violated_rules(capsys)


def test_a_file_with_the_settings_accuses_more(tmp_path, capsys) -> None:
    history = write(tmp_path, LEFT_OUT)
    config = tmp_path / "Config.json"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    assert 3 == main(["check", history, "--began", "unknown", "--format", "json"])
    assert [] == violated_rules(capsys)
    assert 1 == main(["check", history, "--began", str(config), "--format", "json"])
    assert ["LIFE-09"] == violated_rules(capsys)


def test_the_header_may_say_what_was_before(tmp_path, capsys) -> None:
    settings = (v.CreateQueue(queue="orders"),)
    history = write(tmp_path, LEFT_OUT, Began(names=("orders",), settings=settings))
    assert 1 == main(["check", history, "--format", "json"])
    assert ["LIFE-09"] == violated_rules(capsys)


def test_an_entity_that_is_not_named_has_to_be_created(tmp_path, capsys) -> None:
    history = write(tmp_path, FROM_BEFORE, Began(names=("another",)))
    assert 1 == main(["check", history, "--format", "json"])
    assert violated_rules(capsys)


def test_a_file_that_is_missing_gets_one_sentence(tmp_path, capsys) -> None:
    history = write(tmp_path, FROM_BEFORE)
    assert 2 == main(["check", history, "--began", str(tmp_path / "nowhere.json")])
    assert "nowhere.json" in capsys.readouterr().err


def report_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the report in JSON."""
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_what_is_not_judged_is_counted_with_its_remedy(tmp_path, capsys) -> None:
    history = write(tmp_path, FROM_BEFORE)
    main(["check", history, "--began", "unknown", "--format", "json"])
    report = report_of(capsys)
    counts = {one["reason"]: one["events"] for one in report["unjudged"]}
    assert {
        Reason.BEGUN.why: 4,
        Reason.SETTINGS.why: 4,
        Reason.MESSAGES.why: 2,
        Reason.LOCKS.why: 1,
    } == counts
    assert all(one["remedy"] and one["names"] == ["orders"] for one in report["unjudged"])
    unshown = [rule for rule in report["rules"] if rule["verdict"] == "not shown"]
    assert len(unshown) == report["unjudged"][0]["rules"]
    assert {NEVER_JUDGED} == {rule["cause"] for rule in unshown}


def test_the_terminal_and_the_report_say_what_is_not_judged(tmp_path, capsys) -> None:
    history = write(tmp_path, FROM_BEFORE)
    folder = tmp_path / "report"
    main(["check", history, "--began", "unknown", "--report", str(folder)])
    printed = " ".join(capsys.readouterr().out.split())
    assert "Not judged" in printed
    assert f"1 event, 1 entity: {Reason.LOCKS.why} (orders); to judge it: " in printed
    assert "## Not judged" in (folder / "conformance.md").read_text(encoding="utf-8")
    assert 4 == len(reports.read(folder).unjudged)


def test_entities_that_nobody_creates_are_named_with_the_option(tmp_path, capsys) -> None:
    history = write(tmp_path, GIVEN_AGAIN)
    main(["check", history, "--format", "json"])
    assert report_of(capsys)["problems"] == [
        "the history uses orders and never creates them, so they did not exist; if they were there "
        "before, judge it with --began unknown"
    ]


def test_a_history_that_creates_its_entities_is_judged_as_a_whole(tmp_path, capsys) -> None:
    created: tuple[v.Command, v.Outcome] = (v.CreateQueue(queue="orders"), v.Done())
    history = write(tmp_path, [created, *LEFT_OUT[:2]])
    main(["check", history, "--began", "unknown", "--format", "json"])
    report = report_of(capsys)
    assert [] == report["unjudged"]
    assert 0 < report["summary"]["shown"]


def test_an_execution_from_the_middle_on_cannot_be_explained(tmp_path, capsys) -> None:
    history = write(tmp_path, FROM_BEFORE)
    assert 2 == main(["check", history, "--began", "unknown", "--explain"])
    assert "leave out --began or --explain" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("capabilities", "more", "broken"),
    [
        ((), (), "LIFE-09"),
        (("outages",), (), None),
        ((), (v.Refused(error=v.Error.UNAVAILABLE),), None),
    ],
    ids=["no outage", "outages are made", "an outage is told of"],
)
def test_a_partition_may_have_been_down_when_a_history_begins(capabilities, more, broken) -> None:
    """A receive in an outage may find nothing, though a message waits in another partition."""
    sent = v.Event(
        command=v.Send(queue="q", message=v.Message(body="new", partition_key="a")),
        outcome=v.Done(),
        returned=0,
        witness=v.Witness(partition=4),
    )
    received = [
        v.Event(command=v.Receive(queue="q"), outcome=outcome, returned=0)
        for outcome in (v.Empty(), *more)
    ]
    seen = v.observability_from(v.Clock.VIRTUAL, 0, ("dead-letter", "witness", *capabilities))
    known = Began(settings=(v.CreateQueue(queue="q", partitioned=True),))
    found, _ = judged_begun((sent, *received), v.profile_for(load()), seen, known)
    assert broken == (None if found.violation is None else found.violation.rules[0])
