"""Why an event cannot be used: it is no record, or says what this engine does not know."""

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as sf

from busproof.pipeline.schema import (
    COMMAND,
    DESCRIPTION,
    EVENT,
    KNOWN_COMMANDS,
    KNOWN_OUTCOMES,
    MESSAGE,
    OUTCOME,
    VIEW,
)

__all__ = ["CORRUPT", "unheard_of", "unknown", "unreadable"]

CORRUPT: Final = "_corrupt"
"""The column for what is no JSON of the expected kind."""


def unreadable() -> Column:
    """Why a line is no record that could be; null where it is one."""
    record = sf.col("r.record")
    event = record == "event"
    given = sf.col("o.type") == "Received"
    return (
        sf.when(
            sf.col(f"r.{CORRUPT}").isNotNull() | record.isNull(),
            "the line is no record: not a JSON object, or a field of another kind",
        )
        .when(
            ~record.isin("header", "started", "event", "ended"),
            "record must be header, started, event or ended",
        )
        .when(
            (record == "header") != (sf.col("line") == 1),
            "a history begins with its header, and has no other",
        )
        .when(
            event & (sf.col("c.type").isNull() | sf.col("o.type").isNull()),
            "an event has a command and an outcome, each with a type",
        )
        .when(
            event & (sf.col(f"c.{CORRUPT}").isNotNull() | sf.col(f"o.{CORRUPT}").isNotNull()),
            "a field of the command or the outcome is of another kind",
        )
        .when(event & given & sf.col("o.message.body").isNull(), "Received names no message")
        .when(
            event & (sf.col("r.returned") < sf.col("r.called")), "it returned before it was called"
        )
    )


def unknown() -> Column:
    """What this engine does not know, and so does not judge: kinds of requests, and fields."""
    event = sf.col("r.record") == "event"
    shown = sf.from_json(
        "r.outcome",
        "message MAP<STRING, STRING>, messages ARRAY<MAP<STRING, STRING>>, "
        "description MAP<STRING, STRING>",
    )
    sent = sf.from_json("r.command", "message MAP<STRING, STRING>")
    kinds = (
        (sf.json_object_keys("text"), EVENT),
        (sf.json_object_keys("r.command"), COMMAND),
        (sf.json_object_keys("r.outcome"), OUTCOME),
        (sf.map_keys(sent["message"]), MESSAGE),
        (sf.map_keys(shown["message"]), VIEW),
        (sf.map_keys(shown["description"]), DESCRIPTION),
        (
            sf.flatten(sf.transform(shown["messages"], sf.map_keys)),
            VIEW,
        ),
    )
    extra = sf.array_distinct(
        sf.concat(*(sf.coalesce(_beyond(keys, known), sf.array()) for keys, known in kinds))
    )
    return sf.when(
        event,
        sf.coalesce(
            unheard_of("c.type", "o.type"),
            sf.when(
                sf.size(extra) > 0,
                sf.concat(sf.lit("not known to this engine: "), sf.array_join(extra, ", ")),
            ),
        ),
    )


def _beyond(keys: Column, known: Mapping[str, str]) -> Column:
    names = [sf.lit(name) for name in known]
    return sf.array_except(keys, sf.array(*names))


def unheard_of(op: str = "op", outcome: str = "outcome") -> Column:
    """Which kind of request or answer is not known here, in words; null where both are."""
    return sf.when(
        ~sf.col(op).isin(KNOWN_COMMANDS),
        sf.concat(sf.lit("not known to this engine: the command "), sf.col(op)),
    ).when(
        ~sf.col(outcome).isin(KNOWN_OUTCOMES),
        sf.concat(sf.lit("not known to this engine: the outcome "), sf.col(outcome)),
    )
