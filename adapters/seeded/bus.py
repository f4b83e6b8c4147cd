"""A small bus with partitions that conforms, made to be broken in one place at a time.

It shares the vocabulary with the reference model and none of its rules: where the judge accuses it,
one of the two is wrong. What is open to a bus it answers in the way that the most readings allow.
"""

from typing import ClassVar, assert_never

import attrs

from busproof import __version__
from busproof.adapters.base import Declaration, Implementation, Observed
from busproof.adapters.seeded.batching import Batching
from busproof.adapters.seeded.queues import Queue, owner_of
from busproof.vocabulary import commands as c
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Listed, Outcome, Refused, Witness
from busproof.vocabulary.paths import TRANSFERS
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["AssigningBus", "SeededBus"]

NamespaceCommand = (
    c.AdvanceClock
    | c.CreateQueue
    | c.CreateTopic
    | c.CreateSubscription
    | c.RestoreQueue
    | c.ListQueues
    | c.ListTopics
    | c.BeginTransaction
    | c.CommitTransaction
    | c.RollBackTransaction
)
TopicCommand = (
    c.Send | c.SendBatch | c.Schedule | c.CancelScheduled | c.TakePartitionDown | c.BringPartitionUp
)
RuleCommand = c.AddRule | c.RemoveRule | c.ListRules
QueueCommand = (
    c.SessionCommand
    | c.Schedule
    | c.CancelScheduled
    | c.Receive
    | c.ReceiveBatch
    | c.Settlement
    | c.ReceiveDeferred
    | c.RenewLock
    | c.Peek
    | c.GetQueue
    | c.UpdateQueue
    | c.DeleteQueue
    | c.TakePartitionDown
    | c.BringPartitionUp
)


