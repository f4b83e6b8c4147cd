"""The JSON Schema of `conformance.json`; it has events as the history's schema has them.

`python -m busproof.reports.schemas` rewrites the file.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from busproof import vocabulary as v
from busproof.history.conformance import ExitCode, Standing, Verdict
from busproof.history.records import Oracle
from busproof.history.schemas import history_schema
from busproof.reports.document import SCHEMA
from busproof.reports.levels import State

__all__ = ["FILE", "conformance_schema", "render", "write"]

FILE: Final = Path(__file__).parent / "schemas" / "conformance.schema.json"
"""Path of the file with the schema."""

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}


def conformance_schema() -> Schema:
    """Return the schema of a conformance report."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A busproof conformance report, schema {SCHEMA}",
        **_add_optional(_object(_report()), _optional_schema()),
        "$defs": {
            "Rule": _describe("The verdict on one rule.", _object(_rule())),
            "Level": _describe(
                "A set of capabilities, and how much of it was claimed and shown.",
                _object(_level()),
            ),
            "KnownFailure": _describe(
                "An entry of the list of known failures, and what the run made of it.",
                _object(_schema_of_known()),
            ),
            "Unjudged": _describe(
                "Events that were not judged, for one reason.", _object(_unjudged_schema())
            ),
            "Counterexample": _describe(
                "Events that end with one that no rule allows.",
                _add_optional(_object(_example()), _distilled_schema()),
            ),
            "Explored": _describe(
                "What was explored, beside the scenarios.",
                _add_optional(_object(_explored_schema()), _metamorphic_schema()),
            ),
            **_event_definitions(),
        },
    }


def render(schema: Schema) -> str:
    """Return the schema as the text of its file."""
    return json.dumps(schema, indent=2) + "\n"


