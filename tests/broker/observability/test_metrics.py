"""What a broker counts, as Prometheus' own parsers read it, and who may have it."""

import http.client
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import ServiceBusError
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families
from work import PATIENCE

from busproof import vocabulary as v
from busproof.broker.bus import Bus
from busproof.broker.observability.metrics import MOST_TOLD
from busproof.broker.observability.traffic import Asked, Moved, Traffic
from busproof.spec import load

from ..conftest import Served, Start, anew, serving, written
from ..test_sdk_queues import taken


class Told:
    """The samples of one look, by name and labels."""

    def __init__(self, text: str) -> None:
        self._samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def of(self, name: str, **labels: str) -> float | None:
        """The sample with exactly these labels; `None` if there is none."""
        return self._samples.get((name, frozenset(labels.items())))

    def every(self, name: str, **labels: str) -> list[float]:
        """The samples with these labels, whatever others they have."""
        return [
            value
            for (found, having), value in self._samples.items()
            if found == name and labels.items() <= having
        ]

    def entities(self) -> set[str]:
        """All that an entity is called anywhere."""
        return {dict(labels).get("entity", "") for _, labels in self._samples}


def look(served: Served) -> Told:
    with urllib.request.urlopen(f"{served.admin}/metrics", timeout=PATIENCE) as answer:
        return Told(answer.read().decode())


def asked(served: Served, path: str, **headers: str) -> tuple[int, str, str]:
    """How a request is answered: the number, of which type, and with what."""
    host = urlsplit(served.admin)
    connection = http.client.HTTPConnection(host.hostname or "", host.port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def shared(start: Start) -> Served:
    return start("--clock", "virtual", "--metrics")


@pytest.fixture
def measured(shared: Served) -> Served:
    """A broker that counts, in whose entities there is nothing yet."""
    return anew(shared)


@pytest.mark.slow
def test_metrics_count_messages_and_refusals(measured: Served) -> None:
    """Messages and requests apart: a batch is one request of several messages."""
    with measured.client() as found:
        with found.get_queue_sender("parted") as sender:
            for number in range(3):
                sender.send_messages(ServiceBusMessage(f"one {number}", partition_key="k"))
            sender.send_messages([ServiceBusMessage(f"of four {each}") for each in range(4)])
            there = look(measured)
        with found.get_queue_sender("sessions") as sender, pytest.raises(ServiceBusError):
            sender.send_messages(ServiceBusMessage("no"))
        with found.get_queue_receiver("parted") as receiver:
            for each in taken(receiver, 2):
                receiver.complete_message(each)
        metrics = look(measured)
    assert 7 == metrics.of("busproof_messages_total", entity="parted", direction="in")
    assert 2 == metrics.of("busproof_messages_total", entity="parted", direction="out")
    assert metrics.of("busproof_messages_total", entity="sessions", direction="in") is None
    of = {"entity": "parted", "error": ""}
    assert 3 == metrics.of("busproof_requests_total", command="Send", **of)
    assert 1 == metrics.of("busproof_requests_total", command="SendBatch", **of)
    assert 2 == metrics.of("busproof_requests_total", command="Complete", **of)
    assert 1 == metrics.of(
        "busproof_requests_total", entity="sessions", command="Send", error="invalid-operation"
    )
    assert 1 == there.of("busproof_connections")
    assert 3 <= (metrics.of("busproof_connections_opened_total") or 0)
    assert 5 == metrics.of("busproof_entity", entity="parted", kind="queue", of="messages")


@pytest.mark.slow
def test_partitions_are_distinguished_and_said_to_be_down(measured: Served) -> None:
    """An entity without partitions has number 0; one of a size says how much of it is taken."""
    with measured.client() as found, found.get_queue_sender("parted") as sender:
        sender.send_messages([ServiceBusMessage("x" * 100) for _ in range(9)])
        sender.send_messages(ServiceBusMessage("x" * 50))
    measured.ask("/busproof/partitions/down", entity="parted", partition=11)
    metrics = look(measured)
    for number in range(16):
        of = {"entity": "parted", "partition": str(number)}
        assert float(number != 11) == metrics.of("busproof_partition_up", **of)
    assert 10 == sum(metrics.every("busproof_partition_ready", entity="parted"))
    # Each body's section begins with five bytes that say how long it is.
    assert 9 * 105 + 55 == sum(metrics.every("busproof_partition_bytes", entity="parted"))
    assert [1.0] == metrics.every("busproof_partition_up", entity="plain")


@pytest.mark.slow
def test_entities_that_are_not_there_have_no_samples(measured: Served) -> None:
    for number in range(5):
        asked(measured, f"/made-up-{number}?api-version=2021-05")
    metrics = look(measured)
    assert not [each for each in metrics.entities() if each.startswith("made-up")]
    assert metrics.of("busproof_entities") == 9.0


@pytest.mark.slow
def test_metrics_come_in_the_accepted_format(measured: Served) -> None:
    """OpenMetrics to who wants it, Prometheus' text to everybody else."""
    status, kind, text = asked(measured, "/metrics")
    assert (200, True) == (status, kind.startswith("text/plain; version="))
    assert "process_resident_memory_bytes" in text
    status, kind, text = asked(measured, "/metrics", Accept="application/openmetrics-text")
    assert (200, True) == (status, kind.startswith("application/openmetrics-text"))
    names = {each.name for each in openmetrics_families(text)}
    assert {"busproof", "busproof_requests", "busproof_partition_up"} <= names


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Served]:
    path = tmp_path / "token"
    path.write_text("open-sesame\n", encoding="utf-8")
    path.chmod(0o600)
    with serving("--metrics-token", str(path)) as served:
        yield served


