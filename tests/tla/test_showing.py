"""A counterexample is shown as commands, and as a scenario that a bus can run."""

import re

import pytest

from busproof import vocabulary as v
from busproof.adapters.faults import make
from busproof.adapters.model import ModelAdapter
from busproof.history.records import Oracle
from busproof.history.render.gherkin import ASKS, VERDICT
from busproof.judging.driver import Recording
from busproof.judging.scenario_outcome import NotConforming
from busproof.spec import load as load_catalogue
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.any_command import Asking
from busproof.tla.manifest import Setting, load
from busproof.tla.render import Exchange, gherkin, story
from busproof.vocabulary.profile import profile_for

DONE, LOST = {"type": "Done"}, {"type": "Refused", "error": "lock-lost"}
SEND = Exchange({"op": "Send", "key": "a"}, {"type": "Done", "partition": 0})
GET = Exchange({"op": "Receive", "connection": 2}, {"type": "Received", "message": 1})
EXPIRE = Exchange({"op": "Expire", "message": 1}, DONE)
SETTING = Setting(edges=0, queue={"max_delivery_count": 5})


def settled(lock: str, reply: dict[str, str]) -> Exchange:
    return Exchange({"op": "Abandon", "message": 1, "lock": lock}, reply)


STEPS = (SEND, GET, settled("held", DONE), GET, settled("lost", LOST), EXPIRE)


def ask(scenario: str, adapter: v.Adapter) -> Asking:
    """Ask a bus what the scenario's sentences say."""
    profile = profile_for(load_catalogue(), partitions=2)
    adapter.start(profile)
    recording = Recording(record=lambda _: None, sentence=lambda rule: rule)
    asking = Asking(BusUnderTest(adapter, profile, Oracle.STRICT, recording))
    for line in scenario.splitlines()[1:]:
        _, _, sentence = line.strip().partition(" ")
        if match := re.fullmatch(ASKS, sentence):
            asking.ask(match["connection"], match["request"])
        else:
            assert line.strip().startswith("#") or sentence == VERDICT
    return asking


def test_a_story_names_commands_answers_connections_and_locks() -> None:
    assert story(STEPS, SETTING) == (
        "Send to q: body 'm1', PartitionKey 'a' -> Done (partition 0)",
        "Receive from q (peek-lock) over connection c2 -> Received 'm1'",
        "Abandon on q: lock '@2' -> Done",
        "Receive from q (peek-lock) over connection c2 -> Received 'm1'",
        "Abandon on q: lock '@2' -> Refused: lock-lost",
        "Expire: message 1 -> Done",
    )


def test_a_scenario_asks_the_same_with_the_queue_that_the_spec_has() -> None:
    text = gherkin("It fails", STEPS, SETTING)
    assert text.splitlines()[:4] == [
        "Scenario: It fails",
        '  When c1 asks: Create queue, queue "q", max delivery count 5',
        '  And c1 asks: Send, queue "q", message body "m1", message partition key "a"',
        "  # -> Done (partition 0)",
    ]
    assert "  # Expire: message 1" in text
    asking = ask(text, ModelAdapter())
    asking.conclude()
    assert asking.count == 6


def test_steps_without_commands_make_no_scenario() -> None:
    steps = (
        Exchange({"op": "UpdateQueue", "queue": "q", "forward_to": "r"}, DONE),
        Exchange({"op": "Forward", "message": 1}, DONE),
        settled("held", DONE),
    )
    assert all(
        line.strip().startswith(("#", "Scenario")) for line in gherkin("x", steps).split("\n")
    )


def test_a_bus_that_does_as_the_counterexample_says_is_found() -> None:
    """The judge looks at what is asked, whatever the spec had it answer."""
    with pytest.raises(NotConforming):
        ask(gherkin("x", (SEND, GET, GET), SETTING), make("locked-given-again"))


def test_a_check_is_reported_with_the_queue_of_its_graph() -> None:
    """So that sessions are asked for on a queue that requires them."""
    manifest = load()
    setting = manifest.setting(manifest.configuration("sessions-never-handed-over"))
    assert setting.queue["requires_session"]
    assert manifest.setting(manifest.configuration("settings")) is None
