"""Mutants made by machine are the same each time, and wrong in one place only."""

import ast
from collections import Counter

import pytest

from busproof import vocabulary as v
from busproof.adapters.finding import find
from busproof.adapters.model import ModelAdapter
from busproof.cli.mutation import generated as fates
from busproof.cli.mutation.generated import Terms, choose_mutants
from busproof.errors import UsageError
from busproof.mutants.by_machine.made import (
    FAMILIES,
    _mutants,
    families_of,
    find_mutant,
    generate_mutants,
)
from busproof.mutants.by_machine.operators import changes_of
from busproof.spec import load

PROFILE = v.profile_for(load())


def named(function: str, operator: str, code: str, context: str = "") -> str:
    """Return the id of the mutant of a function, whose code has this text."""
    family, _, name = function.partition(".")
    (found,) = [
        each.id
        for each in generate_mutants(family)
        if (each.function, each.operator, each.context) == (name, operator, context)
        and code in each.before
    ]
    return found


EFFECT = named("expiry.end", "effect-dropped", "")
REUSED = named("transactions.begin", "refusal-dropped", "")
BUFFERED = named("transactions.buffer", "effect-dropped", "sends")
STORED = named("messages.enqueue", "effect-dropped", "journal.put")
BEGIN = v.BeginTransaction(transaction="t")
REFUSED = v.Refused(error=v.Error.ALREADY_EXISTS)
DOWN = v.TakePartitionDown(queue="q", partition=0)
UP = v.BringPartitionUp(queue="q", partition=0)


def answers(identity: str, *commands: v.Command) -> list[v.Outcome]:
    """Return what a mutant answers."""
    bus = ModelAdapter(families=families_of(find_mutant(identity)))
    bus.start(PROFILE)
    return [bus.do(command, "c1").outcome for command in commands]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("if a: b = 1", [("condition-negated", "if not a:"), ("condition-dropped", "if True:")]),
        ("if a: b = 1\nelse: b = 2", [("condition-negated", "if not a:")]),
        ("raise Refusal(e)", [("refusal-dropped", "pass")]),
        ("journal.touch(a)", [("effect-dropped", "pass")]),
        ("a.state = b", [("effect-dropped", "pass")]),
        ("a.state += b", [("effect-dropped", "pass")]),
        ("a = b", []),
        ("for a in b: c = 1", [("loop-dropped", "for a in ():")]),
        ("(a for a in b)", []),
    ],
)
def test_a_statement_is_changed_by_each_operator(code, expected):
    (statement,) = ast.parse(code).body
    assert expected == changed(statement)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a if b else c", [("condition-negated", "a if not b else c")]),
        ("a and b", [("part-dropped", "b"), ("part-dropped", "a"), ("and-for-or", "a or b")]),
        ("a < b", [("comparison-changed", "a <= b")]),
        ("a is b", [("comparison-changed", "a is not b")]),
        ("a + b", [("arithmetic-changed", "a - b")]),
        ("min(a, b)", [("function-exchanged", "max(a, b)")]),
        ("v.Error.NOT_FOUND", [("error-exchanged", "v.Error.OTHER")]),
        ("v.Error.OTHER", [("error-exchanged", "v.Error.INVALID_OPERATION")]),
        ("True", [("truth-negated", "False")]),
        ("5", [("number-raised", "6"), ("number-lowered", "4")]),
        ("'text'", []),
    ],
)
def test_an_expression_is_changed_by_each_operator(code, expected):
    assert expected == changed(ast.parse(code, mode="eval").body)


def test_an_effect_moves_before_a_refusal_but_not_before_what_it_needs():
    (function,) = ast.parse("def f():\n if a: raise E\n b.c = d\n e = g()\n e.h = 1").body
    assert [("effect-too-soon", 1)] == [
        (operator, function.body.index(change(function).body[0]))
        for operator, change in changes_of(function)
    ]


def changed(node: ast.AST) -> list[tuple[str, str]]:
    """Return each operator with the first line of what it makes."""
    return [
        (operator, ast.unparse(ast.fix_missing_locations(change(node))).partition("\n")[0])
        for operator, change in changes_of(node)
    ]


CODE = """
def f(a):
    if a.b > 3:
        raise Refusal(NOT_FOUND)
    a.c = 1
    a.c = 1
    a.d = a.b and a.e
"""


def names_of(code: str) -> dict[str, str]:
    """Return the ids of the mutants of a function that stands alone, each with its code."""
    tree = ast.parse(code)
    mutants = list(_mutants("keys", "f", tree.body[0], (("body", 0),), tree))
    assert len(mutants) == len({each.id for each in mutants})
    return {each.id: f"{each.before} -> {each.after}" for each in mutants}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def f(a):", "def f(a):\n    a.before(1)"),
        ("def f(a):", "def f(a):\n    if a.b < 3:\n        raise Refusal(NO)"),
        ("raise Refusal", "a.g = 2\n        raise Refusal"),
        ("a.b and a.e", "a.b and a.e\n    a.h()"),
        ("a.b > 3", "( a . b > 3 )"),
    ],
)
def test_a_statement_added_elsewhere_leaves_the_ids_of_the_others(old, new):
    assert names_of(CODE).items() <= names_of(CODE.replace(old, new)).items()


