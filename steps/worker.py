"""A worker of a run: it plays parts of the run on an adapter of its own, and judges them."""

import gc
import pickle
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.errors import AdapterError, ConformanceError, HistoryError
from busproof.exploration.combinations.cells import Cell
from busproof.exploration.metamorphic.follow_ups import SourceSequence
from busproof.exploration.metamorphic.transformations import RequestKinds, Variant, request_kinds
from busproof.exploration.sizes import SIZES
from busproof.history.files import HistoryWriter
from busproof.history.records import AGAIN, Header, Record, Scenario, ScenarioVerdict
from busproof.judging.judge import Judge
from busproof.judging.scenario_outcome import Missed
from busproof.judging.scenario_result import Checker, Heard
from busproof.steps.cases import Case
from busproof.steps.hanging import end_if_hung
from busproof.steps.options import PATIENCE, Given, option, timeout_of
from busproof.steps.playing import Definition, Player
from busproof.steps.recorder import Recorder
from busproof.steps.source_sequences import source_sequence
from busproof.steps.stage import Stage, verdict_on
from busproof.steps.waiting import SHOWN_LATE

__all__ = [
    "Combine",
    "Done",
    "Explore",
    "Failed",
    "Kept",
    "Outcome",
    "Play",
    "Ready",
    "Send",
    "Settle",
    "Task",
    "work",
]

NEW_OBJECTS: Final = 50_000
"""Number of new objects before a garbage collection; Python's default is 700."""


# What a worker is asked to do.


@attrs.frozen(kw_only=True)
class Task:
    """A part of a run.

    Attributes:
        file: the file to append its records to.
    """

    file: Path


@attrs.frozen(kw_only=True)
class Play(Task):
    """Play these cases, by their numbers; `repeated` if each has been tried before."""

    cases: tuple[int, ...]
    repeated: bool = False


@attrs.frozen(kw_only=True)
class Send(Task):
    """Send variants of sequences, which are pickled."""

    sequences: tuple[tuple[bytes, Variant], ...]


@attrs.frozen(kw_only=True)
class Combine(Task):
    """Try operations, each in its circumstances."""

    cells: tuple[Cell, ...]


@attrs.frozen(kw_only=True)
class Explore(Task):
    """Explore one round, or as many as there is time for."""

    round: int | None


@attrs.frozen(kw_only=True)
class Settle(Task):
    """Shrink the failure of a rule, and replay it."""

    rule: v.RuleId
    events: tuple[v.Event, ...]


# What a worker answers.


@attrs.frozen(kw_only=True)
class Ready:
    """The worker has an adapter; `several` if there may be more workers."""

    header: Header
    several: bool


@attrs.frozen(kw_only=True)
class Failed:
    """The worker cannot go on, and ends."""

    error: ConformanceError
    trace: str = ""


@attrs.frozen(kw_only=True)
class Kept:
    """A sequence that can be sent again: its mark, its kinds, and itself, pickled."""

    mark: object
    kinds: RequestKinds
    pickled: bytes


@attrs.frozen(kw_only=True)
class Outcome:
    """The end of a scenario.

    Attributes:
        heard: its result.
        error: what broke the adapter; empty if nothing did.
        missed: the place of the answer that was missed; `None` if none was.
        shows: the rules that the scenario should show.
        sequence: its sequence, if it can be sent again.
        scenario: the scenario, with its events only if it is a replay of a failure; `None` if it
            is neither that nor one of a feature.
        passed: whether it passed.
    """

    heard: Heard
    error: str = ""
    missed: int | None = None
    shows: frozenset[v.RuleId] = frozenset()
    sequence: Kept | None = None
    scenario: Scenario | None = None
    passed: bool = False


@attrs.frozen(kw_only=True)
class Done:
    """The end of a task: the failures that it found, by rule, and how often the adapter broke."""

    failures: dict[v.RuleId, tuple[v.Event, ...]] = attrs.field(factory=dict)
    breakdowns: int = 0


class Stopped(BaseException):
    """The history cannot be written, so nothing more can be tried."""


