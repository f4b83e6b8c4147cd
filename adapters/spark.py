"""The Spark pipeline as an implementation under test: the rules as expressions, folded by Spark."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from busproof import __version__
from busproof.adapters.base import Capability, Declaration, Implementation, Observed
from busproof.errors import AdapterError, SparkError
from busproof.history.codec import read_outcome, unstructure
from busproof.model.commands import Command
from busproof.model.outcomes import Unsupported, Witness
from busproof.model.values import Profile
from busproof.pipeline.bus.asking import Asking
from busproof.pipeline.bus.folding import COMMANDS
from busproof.pipeline.bus.tables import TABLES
from busproof.pipeline.session import said_by_spark, spark_session

__all__ = ["SETTINGS", "SparkAdapter", "fresh", "observed", "request"]

_CAPABILITIES: Final = frozenset(
    {
        Capability.WITNESS,
        Capability.OUTAGES,
        Capability.TRANSACTIONS,
        Capability.SESSIONS,
        Capability.DUPLICATE_DETECTION,
        Capability.PEEK,
        Capability.PEEK_FROM,
        Capability.PEEK_LOCK,
        Capability.REGULAR_QUEUES,
        Capability.TOPICS,
        Capability.FORWARDING,
        Capability.NEXT_SESSION,
        Capability.SESSION_STATE,
        Capability.SESSION_LISTING,
        Capability.DEAD_LETTER,
        Capability.LOCK_RENEWAL,
        Capability.DEFERRAL,
        Capability.SCHEDULING,
        Capability.SEQUENCE_NUMBERS,
        Capability.MANAGEMENT,
        Capability.API_VERSIONS,
        Capability.AVAILABILITY,
        Capability.TIME_TO_LIVE,
        Capability.DISPOSABLE_NAMESPACE,
        Capability.LEGACY_ENTITIES,
    }
)

SETTINGS: Final = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.debug.maxToStringFields": "0",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.subexpressionElimination.enabled": "false",
}
"""For many small jobs one after another: compiled soon and lightly, planned once."""


class SparkAdapter:
    """A bus that lives in one row of a table, and in the expression that folds its commands."""

    def __init__(self, master: str = "local[1]") -> None:
        self._master = master
        self._asking: Asking | None = None
        self._state = ""

    @property
    def declaration(self) -> Declaration:
        """All that the expressions cover, on a virtual clock that is exact."""
        return Declaration(
            implementation=Implementation(
                name="busproof on Spark", version=__version__, language="Spark SQL"
            ),
            capabilities=_CAPABILITIES,
        )

    def start(self, profile: Profile) -> None:
        """Begin with an empty namespace; Spark is started before the first."""
        if self._asking is None:
            try:
                session = spark_session(master=self._master, conf=SETTINGS)
            except SparkError as error:
                raise AdapterError(str(error)) from None
            self._asking = Asking(session)
        self._state = json.dumps(fresh(profile))

    def do(self, command: Command, connection: str) -> Observed:
        """Fold one command over the state of the row."""
        if self._asking is None:
            raise AssertionError("an adapter is asked only between start and stop")
        asked = request(command, connection)
        kind = asked["command"]["type"]
        if kind not in COMMANDS:
            return Observed(Unsupported(detail=f"no expression for {kind}"))
        try:
            self._state, told = self._asking.ask(self._state, asked)
        except Exception as error:
            said = said_by_spark(error)
            if said is None:
                raise
            raise AdapterError(f"Spark failed at {kind}: {said}") from error
        return observed(told)

    def stop(self) -> None:
        """Forget the namespace; Spark stays for the next one."""
        self._state = ""


def fresh(profile: Profile) -> dict[str, Any]:
    """The state of an empty namespace, as the table of the expressions has it."""
    return {
        "tier": profile.tier,
        "most_partitions": profile.partitions,
        **dict.fromkeys(("now", "arrivals", "given"), 0),
        **{name: [] for name in (*TABLES, "told")},
    }


def request(command: Command, connection: str) -> dict[str, Any]:
    """A command as the table has it."""
    asked = unstructure(command, full=True)
    _change_properties(asked, json.dumps)
    return {"connection": connection, "command": asked}


def observed(told: Mapping[str, Any]) -> Observed:
    """What the table tells of a command."""
    outcome = {name: value for name, value in told.items() if name != "partition"}
    for holder in (outcome, *({"message": each} for each in outcome.get("messages", ()))):
        _change_properties(holder, json.loads)
    partition = told.get("partition")
    witness = None if partition is None else Witness(partition=partition)
    return Observed(read_outcome(outcome), witness)


def _change_properties(holder: dict[str, Any], change: Callable[[Any], Any]) -> None:
    """Put an application's properties as the table has them, each a text of JSON, or back."""
    message = holder.get("message")
    if message and message.get("properties"):
        properties = message["properties"]
        message["properties"] = {name: change(value) for name, value in properties.items()}
