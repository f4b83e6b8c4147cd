"""Mutants of SIZE, PREM and MGMT where requests for topics name a size, a version or no option."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Namespace
from busproof.model.values import Refusal
from busproof.mutants.mutant import Family
from busproof.mutants.runs import QUEUE

__all__ = ["MUTANTS"]

mutant = Family(__name__)

GET: Final = v.GetTopic(topic=QUEUE)
DEFAULT: Final = v.CreateTopic(topic=QUEUE)
LARGEST: Final = v.CreateTopic(topic=QUEUE, max_size=5)
OTHER: Final = v.CreateTopic(topic=QUEUE, max_size=6)
REGULAR: Final = v.CreateTopic(topic=QUEUE, partitioned=False, max_size=80)
UNSAID: Final = v.CreateTopic(topic=QUEUE, partitioned=None)
FIRST: Final = v.CreateTopic(topic=QUEUE, api_version="2013-10")
LATER: Final = v.CreateTopic(topic=QUEUE, api_version="2014-01")


@mutant("SIZE-01", "topics.create_topic", (LARGEST, GET))
def size_of_topic_ignored(namespace: Namespace, command: v.CreateTopic, connection: str) -> Answer:
    """A topic has 1 GB, whatever it was created with."""
    unsized = attrs.evolve(command, max_size=None)
    return RULES.topics.create_topic(namespace, unsized, connection)


@mutant("SIZE-02", "topics.create_topic", (OTHER, GET))
def topic_of_any_size(namespace: Namespace, command: v.CreateTopic, connection: str) -> Answer:
    """A topic can have any size."""
    unsized = attrs.evolve(command, max_size=None)
    answer = RULES.topics.create_topic(namespace, unsized, connection)
    topic = namespace.entities[command.topic]
    size = command.max_size or topic.settings.max_size
    topic.settings = attrs.evolve(topic.settings, max_size=size)
    return answer


@mutant("SIZE-03", "topics.create_topic", (DEFAULT, GET))
def topic_is_large_by_default(
    namespace: Namespace, command: v.CreateTopic, connection: str
) -> Answer:
    """A topic that is created without a size has 5 GB."""
    sized = attrs.evolve(command, max_size=command.max_size or 5)
    return RULES.topics.create_topic(namespace, sized, connection)


@mutant("SIZE-04", "topics.get_topic", (DEFAULT, GET))
def one_partition_of_topic_told(
    namespace: Namespace, command: v.GetTopic, connection: str
) -> Answer:
    """A partitioned topic is described as large as one partition."""
    answer = RULES.topics.get_topic(namespace, command, connection)
    if not isinstance(answer.outcome, v.TopicDescribed):
        return answer
    size = namespace.entities[command.topic].settings.max_size
    told = attrs.evolve(answer.outcome.description, max_size=size)
    return attrs.evolve(answer, outcome=v.TopicDescribed(description=told))


@mutant("PREM-07", "topics.create_topic", (REGULAR,))
def topic_of_premium_is_small(
    namespace: Namespace, command: v.CreateTopic, connection: str
) -> Answer:
    """A topic of Premium can have the sizes of Standard only."""
    if (command.max_size or 1) > 5:
        raise Refusal(v.Error.INVALID_OPERATION, "PREM-07")
    return RULES.topics.create_topic(namespace, command, connection)


@mutant("MGMT-03", "topics.create_topic", (UNSAID, GET))
def topic_is_partitioned_unasked(
    namespace: Namespace, command: v.CreateTopic, connection: str
) -> Answer:
    """A topic is partitioned unless the option says no."""
    asked = attrs.evolve(command, partitioned=command.partitioned is not False)
    return RULES.topics.create_topic(namespace, asked, connection)


@mutant("MGMT-06", "topics.create_topic", (FIRST,))
def first_version_has_no_topics(
    namespace: Namespace, command: v.CreateTopic, connection: str
) -> Answer:
    """api-version 2013-10 creates no partitioned topic."""
    if command.partitioned and command.api_version == "2013-10":
        raise Refusal(v.Error.INVALID_OPERATION, "MGMT-06")
    return RULES.topics.create_topic(namespace, command, connection)


@mutant("MGMT-07", "topics.create_topic", (LATER,))
def later_version_has_no_topics(
    namespace: Namespace, command: v.CreateTopic, connection: str
) -> Answer:
    """A partitioned topic can be created by api-version 2013-10 only."""
    if command.partitioned and command.api_version not in (None, "2013-10"):
        raise Refusal(v.Error.INVALID_OPERATION, "MGMT-07")
    return RULES.topics.create_topic(namespace, command, connection)


MUTANTS: Final = mutant.all()
