"""`busproof check --as`: what breaks in another namespace."""

import json
from pathlib import Path

import pytest

from busproof import vocabulary as v
from busproof.cli import check
from busproof.errors import UsageError
from busproof.history.files import HistoryWriter
from busproof.history.records import Header, Started
from busproof.spec import load

CONFIG = {
    "UserConfig": {
        "Namespaces": [
            {
                "Name": "n",
                "Queues": [{"Name": "q", "Properties": {"EnablePartitioning": True}}],
                "Topics": [{"Name": "t", "Properties": {}, "Subscriptions": []}],
            }
        ]
    }
}


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A client of Standard that sends without a key in a transaction."""
    file = tmp_path / "history.jsonl"
    commands = (
        v.CreateQueue(queue="q", partitioned=False),
        v.BeginTransaction(transaction="t"),
        v.Send(queue="q", message=v.Message(body="m"), transaction="t"),
        v.CommitTransaction(transaction="t"),
    )
    with HistoryWriter(file) as writer:
        writer.write(Header(profile=v.profile_for(load())))
        writer.write(Started(scenario="orders"))
        for command in commands:
            writer.write(v.Event(command=command, outcome=v.Done(), returned=0))
    return file


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "Config.json"
    file.write_text(json.dumps(CONFIG, indent=1), "utf-8")
    return file


def run(*words: str) -> int:
    return check.run(check.COMMAND.read(words))


def test_a_history_breaks_with_rules_and_report(history, tmp_path, capsys) -> None:
    code = run(str(history), "--as", "premium:4", "--report", str(tmp_path / "out"))

    out = capsys.readouterr().out
    assert code == 1
    assert "TXN-03: A message without key is refused in a transaction" in out
    assert "in 'orders': Send to q" in out
    assert (tmp_path / "out" / "moving.html").is_file()


def test_json_has_the_same(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(history), "--as", "premium:4", "--format", "json") == 1

    answer = json.loads(capsys.readouterr().out)
    assert [kind["rules"] for kind in answer["breaks"]] == [["PREM-15"], ["TXN-03"]]


def test_nothing_breaks_where_no_key_is_needed(history, capsys) -> None:
    assert run(str(history), "--as", "premium") == 0
    assert "4 requests compared" in capsys.readouterr().out


def test_a_configuration_is_compared_before_any_message(settings, capsys) -> None:
    assert run(str(settings), "--as", "premium:4") == 1

    out = capsys.readouterr().out
    assert "PREM-15" in out
    assert f"{settings}:" in out
    assert "seen   once, on t, by settings" in out


def test_entities_from_before_have_their_settings_from_a_file(settings, tmp_path, capsys) -> None:
    file = tmp_path / "history.jsonl"
    messages = tuple(v.Message(body=key, partition_key=key) for key in "ab")
    with HistoryWriter(file) as writer:
        writer.write(Header(profile=v.profile_for(load())))
        for topic in "tq":
            command = v.SendBatch(queue=topic, messages=messages)
            refused = v.Refused(error=v.Error.INVALID_OPERATION)
            outcome = v.Done() if topic == "t" else refused
            writer.write(v.Event(command=command, outcome=outcome, returned=0))

    assert run(str(file), "--as", "premium:4") == 3
    assert "check --began names a file with its settings" in capsys.readouterr().out
    assert run(str(file), "--as", "premium:4", "--began", str(settings)) == 1
    assert "PREM-17: In a partitioned namespace keys may not differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "gold"), "there is no namespace 'gold'"),
        (("--as", "standard"), "is the namespace that the clients use already"),
        (("--as", "de-2021-04/premium:2"), "knows no partitioned namespaces"),
        (("--as", "premium", "--oracle", "client"), "leave out --oracle"),
        (("--as", "premium", "--engine", "spark"), "leave out --engine spark"),
        (("--as", "premium", "--explain"), "leave out --explain"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(history, words, said) -> None:
    with pytest.raises(UsageError, match=said):
        run(str(history), *words)


def test_a_history_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        run(str(tmp_path / "none.jsonl"), "--as", "premium")


def test_a_configuration_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "Config.json"
    file.write_text("{", "utf-8")

    with pytest.raises(UsageError, match=r"Config\.json"):
        run(str(file), "--as", "premium")
