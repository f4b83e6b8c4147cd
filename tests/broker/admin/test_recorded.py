"""The embedded broker answers administration as the real service was recorded to answer it."""

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
