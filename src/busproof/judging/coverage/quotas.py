"""QUOTA: entities that are created just within the quotas."""

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage
from busproof.model.quotas import A_UNIT, MOST_ENTITIES, MOST_PARTITIONED
from busproof.model.state import Entity
from busproof.model.values import EntityKind

__all__ = ["of_created"]


def of_created(coverage: Coverage, entity: Entity) -> None:
    """QUOTA-01, QUOTA-03 to QUOTA-07, QUOTA-09 to QUOTA-14: show the rules on one more entity."""
    counts = coverage.namespace.counts
    profile = coverage.namespace.profile
    of_queues = entity.kind is EntityKind.QUEUE
    partitioned = entity.settings.partitioned
    # The counts are those after the creation.
    there = counts.partitioned_queues + counts.partitioned_topics
    entities = there + counts.regular
    if profile.tier is v.Tier.PREMIUM:
        reading = profile.readings.get("QUOTA-PREMIUM")
        units = A_UNIT * profile.messaging_units
        coverage.show_if(
            (entities == units, "QUOTA-14"),
            (reading == "quota" and entities > MOST_ENTITIES, "QUOTA-13"),
            (
                reading == "counting" and not partitioned and counts.regular == MOST_ENTITIES,
                "QUOTA-12",
            ),
            (reading == "either" and entities > units, "QUOTA-11"),
        )
        return
    last = partitioned and there == MOST_PARTITIONED
    alone = (counts.partitioned_queues if of_queues else counts.partitioned_topics) == there
    reached = "partitioned" in coverage.reached
    full = there - partitioned >= MOST_PARTITIONED
    many = counts.regular > MOST_PARTITIONED if partitioned else full
    weighed = profile.readings.get("QUOTA-WEIGHT")
    coverage.show_if(
        (last and reached, "QUOTA-05"),
        (last and not reached and alone, "QUOTA-01" if of_queues else "QUOTA-03"),
        (partitioned and full, "QUOTA-04"),
        (many, "QUOTA-06"),
        (entities == MOST_ENTITIES, "QUOTA-07"),
        (counts.stores > MOST_ENTITIES and weighed != "per-partition", "QUOTA-09"),
        (entities <= MOST_ENTITIES < entities + counts.subscriptions, "QUOTA-10"),
    )
    if last:
        coverage.journal.put(coverage.reached, "partitioned", None)
