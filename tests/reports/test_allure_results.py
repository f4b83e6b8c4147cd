"""Allure results are fit to publish once they were cleaned."""

import errno
import json
from pathlib import Path

import attrs
import pytest

from busproof.errors import HistoryError
from busproof.history.conformance import Verdict
from busproof.reports.allure import ENVIRONMENT_NAME, clean_results, write_environment

RESULT = {
    "name": "Keys that differ",
    "status": "failed",
    "statusDetails": {"message": "cannot open /opt/x/y.json", "trace": 'File "/opt/x/z.py"'},
    "steps": [{"name": "When x", "statusDetails": {"message": "at amqp://me:pw@h/"}}],
    "parameters": [
        {"name": "adapter", "value": "'model'"},
        {"name": "_pytest_bdd_example", "value": "{'key': 'a'}"},
        {"name": "key", "value": "'a'"},
    ],
    "labels": [
        {"name": "epic", "value": "KEY"},
        {"name": "host", "value": "box7"},
        {"name": "thread", "value": "123-MainThread"},
    ],
}


@pytest.fixture
def results(tmp_path) -> Path:
    (tmp_path / "1-result.json").write_text(json.dumps(RESULT))
    befores = [{"name": "bus", "statusDetails": {"trace": 'File "/opt/x/z.py"'}}]
    (tmp_path / "2-container.json").write_text(json.dumps({"befores": befores}))
    (tmp_path / "3-attachment.txt").write_text("as it is")
    return tmp_path


def read(file: Path) -> dict:
    return json.loads(file.read_text(encoding="utf-8"))


def test_host_and_thread_go_and_other_labels_stay(results) -> None:
    clean_results(results)
    assert read(results / "1-result.json")["labels"] == [{"name": "epic", "value": "KEY"}]


def test_messages_and_traces_lose_their_places(results) -> None:
    clean_results(results)
    result = read(results / "1-result.json")
    assert result["statusDetails"] == {"message": "cannot open …/y.json", "trace": 'File "…/z.py"'}
    assert result["steps"][0]["statusDetails"] == {"message": "at amqp://…"}
    before = read(results / "2-container.json")["befores"][0]
    assert before["statusDetails"] == {"trace": 'File "…/z.py"'}


def test_the_row_of_an_outline_is_not_reported_twice(results) -> None:
    clean_results(results)
    parameters = read(results / "1-result.json")["parameters"]
    assert ["adapter", "key"] == [parameter["name"] for parameter in parameters]


def test_cleaning_names_the_rewritten_files_only(results) -> None:
    names = ["1-result.json", "2-container.json"]
    assert names == [file.name for file in clean_results(results)]
    assert clean_results(results) == ()


def test_attachments_stay_as_they_are(results) -> None:
    clean_results(results)
    assert (results / "3-attachment.txt").read_text() == "as it is"
    assert not (results / ENVIRONMENT_NAME).exists()


def test_the_environment_shows_who_was_held_to_what(results, conformance) -> None:
    write_environment(results, conformance)
    shown, not_tried = map(conformance.counted, (Verdict.SHOWN, Verdict.NOT_APPLICABLE))
    assert (results / ENVIRONMENT_NAME).read_text().splitlines() == [
        "implementation=Acme\\ Bus\\ 2.1",
        "edition=de-2021-04",
        "tier=standard",
        "partitions=16",
        "oracle=strict",
        f"rules={shown}\\ of\\ {shown + 4}\\ applicable\\ rules\\ shown",
        "rules\\ violated=1",
        "rules\\ not\\ shown=1",
        "rules\\ inconclusive=1",
        "rules\\ errored=1",
        f"rules\\ not\\ applicable={not_tried}",
    ]


def test_a_name_that_java_would_misread_is_escaped(results, conformance) -> None:
    subject = attrs.evolve(conformance.subject, name="a=b: #c\\é\n🚌", version="")
    write_environment(results, attrs.evolve(conformance, subject=subject))
    first = (results / ENVIRONMENT_NAME).read_text().splitlines()[0]
    assert first == r"implementation=a\=b\:\ \#c\\\u00e9\u000a\ud83d\ude8c"


@pytest.mark.parametrize("text", ['{"labels": [', "[]", "\udcff"])
def test_half_a_result_is_named(results, text) -> None:
    (results / "4-result.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(HistoryError, match=r"4-result\.json is not an Allure result .*: delete it"):
        clean_results(results)


def test_a_folder_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(HistoryError, match=r"cannot clean the Allure results in .*: No such file"):
        clean_results(tmp_path / "nowhere")


def test_a_full_disk_leaves_the_results_whole(results, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(HistoryError, match="No space left on device"):
        clean_results(results)
    assert read(results / "1-result.json") == RESULT
    assert not list(results.glob("*.part"))
