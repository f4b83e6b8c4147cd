"""The reference model as an implementation: it chooses among what it allows itself.

`round-robin` is a bus at its most regular. `random` takes any allowed answer. `hostile` conforms
too, in the ways that are hardest to judge: the last partition first, locks and duplicate windows
shorter or longer by the declared slack, locks that ran in a cache before, empty answers while
another front end may hold the messages, and answers that never come although the request takes
effect, at once or much later.
"""

import time
from collections.abc import Iterator
from random import Random
from typing import Final

import attrs

from busproof import __version__
from busproof.adapters.base import Declaration, Implementation, Observed
from busproof.oracle.choosing import (
    CHOICES_WEIGHED,
    Turns,
    at_liberty,
    checked_policy,
    decided,
    one_of,
)
from busproof.oracle.skewing import HOSTILE_SLACK, LATE_EFFECTS, Skew
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import transitions
from busproof.oracle.transition import Sighting, Transition
from busproof.oracle.window import Window
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    Abandon,
    AcceptNextSession,
    AddRule,
    CancelScheduled,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    DeadLetter,
    Defer,
    DeleteQueue,
    DeleteTopic,
    Receive,
    ReceiveDeferred,
    RemoveRule,
    RenewLock,
    RenewSessionLock,
    RollBackTransaction,
    Schedule,
    Send,
    SendBatch,
    SetSessionState,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import (
    Described,
    Done,
    Empty,
    Indeterminate,
    Outcome,
    Received,
    ReceivedSeveral,
    Renewed,
    SessionAccepted,
    TopicDescribed,
    Witness,
)
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import MICROSECONDS, Clock

__all__ = ["ModelAdapter"]

LOST_ANSWERS: Final = 0.04
"""Of a hostile bus, where any are lost."""

CALM: Final = 0.5
"""How often none are lost until the next start: no long scenario would ever come to its end."""

