"""Random histories of messages that look alike, as a conforming bus answers them."""

from random import Random

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.spec import load

__all__ = ["Recorder", "alike_history"]

SECOND = v.MICROSECONDS


class Recorder:
    """A bus on a virtual clock, and the events of its scenario."""

    def __init__(self, adapter: ModelAdapter, profile: v.Profile) -> None:
        adapter.start(profile)
        self._adapter = adapter
        self._now = 0
        self.profile = profile
        self.observability = adapter.declaration.observability
        self.events: list[v.Event] = []

    def send(self, command: v.Command, connection: str = "c1") -> v.Outcome:
        """Execute a command, record the event and return the outcome."""
        called = self._now
        observed = self._adapter.do(command, connection)
        if isinstance(command, v.AdvanceClock):
            self._now += command.duration
        lost = isinstance(observed.outcome, v.Indeterminate)
        event = v.Event(
            client=connection,
            connection=connection,
            called=called,
            returned=None if lost else self._now,
            command=command,
            outcome=observed.outcome,
            witness=observed.witness,
        )
        self.events.append(event)
        return observed.outcome


def alike_history(policy: str, partitions: int, seed: int, length: int = 24) -> Recorder:
    """Return a history in which all messages have one body, by policy and seed.

    Messages are sent, scheduled, forwarded, received in both modes, settled in every way, deferred
    and peeked by three connections; time passes, and locks end.
    """
    random = Random(seed)
    profile = v.profile_for(load(), partitions=partitions)
    recorder = Recorder(ModelAdapter(policy, seed=seed), profile)
    detects = random.random() < 0.2
    recorder.send(
        v.CreateQueue(
            queue="q",
            partitioned=random.random() < 0.9,
            duplicate_detection=detects,
            max_delivery_count=random.choice((2, 10)),
        )
    )
    recorder.send(v.CreateQueue(queue="f", partitioned=True, forward_to="q"))
    tokens: list[str] = []
    deferred: list[int] = []
    for _ in range(length):
        connection = random.choice(("c1", "c2", "c3"))
        outcome = recorder.send(_command(random, detects, tokens, deferred), connection)
        match outcome:
            case v.Received(message=view) if view.lock_token is not None:
                tokens.append(view.lock_token)
                if view.sequence_number is not None and random.random() < 0.3:
                    token = tokens.pop()
                    recorder.send(v.Defer(queue="q", lock_token=token), connection)
                    deferred.append(view.sequence_number)
    return recorder


def _command(random: Random, detects: bool, tokens: list[str], deferred: list[int]) -> v.Command:
    message = v.Message(body="x", message_id=random.choice(("i", "j")) if detects else None)
    deleting = v.ReceiveMode.RECEIVE_AND_DELETE
    commands: list[tuple[int, v.Command]] = [
        (30, v.Send(queue=random.choice(("q", "q", "q", "f")), message=message)),
        (12, v.Schedule(queue="q", message=message, delay=random.choice((0, 10, 30)) * SECOND)),
        (10, v.AdvanceClock(duration=random.choice((5, 30, 61)) * SECOND)),
        (14, v.Peek(queue="q", count=10)),
        (4, v.Receive(queue="q" + v.DEAD_LETTERS, mode=deleting)),
        (16, v.Receive(queue="q", mode=random.choice(tuple(v.ReceiveMode)))),
    ]
    if tokens:
        settle = random.choice((v.Complete, v.Abandon, v.Abandon, v.DeadLetter))
        commands.append((10, settle(queue="q", lock_token=random.choice(tokens))))
    if deferred:
        numbers = (random.choice(deferred),)
        commands.append((4, v.ReceiveDeferred(queue="q", sequence_numbers=numbers)))
    weights = [weight for weight, _ in commands]
    return random.choices([command for _, command in commands], weights)[0]