def test_a_changed_statement_has_other_ids_and_the_second_of_two_equal_ones_a_number():
    names = names_of(CODE)
    drops = [each for each in names if ".effect-dropped." in each and "@" not in each]
    assert [drops[0], f"{drops[0]}.2"] == drops[:2]
    changed = names_of(CODE.replace("a.c = 1\n    a.c = 1", "a.c = 1"))
    assert drops[1] in set(names) - set(changed)
    other = names_of(CODE.replace("a.b > 3", "a.b > 4"))
    assert drops == [each for each in other if ".effect-dropped." in each and "@" not in each]
    assert not {each for each in names if "comparison-changed" in each} & set(other)


def test_a_sample_keeps_its_mutants_where_others_are_added(monkeypatch):
    every = generate_mutants("keys")
    drawn = choose_mutants(["keys"], Terms(sample=10, seed=1))
    assert 10 == len(drawn)
    monkeypatch.setattr(fates, "generate_mutants", lambda _: every[5:])
    left = set(every[5:])
    assert set(drawn) & left <= set(choose_mutants(["keys"], Terms(sample=10, seed=1)))
    assert drawn != choose_mutants(["keys"], Terms(sample=10, seed=2))


def test_mutants_are_the_same_each_time_and_no_name_comes_twice():
    for family in ("expiry", "dead_letters"):
        assert generate_mutants(family) == generate_mutants.__wrapped__(family)
    names = Counter(each.id for family in FAMILIES for each in generate_mutants(family))
    assert ([], True) == ([name for name, times in names.items() if times > 1], len(names) > 5_000)


def test_a_constant_is_changed_where_it_is_used():
    mutant = find_mutant(named("limits.MOST_IN_TRANSACTION", "number-raised", ""))
    assert ("100", "101", False) == (mutant.before, mutant.after, mutant.line in mutant.lines)


def test_one_place_is_changed_and_nothing_else():
    assert [v.Done(), v.Done()] == answers(REUSED, BEGIN, BEGIN)
    assert ["transactions"] == list(families_of(find_mutant(REUSED)))
    assert [v.Done(), REFUSED] == answers(BUFFERED, BEGIN, BEGIN)


DONE = v.Done()


@pytest.mark.parametrize(
    ("context", "commands", "expected"),
    [
        (
            "outage",
            (BEGIN, BEGIN, DOWN, BEGIN, UP, BEGIN),
            [DONE, REFUSED, DONE, DONE, DONE, REFUSED],
        ),
        (
            "recovered",
            (BEGIN, DOWN, BEGIN, UP, BEGIN, DOWN, BEGIN),
            [DONE, DONE, REFUSED, DONE, DONE, DONE, REFUSED],
        ),
        ("transaction", (BEGIN, BEGIN), [DONE, DONE]),
        ("second", (BEGIN, BEGIN, BEGIN), [DONE, DONE, REFUSED]),
        ("late", (BEGIN,) * 102, [DONE, *[REFUSED] * 99, DONE, DONE]),
    ],
)
def test_a_mutant_is_wrong_in_its_context_alone(context, commands, expected):
    assert expected == answers(f"{REUSED}@{context}", *commands)


SEND = v.Send(queue="q", message=v.Message(body="m", session_id="s"))


@pytest.mark.parametrize(
    ("context", "creation", "is_wrong"),
    [
        ("sessions", v.CreateQueue(queue="q", requires_session=True), True),
        ("sessions", v.CreateQueue(queue="q"), False),
        ("regular", v.CreateQueue(queue="q", partitioned=False), True),
        ("regular", v.CreateQueue(queue="q"), False),
        ("subscription", v.CreateQueue(queue="q"), False),
        ("dead-letters", v.CreateQueue(queue="q"), False),
    ],
)
def test_a_context_of_entities_is_that_of_the_entity_concerned(context, creation, is_wrong):
    received = (v.AcceptNextSession(queue="q"), v.Receive(queue="q", session_id="s"))
    asked = received if creation.requires_session else (v.Receive(queue="q"),)
    *_, usual = answers(EFFECT, creation, SEND, *asked)
    *_, got = answers(f"{STORED}@{context}", creation, SEND, *asked)
    assert is_wrong == (usual != got)


def test_a_generated_mutant_is_found_by_its_name():
    bus = find(f"generated:{REUSED}", timeout=1)
    bus.start(PROFILE)
    assert [v.Done(), v.Done()] == [bus.do(BEGIN, "c1").outcome for _ in range(2)]


def test_unknown_generated_mutant_is_refused():
    with pytest.raises(UsageError, match="there is no family 'nope'; choose one of batches, "):
        generate_mutants("nope")
    with pytest.raises(UsageError, match=r"there is no generated mutant 'expiry\.end\.none\.1'"):
        find("generated:expiry.end.none.1", timeout=1)


def test_a_mutant_of_each_operator_and_context_can_be_made():
    mutants = [mutant for family in FAMILIES for mutant in generate_mutants(family)]
    firsts = {(mutant.operator, mutant.context): mutant for mutant in mutants}
    for mutant in firsts.values():
        assert [mutant.family] == list(families_of(mutant))
