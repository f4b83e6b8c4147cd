"""Adapters around the reference model that refuse one request, or report one answer wrongly.

`misreporting:Refuses_SendBatch` refuses a command, `misreporting:Refuses_CreateQueue_forward_to`
one that has a certain setting, and each name in `CHANGES` reports outcomes of one type wrongly.
"""

import attrs
from misbehaving import Fake

from busproof import vocabulary as v


def _message(**fields):
    return lambda outcome: attrs.evolve(outcome, message=attrs.evolve(outcome.message, **fields))


def _description(**fields):
    return lambda came: attrs.evolve(came, description=attrs.evolve(came.description, **fields))


def _outcome(**fields):
    return lambda outcome: attrs.evolve(outcome, **fields)


def _with_texts(outcome):
    """Report the numbers and truth values of filters as texts."""

    def read(rule):
        if not isinstance(rule.filter, v.CorrelationFilter):
            return rule
        own = {name: str(value) for name, value in rule.filter.properties.items()}
        return attrs.evolve(rule, filter=attrs.evolve(rule.filter, properties=own))

    return attrs.evolve(outcome, rules=tuple(map(read, outcome.rules)))


def _twice(outcome):
    return attrs.evolve(outcome, messages=(*outcome.messages, *outcome.messages))


CHANGES = {
    "NumbersNothingScheduled": (v.Scheduled, _outcome(sequence_number=None)),
    "CountsFromZero": (v.Received, _message(delivery_count=0)),
    "KnowsNoReasons": (v.Received, _message(dead_letter_reason=None)),
    "GivesTwice": (v.ReceivedSeveral, _twice),
    "GivesUnknown": (
        v.ReceivedSeveral,
        lambda was: attrs.evolve(
            was, messages=tuple(attrs.evolve(each, body="?") for each in was.messages)
        ),
    ),
    "TellsOneTime": (v.RenewedSeveral, _outcome(locked_until=(60_000_000,))),
    "DeletesMore": (v.Deleted, _outcome(count=2)),
    "NumbersNothing": (v.Received, _message(sequence_number=None)),
    "NumbersAllAlike": (v.Received, _message(sequence_number=7)),
    "AcceptsUnknown": (v.SessionAccepted, _outcome(session_id="default")),
    "KeepsNoNull": (v.SessionState, lambda was: attrs.evolve(was, state=was.state or "")),
    "ListsNoSessions": (v.SessionsListed, _outcome(session_ids=())),
    "DescribesUnderItsOwnName": (v.Described, _description(queue="queue-1")),
    "ListsItsOwnNames": (v.Listed, _outcome(names=("queue-1",))),
    "DescribesTopicsUnderItsOwnName": (v.TopicDescribed, _description(topic="topic-1")),
    "TellsNoAvailability": (v.Described, _description(availability=None)),
    "ListsNoRules": (v.RulesListed, _outcome(rules=())),
    "MakesTextOfFilters": (v.RulesListed, _with_texts),
}
"""Name of an adapter to the type of the outcomes that it changes, and how."""


class PeeksFromTheBeginning(Fake):
    def do(self, command, connection):
        if isinstance(command, v.Peek):
            command = attrs.evolve(command, from_sequence_number=None)
        return super().do(command, connection)


class RepeatsTheFirst(Fake):
    """Sends the first message of a batch for each."""

    def do(self, command, connection):
        if isinstance(command, v.SendBatch):
            messages = command.messages[:1] * len(command.messages)
            command = attrs.evolve(command, messages=messages)
        return super().do(command, connection)


class _Changing(Fake):
    """The model, with outcomes of one type changed."""

    kind = v.Done

    @staticmethod
    def change(outcome):
        return outcome

    def wrong(self, command, came):
        if not isinstance(came.outcome, self.kind):
            return came
        return attrs.evolve(came, outcome=self.change(came.outcome))


class _Refusing(Fake):
    """The model, with one command refused, or only those with a setting that is not its default."""

    command = v.Send
    setting = ""

    def wrong(self, command, came):
        if not isinstance(command, self.command):
            return came
        default = self.setting and attrs.fields_dict(self.command)[self.setting].default
        if self.setting and getattr(command, self.setting) == default:
            return came
        return attrs.evolve(came, outcome=v.Refused(error=v.Error.OTHER))


def __getattr__(name: str) -> type[Fake]:
    if name in CHANGES:
        kind, change = CHANGES[name]
        return type(name, (_Changing,), {"kind": kind, "change": staticmethod(change)})
    refuses, _, rest = name.partition("_")
    if refuses != "Refuses":
        raise AttributeError(name)
    command, _, setting = rest.partition("_")
    return type(name, (_Refusing,), {"command": getattr(v, command), "setting": setting})
