"""Mutants of SIZE, PREM and MGMT where requests for topics name a size, a version or no option."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Namespace
from busproof.mutants.mutant import mutant
from busproof.mutants.runs import QUEUE
from busproof.mutants.wrappers import alters, asks, refuses

GET: Final = v.GetTopic(topic=QUEUE)
DEFAULT: Final = v.CreateTopic(topic=QUEUE)
LARGEST: Final = v.CreateTopic(topic=QUEUE, max_size=5)
OTHER: Final = v.CreateTopic(topic=QUEUE, max_size=6)
REGULAR: Final = v.CreateTopic(topic=QUEUE, partitioned=False, max_size=80)
UNSAID: Final = v.CreateTopic(topic=QUEUE, partitioned=None)
FIRST: Final = v.CreateTopic(topic=QUEUE, api_version="2013-10")
LATER: Final = v.CreateTopic(topic=QUEUE, api_version="2014-01")


@mutant("SIZE-01", "topics.create_topic", (LARGEST, GET), asks)
def size_of_topic_ignored(command: v.CreateTopic) -> v.CreateTopic:
    """A topic has 1 GB, whatever it was created with."""
    return attrs.evolve(command, max_size=None)


@mutant("SIZE-02", "topics.create_topic", (OTHER, GET))
def topic_of_any_size(namespace: Namespace, command: v.CreateTopic, connection: str) -> Answer:
    """A topic can have any size."""
    unsized = attrs.evolve(command, max_size=None)
    answer = RULES.topics.create_topic(namespace, unsized, connection)
    topic = namespace.entities[command.topic]
    size = command.max_size or topic.settings.max_size
    topic.settings = attrs.evolve(topic.settings, max_size=size)
    return answer


@mutant("SIZE-03", "topics.create_topic", (DEFAULT, GET), asks)
def topic_is_large_by_default(command: v.CreateTopic) -> v.CreateTopic:
    """A topic that is created without a size has 5 GB."""
    return attrs.evolve(command, max_size=command.max_size or 5)


@mutant("SIZE-04", "topics.get_topic", (DEFAULT, GET), alters)
def one_partition_of_topic_told(usual: Answer, namespace: Namespace, command: v.GetTopic) -> Answer:
    """A partitioned topic is described as large as one partition."""
    if not isinstance(usual.outcome, v.TopicDescribed):
        return usual
    size = namespace.entities[command.topic].settings.max_size
    description = attrs.evolve(usual.outcome.description, max_size=size)
    return attrs.evolve(usual, outcome=v.TopicDescribed(description=description))


@mutant("PREM-07", "topics.create_topic", (REGULAR,), refuses("PREM-07"))
def topic_of_premium_is_small(command: v.CreateTopic) -> bool:
    """A topic of Premium can have the sizes of Standard only."""
    return (command.max_size or 1) > 5


@mutant("MGMT-03", "topics.create_topic", (UNSAID, GET), asks)
def topic_is_partitioned_unasked(command: v.CreateTopic) -> v.CreateTopic:
    """A topic is partitioned unless the option says no."""
    return attrs.evolve(command, partitioned=command.partitioned is not False)


@mutant("MGMT-06", "topics.create_topic", (FIRST,), refuses("MGMT-06"))
def first_version_has_no_topics(command: v.CreateTopic) -> bool:
    """api-version 2013-10 creates no partitioned topic."""
    return bool(command.partitioned) and command.api_version == "2013-10"


@mutant("MGMT-07", "topics.create_topic", (LATER,), refuses("MGMT-07"))
def later_version_has_no_topics(command: v.CreateTopic) -> bool:
    """A partitioned topic can be created by api-version 2013-10 only."""
    return bool(command.partitioned) and command.api_version not in (None, "2013-10")
