"""The process of a run: it spreads the run over workers, and adds up what they report.

`python -m busproof.cli.running FOLDER REQUEST` records a run in a folder, and leaves its
result there for the process that started it. A worker that crashes costs the scenario that it was
playing. The parts of a run and their order do not depend on the number of workers, so that the
history does not depend on it either.
"""

import json
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.cli.console import processors
from busproof.cli.running.child_run import (
    HISTORY,
    PROGRESS,
    RESULT,
    Counted,
    Recorded,
    Request,
)
from busproof.errors import AdapterError, ConformanceError, HistoryError, UsageError
from busproof.exploration.combinations.cells import plan_cells, repeat_cells
from busproof.exploration.sizes import Size
from busproof.history.conformance import Verdict
from busproof.history.files import HistoryWriter, load
from busproof.history.records import (
    AGAIN,
    EXPLORATION,
    METAMORPHIC,
    REPEATED,
    Ended,
    Header,
    Scenario,
    ScenarioVerdict,
    Started,
)
from busproof.judging.scenario_outcome import Missed
from busproof.judging.scenario_result import Checker
from busproof.judging.summary import Summary
from busproof.judging.verdicts import verdicts
from busproof.spec import load as load_catalogue
from busproof.steps.cases import Case, cases, definitions, families_of
from busproof.steps.hanging import HUNG
from busproof.steps.options import PATIENCE as PATIENCE_FOR_ANSWERS
from busproof.steps.options import rules_asked_for, size_of, timeout_of
from busproof.steps.playing import Definition
from busproof.steps.repeating import Repeating
from busproof.steps.worker import (
    Combine,
    Done,
    Explore,
    Failed,
    Kept,
    Outcome,
    Play,
    Ready,
    Send,
    Settle,
    Task,
    work,
)

__all__ = ["Session", "main"]

IN_A_TASK: Final = 25
"""Number of cases, or of metamorphic variants, in one task."""

ROUND: Final = 10
"""Number of sequences in a round of the exploration."""

MOST_DEATHS: Final = 10
"""Number of workers that may die before the run ends early."""

MOST_HANGS: Final = 3
"""Number of times that the adapter may hang before the run ends early."""

BREAKDOWNS: Final = 3
"""Breakdowns of the adapter in the exploration, after which it is not continued."""

MOST_SETTLED: Final = 12
"""Maximum number of broken rules whose failures are shrunk."""

PATIENCE: Final = 3.0
"""Time for a worker to stop its adapter after an interrupt, in seconds."""

INTERRUPTED: Final = "interrupted"
"""Ending of a scenario that has no end."""

EVERY: Final = 0.2
"""Time between two reports of the progress, in seconds."""


@attrs.define(kw_only=True, eq=False)
class _Part:
    """A part of the run, with its place in the history.

    Attributes:
        task: what is to be done; its file is known once it begins.
        left: the cases or sequences that have not ended, if it can be continued.
        outcomes: the ends of its scenarios so far.
        done: the end of the task.
    """

    task: Task
    outcomes: list[Outcome] = attrs.field(factory=list)
    is_begun: bool = False
    done: Done | None = None


@attrs.define(kw_only=True, eq=False)
class _Worker:
    """A worker process, and the part that it is working on."""

    process: Any
    connection: Connection
    part: _Part | None = None
    is_ready: bool = False


T = TypeVar("T")


