"""The Spark pipeline as an implementation under test: the rules as expressions, folded by Spark."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from busproof import __version__
from busproof.adapters.base import Declaration, Implementation, Observed
from busproof.errors import AdapterError, SparkError
from busproof.history.codec import read_outcome, unstructure
from busproof.pipeline.bus.asking import Asking
from busproof.pipeline.bus.folding import COMMANDS
from busproof.pipeline.bus.tables import TABLES
from busproof.pipeline.session import said_by_spark, spark_session
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import Command
from busproof.vocabulary.outcomes import Unsupported, Witness
from busproof.vocabulary.profile import Profile

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
        Capability.SIZES,
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
"""Spark options for many small jobs in sequence: fast and light compilation, no replanning."""


_AT_ONCE: Final = 1_000
"""Most prefetched commands in one job."""


class SparkAdapter:
    """Bus with its state in one row of a table, and an expression that folds commands into it."""

    def __init__(self, master: str = "local[1]") -> None:
        self._master = master
        self._asking: Asking | None = None
        self._state = ""
        self._ahead = _Ahead()

    @property
    def declaration(self) -> Declaration:
        """All capabilities that the expressions cover, on an exact virtual clock."""
        return Declaration(
            implementation=Implementation(
                name="busproof on Spark", version=__version__, language="Spark SQL"
            ),
            capabilities=_CAPABILITIES,
        )

    def start(self, profile: Profile) -> None:
        """Begin with an empty namespace; start Spark before the first one."""
        if self._asking is None:
            try:
                session = spark_session(master=self._master, conf=SETTINGS)
            except SparkError as error:
                raise AdapterError(str(error)) from None
            self._asking = Asking(session)
        self._state = json.dumps(fresh(profile))
        self._ahead = _Ahead()

    def hear(self, commands: Sequence[Command], connection: str) -> None:
        """Fold commands of one kind together, and keep the answers for `do`."""
        requests = [request(each, connection) for each in commands]
        kinds = {each["command"]["type"] for each in requests}
        if len(kinds) == 1 and kinds <= COMMANDS.keys():
            self._leave_what_was_heard()
            before = self._state
            told: list[Any] = []
            for first in range(0, len(requests), _AT_ONCE):
                told += self._folded(requests[first : first + _AT_ONCE])
            self._ahead = _Ahead(before, requests, told)

    def do(self, command: Command, connection: str) -> Observed:
        """Fold one command into the state of the row."""
        asked = request(command, connection)
        kind = asked["command"]["type"]
        if kind not in COMMANDS:
            return Observed(Unsupported(detail=f"no expression for {kind}"))
        heard = self._ahead.next(asked)
        if heard is not None:
            return observed(heard)
        self._leave_what_was_heard()
        return observed(*self._folded([asked]))

    def _folded(self, requests: list[dict[str, Any]]) -> list[Any]:
        if self._asking is None:
            raise AssertionError("an adapter takes commands only between start and stop")
        try:
            self._state, told = self._asking.ask(self._state, requests)
        except Exception as error:
            said = said_by_spark(error)
            if said is None:
                raise
            kind = requests[0]["command"]["type"]
            raise AdapterError(f"Spark failed at {kind}: {said}") from error
        return told

    def _leave_what_was_heard(self) -> None:
        """Drop unused prefetched answers, and restore the state after those that were used."""
        ahead, self._ahead = self._ahead, _Ahead()
        if ahead.is_over:
            return
        self._state = ahead.before
        if ahead.asked:
            self._folded(ahead.asked)

    def stop(self) -> None:
        """Forget the namespace; Spark stays for the next one."""
        self._state = ""


@attrs.define
class _Ahead:
    """Prefetched commands and their answers.

    Attributes:
        before: the state before the first of them.
    """

    before: str = ""
    _requests: Sequence[dict[str, Any]] = ()
    _told: Sequence[Any] = ()
    _place: int = 0

    @property
    def is_over(self) -> bool:
        """Whether all of them were executed."""
        return self._place == len(self._requests)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The commands that were executed."""
        return list(self._requests[: self._place])

    def next(self, asked: dict[str, Any]) -> Any:
        """Return the answer to a request if it is the next one, or else `None`."""
        if self.is_over or self._requests[self._place] != asked:
            return None
        self._place += 1
        return self._told[self._place - 1]


def fresh(profile: Profile) -> dict[str, Any]:
    """Return the state of an empty namespace in the schema of the expressions."""
    return {
        "tier": profile.tier,
        "most_partitions": profile.partitions,
        **dict.fromkeys(("now", "arrivals", "given"), 0),
        **{name: [] for name in (*TABLES, "told")},
    }


def request(command: Command, connection: str) -> dict[str, Any]:
    """Return a command in the schema of the expressions."""
    asked = unstructure(command, full=True)
    _change_properties(asked, json.dumps)
    return {"connection": connection, "command": asked}


def observed(told: Mapping[str, Any]) -> Observed:
    """Return the outcome of a command, and its witness, from the row of an answer."""
    outcome = {name: value for name, value in told.items() if name != "partition"}
    for holder in (outcome, *({"message": each} for each in outcome.get("messages", ()))):
        _change_properties(holder, json.loads)
    partition = told.get("partition")
    witness = None if partition is None else Witness(partition=partition)
    return Observed(read_outcome(outcome), witness)


def _change_properties(holder: dict[str, Any], change: Callable[[Any], Any]) -> None:
    """Convert application properties in place: to JSON texts, as in the table, or back."""
    message = holder.get("message")
    if message and message.get("properties"):
        properties = message["properties"]
        message["properties"] = {name: change(value) for name, value in properties.items()}
