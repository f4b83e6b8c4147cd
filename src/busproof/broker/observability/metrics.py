"""Metrics of a broker in the Prometheus format.

Collecting them never scans the messages, and only `MOST_TOLD` entities have metrics of their own,
so it is fast even in a large namespace.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from busproof import __version__
from busproof.broker.admin.status_page import entity_told
from busproof.broker.core import Hub
from busproof.broker.http_requests import Answer

__all__ = ["MOST_TOLD", "Metrics"]

MOST_TOLD: Final = 300
"""Maximum number of entities with metrics of their own: the first by name."""
STATES: Final = ("messages", "locked", "scheduled", "dead_letters", "sessions")
"""Metrics of an entity, by their names on the status page."""


class Metrics(Collector):
    """A Prometheus collector that reads the broker's state when metrics are requested.

    Args:
        hub: the broker's core.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def answer(self, accept: str) -> Answer:
        """Return all metrics, in a format that the request accepts."""
        write, content_type = choose_encoder(accept)
        return Answer(200, write(self._registry), content_type)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics except those of the process."""
        yield from _broker_metrics(self._hub)
        yield from _traffic_metrics(self._hub)
        if self._hub.bus.is_trusted:
            yield from _entity_metrics(self._hub)
        if self._hub.saver is not None:
            yield from _store_metrics(self._hub)


def _broker_metrics(hub: Hub) -> Iterator[Metric]:
    profile = hub.bus.namespace.profile
    info = {"version": __version__, "edition": profile.edition, "tier": profile.tier.value}
    yield InfoMetricFamily("busproof", "The broker, and the profile of its namespace.", info)
    links = sum(len(connection.links) for connection in hub.connections)
    yield GaugeMetricFamily("busproof_connections", "AMQP connections.", len(hub.connections))
    yield GaugeMetricFamily("busproof_links", "Links of all AMQP connections.", links)
    yield CounterMetricFamily(
        "busproof_connections_opened", "AMQP connections since the start.", hub.opened
    )


def _traffic_metrics(hub: Hub) -> Iterator[Metric]:
    traffic = hub.bus.traffic
    yield _family(
        CounterMetricFamily,
        "busproof_requests",
        "Requests since the namespace began; error is empty where they were not refused.",
        ("entity", "command", "error"),
        (
            ((request.entity, request.command, request.error), count)
            for request, count in traffic.asked.items()
        ),
    )
    yield _family(
        CounterMetricFamily,
        "busproof_messages",
        "Messages that clients sent (in), and that were delivered to them (out), each time.",
        ("entity", "direction"),
        (
            ((movement.entity, movement.direction), count)
            for movement, count in traffic.moved.items()
        ),
    )


def _entity_metrics(hub: Hub) -> Iterator[Metric]:
    hub.bus.keep_time()
    names = hub.bus.names()
    entities = [entity_told(hub, name) for name in names[:MOST_TOLD]]
    yield GaugeMetricFamily("busproof_entities", "Queues, topics, subscriptions.", len(names))
    yield GaugeMetricFamily(
        "busproof_entities_left_out",
        f"Entities without samples, because there are more than {MOST_TOLD}.",
        len(names) - len(entities),
    )
    yield _family(
        GaugeMetricFamily,
        "busproof_entity",
        "Messages, locks, scheduled messages, dead letters and sessions held, of an entity now.",
        ("entity", "kind", "of"),
        (
            ((entity["name"], entity["kind"], of), entity[of])
            for entity in entities
            for of in STATES
        ),
    )
    partitions = [
        ((entity["name"], str(number)), partition)
        for entity in entities
        for number, partition in enumerate(entity["partitions"])
    ]
    labels = ("entity", "partition")
    yield _family(
        GaugeMetricFamily,
        "busproof_partition_up",
        "Whether a partition is up; an entity that is not partitioned has partition 0 alone.",
        labels,
        ((where, int(not partition["down"])) for where, partition in partitions),
    )
    yield _family(
        GaugeMetricFamily,
        "busproof_partition_ready",
        "Messages of a partition that are not locked.",
        labels,
        ((where, partition["ready"]) for where, partition in partitions),
    )
    yield _family(
        GaugeMetricFamily,
        "busproof_partition_bytes",
        "Used part of a partition's size.",
        labels,
        ((where, partition["bytes"]) for where, partition in partitions),
    )
    yield _family(
        GaugeMetricFamily,
        "busproof_partition_size_bytes",
        "The size of a partition.",
        labels,
        ((where, partition["most"]) for where, partition in partitions),
    )


def _store_metrics(hub: Hub) -> Iterator[Metric]:
    saver = hub.saver
    if saver is not None:
        yield SummaryMetricFamily(
            "busproof_store_commit_seconds",
            "Commits to the store since the start, and their duration.",
            count_value=saver.commits,
            sum_value=saver.seconds,
        )
        yield GaugeMetricFamily(
            "busproof_store_full", "Whether the disk of the store is full.", int(saver.is_full)
        )


def _family(
    kind: type[Any],
    name: str,
    meaning: str,
    labels: tuple[str, ...],
    samples: Iterable[tuple[tuple[str, ...], float]],
) -> Metric:
    metric: Any = kind(name, meaning, labels=labels)
    for values, sample in samples:
        metric.add_metric(values, sample)
    family: Metric = metric
    return family
