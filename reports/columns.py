"""What the implementations of a comparison are called, so that no two are called the same."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

from busproof.history.conformance import Conformance

__all__ = ["labels"]


def labels(runs: Sequence[Conformance]) -> tuple[str, ...]:
    """A name for each run: who was judged, and what tells it apart from others of that name."""
    told = [_name(run) for run in runs]
    alike: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(told):
        alike[name].append(place)
    for places in alike.values():
        for place, more in zip(places, _differing([runs[each] for each in places]), strict=True):
            told[place] = ", ".join((told[place], *more))
    return tuple(_numbered(told))


def _name(run: Conformance) -> str:
    return f"{run.subject.name} {run.subject.version}".strip()


def _differing(runs: Sequence[Conformance]) -> Iterator[tuple[str, ...]]:
    """Of each run the terms in which it differs from any other of these."""
    columns = [list(each) for each in zip(*map(_terms, runs), strict=True)]
    differing = [column for column in columns if len(set(column)) > 1]
    for place in range(len(runs)):
        yield tuple(column[place] for column in differing)


def _terms(run: Conformance) -> tuple[str, ...]:
    subject = run.subject
    readings = " ".join(f"{name}={each}" for name, each in sorted(subject.readings.items()))
    return (
        subject.edition,
        subject.tier,
        f"{run.oracle} oracle",
        f"{subject.partitions} partitions",
        readings,
        subject.adapter,
    )


def _numbered(names: Sequence[str]) -> Iterator[str]:
    """The names; of those that are still alike, each with a number that no other name ends in."""
    counts, taken = Counter(names), set(names)
    for name in names:
        if counts[name] > 1:
            numbers = (f"{name}, run {number}" for number in count(1))
            name = next(each for each in numbers if each not in taken)  # noqa: PLW2901
            taken.add(name)
        yield name
