"""The figures of the benchmarks: one that misses its bound says so, and fails the benchmark."""

import pytest
from tools.benchmarks.figures import at_least, at_most, report


@pytest.mark.parametrize(
    ("figure", "line", "code"),
    [
        (at_most("rows, the median", 3, 4), "rows, the median: 3.00 (at most 4)", 0),
        (at_least("rows", 3, 1_000), "rows: 3.00 (at least 1,000, which does not hold)", 1),
        (at_most("growth", 1.7, 1.8, target=1.3), "growth: 1.70 (at most 1.8; target 1.3)", 0),
    ],
)
def test_a_figure_is_held_to_its_bound(figure, line, code, capsys) -> None:
    assert code == report([figure], as_json=False)
    assert f"{line}\n" == capsys.readouterr().out
