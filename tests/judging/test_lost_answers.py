"""Histories whose answers were lost after the client had them: it settles with locks nobody saw."""

import pytest
import recorded_cases as cases

from busproof.history.records import Oracle
from busproof.judging.judge import observability_for
from busproof.judging.linearization.overlap import judged
from busproof.vocabulary.observability import observability_from

pytestmark = pytest.mark.usefixtures("impatient")

ONE_CLIENT = range(0, 60, 3)
HEADER = cases.header()
SEEN = observability_from(HEADER.clock, HEADER.slack, HEADER.capabilities)


@pytest.mark.slow
@pytest.mark.parametrize("oracle", list(Oracle))
def test_conforming_bus_is_not_accused_of_what_a_client_did_with_an_answer_that_was_lost(
    oracle: Oracle,
) -> None:
    """Locks of such messages are settled, and sessions used whose acceptance was not recorded."""
    for case in cases.lossy(ONE_CLIENT):
        found = judged(case.events, HEADER.profile, observability_for(SEEN, oracle))
        assert found.violation is None, (case.name, found.violation)
