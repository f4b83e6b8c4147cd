"""What the control API answers: state, decisions, and requests that are impossible."""

import urllib.request

import pytest
from azure.servicebus import ServiceBusMessage as Message
from work import PATIENCE

from ..conftest import Served, Start, anew
from ..test_sdk_queues import sent

pytestmark = pytest.mark.slow


def test_health_and_state(served: Served) -> None:
    """What the emulator says, and what is held where."""
    with urllib.request.urlopen(f"{served.admin}/health", timeout=PATIENCE) as answer:
        assert 200 == answer.status
    assert "healthy" == served.ask("/health")["status"]
    state = served.ask("/busproof/state")
    assert ("real", 16) == (state["clock"], state["partitions"])
    assert "topic" == state["entities"]["topic"]["kind"]
    assert "subscription" == state["entities"]["topic/subscriptions/all"]["kind"]
    assert 16 == len(state["entities"]["parted"]["held"])
    assert 1 == len(state["entities"]["plain"]["held"])


def test_impossible_control_request_gets_one_sentence(served: Served) -> None:
    """With what could be instead."""
    status, said = served.ask("/busproof/partitions/down", entity="parted", partition=16)
    assert (400, True) == (status, "0 to 15" in said["error"])
    status, said = served.ask("/busproof/partitions/down", entity="parted", partition=True)
    assert (400, True) == (status, "partition is True; 'parted' has 0 to 15" in said["error"])
    status, said = served.ask("/busproof/partitions/down", entity="nowhere", partition=1)
    assert (404, True) == (status, "'nowhere'" in said["error"])
    status, said = served.ask("/busproof/clock", advance=1)
    assert (400, True) == (status, "--clock virtual" in said["error"])
    status, said = served.ask("/busproof/decisions?after=x")
    assert (400, True) == (status, "'x'" in said["error"])
    status, said = served.ask("/busproof/nothing")
    assert (404, True) == (status, "GET state" in said["error"])


def test_decisions_are_the_same_from_one_seed(start: Start) -> None:
    seen = []
    served = start("--policy", "random", "--seed", "7")
    for _ in range(2):
        anew(served)
        sent(served, "parted", *(Message(str(each)) for each in range(12)))
        seen.append([each["partition"] for each in served.ask("/busproof/decisions")])
        after = served.ask("/busproof/decisions?after=10")
        assert [11, 12] == [each["number"] for each in after]
    assert seen[0] == seen[1]
    assert len(set(seen[0])) > 3
