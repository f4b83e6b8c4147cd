"""Steps that check outcomes against the documents."""

from pytest_bdd import parsers, then, when

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import OTHER
from busproof.steps.wording import Properties, properties
from busproof.vocabulary.commands import CommitTransaction, Receive
from busproof.vocabulary.messages import SEQUENCE_BITS, MessageView
from busproof.vocabulary.outcomes import Done, Empty, Outcome, Refused
from busproof.vocabulary.values import Error


@then("it is accepted")
def is_accepted(outcome: Outcome) -> None:
    """Check that the request took effect."""
    assert isinstance(outcome, Done), outcome


@then("all of them are accepted")
def are_accepted(outcomes: list[Outcome]) -> None:
    """Check that every request took effect."""
    assert all(isinstance(outcome, Done) for outcome in outcomes), outcomes


@then("it is refused")
def is_refused(outcome: Outcome) -> None:
    """Check that the request was refused; the documents do not name the error."""
    assert isinstance(outcome, Refused), outcome


@when("it was refused")
def was_refused(outcome: Outcome) -> None:
    """End a scenario about a refused request if the documents allow that it is accepted."""
    if not isinstance(outcome, Refused):
        raise NotApplicable("answer: the request was accepted, as it may be")


@then("it is refused as an invalid operation")
def is_invalid(outcome: Outcome) -> None:
    """Check that the request was refused with the error that the documents name."""
    assert isinstance(outcome, Refused), outcome
    assert outcome.error is Error.INVALID_OPERATION, outcome


@then("it is refused because it is not found")
def is_not_found(outcome: Outcome) -> None:
    """Check that the request was refused because its entity does not exist."""
    assert isinstance(outcome, Refused), outcome
    assert outcome.error is Error.NOT_FOUND, outcome


@then("it is refused because it exists already")
def is_there_already(outcome: Outcome) -> None:
    """Check that the request was refused because an entity with its name exists."""
    assert isinstance(outcome, Refused), outcome
    assert outcome.error is Error.ALREADY_EXISTS, outcome


@then("it, or the transaction's commit, is refused")
def is_refused_in_the_end(bus: Bus, transaction: str, outcome: Outcome) -> None:
    """Check that the request or, if refusals wait for it (TXN-REFUSAL), the commit was refused."""
    if isinstance(outcome, Done):
        outcome = bus.do(CommitTransaction(transaction=transaction))
    assert isinstance(outcome, Refused), outcome


@then("it is refused as an invalid operation, or the transaction's commit is refused")
def is_invalid_in_the_end(bus: Bus, transaction: str, outcome: Outcome) -> None:
    """Check that the request was invalid or, if refusals wait for it, the commit was refused."""
    assert not isinstance(outcome, Refused) or outcome.error is Error.INVALID_OPERATION, outcome
    is_refused_in_the_end(bus, transaction, outcome)


@then("it is accepted or refused")
def is_either(outcome: Outcome) -> None:
    """Check that the request was accepted or refused; the judge has checked whether it may be."""
    assert isinstance(outcome, Done | Refused), outcome


@then(parsers.parse("exactly {number:d} of the sends is refused"))
@then(parsers.parse("exactly {number:d} of the sends are refused"))
def so_many_refused(outcomes: list[Outcome], number: int) -> None:
    """Check the number of refused sends."""
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == number, outcomes


@then("the same sends are refused as before")
def same_refused(past: list[object]) -> None:
    """Check that the outage of each partition had the same effect both times."""
    assert past[-1] == past[-2]


@then(parsers.parse("exactly {number:d} messages were received"))
@then(parsers.parse("exactly {number:d} message was received"))
def so_many_received(views: list[MessageView], number: int) -> None:
    """Check the number of messages received, each once."""
    assert sorted(view.body for view in views) == sorted({view.body for view in views})
    assert len(views) == number, [view.body for view in views]


@then(parsers.parse("at most {number:d} message was received"))
@then(parsers.parse("at most {number:d} messages were received"))
def not_more_received(views: list[MessageView], number: int) -> None:
    """Check the maximum number of messages received; the documents permit fewer."""
    assert len(views) <= number, [view.body for view in views]


@then(parsers.parse("exactly {number:d} messages were received by then"))
def so_many_by_then(views: list[MessageView], number: int) -> None:
    """Check the number of distinct messages; some may repeat after their locks expired."""
    assert len({view.body for view in views}) == number, [view.body for view in views]


@then("a receive finds nothing")
def finds_nothing(bus: Bus, queue: str) -> None:
    """Check that a receive is empty."""
    assert isinstance(bus.receive(queue), Empty)


@then("a receive over another connection finds nothing")
def finds_nothing_elsewhere(bus: Bus, queue: str) -> None:
    """Check that a receive over a second connection is empty."""
    assert isinstance(bus.do(Receive(queue=queue), OTHER), Empty)


@then("no message is shown")
def shows_nothing(peeked: tuple[MessageView, ...]) -> None:
    """Check that the peek is empty."""
    assert peeked == ()


@then("they are all in one partition")
@then("all that were ever sent were in one partition")
def in_one_partition(bus: Bus, queue: str) -> None:
    """Check that one partition stored all messages."""
    partitions = bus.located(queue, [message.body for message in bus.sent], bus.sent[0].session_id)
    assert len(set(partitions)) == 1, partitions


@then("every partition took some of them")
def everywhere(bus: Bus, queue: str) -> None:
    """Check that every partition stored a message."""
    partitions = bus.located(queue, [message.body for message in bus.sent], None)
    assert set(partitions) == set(range(bus.profile.partitions))


@then("none of them is in a partition that is down")
def elsewhere(bus: Bus, queue: str, down: set[int]) -> None:
    """Check that only partitions that were up stored messages."""
    partitions = bus.located(queue, [message.body for message in bus.sent], None)
    assert not down & set(partitions), partitions


@then("the messages came in the order in which they were sent")
@then("they came in the order in which they were sent")
@then("the messages of each key came in the order in which they were sent")
def in_order(bus: Bus, views: list[MessageView]) -> None:
    """Check that the messages of each key arrived in the order of sending."""
    order = {message.body: number for number, message in enumerate(bus.sent)}
    for key in {(view.session_id, view.partition_key) for view in views}:
        numbers = [order[v.body] for v in views if (v.session_id, v.partition_key) == key]
        assert numbers == sorted(numbers)


@then(parsers.parse("it has {carried}"), converters={"carried": properties})
def has_properties(views: list[MessageView], carried: Properties) -> None:
    """Check the properties of the message received."""
    assert views, "no message came"
    assert carried.fit(views[0]), views[0]


@then("every message received has a MessageId")
def all_have_ids(views: list[MessageView]) -> None:
    """Check that every message has a MessageId."""
    assert views
    assert all(view.message_id for view in views), views


@then("no two of them have one sequence number")
def numbers_differ(views: list[MessageView]) -> None:
    """Check that sequence numbers are unique, where they are reported."""
    numbers = [view.sequence_number for view in views if view.sequence_number is not None]
    assert len(set(numbers)) == len(numbers), numbers


@then("every sequence number names the partition that took the message")
def numbers_name_partitions(bus: Bus, views: list[MessageView]) -> None:
    """Check that the upper bits of each sequence number are the witnessed partition."""
    named = {view.body: (view.sequence_number or 0) >> SEQUENCE_BITS for view in views}
    assert named == {body: bus.partition_of[body] for body in named}
