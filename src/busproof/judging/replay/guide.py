"""The policy of the replay: of each choice it takes the candidates that agree with the record.

The model asks for every choice by the name of its rule or ambiguity. The guide knows the recorded
answer, what was shown later (`evidence`), and which candidates were tried before (`script`). It
offers only candidates that can lead to the recorded answer, best first, and raises `NoWay` as soon
as none can.
"""

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Noting
from busproof.judging.liveness import Patience
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.choices_made import Choice, Options, Place, Placing, Script, index_of
from busproof.judging.replay.evenness import Evenness
from busproof.judging.replay.evidence import Evidence, base_path, key_of, views_of
from busproof.judging.replay.stopped_clocks import StoppedClocks
from busproof.model.ambiguities import (
    CacheDeliveryCount,
    CountsInOutage,
    DeadLetterCount,
    Settled,
)
from busproof.model.choices import CONSIDERED, Fits
from busproof.model.keys import MESSAGE_ID
from busproof.model.life_cycle import ACTIVE
from busproof.model.rules import Namespace
from busproof.model.state import BufferedSend, Entity, QueuedMessage, Session
from busproof.model.values import InTransit, Key

__all__ = ["FIRST", "Guide", "NoWay"]

LAST: Final = 1 << 62
"""Index of an event after all others."""
FIRST: Final = 1 << (v.SEQUENCE_BITS - 2)
"""Position in its partition after which messages are sent to a queue from before."""

T = TypeVar("T")


class NoWay(Exception):
    """No candidate of a choice agrees with the recorded answer."""


class FrontEnds(Protocol):
    """What front ends may have cached, as those ask who watch the model (`caches`)."""

    def note(self, entity: Entity, partition: int, connection: str, mode: v.ReceiveMode) -> None:
        """Note a receive from a partition."""

    def explain_empty(self, entity: Entity, connection: str) -> None:
        """Cache every available message, because a receive of this connection found none."""

    def visible(self, entity: Entity, connection: str) -> Iterator[QueuedMessage]:
        """Yield the available messages that no front end hides from this connection."""

    def earlier(self, queued: QueuedMessage) -> Iterator[QueuedMessage]:
        """Yield the available messages of the same key before a message."""

    def explain_order(self, entity: Entity, view: v.MessageView, connection: str) -> None:
        """Explain why this connection receives a message before earlier ones of its key."""

    def has_kept(self, queued: QueuedMessage) -> bool:
        """Return whether a message was cached by a front end that has kept it."""

    def may_have_lapsed(self, queued: QueuedMessage) -> bool:
        """Return whether a lock may have ended in a cache, unseen."""


class Places(Protocol):
    """The partitions that nothing has shown yet, for those who watch the model (`placements`)."""

    def note_home(self, base: Entity, key: str, *, is_new: bool) -> None:
        """Note that the partition of a key was needed."""

    def note_arrival(self, queued: QueuedMessage, key: str | None, transit: InTransit) -> None:
        """Note a message that came, if its partition was guessed."""


class Ways(Protocol):
    """The forwarding that timers let go on (`timers`)."""

    def hop_ahead(self, since: int, behind: Sequence[tuple[str, str]]) -> None:
        """Forward at once what later answers show in front of what is about to arrive."""


class Memory(Protocol):
    """What was there before a history began (`recollection`)."""

    def is_dropped(self, message: v.Message, name: Hashable) -> bool:
        """Choose whether a message is a copy of one from before."""


