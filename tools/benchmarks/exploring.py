"""Speed of an exploration in commands per second, and Hypothesis's share of the time.

The sequences of an exploration without shrinking are recorded in memory. The same commands are then
sent and judged without Hypothesis, and sent once more without the judge: each difference is the
cost of the part left out. All times are processor times.
"""

import sys
import time
from collections.abc import Iterator

import attrs
from figures import at_least, parser, report

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.exploration.explorer import Exploration
from busproof.exploration.machine import Watch, terms_of
from busproof.exploration.sizes import SIZES
from busproof.history.records import Record, Started

SEQUENCES = 300
BOUND = 1_500


def explored(adapter: v.Adapter, sequences: int) -> tuple[float, list[list[v.Event]]]:
    """Return the seconds that an exploration takes, and its sequences."""
    records: list[Record] = []
    size = attrs.evolve(SIZES["ci"], sequences=sequences)
    exploration = Exploration(adapter, terms_of(adapter), size=size, start=1, write=records.append)
    began = time.process_time()
    exploration.run()
    took = time.process_time() - began
    return took, list(_sequences(records))


def _sequences(records: list[Record]) -> Iterator[list[v.Event]]:
    events: list[v.Event] = []
    for record in records:
        if isinstance(record, Started) and events:
            yield events
            events = []
        elif isinstance(record, v.Event):
            events.append(record)
    yield events


def judged_again(adapter: v.Adapter, sequences: list[list[v.Event]]) -> float:
    """Return the seconds to send and judge the same commands without Hypothesis."""
    watch = Watch(adapter, terms_of(adapter))
    began = time.process_time()
    for events in sequences:
        run = watch.opened()
        for event in events:
            run.ask(event.command, event.connection)
    return time.process_time() - began


def asked_again(adapter: v.Adapter, sequences: list[list[v.Event]]) -> float:
    """Return the seconds to send the same commands to the adapter without the judge."""
    profile = terms_of(adapter).profile
    began = time.process_time()
    for events in sequences:
        adapter.start(profile)
        for event in events:
            adapter.do(event.command, event.connection)
    return time.process_time() - began


def measured(sequences: int) -> dict[str, float]:
    """Return the commands per second on the model, and each part's share of the time."""
    adapter = ModelAdapter()
    whole, made = explored(adapter, sequences)
    judged, replayed = judged_again(adapter, made), asked_again(adapter, made)
    return {
        "commands": sum(len(events) for events in made),
        "a second": sum(len(events) for events in made) / whole,
        "engine": max(0.0, whole - judged) / whole,
        "judge": max(0.0, judged - replayed) / whole,
        "adapter": replayed / whole,
    }


def main() -> int:
    """Print the table, or with --json the figures and whether their bounds hold."""
    options = parser(__doc__)
    options.add_argument("--sequences", type=int, default=SEQUENCES)
    arguments = options.parse_args()
    shares = measured(arguments.sequences)
    if not arguments.json:
        print(
            f"{shares['commands']:,.0f} commands, {shares['a second']:,.0f} a second; "
            f"Hypothesis {shares['engine']:.0%}, judging and recording {shares['judge']:.0%}, "
            f"the model {shares['adapter']:.0%}"
        )
    figure = at_least("judged commands a second, generate phase", shares["a second"], BOUND)
    return report([figure], as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
