"""No two implementations of a comparison are called the same."""

import attrs
import pytest

from busproof.reports.columns import labels


@pytest.fixture
def varied(conformance):
    """The run, of another subject."""

    def changed(oracle: str = "strict", **fields):
        return attrs.evolve(
            conformance, oracle=oracle, subject=attrs.evolve(conformance.subject, **fields)
        )

    return changed


def test_a_name_alone_is_enough_where_it_is_the_only_one(varied) -> None:
    assert labels([varied(), varied(name="Other", version="")]) == ("Acme Bus 2.1", "Other")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"edition": "fr-2016-09"}, ("de-2021-04", "fr-2016-09")),
        ({"tier": "premium"}, ("standard", "premium")),
        ({"oracle": "client"}, ("strict oracle", "client oracle")),
        ({"partitions": 4}, ("16 partitions", "4 partitions")),
        ({"adapter": "amqp"}, ("acme.adapter:make", "amqp")),
        (
            {"readings": {"KEY-ORDER": "always"}},
            ("KEY-ORDER=sessions-only", "KEY-ORDER=always"),
        ),
    ],
)
def test_names_that_are_alike_show_what_differs(varied, fields, expected) -> None:
    one, other = expected
    assert labels([varied(), varied(**fields)]) == (
        f"Acme Bus 2.1, {one}",
        f"Acme Bus 2.1, {other}",
    )


def test_runs_that_differ_in_nothing_are_numbered(varied) -> None:
    assert labels([varied(), varied()]) == ("Acme Bus 2.1, run 1", "Acme Bus 2.1, run 2")


def test_only_those_are_numbered_that_are_alike(varied) -> None:
    names = labels([varied(), varied(), varied(tier="premium"), varied(name="Other")])
    assert names == (
        "Acme Bus 2.1, standard, run 1",
        "Acme Bus 2.1, standard, run 2",
        "Acme Bus 2.1, premium",
        "Other 2.1",
    )


def test_a_numbered_name_never_meets_one_that_is_called_so(varied) -> None:
    plain = varied(name="Bus", version="")
    names = labels([plain, plain, varied(name="Bus, run 1", version="")])
    assert len(set(names)) == 3
