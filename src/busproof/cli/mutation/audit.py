"""Audits of seeded faults, one after another, in processes that begin with everything imported.

A fresh interpreter takes longer to import than one rule's scenarios take to run. If all scenarios
should run on each fault, the bus without the fault is recorded first, and scenarios that get the
same answers with the fault are skipped. That leaves a few in a hundred.
"""

import gc
import json
import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Set
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import DefaultContext, ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of, conforming
from busproof.adapters.faults import fault as fault_named
from busproof.cli.mutation.budget import OutOfTime
from busproof.cli.running.child_run import (
    HISTORY,
    LOG,
    Request,
    environment,
    run_folder,
)
from busproof.errors import AdapterError, ConformanceError
from busproof.history.records import History
from busproof.judging.audit import Audited
from busproof.spec import Catalogue, Rule
from busproof.spec import load as load_catalogue

if TYPE_CHECKING:
    from busproof.cli.running.child_run import Recorded

__all__ = ["Job", "audit_apart", "record_apart", "run_apart"]

Found = TypeVar("Found")

METHOD: Final = "forkserver"
"""Start method of processes; with any other, each would import everything again."""

PICKLED: Final = ".pickle"

PATIENCE: Final = 300.0
"""Maximum time for a few scenarios, in seconds; they need less than one, but a mutant may loop."""

NEW_OBJECTS: Final = 50_000
"""Number of new objects between garbage collections; Python's default is 700."""

IMPORTED: Final = (
    "busproof.cli.mutation.audit",
    "busproof.judging.replay_check",
    "busproof.cli.mutation.preload",
)


@attrs.frozen(kw_only=True)
class Job:
    """An audit of a fault, and which tests have to notice the fault.

    Attributes:
        fault: the id of the fault.
        explored: whether the exploration alone has to notice it; otherwise the scenarios.
        whole: whether to run all scenarios, or only those of the fault's rule.
        beside: the history without the fault; scenarios that answer the same are skipped.
        seed: the seed of the exploration.
        wire: whether the embedded broker serves the fault, over AMQP or the protocol of its rule.
    """

    fault: str
    explored: bool = False
    whole: bool = False
    beside: Path | None = None
    seed: int = 0
    wire: bool = False

    def request(self) -> Request:
        """Return the run to make, under terms that put the fault's rule in force."""
        catalogue = load_catalogue()
        rule = catalogue.rule(fault_named(self.fault).rule)
        tier, partitions = v.namespace_of(rule.tiers)
        protocol = "http" if v.Capability.HTTP in fault_named(self.fault).needs else "amqp"
        adapter = f"{protocol}?fault={self.fault}" if self.wire else f"faulty:{self.fault}"
        readings = _read_so_that_it_holds(catalogue, rule)
        about = Request(
            adapter=adapter,
            # The newest edition that states the rule.
            edition=rule.editions[-1],
            tier=tier,
            namespace_partitions=str(partitions),
            readings=readings,
        )
        if self.explored:
            return attrs.evolve(about, profile="audit", seed=str(self.seed), only="exploration")
        return attrs.evolve(about, rules=() if self.whole else (rule.id,))

    def counterpart(self) -> Request:
        """Return the same run on a bus without the fault."""
        return attrs.evolve(self.request(), adapter=conforming(fault_named(self.fault)))


def _read_so_that_it_holds(catalogue: Catalogue, rule: Rule) -> tuple[str, ...]:
    """Return readings that put a rule in force where the default readings exclude it."""
    readings = []
    for ambiguity in catalogue.ambiguities:
        left_out = {name for name in ambiguity.readings if f"{ambiguity.id}={name}" in rule.unless}
        if ambiguity.default in left_out:
            other = next(name for name in ambiguity.readings if name not in left_out)
            readings.append(f"{ambiguity.id}={other}")
    return tuple(readings)


def audit_apart(job: Job, scratch: Path) -> Audited:
    """Audit one fault in another process; return its result.

    Args:
        job: the fault, and how to audit it.
        scratch: a folder for the files of the run.

    Raises:
        ConformanceError: the run could not begin or did not end.
    """
    return _run_apart(_audit, job.fault, job, scratch)


def record_apart(request: Request, scratch: Path) -> Path:
    """Record a run in another process; return its history.

    Args:
        request: the run to make.
        scratch: a folder for the files of the run.

    Raises:
        ConformanceError: the run could not begin or did not end.
    """
    return _run_apart(_record, request.adapter, request, scratch)


def run_apart(request: Request, names: Set[str], scratch: Path) -> tuple[str, ...]:
    """Run some scenarios in another process; return the names of those that fail.

    Args:
        request: the run to make.
        names: the names of the scenarios.
        scratch: a folder for the files of the run.

    Raises:
        ConformanceError: the run could not begin or broke off.
        OutOfTime: the run took too long.
    """
    return _run_apart(_run_scenarios, request.adapter, request, names, scratch, seconds=PATIENCE)