class _Stage(Stage):
    """The stage of a worker, which records into the file of the current task."""

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self._most_failed = 1
        self._repeats = False
        self.recorder: Recorder | None = None
        self.found: tuple[object, SourceSequence] | None = None

    def begin_task(self, recorder: Recorder, *, repeats: bool) -> None:
        """Begin a task: last looks are taken until one has failed."""
        self.recorder, self._repeats = recorder, repeats
        self._looks = self._fresh_looks()

    def write(self, record: Record) -> None:
        """Write a record.

        Raises:
            AdapterError: the adapter's answer is too large for a history.
            Stopped: the history cannot be written.
        """
        if self.recorder is not None:
            try:
                self.recorder(record)
            except HistoryError as error:
                raise Stopped(str(error)) from None

    def judges(self, judge: Judge) -> None:
        """Take the judge of the scenario that begins."""
        if self.recorder is not None:
            self.recorder.judges(judge)

    def is_repeated(self, scenario: str) -> bool:  # noqa: ARG002 - as `Stage.is_repeated`
        """Return whether the task repeats scenarios."""
        return self._repeats

    def look_at_everything(self) -> None:
        """Keep the sequence of the scenario, and take a last look at what it has left."""
        if self.current is not None and self.explores:
            self.found = source_sequence(self.scenario, self.current.events, self.steps)
        super().look_at_everything()


