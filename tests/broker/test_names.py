"""Names that entities and rules may have, and lists that stay readable whatever is in them."""

import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest
from work import PATIENCE

from busproof.broker.admin import atom
from busproof.broker.admin.rule_descriptions import rule_element
from busproof.broker.names import objection_to
from busproof.vocabulary.subscription_rules import CorrelationFilter, SqlFilter, SubscriptionRule

from . import raw
from .conftest import Served, anew
from .test_bounds import Asker

SPACE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
ENTRY = (
    '<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
    '<{kind}Description xmlns="{space}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">'
    "{inside}</{kind}Description></content></entry>"
)
ENTRIES, ID = "{http://www.w3.org/2005/Atom}entry", "{http://www.w3.org/2005/Atom}id"
WRONG = (
    *(
        *("", "a//b", "a/", "../x", "a/./b", "$cbs", "q/$management", "a\x01b", "a\nb", "\x00"),
        "\ud800",
    ),
    *("a\u2028b", " a", "a ", "a?b", "a#b", "a*b", "a\\b", "a@b"),
)
RIGHT = ("a", "A.b-c_d", "a/b", "é", "名", "a b", "9", "x" * 260, "..a")


def asked(
    served: Served, method: str, path: str, kind: str = "Queue", inside: str = ""
) -> tuple[int, bytes]:
    """The status and the body that answer a request of an administrator."""
    entry = ENTRY.format(kind=kind, space=SPACE, inside=inside)
    request = urllib.request.Request(
        f"{served.admin}/{path}",
        data=entry.encode() if method == "PUT" else None,
        method=method,
        headers={
            "Authorization": raw.token(
                "http://127.0.0.1/", raw.LOGIN["user"], raw.LOGIN["password"]
            )
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.parametrize("name", WRONG)
def test_name_that_would_harm_others_is_refused(name: str) -> None:
    said = objection_to(name)
    assert said is not None
    assert said.isprintable()


@pytest.mark.parametrize("name", RIGHT)
def test_usual_name_is_allowed(name: str) -> None:
    assert objection_to(name) is None


def test_default_rule_has_its_name() -> None:
    assert objection_to("$Default", dollar=True) is None
    assert objection_to("$Default") is not None


@pytest.mark.slow
def test_entities_have_names_that_everybody_can_read(punctual: Served) -> None:
    served = anew(punctual)
    for name in ("", "..%2Fx", "a%01b", "%24cbs", "q%2F%24management", "a%2F%2Fb", "a%0Ab"):
        status, body = asked(served, "PUT", name)
        assert status == 400, name
        ET.fromstring(body)
    for kind in ("queues", "topics"):
        status, body = asked(served, "GET", f"$Resources/{kind}")
        assert status == 200
        ET.fromstring(body)
    for path in ("partitions/down", "entities/restore"):
        for name in ("a\x01", "\ud800", "a//b"):
            answer = served.ask(f"/busproof/{path}", entity=name, planned=True, partition=0)
            assert answer[0] == 400, name


@pytest.mark.slow
def test_letters_of_names_do_not_differ_in_case(punctual: Served) -> None:
    """An entity that differs in case alone is the same one, so it exists already."""
    served = anew(punctual)
    for name, kind in (
        ("PLAIN", "Queue"),
        ("Topic", "Topic"),
        ("TOPIC/Subscriptions/ALL", "Subscription"),
    ):
        status, body = asked(served, "PUT", name, kind)
        assert status == 409, body
    assert 201 == asked(served, "PUT", "TOPIC/Subscriptions/New", "Subscription")[0]
    status, body = asked(served, "GET", "topic/subscriptions")
    assert b">New<" in body
    assert 200 == asked(served, "DELETE", "topic/subscriptions/new")[0]


@pytest.mark.slow
def test_address_of_a_subscription_has_nothing_else(punctual: Served) -> None:
    """A queue or topic there would be in no list of its kind; a subscription needs its topic."""
    served = anew(punctual)
    for kind in ("Queue", "Topic"):
        for path in ("topic/Subscriptions/ghost", "none/subscriptions/ghost"):
            assert 400 == asked(served, "PUT", path, kind)[0]
    assert 400 == asked(served, "PUT", "ghost", "Subscription")[0]
    assert b"ghost" not in asked(served, "GET", "$Resources/queues")[1]


@pytest.mark.slow
def test_answers_have_addresses_that_lead_to_what_they_describe(punctual: Served) -> None:
    """Clients of JavaScript and .NET read the names of entities from them."""
    served = anew(punctual)
    asked(served, "PUT", "a%20b")
    ids = {
        "parted": f"{served.admin}/parted",
        "A%20B": f"{served.admin}/a%20b",
        "topic/subscriptions/all": f"{served.admin}/topic/Subscriptions/all",
        "topic/subscriptions/all/rules/$Default": (
            f"{served.admin}/topic/Subscriptions/all/Rules/$Default"
        ),
    }
    for path, address in ids.items():
        status, body = asked(served, "GET", path)
        assert (200, address) == (status, ET.fromstring(body).findtext(ID))
    listed = ET.fromstring(asked(served, "GET", "topic/subscriptions")[1])
    assert [f"{served.admin}/topic/Subscriptions/{name}" for name in ("all", "some")] == [
        each.text for each in listed.iterfind(f"{ENTRIES}/{ID}")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "because"),
    [
        (
            '<Filter i:type="SqlFilter"><SqlExpression>n =</SqlExpression></Filter>',
            b"it ends at character 4",
        ),
        ('<Filter i:type="OddFilter"/>', b"OddFilter"),
        ('<Filter i:type="TrueFilter"/><Name>a/../b</Name>', b"a/../b"),
    ],
)
def test_subscription_with_an_impossible_first_rule_is_not_created(
    punctual: Served, rule: str, because: bytes
) -> None:
    """The request is refused whole, so that it can be sent again, mended."""
    served, path = anew(punctual), "topic/subscriptions/new"
    first = "<DefaultRuleDescription>{}</DefaultRuleDescription>"
    status, body = asked(served, "PUT", path, "Subscription", first.format(rule))
    assert 400 == status
    assert because in body
    assert 404 == asked(served, "GET", path)[0]
    good = '<Filter i:type="FalseFilter"/><Name>none</Name>'
    assert 201 == asked(served, "PUT", path, "Subscription", first.format(good))[0]
    assert 200 == asked(served, "GET", f"{path}/rules/none")[0]
    assert 404 == asked(served, "GET", f"{path}/rules/$Default")[0]


@pytest.mark.slow
def test_rule_takes_no_other_method(punctual: Served) -> None:
    served = anew(punctual)
    for path in ("topic", "topic/subscriptions/all/rules/$Default"):
        assert 405 == asked(served, "POST", path)[0]


@pytest.mark.slow
def test_rules_have_names_that_everybody_can_read(punctual: Served) -> None:
    """Over AMQP, where a text has any characters; filters of such texts are listed readably."""
    served = anew(punctual)
    with raw.logged_in(served.port) as connection:
        asker = Asker(connection, "topic/subscriptions/all")

        def add(name: str, **filtered: Any) -> int:
            return asker.ask("add-rule", {"rule-name": name, "rule-description": filtered})[0]

        assert 400 == add("a\x01b", **{"true-filter": {}})
        assert 400 == add("", **{"true-filter": {}})
        assert 200 == add("odd", **{"correlation-filter": {"label": "a\x01\ufffe"}})
    status, body = asked(served, "GET", quote("topic/subscriptions/all/rules"))
    assert status == 200
    ET.fromstring(body)


@pytest.mark.parametrize("text", ["a\x00b", "\x1b", "\ud800", "\ufffe", "fine é 名 \U0001f600"])
def test_answer_is_xml_whatever_texts_are_in_it(text: str) -> None:
    """Characters that XML cannot have are replaced."""
    rule = SubscriptionRule(name=text, filter=SqlFilter(expression=text), action=text)
    other = SubscriptionRule(name=text, filter=CorrelationFilter(properties={text: text}))
    for shown in (rule, other):
        element = rule_element(shown, "2026-01-01")
        entry = atom.Entry(
            title=text, url=text, link=text, updated="now", published="now", description=element
        )
        ET.fromstring(entry.body())
    ET.fromstring(atom.error(400, text))
