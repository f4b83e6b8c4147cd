"""The report in its file is what was judged, fits its schema, and has nothing private."""

import copy
import errno
import getpass
import json
import socket
from pathlib import Path

import attrs
import jsonschema
import pytest

from busproof import __version__
from busproof.errors import HistoryError
from busproof.history.conformance import (
    Conformance,
    ExitCode,
    Explored,
    KnownFailure,
    Standing,
    Verdict,
)
from busproof.reports.conformance import JSON_NAME, MARKDOWN_NAME, read, write
from busproof.reports.document import conformance_of, view
from busproof.reports.schemas import FILE, conformance_schema, render
from busproof.spec import load


@pytest.fixture(scope="session")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_a_report_is_found_in_its_run_folder(conformance, tmp_path) -> None:
    write(conformance, tmp_path / "run")
    assert conformance == read(tmp_path / "run")


def test_report_that_is_read_has_the_types_of_judging(conformance, tmp_path) -> None:
    write(conformance, tmp_path)
    again = read(tmp_path)
    assert again.exit_code is ExitCode.VIOLATION
    assert {type(rule.verdict) for rule in again.rules} == {Verdict}


def test_the_head_says_who_was_held_to_what(conformance) -> None:
    written = view(conformance)
    del written["rules"], written["levels"]
    assert written == {
        "schema": 5,
        "busproof": __version__,
        "catalogue": "1.4.0",
        "at": "",
        "seconds": None,
        "again": "",
        "only": [],
        "implementation": {
            "name": "Acme Bus",
            "version": "2.1",
            "language": "Go",
            "commit": "",
            "url": "",
            "contact": "",
        },
        "adapter": "acme.adapter:make",
        "capabilities": ["duplicate-detection", "peek", "peek-lock", "sessions"],
        "clock": "real",
        "slack": 2_000_000,
        "profile": {
            "edition": "de-2021-04",
            "tier": "standard",
            "partitions": 16,
            "readings": {"KEY-ORDER": "sessions-only"},
        },
        "oracle": "strict",
        "events": 1234,
        "scenarios": {"passed": 60, "failed": 1},
        "summary": {
            "shown": conformance.counted(Verdict.SHOWN),
            "violated": 1,
            "known failure": 0,
            "not applicable": conformance.counted(Verdict.NOT_APPLICABLE),
            "not shown": 1,
            "inconclusive": 1,
            "errored": 1,
            "applicable": conformance.counted(Verdict.SHOWN) + 4,
        },
        "exit_code": 1,
        "problems": ["the history's last line is cut off"],
        "known_failures": [],
        "explored": None,
        "unjudged": [],
    }


def test_exploration_is_written_and_read(conformance, tmp_path) -> None:
    explored = Explored(
        seed=7, sequences=80, events=4000, metamorphic=400, goals={"a dropped duplicate": 3}
    )
    write(attrs.evolve(conformance, explored=explored), tmp_path)
    assert read(tmp_path).explored == explored
    page = (tmp_path / "conformance.md").read_text()
    assert "80 sequences, 4000 events, 400 metamorphic variants, seed 7" in page


def test_a_violation_has_its_events_as_a_history_has_them(conformance) -> None:
    violated = next(rule for rule in view(conformance)["rules"] if rule["id"] == "KEY-08")
    example = violated["counterexample"]
    assert example["events"][1] == {
        "command": {"type": "Send", "queue": "q", "message": {"body": "m1", "session_id": "a"}},
        "outcome": {"type": "Done"},
        "witness": {"partition": 3},
    }


def test_the_schema_file_is_the_one_that_is_made() -> None:
    made = render(conformance_schema())
    assert made == FILE.read_text(encoding="utf-8"), "run python -m busproof.reports.schemas"


def test_a_report_fits_the_schema(conformance, validator) -> None:
    validator.validate(json.loads(json.dumps(view(conformance))))


