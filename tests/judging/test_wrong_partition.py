"""KEY-02, KEY-14: an answer that is right but for its partition says which one would be."""

import attrs
import pytest

from busproof import vocabulary as v
from busproof.judging.judge import Judge
from busproof.judging.violation import Violation, compare_answers
from busproof.spec import load

CREATE = v.Event(command=v.CreateQueue(queue="q"), outcome=v.Done(), returned=0)
SEEN = v.Observability(partitions=True)


def send(partition: int, key: str | None) -> v.Event:
    return v.Event(
        command=v.Send(queue="q", message=v.Message(body="m", partition_key=key)),
        outcome=v.Done(),
        returned=0,
        witness=v.Witness(partition=partition),
    )


@pytest.mark.parametrize(
    ("key", "partitions", "instead"),
    [
        ("a", (3, 0), "in partition 3"),
        (None, (1,) * 200, "in partition 0 or 2 or 3"),
    ],
)
def test_another_partition_is_named(key, partitions, instead) -> None:
    profile = v.profile_for(load(), partitions=4)
    judge = Judge(profile, SEEN)
    events = [CREATE, *(send(place, key) for place in partitions)]
    for event in events:
        violation = judge.saw(event)
        if violation is not None:
            break
    place = partitions[violation.index - 1]
    assert compare_answers(violation, event) == (
        f"Done, in partition {place}",
        (f"Done, {instead}",),
    )


def test_an_answer_that_nobody_saw_the_partition_of_is_as_it_is() -> None:
    """The words are those of the answers."""
    violation = compare_answers(
        attrs.evolve(_refusal(), places=(1,)), attrs.evolve(CREATE, witness=None)
    )
    assert violation == ("Done", ("Refused: already-exists",))


def _refusal() -> Violation:
    return Violation(
        index=0, rules=("MGMT-01",), allowed=(v.Refused(error=v.Error.ALREADY_EXISTS),)
    )
