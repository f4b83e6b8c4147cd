"""The entities of a namespace, as the requests that create them."""

from model_driver import catalogue

from busproof import vocabulary as v
from busproof.judging.moving.settings import compare_settings, creations_of
from busproof.model import RoundRobin, new_namespace, step

PROFILE = v.profile_for(catalogue())
ENTITIES = (
    v.CreateQueue(queue="end", partitioned=True, max_size=2, max_delivery_count=3),
    v.CreateQueue(queue="begin", partitioned=False, forward_to="end"),
    v.CreateTopic(topic="t", partitioned=True, duplicate_detection=True),
    v.CreateSubscription(topic="t", subscription="s", requires_session=True),
    v.CreateSubscription(topic="t", subscription="plain", forward_to="end"),
    v.AddRule(topic="t", subscription="s", rule="big", filter=v.SqlFilter(expression="size > 3")),
    v.RemoveRule(topic="t", subscription="s", rule="$Default"),
)


def test_a_namespace_is_created_again_from_its_entities() -> None:
    first, second = new_namespace(PROFILE), new_namespace(PROFILE)
    for command in ENTITIES:
        assert isinstance(step(first, command, "c1", RoundRobin()).outcome, v.Done)
    for command in creations_of(first):
        assert isinstance(step(second, command, "c1", RoundRobin()).outcome, v.Done), command

    assert first.entities.keys() == second.entities.keys()
    for path, entity in first.entities.items():
        assert entity.settings == second.entities[path].settings
        assert entity.rules == second.entities[path].rules


def test_what_forwards_in_a_circle_is_set_apart() -> None:
    circle = [
        v.CreateQueue(queue="a", partitioned=True, forward_to="b"),
        v.CreateQueue(queue="b", partitioned=True, forward_to="a"),
    ]
    move = compare_settings(circle, {}, catalogue(), PROFILE, "premium:4")

    assert move.exit_code == 3
    assert list(move.apart.values()) == [2]
