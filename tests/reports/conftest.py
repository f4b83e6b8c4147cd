"""A run with every verdict in it, and the catalogue that it is about."""

import attrs
import pytest

from busproof import spec
from busproof import vocabulary as v
from busproof.history.conformance import (
    Conformance,
    Counterexample,
    ExitCode,
    RuleVerdict,
    Subject,
    Verdict,
)

NO_TRANSACTIONS = "capability: transactions"


@pytest.fixture(scope="session")
def catalogue() -> spec.Catalogue:
    return spec.load()


@pytest.fixture
def events() -> tuple[v.Event, ...]:
    view = v.MessageView(
        body="m1",
        session_id="a",
        sequence_number=(3 << 48) + 5,
        lock_token="t1",
    )
    differing = v.Message(body="m2", session_id="a", partition_key="b")
    return (
        v.Event(command=v.CreateQueue(queue="q"), outcome=v.Done()),
        v.Event(
            command=v.Send(queue="q", message=v.Message(body="m1", session_id="a")),
            outcome=v.Done(),
            witness=v.Witness(partition=3),
        ),
        v.Event(command=v.Receive(queue="q"), outcome=v.Received(message=view)),
        v.Event(
            command=v.Send(queue="q", message=differing),
            outcome=v.Refused(error=v.Error.OTHER, detail="odd"),
        ),
    )


@pytest.fixture
def subject() -> Subject:
    return Subject(
        name="Acme Bus",
        version="2.1",
        language="Go",
        adapter="acme.adapter:make",
        capabilities=("duplicate-detection", "peek", "peek-lock", "sessions"),
        clock="real",
        slack=2_000_000,
        edition="de-2021-04",
        tier="standard",
        partitions=16,
        readings={"KEY-ORDER": "sessions-only"},
    )


@pytest.fixture
def conformance(catalogue, subject, events) -> Conformance:
    """One rule violated, not shown, inconclusive and errored each; transactions not tried."""
    example = Counterexample(
        scenario="Keys that differ",
        events=events,
        seen="Refused: other",
        allowed=("Refused: invalid-operation",),
    )
    special = {
        "KEY-08": {
            "verdict": Verdict.VIOLATED,
            "cause": "1 counterexample",
            "counterexample": example,
        },
        "LIFE-07": {"verdict": Verdict.NOT_SHOWN, "cause": "the situation never arose"},
        "LIFE-08": {"verdict": Verdict.INCONCLUSIVE, "cause": "more than 512 states"},
        "LIFE-09": {"verdict": Verdict.ERRORED, "cause": "the adapter ended"},
    }
    not_tried = {"verdict": Verdict.NOT_APPLICABLE, "cause": NO_TRANSACTIONS, "oracle": ""}
    shown = {"verdict": Verdict.SHOWN, "events": 7, "scenarios": ("A scenario",)}
    rules = tuple(
        RuleVerdict(
            id=rule.id,
            title=rule.title,
            **{"oracle": "strict"}
            | (not_tried if rule.family == "TXN" else special.get(rule.id, shown)),
        )
        for rule in catalogue.rules
        if rule.shown_by != "never"
    )
    return Conformance(
        catalogue="1.4.0",
        subject=subject,
        oracle="strict",
        rules=rules,
        scenarios={"passed": 60, "failed": 1},
        events=1234,
        exit_code=ExitCode.VIOLATION,
        problems=("the history's last line is cut off",),
    )


@pytest.fixture
def with_rule(conformance):
    """The run with some fields of one rule's verdict changed."""

    def changed(rule: str, **fields) -> Conformance:
        rules = tuple(
            attrs.evolve(each, **fields) if each.id == rule else each for each in conformance.rules
        )
        return attrs.evolve(conformance, rules=rules)

    return changed
