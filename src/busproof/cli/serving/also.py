"""`busproof serve --also`: what would break in another namespace, while clients are served."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from busproof import vocabulary as v
from busproof.errors import ConformanceError, UsageError
from busproof.history.moves import Break, Move, view_break
from busproof.judging.moving.comparison import Comparison, Said
from busproof.judging.moving.settings import creations_of
from busproof.judging.moving.targets import name_profile, name_target, target_profile
from busproof.reports.moving import break_lines, move_lines, move_page, write_move
from busproof.spec import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from busproof.broker.bus import Bus
    from busproof.broker.observability.event_log import Journal

__all__ = ["Shadow"]

STOPPED: Final = "the comparison has stopped"
MOST_CLIENTS: Final = 10_000
"""Number of connections whose clients' names are kept, the latest ones."""
LINES: Final = "moving.jsonl"
SETTINGS: Final = "settings"
"""Client of the entities that are there at the start."""


class Shadow:
    """Another namespace, which follows what a broker decides for its clients.

    Args:
        target: the name of the other namespace.
        folder: where to write the report, with each new kind and at the end; `None` for nowhere.
        say: called with each line for the operator.
        journal: the log of the broker.
    """

    def __init__(
        self, target: str, folder: Path | None, say: Callable[[str], None], journal: "Journal"
    ) -> None:
        self._target = target
        self._folder = folder
        self._say = say
        self._journal = journal
        self._catalogue = load()
        self._clients: dict[str, str] = {}
        self._bus: Bus | None = None
        self._comparison: Comparison | None = None
        self.move = Move(source="", target=target)

    def begin(self, bus: "Bus") -> None:
        """Compare a bus with its target from now on, beginning with the entities that it has.

        Raises:
            UsageError: there is no such target, or the bus is one already; only of the first bus.
        """
        is_first = self._bus is None
        self._bus = bus
        self._comparison = None
        profile = bus.namespace.profile
        try:
            target = target_profile(self._catalogue, profile, self._target)
        except UsageError as error:
            if is_first:
                raise
            self._stop(str(error))
            return
        if is_first:
            self.move.source = name_profile(profile)
            self.move.target = name_target(target, self._target)
        self._comparison = Comparison(profile, target, self._report_break, self.move)
        for command in creations_of(bus.namespace):
            self.saw(command, v.Done(), SETTINGS)

    def meet(self, connection: str, client: str) -> None:
        """Note the name that the client of a connection has given itself."""
        self._clients[connection] = f"{client} ({connection})" if client else connection
        if len(self._clients) > MOST_CLIENTS:
            del self._clients[next(iter(self._clients))]

    def saw(self, command: v.Command, outcome: v.Outcome, connection: str) -> None:
        """Compare a request that was answered."""
        if isinstance(command, v.AdvanceClock):
            return
        owner = connection.partition("/")[0]
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        said = Said(client=self._clients.get(owner, owner), at=at)
        self._follow(lambda compared: compared.saw(command, outcome, connection, said))

    def note_release(self, path: str, token: str) -> None:
        """Release a locked message as if it had never been delivered."""
        self._follow(lambda compared: compared.release(path, token))

    def note_deletion(self, path: str, bodies: "Sequence[str]") -> None:
        """Delete messages that were not received."""
        self._follow(lambda compared: compared.delete(path, bodies))

    def page(self) -> bytes:
        """Return the page on what breaks."""
        return move_page(self.move, self._catalogue).encode()

    def finish(self) -> int:
        """Write and print the report; return its exit code."""
        self._write()
        for line in move_lines(self.move, self._catalogue):
            self._say(line)
        return self.move.exit_code

    def _follow(self, do: Callable[[Comparison], None]) -> None:
        """Go on with the comparison; if it fails, clients are served all the same."""
        if self._comparison is None or self._bus is None:
            return
        try:
            self._comparison.pass_time(self._bus.namespace.now)
            do(self._comparison)
        except Exception as error:  # noqa: BLE001 - a fault of the comparison is not the clients'
            self._comparison = None
            self._stop(f"{type(error).__name__}: {error}")

    def _stop(self, reason: str) -> None:
        self.move.set_apart(STOPPED)
        self._journal.warning("moving-stopped", reason=reason)
        self._say(f"{STOPPED}: {reason}")

    def _report_break(self, new: Break) -> None:
        """Report a new kind of request that is answered otherwise."""
        # The log has no single messages, whose properties are the clients'; the report has them.
        self._journal.info(
            "moving", kind=new.kind, verdict=new.verdict, client=new.first.client, rules=new.rules
        )
        if self._folder is not None:
            self._append(view_break(new))
        for line in break_lines(new, self._catalogue):
            self._say(line)
        self._write()

    def _append(self, kind: dict[str, Any]) -> None:
        """Append a kind to the lines of the report, as soon as it was seen."""
        folder = self._folder or Path()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / LINES).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"target": self.move.target, **kind}) + "\n")
        except OSError as error:
            self._say(f"cannot write {folder / LINES}: {error.strerror or error}")

    def _write(self) -> None:
        if self._folder is None:
            return
        try:
            write_move(self.move, self._folder, self._catalogue)
        except ConformanceError as error:
            self._say(str(error))
