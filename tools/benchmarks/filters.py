"""Cost of an SQL filter for a message, as its terms and the text of LIKE grow.

Conditions of more terms than the longest filter has are made as trees, without a parser. Times are
of the processor, the best of several runs; each message is another, so nothing of it is kept.
"""

import itertools
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from figures import at_most, parser, report

from busproof import vocabulary as v
from busproof.filters.evaluation import function_of
from busproof.filters.facts import Facts
from busproof.filters.nodes import Arithmetic, Compare, Constant, In, Like, Or, Property, Step
from busproof.filters.readings import OURS

TERMS: Final = (10, 100, 1_000)
LETTERS: Final = (1_000, 10_000, 100_000)
MESSAGES, REPEATS = 200, 7
TEN_TERMS_BOUND = 20.0
"""Most microseconds for a condition of ten terms."""
GROWTH_BOUND = 20.0
"""Most that the cost may grow while the terms, or the letters, grow tenfold."""


def _number(index: int) -> Property:
    return Property("user", f"p{index}")


KINDS: Final[dict[str, Callable[[int], Any]]] = {
    "p = 1": lambda index: Compare("=", _number(index), Constant(1)),
    "p = 'x'": lambda index: Compare("=", _number(index), Constant("x")),
    "p + 1 > 2": lambda index: Compare(
        ">", Arithmetic(_number(index), (Step("+", Constant(1)),)), Constant(2)
    ),
    "p IN (1, 2)": lambda index: In(_number(index), (Constant(1), Constant(2))),
    "t LIKE '%x%'": lambda index: Like(Property("user", "t"), Constant(f"%x{index}%"), None),
}


def cost_of_terms(kind: str, terms: int) -> float:
    """Return the microseconds of one message for a condition of so many terms, none true."""
    condition = Or(tuple(KINDS[kind](index) for index in range(terms)))
    properties = {"t": "a text", **{f"p{index}": 0 for index in range(10)}}
    return _cost(condition, properties)


def cost_of_like(pattern: str, letters: int) -> float:
    """Return the microseconds of LIKE for a text of so many letters, which does not match."""
    condition = Like(Property("user", "t"), Constant(pattern), None)
    return _cost(condition, {"t": "a" * letters}, messages=20)


def _cost(condition: Any, properties: dict[str, Any], messages: int = MESSAGES) -> float:
    verdict = function_of(condition, OURS)
    best = float("inf")
    for _ in range(REPEATS):
        some = [v.Message(body=str(number), properties=properties) for number in range(messages)]
        started = time.process_time()
        for message in some:
            verdict(Facts(message, None))
        best = min(best, (time.process_time() - started) / messages * 1e6)
    return best


def main() -> int:
    """Print the table, or with --json the figures and whether their bounds hold."""
    arguments = parser(__doc__).parse_args()
    figures = []
    for kind in KINDS:
        costs = {terms: cost_of_terms(kind, terms) for terms in TERMS}
        figures.append(at_most(f"{kind}, ten terms, µs", costs[TERMS[0]], TEN_TERMS_BOUND))
        figures += _growth(kind, costs, as_json=arguments.json, unit="terms")
    for pattern in ("%b%", "%a_b%", "a%a%a%b"):
        costs = {letters: cost_of_like(pattern, letters) for letters in LETTERS}
        figures += _growth(f"LIKE '{pattern}'", costs, as_json=arguments.json, unit="letters")
    return report(figures, as_json=arguments.json)


def _growth(name: str, costs: dict[int, float], *, as_json: bool, unit: str) -> list[Any]:
    """Return the figure of a row's greatest growth, and print the row."""
    sizes = sorted(costs)
    growth = max(costs[larger] / costs[smaller] for smaller, larger in itertools.pairwise(sizes))
    if not as_json:
        row = ", ".join(f"{size:,}: {costs[size]:.1f} µs" for size in sizes)
        print(f"{name}: {unit} {row}")
    return [at_most(f"{name}, growth for ten times as many {unit}", growth, GROWTH_BOUND)]


if __name__ == "__main__":
    sys.exit(main())
