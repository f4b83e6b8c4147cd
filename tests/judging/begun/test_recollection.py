"""What was there before is recalled when an answer needs it, and is judged from then on.

Each line of `recollection.jsonl` has requests with their answers, some with another client's name,
and the rule that they break whatever was before, if they break any.
"""

from typing import Any

import pytest
from rows import command_of, rows_of

from busproof import vocabulary as v
from busproof.history.codec import structure
from busproof.history.records import Began
from busproof.judging.begun.judge import judged_begun
from busproof.spec import load

ROWS = rows_of(__file__, "recollection")


@pytest.mark.parametrize("row", ROWS, ids=[row["about"] for row in ROWS])
def test_only_what_no_past_explains_is_charged_to_its_rule(row: dict[str, Any]) -> None:
    events = []
    for command, outcome, *client in row["exchanges"]:
        name = client[0] if client else "one"
        told = {"client": name, "connection": name, "command": command, "outcome": outcome}
        events.append(structure(told, v.Event))
    settings = tuple(map(command_of, row["settings"]))
    profile = v.profile_for(load(), edition="cs-2020-12")
    judged, _ = judged_begun(events, profile, v.Observability(), Began(settings=settings))
    if row["breaks"] is None:
        assert judged.violation is None
    else:
        assert row["breaks"] in judged.violation.rules