class Guide(Noting):
    """Policy that takes the candidates which agree with the recorded answer, best first.

    Attributes:
        bindings: the bus's numbers and tokens.
        caches: what front ends may have cached.
        places: the partitions that nothing has shown yet.
        ways: the forwarding that timers let go on.
        sought: what a receive without an answer must have taken; `None` for any message.
        index: the index of the current event.
        made: the choices made for the current event.
        views: the messages that the recorded answer shows.
        shown: how many of them the model has given so far.
        message: the message that is being placed.
        key: its partition key, if it has one.
        caching: the entity and partition whose messages a front end may cache.
        any_error: whether the refusal at hand has no documented error.
        window: the earliest and the latest moment at which the current event may have happened.
        slack: how wrong the bus's timers may be, in microseconds.
        evenness: where messages without a key went.
        clocks: outages in which clocks may have stood still.
        delivered: the send that a commit delivers now.
        keeps_limits: whether the bus has to refuse what exceeds a documented limit.
        has_dead_letters: whether the bus has dead-letter queues.
        assigns_message_ids: whether a client library gives messages a MessageId (KEY-13).
        is_hasty: whether the search leaves out what is unlikely, and so proves nothing: nothing is
            cached at once, but only when an answer shows it.
        expects_delays: whether what is missing at its destination is most likely still under way.
        guesses: whether nothing showed the partition that was chosen last.
        guessed: the message without a key whose partition it is.
        fate: what becomes of a message in a cache, if that is known.
        firing: the record whose timer is being fired.
        is_exact: whether a timer is being fired, at a moment that the clock has chosen.
        memory: what was there before, if the history begins in the middle.
        is_recalling: whether a message from before is being enqueued.
        caches_late: whether messages are cached only when an answer shows it.
        unlikely: ambiguities with the reading that is tried last.
        is_in_order: whether the events happened in the order of their recording.
        is_last: whether no other event comes after the current one.
        is_part: whether receives are missing, so that any message may have been in a cache.
    """

    caches: FrontEnds
    places: Places
    ways: Ways

    def __init__(
        self,
        namespace: Namespace,
        bindings: Bindings,
        evidence: Evidence,
        patience: Patience,
    ) -> None:
        self._namespace = namespace
        self._patience = patience
        self.bindings = bindings
        self._evidence = evidence
        self._script: Script = ()
        self._worked: dict[tuple[int, int], int] = {}
        self._event: v.Event | None = None
        self.index = 0
        self.made: list[Choice] = []
        self.views: Sequence[v.MessageView] = ()
        self.shown = 0
        self.message: v.Message | None = None
        self.key: Key | None = None
        self.caching: tuple[str, int] | None = None
        self.fate: str | None = None
        self.any_error = False
        self.window = (0, 0)
        self.slack = 0
        self.is_exact = False
        self.is_hasty = False
        self.expects_delays = False
        self.firing: object = None
        self.guesses = False
        self.guessed: v.Message | None = None
        self.sought: Collection[QueuedMessage] | None = None
        self.delivered: BufferedSend | None = None
        self.keeps_limits = False
        self.has_dead_letters = True
        self.clocks = StoppedClocks(namespace)
        self.evenness = Evenness(namespace, strict=evidence.strict)
        self.assigns_message_ids = False
        self.memory: Memory | None = None
        self.is_recalling = False
        self.is_part = False
        self.caches_late = False
        self.unlikely: Mapping[str, str] = {}
        self.is_last = False
        self.is_in_order = False

    def observe(self, observability: v.Observability) -> None:
        """Note what the observer says of the bus."""
        self.keeps_limits = observability.limits
        self.has_dead_letters = observability.dead_letters
        self.is_in_order = observability.clock is v.Clock.VIRTUAL

    # The search -------------------------------------------------------------------------------

    def begin(self, index: int, event: v.Event, script: Script) -> None:
        """Prepare for an event, whose first choices are those of the script."""
        self._script = script
        self.made = []
        self.sought = None
        self._consider(index, event)

    def _consider(self, index: int, event: v.Event) -> None:
        self.index, self._event = index, event
        self.views = views_of(event.outcome)
        self.shown = 0
        self.guessed = None
        self.message = getattr(event.command, "message", None)
        self.key = None
        self.any_error = False

    def consider_lost(self, index: int, event: v.Event) -> Callable[[], None]:
        """Prepare for a request without an answer that takes effect now; return how to go back."""
        at = self.index
        current = self._event
        self._consider(index, event)

        def back() -> None:
            if current is None:
                raise AssertionError("a lost request takes effect before an event")
            self._consider(at, current)

        return back

    @property
    def event(self) -> v.Event | None:
        """The current event."""
        return self._event

    @property
    def commit(self) -> str | None:
        """The transaction that the current event commits, if it does."""
        command = None if self._event is None else self._event.command
        return command.transaction if isinstance(command, v.CommitTransaction) else None

    @property
    def arrival(self) -> tuple[int, int]:
        """Between which others a message arrives that the current event enqueues (SEQ-05).

        On a virtual clock many events have one moment, and their order is recorded. What is sent in
        a transaction may be numbered before its commit, and what had no answer after its send.
        """
        if not self.is_in_order or self._event is None:
            return self.window
        is_lost = isinstance(self._event.outcome, v.Indeterminate)
        return 0 if self.commit else self.index, LAST if is_lost else self.index

    @property
    def connection(self) -> str:
        """The connection of the current event."""
        return "" if self._event is None else self._event.connection

    @property
    def finds_nothing(self) -> bool:
        """Whether the recorded answer is that there is nothing to receive."""
        return self._event is not None and isinstance(self._event.outcome, v.Empty)

    def remember(self) -> None:
        """Note the choices of this event, to try them first the next time."""
        for at, choice in enumerate(self.made):
            if choice.taken or (self.index, at) in self._worked:
                self._worked[self.index, at] = choice.taken

    def forget(self, index: int) -> None:
        """Forget which choices of events before this one have worked."""
        self._worked = {place: at for place, at in self._worked.items() if place[0] >= index}

    def take(
        self, name: str, options: Options[T], tag: object = None, *, is_partial: bool = False
    ) -> T:
        """Take one of the candidates: the one in the script, or else the best.

        Args:
            name: the rule or ambiguity that grants the freedom.
            options: the candidates.
            tag: what the choice may matter to.
            is_partial: whether there are more candidates than these.

        Raises:
            NoWay: there is no candidate.
        """
        count = len(options)
        if not count:
            raise NoWay(name)
        at = len(self.made)
        place, first = self._plan(at)
        if first >= count:
            first = 0
        if place >= count:
            raise NoWay(name)
        chosen = options[index_of(place, first)]
        self.made.append(Choice(name, place, count, first, tag, chosen, is_partial))
        return chosen

    def _plan(self, at: int) -> Place:
        if at < len(self._script):
            return self._script[at]
        return 0, self._worked.get((self.index, at), 0)

    # Choices of the model ---------------------------------------------------------------------

    def home(self, value: str, partitions: int) -> int | None:  # noqa: ARG002 - `Choices` has them
        """Leave the partition of a key to `partition`."""
        return None

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return a partition: that of the answer, or one that later events show."""
        if name == "LIFE-09":
            return self._partition_of_receive(path, count, fits)
        candidates = [n for n in range(count) if fits is None or fits(n)]
        if not candidates:
            return None
        base = base_path(path)
        self.guesses, self.guessed = False, None
        witnessed = None if count == 1 else self._witness(base)
        if witnessed is not None:
            if witnessed not in candidates:
                raise NoWay(name)
            return self.take(name, [witnessed], base)
        alone = self.message if name == "KEY-14" else None
        tag = Placing(base, None if alone is None else alone.body)
        hinted = self._partitions_shown(name, path, candidates)
        if hinted is not None:
            return self.take(name, hinted, tag)
        self.guesses = len(candidates) > 1
        self.guessed = alone
        likely = [self._suggest_partition(base)]
        likely += self._alike(base, candidates)
        if self._is_missed_wherever_it_comes(path):
            del likely[2:]
        return self.take(name, [n for n in dict.fromkeys(likely) if n in candidates], tag)

    def _is_missed_wherever_it_comes(self, path: str) -> bool:
        """Return whether a receive finds nothing although a message arrives, in any partition."""
        message = self.message
        entity = self._namespace.entities[path]
        if not (self.is_exact and self.finds_nothing and self.memory is None) or message is None:
            return False
        settings = entity.settings
        is_asked = getattr(self._event.command, "queue", "") == path if self._event else False
        lasts = message.time_to_live is None and settings.time_to_live is None
        is_open = not (settings.requires_session or settings.duplicate_detection)
        is_cached = any(connection != self.connection for connection in entity.caches)
        return is_asked and lasts and is_open and not (is_cached or entity.base.down)

    def _suggest_partition(self, base: str) -> int | None:
        """Return the partition that the number of a scheduled message suggests."""
        event = self._event
        if event is None or not isinstance(event.command, v.Schedule):
            return None
        return self._evidence.suggested(event) if base_path(event.command.queue) == base else None

    def _witness(self, base: str) -> int | None:
        """Return the partition that the event itself shows, if it is a send to this entity."""
        event = self._event
        if self.is_exact or event is None:
            return None  # what a timer does, the event does not show
        if not isinstance(event.command, v.Send | v.SendBatch | v.Schedule):
            return None
        return self._evidence.witnessed(event) if base_path(event.command.queue) == base else None

    def _partitions_shown(
        self, name: str, path: str, candidates: Sequence[int]
    ) -> list[int] | None:
        """Return the partitions that later events show, best first; `None` if they show none."""
        evidence, base, message = self._evidence, base_path(path), self.message
        if name == "KEY-02" and self.key is not None:
            seen = [n for n in evidence.partitions_of_key(base, self.key) if n in candidates]
            others = self._by_outages(base, candidates)
            detects = self._namespace.entities[base].settings.duplicate_detection
            # Only in a transaction is a MessageId a key (TXN-MESSAGE-ID): elsewhere it has shown
            # nothing, and neither has an entity that was deleted.
            is_key = self.key.source != MESSAGE_ID or detects
            if not seen or (is_key and base not in evidence.ever_deleted):
                return seen or others
            others = others or self._alike(base, candidates)
            return [*seen, *(n for n in others if n not in seen)]
        if message is None:
            return None
        body = message.body
        paths = [one for one in self._namespace.entities if base_path(one) == base]
        shown = evidence.partitions_of_body(body, paths)
        if not shown:
            return None
        # Of messages that look alike, the first is the one that is seen first.
        earlier = max(sum(1 for _ in self.bindings.ever(one, body)) for one in paths)
        ranked = dict.fromkeys((*shown[earlier:], *shown))
        best = [n for n in ranked if n in candidates]
        if evidence.all_were_shown(base, body, len(shown)):
            return best
        return [*best, *(n for n in self._alike(base, candidates) if n not in ranked)]

    def _by_outages(self, base: str, candidates: Sequence[int]) -> list[int] | None:
        """Return candidates for a message whose key was used while some partitions were down."""
        asked = None if self.key is None else self.key.value
        key = asked if self.message is None else key_of(self.message)
        works, fails = self._evidence.outages_of_key(base, key)
        if not works and not fails:
            return None
        ranked = self._alike(base, candidates)
        ranked.sort(key=lambda n: (n in works, n not in fails))
        return ranked

    def _alike(self, base: str, candidates: Sequence[int]) -> list[int]:
        """Return candidates that nothing shows: of partitions that are alike, only two.

        Partitions that the history never mentions differ only in what they store. So one that
        stores most and one that stores least stand for all. The fuller one comes first, because a
        peek may find an empty partition (PART-21), unless it may be full soon; and one that is full
        comes last, unless the send is refused.
        """
        entity = self._namespace.entities.get(base)
        if entity is None or len(candidates) == 1:
            return list(candidates)
        down = entity.down
        ever = self._evidence.ever_down.get(base, set())
        alike = [n for n in candidates if not self._evidence.is_mentioned(base, n)]
        alike.sort(key=lambda n: (entity.partitions[n].bytes, entity.partitions[n].messages, n))
        apart = [n for n in candidates if self._evidence.is_mentioned(base, n)]
        stored = [n for n in alike if entity.partitions[n].messages]
        fullest = [] if self._evidence.all_bytes_sent >= entity.capacity else stored[-1:]
        ranked = [*(fullest or alike[:1]), *(n for n in apart if n not in ever)]
        ranked += [n for n in apart if n in ever]
        ranked += [n for n in (*alike[:1], *stored[-1:]) if n not in ranked]
        if self._event is not None and isinstance(self._event.outcome, v.Refused):
            ranked.sort(key=lambda n: n not in down)
        elif self.message is not None:
            room = entity.capacity - (self.message.size or 1)
            ranked.sort(key=lambda n: entity.partitions[n].bytes > room)
        return ranked

    def _partition_of_receive(self, path: str, count: int, fits: Fits) -> int | None:
        if fits is None:
            raise AssertionError("a receive asks for a partition that has something")
        outcome = None if self._event is None else self._event.outcome
        if self.shown < len(self.views):
            found: dict[int, None] = {}
            for queued in self.bindings.candidates(path, self.views[self.shown]):
                is_new = queued.state is ACTIVE and queued.partition not in found
                if is_new and fits(queued.partition):
                    found[queued.partition] = None
            return self.take("LIFE-09", list(found), base_path(path))
        filled = [n for n in range(count) if fits(n)]
        if isinstance(outcome, v.Empty):
            if filled:
                raise NoWay("LIFE-09")
            return None
        if isinstance(outcome, v.Refused | v.Indeterminate) and filled:
            if self.sought is not None:
                places = {queued.partition for queued in self.sought}
                filled = [n for n in filled if n in places]
            return self.take("LIFE-09", filled, base_path(path))
        return None

    def places_of_copy(self, path: str, body: str, partitions: int) -> list[int]:
        """Return the partitions in which an entity shows copies with this body.

        Args:
            path: the path of a subscription or dead-letter queue.
            body: the body.
            partitions: how many partitions there are; a wrong number may name another one.
        """
        shown = self._evidence.partitions_of_body(body, [path])
        return [place for place in shown if place < partitions]

    @property
    def sees_partitions(self) -> bool:
        """Whether the observer sees the partitions of messages."""
        return self._evidence.strict

    def choose_refusal(self, name: str, *, is_usual: bool = False) -> bool:
        """Choose whether a request is refused for a reason that cannot be known for sure.

        Args:
            name: the rule.
            is_usual: whether a regular bus refuses it. That counts where a timer fires, whose
                result the recorded answer does not show.
        """
        is_refused = self._event is not None and isinstance(self._event.outcome, v.Refused)
        if self.is_exact:
            is_refused = is_usual
        return self.take(name, (True, False) if is_refused else (False, True), self.place)

    def has_come_to(self, path: str) -> bool | None:
        """Return whether what a timer brings to an entity is found there; `None` if nobody looks.

        Args:
            path: the entity.
        """
        if not self.is_exact or not isinstance(self.firing, QueuedMessage):
            return None
        body = self.firing.message.body
        if self._evidence.is_shown_after(self.index - 1, path, body):
            return True
        return False if self._evidence.is_hidden_after(self.index - 1, path, body) else None

    def is_refused(self) -> bool:
        """Return whether the recorded answer is a refusal, or lost and perhaps one."""
        return self._event is not None and isinstance(
            self._event.outcome, v.Refused | v.Indeterminate
        )

    def refuses(self, name: str) -> bool:
        """Choose whether a request is refused for a reason that only some buses have.

        Nothing is chosen where the recorded answer is no refusal.
        """
        return self.is_refused() and self.take(name, (False, True), self.place)

    def has_passed(self, moment: int, now: int, *, restarts: bool) -> bool:
        """Return whether a moment has passed; at the moment itself, either answer is right."""
        first, last = self.window
        place = self.place or ""
        late = self.slack + (
            self.clocks.lateness(place, moment, STOPPED)
            if restarts
            else self.clocks.length(place, moment)
        )
        if self.is_exact and self._is_released_near(moment, now):
            return self._has_outlived_lock(moment, now)
        if self.is_exact or moment + late < first or moment - self.slack > last:
            return moment <= now
        return self.take("SLACK", (moment <= now, moment > now), self.place)

    def _is_released_near(self, moment: int, now: int) -> bool:
        """Return whether a lock ends at about the moment at which its message expires."""
        queued = self.firing
        return (
            isinstance(queued, QueuedMessage)
            and queued.state is ACTIVE
            and moment == queued.expires_at
            and abs(moment - now) <= 2 * self.slack > 0
        )

    def _has_outlived_lock(self, moment: int, now: int) -> bool:
        """TTL-06: choose whether a message has expired when its lock ends, or expires after it."""
        queued = self.firing
        has_expired: bool = self.take("SLACK", (moment <= now, moment > now), self.place)
        if not has_expired and isinstance(queued, QueuedMessage):
            queued.entity.look_at("expiry.end", moment, queued, queued.number)
        return has_expired

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the best candidate that agrees with the recorded answer."""
        if name in OF_MESSAGES:
            received: Sequence[Any] = self._message_received(candidates)
            chosen: T = self.take(name, received, self.place)
            return chosen
        options = list(dict.fromkeys(candidates))
        if name == CountsInOutage.entry and self._has_to_describe():
            options = [option for option in options if option != "refused"]
        ranked = RANKED.get(name)
        # Some rules leave both free: what is done, and then to which message.
        if ranked is not None and not any(isinstance(option, str) for option in options):
            options = ranked(self, options)
        elif self._event is not None:
            refused = isinstance(self._event.outcome, v.Refused)
            options.sort(key=lambda option: (option == "refused") is not refused)
            if name == CacheDeliveryCount.entry and self._is_counted_in_cache():
                options.sort(key=lambda option: option is not CacheDeliveryCount.COUNTS)
            if name == DeadLetterCount.entry and self._evidence.dead_counts_begin_anew is False:
                options.sort(key=lambda option: option is not DeadLetterCount.KEPT)
        if name in self.unlikely:
            options.sort(key=lambda option: getattr(option, "value", "") == self.unlikely[name])
        if name in OF_CACHES:
            if self.is_last or (name == "LIFE-08" and self._is_idle_to_cache()):
                # No answer can show what is cached now.
                options = options[:1]
            elif self._is_cached(name):
                likely = ("one-more", self.fate)
                options.sort(key=lambda option: option not in likely)
            return self.take(name, options, self.caching)
        return self.take(name, options, None if name in READINGS else self.place)

    def _has_to_describe(self) -> bool:
        """COUNTS-IN-OUTAGE: return whether no description was given for as long as is allowed."""
        entity = self._namespace.entities.get(self.place or "")
        is_partly_up = entity is not None and len(entity.down) < len(entity.partitions)
        return is_partly_up and self._patience.refused_until(self.index) is not None

    def has_waited_for_room(self, entity: Entity) -> bool:
        """ROOM-DELAY: return whether all that was removed from a queue must have given its room.

        A topic's copies may take room of it in several ways (COPIES-SIZE), what is forwarded may be
        anywhere on its way, and what a transaction sends may take room before its commit (SIZE-14).
        What has expired since the first refusal may take its room for a while longer.
        """
        is_plain = entity.subscriptions is None and entity.settings.forward_to is None
        running = (one for one in self._namespace.transactions.values() if not one.ended)
        if any(send.entity is entity for one in running for send in one.sends):
            return False
        is_bounded = self._namespace.profile.readings.get("ROOM-DELAY", "bounded") == "bounded"
        waited = self._patience.full_until(self.index)
        if waited is None or self.bindings.last_passing > waited.since:
            return False
        return is_plain and is_bounded

    @property
    def place(self) -> str | None:
        """The queue or topic of the current event: its choices matter to no other part."""
        command = None if self._event is None else self._event.command
        path = getattr(command, "queue", None) or getattr(command, "topic", None)
        return None if path is None else base_path(path)

    def _is_cached(self, name: str) -> bool:
        """Return whether later answers show that the next message in line is cached now.

        It is never shown, although none is left; or a delivery was counted that nobody saw; or it
        is handed out by this front end, which caches one behind it.
        """
        if name == "LIFE-08" and self.caching is not None:
            path, partition = self.caching
            self.fate = self._fate_in_cache(self._namespace.entities[path], partition)
        return self.fate is not None

    def _is_idle_to_cache(self) -> bool:
        """Return whether this receiver is given all that it could cache before anything happens."""
        if self.caching is None:
            return False
        path, partition = self.caching
        entity = self._namespace.entities[path]
        line = entity.partitions[partition].line
        available = list(islice(line.available(entity.messages), CONSIDERED))
        return len(available) < CONSIDERED and all(
            self._evidence.is_given_at_once(self.index, path, queued.message.body)
            for queued in available
        )

    def _fate_in_cache(self, entity: Entity, partition: int) -> str | None:
        """Return what becomes of the next message in line if it is cached, `None` if it is not."""
        line = entity.partitions[partition].line
        path = entity.path
        first = next(iter(self.cacheable(entity, partition)), None)
        if first is None:
            return None
        if self._is_hidden(first):
            return "lost"
        if self._was_counted(first):
            return "kept"
        deletes = getattr(self._event and self._event.command, "mode", None) is DELETING
        behind = islice(line.after(entity.messages, first), CONSIDERED if deletes else 0)
        if not any(self._is_hidden(queued) or self._was_counted(queued) for queued in behind):
            return None
        given = self._evidence.next_given(self.index, path, first.message.body)
        return "lost" if given is None or given.connection == self.connection else "kept"

    def cacheable(self, entity: Entity, partition: int) -> list[QueuedMessage]:
        """Return the messages that a front end may cache next, the most likely one first.

        It takes the messages of a partition in their order. Where nobody sees which partition a
        message is in, only those of one key surely have an order.
        """
        available = entity.partitions[partition].line.available(entity.messages)
        if self._evidence.strict:
            return list(islice(available, 1))
        effective_key = self._namespace.rules.keys.effective_key
        firsts: dict[Hashable, QueuedMessage] = {}
        for queued in islice(available, CONSIDERED):
            key = effective_key(entity, queued.message)
            firsts.setdefault(queued if key is None else key, queued)
        return sorted(
            firsts.values(),
            key=lambda queued: not (self._is_hidden(queued) or self._was_counted(queued)),
        )

    def _is_hidden(self, queued: QueuedMessage) -> bool:
        """Return whether a message is never shown again, although none is left."""
        path = queued.entity.path
        body = queued.message.body
        return self._evidence.is_hidden_after(self.index, path, body)

    def _was_counted(self, queued: QueuedMessage) -> bool:
        """Return whether a delivery of a message was counted, before it is given next."""
        path = queued.entity.path
        body = queued.message.body
        given = self._evidence.next_given(self.index, path, body)
        return given is not None and given.count > queued.failed + 1

    def _is_counted_in_cache(self) -> bool:
        """Return whether the message whose lock ends was delivered once more than was seen."""
        queued = self.firing
        return self.is_exact and isinstance(queued, QueuedMessage) and self._was_counted(queued)

    # Candidates by choice ---------------------------------------------------------------------

    def _message_received(self, candidates: Iterable[Any]) -> list[QueuedMessage]:
        """KEY-16: return the messages that the answer may show, without a look at all others."""
        if self.finds_nothing:
            return []
        if self.shown >= len(self.views):
            some, sought = islice(candidates, CONSIDERED), self.sought
            return [queued for queued in some if sought is None or queued in sought]
        view = self.views[self.shown]
        fitting: list[QueuedMessage] = []
        wanted: set[QueuedMessage] | None = None
        for queued in candidates:
            if wanted is None:
                wanted = set(self.bindings.candidates(queued.entity.path, view))
            if queued in wanted:
                fitting.append(queued)
                wanted.remove(queued)
            if not wanted:
                break
        is_peeked = bool(fitting) and self._evidence.is_peeked_after(
            self.index, fitting[0].entity.path
        )
        return self.bindings.by_likelihood(fitting, view.sequence_number, is_peeked=is_peeked)

    def _count_received(self, candidates: list[int]) -> list[int]:
        """BATCH-12: return how many messages the answer shows."""
        match None if self._event is None else self._event.outcome:
            case v.ReceivedSeveral(messages=messages):
                return [len(messages)] if len(messages) in candidates else []
            case v.Empty():
                return candidates[-1:]
        return candidates

    def _count_deleted(self, candidates: list[int]) -> list[int]:
        """BATCH-18: return how many messages the answer says that it deleted."""
        match None if self._event is None else self._event.outcome:
            case v.Deleted(count=count):
                return [count] if count in candidates else []
        return candidates

    def _rank_deleted(self, candidates: list[QueuedMessage]) -> list[QueuedMessage]:
        """BATCH-15: return first the messages that are never shown again."""

        def is_shown(queued: QueuedMessage) -> bool:
            body = queued.message.body
            return self._evidence.is_shown_after(self.index, queued.entity.path, body)

        return sorted(candidates, key=is_shown)

    def _rank_sizes(self, candidates: list[int]) -> list[int]:
        """SIZE-03, PREM-09: return the sizes that descriptions tell, of all or of one partition.

        If none tells it, it matters only to an entity that may have been full.
        """
        base = self.place or ""
        told = self._evidence.sizes_described(base)
        count = self._namespace.profile.partitions
        shown = [size for size in candidates if not told.isdisjoint((size, size * count))]
        if shown:
            return shown
        return candidates if self._evidence.bytes_sent(base) >= MUCH else candidates[:1]

    def _session_accepted(self, candidates: list[Session]) -> list[Session]:
        """SESS-06: return the session that the answer names."""
        match None if self._event is None else self._event.outcome:
            case v.SessionAccepted(session_id=name):
                return [session for session in candidates if session.name == name]
        return candidates


RANKED: Final[dict[str, Callable[[Guide, list[Any]], list[Any]]]] = {
    "BATCH-12": Guide._count_received,
    "BATCH-18": Guide._count_deleted,
    "BATCH-15": Guide._rank_deleted,
    "PREM-09": Guide._rank_sizes,
    "SESS-06": Guide._session_accepted,
    "SIZE-03": Guide._rank_sizes,
}
OF_MESSAGES: Final = frozenset(("KEY-16", "REGULAR-ORDER"))
"""Choices of the message that is given, of which there may be very many."""

MUCH: Final = 2**20
"""Bytes sent to an entity, of however many copies, that cannot fill it."""

OF_CACHES: Final = frozenset(("LIFE-08", "CACHE-DELETE"))
"""Choices that matter only to what a front end has cached."""

DELETING: Final = v.ReceiveMode.RECEIVE_AND_DELETE

STOPPED: Final = 300 * v.MICROSECONDS
"""The longest duration that may begin once more after an outage: that of the longest lock."""

READINGS: Final = frozenset(kind.entry for kind in Settled.__subclasses__())
"""Choices that a bus makes once, for everything."""
