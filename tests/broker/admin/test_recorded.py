"""The embedded broker answers administration as the real service was recorded to answer it."""

import json
from pathlib import Path

import attrs
import pytest
import yaml

from busproof import spec

from .replaying import differences, sessions_of

ACCEPTED = yaml.safe_load(
    (Path(__file__).parent / "accepted_differences.yaml").read_text(encoding="utf-8")
)
MOST_ACCEPTED = 1
"""Lower it when the list has become shorter."""
SESSIONS = sessions_of(spec.load_observations())


@pytest.mark.parametrize("session", SESSIONS)
def test_recorded_session_is_answered_as_it_was(session: str) -> None:
    """With status, sub-code, elements in their order, values and content types."""
    found = {
        exchange: different
        for exchange, different in differences(SESSIONS[session]).items()
        if different and exchange not in ACCEPTED
    }
    assert found == {}


def test_accepted_differences_are_differences() -> None:
    """An exchange that the broker answers as recorded is taken out of the list."""
    found: dict[str, list[str]] = {}
    for session in SESSIONS.values():
        found |= differences(session)
    assert [exchange for exchange in ACCEPTED if not found[exchange]] == []
    assert len(ACCEPTED) <= MOST_ACCEPTED
    assert all(reason.strip() for reason in ACCEPTED.values())


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"status": 200}, "status: recorded 200, given 201"),
        ({"content_type": "application/xml"}, "content type: recorded 'application/xml'"),
        ({"elements": ["LockDuration"]}, "elements: recorded ['LockDuration']"),
        ({"values": {"LockDuration": "PT60S"}}, "LockDuration: recorded 'PT60S', given 'PT1M'"),
        ({"absent": ["LockDuration"]}, "LockDuration: recorded absent"),
        ({"entry": ["id"]}, "entry: recorded ['id']"),
    ],
)
def test_answer_that_differs_from_the_recorded_one_is_noticed(
    changed: dict[str, object], said: str
) -> None:
    """In whichever part it differs."""
    first = SESSIONS["defaults"][0]
    wrong = attrs.evolve(first, recorded={**first.recorded, **changed})
    assert said in "\n".join(differences([wrong])[first.id])


def test_refusal_without_its_sub_code_is_noticed() -> None:
    """And so is one that says something else."""
    [refused] = [each for each in SESSIONS["premium"] if each.id == "R072"]
    recorded = {**refused.recorded, "sub_code": "40900", "says": "Conflict"}
    found = json.dumps(differences([attrs.evolve(refused, recorded=recorded)])["R072"])
    assert "sub-code: recorded '40900', given '40000'" in found
    assert "without 'Conflict'" in found


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AutoDeleteOnIdle", "PT4M59S", "it has to be PT5M or longer"),
        ("UserMetadata", "x" * 1025, "at most 1024 are allowed"),
    ],
)
def test_value_beyond_the_documented_limits_is_refused(name: str, value: str, said: str) -> None:
    """Though nobody recorded it; the greatest and the least value are taken."""
    first = SESSIONS["defaults"][0]
    request = {**first.request, "properties": [[name, value]]}
    refused = {"status": 400, "sub_code": "40000", "says": said}
    within = {**request, "properties": [["AutoDeleteOnIdle", "PT5M"], ["UserMetadata", "x" * 1024]]}
    taken = attrs.evolve(first, id="taken", request=within, recorded={"status": 201})
    refusing = attrs.evolve(first, request=request, recorded=refused)
    assert differences([refusing, taken]) == {first.id: [], "taken": []}