def test_an_empty_report_fits_the_schema(subject, validator, tmp_path) -> None:
    empty = Conformance(subject=subject, oracle="client", rules=())
    write(empty, tmp_path)
    validator.validate(json.loads((tmp_path / JSON_NAME).read_text()))
    assert empty == read(tmp_path)


def spoilt(report: dict, path: tuple, value: object) -> dict:
    """The report with one value replaced, or removed where the new one is `...`."""
    changed = copy.deepcopy(report)
    place = changed
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


PLACE = [rule.id for rule in load().rules if rule.shown_by != "never"].index("KEY-08")
KEY_08 = ("rules", PLACE)
EVENT = (*KEY_08, "counterexample", "events", 0)
WRONG = [
    (("schema",), ..., "schema is null, and must be 5"),
    (("schema",), True, "schema is true, and must be 5"),
    (("schema",), 0, "schema is 0, and must be 5"),
    (("schema",), 6, "schema is 6, and this busproof reads up to 5: upgrade busproof"),
    (("implementation", "name"), ..., "implementation.name is missing"),
    (("implementation", "host"), "vm1", 'implementation has the unknown field "host"'),
    (("slack",), 1.5, "slack is 1.5, and must be a whole number"),
    (("clock",), "sundial", 'clock is "sundial", and must be one of "virtual", "real"'),
    (("oracle",), "delphi", 'oracle is "delphi", and must be one of "strict", "client"'),
    (("profile", "tier"), "gold", 'profile.tier is "gold", and must be one of'),
    (("scenarios",), [], "scenarios is [], and must be an object"),
    (("exit_code",), 9, "exit_code is 9, and must be one of 0, 1, 2, 3, 4"),
    (("problems",), "none", 'problems is "none", and must be a list'),
    ((*KEY_08, "verdict"), "fine", f'rules[{PLACE}].verdict is "fine", and must be one of'),
    ((*KEY_08, "score"), 1, f'rules[{PLACE}] has the unknown field "score"'),
    ((*KEY_08, "counterexample", "seen"), ..., f"rules[{PLACE}].counterexample.seen is missing"),
    ((*EVENT, "command", "type"), "Destroy", '.command.type is "Destroy", and must be one of'),
    ((*EVENT, "outcome"), ..., ".outcome is missing"),
]


@pytest.mark.parametrize(("path", "value", "said"), WRONG)
def test_invalid_report_is_refused_in_one_sentence(conformance, validator, path, value, said):
    right = view(conformance)
    wrong = spoilt(right, path, value)
    assert (True, False) == (validator.is_valid(right), validator.is_valid(wrong))
    with pytest.raises(HistoryError) as refused:
        conformance_of(wrong)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "path",
    [("profile", "partitions"), ("slack",), ("events",), (*KEY_08, "events"), ("summary", "shown")],
)
def test_the_schema_allows_no_number_below_zero(conformance, validator, path) -> None:
    assert not validator.is_valid(spoilt(view(conformance), path, -1))


@pytest.mark.parametrize("key", ["rules", "summary", "capabilities", "adapter", "events"])
def test_the_schema_misses_every_key(conformance, validator, key) -> None:
    assert not validator.is_valid(spoilt(view(conformance), (key,), ...))


def test_schema_has_the_sentence_of_a_counterexample_as_it_is_read(conformance, validator) -> None:
    """Reports that busproof 0.2.0 wrote, with the same schema, have none."""
    older = spoilt(view(conformance), (*KEY_08, "counterexample", "about"), ...)
    validator.validate(json.loads(json.dumps(older)))
    assert conformance_of(older) == conformance


def test_counts_that_the_rules_contradict_are_refused(conformance) -> None:
    wrong = spoilt(view(conformance), ("summary", "violated"), 0)
    with pytest.raises(HistoryError, match=r"summary is .*, and by the rules must be"):
        conformance_of(wrong)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '"\udcff"', "[]", "null"])
def test_a_file_that_is_no_report_is_named(tmp_path, text) -> None:
    file = tmp_path / JSON_NAME
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(HistoryError, match=r"conformance\.json is not a conformance report: "):
        read(file)


