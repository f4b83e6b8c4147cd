"""Checks for adapters that declare kinds of entities, their settings or management."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.checking.talk import HOUR, Talk, check, show_line

__all__ = ["ENTITIES"]

SUBSCRIPTION: Final = "t/subscriptions/s"


@check(
    v.Capability.REGULAR_QUEUES,
    title="creates queues that are not partitioned",
    protocol="CreateQueue with partitioned false makes a queue that is not partitioned.",
    advice="Read the field; its default is true.",
)
def _has_regular_queues(talk: Talk) -> None:
    talk.begin(partitioned=False)
    sent = talk.send()
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


@check(
    v.Capability.MANAGEMENT,
    title="describes, lists, updates and deletes queues",
    protocol="GetQueue succeeds with Described, ListQueues with Listed, UpdateQueue and "
    "DeleteQueue with Done; names are as they were created.",
    advice="If you map names, map them back in descriptions and lists.",
)
def _manages_queues(talk: Talk) -> None:
    talk.begin()
    described = talk.expect(v.Described, v.GetQueue(queue="q")).description
    talk.insist(described.queue == "q", f"the description of 'q' is that of {described.queue!r}")
    names = talk.expect(v.Listed, v.ListQueues()).names
    talk.insist("q" in names, f"the list has the queues {names}, and not 'q'")
    talk.expect(v.Done, v.UpdateQueue(queue="q", max_delivery_count=5))
    talk.expect(v.Done, v.DeleteQueue(queue="q"))
    talk.expect(v.Refused, v.Send(queue="q", message=v.Message(body="m1")))


@check(
    v.Capability.AVAILABILITY,
    v.Capability.MANAGEMENT,
    title="reports the availability of a queue",
    protocol="The description of a queue has its availability, available or limited.",
    advice="Leave the capability out if your bus does not report it.",
)
def _reports_availability(talk: Talk) -> None:
    talk.begin()
    described = talk.expect(v.Described, v.GetQueue(queue="q")).description
    talk.insist(described.availability is not None, "the description has no availability")


@check(
    v.Capability.SIZES,
    title="creates queues of a certain size",
    protocol="max_size of CreateQueue is in GB, of each partition if the queue is partitioned.",
    advice="Convert to what your client takes, which may be megabytes.",
)
def _chooses_sizes(talk: Talk) -> None:
    talk.begin(max_size=2)


@check(
    v.Capability.API_VERSIONS,
    title="names the api-version of a request",
    protocol="api_version of CreateQueue is the version that the request must name.",
    advice="Pass it on in the query of the request; null leaves the choice to the adapter.",
)
def _names_versions(talk: Talk) -> None:
    # Not every edition says that a partitioned queue is granted under this version (MGMT-06).
    talk.begin(api_version="2013-10", partitioned=False)


@check(
    v.Capability.ENTITY_STATUS,
    title="disables a queue and enables it again",
    protocol="UpdateQueue with a status succeeds with Done; a disabled queue refuses messages.",
    advice="Map the four statuses, and entity-disabled for what is refused.",
)
def _disables(talk: Talk) -> None:
    talk.begin()
    talk.expect(v.Done, v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    talk.expect(v.Refused, v.Send(queue="q", message=v.Message(body="m1")))
    talk.expect(v.Done, v.UpdateQueue(queue="q", status=v.EntityStatus.ACTIVE))
    talk.send()


@check(
    v.Capability.TOPICS,
    title="sends to a topic and receives from its subscriptions",
    protocol="Send takes the name of a topic, and Receive the path TOPIC/subscriptions/NAME; each "
    "subscription gets its copy.",
    advice="Split the path at /subscriptions/.",
)
def _has_topics(talk: Talk) -> None:
    _topic(talk)
    sent = v.Message(body="m1")
    talk.expect(v.Done, v.CreateSubscription(topic="t", subscription="other"))
    talk.expect(v.Done, v.Send(queue="t", message=sent))
    for path in (SUBSCRIPTION, "t/subscriptions/other"):
        take = v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
        talk.insist_same(sent, talk.expect(v.Received, take).message)


@check(
    v.Capability.TOPIC_MANAGEMENT,
    v.Capability.TOPICS,
    title="describes, lists, updates and deletes topics and subscriptions",
    protocol="GetTopic succeeds with TopicDescribed, GetQueue of a subscription's path with "
    "Described, lists with Listed, the rest with Done; names are as they were created.",
    advice="If you map names, map them back in descriptions and lists.",
)
def _manages_topics(talk: Talk) -> None:
    _topic(talk)
    described = talk.expect(v.TopicDescribed, v.GetTopic(topic="t")).description
    talk.insist(described.topic == "t", f"the description of 't' is that of {described.topic!r}")
    names = talk.expect(v.Listed, v.ListTopics()).names
    talk.insist("t" in names, f"the list has the topics {names}, and not 't'")
    names = talk.expect(v.Listed, v.ListSubscriptions(topic="t")).names
    talk.insist("s" in names, f"the list has the subscriptions {names}, and not 's'")
    path = talk.expect(v.Described, v.GetQueue(queue=SUBSCRIPTION)).description.queue
    talk.insist(path == SUBSCRIPTION, f"the description of {SUBSCRIPTION!r} is that of {path!r}")
    talk.expect(v.Done, v.UpdateQueue(queue=SUBSCRIPTION, max_delivery_count=5))
    talk.expect(v.Done, v.UpdateTopic(topic="t", time_to_live=HOUR))
    talk.expect(v.Done, v.DeleteQueue(queue=SUBSCRIPTION))
    talk.expect(v.Done, v.DeleteTopic(topic="t"))


@check(
    v.Capability.FILTERS,
    title="keeps what filters look at",
    protocol="All properties that a filter may name come back as they were sent. The "
    "application's own keep their types: 1 comes back neither as 1.0, true nor a text.",
    advice="Pass each property on as the type that JSON has for it.",
)
def _keeps_all_properties(talk: Talk) -> None:
    talk.begin()
    sent = talk.send(
        message_id="id 1",
        correlation_id="c",
        to="t",
        reply_to="r",
        subject="label",
        reply_to_session_id="rs",
        content_type="text/plain",
        properties={
            "text": "1",
            "empty": "",
            "whole": 1,
            "negative": -7,
            "fraction": 2.5,
            "yes": True,
            "no": False,
        },
    )
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


@check(
    v.Capability.FILTERS,
    v.Capability.TOPICS,
    id="rules",
    title="adds, lists and removes rules",
    protocol="AddRule and RemoveRule succeed with Done, and ListRules with RulesListed: each rule "
    "with its name and its filter.",
    advice="Build each filter of the protocol from its fields, and read it back into them.",
)
def _manages_rules(talk: Talk) -> None:
    _topic(talk)
    narrow = v.CorrelationFilter(subject="label", properties={"n": 1, "yes": True})
    for name, condition in (("one", narrow), ("none", v.FalseFilter())):
        add = v.AddRule(topic="t", subscription="s", rule=name, filter=condition)
        talk.expect(v.Done, add)
    listed = talk.expect(v.RulesListed, v.ListRules(topic="t", subscription="s")).rules
    names = sorted(rule.name for rule in listed)
    talk.insist(names == ["$Default", "none", "one"], f"the list has the rules {names}")
    kept = next(rule.filter for rule in listed if rule.name == "one")
    talk.insist(
        kept == narrow, f"the filter came back as {show_line(kept)}, and was {show_line(narrow)}"
    )
    talk.expect(v.Done, v.RemoveRule(topic="t", subscription="s", rule="$Default"))


@check(
    v.Capability.SQL_FILTERS,
    v.Capability.TOPICS,
    title="takes filters in SQL",
    protocol="AddRule takes a SqlFilter, in the language that the service documents.",
    advice="Pass the expression on as it is.",
)
def _takes_sql(talk: Talk) -> None:
    _topic(talk)
    condition = v.SqlFilter(expression="sys.Label = 'a' AND n > 1")
    talk.expect(v.Done, v.AddRule(topic="t", subscription="s", rule="r", filter=condition))


@check(
    v.Capability.RULE_ACTIONS,
    v.Capability.TOPICS,
    title="takes actions of rules",
    protocol="AddRule takes an action, in the language that the service documents.",
    advice="Pass the action on as it is.",
)
def _takes_actions(talk: Talk) -> None:
    _topic(talk)
    act = v.AddRule(
        topic="t", subscription="s", rule="r", filter=v.TrueFilter(), action="SET n = 1"
    )
    talk.expect(v.Done, act)


@check(
    v.Capability.FORWARDING,
    title="forwards",
    protocol="CreateQueue with a forward_to succeeds with Done, and its messages go to that queue "
    "or topic; the bus decides when.",
    advice="Create the queue with the destination, which exists by then.",
)
def _forwards(talk: Talk) -> None:
    talk.start()
    talk.expect(v.Done, v.CreateQueue(queue="destination"))
    talk.expect(v.Done, v.CreateQueue(queue="q", forward_to="destination"))
    talk.send()


@check(
    v.Capability.SIZE_UPDATES,
    v.Capability.SIZES,
    v.Capability.MANAGEMENT,
    title="changes a size",
    protocol="max_size of UpdateQueue is in GB, as in CreateQueue; it succeeds with Done.",
    advice="Change the size of the queue; null keeps it.",
)
def _resizes(talk: Talk) -> None:
    talk.begin(max_size=1)
    talk.expect(v.Done, v.UpdateQueue(queue="q", max_size=2))


@check(
    v.Capability.REDIRECTION,
    v.Capability.FORWARDING,
    title="begins to forward and ends it",
    protocol="forward_to of UpdateQueue begins forwarding; an empty name ends it.",
    advice="Distinguish an empty name from null, which keeps the setting.",
)
def _redirects(talk: Talk) -> None:
    talk.begin()
    talk.expect(v.Done, v.CreateQueue(queue="destination"))
    talk.expect(v.Done, v.UpdateQueue(queue="q", forward_to="destination"))
    talk.expect(v.Done, v.UpdateQueue(queue="q", forward_to=""))
    sent = talk.send()
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


@check(
    v.Capability.DEAD_LETTER_FORWARDING,
    title="forwards dead letters",
    protocol="CreateQueue with a forward_dead_letters_to succeeds with Done.",
    advice="Create the queue with the destination, which exists by then.",
)
def _forwards_dead_letters(talk: Talk) -> None:
    talk.start()
    talk.expect(v.Done, v.CreateQueue(queue="destination"))
    talk.expect(v.Done, v.CreateQueue(queue="q", forward_dead_letters_to="destination"))


def _topic(talk: Talk) -> None:
    """Start again with a topic `t` that has a subscription `s`."""
    talk.start()
    talk.expect(v.Done, v.CreateTopic(topic="t"))
    talk.expect(v.Done, v.CreateSubscription(topic="t", subscription="s"))


ENTITIES: Final = (
    _has_regular_queues,
    _manages_queues,
    _reports_availability,
    _chooses_sizes,
    _resizes,
    _names_versions,
    _disables,
    _has_topics,
    _manages_topics,
    _keeps_all_properties,
    _manages_rules,
    _takes_sql,
    _takes_actions,
    _forwards,
    _redirects,
    _forwards_dead_letters,
)
"""Checks of entities and their management."""