def write(file: Path = FILE) -> None:
    """Write the schema's file; its folder is created if it is missing."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(render(conformance_schema()), encoding="utf-8")


def _report() -> Schema:
    return {
        "schema": {"const": SCHEMA},
        "busproof": _describe("The version of busproof that wrote the report.", _TEXT),
        "catalogue": _describe("The version of the rules that were judged by.", _TEXT),
        "at": _describe("When the run began, in UTC; empty if that is not known.", _TEXT),
        "seconds": _describe(
            "How long the run took, with its judging.", {"type": ["integer", "null"]}
        ),
        "again": _describe("The command that runs all of it once more.", _TEXT),
        "only": _describe(
            "The rules and families that the run was limited to; empty if it was of all.",
            _list(_TEXT),
        ),
        "implementation": _object(
            dict.fromkeys(("name", "version", "language", "commit", "url", "contact"), _TEXT)
        ),
        "adapter": _TEXT,
        "capabilities": _describe("What the adapter declared.", _list(_TEXT)),
        "clock": _one_of(v.Clock),
        "slack": _describe("Tolerance of every timer, in microseconds.", _COUNT),
        "profile": _add_optional(_object(_profile()), _premium_schema()),
        "oracle": _one_of(Oracle),
        "events": _COUNT,
        "scenarios": _describe("How many scenarios ended how.", _map(_COUNT)),
        "summary": _object(
            {**{verdict.value: _COUNT for verdict in Verdict}, "applicable": _COUNT}
        ),
        "exit_code": {"enum": [code.value for code in ExitCode]},
        "levels": _describe(
            "What the run came to, level by level; empty if it was limited to some rules.",
            _list({"$ref": "#/$defs/Level"}),
        ),
        "problems": _list(_TEXT),
        "known_failures": _list({"$ref": "#/$defs/KnownFailure"}),
        "explored": {"anyOf": [{"$ref": "#/$defs/Explored"}, {"type": "null"}]},
        "rules": _list({"$ref": "#/$defs/Rule"}),
    }


def _explored_schema() -> Schema:
    return {
        "seed": {"type": ["integer", "null"]},
        "sequences": _COUNT,
        "events": _COUNT,
        "goals": _describe("How often each situation arose, in the whole run.", _map(_COUNT)),
    }


def _optional_schema() -> Schema:
    return {
        "unjudged": _describe(
            "What was not judged, by reason; missing in reports from before 2026-12.",
            _list({"$ref": "#/$defs/Unjudged"}),
        ),
    }


def _unjudged_schema() -> Schema:
    return {
        "reason": _TEXT,
        "remedy": _describe("What would make it judged.", _TEXT),
        "events": _COUNT,
        "entities": _describe("How many entities these events concern.", _COUNT),
        "names": _describe("Some of these entities.", _list(_TEXT)),
        "rules": _describe("How many rules are not shown for this reason.", _COUNT),
    }


def _metamorphic_schema() -> Schema:
    return {
        "metamorphic": _describe(
            "How many sequences of scenarios were transformed and sent once more; "
            "missing in reports from before 2026-12.",
            _COUNT,
        )
    }


def _profile() -> Schema:
    return {
        "edition": _TEXT,
        "tier": _one_of(v.Tier),
        "partitions": {"type": "integer", "minimum": 1},
        "readings": _describe("The reading taken of each ambiguity.", _map(_TEXT)),
    }


def _premium_schema() -> Schema:
    return {
        "namespace_partitions": _describe(
            "Partitions of a partitioned Premium namespace; missing if it is not partitioned.",
            {"type": "integer", "enum": list(v.NAMESPACE_PARTITIONS[1:])},
        ),
        "messaging_units": _describe(
            "Messaging units of a Premium namespace; missing if it has one.",
            {"type": "integer", "minimum": 2},
        ),
    }


def _rule() -> Schema:
    return {
        "id": {"type": "string", "pattern": "^[A-Z]+-[0-9]{2}$"},
        "title": _TEXT,
        "verdict": _one_of(Verdict),
        "cause": _describe("Why the rule is not simply shown.", _TEXT),
        "oracle": {"enum": ["", *(oracle.value for oracle in Oracle)]},
        "events": _describe("How many events the rule decided.", _COUNT),
        "scenarios": _list(_TEXT),
        "counterexample": {"anyOf": [{"$ref": "#/$defs/Counterexample"}, {"type": "null"}]},
        "again": _describe("Of a violation, the command that asks for it once more.", _TEXT),
    }


def _level() -> Schema:
    return {
        "id": _TEXT,
        "title": _TEXT,
        "state": _one_of(State),
        "shown": _describe("How many of its rules were shown.", _COUNT),
        "applicable": _describe("How many of its rules apply.", _COUNT),
        "undeclared": _describe("Its capabilities that were not declared.", _list(_TEXT)),
        "not_shown": _describe("Its rules that apply and were not shown.", _list(_TEXT)),
    }


def _schema_of_known() -> Schema:
    return {
        "rule": _TEXT,
        "reason": _TEXT,
        "link": _TEXT,
        "expires": _describe("The last day of the entry; empty if none.", _TEXT),
        "standing": _one_of(Standing),
    }


def _example() -> Schema:
    return {
        "scenario": _TEXT,
        "seen": _TEXT,
        "allowed": _list(_TEXT),
        "events": _describe(
            "From an empty namespace to the violation.", _list({"$ref": "#/$defs/Event"})
        ),
    }


def _distilled_schema() -> Schema:
    return {
        "about": _describe(
            "Of a distilled sequence, what is wrong; otherwise empty, or missing in a report of "
            "busproof 0.2.0.",
            _TEXT,
        ),
    }


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _add_optional(schema: Schema, properties: Schema) -> Schema:
    return schema | {"properties": schema["properties"] | properties}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _one_of(names: Iterable[str]) -> Schema:
    return {"enum": [str(name) for name in names]}


def _describe(description: str, schema: Schema) -> Schema:
    return {"description": description, **schema}


def _event_definitions() -> Schema:
    """Return the schema definitions for events and their parts, without other records."""
    definitions = dict(_reachable("Event", history_schema()["$defs"]))
    event = definitions["Event"]
    properties = {name: schema for name, schema in event["properties"].items() if name != "record"}
    required = [name for name in event["required"] if name != "record"]
    return definitions | {"Event": event | {"properties": properties, "required": required}}


def _reachable(name: str, definitions: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield a definition and all definitions that it refers to, directly or not."""
    waiting, known = [name], {name}
    while waiting:
        name = waiting.pop()
        yield name, definitions[name]
        for other in definitions:
            if other not in known and f'"#/$defs/{other}"' in json.dumps(definitions[name]):
                known.add(other)
                waiting.append(other)


if __name__ == "__main__":
    write()
