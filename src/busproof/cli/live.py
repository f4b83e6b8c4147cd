"""Judging of a history while it is recorded, so that verdicts are ready soon after its end."""

import threading
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, cast

from busproof import vocabulary as v
from busproof.history.files import read, scenarios
from busproof.history.records import Header
from busproof.judging.verdicts import Hearing
from busproof.spec import load as load_catalogue

if TYPE_CHECKING:
    from busproof.history.conformance import Conformance
    from busproof.history.records import Scenario

__all__ = ["Following"]

POLL: Final = 0.05


class Following(threading.Thread):
    """A thread that judges each scenario of a history as soon as it is recorded.

    Use it as a context manager around the recording, and read the verdicts afterwards. Scenarios on
    a real clock are judged after the recording, because judging takes processor time that the
    implementation may need to answer in time.

    Args:
        history: the file of the history; it may not exist yet.
    """

    def __init__(self, history: Path) -> None:
        super().__init__(daemon=True)
        self._history = history
        self._ended = threading.Event()
        self._heard: Future[tuple[Hearing, bool]] = Future()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()

    def run(self) -> None:
        """Read and judge until the recording has ended."""
        try:
            self._heard.set_result(self._follow())
        except BaseException as error:  # noqa: BLE001 - raised again by the methods
            self._heard.set_exception(error)

    @property
    def scenarios(self) -> tuple["Scenario", ...]:
        """Return the recorded scenarios; wait for them, and raise errors, as `conformance` does."""
        return self._heard.result()[0].scenarios

    def conformance(self) -> "Conformance":
        """Return the verdicts, once everything recorded has been judged.

        Raises:
            HistoryError: the recorded history cannot be read.
            UsageError: the history names an edition, ambiguity or reading that does not exist.
        """
        hearing, cut = self._heard.result()
        return hearing.conformance(cut=cut)

    def _follow(self) -> tuple[Hearing, bool]:
        while not self._history.exists() and self._growing():
            pass
        with closing(read(self._history, self._growing)) as reader:
            header = cast(Header, next(reader))
            if header.clock is v.Clock.REAL:
                self._ended.wait()
            hearing = Hearing(header, load_catalogue())
            for scenario in scenarios(reader):
                hearing.hear(scenario)
            return hearing, reader.cut

    def _growing(self) -> bool:
        return not self._ended.wait(POLL)
