"""LIFE-01: application properties keep their types."""

import pytest
from observing import Observer, received

from busproof.vocabulary.commands import Receive

RECEIVE = Receive(queue="q")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [(1, 1.0), (2**60, 2.0**60), (0, -0.0), (1, True), (True, 1), (True, 1.0), (1.0, True)],
)
def test_equal_value_of_another_type_is_a_change(
    observer: Observer, sent: object, shown: object
) -> None:
    observer.queue()
    observer.send(properties={"n": sent})
    accepted = observer.saw(RECEIVE, received("m1", properties={"n": shown}))
    assert not accepted.possible
    assert accepted.rules[0] == "LIFE-01"


@pytest.mark.parametrize("sent", [1, 1.0, 2**60, 2.5, True, "1", ""])
def test_value_comes_back_with_its_type(observer: Observer, sent: object) -> None:
    observer.queue()
    observer.send(properties={"n": sent})
    assert observer.saw(RECEIVE, received("m1", properties={"n": sent})).possible


def test_language_with_one_type_of_numbers_may_write_a_fraction_of_zero_as_a_whole_number(
    observer: Observer,
) -> None:
    observer.queue()
    observer.send(properties={"n": 1.0})
    assert observer.saw(RECEIVE, received("m1", properties={"n": 1})).possible
