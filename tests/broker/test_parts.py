"""The broker's parts by themselves: choices, encoding, what is kept."""

import gc
from typing import Any

import pytest
from proton import Message as ProtonMessage
from proton import symbol

from busproof import vocabulary as v
from busproof.broker.amqp.encoding import string_of
from busproof.broker.amqp.messages import STANDS_FOR, Content, parse
from busproof.broker.amqp.writing import encode_message
from busproof.broker.bus import Bus
from busproof.broker.payloads import Contents, Name
from busproof.broker.policies import POLICIES
from busproof.broker.storage.payload_codec import pack, unpack
from busproof.spec import load


def bus(policy: str, seed: int = 0) -> Bus:
    made = Bus(v.profile_for(load(), partitions=4), policy, seed, "virtual")
    made.ask(v.CreateQueue(queue="q"), "c")
    return made


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_delivers_each_message_once(policy: str) -> None:
    some = bus(policy, seed=3)
    for each in range(12):
        assert some.ask(v.Send(queue="q", message=v.Message(body=str(each))), "c").refused is None
    found = []
    take = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    while (answer := some.wait_for(take, "c")) is not None:
        assert isinstance(answer.outcome, v.Received)
        found.append(answer.outcome.message.body)
    assert {str(each) for each in range(12)} == set(found)
    assert 12 == len(found)


def test_several_requests_take_effect_together_or_not_at_all() -> None:
    some = bus("round-robin")
    good = v.Send(queue="q", message=v.Message(body="good"))
    bad = v.Send(queue="q", message=v.Message(body="bad", session_id="s", partition_key="k"))
    answers = some.ask_all([good, bad, good], "c")
    assert [False, True] == [each.refused is not None for each in answers]
    assert 0 == len(some.namespace.entities["q"].messages)
    assert {("invalid-operation", None)} == {
        (each["refused"], each["partition"]) for each in some.decisions.since()
    }


@pytest.mark.parametrize("seed", range(8))
def test_a_key_stays_in_the_partition_for_which_it_was_refused(seed: int) -> None:
    """The refusal revealed where it leads, which was unknown before."""
    some = bus("hostile", seed=seed)
    keyed = [v.Send(queue="q", message=v.Message(body=str(n), partition_key="a")) for n in range(9)]
    some.ask(v.TakePartitionDown(queue="q", partition=0), "c")
    while some.ask_all([keyed[0]], "c").pop().refused is None:
        some = some.anew(some.namespace.profile)
        some.ask(v.CreateQueue(queue="q"), "c")
        some.ask(v.TakePartitionDown(queue="q", partition=0), "c")
    some.ask(v.BringPartitionUp(queue="q", partition=0), "c")
    answers = [some.ask_all([each], "c").pop() for each in keyed[1:]]
    assert {0} == {each.partition for each in answers if each.refused is None}


def names_alive() -> int:
    """The number of names of contents that something in this process still has."""
    gc.collect()
    return sum(isinstance(one, Name) for one in gc.get_objects())


def test_content_is_freed_with_the_last_message_that_has_it() -> None:
    some, kept = bus("round-robin"), Contents()
    take = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    of_other_tests = names_alive()
    for number in range(300):
        name = kept.new_name()
        some.ask(v.Send(queue="q", message=v.Message(body=name)), "c")
        kept.keep(name, Content(priority=number % 9))
        if len(some.namespace.entities["q"].messages) > 5:
            some.wait_for(take, "c")
    del name
    held = some.namespace.entities["q"].messages.values()
    assert all(kept.get(each.message.body) is not None for each in held)
    # The journal has the last step.
    assert names_alive() - of_other_tests <= 6


def test_another_bus_is_handed_texts_and_its_contents_are_found_by_them() -> None:
    lasting, passing = Contents(lasting=True), Contents()
    for contents, found in ((lasting, Content(priority=3)), (passing, None)):
        name = contents.new_name()
        contents.keep(name, Content(priority=3))
        assert contents.get(str(name)[:]) == contents.get("".join(name)) == found


