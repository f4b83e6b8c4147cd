"""busproof's requests to the bus, and its answers back; nothing is decided here."""

from importlib.metadata import version

from busproof.adapters.base import Declaration, Implementation, Observed
from busproof.vocabulary import commands as c
from busproof.vocabulary import outcomes as o
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error, ReceiveMode
from shelfbus.bus import Bus, BusError, Item, Letter

ERRORS = {
    "two keys": Error.INVALID_OPERATION,
    "shelf down": Error.UNAVAILABLE,
    "lock lost": Error.LOCK_LOST,
    "lock too long": Error.INVALID_OPERATION,
    "queue exists": Error.ALREADY_EXISTS,
    "no such queue": Error.NOT_FOUND,
    "no such shelf": Error.NOT_FOUND,
}


def make() -> "ShelfAdapter":
    """The adapter, for the entry point `busproof.adapters`."""
    return ShelfAdapter()


class ShelfAdapter:
    """A bus of shelves, and nothing that a shelf does not have: no sessions, no transactions."""

    declaration = Declaration(
        implementation=Implementation(
            name="shelfbus", version=version("shelfbus"), language="Python"
        ),
        capabilities=frozenset(
            {
                Capability.WITNESS,
                Capability.OUTAGES,
                Capability.PEEK,
                Capability.PEEK_LOCK,
                Capability.DUPLICATE_DETECTION,
            }
        ),
    )

    def start(self, profile: Profile) -> None:
        """Begin with a new bus."""
        self._bus = Bus(profile.partitions)

    def stop(self) -> None:
        """Nothing is held that has to be freed."""

    def do(self, command: c.Command, connection: str) -> Observed:  # noqa: ARG002 - all are alike
        """Ask the bus; what it says no to is refused."""
        try:
            return self._asked(command)
        except BusError as error:
            return Observed(o.Refused(error=ERRORS[str(error)], detail=str(error)))

    def _asked(self, command: c.Command) -> Observed:
        bus = self._bus
        match command:
            case c.CreateQueue():
                return self._created(command)
            case c.Send(transaction=None):
                place = bus.queue(command.queue).put(_letter(command.message), bus.now)
                return Observed(o.Done(), o.Witness(partition=place))
            case c.Receive(session_id=None):
                keep = command.mode is ReceiveMode.PEEK_LOCK
                item = bus.queue(command.queue).take(bus.now, keep=keep)
                return Observed(o.Received(message=_view(item)) if item else o.Empty())
            case c.Complete() | c.Abandon():
                done = isinstance(command, c.Complete)
                bus.queue(command.queue).settle(command.lock_token, bus.now, done=done)
            case c.Peek():
                items = bus.queue(command.queue).look(command.count)
                return Observed(o.Peeked(messages=tuple(_view(item, held=False) for item in items)))
            case c.TakePartitionDown() | c.BringPartitionUp():
                is_up = isinstance(command, c.BringPartitionUp)
                bus.set_up(command.queue, command.partition, is_up=is_up)
            case c.AdvanceClock():
                bus.now += command.duration
            case _:
                return Observed(o.Unsupported())
        return Observed(o.Done())

    def _created(self, command: c.CreateQueue) -> Observed:
        if command.requires_session or not command.partitioned:
            return Observed(o.Unsupported())
        window = command.duplicate_window if command.duplicate_detection else None
        self._bus.create(command.queue, command.lock_duration, command.max_delivery_count, window)
        return Observed(o.Done())


def _letter(message: Message) -> Letter:
    return Letter(message.body, message.message_id, message.session_id, message.partition_key)


def _view(item: Item, *, held: bool = True) -> MessageView:
    letter = item.letter
    locked = held and bool(item.token)
    return MessageView(
        body=letter.body,
        message_id=letter.message_id,
        session_id=letter.session_id,
        partition_key=letter.partition_key,
        sequence_number=item.number,
        delivery_count=item.deliveries,
        lock_token=item.token if locked else None,
        locked_until=item.locked_until if locked else None,
    )
