"""The measures of work notice more work, and nothing else."""

import asyncio
import os

import pytest
from work import check, count_calls, measure_growth, measure_passes, process_passes, watch_loop


def loop_over(count: int) -> int:
    return sum(number * number for number in range(count))


def test_calls_are_counted_alike_each_time() -> None:
    """A generator is resumed once for each number, and once more."""
    few, many = count_calls(lambda: loop_over(1_000)), count_calls(lambda: loop_over(2_000))
    assert many - few == 1_000
    assert count_calls(lambda: loop_over(1_000)) == few


def test_growth_tells_linear_from_square() -> None:
    texts = ["a" * 2_000, "a" * 16_000]
    assert measure_growth(*(lambda text=each: text.count("b") for each in texts)) < 16
    lists = [list(range(400)), list(range(3_200))]
    assert measure_growth(*(lambda some=each: [n in some for n in some] for each in lists)) > 24


def test_passes_see_what_one_built_in_call_does() -> None:
    text = "a" * 3_000_000
    assert measure_passes(lambda: [text.count("b") for _ in range(100)]) > measure_passes(
        lambda: text.count("b")
    )


def test_too_much_work_is_measured_nine_times() -> None:
    found = iter([*[3.0] * 8, 1.5, 0.0])
    with pytest.raises(AssertionError, match=r"at most 1, but \[(3.0, ){8}1.5\]"):
        check(1, lambda: next(found))
    check(1, lambda: next(found))


def test_one_measurement_within_the_limit_is_enough() -> None:
    found = iter([3.0, 2.0, 1.0])
    check(1, lambda: next(found))
    assert list(found) == []


def test_callbacks_and_iterations_are_watched() -> None:
    """Three callbacks of one iteration are together more than the dearest of them."""

    def work() -> None:
        loop_over(50_000)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(3):
            loop.call_soon(work)
        await asyncio.sleep(0.01)

    with watch_loop() as watch:
        asyncio.run(run())
    assert "work" in watch.name
    assert 2 * watch.callback < watch.iteration < 4 * watch.callback


def test_work_of_a_process_is_bounded() -> None:
    with process_passes(os.getpid(), 1_000):
        loop_over(1_000)
    with (
        pytest.raises(AssertionError, match="at most 10 passes, but"),
        process_passes(os.getpid(), 10),
    ):
        loop_over(3_000_000)
