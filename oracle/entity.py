"""What is known of one entity: a queue, or what takes the part of one."""

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.arrivals import Passed
from busproof.oracle.expiry_index import NO_DEATHS, Deaths
from busproof.oracle.heap import Heap
from busproof.oracle.outages import Outages, Partitions
from busproof.oracle.queued_messages import (
    Copy,
    Key,
    Numbered,
    Receivers,
    SessionData,
    SessionLock,
    Spread,
    Stored,
    Tally,
)
from busproof.oracle.registry import Managed, as_created
from busproof.oracle.schedule import EMPTY, NEVER, Calendar
from busproof.oracle.storage_used import NO_ROOM_TAKEN, Room
from busproof.oracle.window import Window

__all__ = ["Queue", "Subscription", "Topic", "is_unsure"]


@attrs.frozen
class Topic:
    """What makes an entity a topic.

    Attributes:
        subscriptions: the paths of its subscriptions, which hold its messages.
        revision: how often a subscription came to be or a rule of one changed.
        adrift: messages whose sending was never answered; they may arrive at any time.
        copiers: how many rules with an action were ever added to its subscriptions.
        parted: whether a subscription of it was ever deleted.
    """

    subscriptions: tuple[str, ...] = ()
    revision: int = 0
    adrift: tuple[v.Message, ...] = ()
    copiers: int = 0
    parted: bool = False


@attrs.frozen
class Subscription:
    """What makes an entity a subscription.

    Attributes:
        topic: its topic, whose partitions are its own.
        late: whether the topic had taken messages before the subscription was there.
        rules: name to what the rule takes.
        actions: name to what the rule changes, of those that have an action.
        acted: whether there ever was such a rule.
        pending: changes of rules that may take effect, now, later or never.
        added: whether a rule was ever added, and
        removed: whether one was ever removed.
        revision: of the topic when the subscription or its rules changed last.
        kept_out: body to the rules by which the message was not taken.
        kept_by: all of those rules.
        taken: message without body to whether it was taken, once rules have changed.
    """

    topic: str
    late: bool = False
    rules: Map[str, v.Filter] = Map()
    actions: Map[str, str] = Map()
    acted: bool = False
    pending: tuple[v.AddRule | v.RemoveRule, ...] = ()
    added: bool = False
    removed: bool = False
    revision: int = 0
    kept_out: Map[str, tuple[v.RuleId, ...]] = Map()
    kept_by: tuple[v.RuleId, ...] = ()
    taken: Map[v.Message, bool] = Map()


@attrs.frozen(kw_only=True, slots=False)
class Queue:
    """One entity: a queue, or what takes the part of one for a topic or a subscription.

    Attributes:
        role: what else it is, unless it is a queue.
        settings: what it was created with.
        doubtful: whether it is not known to exist, its creation never having been answered.
        outages: its partitions that are down.
        arrivals: messages stored so far.
        messages: arrival number to message.
        bodies: body to the arrival numbers that had it, or to the rule by which it never arrived.
        lines: for each key, its available messages by arrival number.
        tallies: for each set of partitions, how many messages are available there.
        locks: lock token to arrival number.
        timers: (latest expiry, arrival number, token) of the locks.
        receivers: who has received.
        homes: key to the partitions that it may select.
        spread: how messages without a key were spread.
        copies: MessageId to the sends that had it (duplicate detection on); of one key the last
            that surely counts comes before what may count later.
        declined: MessageId to the rule by which a message that had it was not accepted.
        namesakes: MessageId to the partitions that took all messages with it, none once they
            differed (detection off).
        sessions: session id to the hold on it.
        seekers: connections that may come to hold any free session, their request for the next
            one never having been answered.
        members: session id to how many messages of it may be stored.
        states: session id to what is stored with it.
        recovered: partitions that were down and came up again.
        outage: from when to when partitions were down last, all being up before and after.
        peeked: whether somebody has looked at its messages.
        spent: how many messages were delivered as often as they may be.
        settlements: how many messages were settled so far.
        batched: whether several messages were sent to it, or received, in one request.
        pledged: whether any of them was settled in a transaction, or tried to be.
        numbers: sequence number to arrival number, of messages that were received.
        latest_numbers: for each line, the message of it whose sequence number was learned last.
        latest_number: the sequence number that was seen last, of whatever line.
        deferred: sequence number to arrival number, of messages that were ever set aside.
        sought: sequence numbers by which a receive was asked for and never answered.
        latest_deferred: arrival number of the message that was set aside last.
        calendar: what is scheduled.
        tokens: every lock token that was ever given to the arrival number of its message.
        fed: whether messages were forwarded to it.
        passed: body to the messages that it forwarded, which may be its dead letters instead.
        kept_away: the rules by which messages that were forwarded are not found here.
        room: what its messages take of its size.
        managed: what management has done to it.
        deaths: whose time to live ends when.
        fronts: for each set of partitions, what was surely stored there, by arrival number.
        outlasted: partition to how many messages had arrived when it went down last.
    """

    settings: v.CreateQueue
    outages: Outages
    role: Topic | Subscription | None = None
    doubtful: bool = False
    arrivals: int = 0
    messages: Map[int, Stored] = Map()
    bodies: Map[str, tuple[int, ...] | v.RuleId] = Map()
    lines: Map[Key, Heap[int]] = Map()
    tallies: Map[Partitions, Tally] = Map()
    locks: Map[str, int] = Map()
    timers: Heap[tuple[int, int, str]] = None
    receivers: Receivers = attrs.field(factory=Receivers)
    homes: Map[Key, Partitions] = Map()
    spread: Spread = attrs.field(factory=Spread)
    copies: Map[str, tuple[Copy, ...]] = Map()
    declined: Map[str, v.RuleId] = Map()
    namesakes: Map[str, Partitions] = Map()
    sessions: Map[str, SessionLock] = Map()
    seekers: frozenset[str] = frozenset()
    members: Map[str, int] = Map()
    states: Map[str, SessionData] = Map()
    recovered: Partitions = 0
    outage: Window = Window(NEVER, -NEVER)
    peeked: bool = False
    spent: int = 0
    settlements: int = 0
    pledged: bool = False
    batched: bool = False
    numbers: Map[int, int] = Map()
    latest_numbers: Map[Key, Numbered] = Map()
    latest_number: int | None = None
    deferred: Map[int, int] = Map()
    sought: Map[int, bool] = Map()
    latest_deferred: int = -1
    calendar: Calendar = EMPTY
    tokens: Map[str, int] = Map()
    fed: bool = False
    passed: Map[str, tuple[Passed, ...]] = Map()
    kept_away: tuple[v.RuleId, ...] = ()
    room: Room = NO_ROOM_TAKEN
    managed: Managed = attrs.field(
        default=attrs.Factory(lambda self: as_created(self.settings), takes_self=True)
    )
    deaths: Deaths = NO_DEATHS
    fronts: Map[Partitions, Heap[int]] = Map()
    outlasted: Map[int, int] = Map()


def is_unsure(queue: Queue) -> bool:
    """Whether the queue may not be there, or only in part."""
    return queue.doubtful or bool(queue.managed.frayed)
