"""Requests and answers of the process protocol survive the round trip; wrong answers are named."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import structure
from busproof.history.lines import decode_line
from busproof.history.protocol import (
    Answer,
    ByeAnswer,
    CommandAnswer,
    CommandRequest,
    Declared,
    HelloAnswer,
    HelloRequest,
    Namespace,
    Request,
    StartedAnswer,
    StartRequest,
    decode_answer,
    decode_request,
    encode,
)

HELLO = '"protocol":1,"implementation":{"name":"bus"},"capabilities":'


@given(st.from_type(Request))
def test_every_request_comes_back(request: Request) -> None:
    assert request == structure(decode_line(encode(request)), type(request))


@given(st.from_type(Answer))
def test_every_answer_comes_back(answer: Answer) -> None:
    assert answer == structure(decode_line(encode(answer)), type(answer))


@given(st.from_type(StartRequest | CommandRequest))
def test_a_request_is_reported_by_its_field(request: Request) -> None:
    assert request == decode_request(encode(request))


def test_requests_look_as_the_protocol_says() -> None:
    start = Namespace.of(v.Profile(edition="de-2021-04", readings={"A": "b"}))
    expected = [
        b'{"id":1,"hello":{"protocol":1}}\n',
        b'{"id":2,"start":{"edition":"de-2021-04","tier":"standard","partitions":16}}\n',
        b'{"id":3,"connection":"c1","command":{"type":"Peek","queue":"q"}}\n',
    ]
    peek = CommandRequest(id=3, connection="c1", command=v.Peek(queue="q"))
    requests = (HelloRequest(id=1), StartRequest(id=2, start=start), peek)
    assert expected == [encode(request) for request in requests]


def test_start_of_a_partitioned_namespace_has_its_partitions_and_units() -> None:
    """In no other namespace has it the two fields, which older adapters do not know."""
    profile = v.Profile(
        edition="en-2026-02",
        tier=v.Tier.PREMIUM,
        partitions=4,
        namespace_partitions=4,
        messaging_units=8,
    )
    line = encode(StartRequest(id=2, start=Namespace.of(profile)))
    assert line == (
        b'{"id":2,"start":{"edition":"en-2026-02","tier":"premium","partitions":4,'
        b'"namespace_partitions":4,"messaging_units":8}}\n'
    )


def test_answers_may_leave_out_what_has_a_default() -> None:
    line = b'{"id": 3, "outcome": {"type": "Done"}}'
    assert CommandAnswer(id=3, outcome=v.Done()) == decode_answer(line, CommandAnswer, 3)


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        ("{}", ByeAnswer, "id is missing, and must be 7 as in the request"),
        ('{"id":8,"bye":{}}', ByeAnswer, "id is 8, and must be 7 as in the request"),
        ('{"id":"7","bye":{}}', ByeAnswer, 'id is "7", and must be 7 as in the request'),
        ('{"id":7.0,"bye":{}}', ByeAnswer, "id is 7.0, and must be 7 as in the request"),
        ('{"id":7,"bye":3}', ByeAnswer, "bye is 3, and must be an object"),
        ('{"id":7,"bye":{"a":1}}', ByeAnswer, 'bye has the unknown field "a"'),
        ('{"id":7}', StartedAnswer, "started is missing, and StartedAnswer needs it"),
        ('{"id":7,"bye":{}}', StartedAnswer, 'the answer has the unknown field "bye", and must'),
        ('{"id":7,"hello":{}}', HelloAnswer, "hello.protocol is missing, and must be 1"),
        ('{"id":7,"hello":[]}', HelloAnswer, "hello is [], and must be an object"),
        (
            '{"id":7,"hello":{"protocol":2,"news":1}}',
            HelloAnswer,
            "hello.protocol is 2, and this busproof reads up to 1: upgrade busproof",
        ),
        (
            f'{{"id":7,"hello":{{{HELLO}["peeks"]}}}}',
            HelloAnswer,
            'hello.capabilities[0] is "peeks", and must be one of "peek", ',
        ),
        (
            f'{{"id":7,"hello":{{{HELLO}[],"slack":-1}}}}',
            HelloAnswer,
            "hello.slack is -1, and must be >= 0",
        ),
        (
            f'{{"id":7,"hello":{{{HELLO}[],"clock":"sundial"}}}}',
            HelloAnswer,
            'hello.clock is "sundial", and must be one of "virtual", "real"',
        ),
    ],
)
def test_a_wrong_answer_is_refused(line: str, kind: type[Answer], said: str) -> None:
    with pytest.raises(HistoryError, match=re.escape(said)):
        decode_answer(line.encode(), kind, 7)


def test_a_declaration_is_read() -> None:
    line = f'{{"id":7,"hello":{{{HELLO}["peek","witness"]}}}}'.encode()
    declared = decode_answer(line, HelloAnswer, 7).hello
    assert isinstance(declared, Declared)
    assert declared.capabilities == (v.Capability.PEEK, v.Capability.WITNESS)


def test_line_without_a_request_is_refused() -> None:
    said = 'the request must have one of "hello", "start", "command", "bye"'
    with pytest.raises(HistoryError, match=said):
        decode_request(b'{"id": 1}')
