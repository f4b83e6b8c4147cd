"""One seeded fault after another, each in a process that begins with everything imported.

A fresh interpreter takes longer to import than the scenarios of one rule take to run.
"""

import gc
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from multiprocessing.context import DefaultContext, ForkServerContext
from pathlib import Path
from typing import Final

import attrs

from busproof.adapters.faults import fault as fault_named
from busproof.errors import AdapterError, ConformanceError
from busproof.judging.audit import Audited
from busproof.runs import HISTORY, LOG, Request, environment, pytest_arguments, run_folder
from busproof.spec import Rule
from busproof.spec import load as load_catalogue
from busproof.steps import STEP_MODULES

__all__ = ["Job", "audited_apart"]

METHOD: Final = "forkserver"
"""Of starting a process; where there is none of that kind, each imports for itself."""

IMPORTED: Final = (
    "pytest_bdd.plugin",
    "busproof.auditing",
    "busproof.judging.verdicts",
    "busproof.steps.running",
    *(f"busproof.steps.{name}" for name in STEP_MODULES),
)


@attrs.frozen(kw_only=True)
class Job:
    """A fault, and what has to notice it.

    Attributes:
        fault: its id.
        explored: whether the exploration alone has to; else the scenarios.
        whole: whether all scenarios are run, or those of the fault's own rule.
        seed: of the exploration.
    """

    fault: str
    explored: bool = False
    whole: bool = False
    seed: int = 0

    def request(self) -> Request:
        """The run, where the fault's rule holds."""
        rule = load_catalogue().rule(fault_named(self.fault).rule)
        edition, tier = _where_it_holds(rule)
        about = Request(adapter=f"faulty:{self.fault}", edition=edition, tier=tier)
        if self.explored:
            return attrs.evolve(about, profile="audit", seed=str(self.seed), only="exploration")
        return attrs.evolve(about, rule=None if self.whole else rule.id)


def _where_it_holds(rule: Rule) -> tuple[str, str]:
    """The newest edition that states the rule, and Standard unless it holds in other tiers only."""
    return rule.editions[-1], "standard" if "standard" in rule.tiers else rule.tiers[0]


def audited_apart(job: Job, scratch: Path) -> Audited:
    """What became of one fault, found out in a process of its own.

    Args:
        job: the fault.
        scratch: a folder for what its run leaves behind.

    Raises:
        ConformanceError: its run could not begin, or came to no end.
    """
    context = _context()
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_tell, args=(writer, job, scratch))
    process.start()
    writer.close()
    try:
        found = reader.recv()
    except EOFError:
        raise AdapterError(f"the process that audits {job.fault} broke; {LOG} is empty") from None
    finally:
        process.join()
        reader.close()
    if isinstance(found, Audited):
        return found
    raise found


def _context() -> DefaultContext | ForkServerContext:
    if METHOD not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTED))
    return context


def _tell(writer: Connection, job: Job, scratch: Path) -> None:
    gc.disable()  # The process ends before it could need what it would find.
    try:
        writer.send(_audited(job, scratch))
    except ConformanceError as error:
        writer.send(error)
    except KeyboardInterrupt:
        writer.send(AdapterError("interrupted"))


def _audited(job: Job, scratch: Path) -> Audited:
    import pytest  # noqa: PLC0415 - only where tests are run

    from busproof.history.files import load  # noqa: PLC0415
    from busproof.judging.audit import audited, explored  # noqa: PLC0415
    from busproof.judging.verdicts import conformance  # noqa: PLC0415

    fault = fault_named(job.fault)
    folder = run_folder(fault.id, "faulty", scratch)
    _write_to(folder / LOG)
    os.environ.update(environment())
    # What pytest looks for in garbage would cost a tenth of the run, and nobody reads of it.
    options = ("-p", "no:unraisableexception")
    pytest.main([*pytest_arguments(job.request(), folder, allure=False), *options])
    if not (folder / HISTORY).exists():
        told = (folder / LOG).read_text(errors="replace").strip().splitlines() or ["nothing"]
        raise AdapterError(f"{fault.id} could not be audited; the run said: {told[-1]}")
    found = conformance(load(folder / HISTORY), load_catalogue())
    told_of = explored if job.explored else audited
    return told_of(fault.id, fault.rule, fault.equivalent, found)


def _write_to(log: Path) -> None:
    """Let all that this process says go to a file; the terminal shows the audit's progress."""
    sys.stdout.flush()
    sys.stderr.flush()
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
