"""Partitions of messages that no answer has shown: decided when one first does.

A message without a key goes to any partition, and the partition of a key is chosen once. Where an
answer shows that choice much later, as with messages that are forwarded, it was a guess. As long as
nothing has happened to a message since it came, nobody can tell where it is. So it is moved to the
partition that its number names, as if it had gone there, and with it the others of its key.
"""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.floor import Floor
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.evidence import Evidence
from busproof.judging.replay.guide import Guide
from busproof.judging.replay.timers import LooseTimers
from busproof.judging.replay.tolerance import TolerantSizes
from busproof.model.ambiguities import RoundRobin
from busproof.model.life_cycle import ACTIVE
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import DIRECT, EntityKind, InTransit

__all__ = ["Placements"]

Home = tuple[Entity, str]
NEVER: Final = 0


@attrs.frozen(eq=False)
class Arrival:
    """A message whose partition was guessed.

    Attributes:
        queued: the message.
        epoch: when it came, as the journal counts.
        avoided: the partitions to which it cannot have gone.
    """

    queued: QueuedMessage
    epoch: int
    avoided: frozenset[int]


class Placements:
    """The messages whose partitions were guessed, and their moves to others.

    Args:
        namespace: the model's namespace.
        guide: the policy that guesses.
        bindings: the bus's numbers and tokens.
        evidence: facts about the whole history.
    """

    def __init__(
        self, namespace: Namespace, guide: Guide, bindings: Bindings, evidence: Evidence
    ) -> None:
        self._namespace = namespace
        self._guide = guide
        self._bindings = bindings
        self._evidence = evidence
        self._alone: dict[QueuedMessage, Arrival] = {}
        self._homes: dict[Home, list[Arrival]] = {}
        self._home_of: dict[QueuedMessage, Home] = {}
        self._peeked: dict[Entity, int] = {}

    # What is guessed --------------------------------------------------------------------------

    def note_home(self, base: Entity, key: str, *, is_new: bool) -> None:
        """Note that the partition of a key was needed.

        Args:
            base: the queue or topic.
            key: the value by which the partition is kept.
            is_new: whether it was chosen just now.
        """
        guide = self._guide
        command = None if guide.event is None else guide.event.command
        # What a transaction or a schedule holds back has its place already, where nobody looks.
        is_plain = guide.is_exact or (
            isinstance(command, v.Send | v.SendBatch) and command.transaction is None
        )
        home = (base, key)
        if is_new and is_plain and guide.guesses and self._evidence.numbers_show_partitions:
            self._namespace.journal.put(self._homes, home, [])
        elif home in self._homes and not is_plain:
            self._namespace.journal.drop(self._homes, home)

    def note_arrival(self, queued: QueuedMessage, key: str | None, transit: InTransit) -> None:
        """Note a message that came, if its partition was guessed.

        Args:
            queued: the message.
            key: the value by which its partition is kept; `None` if it has none.
            transit: what it brings from the way here.
        """
        entity = queued.entity
        if key is None:
            is_guessed = self._guide.guessed is queued.message
            if not is_guessed or entity.kind is not EntityKind.QUEUE or self._takes_turns:
                return
            down = entity.down
            avoided = down if len(down) < len(entity.partitions) else frozenset[int]()
            arrival = Arrival(queued, queued.touched, avoided)
            self._namespace.journal.put(self._alone, queued, arrival)
            return
        home = (entity.base, key)
        arrivals = self._homes.get(home)
        if arrivals is None:
            return
        if entity.kind is not EntityKind.QUEUE:
            self._namespace.journal.drop(self._homes, home)  # its copies may be elsewhere
            return
        avoided = entity.down if transit == DIRECT else frozenset[int]()
        arrivals.append(Arrival(queued, queued.touched, avoided))
        self._namespace.journal.log.append((_forget_last, None, arrivals))
        self._namespace.journal.put(self._home_of, queued, home)

    @property
    def _takes_turns(self) -> bool:
        """Whether messages without a key go to each partition in turn (ROUND-ROBIN)."""
        return self._namespace.known_reading(RoundRobin) is RoundRobin.STRICT

    # What answers show ------------------------------------------------------------------------

    def explain(self, event: v.Event) -> None:
        """Move the messages that an answer shows, and that were guessed to be elsewhere."""
        if not (self._alone or self._homes):
            return
        entity = self._namespace.entities.get(getattr(event.command, "queue", ""))
        if entity is None or not entity.settings.partitioned:
            return
        for view in self._guide.views:
            number = view.sequence_number
            if number is None or self._bindings.knows_number(entity, number):
                continue
            if next(self._bindings.candidates(entity.path, view), None) is None:
                self._move_shown(entity, view.body, number >> v.SEQUENCE_BITS)
        if isinstance(event.command, v.Peek):
            self._namespace.journal.put(self._peeked, entity, self._namespace.journal.epoch)

    def _move_shown(self, entity: Entity, body: str, partition: int) -> None:
        """Move the first message with this body that may be in a partition, if there is one."""
        if partition >= len(entity.partitions):
            return
        for queued in list(self._bindings.ever(entity.path, body)):
            alone = self._alone.get(queued)
            if alone is not None and self._can_be_in(alone, partition):
                self._guide.take("KEY-14", [partition], entity.path)
                moved = self._move(alone, partition)
                self._namespace.journal.put(self._alone, moved.queued, moved)
                return
            home = self._home_of.get(queued)
            is_movable = home is not None and home in self._homes
            if home is not None and is_movable and self._can_have_home(home, queued, partition):
                self._guide.take("KEY-02", [partition], entity.path)
                self._move_home(home, partition)
                return

    def _can_have_home(self, home: Home, queued: QueuedMessage, partition: int) -> bool:
        """Return whether all that is known of a key would be the same in another partition."""
        base, _ = home
        message = queued.message
        key = self._namespace.rules.keys.effective_key(queued.entity, message)
        if key is None:
            return False
        seen = self._evidence.partitions_of_key(base.path, key)
        works, fails = self._evidence.outages_of_key(base.path, key.value)
        if any(place != partition for place in seen) or partition in works or fails:
            return False
        # Another message of the key may have said meanwhile that its partition was no guess.
        arrivals = self._homes.get(home, ())
        is_guessed = any(arrival.queued is queued for arrival in arrivals)
        return is_guessed and all(self._can_be_in(arrival, partition) for arrival in arrivals)

    def _can_be_in(self, arrival: Arrival, partition: int) -> bool:
        """Return whether nobody could tell if a message were in another partition."""
        queued = arrival.queued
        entity = arrival.queued.entity
        is_untouched = (
            queued.is_there
            and queued.touched == arrival.epoch
            and queued.state is ACTIVE
            and queued.session is None
            and not self._bindings.is_bound(queued)
        )
        if not is_untouched or partition in arrival.avoided:
            return False
        if self._peeked.get(entity, NEVER) >= arrival.epoch:
            return False
        # While its partition was down, it could not be received; elsewhere it might have been.
        if queued.partition in self._evidence.ever_down.get(entity.base.path, ()):
            return False
        sizes = self._namespace.rules.sizes
        assert isinstance(sizes, TolerantSizes)  # noqa: S101 - a replay has no others
        return sizes.surely_has_room(entity, queued.message.size or 0)

    def is_open(self, queued: QueuedMessage) -> bool:
        """Return whether the partition of a message without a key was guessed."""
        return queued in self._alone

    # Long histories ---------------------------------------------------------------------------

    def is_guessed(self, base: Entity, key: str) -> bool:
        """Return whether the partition of a key may still be another one."""
        return (base, key) in self._homes

    def forget(self, floor: Floor) -> None:
        """Forget the messages that are gone, and the keys that cannot be moved any more."""
        floor.drop(self._alone, lambda queued, _: floor.is_gone(queued))
        floor.drop(
            self._homes,
            lambda home, arrivals: (
                home[0] not in floor.entities
                or any(floor.is_gone(arrival.queued) for arrival in arrivals)
            ),
        )
        floor.drop(
            self._home_of, lambda queued, home: floor.is_gone(queued) or home not in self._homes
        )
        floor.drop(self._peeked, lambda entity, _: entity not in floor.entities)

    # Moves ------------------------------------------------------------------------------------

    def _move_home(self, home: Home, partition: int) -> None:
        """Move all messages of a key, in the order of their arrival."""
        journal = self._namespace.journal
        base, key = home
        journal.put(base.homes, key, partition)
        moved = [self._move(arrival, partition) for arrival in self._homes[home]]
        journal.put(self._homes, home, moved)
        for arrival in moved:
            journal.put(self._home_of, arrival.queued, home)

    def _move(self, arrival: Arrival, partition: int) -> Arrival:
        moved = self._at(arrival.queued, partition)
        moved.touched = arrival.epoch
        return attrs.evolve(arrival, queued=moved)

    def _at(self, queued: QueuedMessage, partition: int) -> QueuedMessage:
        """Return a message in another partition, as if it had come there."""
        entity = queued.entity
        journal = self._namespace.journal
        old, new = entity.partitions[queued.partition], entity.partitions[partition]
        for counters in (old, new):
            journal.touch(counters)
        journal.drop(entity.messages, queued.number)
        old.messages -= 1
        old.line.left(entity.messages)
        new.messages += 1
        new.arrivals += 1
        number = (partition << v.SEQUENCE_BITS) + new.arrivals
        moved = attrs.evolve(queued, number=number, partition=partition)
        journal.put(entity.messages, number, moved)
        new.line.append(moved)
        if queued.message.size:
            sizes = self._namespace.rules.sizes
            assert isinstance(sizes, TolerantSizes)  # noqa: S101 - a replay has no others
            sizes.move(entity, queued.partition, partition, queued.message.size)
        self._set_expiry(queued, moved)
        self._bindings.replace(queued, moved)
        self._guide.coverage.replace(queued, moved)
        return moved

    def _set_expiry(self, queued: QueuedMessage, moved: QueuedMessage) -> None:
        """Let a message that was moved expire when it would have expired."""
        if queued.expires_at is None:
            return
        timers = self._namespace.timers
        assert isinstance(timers, LooseTimers)  # noqa: S101 - a replay has no others
        before = timers.uncertain
        timers.uncertain = timers.window(queued.expires_at, "expiry.end", queued)
        queued.entity.look_at("expiry.end", queued.expires_at, moved, moved.number)
        timers.uncertain = before


def _forget_last(arrivals: list[Arrival]) -> None:
    arrivals.pop()
