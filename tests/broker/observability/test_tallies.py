"""Counts that follow each step are those that a look at everything gives."""

from random import Random

from random_commands import Commands, any_profile

from busproof.broker.observability.message_counts import Tallies
from busproof.model import RandomChoices, new_namespace, step
from busproof.model.life_cycle import State
from busproof.model.state import Entity


def counted(tallies: Tallies, entity: Entity) -> tuple[object, ...]:
    """What is counted, in whichever order."""
    tally = tallies.of(entity)
    sets = (tally.locked, tally.deferred, tally.sessions)
    return (*map(set, tally.aside), *map(set, sets))


def looked_at(entity: Entity) -> tuple[object, ...]:
    """The same, by a look at everything."""
    messages, sessions = entity.messages.values(), entity.sessions.values()
    return (
        *(
            {each for each in messages if each.partition == number and each.state != State.ACTIVE}
            for number in range(len(entity.partitions))
        ),
        {each for each in messages if each.token is not None},
        {each for each in messages if each.state in (State.DEFERRED, State.DEFERRED_LOCKED)},
        {each for each in sessions if each.holder is not None},
    )


SEEDS = 12
LENGTH = 300


def test_tallies_follow_every_step() -> None:
    """Locks that end, sessions that are closed, entities that are deleted and made again."""
    locked = held = 0
    for seed in range(SEEDS):
        random = Random(seed)
        namespace = new_namespace(any_profile(random))
        tallies, commands = Tallies(namespace), Commands(random, namespace)
        plan = [(command, "c1") for command in commands.setup()]
        for number in range(LENGTH):
            command, connection = plan[number] if number < len(plan) else commands.any()
            answer = step(namespace, command, connection, RandomChoices(random))
            tallies.hear(answer.changes)
            for entity in namespace.entities.values():
                assert looked_at(entity) == counted(tallies, entity), (seed, number, command)
                locked += len(tallies.of(entity).locked)
                held += len(tallies.of(entity).sessions)
        anew = Tallies(namespace)
        for entity in namespace.entities.values():
            assert looked_at(entity) == counted(anew, entity), seed
    assert locked
    assert held
