"""What a journal has forgotten cannot be undone, and what came later can."""

from busproof.model.journal import Journal


def test_changes_before_a_mark_are_forgotten() -> None:
    """The state at the mark is the first one that an undo can restore."""
    journal = Journal()
    table: dict[str, int] = {}
    journal.put(table, "a", 1)
    mark = journal.mark()
    journal.put(table, "a", 2)

    journal.forget_before(mark)
    journal.undo()

    assert table == {"a": 1}