CAPABILITIES: Final = frozenset(
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
"""What the model does by itself; a client library is set before it."""

LOSABLE = (
    Send,
    Schedule,
    CancelScheduled,
    Receive,
    Complete,
    Abandon,
    AcceptNextSession,
    AddRule,
    DeadLetter,
    Defer,
    ReceiveDeferred,
    RenewLock,
    CommitTransaction,
    CreateSubscription,
    RemoveRule,
    RenewSessionLock,
    RollBackTransaction,
    SetSessionState,
    CreateQueue,
    UpdateQueue,
    DeleteQueue,
    UpdateTopic,
    DeleteTopic,
)


class ModelAdapter:
    """An adapter with the model behind it; conforming under every policy.

    Args:
        policy: one of those of `oracle/choosing.py`.
        seed: of the random and the hostile policy.
        clock: `virtual` or `real`.
        library: whether sends pass through a client library that assigns MessageIds (KEY-13).
    """

    def __init__(
        self,
        policy: str = "round-robin",
        seed: int = 0,
        clock: str = Clock.VIRTUAL,
        *,
        library: bool = False,
    ) -> None:
        self._policy = checked_policy(policy)
        self._random = Random(seed)  # noqa: S311 - repeatable choices, not secrets
        self._library = library
        self._clock = Clock(clock)
        self._state: Namespace | None = None
        self._turns = Turns()
        self._assigned = 0
        self._late: list[tuple[Command, str]] = []
        self._skew: Skew | None = None
        self._calm = False
        self._started = 0.0

    @property
    def declaration(self) -> Declaration:
        """Everything, and slack where the policy uses it."""
        capabilities = CAPABILITIES
        if self._library:
            capabilities |= {Capability.CLIENT_LIBRARY}
        return Declaration(
            implementation=Implementation(
                name=f"busproof model ({self._policy})", version=__version__, language="Python"
            ),
            capabilities=capabilities,
            clock=self._clock,
            slack=HOSTILE_SLACK if self._policy == "hostile" else 0,
        )

    def start(self, profile: Profile) -> None:
        """Begin with an empty namespace."""
        punctual = profile.readings.get("SCHEDULE-DELAY") == "at-once"
        if self._policy == "hostile":
            self._skew = Skew(self._random, punctual=punctual)
            self._calm = self._random.random() < CALM
        if self._policy != "round-robin":
            profile = at_liberty(profile, self._random)
        self._state = fresh_namespace(decided(profile), Observability(decides=True))
        self._turns = Turns()
        self._late = []
        self._started = time.monotonic()

    def stop(self) -> None:
        """Forget the namespace."""
        self._state = None

    def do(self, command: Command, connection: str) -> Observed:
        """Choose one of the answers that the model allows."""
        if self._clock is Clock.REAL:
            now = int((time.monotonic() - self._started) * MICROSECONDS)
            self._namespace = attrs.evolve(self._namespace, now=Window(now, now))
        command = self._prepared(command)
        if self._policy == "hostile":
            return self._hostile(command, connection)
        return self._answer(command, connection)

    @property
    def _namespace(self) -> Namespace:
        if self._state is None:
            raise AssertionError("an adapter is asked only between start and stop")
        return self._state

    @_namespace.setter
    def _namespace(self, state: Namespace) -> None:
        self._state = state

    def _prepared(self, command: Command) -> Command:
        """What the client library and the hostile service make of a request."""
        if isinstance(command, Send | Schedule) and self._library:
            command = attrs.evolve(command, message=self._identified(command.message))
        if isinstance(command, SendBatch) and self._library:
            messages = tuple(map(self._identified, command.messages))
            command = attrs.evolve(command, messages=messages)
        return command if self._skew is None else self._skew.taken(command)

    def _identified(self, message: Message) -> Message:
        """The message with a MessageId."""
        if message.message_id is not None:
            return message
        self._assigned += 1
        return attrs.evolve(message, message_id=f"assigned-{self._assigned}")

    def _answer(self, command: Command, connection: str) -> Observed:
        chosen = self._chosen(command, connection)
        self._namespace = chosen.next
        return self._told(chosen, command)

    def _told(self, chosen: Transition, command: Command) -> Observed:
        """The answer as a client sees it; a real clock's times mean nothing to it."""
        outcome, witness = chosen.outcome, None
        taken = isinstance(outcome, Done) and isinstance(command, Send | SendBatch)
        if taken and chosen.choice is not None:
            witness = Witness(partition=chosen.choice.partition)
        if self._clock is Clock.REAL:
            outcome = _without_times(outcome)
        if isinstance(outcome, Described) and self._skew is not None:
            outcome = Described(description=self._skew.announced(outcome.description))
        if isinstance(outcome, TopicDescribed) and self._skew is not None:
            outcome = TopicDescribed(description=self._skew.announced(outcome.description))
        return Observed(outcome, witness)

    def _chosen(self, command: Command, connection: str) -> Transition:
        if self._policy == "round-robin":
            return self._regular(command, connection)
        return one_of(self._some(command, connection), self._policy, self._random)

    def _some(self, command: Command, connection: str) -> list[Transition]:
        found = []
        for transition in self._allowed(command, connection):
            found.append(transition)
            if len(found) == CHOICES_WEIGHED:
                break
        return found

    def _regular(self, command: Command, connection: str) -> Transition:
        """Partitions in turn where a send may choose; else the first allowed answer."""
        found = self._turns.taken(self._namespace, command, connection)
        return next(self._allowed(command, connection)) if found is None else found

    def _allowed(self, command: Command, connection: str) -> Iterator[Transition]:
        """Every allowed answer, in an order that is the same in each process."""
        found = transitions(self._namespace, command, connection)
        if not isinstance(command, AcceptNextSession):
            yield from found
            return
        answers = list(found)
        offered = [each.outcome for each in answers if isinstance(each.outcome, SessionAccepted)]
        # One whose scheduled messages have become due is offered, and is no member yet.
        sessions = {each.session_id for each in offered}
        if (queue := self._namespace.queues.get(command.queue)) is not None:
            sessions.update(queue.members)
        for session_id in sorted(sessions):
            accepted = Sighting(SessionAccepted(session_id=session_id))
            yield from self._sighted(command, connection, accepted)
        yield from (each for each in answers if not isinstance(each.outcome, SessionAccepted))

    def _sighted(self, command: Command, connection: str, seen: Sighting) -> list[Transition]:
        return list(transitions(self._namespace, command, connection, seen))

    def _hostile(self, command: Command, connection: str) -> Observed:
        self._let_late_effects_happen()
        lossy = isinstance(command, LOSABLE) and not self._calm
        if lossy and self._random.random() < LOST_ANSWERS:
            return self._unanswered(command, connection)
        if isinstance(command, Receive):
            if self._random.random() < LATE_EFFECTS and (empty := self._empty(command, connection)):
                self._namespace = empty.next
                return Observed(Empty())
            return self._shortened(command, connection)
        return self._skewed_clock(self._answer(command, connection))

    def _let_late_effects_happen(self) -> None:
        if self._late and self._random.random() < LATE_EFFECTS:
            command, connection = self._late.pop(0)
            self._answer(command, connection)

    def _unanswered(self, command: Command, connection: str) -> Observed:
        fate = self._random.random()
        if fate < 1 / 3:
            self._answer(command, connection)
        elif fate < 2 / 3:
            self._late.append((command, connection))
        return Observed(Indeterminate(detail="no answer came in time"))

    def _empty(self, command: Receive, connection: str) -> Transition | None:
        """The empty answer, where the messages may be in another front end's cache."""
        return next(iter(self._sighted(command, connection, Sighting(Empty()))), None)

    def _shortened(self, command: Receive, connection: str) -> Observed:
        """A message whose lock ran for a while before it was handed out (CACHE-LOCK)."""
        chosen = self._chosen(command, connection)
        outcome = chosen.outcome
        if isinstance(outcome, Received) and command.session_id is None:
            until = outcome.message.locked_until
            now = self._namespace.now.latest
            if until is not None and until > now + 1:
                view = attrs.evolve(
                    outcome.message, locked_until=self._random.randint(now + 1, until)
                )
                shorter = self._sighted(command, connection, Sighting(Received(message=view)))
                chosen = shorter[0] if shorter else chosen
        self._namespace = chosen.next
        return self._skewed_clock(self._told(chosen, command))

    def _skewed_clock(self, observed: Observed) -> Observed:
        """What is told by a clock that goes wrong by up to the slack."""
        if self._skew is None:
            return observed
        return attrs.evolve(observed, outcome=self._skew.seen(observed.outcome))


def _without_times(outcome: Outcome) -> Outcome:
    if isinstance(outcome, Received):
        view = attrs.evolve(outcome.message, locked_until=None)
        return attrs.evolve(outcome, message=view)
    if isinstance(outcome, ReceivedSeveral):
        views = tuple(attrs.evolve(each, locked_until=None) for each in outcome.messages)
        return ReceivedSeveral(messages=views)
    return Renewed() if isinstance(outcome, Renewed) else outcome