def test_a_message_goes_out_as_it_came_in() -> None:
    """What Proton wrote, Proton reads again, and what the bus adds to it."""
    sent = ProtonMessage(
        body=b"x" * 300,
        inferred=True,
        id="id",
        group_id="s",
        subject="label",
        durable=True,
        priority=7,
        ttl=9,
        properties={"a": 1, "b": "x" * 300, "DeadLetterReason": "old"},
        annotations={
            symbol("x-opt-partition-key"): "s",
            symbol("own"): ["of", {"any": "kind"}],
            symbol("x-opt-sequence-number"): 3,
        },
    )
    parsed = parse(bytes(sent.encode()), "m1", 1_000)
    assert ("id", "s", "s", "label") == (
        parsed.message.message_id,
        parsed.message.session_id,
        parsed.message.partition_key,
        parsed.message.subject,
    )
    view = v.MessageView(body="m1", sequence_number=77, delivery_count=3)
    out = ProtonMessage()
    more = {"DeadLetterReason": string_of("new")}
    raw = encode_message(view, parsed.content, locked_until=5, life=parsed.content.life, more=more)
    assert [1, 1] == [raw.count(each) for each in (b"x-opt-sequence-number", b"DeadLetterReason")]
    out.decode(raw)
    assert b"x" * 300 == bytes(out.body)
    assert (True, 7, 9, 2) == (out.durable, out.priority, out.ttl, out.delivery_count)
    assert {"a": 1, "b": "x" * 300, "DeadLetterReason": "new"} == out.properties
    assert {
        "x-opt-partition-key": "s",
        "own": ["of", {"any": "kind"}],
        "x-opt-sequence-number": 77,
        "x-opt-enqueued-time": 1_000,
        "x-opt-locked-until": 5,
    } == {str(key): value for key, value in out.annotations.items()}


def test_header_without_durable_and_priority_is_delivered_without_them() -> None:
    """As the service does; a message without lock has an empty map of delivery annotations."""
    for sent, header in (
        (b"\x00\x53\x75\xa0\x01x", b"\x00\x53\x70\xc0\x0a\x05\x40\x40\x40\x40\x70\x00\x00\x00\x00"),
        (
            b"\x00\x53\x70\xc0\x04\x02\x42\x50\x04\x00\x53\x75\xa0\x01x",
            b"\x00\x53\x70\xc0\x0b\x05\x42\x50\x04\x40\x40\x70\x00\x00\x00\x00",
        ),
    ):
        content = parse(sent, "m1", 0).content
        assert content == unpack(pack(content))
        out = encode_message(v.MessageView(body="m1"), content)
        assert out.startswith(header + b"\x00\x53\x71\xc1\x01\x00")


@pytest.mark.parametrize("given", [{}, {"subject": "s", "group_id": "g"}], ids=["none", "some"])
def test_a_message_without_an_id_goes_out_with_one(given: dict[str, str]) -> None:
    """The model decides with the same one; its other properties are as they were."""
    parsed = parse(bytes(ProtonMessage(body="x", **given).encode()), "m1", 0)
    out = ProtonMessage()
    out.decode(encode_message(v.MessageView(body="m1"), parsed.content))
    assert 32 == len(out.id)
    assert out.id == parsed.message.message_id
    assert (given.get("subject"), given.get("group_id")) == (out.subject, out.group_id)


def test_a_message_stands_for_as_many_bytes_as_it_says_and_has_no_fewer() -> None:
    for said, size in ((500_000, 500_000), (1, 12)):
        wire: Any = ProtonMessage(b"payload", inferred=True)
        wire.annotations = {symbol(STANDS_FOR): said}
        assert parse(wire.encode(), "m", 0).message.size == size
    for wrong in (-1, "many", True):
        wire.annotations = {symbol(STANDS_FOR): wrong}
        with pytest.raises(ValueError, match=STANDS_FOR):
            parse(wire.encode(), "m", 0)
