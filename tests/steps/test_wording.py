"""The features' wording of messages is read exactly, or refused."""

import pytest

from busproof.steps.wording import Properties, changes, properties, seconds
from busproof.vocabulary.messages import Message, MessageView

REFUSED_AND_NOT = {"requires_session": False, "max_delivery_count": 3}
"""One change that is never permitted, and one that is."""


class Bodies:
    """Whatever numbers bodies."""

    def __init__(self) -> None:
        self.count = 0
        self.keys: dict[str, str] = {}

    def message(self) -> Message:
        self.count += 1
        return Message(body=f"m{self.count}")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("without key", {}),
        ('with SessionId "a"', {"SessionId": "a"}),
        ('SessionId "a"', {"SessionId": "a"}),
        ('with PartitionKey ""', {"PartitionKey": ""}),
        ('with SessionId "a" and PartitionKey "b"', {"SessionId": "a", "PartitionKey": "b"}),
        ("with MessageId each its own", {"MessageId": None}),
        (
            'with SessionId "order 1" and PartitionKey "x" and MessageId each its own',
            {"SessionId": "order 1", "PartitionKey": "x", "MessageId": None},
        ),
    ],
)
def test_a_wording_names_what_messages_carry(text, values):
    """In the order of the words."""
    assert values == properties(text).values


@pytest.mark.parametrize(
    "text",
    [
        "",
        "with",
        "with key",
        "with a key",
        'with sessionid "a"',
        "with SessionId a",
        'with SessionId "a',
        'with SessionId "a" or PartitionKey "b"',
        'with SessionId "a", PartitionKey "b"',
        'with SessionId "a" and',
        "with SessionId each their own",
        'with Colour "a"',
        "Without key",
        'without key and SessionId "a"',
    ],
)
def test_any_other_wording_is_refused(text):
    """A typing error in a feature is no other message."""
    with pytest.raises(ValueError, match="is not a wording of message properties"):
        properties(text)


def test_a_property_that_is_named_twice_is_refused():
    """Only one of them could be sent."""
    with pytest.raises(ValueError, match="names a property twice"):
        properties('with SessionId "a" and SessionId "b"')


def test_each_message_has_its_own_of_what_each_has_its_own():
    """And the same of all else."""
    bus = Bodies()
    kind = properties('with SessionId "a" and MessageId each its own')
    messages = [kind.message(bus) for _ in range(2)]
    assert [("m1", "a"), ("m2", "a")] == [(each.body, each.session_id) for each in messages]
    assert 2 == len({each.message_id for each in messages})
    assert {None} == {each.partition_key for each in messages}


def test_a_received_message_fits_where_it_carries_what_was_worded():
    """Properties that were not worded do not count."""
    view = MessageView(body="m1", session_id="a", message_id="x")
    assert properties('with SessionId "a"').fit(view)
    assert properties("without key").fit(view)
    assert not properties('with SessionId "b"').fit(view)
    assert not properties('with PartitionKey "a"').fit(view)


def test_a_property_of_any_value_fits_where_it_is_there():
    """Whether it is a property of messages or the application's own."""
    view = MessageView(body="m1", message_id="x", properties={"color": "red"})
    assert properties("MessageId of any value and property color of any value").fit(view)
    assert not properties("property size of any value").fit(view)
    assert not properties("Label of any value").fit(view)


def test_a_property_of_any_value_cannot_be_sent():
    """A message has one value."""
    with pytest.raises(ValueError, match="a value of MessageId"):
        properties("with MessageId of any value").message(Bodies())


@pytest.mark.parametrize(
    ("text", "body", "fits"),
    [
        ('the body "a  b"', "a  b", True),
        ('the body "a  b"', "a b", False),
        ("a body of 3 characters", "m1x", True),
        ("a body of 3 characters", "m1", False),
        ("a body of several lines", "a\tb\n\nc\r\nd\n", True),
        ("a body of several lines", "a\tb\n\nc\nd\n", False),
    ],
)
def test_a_received_message_fits_where_its_body_does(text, body, fits):
    """Its length counts where only that is worded."""
    assert fits is properties(text).fit(MessageView(body=body))


def test_a_key_that_was_found_is_sent_by_its_name():
    """A scenario cannot know which key is in the partition that it is about."""
    bus = Bodies()
    bus.keys["b"] = "key-7"
    sent = [properties(f'with PartitionKey "{name}"').message(bus) for name in ("a", "b")]
    assert ["a", "key-7"] == [message.partition_key for message in sent]


def test_a_session_is_reported_where_one_is_worded():
    """The steps need it to receive."""
    assert "a" == properties('with SessionId "a"').session_id
    assert Properties({}).session_id is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with a body of 3 KB", Message(body="m1", size=3072)),
        ("with a body of 1 MB", Message(body="m1", size=1048576, stands_in=True)),
        ("with a body of 5 characters", Message(body="m1xxx")),
        ('with the body "a b"', Message(body="a b")),
        (
            'with PartitionKey "a" and 2 properties of 3 bytes each',
            Message(body="m1", partition_key="a", properties={"p0": "xxx", "p1": "xxx"}),
        ),
    ],
)
def test_a_body_and_many_properties_can_be_worded(text, expected):
    """As any other property."""
    assert expected == properties(text).message(Bodies())


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("have locks of 5 seconds", {"lock_duration": 5_000_000}),
        ("have 2 GB", {"max_size": 2}),
        ("require no sessions and to have 3 deliveries", REFUSED_AND_NOT),
        ('forward to "end"', {"forward_to": "end"}),
        ("forward no more", {"forward_to": ""}),
    ],
)
def test_what_an_entity_is_updated_to_is_read(text, changed):
    """Several changes of one request are joined."""
    assert changed == changes(text)


def test_any_other_change_is_refused():
    """A typing error changes nothing else."""
    with pytest.raises(ValueError, match="is not a change of an entity"):
        changes("be regulated")


def test_seconds_are_counted_in_microseconds():
    """As everywhere in the vocabulary."""
    assert 5_000_000 == seconds(5)
