"""A mutant's function is given what it names, and no mutant is lost on the way."""

import pytest

from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace
from busproof.mutants.mutant import Family
from busproof.mutants.wrappers import alters, with_other
from busproof.vocabulary.messages import Message
from busproof.vocabulary.profile import Profile


def test_function_gets_only_the_arguments_that_it_names():
    mutant = Family("keys")

    @mutant("KEY-07", "keys.effective_key", ())
    def key_is_the_body(message: Message) -> str:
        """The body of a message is its key."""
        return message.body

    (collected,) = mutant.all()
    rule = collected.rules.keys.effective_key
    assert "m1" == rule(None, None, Message(body="m1"))


def test_wrapped_function_gets_the_usual_answer_by_name():
    mutant = Family("limits")

    @mutant("LIMIT-17", "topics.folded", (), alters)
    def names_are_longer(usual: str) -> str:
        """A name has another letter."""
        return f"{usual}x"

    (collected,) = mutant.all()
    assert "namex" == collected.rules.topics.folded("Name")


def test_other_argument_is_put_in_the_place_of_its_name():
    mutant = Family("topics")

    @mutant("TOPIC-21", "topics.folded", (), with_other("name"))
    def names_are_reversed(name: str) -> str:
        """A name is read backwards."""
        return name[::-1]

    (collected,) = mutant.all()
    assert RULES.topics.folded("eman") == collected.rules.topics.folded("name")


def test_argument_that_the_rule_lacks_is_refused_with_those_that_it_has():
    mutant = Family("keys")

    def key_of_queue(queue: Entity) -> None:
        """A queue is its own key."""

    with pytest.raises(TypeError, match=r"key_of_queue wants \['queue'\]; keys.effective_key has"):
        mutant("KEY-07", "keys.effective_key", ())(key_of_queue)


def test_mutant_that_comes_after_the_others_were_taken_is_refused():
    """It would be in no list, and nobody would miss it."""
    mutant = Family("keys")
    mutant.all()

    def never_listed(namespace: Namespace, profile: Profile) -> None:
        """A bus does nothing."""

    with pytest.raises(RuntimeError, match="never_listed comes after MUTANTS of keys"):
        mutant("KEY-07", "keys.effective_key", ())(never_listed)