@pytest.mark.parametrize("failing", ["write_bytes", "replace"])
def test_a_full_disk_leaves_the_older_report_whole(conformance, tmp_path, monkeypatch, failing):
    write(conformance, tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, failing, full)
    with pytest.raises(HistoryError, match=r"cannot write the report .*: No space left on device"):
        write(attrs.evolve(conformance, events=1), tmp_path)
    monkeypatch.undo()
    assert conformance == read(tmp_path)
    assert {JSON_NAME, MARKDOWN_NAME} == {file.name for file in tmp_path.iterdir()}


def test_the_report_has_nothing_of_the_machine(with_rule, conformance, tmp_path) -> None:
    host, user = socket.gethostname(), getpass.getuser()
    said = (
        f"{user} on {host} cannot read {Path.home()}/secret.txt or {Path.cwd()}/run/history.jsonl: "
        "amqps://me:pw@bus.example.net:5671/q refused SharedAccessKey=aGVsbG8="
    )
    violated = next(rule for rule in conformance.rules if rule.id == "KEY-08")
    last = violated.counterexample.events[-1]
    detailed = attrs.evolve(last, outcome=attrs.evolve(last.outcome, detail=said))
    example = attrs.evolve(violated.counterexample, seen=said, allowed=(said,), events=(detailed,))
    report = attrs.evolve(
        with_rule("KEY-08", cause=said, counterexample=example),
        problems=(said,),
        subject=attrs.evolve(conformance.subject, adapter=f"exec:{Path.cwd()}/bus --key geheim"),
    )
    write(report, tmp_path)
    for name in (JSON_NAME, MARKDOWN_NAME):
        assert_tells_nothing_private((tmp_path / name).read_text(encoding="utf-8"))


def assert_tells_nothing_private(text: str) -> None:
    words = text.replace("\\", " ").replace("/", " ").split()
    bare = {word.strip("`'\",.:;()*") for word in words}
    assert socket.gethostname() not in bare
    assert getpass.getuser() not in bare
    for private in (str(Path.home()), str(Path.cwd()), "geheim", "me:pw", "example.net", "aGVs"):
        assert private not in text


def test_a_body_of_half_a_surrogate_pair_can_be_written(with_rule, tmp_path) -> None:
    write(with_rule("KEY-02", cause="half \ud800"), tmp_path)
    assert r"half \\ud800" in (tmp_path / MARKDOWN_NAME).read_text(encoding="utf-8")


KNOWN = KnownFailure(
    rule="KEY-08",
    reason="the bus at sb://acme.example/ drops it",
    link="https://bus.example/issues/17?sig=abc",
    expires="2027-01-31",
    standing=Standing.FAILED,
)


def test_known_failures_are_written_and_read_back(conformance, validator, tmp_path) -> None:
    """Without addresses or secrets; the link can still be followed."""
    write(attrs.evolve(conformance, known_failures=(KNOWN,)), tmp_path)
    validator.validate(json.loads((tmp_path / JSON_NAME).read_text()))
    (entry,) = read(tmp_path).known_failures
    assert "the bus at sb://… drops it" == entry.reason
    assert "https://bus.example/issues/17?sig=…" == entry.link
    assert attrs.evolve(entry, reason=KNOWN.reason, link=KNOWN.link) == KNOWN


def test_a_report_of_the_first_format_is_still_read(conformance) -> None:
    """It knew of no known failures."""
    old = view(conformance) | {"schema": 1}
    del old["known_failures"], old["catalogue"]
    del old["summary"]["known failure"]
    assert attrs.evolve(conformance, catalogue="") == conformance_of(old)


def test_a_report_of_the_second_format_is_still_read(conformance) -> None:
    """It did not name the rules."""
    old = view(conformance) | {"schema": 2}
    del old["catalogue"]
    assert attrs.evolve(conformance, catalogue="") == conformance_of(old)