class SeededBus(Batching):
    """An adapter with a conforming bus behind it; a fault is a subclass that overrides a hook."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            Capability.WITNESS,
            Capability.OUTAGES,
            Capability.TRANSACTIONS,
            Capability.TRANSACTIONAL_SETTLEMENT,
            Capability.BATCHES,
            Capability.RECEIVE_BATCHES,
            Capability.SESSIONS,
            Capability.DUPLICATE_DETECTION,
            Capability.PEEK,
            Capability.PEEK_FROM,
            Capability.PEEK_LOCK,
            Capability.REGULAR_QUEUES,
            Capability.TOPICS,
            Capability.TOPIC_MANAGEMENT,
            Capability.FILTERS,
            Capability.SQL_FILTERS,
            Capability.RULE_ACTIONS,
            Capability.FORWARDING,
            Capability.REDIRECTION,
            Capability.DEAD_LETTER_FORWARDING,
            Capability.NEXT_SESSION,
            Capability.SESSION_STATE,
            Capability.SESSION_LISTING,
            Capability.DEAD_LETTER,
            Capability.TRANSFER_DEAD_LETTER,
            Capability.ENTITY_STATUS,
            Capability.LOCK_RENEWAL,
            Capability.DEFERRAL,
            Capability.SCHEDULING,
            Capability.SEQUENCE_NUMBERS,
            Capability.MANAGEMENT,
            Capability.API_VERSIONS,
            Capability.AVAILABILITY,
            Capability.TIME_TO_LIVE,
            Capability.DISPOSABLE_NAMESPACE,
            Capability.LEGACY_ENTITIES,
            Capability.LIMITS,
            Capability.SIZES,
        }
    )

    @property
    def declaration(self) -> Declaration:
        """All but a client library, on a virtual clock that is exact."""
        implementation = Implementation(
            name="busproof seeded bus", version=__version__, language="Python"
        )
        return Declaration(implementation=implementation, capabilities=self.capabilities)

    def start(self, profile: Profile) -> None:
        """Begin with an empty namespace, and with nothing left of what a fault had kept."""
        vars(self).clear()
        self.profile = profile
        self.queues = {}
        self.dark = {}
        self.transactions = {}
        self.now = 0
        self.assigned = 0
        self.sized = False

    def stop(self) -> None:
        """Forget the namespace."""
        self.queues = {}
        self.transactions = {}

    def do(self, command: c.Command, connection: str) -> Observed:
        """Do what is asked and tell what came of it."""
        if isinstance(command, NamespaceCommand):
            return Observed(self.ask_namespace(command))
        if isinstance(command, RuleCommand | c.TopicManagement):
            return Observed(self.ask_by_topic(command))
        queue = self.found(command.queue)
        if queue is None:
            return Observed(self.missing(command, owner_of(command.queue)))
        if self.is_misaddressed(queue, command):
            return Observed(Refused(error=Error.INVALID_OPERATION))
        if self.is_disabled_for(queue, command):
            return Observed(Refused(error=Error.ENTITY_DISABLED))
        return self.do_with(queue, command, connection)

    def do_with(
        self, queue: Queue, command: QueueCommand | c.Send | c.SendBatch, connection: str
    ) -> Observed:
        """Do what is asked of a queue that may be asked for it."""
        if isinstance(command, c.Send | c.Schedule | c.SendBatch):
            return self.take_any(queue, command, connection)
        return Observed(self.ask(queue, command, connection))

    def take_any(
        self, queue: Queue, command: c.Send | c.Schedule | c.SendBatch, connection: str
    ) -> Observed:
        """Take a message, or several at once."""
        if isinstance(command, c.SendBatch):
            return self.take_batch(queue, command, connection)
        return self.take(queue, command, connection)

    def take(self, queue: Queue, command: c.Send | c.Schedule, connection: str) -> Observed:
        """Take a message, now or for later, unless it is beyond a limit."""
        error = self.beyond_limits(command)
        if error is not None:
            return self.refuse_beyond(queue, command, error)
        if isinstance(command, c.Send):
            return self.send(queue, command)
        return Observed(self.ask(queue, command, connection))

    def refuse_beyond(
        self,
        queue: Queue,  # noqa: ARG002 - for faults
        command: c.Send | c.Schedule,  # noqa: ARG002
        error: Error,
    ) -> Observed:
        """Refuse a message that is beyond a limit."""
        return Observed(Refused(error=error))

    def found(self, name: str) -> Queue | None:
        """The queue or the dead-letter queue of this path, once all is over that has ended."""
        owner = self.queues.get(owner_of(name))
        if owner is None:
            return None
        for source in self.queues.values():
            self.let_due_ones_come(source)
        self.end_what_is_over(owner)
        if owner.name == name or owner.dead is None:
            return owner
        grave = owner.transfers if name.endswith(TRANSFERS) else owner.dead
        if grave is not None:
            self.end_what_is_over(grave)
        return grave

    def ask_namespace(  # noqa: PLR0911 - one closed match over the vocabulary
        self, command: NamespaceCommand
    ) -> Outcome:
        """Do what concerns no single queue that exists."""
        match command:
            case c.AdvanceClock():
                self.now += command.duration
                return Done()
            case c.CreateQueue():
                return self.create(command)
            case c.CreateTopic():
                return self.create_topic(command)
            case c.CreateSubscription():
                return self.create_subscription(command)
            case c.RestoreQueue():
                return self.restore(command)
            case c.ListQueues():
                return Listed(names=tuple(self.names()))
            case c.ListTopics():
                return Listed(names=tuple(self.topic_names()))
            case c.BeginTransaction():
                return self.begin(command.transaction)
            case c.CommitTransaction():
                return self.commit(command.transaction)
            case c.RollBackTransaction():
                return self.roll_back(command.transaction)
            case _:
                assert_never(command)

    def restore(self, asked: c.RestoreQueue) -> Outcome:
        """Begin with a partitioned queue from before, once."""
        if asked.queue in self.queues:
            return Refused(error=Error.ALREADY_EXISTS)
        self.queues[asked.queue] = self.made(c.CreateQueue(**attrs.asdict(asked)))
        return Done()

    def destination_of(self, queue: Queue) -> Queue | None:
        """Where the messages of a queue or subscription go on to, if it forwards."""
        return self.queues.get(queue.settings.forward_to or "")

    def goes_nowhere(self, queue: Queue) -> bool:
        """Whether the destination of a queue or subscription is gone."""
        onward = queue.settings.forward_to
        return onward is not None and onward not in self.queues

    def ask_by_topic(self, command: RuleCommand | c.TopicManagement) -> Outcome:
        """Do what names a topic, and perhaps a subscription of it."""
        if isinstance(command, RuleCommand):
            return self.ask_of_rules(command)
        return self.ask_of_topic(command)

    def ask_of_rules(self, command: RuleCommand) -> Outcome:
        """Do what concerns the rules of a subscription."""
        subscription = self.queues.get(f"{command.topic}/subscriptions/{command.subscription}")
        if subscription is None or subscription.topic is None:
            return Refused(error=Error.NOT_FOUND)
        if isinstance(command, c.ListRules):
            return self.listed(subscription)
        if command.transaction is not None:
            return self.change_in_transaction(subscription, command)
        return self.change(subscription, command)

    def create_topic(self, command: c.CreateTopic) -> Outcome:
        """Create a topic, once."""
        settings = c.CreateQueue(
            queue=command.topic,
            partitioned=command.partitioned,
            duplicate_detection=command.duplicate_detection,
            duplicate_window=command.duplicate_window,
            time_to_live=command.time_to_live,
        )
        created = self.create(settings)
        if isinstance(created, Done):
            self.queues[command.topic].subscriptions = []
        return created

    def create_subscription(self, command: c.CreateSubscription) -> Outcome:
        """Create a subscription, once, with the partitions of its topic."""
        topic = self.queues.get(command.topic)
        if topic is None or topic.subscriptions is None:
            return Refused(error=Error.NOT_FOUND)
        if (error := self.objection_to_name(topic, command.subscription)) is not None:
            return Refused(error=error)
        settings = c.CreateQueue(
            queue=f"{command.topic}/subscriptions/{command.subscription}",
            partitioned=topic.settings.partitioned,
            requires_session=command.requires_session,
            lock_duration=command.lock_duration,
            max_delivery_count=command.max_delivery_count,
            forward_to=command.forward_to,
            time_to_live=command.time_to_live,
            dead_letter_expired=command.dead_letter_expired,
            forward_dead_letters_to=command.forward_dead_letters_to,
        )
        created = self.create(settings)
        if isinstance(created, Done):
            self.subscribe(topic, self.queues[settings.queue])
        return created

    def objection_to_name(self, topic: Queue, name: str) -> Error | None:
        """Why no subscription of a topic gets this name, if none does."""
        if len(name) > self.longest_short_name("subscription"):
            return Error.INVALID_OPERATION
        path = f"{topic.name}/subscriptions/{name}".lower()
        alike = any(path == each.name.lower() for each in topic.subscriptions or ())
        return Error.ALREADY_EXISTS if alike else None

    def ask(  # noqa: PLR0911 - one closed match over the vocabulary
        self, queue: Queue, command: QueueCommand, connection: str
    ) -> Outcome:
        """Do anything with a queue but send to it."""
        match command:
            case c.Schedule():
                return self.schedule(queue, self.prepared(command.message), command)
            case c.Receive():
                return self.receive(queue, command, connection)
            case c.ReceiveBatch():
                return self.receive_batch(queue, command, connection)
            case c.Complete() | c.Abandon() | c.DeadLetter() | c.Defer():
                return self.settle_in_its_time(queue, command)
            case c.ReceiveDeferred():
                return self.receive_deferred(queue, command, connection)
            case c.RenewLock():
                return self.renew(queue, command.lock_token)
            case c.CancelScheduled():
                return self.cancel(queue, command)
            case c.Peek():
                return self.peek_any(queue, command)
            case c.GetQueue() | c.UpdateQueue() | c.DeleteQueue():
                return self.manage(queue, command)
            case c.TakePartitionDown() | c.BringPartitionUp():
                return self.switch(queue, command)
            case _:
                return self.ask_session(queue, command, connection)

    def is_misaddressed(self, queue: Queue, command: QueueCommand | c.Send | c.SendBatch) -> bool:
        """Whether a topic is asked what is for subscriptions, or the other way round."""
        of_topics = isinstance(command, TopicCommand)
        if queue.topic is not None:
            return of_topics
        return queue.subscriptions is not None and not of_topics

    def is_disabled_for(self, queue: Queue, command: QueueCommand | c.Send | c.SendBatch) -> bool:
        """Whether the status of a queue forbids this; whoever settles or looks is not kept away."""
        if isinstance(command, c.Send | c.SendBatch | c.Schedule):
            return not queue.status.takes
        return isinstance(command, c.Receive | c.ReceiveBatch) and not queue.status.gives

    def peek_any(self, queue: Queue, command: c.Peek) -> Outcome:
        """Show the oldest messages, of one session if it is named, or from a number on."""
        if command.from_sequence_number is not None:
            return self.peek_on(queue, command.count, command.from_sequence_number)
        if command.session_id is None:
            return self.peek(queue, command.count)
        return self.peek_session(queue, command)

    def switch(self, queue: Queue, command: c.TakePartitionDown | c.BringPartitionUp) -> Outcome:
        """Take a partition down or bring it up; what it holds stays."""
        if command.partition >= queue.partitions:
            return Refused(error=Error.NOT_FOUND)
        if isinstance(command, c.TakePartitionDown):
            queue.down.add(command.partition)
        else:
            queue.down.discard(command.partition)
        self.dark[owner_of(queue.name)] = set(queue.down)
        return Done()

    def send(self, queue: Queue, command: c.Send) -> Observed:
        """Take a message, or refuse it; the witness is its partition."""
        message = self.prepared(command.message)
        if command.transaction is None and self.lacks_session(queue, message):
            return Observed(Refused(error=Error.INVALID_OPERATION))
        if queue.dead is None and not self.takes_sends(queue):
            return Observed(Refused(error=Error.INVALID_OPERATION))
        if command.transaction is None:
            placed = self.place(queue, message, command.timeout)
            if not isinstance(placed, Error):
                self.store(queue, message, self.key_of(queue, message), placed)
        else:
            placed = self.send_in_transaction(queue, message, command.transaction)
        if isinstance(placed, Error):
            return Observed(Refused(error=placed))
        return Observed(Done(), Witness(partition=placed))

    def takes_sends(self, queue: Queue) -> bool:  # noqa: ARG002 - for faults
        """Whether a dead-letter queue can be sent to: it cannot."""
        return False

    def send_in_transaction(self, queue: Queue, message: Message, name: str) -> int | Error:
        """Stage a message, if its transaction runs."""
        transaction = self.transactions.get(name)
        return Error.NOT_FOUND if transaction is None else self.stage(queue, message, transaction)

    def prepared(self, message: Message) -> Message:
        """What the client library makes of a message: nothing, there is none."""
        return message


class AssigningBus(SeededBus):
    """The bus behind a client library that assigns missing MessageIds."""

    capabilities: ClassVar = SeededBus.capabilities | {Capability.CLIENT_LIBRARY}

    def prepared(self, message: Message) -> Message:
        """The message with a MessageId."""
        if message.message_id is not None:
            return message
        self.assigned += 1
        return attrs.evolve(message, message_id=f"assigned-{self.assigned}")
