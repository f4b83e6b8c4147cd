"""The Spark pipeline as an implementation under test: the rules as expressions, folded by Spark."""

import json
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

__all__ = ["SparkAdapter"]

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

_SETTINGS: Final = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""For many small jobs one after another: compiled soon and lightly, planned once."""


class SparkAdapter:
    """A bus that lives in one row of a table, and in the expression that folds its commands."""

    def __init__(self, master: str = "local[1]") -> None:
        self._master = master
        self._asking: Asking | None = None
        self._state: dict[str, Any] = {}

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
                session = spark_session(master=self._master, conf=_SETTINGS)
            except SparkError as error:
                raise AdapterError(str(error)) from None
            self._asking = Asking(session)
        self._state = {
            "tier": profile.tier,
            "most_partitions": profile.partitions,
            **dict.fromkeys(("now", "arrivals", "given"), 0),
            **{name: [] for name in (*TABLES, "told")},
        }

    def do(self, command: Command, connection: str) -> Observed:
        """Fold one command over the state of the row."""
        if self._asking is None:
            raise AssertionError("an adapter is asked only between start and stop")
        asked = unstructure(command, full=True)
        if asked["type"] not in COMMANDS:
            return Observed(Unsupported(detail=f"no expression for {asked['type']}"))
        _with_properties(asked, json.dumps)
        try:
            self._state, told = self._asking.ask(
                self._state, {"connection": connection, "command": asked}
            )
        except Exception as error:
            said = said_by_spark(error)
            if said is None:
                raise
            raise AdapterError(f"Spark failed at {asked['type']}: {said}") from error
        partition = told.pop("partition", None)
        for seen in (told, *({"message": each} for each in told.get("messages", ()))):
            _with_properties(seen, json.loads)
        witness = None if partition is None else Witness(partition=partition)
        return Observed(read_outcome(told), witness)

    def stop(self) -> None:
        """Forget the namespace; Spark stays for the next one."""
        self._state = {}


def _with_properties(holder: dict[str, Any], change: Any) -> None:
    """Put an application's properties as the table has them: each a text of JSON, or back."""
    message = holder.get("message")
    if message and message.get("properties"):
        properties = message["properties"]
        message["properties"] = {name: change(value) for name, value in properties.items()}
