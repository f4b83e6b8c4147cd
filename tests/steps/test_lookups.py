"""Definitions of steps are looked up once for each text, and found as pytest-bdd finds them."""

from importlib import import_module
from types import SimpleNamespace

from busproof.steps.lookups import remember_definitions

NAME = "find_fixturedefs_for_step"


class Session:
    """What holds the definitions."""


def test_ours_are_remembered_by_text_and_kind_and_nobody_elses(monkeypatch) -> None:
    """For each session anew."""
    asked = []

    def find(step, fixturemanager, node):  # noqa: ARG001 - as pytest-bdd calls it
        asked.append((step.type, step.name, node))
        yield f"definition of {step.name}"

    monkeypatch.setattr(import_module("pytest_bdd.scenario"), NAME, find)
    remember_definitions(lambda node: node == "ours")
    remembering = getattr(import_module("pytest_bdd.scenario"), NAME)
    one, other = Session(), Session()
    for session, kind, text, node in (
        (one, "given", "a queue", "ours"),
        (one, "given", "a queue", "ours"),
        (one, "then", "a queue", "ours"),
        (other, "given", "a queue", "ours"),
        (one, "given", "a queue", "theirs"),
        (one, "given", "a queue", "theirs"),
    ):
        step = SimpleNamespace(type=kind, name=text)
        found = list(remembering(step=step, fixturemanager=session, node=node))
        assert ["definition of a queue"] == found
    assert [
        ("given", "a queue", "ours"),
        ("then", "a queue", "ours"),
        ("given", "a queue", "ours"),
        ("given", "a queue", "theirs"),
        ("given", "a queue", "theirs"),
    ] == asked


def test_this_version_of_pytest_bdd_has_what_is_remembered() -> None:
    """A newer one that has not is slower, and nothing else would tell."""
    assert callable(getattr(import_module("pytest_bdd.scenario"), NAME))


def test_an_older_pytest_bdd_goes_on_as_it_does(monkeypatch) -> None:
    """Nothing is put in its way."""
    module = import_module("pytest_bdd.scenario")
    monkeypatch.delattr(module, NAME)
    remember_definitions(lambda _node: True)
    assert not hasattr(module, NAME)