def _run_apart(
    work: Callable[..., Found], name: str, *about: object, seconds: float | None = None
) -> Found:
    context = _context()
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_tell, args=(writer, name, work, seconds, *about))
    process.start()
    writer.close()
    try:
        if not reader.poll(seconds):  # at the end of the pipe, too, there is something
            _kill(process)
            raise OutOfTime(f"the run of {name} has not ended within {seconds:g} s")
        result: Found | ConformanceError = reader.recv()
    except EOFError:
        raise AdapterError(f"the process that runs {name} was ended by the system") from None
    finally:
        process.join()
        reader.close()
    if isinstance(result, ConformanceError):
        raise result
    return result


def _context() -> DefaultContext | ForkServerContext:
    if METHOD not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTED))
    return context


def _kill(process: BaseProcess) -> None:
    """Kill a process with those that it has started."""
    if process.pid is not None and hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _tell(
    writer: Connection,
    name: str,
    work: Callable[..., object],
    seconds: float | None,
    *about: object,
) -> None:
    if seconds is not None and hasattr(os, "setsid"):
        os.setsid()
    # Little of what exists now becomes garbage, but a thousand sequences add a gigabyte of it.
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    try:
        writer.send(work(*about))
    except ConformanceError as error:
        writer.send(error)
    except KeyboardInterrupt:
        writer.send(AdapterError("interrupted"))
    except Exception as error:  # noqa: BLE001 - the audit has to name the run for any error
        writer.send(AdapterError(f"the run of {name} broke off: {type(error).__name__}: {error}"))


def _record(request: Request, scratch: Path) -> Path:
    from busproof.history.files import load

    history = run_folder(None, "counterpart", scratch) / HISTORY
    _run(request, history.parent)
    # Many processes will read this history, and parsing its lines would take a third of their time.
    history.with_suffix(PICKLED).write_bytes(pickle.dumps(load(history)))
    return history


def _run_scenarios(request: Request, names: Set[str], scratch: Path) -> tuple[str, ...]:
    from busproof.history.conformance import Verdict

    rules = _run(request, run_folder(None, "generated", scratch), names).conformance.rules
    failed = [rule for rule in rules if rule.verdict in (Verdict.VIOLATED, Verdict.ERRORED)]
    return tuple(dict.fromkeys(name for rule in failed for name in rule.scenarios))


def _audit(job: Job, scratch: Path) -> Audited:
    from busproof.judging.audit import (
        result_of_exploration,
        result_of_scenarios,
        result_without_difference,
    )

    fault = fault_named(job.fault)
    names = None if job.beside is None else _find_differing(adapter_of(fault), job.beside)
    if names is not None and not names:
        return result_without_difference(fault.id, fault.rule, fault.equivalent)
    folder = run_folder(fault.id, "faulty", scratch)
    recorded = _run(job.request(), folder, names, settled=None if job.explored else {fault.rule})
    of_it = (fault.id, fault.rule, fault.equivalent, recorded.conformance)
    if job.explored:
        found = result_of_exploration(*of_it)
    else:
        found = result_of_scenarios(*of_it, fault.by_step)
    return attrs.evolve(
        found, content=_content(recorded, fault.rule), scenarios_by_step=recorded.by_step
    )


def _content(recorded: "Recorded", rule: v.RuleId) -> int:
    """Return how many characters the commands that break a rule have in their file.

    It is 0 if they break it only together with the checks of their scenario. The profile, which
    the file has too, is not counted.
    """
    from busproof.cli.failures import failures
    from busproof.history.codec import unstructure

    broken = failures(recorded.header, recorded.conformance, load_catalogue(), recorded.replays)
    lists = (unstructure(one.commands)["commands"] for one in broken if one.rule == rule)
    return sum(len(json.dumps(commands, indent=2, ensure_ascii=False)) for commands in lists)


def _find_differing(adapter: v.Adapter, beside: Path) -> Set[str]:
    """Return the names of the scenarios whose answers differ from the recording."""
    from busproof.judging.replay_check import answers_alike

    with beside.with_suffix(PICKLED).open("rb") as file:
        recorded: History = pickle.load(file)  # noqa: S301 - written by this audit
    profile = recorded.header.profile
    return {
        scenario.name
        for scenario in recorded.scenarios
        if not answers_alike(adapter, profile, scenario)
    }


def _run(
    request: Request,
    folder: Path,
    names: Set[str] | None = None,
    settled: Set[v.RuleId] | None = frozenset(),
) -> "Recorded":
    """Run all cases, or the named ones, in this process and a worker; return what it has found.

    Args:
        request: the run to make.
        folder: the folder for its files.
        names: the names of the cases to play.
        settled: the rules whose failures are shrunk; `None` for all.
    """
    from busproof.cli.running.session import Session

    _write_to(folder / LOG)
    os.environ.update(environment())
    session = Session(folder, attrs.evolve(request, jobs=1), names, settled)
    session.run()
    recorded = session.recorded
    if recorded is None:
        last_lines = (folder / LOG).read_text(errors="replace").strip().splitlines() or ["nothing"]
        raise AdapterError(f"{request.adapter} could not be run; the run said: {last_lines[-1]}")
    return recorded


def _write_to(log: Path) -> None:
    """Redirect this process's output to a file, because the terminal shows the audit's progress."""
    sys.stdout.flush()
    sys.stderr.flush()
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
