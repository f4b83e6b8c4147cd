"""Strategies for the whole vocabulary, for `st.from_type`, and lines to spoil."""

from enum import StrEnum
from types import NoneType
from typing import get_args, get_origin, get_type_hints

import attrs
import pytest
from hypothesis import strategies as st
from immutables import Map

from busproof import vocabulary as v
from busproof.history.codec import PROTOCOL
from busproof.history.converters import INTEGERS
from busproof.history.protocol import ANSWERS, REQUESTS
from busproof.history.records import Record


def _field(field, kind) -> st.SearchStrategy:
    if field.name == "protocol":
        return st.just(PROTOCOL)
    validator = getattr(field.validator, "validator", field.validator)  # within `optional`
    bound = getattr(validator, "bound", None)
    if bound is None:
        return _of(kind)
    numbers = st.integers(bound + (validator.compare_op == ">"), INTEGERS[1])
    return st.one_of(numbers, st.none()) if NoneType in get_args(kind) else numbers


def _of(kind) -> st.SearchStrategy:
    arguments, origin = get_args(kind), get_origin(kind)
    if origin is Map:
        return st.dictionaries(st.text(), st.text(), max_size=3).map(Map)
    if origin in (tuple, frozenset):
        return st.lists(_of(arguments[0]), max_size=3).map(origin)
    if arguments:
        return st.one_of(_of(each) for each in arguments)
    if kind in (int, NoneType):
        return st.integers(*INTEGERS) if kind is int else st.none()
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return st.sampled_from(kind)
    return st.from_type(kind)


def _built(kind) -> st.SearchStrategy:
    types = get_type_hints(kind)
    fields = {field.name: _field(field, types[field.name]) for field in attrs.fields(kind)}
    return st.builds(kind, **fields)


def _classes(kind, seen: set) -> None:
    for each in get_args(kind) or (kind,):
        if isinstance(each, type) and attrs.has(each) and each not in seen:
            seen.add(each)
            for hint in get_type_hints(each).values():
                _classes(hint, seen)
        elif get_args(each):
            _classes(each, seen)


def _register() -> None:
    seen: set = set()
    for kind in (v.Command, v.Outcome, Record, *REQUESTS.values(), *ANSWERS.values()):
        _classes(kind, seen)
    for kind in seen:
        st.register_type_strategy(kind, _built)


_register()


@pytest.fixture
def send() -> v.Event:
    return v.Event(
        called=5,
        returned=9,
        command=v.Send(queue="orders", message=v.Message(body="b1", session_id="s")),
        outcome=v.Done(),
        witness=v.Witness(partition=3),
    )


@pytest.fixture
def receive() -> v.Event:
    view = v.MessageView(body="b1", session_id="s", sequence_number=7, lock_token="t")
    return v.Event(command=v.Receive(queue="orders"), outcome=v.Received(message=view))


@pytest.fixture
def profile() -> v.Profile:
    return v.Profile(edition="de-2021-04", partitions=3, readings={"AMB-1": "a"})
