"""A conversation with an adapter that records every exchange and checks every answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.adapters.checking.findings import Exchange, Lesson, NoAnswer, Wrong
from busproof.errors import AdapterError, ConformanceError, HistoryError
from busproof.history.codec import structure, structure_union, unstructure
from busproof.history.lines import encode_line
from busproof.history.render.outcomes import outcome_words

__all__ = ["HOUR", "LOCK", "Check", "Talk", "check", "one_line", "show_line"]

LOCK: Final = 60_000_000
HOUR: Final = 3_600_000_000
"""Durations in microseconds."""

_LONGEST: Final = 300
_TEXTS: Final = (
    *("body", "message_id", "session_id", "partition_key", "correlation_id", "to", "reply_to"),
    *("subject", "reply_to_session_id", "content_type"),
)

O = TypeVar("O", bound=v.Outcome)  # noqa: E741 - an outcome
T = TypeVar("T")


def show_line(value: object, *, full: bool = False) -> str:
    """Return a request or an answer as a line of the process protocol, for people to read."""
    return one_line(encode_line(unstructure(value, full=full)).decode())


def one_line(text: str) -> str:
    """Return a text without its line end, and shortened if it is long."""
    line = text.rstrip("\n")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… ({len(line)} characters)"


class Talk:
    """A conversation with one adapter, one request at a time.

    Args:
        adapter: the adapter under check.
        declaration: the declaration of the adapter.
        profile: the profile to start the adapter with.
        full: whether requests are shown with every field, as a process receives them.

    Attributes:
        exchanges: requests and answers since the check began.
    """

    def __init__(
        self,
        adapter: v.Adapter,
        declaration: v.Declaration,
        profile: v.Profile,
        *,
        full: bool = False,
    ) -> None:
        self._adapter = adapter
        self._full = full
        self.declaration = declaration
        self.profile = profile
        self.exchanges: list[Exchange] = []

    @property
    def virtual(self) -> bool:
        """Whether the clock is virtual, so that only `AdvanceClock` advances time."""
        return self.declaration.clock is v.Clock.VIRTUAL

    def start(self) -> None:
        """Begin with an empty namespace.

        Raises:
            Wrong: the adapter cannot start.
        """
        self._tell("start", lambda: self._adapter.start(self.profile), "started")

    def stop(self) -> None:
        """End the implementation; raise `Wrong` if that fails."""
        self._tell("stop", self._adapter.stop, "stopped")

    def declared_now(self) -> object:
        """Return what the adapter declares now."""
        return self._tell("declaration", lambda: self._adapter.declaration, "")

    def _tell(self, sent: str, ask: Callable[[], T], came: str) -> T:
        with self._note(sent):
            answer = ask()
        self.exchanges.append(Exchange(sent=sent, came=came or repr(answer)))
        return answer

    @contextmanager
    def _note(self, sent: str) -> Iterator[None]:
        """Record a request that raises an exception."""
        try:
            yield
        except Exception as error:
            self.exchanges.append(Exchange(sent=sent, came=f"{type(error).__name__}: {error}"))
            if isinstance(error, AdapterError):
                raise
            kind = "an error of ours" if isinstance(error, ConformanceError) else "an exception"
            raise Wrong(
                f"it raised {kind}, {type(error).__name__}: {error}; an adapter answers Refused "
                "where its bus refuses, and raises AdapterError where it breaks itself"
            ) from error

    def ask(self, command: v.Command, connection: str = "c1") -> v.Outcome:
        """Execute a command, and return its outcome.

        Raises:
            Wrong: the answer is not an outcome, or the command is unknown to the adapter.
            NoAnswer: the adapter reports that no answer came.
        """
        return self.observe(command, connection).outcome

    def observe(self, command: v.Command, connection: str = "c1") -> v.Observed:
        """Execute a command; return its outcome and witness. Errors are those of `ask`."""
        sent = f"{show_line(command, full=self._full)} on {connection}"
        with self._note(sent):
            observed: object = self._adapter.do(command, connection)
        self.exchanges.append(Exchange(sent=sent, came=_describe(observed)))
        checked = _check(observed)
        if isinstance(checked.outcome, v.Indeterminate):
            raise NoAnswer(f"no answer came to {type(command).__name__}")
        if isinstance(checked.outcome, v.Unsupported):
            raise Wrong(
                f"{type(command).__name__} is unsupported, which is to be answered to nothing that "
                "every adapter needs, or that it declares"
            )
        return checked

    def expect(self, kind: type[O], command: v.Command, connection: str = "c1") -> O:
        """Execute a command whose outcome must be of a certain type, and return the outcome.

        Raises:
            Wrong: the outcome is of another type.
        """
        outcome = self.ask(command, connection)
        if not isinstance(outcome, kind):
            raise Wrong(
                f"{type(command).__name__} is to be answered with {kind.__name__} here, "
                f"and came back as {outcome_words(outcome)}"
            )
        return outcome

    def begin(self, **settings: object) -> None:
        """Start again with a single queue `q`, which has these settings."""
        self.start()
        create = v.CreateQueue(queue="q", **settings)  # type: ignore[arg-type]  # the checks' own
        self.expect(v.Done, create)

    def send(self, body: str = "m1", **properties: Any) -> v.Message:
        """Send a message to `q` and return it; raise `Wrong` if the bus refuses it."""
        message = v.Message(body=body, **properties)
        self.expect(v.Done, v.Send(queue="q", message=message))
        return message

    def take(self) -> v.Receive:
        """Return a command that receives and deletes a message from `q`."""
        return v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)

    def lock(self, connection: str = "c1") -> tuple[v.MessageView, str]:
        """Receive a message of `q` under a lock, and return it with its lock token.

        Raises:
            Wrong: no message came, or it came without a lock token.
        """
        view = self.expect(v.Received, v.Receive(queue="q"), connection).message
        if not view.lock_token:
            raise Wrong("the message came without the lock_token that completes or abandons it")
        return view, view.lock_token

    def insist(self, holds: bool, message: str) -> None:
        """Raise `Wrong` with this sentence unless the condition holds."""
        if not holds:
            raise Wrong(message)

    def insist_same(self, sent: v.Message, view: v.MessageView) -> None:
        """Raise `Wrong` unless a message was received as it was sent."""
        for name in _TEXTS:
            before, after = getattr(sent, name), getattr(view, name)
            if before is not None and before != after:
                raise Wrong(
                    f"{name} came back as {one_line(repr(after))}, "
                    f"and was sent as {one_line(repr(before))}"
                )
        if sent.session_id is None and view.session_id:
            raise Wrong(f"session_id came back as {view.session_id!r}, and was never set")
        if not v.same_properties(sent.properties, view.properties):
            raise Wrong(
                f"properties came back as {one_line(repr(dict(view.properties)))}, "
                f"and were sent as {one_line(repr(dict(sent.properties)))}"
            )


def _describe(observed: object) -> str:
    """Return an answer as text, even if it cannot be encoded."""
    if not isinstance(observed, v.Observed):
        return one_line(repr(observed))
    try:
        text = show_line(observed.outcome)
        return text if observed.witness is None else f"{text} {show_line(observed.witness)}"
    except Exception:  # noqa: BLE001 - a field may have any value
        return one_line(repr(observed))


def _check(observed: object) -> v.Observed:
    """Return an answer if every field of it has the type that the vocabulary requires.

    Raises:
        Wrong: a field has another type.
    """
    if not isinstance(observed, v.Observed) or not isinstance(observed.outcome, v.Outcome):
        raise Wrong("do() must return an Observed of busproof.adapters.base with an Outcome in it")
    try:
        structure_union(unstructure(observed.outcome), v.Outcome, "the outcome")
        if observed.witness is not None:
            structure(unstructure(observed.witness), v.Witness, "the witness")
    except HistoryError as error:
        raise Wrong(str(error)) from None
    except Exception as error:  # noqa: BLE001 - as above
        raise Wrong(f"the answer cannot be recorded: {error}") from None
    return observed


@attrs.frozen(kw_only=True)
class Check:
    """A requirement with its check, which runs only if all capabilities in `needs` are declared."""

    lesson: Lesson
    run: Callable[[Talk], None]
    needs: tuple[v.Capability, ...] = ()


def check(
    *needs: v.Capability,
    title: str,
    protocol: str,
    advice: str,
    id: str = "",
) -> Callable[[Callable[[Talk], None]], Check]:
    """Return a decorator that makes a function a check.

    Args:
        needs: the capabilities without which the check does not apply.
        title: as in `Lesson`, like the two that follow.
        protocol: what the protocol says.
        advice: what to do if an adapter fails.
        id: name of the check; that of the first capability if it is left out.
    """
    lesson = Lesson(id=id or needs[0].value, title=title, protocol=protocol, advice=advice)
    return lambda run: Check(lesson=lesson, run=run, needs=needs)
