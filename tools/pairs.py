"""Count the pairs of a rule and a context that recorded histories reach on the model.

    python tools/pairs.py FEATURES.jsonl DISTILLED.jsonl [MORE.jsonl …]

The commands of each history are sent to the model again, which names the rules that decide each
answer. The pairs of all histories together stand for the pairs that are reachable.
"""

import argparse
from pathlib import Path

from busproof.cli.mutation.pairs import Pair, pairs_in


def main() -> None:
    """Print how many pairs each history reaches, alone and together with earlier ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("histories", nargs="+", type=Path)
    reached = {path: pairs_in(path) for path in parser.parse_args().histories}
    every = frozenset[Pair]().union(*reached.values())
    before = frozenset[Pair]()
    for path, pairs in reached.items():
        before |= pairs
        share = 100 * len(before) / len(every)
        print(f"{path}: {len(pairs)}; with those before it {len(before)}, {share:.1f} %")
    print(f"in all: {len(every)}")


if __name__ == "__main__":
    main()
