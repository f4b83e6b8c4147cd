"""Distinct labels for the implementations of a comparison."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

from busproof.history.conformance import Conformance

__all__ = ["labels"]


def labels(runs: Sequence[Conformance]) -> tuple[str, ...]:
    """Return a label for each run: its implementation, and its difference from equal names."""
    names = [_name(run) for run in runs]
    alike: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        alike[name].append(place)
    for places in alike.values():
        for place, more in zip(places, _differing([runs[run] for run in places]), strict=True):
            names[place] = ", ".join((names[place], *more))
    return tuple(_number(names))


def _name(run: Conformance) -> str:
    return f"{run.subject.name} {run.subject.version}".strip()


def _differing(runs: Sequence[Conformance]) -> Iterator[tuple[str, ...]]:
    """Yield, for each run, the values of those terms that are not the same in all runs."""
    columns = [list(column) for column in zip(*map(_terms, runs), strict=True)]
    differing = [column for column in columns if len(set(column)) > 1]
    for place in range(len(runs)):
        yield tuple(column[place] for column in differing)


def _terms(run: Conformance) -> tuple[str, ...]:
    subject = run.subject
    readings = " ".join(f"{name}={reading}" for name, reading in sorted(subject.readings.items()))
    return (
        subject.edition,
        subject.tier,
        f"{run.oracle} oracle",
        f"{subject.partitions} partitions",
        f"namespace of {subject.namespace_partitions}",
        f"{subject.messaging_units} messaging units",
        readings,
        subject.adapter,
    )


def _number(names: Sequence[str]) -> Iterator[str]:
    """Yield the names; those that several runs share get a number."""
    counts, taken = Counter(names), set(names)
    for name in names:
        if counts[name] > 1:
            numbers = (f"{name}, run {number}" for number in count(1))
            name = next(candidate for candidate in numbers if candidate not in taken)  # noqa: PLW2901 - yielded
            taken.add(name)
        yield name