def work(
    connection: Connection,
    given: Given,
    cases: Sequence[Case],
    definitions: Sequence[Definition],
) -> None:
    """Make an adapter, do each task that is received, and stop; Ctrl-C ends it early.

    Args:
        connection: where tasks come from, and answers go to.
        given: the options of the run.
        cases: all cases of the run.
        definitions: the step definitions.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    try:
        worker = _Worker(connection, given, cases, Player(definitions))
    except ConformanceError as error:
        _tell(connection, Failed(error=_plain(error), trace=_trace(error)))
        return
    except KeyboardInterrupt:
        return
    worker.run()


class _Worker:
    """A worker with its adapter."""

    def __init__(
        self, connection: Connection, given: Given, cases: Sequence[Case], player: Player
    ) -> None:
        self._connection = connection
        self._cases = cases
        self._player = player
        # A program has its own limit for each answer.
        if not (option(given, "adapter") or "").startswith("exec:"):
            end_if_hung(timeout_of(given, PATIENCE))
        self._stage = _Stage(given)
        header = self._stage.header(None)
        header = attrs.evolve(header, rules=self._limits() or header.rules)
        self._checker = Checker(header, self._stage.catalogue, self._stage.oracle)
        self._error: BaseException | None = None
        several = self._stage.declaration.several
        _tell(connection, Ready(header=header, several=several))

    def _limits(self) -> tuple[v.RuleId, ...]:
        """Return the rules that a run is limited to if it leaves out scenarios that wait."""
        stage = self._stage
        if stage.size is None or stage.size.waits:
            return ()
        about = sorted({rule for case in self._cases for rule in case.rules} - SHOWN_LATE)
        applicable = (r for r in about if not stage.terms.inapplicable(stage.catalogue.rule(r)))
        return tuple(applicable)

    def run(self) -> None:
        """Do each task that is received until there is none."""
        try:
            while isinstance(task := self._connection.recv(), Task):
                _tell(self._connection, self._do(task))
        except (KeyboardInterrupt, EOFError, BrokenPipeError):
            pass
        except Stopped as error:
            _tell(self._connection, Failed(error=HistoryError(str(error))))
        finally:
            with suppress(BaseException):
                self._stop()

    def _stop(self) -> None:
        try:
            self._stage.stop()
        except AdapterError as error:
            _tell(self._connection, Failed(error=_plain(error)))

    def _do(self, task: Task) -> Done:
        self._error = None
        with self._recording(task) as recorder:
            match task:
                case Play(cases=numbers):
                    for number in numbers:
                        self._play(self._cases[number])
                case Send(sequences=sequences):
                    return self._send(sequences, recorder)
                case Combine(cells=cells):
                    return self._combine(cells, recorder)
                case Explore(round=number):
                    return self._explore(number, recorder)
                case Settle():
                    self._settle(task, recorder)
        return Done()

    @contextmanager
    def _recording(self, task: Task) -> Iterator[Recorder]:
        try:
            writer = HistoryWriter(task.file, append=True)
        except HistoryError as error:
            raise Stopped(str(error)) from None
        with writer:
            recorder = Recorder(writer, self._checker, self._ended)
            repeats = isinstance(task, Play) and task.repeated
            self._stage.begin_task(recorder, repeats=repeats)
            try:
                yield recorder
            except (KeyboardInterrupt, Stopped):
                recorder.break_off()
                raise

    def _play(self, case: Case) -> None:
        self._error, self._stage.found = None, None
        try:
            case.play(self._stage, self._player)
        except Exception as error:  # noqa: BLE001 - each says how the scenario ended
            self._error = error
        verdict, detail = verdict_on(self._error)
        self._stage.scenario_ended(verdict, detail)

    def _ended(self, scenario: Scenario, heard: Heard) -> None:
        ended, found = scenario.ended, self._stage.found
        self._stage.found = None
        errored = ended is not None and ended.verdict is ScenarioVerdict.ERRORED
        _tell(
            self._connection,
            Outcome(
                heard=heard,
                error=ended.detail if errored and ended is not None else "",
                missed=self._error.place if isinstance(self._error, Missed) else None,
                shows=self._stage.shows,
                sequence=None if found is None else _sequence(*found),
                scenario=_kept(scenario),
                passed=ended is not None and ended.verdict is ScenarioVerdict.PASSED,
            ),
        )

    def _send(self, sequences: Sequence[tuple[bytes, Variant]], recorder: Recorder) -> Done:
        from busproof.exploration.metamorphic.search import MetamorphicSearch

        stage = self._stage
        if stage.size is None:
            raise AssertionError("only an exploration sends variants of sequences")
        search = MetamorphicSearch(
            stage.adapter, stage.terms, size=stage.size, start=0, sources=(), write=stage.write
        )
        search.judges = recorder.judges
        for pickled, variant in sequences:
            search.send(pickle.loads(pickled), *variant)  # noqa: S301 - made by a worker
        return Done(failures=search.failures, breakdowns=search.breakdowns)

    def _combine(self, cells: Sequence[Cell], recorder: Recorder) -> Done:
        from busproof.exploration.combinations.search import Combinations

        stage = self._stage
        if stage.size is None:
            raise AssertionError("only an exploration has combinations")
        search = Combinations(stage.adapter, stage.terms, size=stage.size, write=stage.write)
        search.judges = recorder.judges
        search.send_all(cells)
        return Done(failures=search.failures, breakdowns=search.breakdowns)

    def _explore(self, number: int | None, recorder: Recorder) -> Done:
        from busproof.exploration.explorer import Exploration

        stage = self._stage
        if stage.size is None or stage.seed is None:
            raise AssertionError("only an exploration has rounds")
        # Hypothesis collects the garbage once; what scenarios have left is no part of it.
        gc.freeze()
        search = Exploration(
            stage.adapter, stage.terms, size=stage.size, start=stage.seed, write=stage.write
        )
        search.judges = recorder.judges
        if number is None:
            search.run_rounds()
        else:
            search.run_round(number)
        return Done(failures=search.failures, breakdowns=search.breakdowns)

    def _settle(self, task: Settle, recorder: Recorder) -> None:
        from busproof.exploration.settling import settle_failure

        stage = self._stage
        settle_failure(
            stage.adapter,
            stage.terms,
            stage.size or SIZES["quick"],
            task.rule,
            task.events,
            write=stage.write,
            judges=recorder.judges,
        )


def _kept(scenario: Scenario) -> Scenario | None:
    if scenario.feature:
        return scenario if scenario.feature == AGAIN else None
    return attrs.evolve(scenario, events=())


def _sequence(mark: object, source: SourceSequence) -> Kept:
    return Kept(mark=mark, kinds=request_kinds(source.events), pickled=pickle.dumps(source, 5))


def _plain(error: ConformanceError) -> ConformanceError:
    """Return the error without its cause, which may be of a class that cannot be pickled."""
    return type(error)(str(error))


def _trace(error: ConformanceError) -> str:
    import traceback

    if not isinstance(error, AdapterError) or error.__cause__ is None:
        return ""
    return "".join(traceback.format_exception(error.__cause__))


def _tell(connection: Connection, answer: object) -> None:
    """Send an answer as a whole: an interrupt waits until it is sent."""
    with suppress(BrokenPipeError), _without_interrupts():
        connection.send(answer)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
