"""Explorations of in-process adapters, and adapters that spoil an answer now and then."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.exploration.explorer import Exploration
from busproof.exploration.machine import terms_of
from busproof.exploration.sizes import SIZES
from busproof.history.files import HistoryWriter, load
from busproof.history.records import (
    EXPLORATION,
    Ended,
    Header,
    History,
    Oracle,
    Record,
    Started,
)
from busproof.history.render.events import event_words
from busproof.judging.judge import Judge, observability_for

__all__ = ["Explored", "Spoiled", "accusation", "explored"]


@attrs.define
class Explored:
    """What an exploration recorded and found."""

    exploration: Exploration
    records: list[Record]
    ended: Ended | None = None

    @property
    def sequences(self) -> list[list[v.Event]]:
        """The events of each sequence that was made up."""
        found: list[list[v.Event]] = []
        recording = False
        for record in self.records:
            if isinstance(record, Started):
                recording = record.feature == EXPLORATION
                found += [[]] if recording else []
            elif isinstance(record, v.Event) and recording:
                found[-1].append(record)
        return found

    @property
    def events(self) -> list[v.Event]:
        return [record for record in self.records if isinstance(record, v.Event)]

    @property
    def endings(self) -> list[Ended]:
        return [record for record in self.records if isinstance(record, Ended)]

    def history(self, folder: Any) -> History:
        """The same as a history file has it."""
        exploration = self.exploration
        declaration = exploration.adapter.declaration
        header = Header(
            profile=exploration.terms.profile,
            capabilities=tuple(sorted(exploration.terms.capabilities)),
            clock=declaration.clock,
            slack=declaration.slack,
            seed=1,
        )
        with HistoryWriter(folder / "history.jsonl") as writer:
            for record in (header, *self.records):
                writer.write(record)
        return load(folder / "history.jsonl")


def explored(
    adapter: v.Adapter,
    *,
    seed: int = 1,
    profile: v.Profile | None = None,
    lock: int | None = None,
    size: str = "quick",
    kind: type[Exploration] = Exploration,
    **size_changes: Any,
) -> Explored:
    """Explore an adapter; what was recorded until then is kept where it is interrupted."""
    changes = {"sequences": 10, **size_changes}
    records: list[Record] = []
    exploration = kind(
        adapter,
        terms_of(adapter, profile),
        size=attrs.evolve(SIZES[size], **changes),
        start=seed,
        write=records.append,
        lock=lock,
    )
    found = Explored(exploration, records)
    with suppress(KeyboardInterrupt):
        found.ended = exploration.run()
    return found


class Spoiled:
    """An adapter in front of another, which may answer for it.

    Args:
        inner: the adapter behind.
        spoil: gets a command, how many were asked before since the beginning of time, and the
            right answer; what it returns is answered.
    """

    def __init__(
        self,
        inner: v.Adapter,
        spoil: Callable[[v.Command, int, v.Observed], v.Observed],
        **declared: Any,
    ) -> None:
        self.inner = inner
        self.spoil = spoil
        self.declared = declared
        self.asked = 0
        self.starts = 0

    @property
    def declaration(self) -> v.Declaration:
        return attrs.evolve(self.inner.declaration, **self.declared)

    def start(self, profile: v.Profile) -> None:
        self.starts += 1
        self.inner.start(profile)

    def do(self, command: v.Command, connection: str) -> v.Observed:
        self.asked += 1
        return self.spoil(command, self.asked, self.inner.do(command, connection))

    def stop(self) -> None:
        self.inner.stop()


def accusation(found: Explored, events: list[v.Event], oracle: Oracle) -> str:
    """The accusation that an oracle raises, in words; empty if it raises none."""
    exploration = found.exploration
    observability = observability_for(exploration.adapter.declaration.observability, oracle)
    judge = Judge(exploration.terms.profile, observability)
    for number, event in enumerate(events):
        violation = judge.saw(event) or judge.overdue
        if violation is not None:
            story = "\n".join(event_words(each) for each in events[: number + 1])
            return f"{violation}\n{story}"
    return judge.exhausted