@pytest.mark.slow
def test_metrics_are_off_by_default(served: Served) -> None:
    status, _, text = asked(served, "/metrics")
    assert 404 == status
    assert "busproof serve --metrics turns it on" in json.loads(text)["error"]


@pytest.mark.slow
def test_metrics_are_served_to_local_programs_but_no_web_page(measured: Served) -> None:
    assert 200 == asked(measured, "/metrics")[0]
    for headers in ({"Origin": "http://localhost"}, {"Host": "evil.example"}):
        status, _, text = asked(measured, "/metrics", **headers)
        assert 403 == status
        assert "--metrics-token" in text


@pytest.mark.slow
def test_a_token_of_theirs_shows_them_and_nothing_else(guarded: Served) -> None:
    shown = {"Authorization": "Bearer open-sesame"}
    assert 200 == asked(guarded, "/metrics", **shown)[0]
    assert 401 == asked(guarded, "/metrics")[0]
    assert 401 == asked(guarded, "/metrics", Authorization="Bearer open")[0]
    assert 404 == asked(guarded, "/busproof/state", **shown)[0]
    assert 404 == asked(guarded, "/busproof/overview", **shown)[0]


@pytest.mark.slow
def test_metrics_list_the_first_entities_and_count_the_rest(tmp_path: Path) -> None:
    """A look at a large namespace stays a short one, and says what it leaves out."""
    queues = [{"Name": f"q{number:04}"} for number in range(MOST_TOLD + 7)]
    with serving("--metrics", "--config", written(tmp_path, Queues=queues)) as served:
        metrics = look(served)
    assert MOST_TOLD + 7 == metrics.of("busproof_entities")
    assert 7 == metrics.of("busproof_entities_left_out")
    assert [1.0] == metrics.every("busproof_partition_up", entity=f"q{MOST_TOLD - 1:04}")
    assert not metrics.every("busproof_partition_up", entity=f"q{MOST_TOLD:04}")


@pytest.mark.slow
def test_a_store_shows_its_commits(start: Start, tmp_path: Path) -> None:
    served = start("--metrics", "--store", str(tmp_path / "store"))
    before = look(served).of("busproof_store_commit_seconds_count")
    with served.client() as found, found.get_queue_sender("parted") as sender:
        for _ in range(3):
            sender.send_messages(ServiceBusMessage("kept"))
    metrics = look(served)
    assert before is not None
    assert before + 3 <= (metrics.of("busproof_store_commit_seconds_count") or 0)
    assert 0 < (metrics.of("busproof_store_commit_seconds_sum") or 0)
    assert 0 == metrics.of("busproof_store_full")
    served.process.terminate()


def counted(*commands: v.Send | v.Schedule) -> Traffic:
    bus = Bus(v.profile_for(load()), clock="virtual")
    bus.ask(v.CreateQueue(queue="q", partitioned=True), "test")
    bus.record_name("q")
    bus.ask_all(commands, "test")
    return bus.traffic


def test_requests_refused_together_are_not_counted() -> None:
    """Several requests that all take effect or none are taken back by the one that is refused."""
    good = v.Send(queue="q", message=v.Message(body="a"))
    bad = v.Send(queue="q", message=v.Message(body="b", session_id="s", partition_key="p"))
    both = counted(good, good)
    assert 2 == both.moved[Moved("q", "in")]
    refused = counted(good, bad)
    assert 0 == refused.moved[Moved("q", "in")]
    assert 0 == refused.asked[Asked("q", "Send", "")]
    assert 1 == refused.asked[Asked("q", "Send", "invalid-operation")]


def test_an_entity_that_is_gone_is_forgotten_with_its_counts() -> None:
    """And only that: not one whose name begins like it."""
    bus = Bus(v.profile_for(load()), clock="virtual")
    for name in ("q", "queue"):
        bus.ask(v.CreateQueue(queue=name), "test")
        bus.record_name(name)
        bus.ask(v.Send(queue=name, message=v.Message(body="a")), "test")
    bus.ask(v.Send(queue="none", message=v.Message(body="a")), "test")
    bus.ask(v.DeleteQueue(queue="q"), "test")
    bus.forget("q")
    assert {Moved("queue", "in"): 1} == bus.traffic.moved
    assert {"queue", ""} == {each.entity for each in bus.traffic.asked}
