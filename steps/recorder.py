"""Recording of scenarios that are judged while they run: each event is written and judged once."""

from collections.abc import Callable

from busproof import vocabulary as v
from busproof.history.files import HistoryWriter
from busproof.history.records import Ended, Record, Scenario, Started
from busproof.judging.judge import Judge
from busproof.judging.scenario_result import Checker, Heard
from busproof.steps.stage import write_to

__all__ = ["Recorder"]


class Recorder:
    """A writer of records that reports the result of each scenario at its end.

    Args:
        writer: the writer of the history.
        checker: the judge of scenarios by the terms of the run.
        ended: takes each scenario with its result.
    """

    def __init__(
        self, writer: HistoryWriter, checker: Checker, ended: Callable[[Scenario, Heard], None]
    ) -> None:
        self._writer = writer
        self._checker = checker
        self._ended = ended
        self._started: Started | None = None
        self._events: list[v.Event] = []
        self._judge: Judge | None = None

    def __call__(self, record: Record) -> None:
        """Write a record.

        Raises:
            AdapterError: the adapter's answer is too large for a history.
            HistoryError: the history cannot be written.
        """
        write_to(self._writer, record)
        match record:
            case Started():
                self._started, self._events, self._judge = record, [], None
            case v.Event():
                self._events.append(record)
            case Ended():
                self._end(record)

    def judges(self, judge: Judge) -> None:
        """Take the judge of the scenario that is running."""
        self._judge = judge

    def break_off(self) -> None:
        """Report the scenario that is running, which has no end, if there is one."""
        self._end(None)

    def _end(self, ended: Ended | None) -> None:
        started, self._started = self._started, None
        if started is None:
            return
        scenario = Scenario(
            name=started.scenario,
            rules=started.rules,
            feature=started.feature,
            events=tuple(self._events),
            ended=ended,
        )
        self._ended(scenario, self._checker.heard(scenario, self._judge))
