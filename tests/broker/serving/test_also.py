"""`busproof serve --also`: clients are told nothing, and the operator what breaks elsewhere."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from azure.servicebus import ServiceBusMessage
from work import PATIENCE

from busproof.cli.main import main

from ..conftest import Served, launched, running

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[3] / "examples" / "moving"
FREE = ("--port", "0", "--admin-port", "0")


@pytest.fixture
def moving(tmp_path: Path) -> Iterator[Served]:
    """The namespace of the example, compared with one of Premium."""
    config = str(EXAMPLE / "Config.json")
    also = ("--also", "premium:4", "--also-report", str(tmp_path / "out"), "--page")
    log = ("--log", str(tmp_path / "log.jsonl"))
    process = launched(*FREE, "--config", config, *also, *log)
    yield running(process)
    process.kill()
    process.wait(PATIENCE)


def end(served: Served) -> tuple[int, str]:
    """End the broker, and return its exit code and all that it has said."""
    served.process.send_signal(signal.SIGINT)
    _, said = served.process.communicate(timeout=PATIENCE)
    return served.process.returncode, said


def test_the_shop_works_and_its_three_breaks_are_named(moving: Served, tmp_path: Path) -> None:
    """The official client over sockets; each kind is there once, with its rule and its client."""
    command = [sys.executable, str(EXAMPLE / "shop.py"), moving.connection_string]
    shop = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert shop.stdout.splitlines() == [
        "shipped book lamp pen",
        "paid 12.50",
        "audited alice paid, bob paid",
    ], shop.stderr

    with urllib.request.urlopen(f"{moving.admin}/busproof/moving", timeout=PATIENCE) as answer:
        page = answer.read().decode()
    code, said = end(moving)

    report = json.loads((tmp_path / "out" / "moving.json").read_text("utf-8"))
    breaks = {kind["rules"][0]: kind for kind in report["breaks"]}
    assert sorted(breaks) == ["PREM-15", "PREM-17"]
    assert breaks["PREM-15"]["entities"] == {"audit": 1, "payments": 1}
    assert breaks["PREM-17"]["seen"] == 1
    assert "connection-" in breaks["PREM-17"]["first"]["client"]
    assert [kind["rules"] for kind in report["may_break"]] == [["DUP-06"]]
    assert (report["eased"], report["not_compared"]) == ([], {})
    assert report["compared"] > 20
    assert "PREM-17" in page
    assert code == 1
    assert "Exit code 1: 2 kinds of request will break." in said
    lines = (tmp_path / "out" / "moving.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["rules"][0] for line in lines] == ["PREM-15", "DUP-06", "PREM-17"]
    logged = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert 3 == sum(line["event"] == "moving" for line in logged)


def test_what_one_client_leaves_to_another_is_no_break() -> None:
    """Locks that expire, messages that are given back, dead letters: all without a difference."""
    config = str(EXAMPLE / "Config.json")
    process = launched(*FREE, "--config", config, "--also", "TXN-ENTITIES=refused")
    served = running(process)
    with served.client() as client:
        with client.get_queue_sender("audit") as sender:
            sender.send_messages([ServiceBusMessage(str(number)) for number in range(9)])
        with client.get_queue_receiver("audit", prefetch_count=5) as receiver:
            first = receiver.receive_messages(max_wait_time=30)
            receiver.abandon_message(first[0])
        with client.get_queue_receiver("audit") as receiver:
            got: list[object] = []
            while len(got) < 9:
                for message in receiver.receive_messages(max_message_count=9, max_wait_time=30):
                    receiver.dead_letter_message(message, reason="no")
                    got.append(message)
    code, said = end(served)
    assert (code, "requests compared" in said) == (0, True), said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--also", "gold"), "there is no namespace 'gold'"),
        (("--also", "standard"), "is the namespace that the clients use already"),
        (("--also", "premium:4", "--edition", "de-2021-04"), "knows no partitioned namespaces"),
        (("--also", "KB-BYTES=9"), "has no reading '9'"),
        (("--also-report", "out"), "--also-report is of no use without --also"),
    ],
)
def test_a_target_that_does_not_fit_is_one_sentence(
    options: tuple[str, ...], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *FREE, *options]) == 2

    complaint = capfd.readouterr().err
    assert said in complaint
    assert complaint.count("\n") == 1


def test_a_namespace_that_becomes_the_target_stops_the_comparison() -> None:
    """And clients are served all the same."""
    process = launched(*FREE, "--control", "--also", "premium")
    served = running(process)
    served.ask("/busproof/namespace", tier="premium")
    assert served.ask("/busproof/state") is not None
    code, said = end(served)

    assert code == 3
    assert "the comparison has stopped: premium is the namespace that the clients use" in said


def test_a_report_that_cannot_be_written_is_said_and_clients_are_served(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    config = str(EXAMPLE / "Config.json")
    report = ("--also-report", str(tmp_path / "file"))
    served = running(launched(*FREE, "--config", config, "--also", "premium:4", *report))
    code, said = end(served)

    assert code == 1
    assert "cannot write" in served.said + said
