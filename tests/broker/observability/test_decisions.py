"""Decisions that are kept: what they cost when there are many."""

import pytest
from work import check, measure_growth

from busproof import vocabulary as v
from busproof.broker.observability.decisions import Decisions

SEND = v.Send(queue="q", message=v.Message(body="m"))
REFUSED = v.Refused(error=v.Error.QUOTA_EXCEEDED)


def kept(count: int) -> Decisions:
    decisions = Decisions()
    for _ in range(count):
        decisions.keep(SEND, "c1", 0, (), None, 3)
    return decisions


def test_refusing_costs_the_same_however_many_decisions_are_kept() -> None:
    def refuse(decisions: Decisions) -> None:
        for _ in range(200):
            decisions.refuse(decisions.count - 1, REFUSED)

    few, many = kept(100), kept(10_000)
    check(5, lambda: measure_growth(lambda: refuse(few), lambda: refuse(many)))


def test_only_decisions_after_the_number_are_refused() -> None:
    decisions = kept(4)
    decisions.refuse(2, REFUSED)
    partitions = [each["partition"] for each in decisions.since()]
    assert partitions == [3, 3, None, None]


@pytest.mark.parametrize(
    ("after", "first", "last"),
    [(0, 501, 1_500), (1_499, 1_500, 2_499), (10_400, 10_401, 10_500), (2**70, None, None)],
)
def test_answer_has_the_first_decisions_after_the_number(
    after: int, first: int | None, last: int | None
) -> None:
    decisions = kept(10_500)
    found = [each["number"] for each in decisions.since(after)]
    assert [first, last] == ([found[0], found[-1]] if found else [None, None])
