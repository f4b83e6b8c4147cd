"""Messages with consecutive numbers distinguish conditions, wherever they begin."""

from itertools import product

import pytest

from busproof.exploration.strategies.filters import MARKED, mark_message
from busproof.vocabulary.messages import Message

HEADERS = ("correlation_id", "to", "reply_to", "subject", "reply_to_session_id", "content_type")


def some(start: int, number: int = MARKED) -> list[Message]:
    """Messages of so many numbers."""
    return [mark_message(Message(body="m"), start + each) for each in range(number)]


@pytest.mark.parametrize("start", [0, 1, 7, 500, 3_959])
def test_all_values_of_two_properties_occur(start: int) -> None:
    """Absent, 1 or 2, each with each: whatever is made of AND, OR and NOT comes out."""
    found = {(m.properties.get("a"), m.properties.get("b")) for m in some(start)}
    assert set(product((None, 1, 2), repeat=2)) == found


@pytest.mark.parametrize("start", [0, 1, 7, 500, 3_959])
def test_each_color_and_each_size_is_there(start: int) -> None:
    """Among them such as LIKE and ESCAPE are about, and none."""
    there = some(start)
    colors = {None, "red", "RED", "blue", "a_c", "abc", "a%", "ab"}
    assert colors == {m.properties.get("color") for m in there}
    assert {None, 1, 2, 2.5, 3, 4} == {m.properties.get("size") for m in there}


def test_headers_come_and_go_each_by_itself() -> None:
    """Each in both spellings and absent, and no two of them always alike."""
    there = some(0, 11)
    columns = {header: tuple(getattr(m, header) for m in there) for header in HEADERS}
    assert all(set(column) == {"x", "X", None} for column in columns.values())
    assert len(set(columns.values())) == len(HEADERS)
