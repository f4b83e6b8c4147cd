"""A mutant's function is given what it names, and no mutant is lost on the way."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from busproof import mutants
from busproof.model.answers import Answer
from busproof.model.state import Entity
from busproof.mutants import MUTANTS
from busproof.mutants.mutant import beside, mutant, mutants_of, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import create, receive
from busproof.mutants.wrappers import alters, does, tells, with_other
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Listed, Outcome


def family_of_the_latest(name: str) -> Any:
    """Return a family of the mutant that this module has collected last."""
    families = mutants_of(sys.modules[__name__])[-1].families
    return families[name](None, None)


def test_function_gets_only_the_arguments_that_it_names():
    @mutant("KEY-07", "keys.effective_key", ())
    def key_is_the_body(message: Message) -> str:
        """The body of a message is its key."""
        return message.body

    assert "m1" == family_of_the_latest("keys").effective_key(None, Message(body="m1"))


def test_wrapped_function_gets_the_usual_answer_by_name():
    @mutant("TOPIC-21", "topics.folded", (), alters)
    def names_are_longer(usual: str) -> str:
        """A name has another letter."""
        return f"{usual}x"

    assert "namex" == family_of_the_latest("topics").folded("Name")


def test_other_argument_is_put_in_the_place_of_its_name():
    @mutant("TOPIC-21", "topics.folded", (), with_other("name"))
    def names_are_reversed(name: str) -> str:
        """A name is read backwards."""
        return name[::-1]

    assert RULES.topics.folded("eman") == family_of_the_latest("topics").folded("name")


def test_run_of_its_own_decorator_is_the_run_of_the_mutant():
    @mutant("TOPIC-21", "topics.folded")
    @run(create(), receive())
    def names_are_empty() -> str:
        """A name is empty."""
        return ""

    assert (create(), receive()) == mutants_of(sys.modules[__name__])[-1].run


def test_second_function_is_replaced_beside_the_first():
    @beside("topics.folded", alters)
    def longer(usual: str) -> str:
        return f"{usual}x"

    @mutant("KEY-07", "keys.effective_key", (), also=longer)
    def keys_are_ignored() -> None:
        """No message has a key."""

    assert "namex" == family_of_the_latest("topics").folded("Name")
    assert (
        family_of_the_latest("keys").effective_key(None, Message(body="m1", partition_key="a"))
        is None
    )


def test_other_function_stands_in_for_entities_of_its_kind_only():
    wrapper = does(lambda *args: f"another {args[1]}", lambda entity: entity == "topic")
    replacement = wrapper(lambda *args: f"usual {args[1]}", lambda: None)
    assert "another topic" == replacement(None, "topic")
    assert "usual queue" == replacement(None, "queue")


def test_one_field_of_an_outcome_is_changed_if_the_outcome_has_it():
    def listing(outcome: Outcome) -> Outcome:
        replacement = tells("names")(lambda: Answer(outcome), lambda usual: usual[:1])
        return replacement().outcome

    assert Listed(names=("a",)) == listing(Listed(names=("a", "b")))
    assert Empty() == listing(Empty())


def test_argument_that_the_rule_lacks_is_refused_with_those_that_it_has():
    def key_of_queue(queue: Entity) -> None:
        """A queue is its own key."""

    with pytest.raises(TypeError, match=r"key_of_queue wants \['queue'\]; keys.effective_key has"):
        mutant("KEY-07", "keys.effective_key", ())(key_of_queue)


def test_every_module_with_mutants_is_in_the_list_of_all():
    folder = Path(mutants.__file__).parent
    texts = {path.stem: path.read_text("utf-8") for path in folder.rglob("*.py")}
    collecting = {
        name for name, text in texts.items() if re.search(r"^@(mutant|shown)\(", text, re.M)
    }
    assert collecting == {each.family for each in MUTANTS}
