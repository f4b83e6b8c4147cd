"""Random commands and random profiles for the reference model."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from model_driver import SECOND, catalogue

from busproof import vocabulary as v
from busproof.model import Namespace

ENTITIES = ("q", "r", "s", "f", "t", "p")

VERSIONS = ("", "2012-03", "2013-10", "2014-01", "2013-9", "abc")

SUBSCRIPTIONS = ("t/subscriptions/a", "t/subscriptions/b", "p/subscriptions/a")


def any_profile(random: Random) -> v.Profile:
    """Any edition, any namespace, any number of partitions, and half of the readings at random."""
    ambiguities = catalogue().ambiguities
    readings = {
        each.id: random.choice(list(each.choices)) for each in ambiguities if random.random() < 0.5
    }
    return profile_at_random(random, readings)


def profile_at_random(random: Random, readings: dict[str, str]) -> v.Profile:
    """Any edition and any namespace, partitioned ones of Premium included, with these readings."""
    tier = random.choice(("standard", "standard", "standard", "premium", "basic", "partitioned"))
    if tier == "partitioned":
        return v.profile_for(
            catalogue(),
            edition=random.choice(catalogue().rule("PREM-14").editions),
            tier="premium",
            readings=readings,
            namespace_partitions=random.choice((2, 4)),
        )
    return v.profile_for(
        catalogue(),
        edition=random.choice(catalogue().editions).id,
        tier=tier,
        readings=readings,
        partitions=random.choice((2, 3, 4, 16)),
    )


class Commands:
    """Random commands, most of which name what there is."""

    def __init__(self, random: Random, namespace: Namespace) -> None:
        self._random = random
        self._namespace = namespace
        self._bodies = 0
        self._transactions = 0

    def setup(self) -> Iterator[v.Command]:
        """Create some entities, one of each kind, with random options."""
        yes = self._yes
        lives = self._pick(None, None, 20 * SECOND)
        onward = self._pick(None, "r", "q")
        yield v.CreateQueue(
            queue="q",
            partitioned=True,
            duplicate_detection=yes(0.4),
            duplicate_window=20 * SECOND,
            max_delivery_count=2,
            time_to_live=lives,
            dead_letter_expired=yes(0.5),
        )
        yield v.CreateQueue(
            queue="r", partitioned=yes(0.2), lock_duration=10 * SECOND, time_to_live=lives
        )
        yield v.CreateQueue(
            queue="s", partitioned=yes(0.8), requires_session=True, max_delivery_count=2
        )
        yield v.CreateQueue(queue="f", partitioned=yes(0.5), forward_to=self._pick("q", "r", "s"))
        yield v.CreateTopic(topic="t", duplicate_detection=yes(0.3), time_to_live=lives)
        yield v.CreateTopic(topic="p", partitioned=False)
        yield v.CreateSubscription(topic="t", subscription="a", forward_dead_letters_to=onward)
        yield v.CreateSubscription(
            topic="t", subscription="b", requires_session=yes(0.5), max_delivery_count=1
        )
        yield v.CreateSubscription(topic="p", subscription="a", forward_to=onward)

    def any(self) -> tuple[v.Command, str]:
        """A command, and the connection over which it comes."""
        makers: tuple[tuple[int, Callable[[], v.Command]], ...] = (
            (9, self._send),
            (3, self._batch),
            (3, self._schedule),
            (1, self._cancel),
            (9, self._receive),
            (3, self._receive_batch),
            (9, self._settle),
            (3, self._settle_batch),
            (2, self._receive_deferred),
            (2, self._renew),
            (2, self._renew_locks),
            (2, self._delete_batch),
            (2, self._peek),
            (5, self._session),
            (3, self._transaction),
            (2, self._outage),
            (2, self._rule),
            (3, self._manage),
            (4, self._advance),
        )
        weights = [weight for weight, _ in makers]
        maker = self._random.choices([each for _, each in makers], weights)[0]
        return maker(), self._pick("c1", "c1", "c2")

    def _pick(self, *options: Any) -> Any:
        return self._random.choice(options)

    def _yes(self, probability: float) -> bool:
        return self._random.random() < probability

    def _message(self) -> v.Message:
        self._bodies += 1
        return v.Message(
            body=f"m{self._bodies}",
            message_id=self._pick(None, None, "i", "j"),
            session_id=self._pick(None, "a", "b"),
            partition_key=self._pick(None, None, None, "a", "k"),
            subject=self._pick(None, "x", "y"),
            time_to_live=self._pick(None, None, None, 15 * SECOND),
        )

    def _transaction_name(self, probability: float = 0.2) -> str | None:
        running = f"x{self._pick(self._transactions, self._transactions, 0)}"
        return running if self._yes(probability) else None

    def _readable(self) -> str:
        """The path of a queue, a subscription or a dead-letter queue."""
        path: str = self._pick(*ENTITIES[:4], *ENTITIES[:3], *SUBSCRIPTIONS, "t", "none")
        suffix: str = self._pick("", "", "", "", v.DEAD_LETTERS, v.TRANSFERS)
        return path + suffix

    def _session_of(self, path: str) -> str | None:
        entity = self._namespace.entities.get(path)
        needs = entity is not None and entity.settings.requires_session
        return self._pick("a", "b") if needs is not self._yes(0.03) else None

    def _send(self) -> v.Command:
        queue = self._pick(*ENTITIES, *ENTITIES, "none", "q" + v.DEAD_LETTERS, SUBSCRIPTIONS[0])
        timeout = self._pick(60 * SECOND, 60 * SECOND, 10 * SECOND)
        transaction = self._transaction_name()
        return v.Send(
            queue=queue, message=self._message(), timeout=timeout, transaction=transaction
        )

    def _batch(self) -> v.Command:
        alike = self._message()
        count = self._pick(1, 2, 2, 3)
        messages = [self._message() for _ in range(count)]
        if self._yes(0.6):
            keys = {"session_id": alike.session_id, "partition_key": alike.partition_key}
            messages = [v.Message(body=each.body, **keys) for each in messages]
        return v.SendBatch(
            queue=self._pick(*ENTITIES),
            messages=tuple(messages),
            transaction=self._transaction_name(),
        )

    def _schedule(self) -> v.Command:
        return v.Schedule(
            queue=self._pick(*ENTITIES),
            message=self._message(),
            delay=self._pick(-1, 0, 5 * SECOND, 30 * SECOND),
            transaction=self._transaction_name(),
        )

    def _cancel(self) -> v.Command:
        queue = self._pick("q", "r", "s")
        entity = self._namespace.entities.get(queue)
        numbers = list(entity.scheduled) if entity else []
        return v.CancelScheduled(queue=queue, sequence_number=self._pick(*numbers, 7))

    def _receive(self) -> v.Command:
        path = self._readable()
        mode = self._pick(
            v.ReceiveMode.PEEK_LOCK, v.ReceiveMode.PEEK_LOCK, v.ReceiveMode.RECEIVE_AND_DELETE
        )
        return v.Receive(queue=path, mode=mode, session_id=self._session_of(path))

    def _receive_batch(self) -> v.Command:
        path = self._readable()
        return v.ReceiveBatch(queue=path, count=self._pick(1, 2), session_id=self._session_of(path))

    def _token(self, path: str) -> str:
        """A token that a receiver of the entity has, or had."""
        entity = self._namespace.entities.get(path)
        messages = entity.messages.values() if entity else ()
        tokens = [each.token for each in messages if each.token and each.cached_by is None]
        return self._pick(*tokens, *tokens, "1/1", "none")

    def _locked(self) -> str:
        """The path of an entity, of one with locked messages rather than of another."""
        paths = [
            path
            for path, each in self._namespace.entities.items()
            if any(queued.token for queued in each.messages.values())
        ]
        return self._pick(*paths, *paths, self._readable())

    def _settle(self) -> v.Command:
        path = self._locked()
        kind = self._pick(v.Complete, v.Abandon, v.DeadLetter, v.Defer, v.Complete, v.Abandon)
        transaction = self._transaction_name()
        return kind(queue=path, lock_token=self._token(path), transaction=transaction)

    def _settle_batch(self) -> v.Command:
        path = self._locked()
        tokens = [self._token(path) for _ in range(self._pick(1, 2, 2, 3))]
        return v.SettleBatch(
            queue=path, lock_tokens=tuple(tokens), disposition=self._pick(*v.Disposition)
        )

    def _renew_locks(self) -> v.Command:
        path = self._locked()
        tokens = [self._token(path) for _ in range(self._pick(1, 2, 2, 3))]
        return v.RenewLocks(queue=path, lock_tokens=tuple(tokens))

    def _delete_batch(self) -> v.Command:
        age = self._pick(None, None, 0, 10 * SECOND)
        return v.DeleteBatch(queue=self._readable(), count=self._pick(1, 2, 3), age=age)

    def _receive_deferred(self) -> v.Command:
        path = self._readable()
        entity = self._namespace.entities.get(path)
        messages = entity.messages if entity else {}
        numbers = [number for number, each in messages.items() if each.state.name == "DEFERRED"]
        chosen = self._random.sample(numbers, min(len(numbers), self._pick(1, 1, 2)))
        return v.ReceiveDeferred(
            queue=path,
            sequence_numbers=tuple(chosen) or (self._pick(*messages, 9),),
            session_id=self._session_of(path),
        )

    def _renew(self) -> v.Command:
        path = self._locked()
        return v.RenewLock(queue=path, lock_token=self._token(path))

    def _peek(self) -> v.Command:
        path = self._readable()
        entity = self._namespace.entities.get(path)
        numbers = list(entity.messages) if entity else []
        start = self._pick(None, None, *numbers)
        return v.Peek(
            queue=path,
            count=self._pick(1, 3),
            session_id=self._session_of(path) if start is None else None,
            from_sequence_number=start,
        )

    def _session(self) -> v.Command:
        path = self._pick("s", "s", "s", "t/subscriptions/b", "q", "none")
        name = self._pick("a", "b")
        return self._pick(
            v.AcceptSession(queue=path, session_id=name),
            v.AcceptSession(queue=path, session_id=name),
            v.AcceptNextSession(queue=path),
            v.CloseSession(queue=path, session_id=name),
            v.RenewSessionLock(queue=path, session_id=name),
            v.SetSessionState(queue=path, session_id=name, state=self._pick(None, "x")),
            v.GetSessionState(queue=path, session_id=name),
            v.ListSessions(queue=path),
        )

    def _transaction(self) -> v.Command:
        name = f"x{self._transactions}"
        kind = self._pick(v.BeginTransaction, v.CommitTransaction, v.RollBackTransaction)
        if kind is v.BeginTransaction and self._yes(0.9):
            self._transactions += 1
            name = f"x{self._transactions}"
        return kind(transaction=name)

    def _outage(self) -> v.Command:
        kind = self._pick(v.TakePartitionDown, v.BringPartitionUp, v.BringPartitionUp)
        queue = self._pick(*ENTITIES[:3], "t", "none", SUBSCRIPTIONS[0])
        partition = self._random.randrange(self._namespace.profile.partitions + 1)
        return kind(queue=queue, partition=partition)

    def _rule(self) -> v.Command:
        topic, rule = self._pick("t", "p"), self._pick("one", "two", "$Default")
        filters: Sequence[v.Filter] = (
            v.TrueFilter(),
            v.FalseFilter(),
            v.CorrelationFilter(subject="x"),
            v.SqlFilter(expression="sys.Label = 'y'"),
            v.SqlFilter(expression="no condition"),
        )
        action = self._pick(None, None, None, "SET colour = 'red'", "SET SessionId = 'a'", "SET")
        within = self._transaction_name(0.1)
        named = {"topic": topic, "subscription": "a"}
        return self._pick(
            v.AddRule(
                **named, rule=rule, filter=self._pick(*filters), action=action, transaction=within
            ),
            v.RemoveRule(**named, rule=rule, transaction=within),
            v.ListRules(**named),
        )

    def _manage(self) -> v.Command:
        status = self._pick(*v.EntityStatus, v.EntityStatus.ACTIVE, v.EntityStatus.ACTIVE, None)
        queue, topic = self._pick("q", "r", "s", "f", *SUBSCRIPTIONS, "t"), self._pick("t", "p")
        return self._pick(
            v.GetQueue(queue=queue),
            v.GetTopic(topic=topic),
            v.ListQueues(),
            v.ListTopics(),
            v.ListSubscriptions(topic=topic),
            v.UpdateQueue(queue=queue, lock_duration=self._pick(None, 20 * SECOND)),
            v.UpdateQueue(queue=queue, time_to_live=25 * SECOND, max_delivery_count=3),
            v.UpdateQueue(queue=self._pick("r", "f"), forward_to=self._pick("", "q", "none")),
            v.UpdateQueue(queue=queue, status=status),
            v.UpdateTopic(topic=topic, status=status, partitioned=self._pick(None, True)),
            v.DeleteQueue(queue=self._pick("r", "f", SUBSCRIPTIONS[1])),
            v.CreateQueue(
                queue=self._pick("r", "f", "q"),
                partitioned=self._pick(True, None),
                api_version=self._pick(None, None, *VERSIONS),
            ),
            v.CreateSubscription(topic="t", subscription=self._pick("b", "B", "a")),
            v.DeleteTopic(topic="p"),
            v.CreateTopic(
                topic="p",
                partitioned=self._pick(True, False, None),
                max_size=self._pick(None, None, 1, 5, 7, 80),
                api_version=self._pick(None, None, *VERSIONS),
            ),
        )

    def _advance(self) -> v.Command:
        return v.AdvanceClock(duration=self._pick(1, SECOND, 10 * SECOND, 31 * SECOND))
