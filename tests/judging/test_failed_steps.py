"""A step that fails where the judge allows every answer is charged to one rule."""

import pytest

from busproof import vocabulary as v
from busproof.history.records import Ended, Header, Scenario, ScenarioVerdict
from busproof.judging.scenario_result import Checker
from busproof.spec import load
from busproof.steps.cases import cases


@pytest.mark.parametrize(
    ("rules", "blamed"),
    [
        (("SIZE-12", "SIZE-07"), ("SIZE-12",)),
        # PART-11 only permits an answer: no answer can break it.
        (("PART-11", "PART-09"), ("PART-09",)),
        ((), ()),
    ],
)
def test_the_first_rule_that_can_be_broken_is_charged(rules, blamed) -> None:
    scenario = Scenario(
        name="it",
        rules=rules,
        events=(v.Event(command=v.CreateQueue(queue="q"), outcome=v.Done(), returned=0),),
        ended=Ended(verdict=ScenarioVerdict.FAILED, detail="Done()"),
    )
    header = Header(profile=v.profile_for(load()))
    heard = Checker(header, load()).check(scenario)
    assert heard.blamed == blamed
    assert not heard.counterexample.is_judged
    assert heard.counterexample.seen == "Done"


def test_the_rules_of_a_scenario_stand_as_its_tags_are_written() -> None:
    """SIZE-12 is what this scenario is about, and SIZE-07 what it needs."""
    name = "A partition that was emptied has room again"
    every = cases(only="features", source=None, replays=False, rules=frozenset({"SIZE-07"}))
    assert [("SIZE-12", "SIZE-07")] == [one.rules for one in every if one.name == name]
