"""Ceilings of what clients may add to an entity: rules, subscriptions, the ids of sessions."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from proton import symbol
from proton.reactor import Filter
from proton.utils import LinkDetached

from . import raw
from .conftest import Served, serving, written
from .test_bounds import Asker
from .test_names import asked

pytestmark = pytest.mark.slow

TRUE: Final[dict[str, Any]] = {"true-filter": {}}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A broker whose topics may have three rules and three subscriptions."""
    topic = {"Name": "t", "Subscriptions": [{"Name": "a"}, {"Name": "b"}]}
    queue = {"Name": "s", "Properties": {"RequiresSession": True}}
    config = written(tmp_path_factory.mktemp("ceilings"), Queues=[queue], Topics=[topic])
    with serving("--config", config, "--limit", "rules=3", "--limit", "subscriptions=3") as served:
        yield served


def test_rules_of_a_topic_have_a_ceiling(served: Served) -> None:
    """Over AMQP and over HTTP, over all its subscriptions; one that goes makes room."""
    with raw.logged_in(served.port) as connection:
        first, second = (Asker(connection, f"t/subscriptions/{name}") for name in "ab")
        for number, asker in enumerate((first, first, second)):
            added = {"rule-name": f"r{number}", "rule-description": TRUE}
            assert 200 == asker.ask("add-rule", added)[0]
        another = {"rule-name": "another", "rule-description": TRUE}
        for asker in (first, second):
            status, said = asker.ask("add-rule", another)
            assert status == 403
            assert "has 3 rules" in said
        status, body = asked(served, "PUT", "t/subscriptions/a/rules/another", "Rule")
        assert status == 403
        assert b"has 3 rules" in body
        assert 200 == second.ask("remove-rule", {"rule-name": "r2"})[0]
        assert 201 == asked(served, "PUT", "t/subscriptions/a/rules/another", "Rule")[0]


def test_subscriptions_of_a_topic_have_a_ceiling(served: Served) -> None:
    assert 201 == asked(served, "PUT", "t/subscriptions/c", "Subscription")[0]
    status, body = asked(served, "PUT", "t/subscriptions/d", "Subscription")
    assert status == 403
    assert b"has 3 subscriptions" in body
    assert 200 == asked(served, "DELETE", "t/subscriptions/c")[0]
    assert 201 == asked(served, "PUT", "t/subscriptions/d", "Subscription")[0]


def test_ids_of_sessions_that_are_accepted_have_a_longest(served: Served) -> None:
    def accept(session_id: str) -> None:
        named = Filter({symbol("com.microsoft:session-filter"): session_id})
        connection.create_receiver("s", name=f"of {len(session_id)}", options=named)

    with raw.logged_in(served.port) as connection:
        accept("i" * 128)
        with pytest.raises(LinkDetached, match="at most 128 characters, not 129"):
            accept("i" * 129)
