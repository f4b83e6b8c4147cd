"""Namespaces that count a number of entities, and requests for one more."""

import attrs
from observing import DONE, OTHER, Observer

from busproof import vocabulary as v
from busproof.oracle.entity_counts import EntityCounts
from busproof.oracle.window import Window

FULL = v.Refused(error=v.Error.QUOTA_EXCEEDED)

LOST = v.Indeterminate()

MANY = 10_000


def window(number: int | tuple[int, int]) -> Window:
    return Window(number, number) if isinstance(number, int) else Window(*number)


def filled(
    observer: Observer,
    *,
    queues: int | tuple[int, int] = 0,
    topics: int = 0,
    regular: int | tuple[int, int] = 0,
    subscriptions: int | tuple[int, int] = 0,
    restored: int = 0,
    unknown: int = 0,
) -> Observer:
    """A namespace that counts so many, none of which anybody asks for."""
    (namespace,) = observer.possible
    own, others = window(queues), window(regular)
    each = namespace.profile.partitions
    partitioned = Window(own.earliest + topics, own.latest + topics)
    more = restored + topics
    entity_counts = EntityCounts(
        queues=own,
        topics=window(topics),
        partitioned=partitioned,
        regular=others,
        restored=window(restored),
        subscriptions=window(subscriptions),
        entities=Window(
            own.earliest + others.earliest + more,
            own.latest + others.latest + more,
        ),
        stores=Window(
            (own.earliest + more) * each + others.earliest,
            (own.latest + more) * each + others.latest,
        ),
        unknown=unknown,
        quota_reached=partitioned.earliest >= 100,
    )
    observer.possible = (attrs.evolve(namespace, entity_counts=entity_counts),)
    return observer


def entity_counts(observer: Observer) -> EntityCounts:
    (namespace,) = observer.possible
    return namespace.entity_counts


def queue(name: str = "q", *, partitioned: bool = True, **settings: object) -> v.CreateQueue:
    return v.CreateQueue(queue=name, partitioned=partitioned, **settings)


REGULAR = queue(partitioned=False)

TOPIC = v.CreateTopic(topic="t")

SUBSCRIPTION = v.CreateSubscription(topic="t", subscription="s")


def shows(observer: Observer, command: object, outcome: object, *rules: str) -> None:
    found = observer.saw(command, outcome)
    assert found.possible
    assert set(rules) == {rule for rule in found.rules if rule.startswith("QUOTA")}


def refuses(observer: Observer, command: object, outcome: object, *rules: str) -> None:
    found = observer.saw(command, outcome)
    assert not found.possible
    assert set(rules) <= set(found.rules), found.rules


def permits(observer: Observer, command: object, *outcomes: object) -> None:
    """Whether it is accepted, refused for want of room, and refused for no stated reason."""
    (namespace,) = observer.possible
    answers = (DONE, FULL, OTHER)
    found = {each for each in answers if Observer.saw(_copy(observer), command, each).possible}
    assert set(outcomes) == found
    assert (namespace,) == observer.possible


def _copy(observer: Observer) -> Observer:
    (namespace,) = observer.possible
    copy = Observer(namespace.profile, namespace.observability)
    copy.possible = observer.possible
    return copy
