"""Overlapping requests: the replay alone explains what conforms, and nothing that does not."""

import os
from collections.abc import Sequence
from random import Random

import attrs
import pytest
from corrupting import CORRUPTIONS, History

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.replay.explanation import Explanation, explain
from busproof.judging.replay.search import Ended
from busproof.judging.workload import Habits, work
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
LENGTH = 400 if FULL else 200
SEEDS = 10 if FULL else 1
CLIENTS = (3, 8, 16, 64)
DONE = v.Done()
REAL = v.Observability(clock=v.Clock.REAL)
STEPS_AN_EVENT = 1.1
MOST_GIVEN_UP = {"hostile": 2}
"""Of four histories of the hostile model, whose caches hide much, two may have no verdict."""
IDLE = Habits()


def recorded(policy: str, seed: int, clients: int, habits: Habits = IDLE) -> list[v.Event]:
    profile = v.profile_for(load(), partitions=16)
    return work(ModelAdapter(policy, seed), profile, Random(seed), LENGTH, clients, habits=habits)


def explained(
    events: Sequence[v.Event], policy: str = "round-robin", steps: int | None = None
) -> Explanation:
    observability = attrs.evolve(ModelAdapter(policy).declaration.observability, clock=REAL.clock)
    return explain(events, v.profile_for(load(), partitions=16), observability, steps=steps)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["round-robin", "random", "hostile"])
@pytest.mark.parametrize("regular", [False, True], ids=["partitioned", "regular"])
def test_a_conforming_bus_is_explained_almost_without_a_detour(policy: str, regular: bool) -> None:
    steps = events = given_up = 0
    for clients in CLIENTS:
        for seed in range(SEEDS):
            history = recorded(policy, seed, clients, Habits(regular=regular))
            found = explained(history, policy)
            assert found.ended is not Ended.IMPOSSIBLE, (clients, seed)
            if found.ended is Ended.GAVE_UP:
                given_up += 1
                continue
            steps, events = steps + found.steps, events + len(history)
    assert steps <= STEPS_AN_EVENT * events
    assert given_up <= MOST_GIVEN_UP.get(policy, 0) * SEEDS


@pytest.mark.slow
@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_a_history_that_was_changed_in_one_event_is_not_explained_away(kind: str) -> None:
    """Of duplicates, lost messages, wrong orders and two holders of a lock or session."""
    changed = 0
    for seed in range(12):
        history = recorded("round-robin", seed, 4)
        for events, _ in list(CORRUPTIONS[kind][1](History(history)))[:1]:
            changed += 1
            assert explained(events, steps=3 * LENGTH).ended is not Ended.EXPLAINED
        if changed >= 2 * SEEDS:
            return


class Overlapping:
    """Events of a queue with two partitions, each with the times of its call and return."""

    def __init__(self) -> None:
        self.events = [self.event("c0", v.CreateQueue(queue="q"), DONE, (0, 1))]

    @staticmethod
    def event(
        client: str, command: v.Command, outcome: v.Outcome, times: tuple[int, int]
    ) -> v.Event:
        called, returned = times
        return v.Event(
            client=client,
            connection=client,
            called=called,
            returned=returned,
            command=command,
            outcome=outcome,
        )

    def sent(self, body: str, times: tuple[int, int], client: str = "c0") -> "Overlapping":
        message = v.Message(body=body, partition_key="k")
        command = v.Send(queue="q", message=message)
        self.events.append(self.event(client, command, DONE, times))
        return self

    def received(
        self, body: str | None, times: tuple[int, int], client: str, token: str | None = None
    ) -> "Overlapping":
        view = v.MessageView(body=body or "", partition_key="k", lock_token=token)
        outcome = v.Empty() if body is None else v.Received(message=view)
        mode = v.ReceiveMode.RECEIVE_AND_DELETE if token is None else v.ReceiveMode.PEEK_LOCK
        command = v.Receive(queue="q", mode=mode)
        self.events.append(self.event(client, command, outcome, times))
        return self

    @property
    def ended(self) -> Ended:
        return explain(self.events, v.profile_for(load(), partitions=2), REAL).ended


def test_two_receives_beside_one_send_do_not_both_get_it() -> None:
    story = Overlapping().sent("m", (10, 40)).received("m", (11, 39), "c1")
    assert story.ended is Ended.EXPLAINED
    assert story.received("m", (12, 38), "c2").ended is Ended.IMPOSSIBLE


def test_two_clients_do_not_hold_one_lock_at_once() -> None:
    story = Overlapping().sent("m", (10, 40)).received("m", (11, 39), "c1", "t1")
    assert story.ended is Ended.EXPLAINED
    assert story.received("m", (12, 38), "c2", "t2").ended is Ended.IMPOSSIBLE


def test_a_message_that_was_there_is_not_lost() -> None:
    """No front end can have cached it, for nobody has received anything before."""
    beside = Overlapping().sent("m", (10, 20)).received(None, (15, 30), "c1")
    assert beside.ended is Ended.EXPLAINED
    after = Overlapping().sent("m", (10, 20)).received(None, (25, 30), "c1")
    assert after.ended is Ended.IMPOSSIBLE


def test_the_messages_of_a_key_keep_their_order() -> None:
    """Unless two senders overlap."""
    first, second = (10, 20), (30, 40)
    beside = Overlapping().sent("m1", (10, 35)).sent("m2", second, "c1")
    ordered = Overlapping().sent("m1", first).sent("m2", second, "c1")
    for story, end in ((beside, Ended.EXPLAINED), (ordered, Ended.IMPOSSIBLE)):
        story.received("m2", (50, 60), "c2").received("m1", (70, 80), "c2")
        assert story.ended is end


def test_what_another_front_end_cached_is_passed_over() -> None:
    """Only if that front end has received from the partition after the message was there."""
    story = Overlapping().sent("m1", (10, 11)).sent("m2", (12, 13)).sent("m3", (14, 15))
    cached = story.received("m1", (20, 30), "c1")
    assert cached.received("m3", (40, 50), "c2").ended is Ended.EXPLAINED
    assert cached.received("m2", (60, 70), "c2").ended is Ended.IMPOSSIBLE
