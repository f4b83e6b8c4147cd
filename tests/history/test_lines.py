"""A line is one strict JSON object, or is refused with what is wrong with it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from busproof.errors import HistoryError
from busproof.history.lines import decode_line, encode_line, excerpt

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), VALUES, max_size=3))
def test_every_object_comes_back(value: dict[str, object]) -> None:
    assert value == decode_line(encode_line(value))


def test_a_line_is_ascii_and_has_one_line_end() -> None:
    assert encode_line({"a": "é\n\u2028"}) == b'{"a":"\\u00e9\\n\\u2028"}\n'


def test_utf_8_is_read() -> None:
    assert decode_line('{"a": "é"}\r\n'.encode()) == {"a": "é"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"hello\n", "the line must be JSON, and is not (Expecting value at character 1): 'hello'"),
        (b'{"a": 1', "Expecting ',' delimiter at character 8"),
        (b'{"a": 1} {"a": 2}', "Extra data at character 10"),
        (b"", "the line must be JSON"),
        (b"[1]", "the line must be a JSON object, and is [1]"),
        (b"null", "the line must be a JSON object, and is null"),
        (b'{"a": "\xff"}', "the line must be UTF-8, and byte 8 of it is not"),
        (b"\xff\xfe{\x00}\x00", "the line must be UTF-8, and byte 1 of it is not"),
        (b'\xef\xbb\xbf{"a": 1}', "the line must be JSON"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"a": 1, "a": 2}', 'an object has the field "a" twice'),
        (b'{"a": "\\ud800"}', "has half a surrogate pair"),
        (b'{"a": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
        (b'{"a": ' + b"[" * 200_000, "is nested too deeply to be read"),
    ],
)
def test_line_without_an_object_is_refused(line: bytes, said: str) -> None:
    with pytest.raises(HistoryError, match=re.escape(said)) as caught:
        decode_line(line)
    assert len(str(caught.value)) < 400


def test_a_surrogate_pair_is_one_character() -> None:
    assert decode_line(b'{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


def test_an_excerpt_is_short() -> None:
    assert 81 == len(excerpt("x" * 1000)) == len(excerpt(b"x" * 1000))
