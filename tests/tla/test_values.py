"""What TLC prints is read as it was meant."""

import pytest
from immutables import Map

from busproof.errors import TlcError
from busproof.tla.values import ModelValue, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TRUE", True),
        ("-3", -3),
        ('"a\\"b\\\\c~"', 'a"b\\c~'),
        ("<<>>", ()),
        ("<< 1, <<2>> >>", (1, (2,))),
        ("{}", frozenset()),
        ('{"a", {1}}', frozenset(("a", frozenset((1,))))),
        ("2..4", frozenset((2, 3, 4))),
        ("[a |-> 1, b |-> [c |-> {}]]", Map(a=1, b=Map(c=frozenset()))),
        ("(1 :> TRUE @@ 2 :> FALSE)", Map({1: True, 2: False})),
        ("c1", ModelValue("c1")),
    ],
)
def test_a_value_is_read(text: str, value: object) -> None:
    assert parse(text) == value


def test_records_with_equal_fields_are_equal_and_hash_alike() -> None:
    one, two = parse("[a |-> 1, b |-> 2]"), parse("[b |-> 2, a |-> 1]")
    assert one == two
    assert hash(one) == hash(two)


@pytest.mark.parametrize("text", ["", "<<1", "[a -> 1]", "{1 2}", "1 2", "(1 :> 2", "?", '"open'])
def test_text_that_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(TlcError, match="no TLA\\+ value"):
        parse(text)