class Session:
    """One run.

    Args:
        folder: the folder of the run.
        request: the options of the run.
        names: the names of the only cases to play; by default all.
        settled: the only rules whose failures are shrunk; by default all.
    """

    def __init__(
        self,
        folder: Path,
        request: Request,
        names: Set[str] | None = None,
        settled: Set[v.RuleId] | None = None,
    ) -> None:
        self._folder = folder
        self._request = request
        self._catalogue = load_catalogue()
        self._names = names
        self._settled = settled
        self._cases, loaded = _load(request, names)
        # A forked worker has all of it already.
        self._shared = (self._cases, loaded) if _FORKS else None
        self._workers: list[_Worker] = []
        self._parts: list[list[_Part]] = [[], [], [], []]
        self._phase = 0
        self._files = 0
        self._deaths = 0
        self._hangs = 0
        self._breakdowns = 0
        self._summary = Summary()
        self._place = 0
        self._header: Header | None = None
        self._checker: Checker | None = None
        self._repeating: Repeating[int] | None = None
        self._again: list[int] = []
        self._number_of = {case.name: number for number, case in enumerate(self._cases)}
        self._kept: dict[object, Kept] = {}
        self._failures: dict[v.RuleId, tuple[v.Event, ...]] = {}
        self._broken_explored: list[v.RuleId] = []
        self._errors: list[str] = []
        self._about: dict[str, tuple[v.RuleId, ...]] = {}
        self._by_step: list[str] = []
        self._replays: list[Scenario] = []
        self._scenarios: list[Scenario] = []
        self._counted = Counted()
        self._reported = 0.0
        self._left = Counter(family for case in self._cases for family in families_of(case))

    def run(self) -> int:
        """Record and judge the run; return the exit code of this process."""
        interrupted = False
        stopped = None
        try:
            self._begin()
            self._go_on()
            self._end()
        except KeyboardInterrupt:
            interrupted = True
        except ConformanceError as error:
            if self._header is None:
                say(str(error))
                # The worker ends by itself; an interrupt would leave a traceback in the log.
                self._stop_workers(kill_after=PATIENCE, interrupts=False)
                return 2 if isinstance(error, UsageError) else 3
            stopped = error
        self._stop_workers(kill_after=PATIENCE if interrupted or stopped is not None else None)
        if self._header is None:
            return 3
        self._collect(stopped)
        self._report(is_last=True)
        self._write_result()
        return 0

    # Beginning and ending.

    def _begin(self) -> None:
        self._start_worker()
        ready = self._hear_first()
        explores = self._explores
        planned = len(self._cases) + explores
        self._header = header = attrs.evolve(ready.header, planned=planned)
        with HistoryWriter(self._folder / HISTORY) as writer:
            writer.write(header)
            self._checker = Checker(header, self._catalogue, header.oracle)
            numbers = self._leave_out_inapplicable(writer, self._checker)
        self._repeating = Repeating(len(numbers), header.clock)
        size = self._size
        more = size.metamorphic + (size.sequences or 0) if explores and size is not None else 0
        combined = self._plan_combinations(header) if explores else 0
        self._counted = attrs.evolve(
            self._counted,
            planned=planned,
            ended=len(self._cases) - len(numbers),
            total=planned + more + combined,
        )
        self._plan_cases(numbers, repeated=False)
        if explores:
            self._plan_rounds()
        if ready.several:
            for _ in range(1, min(self._jobs, max(1, sum(map(len, self._parts))))):
                self._start_worker()

    def _leave_out_inapplicable(self, writer: HistoryWriter, checker: Checker) -> list[int]:
        """Record the cases that cannot apply, of which nothing is sent; return the others."""
        kept: list[int] = []
        left_out: list[Case] = []
        for number, case in enumerate(self._cases):
            cause = case.exclude(checker.terms)
            if not cause:
                kept.append(number)
                continue
            left_out.append(case)
            verdict = ScenarioVerdict.NOT_APPLICABLE
            ended = Ended(verdict=verdict, cause=cause, detail=cause)
            writer.write(Started(scenario=case.name, rules=case.rules))
            writer.write(ended)
            scenario = Scenario(name=case.name, rules=case.rules, ended=ended)
            self._merge(Outcome(heard=checker.check(scenario), scenario=scenario))
        self._form_verdicts(left_out)
        return kept

    def _hear_first(self) -> Ready:
        """Return the answer of the first worker once it has an adapter.

        Raises:
            ConformanceError: it has none.
        """
        (worker,) = self._workers
        try:
            answer = worker.connection.recv()
        except (EOFError, OSError):
            how = _how(self._await_end(worker))
            raise AdapterError(f"the adapter cannot be made: its process ended, {how}") from None
        if isinstance(answer, Failed):
            sys.stderr.write(answer.trace)
            raise answer.error
        worker.is_ready = True
        return answer  # type: ignore[no-any-return]  # the only other answer

    @property
    def _size(self) -> Size | None:
        return size_of(self._request)

    @property
    def _explores(self) -> bool:
        """Whether anything is explored: with a profile, scenarios alone end with last looks."""
        is_alone = self._request.only in ("features", "distilled")
        return self._size is not None and self._size.explores and not is_alone

    @property
    def _jobs(self) -> int:
        return self._request.jobs or processors()

    def _plan_cases(self, numbers: Sequence[int], *, repeated: bool) -> None:
        for some in _several(numbers):
            task = Play(file=Path(), cases=some, repeated=repeated)
            self._parts[0].append(_Part(task=task))

    def _plan_rounds(self) -> None:
        size = self._size
        if size is None:
            return
        rounds = [None] if size.sequences is None else range(-(-size.sequences // ROUND))
        for number in rounds:
            self._parts[2].append(_Part(task=Explore(file=Path(), round=number)))

    def _plan_combinations(self, header: Header) -> int:
        """Plan the combinations, and return how many there are."""
        if self._size is None or header.clock is v.Clock.REAL:
            return 0
        chosen = plan_cells(self._size.combinations, header.seed or 0)
        chosen += repeat_cells(self._size.times)
        for some in _several(chosen):
            self._parts[1].append(_Part(task=Combine(file=Path(), cells=some)))
        return len(chosen)

    def _end(self) -> None:
        """Write the end of the exploration as a scenario."""
        if not self._explores:
            return
        explored = self._summary.sequences, self._summary.explored
        extent = f"{explored[0]} sequences, {explored[1]} commands"
        verdict = ScenarioVerdict.PASSED
        detail = extent
        if self._broken_explored:
            broken = ", ".join(dict.fromkeys(self._broken_explored))
            verdict = ScenarioVerdict.FAILED
            detail = f"{extent}; broken: {broken}"
        elif self._breakdowns:
            verdict = ScenarioVerdict.ERRORED
            detail = f"{extent}; the adapter broke"
        ended = Ended(verdict=verdict, cause=detail, detail=detail)
        with HistoryWriter(self._folder / HISTORY, append=True) as writer:
            writer.write(Started(scenario="Exploration"))
            writer.write(ended)
        self._hear(Scenario(name="Exploration", ended=ended))

    def _hear(self, scenario: Scenario) -> None:
        if self._checker is None:
            raise AssertionError("a run that records has a header")
        self._merge(Outcome(heard=self._checker.check(scenario)))

    # The work.

    def _go_on(self) -> None:
        """Give tasks to workers until nothing is left.

        Raises:
            ConformanceError: the run cannot go on.
        """
        while True:
            self._merge_finished()
            if self._phase == len(self._parts):
                return
            for worker in self._workers:
                if worker.is_ready and worker.part is None:
                    self._give(worker)
            self._listen()
            self._report()

    def _give(self, worker: _Worker) -> None:
        part = self._next()
        if part is None:
            return
        part.is_begun = True
        # What comes next in the history is written there at once.
        if self._is_first(part):
            file = self._folder / HISTORY
        else:
            self._files += 1
            file = self._parts_folder() / f"{self._files:05}.jsonl"
        part.task = attrs.evolve(part.task, file=file)
        worker.part = part
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.connection.send(part.task)

    def _next(self) -> _Part | None:
        for number, parts in enumerate(self._parts):
            # Failures are settled once all are known.
            if number == len(self._parts) - 1 and self._phase < number:
                return None
            for part in parts:
                if not part.is_begun:
                    return part
        return None

    def _is_first(self, part: _Part) -> bool:
        parts = self._parts[self._phase]
        return bool(parts) and parts[0] is part

    def _parts_folder(self) -> Path:
        folder = self._folder / "parts"
        folder.mkdir(exist_ok=True)
        return folder

    def _listen(self) -> None:
        """Take the answers of workers, and replace workers that have died."""
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait(list(by_connection), EVERY):
            worker = by_connection[connection]  # type: ignore[index]  # one of them
            try:
                answer = worker.connection.recv()
            except (EOFError, OSError, pickle.UnpicklingError):
                self._bury(worker)
                continue
            self._take(worker, answer)

    def _take(self, worker: _Worker, answer: object) -> None:
        match answer:
            case Ready():
                worker.is_ready = True
            case Outcome() if worker.part is not None:
                worker.part.outcomes.append(answer)
                self._count(answer)
            case Done() if worker.part is not None:
                worker.part.done = answer
                worker.part = None
                self._breakdowns += answer.breakdowns
                if self._breakdowns >= BREAKDOWNS:
                    self._leave_out_exploration()
            case Failed(error=error) if not worker.is_ready and len(self._workers) > 1:
                self._go_on_without(worker, str(error))
            case Failed(error=error):
                raise error

    def _go_on_without(self, worker: _Worker, why: str) -> None:
        """Leave the work to the others: this one has no adapter, although several may be made."""
        self._await_end(worker)
        self._workers.remove(worker)
        _say_it_is_missing(why)

    def _is_broken_enough(self) -> bool:
        """Return whether the exploration has found as many broken rules as end it."""
        size = self._size
        return size is not None and len(set(self._broken_explored)) >= size.rules

    def _leave_out_exploration(self) -> None:
        for number in (1, 2):
            self._parts[number] = [part for part in self._parts[number] if part.is_begun]

    def _bury(self, worker: _Worker) -> None:
        """Replace a worker that has died; the scenario that it played is errored.

        Raises:
            AdapterError: too many have died.
        """
        code = self._await_end(worker)
        self._workers.remove(worker)
        part = worker.part
        if part is None:
            if not self._workers:
                raise AdapterError(f"the process of the adapter ended, {_how(code)}")
            if not worker.is_ready:
                _say_it_is_missing(f"its process ended, {_how(code)}")
            return
        self._deaths += 1
        how = f"the process of the adapter ended, {_how(code)}"
        if code == HUNG:
            self._hangs += 1
            limit = timeout_of(self._request, PATIENCE_FOR_ANSWERS)
            how = f"the adapter did not answer within {limit:g} s; its process was ended"
        open_one = _mend(part.task.file, how)
        if open_one is not None and self._checker is not None:
            heard = self._checker.check(open_one)
            part.outcomes.append(Outcome(heard=heard, error=how))
            self._count(part.outcomes[-1])
        part.done = Done(breakdowns=int(not isinstance(part.task, Play)))
        rest = _rest(part.task, len(part.outcomes))
        if rest is not None:
            parts = next(parts for parts in self._parts if part in parts)
            parts.insert(parts.index(part) + 1, _Part(task=rest))
        if self._deaths == MOST_DEATHS or self._hangs == MOST_HANGS:
            raise AdapterError(f"the features stopped early: {how}, {self._deaths} times")
        self._start_worker()

    # Merging, in the order of the history.

    def _merge_finished(self) -> None:
        while self._phase < len(self._parts):
            parts = self._parts[self._phase]
            while parts and parts[0].done is not None:
                self._merge_part(parts.pop(0))
            if parts or not self._is_complete():
                return
            self._phase += 1

    def _is_complete(self) -> bool:
        """Return whether nothing comes in this phase; plan what comes next."""
        if self._phase == 0:
            again = self._again
            self._again = []
            if again:
                self._plan_cases(again, repeated=True)
                return False
            self._plan_metamorphic()
        if self._phase == len(self._parts) - 2:
            self._plan_settling()
        return True

    def _plan_metamorphic(self) -> None:
        size = self._size
        header = self._header
        if size is None or header is None or header.clock is v.Clock.REAL or not self._explores:
            return
        # Import it here, because Hypothesis takes a tenth of a second, and scenarios do not use it.
        from busproof.exploration.metamorphic.search import draw_variants

        kept = list(self._kept.values())
        variants = draw_variants([sequence.kinds for sequence in kept], header.seed or 0)
        chosen = ((kept[number].pickled, variant) for number, variant in variants)
        for some in _several(tuple(islice(chosen, size.metamorphic))):
            self._parts[1].append(_Part(task=Send(file=Path(), sequences=some)))

    def _plan_settling(self) -> None:
        header = self._header
        if header is None or (header.clock is v.Clock.REAL and self._size is None):
            return
        wanted = self._failures if self._settled is None else self._settled
        failures = ((rule, self._failures[rule]) for rule in self._failures if rule in wanted)
        for rule, events in islice(failures, MOST_SETTLED):
            task = Settle(file=Path(), rule=rule, events=events)
            self._parts[3].append(_Part(task=task))

    def _merge_part(self, part: _Part) -> None:
        if isinstance(part.task, Send | Combine | Explore) and self._is_broken_enough():
            # It would not have begun if the parts before it had ended earlier.
            part.task.file.unlink(missing_ok=True)
            return
        if part.task.file != self._folder / HISTORY:
            self._append(part.task.file)
        for outcome in part.outcomes:
            self._merge(outcome)
            if isinstance(part.task, Play):
                self._repeat(outcome)
                if not part.task.repeated:
                    self._form_verdicts([self._cases[self._number_of[outcome.heard.name]]])
        done = part.done or Done()
        for rule, events in done.failures.items():
            self._broken_explored.append(rule)
            self._fail(rule, events)
        if self._is_broken_enough():
            self._leave_out_exploration()

    def _form_verdicts(self, ended: Sequence[Case]) -> None:
        """Note a line about each family of these cases whose last case has ended.

        Cases are about rules of other families, too, of which a run need not have been asked.
        """
        families = [family for case in ended for family in families_of(case)]
        self._left.subtract(families)
        done = [family for family in dict.fromkeys(families) if not self._left[family]]
        if not done or self._header is None or self._checker is None:
            return
        so_far = verdicts(self._header, self._checker.terms, self._summary)
        titles = {family.id: family.title for family in self._catalogue.families}
        lines = []
        for family in done:
            formed = [rule.verdict for rule in so_far.rules if rule.id.startswith(f"{family}-")]
            if not formed:
                continue
            counts = Counter(verdict for verdict in formed if verdict is not Verdict.NOT_APPLICABLE)
            words = ", ".join(f"{number} {verdict.value}" for verdict, number in counts.items())
            lines.append(f"{family} {titles[family]}: {words or 'not applicable'}")
        self._counted = attrs.evolve(self._counted, formed=(*self._counted.formed, *lines))

    def _append(self, file: Path) -> None:
        """Move the records of a part to the end of the history.

        Raises:
            HistoryError: the history cannot be written.
        """
        history = self._folder / HISTORY
        kept = history.stat().st_size
        try:
            with history.open("ab") as target, file.open("rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
        except OSError as error:
            os.truncate(history, kept)
            raise HistoryError(
                f"cannot write the history {history}: {error.strerror}; "
                f"the first {kept} bytes were kept and can be read"
            ) from None
        file.unlink()

    def _merge(self, outcome: Outcome) -> None:
        heard = outcome.heard
        self._summary.add(self._place, heard)
        self._place += 1
        if outcome.error:
            self._errors.append(outcome.error)
        if heard.counterexample is not None:
            self._about.setdefault(heard.name, heard.about)
            if not heard.counterexample.is_judged:
                self._by_step.append(heard.name)
            if heard.counterexample.is_judged and heard.feature != AGAIN:
                for rule in heard.blamed:
                    self._fail(rule, heard.counterexample.events)
        if outcome.scenario is not None:
            kept = self._replays if outcome.scenario.feature == AGAIN else self._scenarios
            kept.append(outcome.scenario)
        if outcome.sequence is not None:
            self._kept.setdefault(outcome.sequence.mark, outcome.sequence)

    def _fail(self, rule: v.RuleId, events: tuple[v.Event, ...]) -> None:
        known = self._failures.get(rule)
        if known is None or len(events) < len(known):
            self._failures[rule] = events

    def _repeat(self, outcome: Outcome) -> None:
        if self._repeating is None:
            return
        name = outcome.heard.name
        heard = outcome.heard
        self._repeating.saw(heard.evidence.keys())
        error: BaseException | None = None
        if outcome.missed is not None:
            error = Missed("", outcome.missed)
        elif not outcome.passed:
            error = AssertionError()
        self._again += self._repeating.after(self._number_of[name], name, outcome.shows, error)

    # Workers.

    def _start_worker(self) -> None:
        ours, theirs = multiprocessing.Pipe()
        # What the parent holds, a forked worker holds too, and must not keep open.
        others = [worker.connection for worker in self._workers] if _FORKS else []
        process = _CONTEXT.Process(
            target=_work,
            args=(
                theirs,
                [ours, *others] if _FORKS else [],
                self._request,
                self._shared or self._names,
            ),
            daemon=True,
        )
        process.start()
        theirs.close()
        self._workers.append(_Worker(process=process, connection=ours))

    def _await_end(self, worker: _Worker) -> int:
        worker.process.join(PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        return int(worker.process.exitcode or 0)

    def _stop_workers(self, kill_after: float | None = None, *, interrupts: bool = True) -> None:
        """Let the workers stop their adapters; after an interrupt, not for ever."""
        for worker in self._workers:
            with suppress(OSError):
                worker.connection.send(None)
            if kill_after is not None and interrupts:
                _interrupt(worker.process)
        with suppress(KeyboardInterrupt):
            self._hear_last(kill_after)
        for worker in self._workers:
            if worker.process.is_alive():
                worker.process.kill()
            worker.process.join()

    def _hear_last(self, kill_after: float | None) -> None:
        """Take the last answers of the workers, until they have ended or time is up."""
        until = None if kill_after is None else time.monotonic() + kill_after
        left = {worker.connection: worker for worker in self._workers}
        while left:
            seconds = None if until is None else max(0.0, until - time.monotonic())
            ready = wait(list(left), seconds)
            if not ready:
                return
            for connection in ready:
                worker = left[connection]  # type: ignore[index]  # one of them
                try:
                    answer = worker.connection.recv()
                except (EOFError, OSError, pickle.UnpicklingError):
                    del left[worker.connection]
                    continue
                if isinstance(answer, Failed) and not worker.is_ready:
                    _say_it_is_missing(str(answer.error))
                elif isinstance(answer, Failed):
                    say(str(answer.error))
                else:
                    with suppress(ConformanceError):
                        self._take(worker, answer)

    def _collect(self, stopped: ConformanceError | None) -> None:
        """Add what unfinished parts have recorded, as far as there is room; say why it stopped."""
        try:
            for part in (part for parts in self._parts for part in parts if part.is_begun):
                _trim(part.task.file)
                self._add_unheard(part)
                part.done = part.done or Done()
                self._merge_part(part)
        except HistoryError as error:
            stopped = stopped or error
        shutil.rmtree(self._folder / "parts", ignore_errors=True)
        if isinstance(stopped, HistoryError):
            reason = str(stopped).partition(": ")[2].partition(";")[0]
            history = self._folder / HISTORY
            say(
                f"cannot write the history {history}: {reason}; the first "
                f"{history.stat().st_size} bytes were kept and can be read"
            )
        elif stopped is not None:
            say(str(stopped))

    def _add_unheard(self, part: _Part) -> None:
        """Judge the scenario in which a worker was killed, unless the worker has done so."""
        if part.done is not None or self._checker is None:
            return
        if part.outcomes and part.outcomes[-1].heard.ending == INTERRUPTED:
            return
        last = _last_open(part.task.file)
        if last is not None:
            part.outcomes.append(Outcome(heard=self._checker.check(last)))

    # Reports.

    def _count(self, outcome: Outcome) -> None:
        feature = outcome.heard.feature
        counted = self._counted
        if feature in (EXPLORATION, METAMORPHIC, AGAIN):
            self._counted = attrs.evolve(counted, sequences=counted.sequences + 1)
        elif feature == REPEATED:
            self._counted = attrs.evolve(counted, repeated=counted.repeated + 1)
        else:
            self._counted = attrs.evolve(counted, ended=counted.ended + 1)

    def _report(self, *, is_last: bool = False) -> None:
        if not is_last and time.monotonic() - self._reported < EVERY:
            return
        self._reported = time.monotonic()
        with suppress(OSError):
            fresh = self._folder / f"{PROGRESS}.new"
            fresh.write_text(json.dumps(attrs.asdict(self._counted)))
            fresh.replace(self._folder / PROGRESS)

    @property
    def recorded(self) -> Recorded | None:
        """What the run has found so far; `None` if it did not begin."""
        if self._header is None or self._checker is None:
            return None
        return Recorded(
            header=self._header,
            conformance=verdicts(self._header, self._checker.terms, self._summary),
            errors=tuple(self._errors),
            about=self._about,
            by_step=tuple(self._by_step),
            replays=tuple(self._replays),
            scenarios=tuple(self._scenarios),
        )

    def _write_result(self) -> None:
        recorded = self.recorded
        if recorded is None:
            return
        try:
            (self._folder / RESULT).write_bytes(pickle.dumps(recorded))
        except OSError as error:
            say(f"cannot write the result of the run: {error.strerror}")


def _several(items: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """Yield the items, as many at a time as one task has."""
    for start in range(0, len(items), IN_A_TASK):
        yield tuple(items[start : start + IN_A_TASK])


def _work(
    connection: Connection,
    others: Sequence[Connection],
    request: Request,
    shared: tuple[Sequence[Case], Sequence[Definition]] | Set[str] | None,
) -> None:
    if isinstance(shared, tuple):
        for other in others:
            other.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        found = shared if isinstance(shared, tuple) else _load(request, shared)
        work(connection, request, *found)


def _load(request: Request, names: Set[str] | None) -> tuple[Sequence[Case], Sequence[Definition]]:
    """Return the cases of a run, and the definitions of their steps."""
    size = size_of(request)
    found = cases(
        waits=size is None or size.waits,
        only=request.only,
        source=request.source,
        replays=request.replay is not None,
        rules=rules_asked_for(request),
    )
    kept = found if names is None else tuple(case for case in found if case.name in names)
    return kept, definitions()


def _interrupt(process: Any) -> None:
    with suppress(OSError):
        os.kill(process.pid, signal.SIGINT)


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


def _rest(task: Task, ended: int) -> Task | None:
    """Return the task with what is left of it after so many scenarios; `None` if nothing is."""
    match task:
        case Play(cases=numbers) if numbers[ended:]:
            return attrs.evolve(task, cases=numbers[ended:])
        case Send(sequences=sequences) if sequences[ended:]:
            return attrs.evolve(task, sequences=sequences[ended:])
    return None


def _mend(file: Path, how: str) -> Scenario | None:
    """End the scenario in which a worker died, and return it."""
    last = _last_open(file)
    if last is None:
        return None
    ended = Ended(verdict=ScenarioVerdict.ERRORED, cause=how, detail=how)
    with HistoryWriter(file, append=True) as writer:
        writer.write(ended)
    return attrs.evolve(last, ended=ended)


def _last_open(file: Path) -> Scenario | None:
    """Return the last scenario in a file if it has no end."""
    if not file.exists():
        return None
    _trim(file)
    found = list(_scenarios(file.read_bytes()))
    return found[-1] if found and found[-1].ended is None else None


def _trim(file: Path) -> None:
    """Remove a line that a worker has not written to its end."""
    if file.exists():
        content = file.read_bytes()
        os.truncate(file, content.rfind(b"\n") + 1)


def _scenarios(content: bytes) -> Iterator[Scenario]:
    """Yield the last scenario in the lines of a history."""
    import tempfile

    start = content.rfind(b'{"record":"started"')
    if start < 0:
        return
    header = Header(profile=v.profile_for(load_catalogue()))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, HISTORY)
        with HistoryWriter(file) as writer:
            writer.write(header)
        with file.open("ab") as target:
            target.write(content[start:])
        yield from load(file).scenarios


_FORKS: Final = sys.platform == "linux"
_CONTEXT: Final[Any] = multiprocessing.get_context("fork" if _FORKS else "spawn")


def _say_it_is_missing(why: str) -> None:
    say(
        "the adapter declares that several of it can run, and one more cannot be made, so the run "
        f"went on with fewer processes: {why}"
    )


def say(text: str) -> None:
    """Write a message for the user, which the process that started this one recognises."""
    line = f"\nbusproof: {text}".replace("\n", "\n  ").replace("\n  busproof", "\nbusproof", 1)
    print(line, file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Record a run.

    Args:
        arguments: the folder of the run, and its request as JSON.
    """
    folder, text = arguments
    request = Request.of(json.loads(text))
    try:
        session = Session(Path(folder), request)
    except ConformanceError as error:
        say(str(error))
        return 2 if isinstance(error, UsageError) else 3
    except KeyboardInterrupt:
        return 3
    return session.run()
