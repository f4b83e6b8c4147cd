"""What an implementation is held to, and what can be observed of it."""

from busproof.spec import load
from busproof.vocabulary.observability import observability_from
from busproof.vocabulary.profile import profile_for
from busproof.vocabulary.values import Clock


def test_observability_follows_the_declaration() -> None:
    """An outage shows a partition even where nobody tells which one took a message."""
    seen = {
        capability: observability_from(Clock.REAL, 7, [capability])
        for capability in ("witness", "outages", "sessions")
    }
    assert [(Clock.REAL, 7)] * 3 == [(each.clock, each.slack) for each in seen.values()]
    assert [True, True, False] == [each.partitions for each in seen.values()]
    assert [True, False, False] == [each.witness for each in seen.values()]


def test_a_silent_edition_may_be_read_as_carrying_rules_over() -> None:
    catalogue = load()
    silent = profile_for(catalogue, edition="fr-2016-09")
    carried = profile_for(
        catalogue, edition="fr-2016-09", readings={"SILENT-EDITION": "carried-over"}
    )
    assert "KEY-17" in silent.silent
    assert "KEY-17" not in carried.silent
