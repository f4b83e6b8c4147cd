"""What an audit says of a run, in a process of its own, that comes to no end."""

import os

import pytest

from busproof.cli.mutation import audit
from busproof.cli.mutation.audit import Job, audit_apart
from busproof.errors import AdapterError

pytestmark = pytest.mark.slow

JOB = Job(fault="mismatch-accepted")


def raises(*_: object) -> None:
    """As a judge with a mistake in it does."""
    raise KeyError(1)


def dies(*_: object) -> None:
    """As a process does that the system ends."""
    os._exit(9)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (raises, "the run of mismatch-accepted broke off: KeyError: 1"),
        (dies, "the process that runs mismatch-accepted was ended by the system"),
    ],
)
def test_audit_error_names_the_fault_and_the_cause(monkeypatch, tmp_path, work, said) -> None:
    monkeypatch.setattr(audit, "_audit", work)
    with pytest.raises(AdapterError, match=said):
        audit_apart(JOB, tmp_path)
